"""Sheets: tables of entries that a person fills in, sent as one form and drawn by one template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Form = Mapping[str, str]
"""The fields of a form as they were sent, without spaces around them."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Entry of a sheet. `name`: of the form's field. `label`: what it is, for those who cannot see its column.

    `choices`: the values to choose from; empty: any. `size`: how many characters are seen at once.
    """

    name: str
    label: str
    value: str = ""
    choices: tuple[str, ...] = ()
    size: int = 6


Cell = tuple[Entry, ...]
Row = tuple[str, tuple[Cell, ...]]
"""A row's heading, and its cells in the order of the columns."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """Sheet. `hint`: what can be done in it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    hint: str = ""
