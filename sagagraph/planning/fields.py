"""Fields: what a person fills in, alone or in the tables of a sheet, drawn by one template whatever they are about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Final

Form = Mapping[str, str]
"""The fields of a form as they were sent, without spaces around them."""

Refused = Mapping[str, tuple[str, str, str]]
"""By the field: the value that stands, what is shown of what cannot stand in its place, and why it cannot."""

UNREADABLE: Final = "?"
"""What a browser sends of something typed that it cannot read itself, such as 31 February."""
LIKELY: Final = "most likely"
"""Begins the reason of a guess at a name. A command that books at once asks instead."""


class State(StrEnum):
    OPEN = "open"
    """Nobody has said anything about it, and nothing has to be said."""
    SAID = "said"
    ASSUMED = "assumed"
    """Its note says why."""
    MISSING = "missing"
    """Nothing is planned without it; its note asks for it."""
    REFUSED = "refused"
    """What was typed last cannot be; its note says why."""


class Widget(StrEnum):
    TEXT = "text"
    NUMBER = "number"
    DATE = "date"
    TIME = "time"
    CHOICE = "choice"
    CHECK = "check"
    """Its value is `yes`, or empty."""
    DROP = "drop"
    """A button that takes something away, by leaving its field empty."""


_KINDS: Final = {Widget.DATE: "day of the calendar", Widget.TIME: "time of day", Widget.NUMBER: "number"}


@dataclass(frozen=True, slots=True)
class Field:
    """Field. `label`: what it is, for those who cannot see its column, too. `value`: as it is typed; dates are ISO's.

    `choices`: what can be chosen, each with its words. `size`: how many characters are seen at once. `suggests`: the name of a
    list of the page's `suggestions`. `least`, `most`: of a number or a date; one that has both is whole, and changed in steps.
    """

    name: str
    label: str
    value: str = ""
    widget: Widget = Widget.TEXT
    choices: tuple[tuple[str, str], ...] = ()
    size: int = 6
    state: State = State.OPEN
    note: str = ""
    suggests: str = ""
    least: str = ""
    most: str = ""
    other: str = ""
    """What the rules have read instead of a model: one click takes it."""

    def why_not(self, typed: str) -> str:
        """Say why a number, or what a browser cannot read, cannot be typed here; empty if it can, and of anything else."""
        if typed == UNREADABLE and self.widget in _KINDS:
            return f"That is no {_KINDS[self.widget]}."
        begin = f"“{typed[:60]}” cannot be used here:"
        try:
            number = Decimal(typed)
        except InvalidOperation:
            return ""
        if self.widget is not Widget.NUMBER or not number.is_finite():
            return ""
        if self.least and number < Decimal(self.least):
            return f"{begin} at least {self.least}"
        if self.most and number > Decimal(self.most):
            return f"{begin} at most {self.most}"
        return f"{begin} a whole number" if self.least and self.most and number % 1 else ""

    def beside(self, others: Mapping[str, str]) -> Field:
        other = others.get(self.name, "")
        return replace(self, other=other) if other and other != self.value else self

    def asking(self, questions: Mapping[str, str]) -> Field:
        asked = questions.get(self.name, "")
        return replace(self, state=State.MISSING, note=asked) if asked else self

    def assumed(self, reasons: Mapping[str, str]) -> Field:
        """Return the field as assumed, if there is a reason for its value."""
        why = "" if self.state is State.MISSING or not self.value else reasons.get(self.name, "")
        return replace(self, state=State.ASSUMED, note=f"assumed: {why}") if why else self

    def quoting(self, quotes: Mapping[str, tuple[str, str]]) -> Field:
        """Return the field with the words in which its value was said, by its name, as long as it has that value."""
        value, words = quotes.get(self.name, ("", ""))
        is_said = words not in ("", value) and value == self.value and self.state in (State.SAID, State.OPEN) and not self.note
        return replace(self, note=f"said: “{words}”") if is_said else self

    def refusing(self, refused: Refused) -> Field:
        """Return the field with what was refused in it, as long as it has the value that stood then."""
        stood, shown, why = refused.get(self.name, ("", "", ""))
        return replace(self, value=shown, state=State.REFUSED, note=why) if why and stood == self.value else self


Mark = Callable[[Field], Field]
"""What marks a field: as asked for, as assumed, with another reading."""
Cell = tuple[Field, ...]
Row = tuple[str, tuple[Cell, ...]]
"""A row's heading, and its cells in the order of the columns."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """Sheet. `hint`: what can be done in it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    hint: str = ""

    def marked(self, mark: Mark) -> Sheet:
        rows = ((head, tuple(tuple(map(mark, cell)) for cell in cells)) for head, cells in self.rows)
        return replace(self, rows=tuple(rows))


@dataclass(frozen=True, slots=True)
class Fields:
    """Fields side by side. `is_rare`: they are folded as long as nobody has said anything about them."""

    title: str
    fields: tuple[Field, ...]
    is_rare: bool = False

    def marked(self, mark: Mark) -> Fields:
        return replace(self, fields=tuple(map(mark, self.fields)))

    @property
    def is_folded(self) -> bool:
        return self.is_rare and all(each.state is State.OPEN for each in self.fields)


Part = Sheet | Fields


def choices_of(*values: str) -> tuple[tuple[str, str], ...]:
    """Return choices that are their own words."""
    return tuple((each, each) for each in values)
