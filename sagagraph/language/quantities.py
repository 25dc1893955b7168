"""Quantities: amounts with alternatives, lists, limits and changes (`3 to 5 nights`, `one star more`).

A unit is tagged by its kind: `span` (nights, years, kilometres), and whatever a domain adds; see `clock` for hours and minutes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Final

from sagagraph.language.forms import Forms
from sagagraph.language.money import SIGN
from sagagraph.language.numbers import Number

if TYPE_CHECKING:
    from sagagraph.language.passage import Found, Passage

Units = Mapping[str, Forms]
"""By the kind of its tag: the names of units, and how each is written."""

UNITS: Final[Units] = {"span": Forms(__file__, "units.span")}
_SAYS: Final = Forms(__file__, "quantities", SIGN=SIGN)
_CHANGES: Final = ("more", "less", "later", "earlier")
NIGHTS: Final = {"night": 1, "day": 1, "week": 7, "fortnight": 14}
_MOST_NIGHTS: Final = 999
"""Of one of these units: more is no time that anybody travels, and no date that there is."""


@dataclass(frozen=True, slots=True)
class Quantity:
    amounts: tuple[Decimal, ...]
    """Empty: not said exactly (`a few`)."""
    unit: str
    link: str = ""
    """`and`: a list; `or`: one of them, or something between."""
    bound: str = ""
    """`least` or `most`: a limit."""
    change: str = ""
    """`more`, `less`, `later` or `earlier` than was said before."""
    grown: int | None = None
    """How many of the children are none any more, by their ages; None: these are not said."""

    @property
    def count(self) -> int | None:
        """Return the one whole number that is stated; None otherwise."""
        is_exact = len(self.amounts) == 1 and self.amounts[0] == self.amounts[0].to_integral_value()
        return int(self.amounts[0]) if is_exact else None

    @property
    def delta(self) -> int:
        """Return how many more; negative: how many fewer."""
        return (self.count or 0) * (-1 if self.change in ("less", "earlier") else 1)

    @property
    def counts(self) -> list[int]:
        return [int(amount) for amount in self.amounts]


@cache
def _grammar(unit: str) -> re.Pattern[str]:
    return Forms(__file__, "quantities", UNIT=unit, SIGN=SIGN).quantity


def tag_quantities(passage: Passage, units: Units) -> None:
    """Tag quantities, after the numbers are tagged."""
    for kind, names in units.items():
        unit = "|".join(map(names.text, names))
        passage.tag(kind, _grammar(unit), lambda found, names=names: _quantity(found, names))  # type: ignore[misc]


def _quantity(found: Found, names: Forms) -> Quantity | None:
    unit = next(name for name in names if names[name].fullmatch(found["unit"]))
    amounts = found["amounts"]
    if amounts in ("a", "an") and found.led_by(_SAYS.priced):
        return None
    numbers = [*found.values(Number, "amounts"), *found.values(Number, "second")]
    exact = [number.value for number in numbers if number.value is not None]
    if not numbers and not _SAYS.vague.search(amounts):
        exact = [Decimal(2 if "couple" in amounts else 1)]
    if unit in NIGHTS and max(exact, default=0) > _MOST_NIGHTS:
        return None
    said = found["before"] or found["after"]
    change = next((change for change in _CHANGES if said in _SAYS.text(change.upper()).split("|")), "")
    if found["add"] or "another" in amounts:
        change = change or "more"
    if found["remove"]:
        change = "less"
    return Quantity(
        tuple(exact),
        unit,
        link="or" if found["second"] or found["or"] else "and" if len(exact) > 1 else "",
        bound="least" if found["least"] or found["plus"] or found["up"] else "most" if found["most"] or found["down"] else "",
        change=change,
    )
