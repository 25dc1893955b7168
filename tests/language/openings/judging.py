"""Judging of openings: what a reader makes of the first message of somebody new, beside the request that they mean."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import yaml

TODAY: Final = date(2026, 1, 12)
_KEPT: Final = 3
"""Every third opening is kept: nobody looks at it while readers are changed."""
FRESH: Final = ("stranger", "traveller", "cook", "wanderer", "diner", "guest", "eater", "family", "passenger", "chef")
"""Tables that were judged once before anybody looked at them (ADR-0048), and then looked at as a whole."""
_DOMAINS: Final = {
    "paragraph": "reunion",
    "stranger": "reunion",
    "traveller": "trip",
    "cook": "meal",
    "wanderer": "trip",
    "diner": "meal",
    "guest": "trip",
    "eater": "meal",
    "family": "reunion",
    "passenger": "trip",
    "chef": "meal",
}
"""By the name of a table, where it has another one."""
_ABOUT: Final = timedelta(days=6)
_ROUTE: Final = re.compile(r"(?P<city>.+?)(?: (?P<nights>\d+))?")


class Result(StrEnum):
    RIGHT = "right"
    """At once: everything that can be known is known, and nothing else is asked."""
    ASKED = "asked though answered"
    UNREAD = "not understood, and said so"
    WRONG = "wrong in silence"


@dataclass(frozen=True, slots=True)
class Opening:
    domain: str
    number: int
    text: str
    meant: Mapping[str, Any]

    @property
    def is_kept(self) -> bool:
        return self.number % _KEPT == _KEPT - 1

    @property
    def missing(self) -> set[str]:
        return set(self.meant.get("missing", ()))


@dataclass(frozen=True, slots=True)
class Heard:
    """What was made of an opening. `request`: as far as it is known, in the form of the domain's requests."""

    request: Mapping[str, Any]
    missing: tuple[str, ...]
    assumed: Mapping[str, str]
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    opening: Opening
    result: Result
    why: str = ""


def plural(table: str) -> str:
    return f"{table.removesuffix('y')}ies" if table.endswith("y") else f"{table}s"


def openings(table: str) -> list[Opening]:
    path = Path(__file__).with_name(f"{plural(table)}.yaml")
    domain = _DOMAINS.get(table, table)
    rows = yaml.safe_load(path.read_text(encoding="utf-8"))
    step = _KEPT if table in FRESH else 1
    return [Opening(domain, number * step, row["text"], row) for number, row in enumerate(rows)]


def figures(judged: Iterable[Judged]) -> str:
    """Return the counts of each result, of the openings that were looked at and of those that were kept."""
    lines = []
    judged = list(judged)
    for name, of in (
        ("tuned", [each for each in judged if not each.opening.is_kept]),
        ("kept", [each for each in judged if each.opening.is_kept]),
    ):
        counts = ", ".join(f"{sum(each.result is result for each in of)} {result}" for result in Result)
        right = sum(each.result is Result.RIGHT for each in of)
        lines.append(f"{name}: {right / max(1, len(of)):.0%} of {len(of)}: {counts}")
    return "\n".join(lines)


def judged(opening: Opening, heard: Heard) -> Judged:
    """Judge what was heard. What is wrong and said to be assumed, or missing, or not understood, is not wrong in silence."""
    wrong = dict(_JUDGES[opening.domain](opening.meant, heard))
    asked = [
        each for each in heard.missing if each.split(".")[-1] not in opening.missing and each.split("[")[0] not in opening.missing
    ]
    if opening.domain == "reunion" and not wrong:
        asked = []  # empty cells of a right board, of which the judge has counted no more than two
    open_fields = {name.split("[")[0].split(".")[0] for name in (*heard.missing, *heard.assumed)}
    silent = {name: why for name, why in wrong.items() if not _is_said(name, open_fields)}
    if silent and not (heard.unread or asked):
        return Judged(opening, Result.WRONG, "; ".join(silent.values()))
    if asked:
        return Judged(opening, Result.ASKED, f"asked for {', '.join(asked)}; {'; '.join(wrong.values())}; unread {heard.unread}")
    if wrong:
        return Judged(opening, Result.UNREAD, f"{'; '.join(wrong.values())}; unread {heard.unread}")
    return Judged(opening, Result.RIGHT)


def _is_said(name: str, open_fields: set[str]) -> bool:
    own = {"when": {"window", "depart", "first", "last"}, "nights": {"stops"}, "who": {"travellers"}}
    return not open_fields.isdisjoint(own.get(name, {name}))


# -- trips -------------------------------------------------------------------------------------------------------------


def _ascii(name: str | None) -> str:
    return unicodedata.normalize("NFKD", name or "").encode("ascii", "ignore").decode()


def _trip(meant: Mapping[str, Any], heard: Heard) -> Iterable[tuple[str, str]]:
    request, open_ = heard.request, set(meant.get("missing", ()))
    first, *others = [each.strip() for each in meant["route"].split(" > ")]
    is_back = others[-1] == "back"
    stops = [_ROUTE.fullmatch(each) for each in (others[:-1] if is_back else others)]
    wanted = [(each["city"], int(each["nights"] or 0)) for each in stops if each]
    got = [(_ascii(each["city"]), each["nights"]) for each in request.get("stops", ())]
    if first != "?" and _ascii(request.get("origin")) != first:
        yield "origin", f"origin {request.get('origin')} for {first}"
    if [city for city, _ in got] != [city for city, _ in wanted]:
        yield "stops", f"stops {got} for {wanted}"
    elif any("one night under way" in why for why in heard.assumed.values()):
        pass  # over an ocean, the dates have room for one night less
    elif "nights" not in open_ and got != wanted and not meant.get("no_hotel"):
        yield "nights", f"nights {got} for {wanted}"
    if "origin" not in open_ and first != "?" and (request.get("return_to") is not None) is not is_back:
        yield "return_to", f"return_to {request.get('return_to')}"
    if "window" not in open_ and "depart" not in open_:
        yield from _days(str(meant["when"]), request, sum(nights or 0 for _, nights in got))
    for name, value in (("travellers", meant.get("who", 1)), ("children", meant.get("children", 0))):
        if (request.get(name) or (1 if name == "travellers" else 0)) != value:
            yield name if name == "children" else "who", f"{name} {request.get(name)} for {value}"
    yield from _price(meant, request, open_)
    if "stars" in meant and "-".join(map(str, request.get("stars") or ())) != meant["stars"]:
        yield "stars", f"stars {request.get('stars')} for {meant['stars']}"
    for name in ("direct", "order", "rooms"):
        if name in meant and request.get(name) != meant[name]:
            yield name, f"{name} {request.get(name)} for {meant[name]}"
    hours = {f"{side} {span['earliest'] or ''}-{span['latest'] or ''}" for side, span in request.get("hours", {}).items()}
    if "hours" in meant and meant["hours"] not in hours:
        yield "hours", f"hours {hours} for {meant['hours']}"


def _price(meant: Mapping[str, Any], request: Mapping[str, Any], open_: set[str]) -> Iterable[tuple[str, str]]:
    if "currency" in open_ or "budget" in open_:
        return
    amount, currency = str(meant.get("budget", " ")).split(" ")
    got = request.get("budget")
    if (got is None) is not (not amount) or (
        amount and (Decimal(str(got)), request.get("currency")) != (Decimal(amount), currency)
    ):
        yield "budget", f"budget {got} {request.get('currency')} for {meant.get('budget')}"


def _days(when: str, request: Mapping[str, Any], nights: int) -> Iterable[tuple[str, str]]:
    """Compare the first and the last day on which the trip can begin."""
    slack = _ABOUT if when.startswith("~") else timedelta()
    begins, _, ends = when.removeprefix("~").partition("..")
    window, depart = request.get("window"), request.get("depart")
    if depart is not None:
        got = depart, depart
    elif window is not None:
        got = window["first"], str(date.fromisoformat(window["last"]) - timedelta(days=nights))
    else:
        yield "when", "no days"
        return
    first = begins or str(TODAY)
    last = str(date.fromisoformat(ends) - timedelta(days=nights)) if ends else begins
    if when.endswith(".."):
        last = got[1]
    off = [abs(date.fromisoformat(a) - date.fromisoformat(b)) for a, b in zip(got, (first, last), strict=True)]
    if not begins:
        off = off[1:]
    if max(off) > slack:
        yield "when", f"leaves {got[0]} to {got[1]} for {first} to {last}"


# -- meals -------------------------------------------------------------------------------------------------------------


def _meal(meant: Mapping[str, Any], heard: Heard) -> Iterable[tuple[str, str]]:
    request = heard.request
    got = [each["recipe"] for each in request.get("recipes", ())]
    if sorted(got) != sorted(meant["dishes"]):
        yield "recipes", f"{got} for {meant['dishes']}"
    if "unread" in meant and meant["unread"] == "Pizza" and not any("izza" in each for each in heard.unread):
        yield "unread", "pizza is not named"
    if (request.get("cooks") or 1) != meant.get("cooks", 1):
        yield "cooks", f"cooks {request.get('cooks')}"
    for name, minutes in meant.get("warm", {}).items():
        if str(minutes) not in str(request.get("warm", {}).get(name)):
            yield "warm", f"warm {request.get('warm')}"


# -- reunions ----------------------------------------------------------------------------------------------------------

_TIME: Final = re.compile(r"(?P<place>.*?)(?: (?P<from>\d\d:\d\d))?(?: (?P<drives>drives|rides))?")
_TASK: Final = re.compile(
    r"(?P<place>.*?) (?P<minutes>\d+)(?P<watched> watched)?(?: (?P<opens>\d\d:\d\d)?-(?P<closes>\d\d:\d\d)?)?"
)


def _plain(text: str) -> set[str]:
    words = re.findall(r"[^\W_]+", text.casefold().replace("'s", ""))
    return {word.removesuffix("s") for word in words} - {"the", "aunt", "uncle", "my", "a", "of", "at"}


def _is_same(meant: str, got: str | None) -> bool:
    return (got is not None and bool(_plain(meant) & _plain(got))) or (meant == "Home" and "home" in str(got).casefold())


def _reunion(meant: Mapping[str, Any], heard: Heard) -> Iterable[tuple[str, str]]:
    request = heard.request
    places = {key: f"{key} {name}" for key, name in request.get("places", {}).items()}
    people = {each["name"]: each for each in request.get("people", ())}
    drivers = {name for car in request.get("vehicles", ()) for name in car.get("drivers") or ()}
    missing = dict(meant["people"])
    for name, told in meant["people"].items():
        row = next((row for key, row in people.items() if _plain(name) & _plain(key)), None)
        if row is None:
            yield f"people {name}", f"nobody called {name}"
            continue
        del missing[name]
        wanted = _TIME.fullmatch(told)
        assert wanted is not None
        place = row.get("place")
        if not _is_same(wanted["place"], places.get(place, place)):
            yield f"people {name}", f"{name} at {place} for {wanted['place']}"
        if (row.get("from") or None) != wanted["from"]:
            yield f"people {name}", f"{name} from {row.get('from')} for {wanted['from']}"
        drives = row["name"] in drivers or bool(row.get("drives"))
        if wanted["drives"] and drives is not (wanted["drives"] == "drives"):
            yield f"people {name}", f"{name} drives: {drives}"
    by_all = meant["goal"].partition(" by ")[2]
    extra = [key for key in people if not any(_plain(key) & _plain(name) for name in meant["people"])]
    if extra:
        yield "people", f"also {extra}"
    for name, told in meant.get("tasks", {}).items():
        wanted = _TASK.fullmatch(told)
        assert wanted is not None, told
        row = next((row for row in request.get("tasks", ()) if _plain(name) & _plain(row["name"])), None)
        if row is None:
            yield "tasks", f"no task {name}"
            continue
        opens, closes = row.get("window") or (None, None)
        got = (row.get("minutes") or 0, opens, closes, row.get("attention") == "watched")
        if closes == by_all and not wanted["closes"]:
            got = (got[0], opens, None, got[3])
        if got != (int(wanted["minutes"]), wanted["opens"], wanted["closes"], bool(wanted["watched"])):
            yield "tasks", f"{name} is {got} for {told}"
        if not _is_same(wanted["place"], places.get(row.get("place"), row.get("place"))):
            yield "tasks", f"{name} at {row.get('place')} for {wanted['place']}"
    where, _, by = meant["goal"].partition(" by ")
    goal: Mapping[str, Any] = next((each for each in request.get("goals", ()) if each.get("people") == "all"), {})
    if not _is_same(where, places.get(goal.get("place"), goal.get("place"))) or goal.get("by") != by:
        yield "goals", f"goal {goal} for {meant['goal']}"
    if len(heard.missing) > 2:
        yield "missing", f"{len(heard.missing)} fields are missing"


_JUDGES: Final = {"trip": _trip, "meal": _meal, "reunion": _reunion}
