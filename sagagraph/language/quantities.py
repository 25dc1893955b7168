"""Quantities: amounts with alternatives, lists, limits and changes (`3 to 5 nights`, `one star more`).

A unit is tagged by its kind: `span` (days and nights), `km`, and whatever a domain adds; see `clock` for hours and minutes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from sagagraph.language.numbers import Number
from sagagraph.language.passage import form

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sagagraph.language.passage import Found, Passage

Units = dict[str, dict[str, str]]
"""By the kind of its tag: the names of units, and how each is written."""

UNITS: Final[Units] = {
    "span": {
        "night": r"nights?\b|nts?\b|n\b",
        "day": r"days?\b",
        "week": r"weeks?\b",
        "fortnight": r"fortnights?\b",
        "month": r"months?\b",
        "year": r"years?\b",
    },
    "km": {"km": r"(?:km|kilomet(?:re|er)s?)\b"},
}
NIGHTS: Final = {"night": 1, "day": 1, "week": 7, "fortnight": 14}
_VAGUE: Final = r"a few|several|some|few|half an?"
_N: Final = rf"(?:{{n:_}}|\b(?:(?:an?|the same) )?couple(?: of)?\b|\banother(?: {{n:_}}|\b)|\b(?:{_VAGUE})\b|\ban?\b)"
_AND: Final = r"\s*(?:,? ?\band\b|\+|&)\s*"
_OR: Final = r"-?\s*(?:,? ?\bor\b|\bto\b|-|/)\s*"
_LEAST: Final = r"at least|min(?:imum)?(?: of)?|not? (?:less|fewer) than|more than|over|above"
_MOST: Final = r"at most|max(?:imum)?(?: of)?|up to|not? more than|under|below|less than|within"
_CHANGES: Final = {
    "more": r"more|longer|extra|additional|further|on top",
    "less": r"less|fewer|shorter|off",
    "later": r"later",
    "earlier": r"earlier|sooner",
}
_MORE, _LESS = _CHANGES["more"], _CHANGES["less"]
_ADD: Final = r"add|extend|lengthen|prolong|increase"
_REMOVE: Final = r"remove|drop|skip|take off|knock off|cut|shorten|reduce"
_VERB: Final = rf"\b(?:(?P<add>{_ADD})|(?P<remove>{_REMOVE}))(?:e?d|ing)?(?: [^.,;]{{0,40}}?\bby)? (?=\S)"
_THAN: Final = r"(?! (?:or|of)\b)(?: than (?:that|now|before|planned|this)\b|(?! than\b))"
"""`more than 3 nights` changes nothing."""


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

    @property
    def count(self) -> int | None:
        """The one whole number that is stated; None otherwise."""
        is_exact = len(self.amounts) == 1 and self.amounts[0] == self.amounts[0].to_integral_value()
        return int(self.amounts[0]) if is_exact else None

    @property
    def delta(self) -> int:
        """How many more; negative: how many fewer."""
        return (self.count or 0) * (-1 if self.change in ("less", "earlier") else 1)

    @property
    def counts(self) -> list[int]:
        return [int(amount) for amount in self.amounts]


def tag_quantities(passage: Passage, units: Units) -> None:
    """Tag quantities, after the numbers are tagged."""
    for kind, names in units.items():
        unit = "|".join(names.values())
        numbers = rf"{_N}(?:(?:\s*,\s*{_N})*{_AND}{_N}|(?P<or>(?:[ -]*(?:{unit}))?{_OR}){_N})?"
        grammar = form(
            rf"(?:{_VERB})?(?:\b(?P<least>{_LEAST})\s*)?(?:\b(?P<most>{_MOST})\s*)?(?:\bbetween )?"
            rf"(?<![$€£¥₹])(?P<amounts>{numbers})(?P<plus>\+)?[- ]*(?:(?P<before>{_MORE}|{_LESS}) )?"
            rf"(?P<unit>{unit})(?: (?:or|to) (?P<second>{{n:_}})(?!\s*[^\W\d]))?"
            rf"(?P<up> ?\+|,? (?:or|and) (?:more|better|above|higher|up(?:wards?)?)\b| minimum\b| min\b| at least\b(?! {{n:_}}))?"
            rf"(?P<down>,? (?:or|and) (?:less|fewer|lower|below|under)\b| (?:max(?:imum)?|at most)\b(?! ?(?:of )?{{n:_}}))?"
            rf"(?: (?P<after>{'|'.join(_CHANGES.values())})\b{_THAN})?"
        )
        passage.tag(kind, grammar, lambda found, names=names: _quantity(found, names))  # type: ignore[misc]


def _quantity(found: Found, names: Mapping[str, str]) -> Quantity | None:
    unit = next(name for name, words in names.items() if re.fullmatch(words.replace(r"\b", ""), found["unit"], re.IGNORECASE))
    amounts = found["amounts"]
    numbers = [*found.values(Number, "amounts"), *found.values(Number, "second")]
    exact = [number.value for number in numbers if number.value is not None]
    if not numbers and not re.search(rf"\b(?:{_VAGUE})\b", amounts):
        exact = [Decimal(2 if "couple" in amounts else 1)]
    said = found["before"] or found["after"]
    change = next((change for change, words in _CHANGES.items() if said in words.split("|")), "")
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
