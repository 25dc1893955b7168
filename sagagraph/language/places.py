"""Places: names that a gazetteer knows, and those that only look like names, are tagged `place` (`Place`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, Protocol, TypeVar

from sagagraph.language.forms import Forms
from sagagraph.language.passage import LEAD
from sagagraph.language.utterance.shorthand import COMMON

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sagagraph.language.passage import Passage

_SAYS: Final = Forms(__file__, "places")
_ALSO_WORDS: Final = _SAYS.listed("ALSO_WORDS")
_NO_NAMES: Final = _SAYS.listed("NO_NAMES") | _SAYS.listed("FILLING") - {"new"}
_PLAIN_WORDS: Final = _NO_NAMES | COMMON
_ONLY_WITH_A_CAPITAL: Final = _SAYS.listed("ONLY_WITH_A_CAPITAL")

_WITHIN_A_NAME: Final = re.compile(r"(?!\s*-\s|\s+-)[\s.'-]+")
_TO_ANOTHER: Final = re.compile(r"\s*(?:to\s+|→\s*|-\s*)[A-Z]")
_BEHIND: Final = re.compile(r"(?:\s*,\s*|\s*\(\s*|\s+(?:in\s+)?)(?P<region>[^\W\d_]+(?: [^\W\d_]+){0,2})")
_COUNTRIES: Final = dict(each.split(":") for each in _SAYS.text("COUNTRIES").replace("    ", " ").split(","))
_STATES: Final = dict(state.split(" ", 1) for state in _SAYS.text("STATES").split(","))
_STATES_LIKE_CITIES: Final = frozenset({"New York", "Washington"})
"""`Los Angeles, New York` are two cities."""
_LONGEST_NAME: Final = 8
_LONGEST_UNKNOWN: Final = 3
_MOST_COMPARED: Final = 24
"""As many words of a text are compared with every name there is, which takes its time."""


class Known(Protocol):
    """Place that a gazetteer knows."""

    @property
    def name(self) -> str: ...
    @property
    def country(self) -> str: ...
    @property
    def plain_name(self) -> str: ...


_K = TypeVar("_K", bound=Known)


class Gazetteer(Protocol[_K]):
    """Gazetteer: names of all places."""

    def find_name(self, name: str) -> _K | None: ...
    def find_code(self, code: str) -> _K | None: ...
    def namesakes(self, city: _K, said: str) -> Sequence[_K]:
        """Return the places that this plain name can also mean."""

    def longest_name_from(self, first_word: str) -> int: ...
    def misspelling_of(self, name: str) -> str | None: ...
    def unknown(self, name: str) -> str:
        """Return one line for a person who named a place that does not exist."""


@dataclass(frozen=True, slots=True)
class Place:
    said: str
    city: str | None
    """None: no place with that name is known."""
    unknown: str = ""
    """What to tell the writer in that case."""
    candidates: tuple[str, ...] = ()
    """Places between which the text does not decide."""
    likely: str | None = None
    """What it most likely means: the best known of the candidates, or a name of which it is a misspelling."""


class _Span(NamedTuple):
    start: int
    end: int
    place: Place


def tag_places(passage: Passage, gazetteer: Gazetteer[_K]) -> None:
    """Tag places. A name counts only if it can mean a place."""
    reader = _Reader(passage, gazetteer)
    words = list(_SAYS.name.finditer(passage.text))
    spans: list[_Span] = []
    at = 0
    while at < len(words):
        span = reader.known(words[at : at + _LONGEST_NAME]) or reader.unknown(words[at : at + _LONGEST_UNKNOWN])
        if span is None:
            at += 1
            continue
        spans.append(span)
        while at < len(words) and words[at].start() < span.end:
            at += 1
    spans = [each for each, after in zip_longest(spans, spans[1:]) if not _is_region(each, after, passage.text)]
    countries = {city.country.casefold() for span in spans if span.place.city and (city := gazetteer.find_name(span.place.city))}
    passage.tag_spans("place", [each for each in spans if each.place.city or each.place.said.casefold() not in countries])


def _is_region(span: _Span, following: _Span | None, text: str) -> bool:
    """Tell whether `Sicily` in `to Sicily, Palermo for 4 nights` is a region, of which the cities follow."""
    if span.place.city is not None or span.place.candidates or following is None or following.place.city is None:
        return False
    mark = text[span.end : following.start].strip()
    return mark[:1] in (":", "(", ";") or (mark == "," and span.place.likely is None)


class _Reader(Generic[_K]):
    def __init__(self, passage: Passage, gazetteer: Gazetteer[_K]) -> None:
        self._text, self._gazetteer = passage.text, gazetteer
        self._has_capitals = any(character.isupper() for character in passage.text)
        self._compared: dict[str, bool] = {}
        self._complaints: dict[str, tuple[str, str | None]] = {}

    def known(self, words: list[re.Match[str]]) -> _Span | None:
        for start, end in self._phrases(words, max(self._gazetteer.longest_name_from(words[0][0]), 1)):
            city = self._meant(start, end)
            if city is not None:
                return self._exactly(start, end, city)
        return None

    def unknown(self, words: list[re.Match[str]]) -> _Span | None:
        """Read an unknown place: one announced by the word before it, or a misspelling."""
        first, start = words[0][0], words[0].start()
        if first.casefold() in _NO_NAMES:
            return None
        phrases = list(self._phrases(words, _LONGEST_UNKNOWN))
        for _, end in phrases:
            said = self._text[start:end]
            if first.casefold() in _ALSO_WORDS and (said == first or first.islower()):
                continue  # `San Fransisco` begins with a town in Mali
            is_joined = self._led(_SAYS.joined, start) or _SAYS.joined_on.match(self._text, end)
            if is_joined and (_is_capitalised(said) or not self._has_capitals) and self._is_almost_a_name(said):
                return self._complaint(start, end)
        if first[0].isupper() and self._led(_SAYS["in"], start):
            return self._complaint(
                start, next((end for _, end in phrases if _is_capitalised(self._text[start:end])), phrases[-1][1])
            )
        return self._complaint(*phrases[-1]) if self._led(_SAYS.in_lower_case, start) else None

    def _phrases(self, words: list[re.Match[str]], most: int) -> Iterator[tuple[int, int]]:
        """Return the phrases that begin with the first word, the longest first."""
        ends = []
        for n, word in enumerate(words[:most]):
            if n > 0 and not _WITHIN_A_NAME.fullmatch(self._text, words[n - 1].end(), word.start()):
                break
            ends.append(word.end())
        yield from ((words[0].start(), end) for end in reversed(ends))

    def _led(self, words: re.Pattern[str], start: int) -> bool:
        return words.search(self._text, max(0, start - LEAD), start) is not None

    def _meant(self, start: int, end: int) -> _K | None:
        said = self._text[start:end]
        city, is_shouted = self._gazetteer.find_name(said), self._text.isupper()
        if city is None:
            if len(said) != 3 or not said.isupper():
                return None
            is_joined = self._led(_SAYS.joined, start) or _SAYS.joined_on.match(self._text, end)
            return self._gazetteer.find_code(said.upper()) if is_joined or not is_shouted else None
        key, is_capital = said.casefold(), said[0].isupper() and not is_shouted
        if said in _ONLY_WITH_A_CAPITAL or _SAYS.of_a_day.match(self._text, end):
            return None
        if key in _ALSO_WORDS:
            if key == "nice" and not is_capital and not _SAYS.ends_a_name.match(self._text, end):
                return None  # `to nice hotels`
            leads = _SAYS.joined if is_capital else _SAYS.to
            is_chained = self._text[start - 1 : start] == self._text[end : end + 1] == "-"  # `paris-nice-paris`
            is_meant = is_chained or (is_capital and _TO_ANOTHER.match(self._text, end)) or self._led(leads, start)
            return city if is_meant else None
        if key in _NO_NAMES:
            return city if is_capital and self._led(_SAYS.to, start) else None
        if said.islower() and len(said) <= 3 and said not in ("sf", "nyc"):
            return city if self._led(_SAYS.to, start) else None
        return city

    def _exactly(self, start: int, end: int, city: _K) -> _Span:
        """Use the state or country written after it; without one, a name shared by several places becomes a question."""
        said, behind = self._text[start:end], _BEHIND.match(self._text, end)
        words = behind["region"].split(" ") if behind else []
        for count in range(len(words), 0, -1):
            region = " ".join(words[:count])
            named, ends = _STATES.get(region, region), behind.start("region") + len(region) if behind else end
            exact = self._gazetteer.find_name(f"{said}, {named}") or (city if _is_region_of(city, region, named) else None)
            if exact is not None:
                return _Span(start, ends, Place(self._text[start:ends], exact.name))
        others = self._gazetteer.namesakes(city, said)
        if not others:
            return _Span(start, end, Place(said, city.name))
        both = (city, *others)
        shown = " or ".join(each.name if ", " in each.name else f"{each.name} ({each.country})" for each in both)
        return _Span(start, end, Place(said, None, f"Which {said}: {shown}?", tuple(each.name for each in both), city.name))

    def _is_almost_a_name(self, said: str) -> bool:
        if len(said) < 5 or said.casefold() in _PLAIN_WORDS:
            return False
        if said not in self._compared and len(self._compared) < _MOST_COMPARED:
            self._compared[said] = self._gazetteer.misspelling_of(said) is not None
        return self._compared.get(said, False)

    def _complaint(self, start: int, end: int) -> _Span:
        said = self._text[start:end]
        if said not in self._complaints:
            is_looked_up = len(self._complaints) < _MOST_COMPARED
            complaint = self._gazetteer.unknown(said) if is_looked_up else f"no city called {said[:60]!r} is known"
            self._complaints[said] = complaint, self._gazetteer.misspelling_of(said) if is_looked_up else None
        complaint, likely = self._complaints[said]
        return _Span(start, end, Place(said, None, complaint, likely=likely))


def _is_region_of(city: Known, region: str, named: str) -> bool:
    country = city.country.casefold()
    if country in (region.casefold(), _COUNTRIES.get(region.casefold())):
        return True
    return city.country == "United States" and named in _STATES.values() and region not in _STATES_LIKE_CITIES


def _is_capitalised(phrase: str) -> bool:
    return all(word[:1].isupper() for word in re.split(r"[\s-]+", phrase))
