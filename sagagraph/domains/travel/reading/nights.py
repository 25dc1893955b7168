"""How many nights: durations, and the city that each belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.reading.numerals import COUNT, count_of
from sagagraph.domains.travel.reading.passage import Passage, Understood, pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

_NIGHTS_IN: Final = {"n": 1, "d": 1, "w": 7, "f": 14}
"""By the first letter of the unit."""
_UNIT: Final = r"(?P<unit>nights?|nts?|n|days?|weeks?|fortnights?)\b"
_UNNAMED_UNIT: Final = _UNIT.replace("?P<unit>", "?:")
_A_COUPLE: Final = r"a couple(?: of)?|couple of"
_NOT_A_STAY: Final = r"(?!\s+(?:before|after|later|ago|earlier|from now))(?!\s+and\s+a\s+half)"

_NIGHTS_AND_DAYS: Final = pattern(
    rf"\b(?P<a>{COUNT})[\s-]*(?P<first>nights?|days?)\s*(?:,|/|and|-)*\s*(?P<b>{COUNT})[\s-]*(?P<second>nights?|days?)\b"
)
_ALTERNATIVES: Final = pattern(
    rf"\b{COUNT}\s*(?:-|to|or)\s*{COUNT}[\s-]*{_UNIT}|\b{COUNT}\s+{_UNNAMED_UNIT}\s+(?:to|or)\s+{COUNT}\b(?:\s+{_UNNAMED_UNIT})?"
    rf"|\b{COUNT}\s+{_UNNAMED_UNIT}\s+or\s+(?:more|longer|so|less|fewer)\b"
)
_LIST: Final = pattern(
    rf"\b(?P<counts>{COUNT}(?:\s*,\s*{COUNT})*\s*,?\s*and\s+{COUNT}|{COUNT}(?:\s*[+&]\s*{COUNT})+)[\s-]*{_UNIT}"
)
_WEEKEND: Final = pattern(r"\b(?:(?:a|the)\s+)?(?P<long>long\s+)?weekend\b")
_ONE: Final = pattern(rf"(?<!half )\b(?P<count>{COUNT}|{_A_COUPLE}|an?|another)[\s-]*{_UNIT}{_NOT_A_STAY}")
_OVERNIGHT: Final = pattern(r"\bovernight stay\b|\bfor the night\b")
_VAGUE: Final = pattern(r"\b(?:a few|several|some|few|half a|a)\s+(?:nights|days|weeks|week and a half|week)\b")
_WITHIN: Final = pattern(r"\b(?:in|within)\s+$")

_TOTAL_AFTER: Final = pattern(
    r"[\s-]*(?:in total|total|altogether|overall|all together|in all\b|trip|vacation|holidays?|journey|tour|getaway|break)\b"
)
_EACH_BEFORE: Final = pattern(r"\b(?:each|every)(?:\s+(?:city|stop|place))?\s+(?:for\s+)?$")
_TOTAL_BEFORE: Final = pattern(r"\btotal(?: of|:)?\s*$")
_EACH_AFTER: Final = pattern(
    r"\s*(?:(?:in\s+)?(?:each|both|every|all)\b(?:\s+(?:of them|city|stop|place|cities))?"
    r"|apiece\b|per (?:city|stop|place)\b|everywhere\b)"
)


@dataclass(frozen=True)
class Duration:
    """Where a duration stands, and how many nights it is."""

    start: int
    end: int
    nights: int | None
    """None: not said exactly."""
    said: str
    is_total: bool = False
    """Of the whole trip."""
    is_each: bool = False
    """Of every stop."""
    is_listed: bool = False
    """One of several with the same unit: `2, 3 and 4 nights`."""


def find_durations(passage: Passage) -> Understood[tuple[Duration, ...]]:
    """In the order of the text."""
    rest = passage
    found: list[Duration] = []
    for words, nights_of in _FORMS:
        for match in rest.matches(words):
            counted = nights_of(match)
            if counted is None or rest.lead(_WITHIN, match.start()):
                continue
            durations = [_placed(rest, match, nights, is_listed=len(counted) > 1) for nights in counted]
            found += durations
            rest = rest.without(match.start(), durations[-1].end)
    return Understood(tuple(sorted(found, key=lambda duration: duration.start)), rest)


def _placed(passage: Passage, match: re.Match[str], nights: int | None, *, is_listed: bool) -> Duration:
    total, each = passage.trail(_TOTAL_AFTER, match.end()), passage.trail(_EACH_AFTER, match.end())
    marker = total or each
    return Duration(
        start=match.start(),
        end=marker.end() if marker else match.end(),
        nights=nights,
        said=match[0],
        is_total=total is not None or passage.lead(_TOTAL_BEFORE, match.start()) is not None,
        is_each=each is not None or passage.lead(_EACH_BEFORE, match.start()) is not None,
        is_listed=is_listed,
    )


def _package(match: re.Match[str]) -> list[int | None] | None:
    """`5 days and 4 nights` are four nights; `4 days, 2 nights` are two durations."""
    counts = {match["first"][0].lower(): count_of(match["a"]), match["second"][0].lower(): count_of(match["b"])}
    if len(counts) == 2 and counts["d"] - counts["n"] in (0, 1):
        return [counts["n"]]
    return None


def _one(match: re.Match[str]) -> list[int | None]:
    count = match["count"].lower()
    times = 2 if "couple" in count else 1 if count in ("a", "an", "another") else count_of(count)
    return [times * _NIGHTS_IN[match["unit"][0].lower()]]


def _several(match: re.Match[str]) -> list[int | None]:
    counts = pattern(COUNT).findall(match["counts"])
    return [count_of(count) * _NIGHTS_IN[match["unit"][0].lower()] for count in counts]


_FORMS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], list[int | None] | None]], ...]] = (
    (_NIGHTS_AND_DAYS, _package),
    (_ALTERNATIVES, lambda _: [None]),
    (_LIST, _several),
    (_WEEKEND, lambda match: [3 if match["long"] else 2]),
    (_ONE, _one),
    (_OVERNIGHT, lambda _: [1]),
    (_VAGUE, lambda _: [None]),
)
