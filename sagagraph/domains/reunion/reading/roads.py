"""How long it takes from one place to another: `Home-BOS 60 minutes`, `it is an hour between Home and BOS`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sagagraph.domains.reunion.reading.facts import RoadFact
from sagagraph.domains.reunion.reading.quantities import COUNT, DURATION, minutes_of, number

_HERE: Final = r"(?!(?:from|driving|between|it|allow)\b)(?:the )?(?P<here>[\w'&.]+(?: [\w'&.]+){0,4}?)"
_THERE: Final = r"(?:the )?(?P<there>[\w'&.]+(?: [\w'&.]+){0,4}?)"
_LONG: Final = rf"(?P<long>{DURATION})"
_FAR: Final = rf"(?P<km>{COUNT}) ?(?:km|kilometres|kilometers)(?: at (?P<speed>\d+) ?(?:km/h|kph))?"
_AMOUNT: Final = rf"(?:about |around |some )?(?:{_LONG}|{_FAR}|(?P<bare>\d+))"
_AMOUNT_SAID: Final = rf"(?:about |around |some )?(?:{_LONG}|{_FAR})"
_FORMS: Final = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"{_HERE}(?: ?- ?| to ){_THERE}(?: is| takes| are)?(?: ?[:=])? {_AMOUNT}(?: by car| drive| away)?",
        r"(?:(?:driving|(?:the|a) (?:drive|way|road|journey)) )?"
        rf"from {_HERE} to {_THERE}(?: it)?(?: is| takes| are)? {_AMOUNT}(?: by car)?",
        r"(?:the drive )?(?:it (?:takes|is) |it's |allow )?"
        rf"{_AMOUNT_SAID}(?: by car| drive)? (?:from|between) {_HERE} (?:to|and) {_THERE}",
        rf"(?:it takes|it is|it's) {_AMOUNT_SAID} to (?:get|drive) from {_HERE} to {_THERE}",
        rf"between {_HERE} and {_THERE}(?: it)?(?: is| takes)? {_AMOUNT_SAID}",
        rf"{_HERE} (?:is|are) {_AMOUNT_SAID} (?:away from|from|to) {_THERE}",
        rf"{_HERE} and {_THERE} are {_AMOUNT_SAID} apart",
    )
)
_PAIRWISE: Final = re.compile(
    rf"(?P<first>[A-Z]) to (?P<last>[A-Z]) (?:are )?(?:all |pairwise |each )*{_AMOUNT_SAID} (?:apart|from each other)"
    r"(?: at (?P<fast>\d+) ?km/h)?"
)


def read_roads(sentence: str) -> tuple[list[RoadFact], str]:
    """What the sentence says of roads, and what is left of it. A number without a unit has the one of its neighbours."""
    facts: list[RoadFact] = []
    rest: list[str] = []
    for piece in re.split(r"\s*,\s*(?:and\s+)?", sentence):
        pairwise = _PAIRWISE.fullmatch(piece)
        if pairwise:
            facts += _all_pairs(pairwise)
            continue
        found = [_road(each) for each in _whole_or_halves(piece)]
        if all(found):
            facts += [each for each in found if each]
        else:
            rest.append(piece)
    return facts, ", ".join(rest)


def _whole_or_halves(piece: str) -> list[str]:
    """`A-B 10 minutes and B-C 20` are two roads; `between A and B an hour` is one."""
    halves = re.split(r"\s+and\s+", piece)
    return [piece] if _road(piece) or not all(map(_road, halves)) else halves


def _road(piece: str) -> RoadFact | None:
    for form in _FORMS:
        said = form.fullmatch(piece.strip())
        if said:
            groups = said.groupdict()
            return _fact(groups["here"], groups["there"], groups)
    return None


def _fact(here: str, there: str, said: dict[str, str | None]) -> RoadFact:
    far = said.get("km")
    km = number(far) if far else None
    speed = said.get("speed") or said.get("fast")
    if km is not None:
        return RoadFact(here, there, km / float(speed) * 60 if speed else None, km)
    long = said.get("long")
    return RoadFact(here, there, minutes_of(long) if long else float(said["bare"] or 0))


def _all_pairs(said: re.Match[str]) -> Iterator[RoadFact]:
    places = [chr(code) for code in range(ord(said["first"]), ord(said["last"]) + 1)]
    for number_here, here in enumerate(places):
        yield from (_fact(here, there, said.groupdict()) for there in places[number_here + 1 :])
