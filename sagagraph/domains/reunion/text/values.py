"""Values: the people, places, cars, seats and times that a sentence names, tagged before anybody asks what it says of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from sagagraph.domains.reunion.text.facts import TELLER
from sagagraph.domains.reunion.text.places import is_venue
from sagagraph.language.clock import AFTERNOON_UP_TO, DAY, Clock, on_the_clock, tag_clock, tag_clock_digits
from sagagraph.language.forms import Forms
from sagagraph.language.numbers import Number, tag_numbers
from sagagraph.language.passage import Found, Passage
from sagagraph.language.utterance.shorthand import in_full, spelled

_SAYS: Final = Forms(__file__, "values")
_SENTENCE_END: Final = re.compile(r"[!?;\n]+|\.(?=\s|$)")
_AN_HOUR: Final = r"(\d{1,2}(?:[:.]\d\d)?(?: ?[ap]m)?|noon)\b"
_WRITTEN: Final = (
    (r"(?m)^[ \t]*(?:[-*•]|\d+[.)])[ \t]+", ""),
    (r"\b([apAP])\.\s?[mM]\.(?=\s+[A-Z])", r"\1m."),
    (r"(?i)\b([ap])\.\s?m\.?(?=\W|$)", r"\1m"),
    (r"\s*(?:->|=>|→)\s*", " to "),
    (r"(?<=[a-zß-ÿ]) \((?=[A-Z][\w ]+(?:,[^)]*(?:\d|car|van)[^)]*)?\))", " is at "),
    (r"\s*[()],?", ","),
    (r"(?im)^(?:the )?(?:venue|where|place|location|meeting (?:point|place)|when|time|start)(?:: | is )(?:at )?", "we meet at "),
    (r"(?im)^(?:me|myself)(?=[:,] )", "I"),
    (r"(?im)^([A-Z][\w -]+): (?=[\d.]+ ?(?:hours?|hrs?|h|minutes?|mins?)\b)", r"\1 takes "),
    (r"\b(St|Mrs?|Dr|Prof)\.(?= [A-Z])", r"\1"),
    (r"\b(?:i\.e|e\.g)\.,?", ""),
    (r"(?<![\w.'])i(?![\w.])", "I"),
    (r"\bI'm\b", "I am"),
    (r"(?i)\b(we|they)'re\b", r"\1 are"),
    (r"(?i)\b(I|we|they)'ve\b", r"\1 have"),
    (r"(?i)\b(we|they|I|s?he)'(?:d|ll)\b", r"\1 will"),
    (r"'s got\b", " has"),
    (r"(?i)\b(s?he|it|who|that)'s\b", r"\1 is"),
    (rf"(?i)\bbetween {_AN_HOUR} and {_AN_HOUR}", r"after \1, before \2"),
    (rf"(?i)\bfrom {_AN_HOUR} ?(?:to|-) ?{_AN_HOUR}", r"from \1 until \2"),
    (r"(?i)\b(\d{1,2}) ?h(?:ours?|rs?)? ([0-5]\d)\b(?! ?m)", r"\1h\2"),
    (r"(?i)\b(?:a )?quarter of an hour\b", "15 minutes"),
    (r"(?i)\bthree quarters of an hour\b", "45 minutes"),
    (r"(?<![\d.,$€£])(\d{1,2})\.([0-5]\d)(?![\d%]|\.\d| ?(?:hours?|hrs?|km|miles?)\b)", r"\1:\2"),
    (r"(?i)\b(there)'s\b", r"\1 is"),
    (r"(^|[,.;] |\b(?:and|but) )([A-Z]\w+)'s home\b", r"\1\2 is home"),
)
"""One way of writing for each that is common: lists, and short forms of verbs."""
_TWO: Final = ("parents", "grandparents", "in-laws")
UP_TO: Final = ("by", "before", "until", "till")
_LATER: Final = {"no later than": "by", "not later than": "by", "not after": "by"}


@dataclass(frozen=True, slots=True)
class When:
    """A time: `minutes` since midnight. `how`: the word before it, `at` if none. `is_bare`: of either half of the day."""

    how: str
    minutes: int
    is_bare: bool = False

    def before(self, latest: int | None) -> int:
        """Return the minutes: if it is of either half of the day, of the one that is nearer to what comes after it."""
        if latest is None or not self.is_bare:
            return self.minutes
        halves = [each for each in (self.minutes % (DAY // 2), self.minutes % (DAY // 2) + DAY // 2) if each <= latest]
        return max(halves, default=self.minutes)


@dataclass(frozen=True, slots=True)
class Who:
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Spot:
    """A place. `how`: the word before it."""

    how: str
    name: str


@dataclass(frozen=True, slots=True)
class Seats:
    count: int


@dataclass(frozen=True, slots=True)
class Event:
    name: str
    whose: tuple[str, ...]


def sentences(text: str) -> list[str]:
    text = spelled(in_full(text)).replace("’", "'").replace("–", "-").replace("—", ", ")
    for written, instead in _WRITTEN:
        text = re.sub(written, instead, text)
    return [stripped for each in _SENTENCE_END.split(text) if (stripped := each.strip(" ,."))]


def tagged(sentence: str) -> Passage:
    """Tag times of day as `when`, and durations as `lasting`."""
    passage = Passage.of(on_the_clock(sentence))
    tag_clock_digits(passage)
    tag_numbers(passage)
    tag_clock(passage)
    passage.tag("when", _SAYS.time, lambda found: _when(found, found.get("time", Clock)))
    passage.tag("when", _SAYS.bare_hour, _at_an_hour)
    return passage


def _at_an_hour(found: Found) -> When | None:
    number = found.get("n", Number)
    return None if number is None or number.count is None else _when(found, Clock(number.count, is_exact=False))


def _when(found: Found, clock: Clock | None) -> When | None:
    if clock is None:
        return None
    is_bare = 1 <= clock.hour <= 12 and not _SAYS.of_a_half.search(found.said)
    hour = clock.hour + 12 if is_bare and clock.hour <= AFTERNOON_UP_TO else clock.hour
    minutes = hour * 60 + clock.minute
    how = _LATER.get(found["how"], found["how"]) or "at"
    is_last_midnight = minutes == DAY and how not in UP_TO
    return When(how, 0 if is_last_midnight else minutes, is_bare) if minutes <= DAY else None


def valued(sentence: str, known: frozenset[str]) -> Passage:
    """Tag also places as `spot`, events, seats, and people as `who`. `known`: people of whom somebody has spoken."""
    passage = tagged(sentence)
    for words in (_SAYS.day, _SAYS.instead):
        passage.take(words)
    passage.text = passage.text.strip(" ,.")
    passage.tag("seats", _SAYS.seats, lambda found: _seats(found))
    passage.tag("spot", _SAYS.spot, _spot)
    passage.tag("event", _SAYS.event, lambda found: Event(found.said, names_in(found.match["whose"] or "")))
    passage.tag("who", _SAYS.people, lambda found: _who(found, known))
    passage.text = _SAYS.is_short.sub(lambda found: found[0].rstrip()[:-2] + " is ", passage.text)
    return passage


def _seats(found: Found) -> Seats | None:
    """Read how many fit in, the driver included: `room for two more` is three."""
    number = found.get("one", Number) or found.get("other", Number)
    return Seats(number.count + bool(found["more"])) if number and number.count else None


def _spot(found: Found) -> Spot | None:
    name = found.passage.said(found.match["name"] or found.match["home"]).strip()
    how = "from" if found["how"].startswith("leav") else found["how"] or "at"
    return None if _SAYS.no_spot.search(name) else Spot(how, name)


def _who(found: Found, known: frozenset[str]) -> Who | None:
    """Read names. A word with a capital that begins a sentence is one only if it is known, or what follows is said of people."""
    names = names_in(found.said)
    is_plain = found.start == 0 and not _SAYS.kin.match(found.said)
    is_made = bool(found.said[0].isupper() and found.led_by(_SAYS.with_article))  # `an old Peugeot`
    is_several = is_plain and len(names) == 1 and names[0].endswith("s") and found.followed_by(_SAYS.of_plural_things)
    if is_made or is_several:
        return None
    if is_venue(found.said) or (is_plain and _SAYS.no_name.fullmatch(found.said.split()[0])):
        return None
    is_new = is_plain and len(names) == 1 and names[0] not in known
    return None if is_new and (found.followed_by(_SAYS.of_a_thing) or not found.followed_by(_SAYS.of_somebody)) else Who(names)


def named_in_all(said: list[str]) -> frozenset[str]:
    """Return names that stand somewhere else than at the beginning of a sentence."""
    found = (_SAYS.people.finditer(_SAYS.spot.sub(" ", each)) for each in said)
    return frozenset(name for each in found for match in each if match.start() for name in names_in(match[0]))


def names_in(text: str) -> tuple[str, ...]:
    """Return names: `Alex and my mother` are Alex and Mother, `my sister Emily` is Emily."""
    names = (_name(each[0]) for each in _SAYS.name.finditer(text))
    two = ((name,) if name.casefold() not in _TWO else (f"{name[:-1]} 1", f"{name[:-1]} 2") for name in names)
    return tuple(dict.fromkeys(name for each in two for name in each))


def _name(said: str) -> str:
    if said.casefold() in ("i", "me", "myself"):
        return TELLER
    called = _SAYS.called.search(re.sub(r"(?<=\w)[ -]in[ -]law\b", "-in-law", said))
    name = called[0] if called else said.split()[-1]
    return name[0].upper() + name[1:]
