"""How many travel, and in how many rooms."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.reading.numerals import COUNT, count_of
from sagagraph.domains.travel.reading.partial import Question
from sagagraph.domains.travel.reading.passage import Passage, Understood, pattern

if TYPE_CHECKING:
    from collections.abc import Callable

_KIN: Final = (
    r"(?:wife|husband|partner|spouse|fiancée?|girlfriend|boyfriend|friend|mate|buddy|mother|father|mom|mum|dad"
    r"|sister|brother|son"
    r"|daughter|colleague|cousin|aunt|uncle|grandmother|grandfather|grandma|grandpa|boss)"
)
_MY: Final = r"(?:my|our|a|one|his|her)"
_OUR: Final = r"(?:(?:our|my|the)\s+)?"
_KINS: Final = rf"{_MY}\s+{_KIN}(?:(?:\s*,\s*|\s*,?\s+and\s+){_MY}\s+{_KIN})*"
_CHILDREN: Final = r"(?:children|child|kids?|teen(?:ager)?s?|toddlers?|infants?|bab(?:y|ies)|sons|daughters)"
_PEOPLE: Final = r"(?:people|ppl|persons?|travell?ers?|passengers?|adults?|pax|pers\b\.?|guests?|tourists?|seats?|tickets?)"
_ME: Final = r"(?:me|i|myself)"
_UNIT: Final = r"(?:nights?|days?|weeks?|months?|hours?|stars?|rooms?|thousand|hundred|grand|k|stops?|cities|places)"

_ROOMS: Final = pattern(rf"\b(?P<count>{COUNT}|a)\s+(?:(?:double|single|twin|separate|hotel|family|shared|standard)\s+)*rooms?\b")
_OWN_ROOMS: Final = pattern(r"\b(?:separate|own|individual|single) rooms\b|\b(?:a|one|own) room each\b")

_RULES: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], int]], ...]] = (
    (
        pattern(
            rf"\b(?P<adults>{COUNT})\s+{_PEOPLE}\s*(?:,|and|with|\+|&|plus)*\s*(?:and\s+)?(?P<more>{COUNT}"
            rf"|a)\s+{_CHILDREN}\b"
        ),
        lambda match: count_of(match["adults"]) + _count_or_one(match["more"]),
    ),
    (
        pattern(
            rf"\b(?:with|{_ME} and|{_ME}\s*,|us and)\s+(?P<kin>{_KINS})(?:\s*,?\s*(?:and|with|\+"
            rf"|&)\s+{_OUR}(?P<more>{COUNT})\s+{_CHILDREN})?"
        ),
        lambda match: 1 + _number_of_kin(match["kin"]) + (count_of(match["more"]) if match["more"] else 0),
    ),
    (
        pattern(rf"\b(?P<kin>{_KINS})\s*,\s*{_OUR}(?P<more>{COUNT})\s+{_CHILDREN}\s*,?\s*and\s+{_ME}\b"),
        lambda match: 1 + _number_of_kin(match["kin"]) + count_of(match["more"]),
    ),
    (
        pattern(
            rf"\b(?:my|our)\s+(?:grand)?parents\s+and\s+{_ME}\b|\b(?:{_ME}\s+and|with)\s+my\s+(?:grand)?parents\b"
            rf"(?!\s*(?:,|and\b)\s*(?:my|our|the)\b)"
        ),
        lambda _: 3,
    ),
    (pattern(rf"\b(?P<kin>{_KINS})\s+and\s+{_ME}\b"), lambda match: 1 + _number_of_kin(match["kin"])),
    (
        pattern(
            rf"\b(?:with|{_ME} and)\s+(?:my\s+)?(?P<more>{COUNT})\s+(?:\w+\s+)?(?:friends|{_CHILDREN}|colleagues"
            rf"|others|mates)\b"
        ),
        lambda match: 1 + count_of(match["more"]),
    ),
    (
        pattern(rf"\b(?P<more>{COUNT})\s+(?:friends|{_CHILDREN}|colleagues|others)\s+and\s+{_ME}\b"),
        lambda match: 1 + count_of(match["more"]),
    ),
    (pattern(rf"\b(?:family|group|party|team|bunch)\s+of\s+(?P<count>{COUNT})\b"), lambda match: count_of(match["count"])),
    (pattern(rf"\b(?P<count>{COUNT})\s*(?:x\s*)?(?:{_PEOPLE}|of us|friends)\b"), lambda match: count_of(match["count"])),
    (pattern(rf"\b(?P<count>{COUNT})\s+couples\b"), lambda match: 2 * count_of(match["count"])),
    (pattern(rf"\b(?P<count>{COUNT})-person\b"), lambda match: count_of(match["count"])),
    (
        pattern(rf"\b(?:we are|we're|we will be|we'll be|there are|there will be)\s+(?P<count>{COUNT})\b(?!\s*-?{_UNIT}\b)"),
        lambda match: count_of(match["count"]),
    ),
    (
        pattern(
            rf"\bfor\s+(?P<count>{COUNT})\b(?=\s*(?:[,.;!?)]|$|(?:from|to(?!\s+\d)|with|leaving|please|pls|plz|thx|thanks|thank|only|at"
            rf"|under|and|but|by|on|if|budget|flying|travell?ing)\b))"
        ),
        lambda match: count_of(match["count"]),
    ),
    (
        pattern(r"\b(?:just me|only me|by myself|on my own|travell?ing alone|going alone|fly(?:ing)? alone|solo|alone)\b"),
        lambda _: 1,
    ),
    (
        pattern(
            r"\b(?:as|for|we are|we're|romantic trip for)\s+a\s+couple\b(?!\s+(?:of|nights?|days?|weeks?)\b)"
            r"|\bboth of us\b|\b(?:us|we) both\b|\b(?:just )?(?:us|we) two\b"
        ),
        lambda _: 2,
    ),
)
_WE: Final = pattern(
    r"(?<!can )(?<!could )(?<!shall )(?<!should )(?<!on )\b(?:we|us|our)\b(?! ?\$)"
    r"(?! (?:hotels?|rooms?|flights?|planes?|trains?|bookings?|reservations?|trips?|stays?|plans?|airline)\b"
    r"[^.,;]{0,20}\b(?:cancel|overbook|fell|fall))"
)
_SOME: Final = pattern(
    rf"\b(?:with|and|plus|take|taking|bring(?:ing)?)\s+(?:(?:all|some|a few|several|{_MY}|the|small|young|whole|entire)\s+)*"
    rf"(?:family|friends|group|team|colleagues|mates|(?:grand)?parents|(?:grand)?children|kids|in-laws|others|{_CHILDREN})\b"
    rf"|\b(?:{_MY}|the)\s+(?:(?:whole|entire)\s+)?(?:family|friends|kids|children)\s+(?:and|comes?|joins?|travels?)\b"
    r"|\b(?:as|for) a (?:family|group|team)\b"
    r"|\bfor (?:(?:my|our|the|all|whole|entire) )+(?:family|friends|group|team|kids|children)\b"
)
"""Company that nobody counted."""


@dataclass(frozen=True)
class Party:
    travellers: int | None
    rooms: int | None
    has_own_rooms: bool
    """Everybody sleeps alone, however many that are."""


def read_party(passage: Passage, *, is_counted: bool = False) -> Understood[Party]:
    """`is_counted`: who `we` are is known."""
    own = any(True for _ in passage.matches(_OWN_ROOMS))
    rest = passage
    for match in passage.matches(_OWN_ROOMS):
        rest = rest.without(*match.span())
    rooms: list[int] = []
    for match in rest.matches(_ROOMS):
        rest = rest.without(*match.span())
        rooms.append(_count_or_one(match["count"]))
    counts: list[int] = []
    for words, count in _RULES:
        for match in rest.matches(words):
            rest = rest.without(*match.span())
            counts.append(count(match))
    is_uncounted = rest.has(_SOME)
    for match in rest.matches(_SOME):
        rest = rest.without(*match.span())
    is_we = not is_counted and passage.has(_WE)
    doubts = _doubts(counts, rooms, is_uncounted=is_uncounted, is_we=is_we)
    in_doubt = {doubt.field for doubt in doubts}
    party = Party(
        travellers=counts[0] if counts and "travellers" not in in_doubt else None,
        rooms=rooms[0] if rooms and "rooms" not in in_doubt else None,
        has_own_rooms=own,
    )
    return Understood(party, rest, doubts)


def _doubts(counts: list[int], rooms: list[int], *, is_uncounted: bool, is_we: bool) -> tuple[Question, ...]:
    doubts = []
    if is_uncounted:
        doubts.append(Question(field="travellers", text="How many of you travel, all together?"))
    elif len(set(counts)) > 1:
        named = " or ".join(str(count) for count in dict.fromkeys(counts))
        doubts.append(Question(field="travellers", text=f"How many travel: {named}?"))
    elif counts and counts[0] < 1:
        doubts.append(Question(field="travellers", text="How many travel? At least one has to."))
    elif not counts and is_we:
        doubts.append(Question(field="travellers", text="How many of you travel?"))
    if len(set(rooms)) > 1 or (rooms and rooms[0] < 1):
        doubts.append(Question(field="rooms", text="How many rooms do you need?"))
    return tuple(doubts)


def _number_of_kin(text: str) -> int:
    return len(re.findall(_KIN, text, re.IGNORECASE))


def _count_or_one(text: str) -> int:
    return 1 if text.lower() == "a" else count_of(text)
