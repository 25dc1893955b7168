"""Where the cities of a text stand, those included that nobody knows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.cities import name_key
from sagagraph.domains.travel.reading.passage import Passage, pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sagagraph.domains.travel.cities import City, Gazetteer

_WORD: Final = pattern(r"[^\W\d_]+(?:['.][^\W\d_]+)*")
_WITHIN_A_NAME: Final = re.compile(r"[\s.'-]+")
_TO_A_PLACE: Final = pattern(r"(?:\b(?:from|to|via|through|visit(?:ing)?|into|out of|near)|→)\s*$")
_JOINED: Final = pattern(r"(?:\b(?:from|to|via|through|visit(?:ing)?|in|into|and|or|then|near|out of|at)|→|,|-|\()\s*$")
_JOINED_ON: Final = pattern(r"\s*(?:→|,|-|to\b|and\b|then\b)")
_IN_A_PLACE: Final = pattern(r"(?:\b(?:from|to|via|through|visit(?:ing)?|in|into|near|out of|then)|→)\s*$")
_IN_LOWER_CASE: Final = pattern(
    r"(?:\bfrom|\b(?:fly|flying|flights?|go|going|get|travel|travell?ing|trip|trips|head|heading|tickets?|on|back)\s+to|→)\s*$"
)
_ALSO_WORDS: Final = frozenset({"bath", "cork", "male", "mobile", "nice", "of", "orange", "reading", "split", "tours"})
"""Cities whose names mean something else more often."""
_NO_PLACE: Final = frozenset(
    {
        *("a", "an", "the", "this", "that", "these", "those", "my", "our", "your", "his", "their", "no", "any", "every", "each"),
        *("i", "me", "we", "us", "you", "him", "them", "it", "there", "here", "where", "somewhere", "anywhere", "around", "home"),
        *("and", "or", "at", "by", "for", "in", "of", "on", "to", "from", "then", "with", "one", "two", "most", "least", "only"),
        *("be", "go", "going", "fly", "flying", "have", "see", "spend", "stay", "start", "leave", "leaving", "return", "travel"),
        *("visit", "want", "work", "round", "back", "end", "total", "please", "trip", "week", "weekend", "flexible", "first"),
        *("business", "economy", "premium", "class", "luxury", "moderate", "star", "stars", "hotel", "hotels", "advance"),
        *("general", "english", "usd", "eur", "dollars", "euros", "may", "june", "monday", "sunday"),
        *("spring", "summer", "autumn", "fall", "winter"),
    }
)
"""What may follow `from`, `to` or `in` without being a place."""
_SHORTEST_MISSPELLING: Final = 5
_CODE_LETTERS: Final = 3
_LETTERS_OF_AN_ABBREVIATION: Final = 2
_MOST_WORDS_UNKNOWN: Final = 3


@dataclass(frozen=True)
class Mention:
    start: int
    end: int
    said: str
    city: str | None
    """None: no city of that name is known."""
    unknown: str = ""
    """What to tell whoever said it, then."""


def find_mentions(passage: Passage, cities: Gazetteer) -> tuple[Mention, ...]:
    """In the order of the text. A name counts only where it can mean a place."""
    words = list(passage.matches(_WORD))
    mentions: list[Mention] = []
    at = 0
    while at < len(words):
        known = _longest_name(passage, words[at:], cities)
        unknown = None if known else _unknown_name(passage, words[at:], cities)
        mention = known or unknown
        if mention is None:
            at += 1
            continue
        mentions.append(mention)
        while at < len(words) and words[at].start() < mention.end:
            at += 1
    return tuple(_without_countries(mentions, cities))


def _longest_name(passage: Passage, words: list[re.Match[str]], cities: Gazetteer) -> Mention | None:
    for phrase in _phrases(passage, words, cities.longest_name_words):
        city = _city_meant(passage, phrase, cities)
        if city is not None:
            return Mention(phrase.start, phrase.end, phrase.said, city.name)
    return None


@dataclass(frozen=True)
class _Phrase:
    start: int
    end: int
    said: str


def _phrases(passage: Passage, words: list[re.Match[str]], most_words: int) -> Iterator[_Phrase]:
    """That begin with the first word, the longest first."""
    ends = []
    for n, word in enumerate(words[:most_words]):
        if n > 0 and not _WITHIN_A_NAME.fullmatch(passage.text, words[n - 1].end(), word.start()):
            break
        ends.append(word.end())
    start = words[0].start()
    for end in reversed(ends):
        yield _Phrase(start, end, passage.text[start:end])


def _city_meant(passage: Passage, phrase: _Phrase, cities: Gazetteer) -> City | None:
    said = phrase.said
    city = cities.find_name(said)
    if city is None:
        is_code = len(said) == _CODE_LETTERS and said.isupper()
        return cities.find_code(said) if is_code and _can_be_a_code(passage, phrase) else None
    if name_key(said) in _ALSO_WORDS:
        needed = _JOINED if said[0].isupper() else _TO_A_PLACE
        return city if passage.lead(needed, phrase.start) else None
    if said.islower() and len(said) <= _LETTERS_OF_AN_ABBREVIATION and said != "sf":
        return city if passage.lead(_TO_A_PLACE, phrase.start) else None
    return city


def _can_be_a_code(passage: Passage, phrase: _Phrase) -> bool:
    """WHERE EVERYTHING IS SHOUTED, capitals do not tell the airport SEA from the sea."""
    is_joined = passage.lead(_JOINED, phrase.start) or passage.trail(_JOINED_ON, phrase.end)
    return is_joined is not None or not passage.text.isupper()


def _unknown_name(passage: Passage, words: list[re.Match[str]], cities: Gazetteer) -> Mention | None:
    """A place that nobody knows: said to be one by the word before it, or a misspelling of a city."""
    first = words[0]
    if name_key(first[0]) in _NO_PLACE:
        return None
    capitals = any(character.isupper() for character in passage.text)
    phrases = list(_phrases(passage, words, _MOST_WORDS_UNKNOWN))
    for phrase in phrases:
        is_written_as_name = all(word[:1].isupper() for word in re.split(r"[\s-]+", phrase.said)) or not capitals
        if is_written_as_name and len(phrase.said) >= _SHORTEST_MISSPELLING and cities.misspelling_of(phrase.said):
            return _unknown(phrase, cities)
    if first[0][0].isupper() and passage.lead(_IN_A_PLACE, first.start()):
        return _unknown(_capitalised(phrases), cities)
    if passage.lead(_IN_LOWER_CASE, first.start()):
        return _unknown(phrases[-1], cities)
    return None


def _capitalised(phrases: list[_Phrase]) -> _Phrase:
    """The longest of which every word is written with a capital."""
    return next(
        (phrase for phrase in phrases if all(word[:1].isupper() for word in re.split(r"[\s-]+", phrase.said))), phrases[-1]
    )


def _unknown(phrase: _Phrase, cities: Gazetteer) -> Mention:
    return Mention(phrase.start, phrase.end, phrase.said, None, cities.unknown(phrase.said))


def _without_countries(mentions: list[Mention], cities: Gazetteer) -> Iterator[Mention]:
    """`Berlin in Germany` is one place."""
    countries = {name_key(city.country) for mention in mentions if mention.city and (city := cities.find_name(mention.city))}
    for mention in mentions:
        if mention.city is not None or name_key(mention.said) not in countries:
            yield mention
