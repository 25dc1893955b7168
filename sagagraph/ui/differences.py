"""Differences between two plans: in their lines, and in their costs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from decimal import Decimal
from textwrap import shorten
from typing import Any, Final

from sagagraph.planning.fields import Field, Fields, Part, State, Widget
from sagagraph.planning.page import Line, Page

_PARTS: Final = re.compile("; | · ")
_DAY: Final = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_MOST_TOLD: Final = 4
_LONGEST: Final = 120


def changes(before: Sequence[Line], after: Sequence[Line]) -> list[tuple[str, Line | None, Line | None]]:
    """Return the differences between two plans, in the order of the new one; what was removed comes last."""
    old, new = {each.key: each for each in before}, {each.key: each for each in after}
    keys = dict.fromkeys([*new, *old])
    both = ((key, old.get(key), new.get(key)) for key in keys)
    return [each for each in both if in_short(each[1]) != in_short(each[2])]


def in_short(line: Line | None) -> str:
    if line is None:
        return "—"
    return " · ".join(each for each in (line.what, line.when, line.price) if each and each != line.key)


Priced = tuple[Any, Mapping[str, Any] | None]
"""A plan and its cost."""


def price_change(page: Page, before: Priced, after: Priced) -> str:
    """Format the change of cost, fees included: `$650 → $720, $70 more`; empty if one of them costs nothing."""
    old, new = page.price(*before), page.price(*after)
    if not old or not new or before[1] is None or after[1] is None:
        return ""
    more = _in_all(after[1]) - _in_all(before[1])
    if not more:
        return f"still {new}"
    return f"{old} → {new}, {page.money(after[0], abs(more), str(after[1]['currency']))} {'more' if more > 0 else 'less'}"


def _in_all(cost: Mapping[str, Any]) -> Decimal:
    return Decimal(str(cost["total"])) + Decimal(str(cost.get("fees") or 0))


def told(before: Sequence[Line], after: Sequence[Line]) -> list[str]:
    """Return the first differences as lines of text, and how many more there are: the table of the plan has all of them."""
    return few([_told(*each) for each in changes(before, after)], "in the plan below")


def _told(key: str, old: Line | None, new: Line | None) -> str:
    if old is None or new is None:
        line = old or new
        what = " · ".join(filter(None, (line.what, line.when, line.price))) if line is not None else ""
        return _short(f"{'no longer' if new is None else 'new'}: {what}")
    gone, come = apart(in_short(old), in_short(new))
    return f"{key}: {_short(gone)} → {_short(come)}"


def apart(old: str, new: str) -> tuple[str, str]:
    """Return the parts of both that differ, one in each line."""
    before, after = _PARTS.split(old), _PARTS.split(new)
    gone, come = [each for each in before if each not in after], [each for each in after if each not in before]
    return "\n".join(gone) or "—", "\n".join(come) or "—"


def few(told: Sequence[str], where: str) -> list[str]:
    """Return the first of many, and how many more there are, `where` they can be read."""
    left = len(told) - _MOST_TOLD
    return [*told[:_MOST_TOLD], f"and {left} more, {where}"] if left > 0 else list(told)


def _short(text: str) -> str:
    return shorten(text.replace("\n", ", "), _LONGEST, placeholder=" …")


def filled(before: Sequence[Part], after: Sequence[Part]) -> Iterator[str]:
    """Yield each field that is different, with what it was and is."""
    old, new = dict(_values(before)), dict(_values(after))
    for key in dict.fromkeys((*old, *new)):
        was, now = (each.get(key) or "–" for each in (old, new))
        if was != now:
            yield f"{key}: {was} → {now}"


def assumed(parts: Sequence[Part]) -> Iterator[str]:
    """Yield each field that nobody has filled in, with its value and why it is taken to be so."""
    for key, field in _named(parts):
        if field.state is State.ASSUMED:
            said = "" if key.startswith(f"{_words(field)}, ") else f"{key}: "
            yield f"{said}{_words(field)} ({field.note.removeprefix('assumed: ')})"


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
    return dated(dict(field.choices).get(field.value, field.value))


def dated(text: str) -> str:
    """Return a text with its dates as people write them: `17 April 2026`, not `2026-04-17`."""
    return _DAY.sub(lambda found: _in_words(found[0]), text)


def _in_words(day: str) -> str:
    with suppress(ValueError):
        return f"{date.fromisoformat(day):%-d %B %Y}"
    return day
