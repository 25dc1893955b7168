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
FRESH: Final = ("stranger", "traveller", "cook", "wanderer", "diner", "guest", "eater", "family", "gathering")
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
    "gathering": "reunion",
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


@dataclass(frozen=True, slots=True)
class Wrong:
    """A field that is not as it was meant. `words`: those of its clause, one of which is in what is named as not understood."""

    field: str
    why: str
    words: frozenset[str] | set[str] = frozenset()


def judged(opening: Opening, heard: Heard) -> Judged:
    """Judge what was heard. What is wrong and said to be assumed, or missing, or not understood, is not wrong in silence."""
    is_day = opening.domain == "reunion"
    wrong = (
        list(_reunion(opening.meant, heard))
        if is_day
        else [Wrong(*each) for each in _JUDGES[opening.domain](opening.meant, heard)]
    )
    asked = [
        each for each in heard.missing if each.split(".")[-1] not in opening.missing and each.split("[")[0] not in opening.missing
    ]
    if is_day and not wrong:
        asked = []  # empty cells of a right board, of which the judge has counted no more than two
    open_fields = {name.split("[")[0].split(".")[0] for name in (*heard.missing, *heard.assumed)}
    if is_day:
        silent = [each.why for each in wrong if not _is_named(each, heard)]
    else:
        silent = [each.why for each in wrong if not (heard.unread or asked or _is_said(each.field, open_fields))]
    if silent:
        return Judged(opening, Result.WRONG, "; ".join(silent))
    whys = "; ".join(each.why for each in wrong)
    if asked:
        return Judged(opening, Result.ASKED, f"asked for {', '.join(asked)}; {whys}; unread {heard.unread}")
    if wrong:
        return Judged(opening, Result.UNREAD, f"{whys}; unread {heard.unread}")
    return Judged(opening, Result.RIGHT)


def _is_said(name: str, open_fields: set[str]) -> bool:
    own = {"when": {"window", "depart", "first", "last"}, "nights": {"stops"}, "who": {"travellers"}}
    return not open_fields.isdisjoint(own.get(name, {name}))


def _is_named(wrong: Wrong, heard: Heard) -> bool:
    """Tell whether this very field is asked for or assumed, or its clause is named as not understood."""
    return wrong.field in {*heard.missing, *heard.assumed} or any(wrong.words & _plain(each) for each in heard.unread)


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
    return (got is not None and bool(_plain(meant) & _plain(got))) or (
        meant == "Home" and any(word in str(got).casefold() for word in ("home", "'s house"))
    )


_DRIVING: Final = _plain(
    "car van truck bus minibus drive driving driven driver ride lift licence license seat seater fetch pick pickup"
)


def _clock(*times: str | None) -> set[str]:
    """Return words of which one is in a clause with these times, or whose end this is."""
    hours = [int(each[:2]) for each in times if each]
    words = "twelve one two three four five six seven eight nine ten eleven"
    named = ({str(hour), f"{hour:02}", str(hour % 12 or 12), words.split()[hour % 12]} for hour in hours)
    return set().union(*named) | ({"noon"} if 12 in hours else set())


def _reunion(meant: Mapping[str, Any], heard: Heard) -> Iterable[Wrong]:
    request = heard.request
    places = {key: f"{key} {name}" for key, name in request.get("places", {}).items()}
    people = {each["name"]: each for each in request.get("people", ())}
    at: list[tuple[str, str | None]] = []
    """Places as they are meant, and by what name they go."""
    yield from _people(meant, people, places, heard, at)
    yield from _cars(meant, heard)
    yield from _tasks(meant, places, heard, at)
    where, _, by = meant["goal"].partition(" by ")
    goal: Mapping[str, Any] = next((each for each in request.get("goals", ()) if each.get("people") == "all"), {})
    at.append((where, goal.get("place")))
    if not _is_same(where, places.get(goal.get("place"), goal.get("place"))):
        yield Wrong("goals[0].place", f"all meet at {goal.get('place')} for {where}", _plain(where))
    if goal.get("by") != by:
        yield Wrong("goals[0].by", f"by {goal.get('by')} for {by}", _clock(by))
    for number, (one, key) in enumerate(at):
        for other, name in at[:number]:
            is_one = _plain(one) == _plain(other)
            if one == other == "Home" or any(f" in {one}" in places.get(each or "", "") for each in (key, name)):
                continue  # of each of them; or two places in one town
            if (
                key is not None
                and name is not None
                and (key != name if is_one else key == name and not _plain(one) & _plain(other))
            ):
                yield Wrong("places", f"{one} is {key}, {other} is {name}", _plain(one) | _plain(other))
    if len(heard.missing) > 2:
        yield Wrong(heard.missing[0], f"{len(heard.missing)} fields are missing")


def _people(
    meant: Mapping[str, Any],
    people: Mapping[str, Any],
    places: Mapping[str, str],
    heard: Heard,
    at: list[tuple[str, str | None]],
) -> Iterable[Wrong]:
    drivers = {name for car in heard.request.get("vehicles", ()) for name in car.get("drivers") or ()}
    for name, told in meant["people"].items():
        wanted = _TIME.fullmatch(told)
        assert wanted is not None
        number, row = next(((n, row) for n, (key, row) in enumerate(people.items()) if _plain(name) & _plain(key)), (0, None))
        if row is None:
            yield Wrong("people", f"nobody called {name}", _plain(name))
            continue
        place = row.get("place")
        if f"people[{number}].place" not in heard.assumed:
            at.append((wanted["place"], place))
        if not _is_same(wanted["place"], places.get(place, place)):
            yield Wrong(f"people[{number}].place", f"{name} at {place} for {wanted['place']}", _plain(wanted["place"]))
        is_asked = row.get("from") is None and f"people[{number}].place" in heard.missing
        if (row.get("from") or None) != wanted["from"] and not is_asked:
            words = _clock(wanted["from"], row.get("from"))
            yield Wrong(f"people[{number}].from", f"{name} from {row.get('from')} for {wanted['from']}", words)
        drives = row["name"] in drivers or bool(row.get("drives"))
        is_asked = not drives and any(each.endswith(".drivers") for each in heard.missing)
        if wanted["drives"] and drives is not (wanted["drives"] == "drives") and not is_asked:
            yield Wrong(f"people[{number}].drives", f"{name} drives: {drives}", _DRIVING)
    own = [_plain(name) for name in meant["people"]]
    extra = [
        key
        for number, key in enumerate(people)
        if not any(_plain(key) & name for name in own) and f"people[{number}].place" not in heard.assumed
    ]
    if extra:
        yield Wrong("extra", f"also {extra}", set().union(*map(_plain, extra)))


def _cars(meant: Mapping[str, Any], heard: Heard) -> Iterable[Wrong]:
    """Compare the seats that are said of each car, by its drivers, where a table tells them; nobody has a second car."""
    found = heard.request.get("vehicles", ())
    for name, seats in meant.get("cars", {}).items():
        own = [
            each
            for number, each in enumerate(found)
            if any(_plain(name) & _plain(driver) for driver in each.get("drivers") or ())
            or f"vehicles[{number}].drivers" in heard.missing
        ]
        if not any(each.get("seats") == seats for each in own):
            yield Wrong(
                "vehicles", f"{name} has {[each.get('seats') for each in own]} seats for {seats}", {"seat", "seater", str(seats)}
            )
    for number, each in enumerate(found):
        is_said = f"vehicles[{number}].seats" not in heard.assumed
        if "cars" in meant and is_said and each.get("seats") not in meant["cars"].values():
            yield Wrong("extra", f"{each['name']} has {each.get('seats')} seats")
        if any({*each["drivers"]} < {*other["drivers"]} for other in found if each.get("drivers") and other.get("drivers")):
            yield Wrong("extra", f"{each['name']} is there twice")


def _tasks(
    meant: Mapping[str, Any], places: Mapping[str, str], heard: Heard, at: list[tuple[str, str | None]]
) -> Iterable[Wrong]:
    request = heard.request
    by_all = meant["goal"].partition(" by ")[2]
    others = {each["name"]: each for each in request.get("tasks", ()) if each["name"] != "rent a car"}
    for name, told in meant.get("tasks", {}).items():
        wanted = _TASK.fullmatch(told)
        assert wanted is not None, told
        key = next((key for key in others if _plain(name) & _plain(key)), None)
        if key is None:
            lasts = {"minute", "hour", "min", "hr"} if int(wanted["minutes"]) else set()
            yield Wrong("tasks", f"no task {name}", _plain(name) | lasts)
            continue
        row = others.pop(key)
        number = list(request["tasks"]).index(row)
        opens, closes = row.get("window") or (None, None)
        closes = None if closes == by_all and not wanted["closes"] else closes
        if (row.get("minutes") or 0) != int(wanted["minutes"]):
            words = {wanted["minutes"], "minute", "hour", "min", "hr"}
            yield Wrong(f"tasks[{number}].minutes", f"{name} takes {row.get('minutes')} for {wanted['minutes']}", words)
        if (opens, closes) != (wanted["opens"], wanted["closes"]) and f"tasks[{number}].opens" not in heard.assumed:
            words = _clock(opens, closes, wanted["opens"], wanted["closes"])
            yield Wrong(f"tasks[{number}].window", f"{name} is {opens}-{closes} for {told}", words)
        if (row.get("attention") == "watched") is not bool(wanted["watched"]):
            words = {"watch", "watched", "stay", "left", "eye", "alone", "with", "unattended"}
            yield Wrong(f"tasks[{number}].attention", f"{name} is {row.get('attention')}", words)
        if f"tasks[{number}].place" not in heard.assumed:
            at.append((wanted["place"], row.get("place")))
        is_asked = row.get("place") is None and "goals[0].place" in heard.missing
        if not is_asked and not _is_same(wanted["place"], places.get(row.get("place"), row.get("place"))):
            yield Wrong(f"tasks[{number}].place", f"{name} at {row.get('place')} for {wanted['place']}", _plain(wanted["place"]))
        who = meant.get("who", {}).get(name, "")
        if "cars" not in meant:
            continue
        if who != "?" and not {*map(str.casefold, row.get("who") or ())} <= {each.casefold() for each in [who] if each}:
            yield Wrong(f"tasks[{number}].who", f"{name} is done by {row.get('who')} for {who or 'anybody'}")
        elif who not in ("", "?") and not row.get("who"):
            yield Wrong(f"tasks[{number}].who", f"{name} is done by anybody for {who}", _plain(who))
    if others:
        yield Wrong("extra", f"also {[*others]}")


_JUDGES: Final = {"trip": _trip, "meal": _meal}
