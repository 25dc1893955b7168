"""Models of openings: one that reads rightly, with the fewest words that state each value, and one that is often wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import Any

from sagagraph.context.model import Answer, Question
from sagagraph.planning.models.anchors import Anchor
from sagagraph.planning.models.reading import Found, _is_stated
from sagagraph.planning.page import NOTHING_KNOWN
from tests.language.openings.judging import _TASK, _TIME, Opening
from tests.language.openings.reading import page_of
from tests.support.scripted_model import USAGE

Said = dict[str, str]
_MOST_WORDS = 16


class Reader:
    """Model that answers with these slots."""

    name = "fake:reader"

    def __init__(self, slots: list[Said]) -> None:
        self.slots = slots
        self.asked = 0

    async def answer(self, question: Question) -> Answer:
        del question
        self.asked += 1
        return Answer({"slots": self.slots}, USAGE)


def right_slots(opening: Opening) -> list[Said]:
    """Return what the opening means, as far as its words state it, each value with the fewest words that do."""
    meant = {"trip": _trip, "reunion": _reunion, "meal": _meal}[opening.domain](opening.meant)
    quoted = (_quoted(opening, field, value) for field, value in meant)
    return [each for each in quoted if each is not None]


def wrong_slots(opening: Opening) -> tuple[list[Said], list[str]]:
    """Return the same with every third value that a number, name or date states made wrong, and what these say."""
    slots = page_of(opening.domain).slots(NOTHING_KNOWN)
    told, wrong = [], []
    for number, each in enumerate(right_slots(opening)):
        anchor = next(slot.anchor for slot in slots if slot.is_of(each["field"]))
        harmed = {**each, "value": _harmed(anchor, each["value"])} if number % 3 == 0 else each
        told.append(harmed)
        wrong += [harmed["value"]] if harmed != each else []
    return told, wrong


def _harmed(anchor: Anchor, value: str) -> str:
    match anchor:
        case Anchor.NAME:
            return "Ulaanbaatar"
        case Anchor.DAY | Anchor.FIRST_DAY | Anchor.LAST_DAY:
            return str(date.fromisoformat(value) + timedelta(days=77))
        case Anchor.TIME:
            return f"{(int(value[:2]) + 5) % 24:02}:{(int(value[3:]) + 17) % 60:02}"
        case Anchor.MONEY:
            return f"{value.split()[0]}7 {value.split()[1]}"
        case Anchor.RANGE:
            return "2-2"
        case Anchor.CHOICE | Anchor.FLAG:
            return value
    return str(int(value) + 41)


def _quoted(opening: Opening, field: str, value: str) -> Said | None:
    """Return the value with the fewest words that state it; None: nothing does."""
    page, words = page_of(opening.domain), opening.text.split()
    slot = next(each for each in page.slots(NOTHING_KNOWN) if each.is_of(field))
    for size in range(1, _MOST_WORDS + 1):
        for at in range(len(words) - size + 1):
            found = Found(field=field, value=value, quote=" ".join(words[at : at + size]))
            if _is_stated(page, slot, found, opening.text, ""):
                return found.model_dump()
    return None


def _trip(meant: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    first, *others = [each.strip() for each in meant["route"].split(" > ")]
    is_back = others[-1] == "back"
    if first != "?":
        yield "origin", first
    for number, stop in enumerate(others[:-1] if is_back else others):
        found = re.fullmatch(r"(.+?)(?: (\d+))?", stop)
        assert found is not None
        yield f"stops[{number}].city", found[1]
        if int(found[2] or 0):
            yield f"stops[{number}].nights", found[2]
    if not is_back:
        yield "one_way", "yes"
    begins, dots, ends = str(meant.get("when", "")).partition("..")
    if begins and not begins.startswith("~"):
        yield from [("first", begins), ("last", ends)] if ends else [("depart", begins)] if not dots else []
    for field, name in (
        ("who", "travellers"),
        ("children", "children"),
        ("rooms", "rooms"),
        ("budget", "budget"),
        ("stars",) * 2,
        ("direct",) * 2,
    ):
        if field in meant:
            yield name, str(meant[field])
    if "order" in meant:
        yield "order", "yes"


def _reunion(meant: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    houses = meant["people"].keys() - {"Me"}

    def place(said: str) -> str:
        return f"{said}'s house" if said in houses else said

    for number, (name, told) in enumerate(meant["people"].items()):
        found = _TIME.fullmatch(told)
        assert found is not None
        yield f"people[{number}].name", name
        yield f"people[{number}].place", place(found["place"])
        if found["from"]:
            yield f"people[{number}].from", found["from"]
        if found["drives"]:
            yield f"people[{number}].drives", "yes" if found["drives"] == "drives" else "no"
    for number, (name, told) in enumerate(meant.get("tasks", {}).items()):
        task = _TASK.fullmatch(told)
        assert task is not None
        yield f"tasks[{number}].name", name
        yield f"tasks[{number}].place", place(task["place"])
        yield (f"tasks[{number}].minutes", task["minutes"]) if int(task["minutes"]) else (f"tasks[{number}].errand", "yes")
        for key, group in (("opens", "opens"), ("ends", "closes")):
            if task[group]:
                yield f"tasks[{number}].{key}", task[group]
        if task["watched"]:
            yield f"tasks[{number}].watched", "yes"
    where, _, by = meant["goal"].partition(" by ")
    yield from (("goals[0].place", place(where)), ("goals[0].by", by))


def _meal(meant: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for each in meant["dishes"]:
        yield f"recipe {each}", "yes"
    if "cooks" in meant:
        yield "cooks", str(meant["cooks"])
    for name, minutes in meant.get("warm", {}).items():
        yield f"fresh {name}", str(minutes)
