"""Negation: words that deny what comes after them (`not on Sundays`, `avoid changing planes`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sagagraph.language.passage import form

if TYPE_CHECKING:
    from sagagraph.language.passage import Found

NOT: Final = (
    r"(?:not|no|never|nothing|without|except|excluding|other than|avoid(?:ing|s)?|don't|do not|won't|will not|can't|cannot"
    r"|(?:would )?rather not|hate|(?:anything|any ?time|everything) but)"
)
"""A part of a form: any of these words."""
_BEFORE: Final = form(rf"\b{NOT} (?:(?:an?|any|for|in|on|at|during|the|of) )*$")


def denial_before(found: Found) -> str:
    """Return the words right before it that deny it; empty if there are none."""
    denied = found.led_by(_BEFORE)
    return denied[0] if denied else ""
