"""Fields of a reunion: places, people, cars, tasks, goals and driving times as tables, and what a value makes of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import date
from itertools import combinations
from typing import Any, Final

from sagagraph.domains.reunion.completion import EVERYBODY, unknown_ways
from sagagraph.domains.reunion.page.model_reading import ALL_OF_THEM, WAY
from sagagraph.domains.reunion.parsing import moment_in
from sagagraph.domains.reunion.request import Attention
from sagagraph.domains.reunion.transcript import WHOSE, Filled
from sagagraph.errors import InvalidInputError
from sagagraph.planning.fields import Field, Fields, Part, Row, Sheet, State, Widget, choices_of

Json = dict[str, Any]
DAY: Final = "day"
_NAME: Final = re.compile(r"(\w+)\[(\d+)\](?:\.(\w+))?")
_ITS_OWN: Final = "*"
_DRIVES: Final = (("", ""), ("yes", "yes"), ("no", "no"))
_ROADS: Final = "travel_minutes"
_MOST_LISTED: Final = 5
"""Places between which every way has a field; of more, only the ways that are told or needed."""


@dataclass(frozen=True, slots=True)
class _Column:
    """Column of a table: how a value is shown, and what is written for it. `Any`: a value of the problem's JSON.

    `of`: the table whose names can be chosen, beside `choices`.
    """

    key: str
    label: str
    widget: Widget = Widget.TEXT
    size: int = 10
    choices: tuple[tuple[str, str], ...] = ()
    of: str = ""
    least: str = ""
    shown: Callable[[Json, str], str] = lambda row, key: _words(row.get(key))
    written: Callable[[Json, str, str], None] = lambda row, key, value: row.__setitem__(key, value or None)


def _words(value: Any) -> str:
    listed = value if isinstance(value, list) else [] if value is None else [value]
    return ", ".join(f"{each:g}" if isinstance(each, float) else str(each) for each in listed)


def _put_list(row: Json, key: str, value: str) -> None:
    row[key] = value.split(", ") if value else None


def _put_drivers(row: Json, key: str, value: str) -> None:
    row[key] = None if value == _ITS_OWN else value.split(", ") if value else []


def _show_drivers(row: Json, key: str) -> str:
    return _ITS_OWN if row.get(key) is None else _words(row[key])


def _put_number(row: Json, key: str, value: str) -> None:
    row[key] = int(value) if value else None


def _put_name(row: Json, key: str, value: str) -> None:
    row[key] = value
    if row.get("words") is not None:  # of a place
        row["words"] = value


def _put_drives(row: Json, key: str, value: str) -> None:
    row[key] = {"yes": True, "no": False}.get(value)


def _show_drives(row: Json, key: str) -> str:
    drives = row.get(key)
    return "" if drives is None else "yes" if drives else "no"


def _put_end(row: Json, _key: str, value: str) -> None:
    row["window"] = [(row.get("window") or [None])[0], value or None]


def _put_begin(row: Json, _key: str, value: str) -> None:
    row["window"] = [value or None, (row.get("window") or [None, None])[1]]


def _put_errand(row: Json, _key: str, value: str) -> None:
    row["minutes"] = 0 if value else None


def _put_watched(row: Json, _key: str, value: str) -> None:
    row["attention"] = (Attention.WATCHED if value else Attention.ACTIVE).value


def _show_watched(row: Json, _key: str) -> str:
    return "yes" if row.get("attention") == Attention.WATCHED.value else ""


def _put_who(row: Json, key: str, value: str) -> None:
    row[key] = EVERYBODY if value.casefold() in ALL_OF_THEM else value.split(", ")


def _put_stand(row: Json, key: str, value: str) -> None:
    row.pop(key, None)  # a car stands where its driver is, as long as nobody says anything else
    row.update({key: value} if value else {})


_PLACE: Final = _Column("place", "where", Widget.CHOICE, choices=(("", ""),), of="places")


_COLUMNS: Final[Mapping[str, tuple[str, tuple[_Column, ...]]]] = {
    "places": ("Places", (_Column("name", "place", size=16, written=_put_name),)),
    "goals": (
        "By when who is where",
        (
            _Column("people", "who", Widget.CHOICE, choices=((EVERYBODY, "everybody"),), of="people", written=_put_who),
            _PLACE,
            _Column("by", "by", Widget.TIME),
        ),
    ),
    "people": (
        "People",
        (
            _Column("name", "name", size=11),
            _PLACE,
            _Column("from", "from", Widget.TIME),
            _Column("drives", "drives", Widget.CHOICE, choices=_DRIVES, shown=_show_drives, written=_put_drives),
            _Column("mail", "mail", size=14),
        ),
    ),
    "vehicles": (
        "Cars",
        (
            _Column("name", "name", size=13),
            _Column("seats", "seats", Widget.NUMBER, size=3, least="1", written=_put_number),
            replace(_PLACE, written=_put_stand),
            _Column(
                "drivers",
                "drivers",
                Widget.CHOICE,
                choices=(("", ""), (_ITS_OWN, "it brings a driver")),
                of="people",
                shown=_show_drivers,
                written=_put_drivers,
            ),
        ),
    ),
    "tasks": (
        "What has to be done",
        (
            _Column("name", "what", size=13),
            replace(_PLACE, choices=(("", "anywhere"),)),
            _Column("minutes", "minutes", Widget.NUMBER, size=4, least="0", written=_put_number),
            _Column(
                "opens",
                "not before",
                Widget.TIME,
                shown=lambda row, _: _words((row.get("window") or [None, None])[0]),
                written=_put_begin,
            ),
            _Column(
                "ends",
                "done by",
                Widget.TIME,
                shown=lambda row, _: _words((row.get("window") or [None, None])[1]),
                written=_put_end,
            ),
            _Column("who", "who", Widget.CHOICE, choices=(("", "anybody"),), of="people", written=_put_list),
            _Column("watched", "watched", Widget.CHECK, shown=_show_watched, written=_put_watched),
        ),
    ),
}
_HINTS: Final = {"places": "Name the places: then they can be chosen below."}
_NEW: Final[Mapping[str, Json]] = {
    "places": {"words": ""},
    "goals": {"place": None, "by": None},
    "people": {"place": None},
    "vehicles": {"drivers": []},
    "tasks": {},
}
"""A new row beside its name."""
_REFERENCES: Final = {"people": ("people", "prefers", "drivers", "who"), "tasks": ("unlocked_by", "after"), "places": ("place",)}
"""The fields that name a row of a table."""


def fields_of(told: Json, asked: Mapping[str, str], assumed: Mapping[str, str], *, day: date, has_mail: bool) -> tuple[Part, ...]:
    """Return a reunion, as far as it is `told`, as tables. By their fields: what is `asked`, and why what is `assumed`.

    `day`: on which all meet. `has_mail`: people have addresses, because mail is sent.
    """
    shown = {
        kind: (title, tuple(each for each in columns if has_mail or each.key != "mail"))
        for kind, (title, columns) in _COLUMNS.items()
    }
    asked = {f"{name}[0].name" if name in _COLUMNS else name: question for name, question in asked.items()}
    listed = _listed(told)
    tables = (Sheet(title, (*(each.label for each in columns), ""), tuple(_rows(kind, columns, listed)), _HINTS.get(kind, ""))
              for kind, (title, columns) in shown.items())  # fmt: skip
    roads = Fields("Driving times, in minutes", tuple(_roads(told)))
    when = Fields("When", (Field(DAY, "Day", day.isoformat(), Widget.DATE),))
    parts: tuple[Part, ...] = (when, *tables, roads) if roads.fields else (when, *tables)
    return tuple(part.marked(lambda field: field.assumed(assumed).asking(asked)) for part in parts)


def _listed(told: Json) -> Json:
    """Return all tables as lists of rows."""
    return {**told, "places": [{"name": name, "words": words} for name, words in told["places"].items()]}


def _names(listed: Json, kind: str) -> list[str]:
    return [str(row["name"]) for row in listed[kind]]


def _rows(kind: str, columns: tuple[_Column, ...], listed: Json) -> Iterator[Row]:
    for number, row in enumerate(listed[kind]):
        fields = tuple((_field(f"{kind}[{number}].{each.key}", each, each.shown(row, each.key), listed),) for each in columns)
        called = row.get("name") or f"row {number + 1}"
        yield str(number + 1), (*fields, (Field(f"{kind}[{number}]", f"Leave out {called}", widget=Widget.DROP),))
    first, place = columns[0], len(listed[kind])
    yield str(place + 1), ((_field(f"{kind}[{place}].{first.key}", first, "", listed),),)


def _field(name: str, column: _Column, value: str, listed: Json) -> Field:
    known = (*column.choices, *choices_of(*_names(listed, column.of))) if column.of else column.choices
    if column.widget is Widget.CHOICE and value not in dict(known):
        known = (*choices_of(value), *known)
    widget = Widget.TEXT if column.widget is Widget.TIME and not re.fullmatch(r"(\d\d:\d\d)?", value) else column.widget
    return Field(name, column.label, value, widget, known, column.size, least=column.least)


def _roads(told: Json) -> Iterator[Field]:
    needed = {frozenset(each) for each in unknown_ways(told)}
    for number, (here, there, minutes, *_) in enumerate(_ways(told)):
        is_needed = frozenset((here, there)) in needed
        state, note = (State.MISSING, "How long does it take?") if is_needed else (State.OPEN, "")
        label = f"{here} – {there}"
        yield Field(f"{_ROADS}[{number}]", label, _words(minutes), Widget.NUMBER, size=4, state=state, note=note, least="0")


def _ways(told: Json) -> list[list[Any]]:
    """Return the rows of the ways that have a field: those that are told, then those that somebody needs or could tell."""
    place = {name: number for number, name in enumerate(told["places"])}
    others = combinations(place, 2) if len(place) <= _MOST_LISTED else ()
    asked = [sorted(each, key=place.__getitem__) for each in (*unknown_ways(told), *others)]
    ways: dict[frozenset[str], list[Any]] = {}
    for row in (*told[_ROADS], *([*each, None] for each in asked)):
        ways.setdefault(frozenset(row[:2]), row)
    return list(ways.values())


def day_of(value: str) -> date | None:
    """Return the day that is filled in; None for none. Raises `InvalidInputError` for what is no day."""
    try:
        return date.fromisoformat(value.strip()) if value.strip() else None
    except ValueError:
        raise InvalidInputError(f"“{value[:60]}” is no day such as 2026-12-24", field=DAY) from None


def with_value(before: Filled, name: str, value: str) -> Filled:
    """Return what is filled in with another value in one field. Raises `InvalidInputError` for what cannot be."""
    told, value = deepcopy(before.problem), value.strip()
    ways = _ways(told)
    if name.startswith(f"{_ROADS} "):
        ends = name.removeprefix(f"{_ROADS} ").split(WAY)
        ways += [[*ends, None]] if len(ends) == 2 and {*ends} <= told["places"].keys() else []
        name = f"{_ROADS}[{next((place for place, row in enumerate(ways) if {*row[:2]} == {*ends}), len(ways))}]"
    found = _NAME.fullmatch(name)
    kind, number, key = (found[1], int(found[2]), found[3]) if found else ("", 0, None)
    mark = f"{kind}[{number}].{WHOSE.get(kind, 'name')}"  # whoever changes a row has looked at it
    assumed = {field: why for field, why in before.assumed.items() if field not in (name, mark)}
    if kind == _ROADS and number < len(ways):
        told[kind][number : number + 1] = [[*ways[number][:2], _minutes(value), *ways[number][3:]]]
    elif key == "errand" and number < len(told[kind]):
        _put_errand(told[kind][number], key, value)
        assumed[f"{kind}[{number}].minutes"] = "only fetched"
    elif kind not in _COLUMNS or number > len(told[kind]):
        raise InvalidInputError("that is no longer there: look at the page again", field=name)
    else:
        listed, first = _listed(told), _COLUMNS[kind][1][0]
        if not value and key in (None, first.key):
            assumed = dict(_without(listed, kind, number, assumed))
        else:
            _write(listed, kind, number, str(key), value)
        told = {**listed, "places": {row["name"]: row["words"] for row in listed["places"]}}
    guessed = {int(field[len(_ROADS) + 1 : -1]) for field in assumed if field.startswith(_ROADS)}  # they are estimated anew
    told[_ROADS] = [row for place, row in enumerate(told[_ROADS]) if row[2] is not None and place not in guessed]
    assumed = {field: why for field, why in assumed.items() if not field.startswith(_ROADS)}
    return before.model_copy(update={"problem": told, "assumed": assumed})


def without_left_places(board: Filled, read: Filled, before: Filled) -> Filled:
    """Return the board without places that are new in what was `read`, and where nobody and nothing is any more."""
    left = _places_named(read.problem) - _places_named(board.problem) - before.problem["places"].keys()
    places = {name: words for name, words in board.problem["places"].items() if name not in left}
    return board.model_copy(update={"problem": {**board.problem, "places": places}})


def _places_named(held: Any) -> set[str]:
    """Return the places that rows name, and the ends of ways whose duration is told."""
    if isinstance(held, list):
        return {name for each in held for name in _places_named(each)}
    if not isinstance(held, dict):
        return set()
    ends = {end for row in held.get(_ROADS, ()) for end in row[:2]}
    own = {held["place"]} if isinstance(held.get("place"), str) else set()
    return own | ends | {name for each in held.values() for name in _places_named(each)}


def with_cars(before: Filled) -> Filled:
    """Return what is filled in with a car for everybody who is said to drive, and of whose car nobody has spoken."""
    told = deepcopy(before.problem)
    driven = {name for car in told["vehicles"] for name in car.get("drivers") or ()}
    named = {car["name"]: car for car in told["vehicles"]}
    for person in told["people"]:
        if not person.get("drives") or person["name"] in driven:
            continue
        if (own := named.get(f"{person['name']}'s car")) is not None:
            own["drivers"] = own.get("drivers") or [person["name"]]
        else:
            told["vehicles"].append({"name": f"{person['name']}'s car", "drivers": [person["name"]]})
    return before.model_copy(update={"problem": told})


def _without(listed: Json, kind: str, number: int, assumed: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Leave out a row, and whatever names it; yield what is assumed of the others, by their new fields."""
    for row in listed[kind][number : number + 1]:
        listed[kind].remove(row)
        if "name" in row:
            _refer(listed, kind, row["name"], None)
    for field, why in assumed.items():
        found = _NAME.fullmatch(field)
        if found is None or found[1] != kind or int(found[2]) < number:
            yield field, why
        elif int(found[2]) > number:
            yield f"{kind}[{int(found[2]) - 1}].{found[3]}", why


def _write(listed: Json, kind: str, number: int, key: str, value: str) -> None:
    first, *others = _COLUMNS[kind][1]
    is_new = number == len(listed[kind])
    column = next((each for each in (first, *others) if each.key == key and (each is first or not is_new)), None)
    if column is None:
        raise InvalidInputError("there is no such field: look at the page again", field=kind)
    if column.widget is Widget.TIME and value and moment_in(value) is None:
        raise InvalidInputError(f"“{value[:60]}” is no time such as 18:30", field=key)
    if column.widget is Widget.NUMBER and value and not (value.isdecimal() and int(value) >= int(column.least)):
        raise InvalidInputError(f"“{value[:60]}” is not a whole number from {column.least} on", field=key)
    if key == "name" and value.casefold() in ALL_OF_THEM:
        raise InvalidInputError(f"“{value}” is no name", field=key)
    if column.of == "people" and value.casefold() not in (*dict(column.choices), *ALL_OF_THEM * (kind == "goals")):
        strangers = [name for name in value.split(", ") if name not in _names(listed, "people")]
        if strangers:
            raise InvalidInputError(f"nobody is called “{strangers[0][:60]}”", field=key)
    if is_new:
        listed[kind].append(deepcopy(_NEW[kind]))
    if column.of == "places" and value and value not in _names(listed, "places"):
        listed["places"].append({"name": value, "words": value})
    row = listed[kind][number]
    if key == "name":
        if value in _names({kind: [each for each in listed[kind] if each is not row]}, kind):
            raise InvalidInputError(f"{value} is there already: give it another name", field=key)
        if key in row:
            _refer(listed, kind, row[key], value)
    column.written(row, key, value)


def _refer(listed: Json, kind: str, old: str | None, new: str | None) -> None:
    """Let whatever refers to a row of a table refer to it by another name or, without one, no more."""
    rows = {"places": (_ROADS, "distance_km"), "people": ("apart",)}.get(kind, ())
    _rename(listed, _REFERENCES.get(kind, ()), old, new)
    for table in rows:
        _rename([{"name": row} for row in listed[table]], ("name",), old, new)
        listed[table] = [row for row in listed[table] if len(row) > (1 if table == "apart" else 2)]
    listed["goals"] = [goal for goal in listed["goals"] if goal["people"]]
    for car in listed["vehicles"]:
        _put_stand(car, "place", car.get("place") or "")


def _rename(held: Any, keys: tuple[str, ...], old: str | None, new: str | None) -> None:
    """Rename in lists and objects of JSON, under these keys."""
    for key, each in held.items() if isinstance(held, dict) else enumerate(held):
        is_named = isinstance(held, dict) and key in keys
        if is_named and each == old:
            held[key] = new
        elif is_named and isinstance(each, list) and not any(isinstance(one, dict) for one in each):
            each[:] = [new if one == old else one for one in each if new is not None or one != old]
        elif isinstance(each, list | dict):
            _rename(each, keys, old, new)


def _minutes(value: str) -> float | None:
    try:
        return float(value) if value else None
    except ValueError:
        raise InvalidInputError("say how many minutes it takes", field=_ROADS) from None
