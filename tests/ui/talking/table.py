"""The table of utterances: each said to a state, and judged by what was done, by the request, and by the provider's ledger."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from sagagraph.ui.chat.conversation import Conversations
from sagagraph.ui.chat.page_model import PageModel
from sagagraph.ui.chat.turn import Deed
from sagagraph.ui.service import Service
from tests.ui.books import books_of
from tests.ui.chat import Chat

TRIP: Final = "From Boston to Paris for 3 nights and Amsterdam for 2 nights and back, in June 2025, at most $5,000"
DAY: Final = (
    "Dinner at 6 pm at home in Boston. Sarah is at home. James lands at 1 pm at BOS and rents a car. Grandma needs a pick-up. "
    "Home-BOS 60 minutes, BOS-Grandma 60, Home-Grandma 30"
)
_OPENINGS: Final = {"new": (), "trip": (TRIP,), "booked": (TRIP, "book it"), "day": (DAY,), "running": (DAY, "book it")}
_REUNIONS: Final = ("day", "running")
_CHANGING: Final = {Deed.APPROVED, Deed.REPORTED, Deed.BEGAN, Deed.CHANGED, Deed.CHOSE, Deed.REJECTED, Deed.UNDONE}
_WITH_EFFECTS: Final = {Deed.APPROVED, Deed.REPORTED}
_PLAIN: Final = {Deed.NOT_TAKEN, Deed.ASKED, Deed.KEPT, Deed.GREETED, Deed.ANSWERED, Deed.COMPARED, Deed.PREVIEWED}
HELD_OUT: Final = 3
"""Every third row is not looked at while the grammar is written."""


class Result(StrEnum):
    MEANT = "meant"
    PLAIN = "plain"
    """Not done, and said so; everything else is as it was."""
    WRONG = "wrong"
    UNWANTED = "unwanted"
    """Something happened outside that nobody asked for."""


@dataclass(frozen=True, slots=True)
class Row:
    number: int
    state: str
    said: str
    deeds: tuple[frozenset[str], ...]
    facts: dict[str, str]

    @property
    def is_held_out(self) -> bool:
        return self.number % HELD_OUT == HELD_OUT - 1


def rows() -> Iterator[Row]:
    path = Path(__file__).with_name("utterances.txt")
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    for number, line in enumerate(lines):
        state, said, must = (part.strip() for part in line.split("|"))
        first, *rest = must.split("=")
        deeds, _, name = first.rpartition(" ") if rest else (first, "", "")
        facts = _facts([name, *rest]) if rest else {}
        yield Row(number, state, said, tuple(frozenset(each.strip().split("/")) for each in deeds.split(",")), facts)


def _facts(parts: list[str]) -> dict[str, str]:
    """`stops=Paris 3/Lyon 2 budget=4000`: a value may hold spaces."""
    names, values = [parts[0]], []
    for each in parts[1:-1]:
        value, _, name = each.rpartition(" ")
        values.append(value)
        names.append(name)
    return dict(zip(names, [*values, parts[-1]], strict=True))


class Table:
    """Chats in each state, shared by rows that change nothing."""

    def __init__(self, service: Service, sandbox_url: str) -> None:
        self._service = service
        self._url = sandbox_url
        self._chats: dict[str, Chat] = {}

    async def judged(self, row: Row) -> tuple[Result, tuple[Deed, ...], PageModel]:
        chat = await self._chat(row.state)
        before = await chat.look()
        books = self._books(before)
        after = await chat.say(row.said)
        deeds = chat.deeds
        result = self._result(row, deeds, before, after, has_effect=self._books(after) != books)
        if set(deeds) & _CHANGING or result is Result.UNWANTED or row.state == "new":
            del self._chats[row.state]
        chat.conversations = Conversations("reunion" if row.state in _REUNIONS else "travel")
        return result, deeds, after

    async def _chat(self, state: str) -> Chat:
        if state not in self._chats:
            chat = Chat(self._service, "reunion" if state in _REUNIONS else "travel")
            for each in _OPENINGS[state]:
                await chat.say(each)
            self._chats[state] = chat
        return self._chats[state]

    def _books(self, scene: PageModel) -> Any:
        return None if scene.saga is None else books_of(self._url, scene.saga.id)

    def _result(self, row: Row, deeds: tuple[Deed, ...], before: PageModel, after: PageModel, *, has_effect: bool) -> Result:
        wanted = set().union(*row.deeds)
        carried_out = _version(after) != _version(before) or has_effect
        if (carried_out and before.saga is not None and not wanted & _WITH_EFFECTS) or (
            Deed.APPROVED in deeds and "approved" not in wanted
        ):
            return Result.UNWANTED
        left = list(row.deeds)
        for each in deeds:
            if left and each.value in left[0]:
                left.pop(0)
        facts = facts_of(after)
        unasked = (set(deeds) & _CHANGING) - {Deed(each) for each in wanted}
        if not left and not unasked and all(facts.get(name, "") == value for name, value in row.facts.items()):
            return Result.MEANT
        is_as_it_was = before.saga is None or (after.saga is not None and after.saga.request == before.saga.request)
        return Result.PLAIN if deeds and set(deeds) <= _PLAIN and is_as_it_was else Result.WRONG


def _version(scene: PageModel) -> Any:
    return None if scene.saga is None else scene.saga.plan.version


def facts_of(scene: PageModel) -> dict[str, str]:
    """What holds of the request, as the table writes it."""
    if scene.saga is None:
        return {}
    request = scene.saga.request if scene.saga.amending is None or scene.shown is None else scene.shown.request
    request = request.get("request", request)
    if "stops" not in request:
        return {}
    window = request.get("window") or {}
    found = {
        "stops": "/".join(f"{each['city']} {each['nights']}" for each in request["stops"]),
        "stars": "-".join(map(str, request["stars"])),
        "first": str(window.get("first")),
        "not_on": ",".join(request.get("not_on", ())),
        **{name: str(request.get(name)) for name in ("travellers", "rooms", "direct", "origin", "depart")},
        "children": str(request.get("children", 0)),
        "budget": f"{float(request['budget'] or 0):g}",
    }
    return found | {f"stars:{each['city']}": "-".join(map(str, each["stars"])) for each in request["stops"] if each.get("stars")}
