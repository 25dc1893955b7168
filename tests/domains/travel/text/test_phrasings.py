from __future__ import annotations

import pytest

from .phrasings import DOCUMENT, TABLE, Row, document, made_of

pytestmark = pytest.mark.quick

ROWS: list[Row] = [row for table in TABLE.values() for row in table]


@pytest.mark.parametrize(("turns", "answer"), ROWS, ids=[" ⏎ ".join(turns) for turns, _ in ROWS])
def test_a_phrasing_is_understood_or_asked_about(turns: tuple[str, ...], answer: str) -> None:
    assert made_of(turns) == answer


def test_no_phrasing_is_there_twice() -> None:
    assert len({turns for turns, _ in ROWS}) == len(ROWS)


def test_the_document_says_what_is_tested() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == document(), "python -m tests.domains.travel.text.phrasings writes it again"
