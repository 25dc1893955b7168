"""Days as people tell them, in `tellings.txt`: every fact of them is in the problem, or named as not understood."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from sagagraph.domains.reunion.text.revision import partial_of, with_said
from sagagraph.domains.reunion.transcript import Transcript

pytestmark = pytest.mark.quick
_BLOCKS: Final = Path(__file__).with_name("tellings.txt").read_text(encoding="utf-8").strip().split("\n\n")[1:]


@pytest.mark.parametrize("block", _BLOCKS, ids=[each[:40] for each in _BLOCKS])
def test_a_day_as_people_tell_it_is_read(block: str) -> None:
    told, *wanted = block.splitlines()
    revision = with_said(Transcript(), told.replace(r"\n", "\n"))
    found = [*_lines(partial_of(revision.transcript).problem), *(f"unread: {each}" for each in revision.unread)]
    assert found == [each.strip() for each in wanted]


def _lines(problem: dict[str, Any]) -> Iterator[str]:
    for who in problem["people"]:
        goals = "".join(f", to {goal['place']} by {goal['by']}" for goal in who.get("goals", ()))
        since = f" {who['from']}" if who.get("from") else ""
        kerb = f" +{who['exit_minutes']}" if who.get("exit_minutes") else ""
        yield f"{who['name']}: {who['place'] or '?'}{since}{kerb}{' no licence' if who.get('drives') is False else ''}{goals}"
    for car in problem["vehicles"]:
        yield f"{car['name']}: {car['place'] or '?'}, {car['seats']} seats, {' or '.join(car['drivers'])}"
    for task in problem["tasks"]:
        opens, closes = task.get("window") or (None, None)
        who = f" by {' or '.join(task['who'])}" if task.get("who") else ""
        watched = " watched" if task.get("attention") else ""
        yield f"{task['name']}: {task['place'] or '?'}, {task['minutes']} minutes{watched}, {opens or ''}-{closes or ''}{who}"
    for goal in problem["goals"]:
        yield f"all: {goal['place']} by {goal['by']}"
