"""Models of openings: one that reads a trip rightly, with the fewest words that state each value, and one that is often wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, timedelta
from typing import Any

from sagagraph.context.model import Answer, Question
from sagagraph.domains.travel.text.model_reading import Slot, _Anchored
from tests.language.openings.judging import Opening
from tests.language.openings.reading import world
from tests.support.scripted_model import USAGE

Said = dict[str, Any]
_MOST_WORDS = 16


class Reader:
    """Model that answers with these slots."""

    name = "fake:reader"

    def __init__(self, slots: list[Said]) -> None:
        self.slots = slots

    async def answer(self, question: Question) -> Answer:
        del question
        return Answer({"slots": self.slots}, USAGE)


def right_slots(opening: Opening) -> list[Said]:
    """Return what the opening means, as far as its words state it, each value with the fewest words that do."""
    quoted = (_quoted(each, opening.text) for each in _meant(opening.meant))
    return [each for each in quoted if each is not None]


def wrong_slots(slots: list[Said]) -> tuple[list[Said], int]:
    """Return the same with every third value wrong, and how many are."""
    harmed = [_harmed(each) if number % 3 == 0 else each for number, each in enumerate(slots)]
    return harmed, sum(before != after for before, after in zip(slots, harmed, strict=True))


def _meant(meant: Mapping[str, Any]) -> Iterator[Said]:
    first, *others = [each.strip() for each in meant["route"].split(" > ")]
    is_back = others[-1] == "back"
    if first != "?":
        yield _slot("from", first)
    for stop in others[:-1] if is_back else others:
        found = re.fullmatch(r"(.+?)(?: (\d+))?", stop)
        assert found is not None
        yield _slot("stay", found[1], int(found[2] or 0) or None)
    if not is_back:
        yield _slot("one_way", "yes")
    yield from _days(str(meant.get("when", "")))
    for field, name in (("who", "travellers"), ("children", "children"), ("rooms", "rooms")):
        if field in meant:
            yield _slot(name, str(meant[field]))
    if "budget" in meant:
        yield _slot("budget", meant["budget"])
    if "stars" in meant:
        yield _slot("stars", meant["stars"])


def _days(when: str) -> Iterator[Said]:
    begins, dots, ends = when.removeprefix("~").partition("..")
    if when.startswith("~"):
        return
    if begins and not dots:
        yield _slot("leave_on", begins)
    elif begins and ends:
        yield _slot("first_day", begins)
        yield _slot("last_day", ends)


def _slot(field: str, value: str, nights: int | None = None) -> Said:
    return {"field": field, "value": value, "nights": nights, "quote": ""}


def _quoted(slot: Said, text: str) -> Said | None:
    """Return it with the fewest words that state it; without its nights, where they are only derived; None: nothing does."""
    words = text.split()
    for nights in dict.fromkeys((slot["nights"], None)):
        for size in range(1, _MOST_WORDS + 1):
            for at in range(len(words) - size + 1):
                tried = {**slot, "nights": nights, "quote": " ".join(words[at : at + size])}
                if _is_accepted(tried, text):
                    return tried
    return None


def _is_accepted(slot: Said, text: str) -> bool:
    anchored = _Anchored(text, world())
    anchored.take(Slot.model_validate(slot))
    return not anchored.left_out


def _harmed(slot: Said) -> Said:
    value = slot["value"]
    harms: dict[str, Callable[[], str]] = {
        "from": lambda: "Ulaanbaatar",
        "stay": lambda: "Ulaanbaatar",
        "travellers": lambda: str(int(value) + 5),
        "children": lambda: str(int(value) + 5),
        "rooms": lambda: str(int(value) + 5),
        "budget": lambda: f"{value.split()[0]}7 {value.split()[1]}",
        "stars": lambda: "1-2",
        "one_way": lambda: value,
    }
    if slot["field"] in harms:
        return {**slot, "value": harms[slot["field"]]()}
    return {**slot, "value": str(date.fromisoformat(value) + timedelta(days=77))}
