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

from sagagraph.domains.reunion.transcript import IN_PART

TODAY: Final = date(2026, 1, 12)
_KEPT: Final = 3
"""Every third opening is kept: nobody looks at it while readers are changed."""
FRESH: Final = (
    "stranger",
    "traveller",
    "cook",
    "wanderer",
    "diner",
    "guest",
    "eater",
    "family",
    "gathering",
    "passenger",
    "chef",
    "voyager",
    "baker",
    "pilgrim",
)
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
    "passenger": "trip",
    "chef": "meal",
    "voyager": "trip",
    "baker": "meal",
    "pilgrim": "trip",
    "caller": "trip",
    "griller": "meal",
    "hiker": "trip",
    "rider": "trip",
    "roamer": "trip",
    "roaster": "meal",
    "tourist": "trip",
    "nomad": "trip",
    "drifter": "trip",
    "host": "reunion",
    "organiser": "reunion",
    "neighbour": "reunion",
    "cousin": "reunion",
    "captain": "reunion",
    "visitor": "trip",
    "uncle": "reunion",
    "weekender": "trip",
    "aunt": "reunion",
    "nephew": "reunion",
    "niece": "reunion",
    "godparent": "reunion",
    "grandfather": "reunion",
    "grandmother": "reunion",
    "sister": "reunion",
    "brother": "reunion",
    "stepmother": "reunion",
    "stepfather": "reunion",
    "commuter": "trip",
    "godmother": "reunion",
    "stepsister": "reunion",
    "skier": "trip",
    "stepbrother": "reunion",
    "granddaughter": "reunion",
    "grandson": "reunion",
    "teammate": "reunion",
    "bandmate": "reunion",
    "housemate": "reunion",
    "classmate": "reunion",
    "workmate": "reunion",
    "shipmate": "reunion",
    "gardener": "reunion",
    "scout": "reunion",
    "diver": "trip",
    "surfer": "trip",
    "carer": "reunion",
    "drummer": "reunion",
    "dancer": "reunion",
    "florist": "reunion",
    "sculptor": "reunion",
    "pedlar": "trip",
    "rover": "trip",
    "usher": "reunion",
    "knitter": "reunion",
    "tinker": "trip",
    "hawker": "trip",
    "potter": "reunion",
    "stewer": "meal",
    "sailor": "trip",
    "fryer": "meal",
    "ranger": "trip",
    "weaver": "reunion",
    "pickler": "meal",
    "spinner": "reunion",
    "forester": "trip",
    "tanner": "reunion",
    "reaper": "reunion",
    "miller": "reunion",
    "porter": "trip",
    "brewer": "meal",
    "merchant": "trip",
    "mason": "reunion",
    "toaster": "meal",
    "warden": "trip",
    "smoker": "meal",
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
    """A field that is not as it was meant. `words`: those of its clause, one of which is in what is named as not understood.

    `row`: of the table, where the field does not tell it.
    """

    field: str
    why: str
    words: frozenset[str] | set[str] = frozenset()
    row: str = ""


def judged(opening: Opening, heard: Heard) -> Judged:
    """Judge what was heard. What is wrong is silent, unless that very field is asked for, assumed for a reason in the text, or
    told in words that are named as unread.
    """
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
    silent = [
        each.why for each in wrong if not (_is_clause_named(each, heard) if is_day else _is_said(each.field, opening, heard))
    ]
    if silent:
        return Judged(opening, Result.WRONG, f"{'; '.join(silent)}; unread {heard.unread}")
    whys = "; ".join(each.why for each in wrong)
    if asked:
        return Judged(opening, Result.ASKED, f"asked for {', '.join(asked)}; {whys}; unread {heard.unread}")
    if wrong:
        return Judged(opening, Result.UNREAD, f"{whys}; unread {heard.unread}")
    return Judged(opening, Result.RIGHT)


_OWN: Final = {"window": "when", "depart": "when", "currency": "budget", "travellers": "who"}
"""By the field of a request: the name under which it is judged."""
_USUAL: Final = ("nobody else was mentioned", "a round trip", "two in each room")
"""Reasons that say that nobody has spoken of it: where somebody has, the assumption says nothing of it."""
_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_TELLS: Final = {
    "when": rf"{_MONTH}|\w+day|week\w*|today|tomorrow|easter|whit\w*|christmas|spring|summer|autumn|winter|holidays?|until|till|"
    r"back",
    "who": r"we|us|our|me|people|adults?|persons?|pax|friends?|mates|couple|family|kids?|children|child|baby|wife|husband|mum|"
    r"dad|parents|son|sons|daughters?|mother|father|party|alone|myself|boyfriend|girlfriend|\da",
    "children": r"kids?|child\w*|baby|infant|toddler|sons?|daughters?|girls?|boys?|years?|yrs?|old",
    "nights": r"nights?|days?|weeks?|fortnight",
    "stars": r"stars?|hotels?",
    "hotels": r"hotels?|stay\w*",
    "direct": r"direct|nonstop|non-stop|changes?|planes",
    "order": r"cheap\w*|comfort\w*|fast\w*|best",
    "rooms": r"rooms?|twin|double",
    "hours": r"morning|evening|noon|afternoon|am|pm|hours?|o'clock",
    "return_to": r"return|back|round|one|way|single",
    "budget": r"euros?|pounds?|dollars?|bucks|budget|eur|usd|gbp|max\w*",
    "cooks": r"cooks?|cook\w*|help\w*|alone|myself|wife|husband|mum|dad|flatmate|roommate|couple|hand|two|three|four|together",
    "warm": r"warm|hot|minutes?|mins?|eaten|served",
    "goals": r"by|at|meet|dinner|lunch|party|ceremony|service|everyone|everybody|all",
}
"""By what is judged: words that tell of it, beside those of what is meant."""
_SAID_IN: Final = {"origin": "route", "stops": "route", "nights": "route", "recipes": "dishes", "goals": "goal"}
"""By what is judged: where an opening says what is meant."""
_DIGITS: Final = re.compile(r"\d+")


def _stem(name: str) -> str:
    """Return the field, without its place or part: `stops[0].nights` are nights."""
    return "nights" if name.endswith(".nights") else name.split("[")[0].split(".")[0]


def _read_as_assumed(heard: Heard) -> Iterable[str]:
    return (name for name, why in heard.assumed.items() if why not in _USUAL)


def _is_said(name: str, opening: Opening, heard: Heard) -> bool:
    """Tell whether the field of a trip or a meal is asked for, assumed for a reason in the text, or named as unread."""
    open_fields = {_OWN.get(each, each) for each in map(_stem, (*heard.missing, *_read_as_assumed(heard)))} | {"missing"}
    open_fields |= {"return_to"} if "origin" in open_fields else set()
    return name in open_fields or _is_named(name, opening, heard.unread)


def _is_named(name: str, opening: Opening, unread: Iterable[str]) -> bool:
    """Tell whether words that are named as unread tell of this very field: by a value that is meant, or by a word for it."""
    meant = opening.meant
    about = _SAID_IN.get(name.split(" ")[0], name.split(" ")[0])
    values = _meaning(f"{meant.get(about, '')} {name.partition(' ')[2]}") - {"back", "by"}
    words = re.compile(rf"(?i)\b(?:{_TELLS.get(name.split(' ')[0], '(?!)')})\b")
    return any(words.search(each) or values & _meaning(each) for each in unread)


def _meaning(text: str) -> set[str]:
    """Return the words and the digits of a text, as they can be compared."""
    return {word[:5] for word in _plain(_ascii(text)) if len(word) > 1} | set(_DIGITS.findall(text.replace(",", "")))


def _is_clause_named(wrong: Wrong, heard: Heard) -> bool:
    """Tell whether this very field is asked for or assumed, its row marked, or its clause named as not understood."""
    row = wrong.row or wrong.field.split(".")[0]
    is_marked = any(heard.assumed.get(f"{row}.{key}") == IN_PART for key in ("name", "people"))
    is_known = wrong.field in {*heard.missing, *heard.assumed}
    return is_marked or is_known or any(wrong.words & _plain(each) for each in heard.unread)


# -- trips -------------------------------------------------------------------------------------------------------------


def _ascii(name: str | None) -> str:
    return unicodedata.normalize("NFKD", name or "").encode("ascii", "ignore").decode()


def _trip(meant: Mapping[str, Any], heard: Heard) -> Iterable[tuple[str, str]]:
    request, open_ = heard.request, set(meant.get("missing", ()))
    first, *others = [_ascii(each.strip()) for each in meant["route"].split(" > ")]
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
        under_way = any("one night under way" in why for why in heard.assumed.values())
        yield from _days(str(meant["when"]), request, sum(nights or 0 for _, nights in got) + under_way)
    for name, value in (("travellers", meant.get("who", 1)), ("children", meant.get("children", 0))):
        if (request.get(name) or (1 if name == "travellers" else 0)) != value:
            yield name if name == "children" else "who", f"{name} {request.get(name)} for {value}"
    yield from _price(meant, request, open_)
    if "stars" in meant and "-".join(map(str, request.get("stars") or ())) != meant["stars"]:
        yield "stars", f"stars {request.get('stars')} for {meant['stars']}"
    if meant.get("no_hotel") and request.get("hotels", False):
        yield "hotels", "hotels are booked"
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
    if got is None and request.get("budget_each"):  # it is told how much each pays, and asked how many they are
        got = Decimal(str(request["budget_each"])) * meant.get("who", 1)
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


_HOMES: Final = ("Home", "Flat", "Apartment")
"""Somebody's own."""


def _is_same(meant: str, got: str | None) -> bool:
    if meant == "?":
        return got is None
    return (got is not None and bool(_plain(meant) & _plain(got))) or (
        meant in _HOMES and any(word in str(got).casefold() for word in ("home", "'s house"))
    )


def _called(name: str) -> set[str]:
    """Return the words by which somebody is named: whoever tells of the day is `I`."""
    return {"me", "i"} if name == "Me" else _plain(name)


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
        rows = [(n, row) for n, (key, row) in enumerate(people.items()) if _plain(name) & _plain(key)]
        number, row = max(rows, key=lambda each: len(_plain(name) & _plain(each[1]["name"])), default=(0, None))
        if row is None:
            yield Wrong("people", f"nobody called {name}", _called(name))
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
    for number, key in enumerate(people):
        place = f"people[{number}].place"
        if not any(_plain(key) & name for name in own) and place not in heard.assumed:
            yield Wrong(place, f"also {key}", _called(key))


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
            why = f"{name} has {[each.get('seats') for each in own]} seats for {seats}"
            people = heard.request.get("people", ())
            row = next((f"people[{number}]" for number, each in enumerate(people) if _plain(name) & _plain(each["name"])), "")
            yield Wrong("vehicles", why, {"seat", "seater", str(seats)}, row)
    for number, each in enumerate(found):
        is_said = f"vehicles[{number}].seats" not in heard.assumed
        if "cars" in meant and is_said and each.get("seats") not in meant["cars"].values():
            yield Wrong("extra", f"{each['name']} has {each.get('seats')} seats", row=f"vehicles[{number}]")
        if any({*each["drivers"]} < {*other["drivers"]} for other in found if each.get("drivers") and other.get("drivers")):
            yield Wrong("extra", f"{each['name']} is there twice", row=f"vehicles[{number}]")


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
        is_assumed = f"tasks[{number}].ends" in heard.assumed
        closes = None if (closes == by_all or is_assumed) and not wanted["closes"] else closes
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
        if who != "?" and not all(_plain(each) & _plain(who) for each in row.get("who") or ()):
            yield Wrong(f"tasks[{number}].who", f"{name} is done by {row.get('who')} for {who or 'anybody'}")
        elif who not in ("", "?") and not row.get("who"):
            yield Wrong(f"tasks[{number}].who", f"{name} is done by anybody for {who}", _plain(who))
    for name, row in others.items():
        yield Wrong("extra", f"also {name}", row=f"tasks[{[*request['tasks']].index(row)}]")


_JUDGES: Final = {"trip": _trip, "meal": _meal}
