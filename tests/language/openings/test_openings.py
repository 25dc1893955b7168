"""First messages of 150 people, offline: how many lead to the plan that they mean at once. The figures are printed."""

from __future__ import annotations

import sys

import pytest

from sagagraph.errors import SagaGraphError
from tests.language.openings.judging import Judged, Opening, Result, figures, judged, openings
from tests.language.openings.models import Reader, right_slots, wrong_slots
from tests.language.openings.reading import page_of, read_by

LEAST_RIGHT = {"trip": (0.95, 0.7), "meal": (0.9, 0.85), "reunion": (0.1, 0.0)}
"""Of those that were looked at while the readers were changed, and of those that were kept."""

LEAST_WITH_A_MODEL = 0.85


async def all_judged(domain: str) -> list[Judged]:
    page = page_of(domain)
    return [await _judged(each, page) for each in openings(domain)]


async def _judged(opening: Opening, page: object) -> Judged:
    try:
        return judged(opening, await read_by(page, opening.text))  # type: ignore[arg-type]
    except SagaGraphError as exc:
        return Judged(opening, Result.UNREAD, str(exc))


@pytest.mark.parametrize("domain", list(LEAST_RIGHT))
async def test_most_first_messages_lead_to_what_they_mean(domain: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = await all_judged(domain)
    with capsys.disabled():
        sys.stdout.write(f"\n{domain}s\n{figures(found)}\n")
    assert [(each.opening.text, each.why) for each in found if each.result is Result.WRONG] == []
    for is_kept, least in enumerate(LEAST_RIGHT[domain]):
        of = [each for each in found if each.opening.is_kept is bool(is_kept)]
        right = sum(each.result is Result.RIGHT for each in of) / len(of)
        assert right >= least, [(each.opening.text, each.why) for each in of if each.result is not Result.RIGHT][:5]


async def test_a_judge_of_openings_finds_what_is_wrong() -> None:
    page = page_of("trip")
    first = openings("trip")[0]
    other = await read_by(page, first.text.replace("London", "Paris"))
    assert judged(first, other).result is not Result.RIGHT
    assert judged(first, await read_by(page, first.text)).result is Result.RIGHT


async def test_with_a_model_that_reads_rightly_nearly_all_are_right(capsys: pytest.CaptureFixture[str]) -> None:
    found = [await _judged(each, page_of("trip", Reader(right_slots(each)))) for each in openings("trip")]
    with capsys.disabled():
        sys.stdout.write(f"\ntrips, with a model that reads rightly\n{figures(found)}\n")
    right = sum(each.result is Result.RIGHT for each in found) / len(found)
    assert right >= LEAST_WITH_A_MODEL


async def test_of_a_model_that_is_often_wrong_nothing_wrong_is_taken_in_silence() -> None:
    taken = []
    for each in openings("trip"):
        slots, wrong = wrong_slots(right_slots(each))
        draft = await page_of("trip", Reader(slots)).read(each.text, None)
        named = " ".join(draft.asides)
        silent = [slot["value"] for slot in slots[::3] if slot["field"] != "one_way" and slot["value"] not in named]
        taken += [(each.text, silent)] if wrong and silent else []
    assert taken == []
