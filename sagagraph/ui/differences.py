"""Differences between two plans: in their lines, and in their costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from sagagraph.money import cost_text, money_text
from sagagraph.planning.fields import Field, Fields, Part, State, Widget
from sagagraph.planning.page import Line


def changes(before: Sequence[Line], after: Sequence[Line]) -> list[tuple[str, Line | None, Line | None]]:
    """Return the differences between two plans, in the order of the new one; what was removed comes last."""
    old, new = {each.key: each for each in before}, {each.key: each for each in after}
    keys = dict.fromkeys([*new, *old])
    return [(key, old.get(key), new.get(key)) for key in keys if old.get(key) != new.get(key)]


def in_short(line: Line | None) -> str:
    if line is None:
        return "—"
    return " · ".join(each for each in (line.what, line.when, line.price) if each and each != line.key)


def price_change(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> str:
    """Format the change of cost: `$650 → $720, $70 more`; empty if neither costs anything."""
    old, new = cost_text(before), cost_text(after)
    if not old or not new or before is None or after is None:
        return ""
    more = Decimal(str(after["total"])) - Decimal(str(before["total"]))
    if not more:
        return f"still {new}"
    return f"{old} → {new}, {money_text(abs(more), str(after['currency']))} {'more' if more > 0 else 'less'}"


def told(before: Sequence[Line], after: Sequence[Line]) -> Iterator[str]:
    """Yield each difference as a line of text."""
    for _key, old, new in changes(before, after):
        if old is None:
            yield f"new: {in_short(new)}"
        elif new is None:
            yield f"no longer: {in_short(old)}"
        else:
            yield f"{new.key}: {', '.join(_changed(old, new))}"


def _changed(old: Line, new: Line) -> Iterator[str]:
    """Yield the parts of a line that differ."""
    for before, after in ((old.what, new.what), (old.when, new.when), (old.price, new.price)):
        if before != after:
            yield f"{before or 'nothing'} → {after or 'nothing'}"


def filled(before: Sequence[Part], after: Sequence[Part]) -> Iterator[str]:
    """Yield each field that is different, with what it was and is."""
    old, new = dict(_values(before)), dict(_values(after))
    for key in dict.fromkeys((*old, *new)):
        if old.get(key) != new.get(key):
            was, now = (each.get(key) or "–" for each in (old, new))
            yield f"{key}: {was} → {now}"


def assumed(parts: Sequence[Part]) -> Iterator[str]:
    """Yield each field that nobody has filled in, with its value and why it is taken to be so."""
    for key, field in _named(parts):
        if field.state is State.ASSUMED:
            yield f"{key}: {_words(field)} ({field.note.removeprefix('assumed: ')})"


def _values(parts: Sequence[Part]) -> Iterator[tuple[str, str]]:
    return ((name, _words(field)) for name, field in _named(parts))


def _named(parts: Sequence[Part]) -> Iterator[tuple[str, Field]]:
    """Yield the fields by their labels, those of a table with the name of its row."""
    for part in parts:
        if isinstance(part, Fields):
            yield from ((each.label, each) for each in part.fields)
        else:
            for _, cells in part.rows:
                fields = [each for cell in cells for each in cell if each.widget is not Widget.DROP]
                row = _words(fields[0]) if len(fields) > 1 else ""
                yield from ((f"{row}, {each.label}", each) for each in fields if row)


def _words(field: Field) -> str:
    return dict(field.choices).get(field.value, field.value)
