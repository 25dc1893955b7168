"""Fields of a reunion: people, cars, tasks, driving times and goals as tables, and what a value makes of the problem."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sagagraph.domains.reunion.day import as_json
from sagagraph.domains.reunion.parsing import parse_problem
from sagagraph.domains.reunion.request import Attention, ReunionProblem
from sagagraph.errors import InvalidInputError
from sagagraph.planning.fields import Field, Part, Row, Sheet, Widget, choices_of

Json = dict[str, Any]
_NAME: Final = re.compile(r"(\w+)\[(\d+)\](?:\.(\w+))?")
_DRIVES: Final = (("", "their own car"), ("yes", "yes"), ("no", "no"))


@dataclass(frozen=True, slots=True)
class _Column:
    """Column of a table: how a value is shown, and what is written for it. `Any`: a value of the problem's JSON."""

    key: str
    label: str
    widget: Widget = Widget.TEXT
    size: int = 10
    choices: tuple[tuple[str, str], ...] = ()
    is_place: bool = False
    shown: Callable[[Json, str], str] = lambda row, key: _words(row.get(key))
    written: Callable[[Json, str, str], None] = lambda row, key, value: row.__setitem__(key, value or None)


def _words(value: Any) -> str:
    return (
        ", ".join(value)
        if isinstance(value, list)
        else ""
        if value is None
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )


def _put_list(row: Json, key: str, value: str) -> None:
    names = [each.strip() for each in value.split(",") if each.strip()]
    row[key] = names or None


def _put_number(row: Json, key: str, value: str) -> None:
    try:
        row[key] = int(value or 0)
    except ValueError:
        raise InvalidInputError(f"“{value[:60]}” is not a whole number", field=key) from None


def _put_drives(row: Json, key: str, value: str) -> None:
    row[key] = {"yes": True, "no": False}.get(value)


def _show_drives(row: Json, key: str) -> str:
    drives = row.get(key)
    return "" if drives is None else "yes" if drives else "no"


def _put_end(row: Json, _key: str, value: str) -> None:
    row["window"] = [(row.get("window") or [None])[0], value or None]


def _put_watched(row: Json, _key: str, value: str) -> None:
    row["attention"] = (Attention.WATCHED if value else Attention.ACTIVE).value


def _show_watched(row: Json, _key: str) -> str:
    return "yes" if row.get("attention") == Attention.WATCHED.value else ""


def _put_who(row: Json, key: str, value: str) -> None:
    names = [each.strip() for each in value.split(",") if each.strip()]
    row[key] = "all" if names in ([], ["all"]) else names


_COLUMNS: Final[Mapping[str, tuple[str, tuple[_Column, ...]]]] = {
    "people": (
        "People",
        (
            _Column("name", "name", size=11),
            _Column("place", "where", Widget.CHOICE, is_place=True),
            _Column("from", "from", Widget.TIME),
            _Column("drives", "drives", Widget.CHOICE, choices=_DRIVES, shown=_show_drives, written=_put_drives),
        ),
    ),
    "vehicles": (
        "Cars",
        (
            _Column("name", "name", size=13),
            _Column("seats", "seats", Widget.NUMBER, size=3, written=_put_number),
            _Column("place", "where", Widget.CHOICE, is_place=True),
            _Column("drivers", "drivers", written=_put_list),
        ),
    ),
    "tasks": (
        "What has to be done",
        (
            _Column("name", "what", size=13),
            _Column("place", "where", Widget.CHOICE, is_place=True),
            _Column("minutes", "minutes", Widget.NUMBER, size=4, written=_put_number),
            _Column(
                "ends",
                "done by",
                Widget.TIME,
                shown=lambda row, _: _words((row.get("window") or [None, None])[1]),
                written=_put_end,
            ),
            _Column("who", "who", written=_put_list),
            _Column("watched", "watched", Widget.CHECK, shown=_show_watched, written=_put_watched),
        ),
    ),
    "goals": (
        "By when who is where",
        (
            _Column("people", "who", written=_put_who),
            _Column("place", "where", Widget.CHOICE, is_place=True),
            _Column("by", "by", Widget.TIME),
        ),
    ),
}
_NEW: Final[Mapping[str, Json]] = {
    "people": {"drives": None, "from": None},
    "vehicles": {"seats": 5, "drivers": None},
    "tasks": {"minutes": 0, "window": [None, None], "who": None},
}
"""What is assumed of a new row, which begins with its name."""
_ROADS: Final = "travel_minutes"


def fields_of(told: Json, asked: Mapping[str, str], assumed: Mapping[str, str]) -> tuple[Part, ...]:
    """Return a reunion, as far as it is `told`, as tables. By their fields: what is `asked`, and why what is `assumed`."""
    marked = (part.with_assumed(assumed) for part in _tables(told))
    return tuple(part.asking(asked) for part in marked)


def _tables(told: Json) -> tuple[Sheet, ...]:
    places = choices_of("", *told["places"])
    tables = (Sheet(title, (*(each.label for each in columns), ""), tuple(_rows(kind, columns, told[kind], places)))
              for kind, (title, columns) in _COLUMNS.items())  # fmt: skip
    people, cars, tasks, goals = tables
    return (goals, people, cars, tasks, _roads(told))


def _rows(kind: str, columns: tuple[_Column, ...], rows: list[Json], places: tuple[tuple[str, str], ...]) -> Iterator[Row]:
    for number, row in enumerate(rows):
        fields = tuple((_field(f"{kind}[{number}].{each.key}", each, each.shown(row, each.key), places),) for each in columns)
        called = row.get("name") or row.get("place")
        yield str(number + 1), (*fields, (Field(f"{kind}[{number}]", f"Leave out {called}", widget=Widget.DROP),))
    if kind in _NEW:
        yield str(len(rows) + 1), ((_field(f"{kind}[{len(rows)}].name", columns[0], "", places),),)


def _field(name: str, column: _Column, value: str, places: tuple[tuple[str, str], ...]) -> Field:
    choices = places if column.is_place else column.choices
    least = "0" if column.widget is Widget.NUMBER else ""
    widget = Widget.TEXT if column.widget is Widget.TIME and not re.fullmatch(r"(\d\d:\d\d)?", value) else column.widget
    return Field(name, column.label, value, widget, choices, column.size, least=least)


def _roads(told: Json) -> Sheet:
    rows: list[Row] = [
        (f"{here} – {there}", ((Field(f"{_ROADS}[{number}]", "minutes", _words(minutes), Widget.NUMBER, size=4, least="0"),),))
        for number, (here, there, minutes, *_) in enumerate(told[_ROADS])
    ]
    return Sheet("Driving times", ("minutes",), tuple(rows))


def with_value(problem: ReunionProblem, name: str, value: str) -> ReunionProblem:
    """Return the problem with another value in one field. Raises `InvalidInputError` for what cannot be."""
    told, value = as_json(problem), value.strip()
    found = _NAME.fullmatch(name)
    kind, number = (found[1], int(found[2])) if found else ("", 0)
    if found is None or kind not in (*_COLUMNS, _ROADS) or number > len(told[kind]):
        raise InvalidInputError("that is no longer there: look at the page again", field=name)
    if kind == _ROADS:
        told[kind][number][2] = _minutes(value, name)
    elif found[3] is None or (found[3] == "name" and not value):
        del told[kind][number : number + 1]
    else:
        _write(told, kind, number, found[3], value)
    return parse_problem(told)


def _write(told: Json, kind: str, number: int, key: str, value: str) -> None:
    column = next((each for each in _COLUMNS[kind][1] if each.key == key), None)
    if column is None or (number == len(told[kind]) and (key != "name" or kind not in _NEW)):
        raise InvalidInputError("there is no such field: look at the page again", field=kind)
    if number == len(told[kind]):
        told[kind].append({**_NEW[kind], "place": told["goals"][0]["place"] if told["goals"] else next(iter(told["places"]))})
        told[kind][number] = {key: each for key, each in told[kind][number].items() if each is not None}
    column.written(told[kind][number], key, value)


def _minutes(value: str, name: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise InvalidInputError("say how many minutes it takes", field=name) from None
