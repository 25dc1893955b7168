"""Where the cities of a text stand, those included that nobody knows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.cities import name_key
from sagagraph.domains.travel.reading.passage import Passage, pattern
from sagagraph.domains.travel.reading.regions import STATES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sagagraph.domains.travel.cities import City, Gazetteer

_WORD: Final = pattern(r"[^\W\d_]+(?:['.][^\W\d_]+)*")
_WITHIN_A_NAME: Final = re.compile(r"[\s.'-]+")
_TO_A_PLACE: Final = pattern(r"(?:\b(?:from|to|via|through|visit(?:ing)?|into|out of|near)|→)\s*$")
_JOINED: Final = pattern(r"(?:\b(?:from|to|via|through|visit(?:ing)?|in|into|and|or|then|near|out of|at)|→|,|-|\()\s*$")
_AN_AMOUNT: Final = re.compile(r"\s*\d{3}")
_TO_ANOTHER: Final = re.compile(r"\s*(?:to\s+|→\s*|-\s*)[A-Z]")
_JOINED_ON: Final = pattern(r"\s*(?:→|,|-|to\b|and\b|then\b)")
_IN_A_PLACE: Final = pattern(r"(?:\b(?:from|to|via|through|visit(?:ing)?|in|into|near|out of|then)|→)\s*$")
_IN_LOWER_CASE: Final = pattern(
    r"(?:\bfrom|\b(?:fly|flying|flights?|go|going|get|travel|travell?ing|trip|trips|head|heading|tickets?|on|back)\s+to|→)\s*$"
)
_ALSO_WORDS: Final = frozenset(
    {
        *("bath", "bend", "best", "buffalo", "bury", "castle", "central", "champion", "commerce", "concord", "cork", "deal"),
        *("delta", "eagle", "eden", "enterprise", "forest", "garden", "goes"),
        *("grace", "green", "hope", "hull", "independence", "joy"),
        *("liberal", "liberty", "male", "march", "media", "mission", "mobile", "most", "nice", "normal", "of", "orange"),
        *("paradise", "phoenix", "poole", "reading", "rifle", "rugby", "sandwich", "solo", "spring", "split", "superior"),
        *("surprise", "temple", "tours", "union", "victory", "wells"),
        *("ann", "flint", "ho", "hub", "leo", "man", "mary", "metro", "nancy", "po", "providence", "sale", "san", "save", "sur"),
        *("van", "wa"),
    }
)
"""Cities whose names mean something else more often."""
_ONLY_WITH_A_CAPITAL: Final = frozenset({"ann", "hub", "leo", "man", "metro", "sale", "save", "surprise", "temple", "van"})
"""Of these, the ones that follow `to` as words, too."""
_EVERYDAY: Final = frozenset(
    {
        *("act", "add", "all", "along", "am", "are", "as", "ask", "bar", "bare", "basic", "but", "buy", "can", "cap", "cheap"),
        *("colon", "come", "cut", "date", "day", "do", "due", "far", "fast", "few", "for", "free", "fun", "gap", "get", "good"),
        *("got", "great", "had", "has", "hit", "hub", "hue", "if", "into", "is", "it", "key", "late", "law", "let"),
        *("lie", "log", "love", "mad", "make", "man", "many", "max"),
        *("mid", "min", "more", "much", "must", "name", "near", "need"),
        *("not", "now", "off", "ok", "old", "or", "our", "out", "pad", "page", "part", "per", "please", "pop", "pre", "price"),
        *("pure", "rest", "rich", "row", "run", "same", "save", "say", "so", "some", "sub", "sun", "sea", "the", "time", "too"),
        *("top", "try", "turn", "und", "until", "up", "van", "very", "via", "was", "we", "why", "will", "yen", "yes"),
    }
)
"""Words that are places too, but never the place that is meant, unless they are written like one after `from` or `to`."""
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
_PLAIN_WORDS: Final = frozenset(
    {
        *("people", "person", "persons", "adults", "adult", "child", "children", "nights", "night", "flight", "flights", "train"),
        *("trains", "direct", "nonstop", "later", "after", "before", "again", "maybe", "might", "would", "could", "should"),
        *("holiday", "holidays", "vacation", "journey", "ticket", "tickets", "travel", "cheap", "cheapest", "moderate", "rooms"),
        *("breakfast", "museum", "beach", "weather", "family", "friends", "mother", "father", "morning", "evening", "arrive"),
        *("arriving", "depart", "departing", "coming", "starting", "ending", "staying", "nicest", "sunday", "monday", "tuesday"),
        *("wednesday", "thursday", "friday", "saturday", "january", "february", "april", "august", "september", "october"),
        *("november", "december", "hello", "thanks", "thank", "really", "quite", "about", "other", "another", "place", "places"),
        *("money", "pounds", "three", "seven", "eight", "couple", "anything", "nothing", "something", "everything"),
    }
)
"""No misspelling of a city, however close to one they are."""
_BEHIND: Final = re.compile(r"(?:\s*,\s*|\s*\(\s*|\s+(?:in\s+)?)(?P<region>[^\W\d_]+(?: [^\W\d_]+){0,2})")
_COUNTRY_TOO: Final = MappingProxyType(
    {
        "united kingdom": ("uk", "england", "scotland", "wales", "britain", "great britain", "northern ireland"),
        "united states": ("us", "usa", "america"),
        "netherlands": ("holland", "the netherlands"),
        "czechia": ("czech republic",),
        "south korea": ("korea",),
        "turkiye": ("turkey",),
        "united arab emirates": ("uae",),
    }
)
"""What else a country is called; by the key of its name."""
_STATES_LIKE_CITIES: Final = frozenset({"New York", "Washington"})
"""`Los Angeles, New York` are two cities."""
_SHORTEST_MISSPELLING: Final = 5
_CODE_LETTERS: Final = 3
_MOST_WORDS: Final = 8
_MOST_SPELLINGS: Final = 24
"""As many words of a text are compared with every name there is."""
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
    candidates: tuple[str, ...] = ()
    """Cities between which nothing decides."""


def find_mentions(passage: Passage, cities: Gazetteer) -> tuple[Mention, ...]:
    """In the order of the text. A name counts only where it can mean a place."""
    words = list(passage.matches(_WORD))
    mentions: list[Mention] = []
    spelling = _Spelling(cities)
    at = 0
    while at < len(words):
        known = _longest_name(passage, words[at : at + _MOST_WORDS], cities)
        unknown = None if known else _unknown_name(passage, words[at : at + _MOST_WORDS_UNKNOWN], spelling)
        mention = known or unknown
        if mention is None:
            at += 1
            continue
        mentions.append(mention)
        while at < len(words) and words[at].start() < mention.end:
            at += 1
    return tuple(_without_countries(mentions, cities))


def _longest_name(passage: Passage, words: list[re.Match[str]], cities: Gazetteer) -> Mention | None:
    most_words = cities.longest_name_from(words[0][0])
    for phrase in _phrases(passage, words, max(most_words, 1)):
        city = _city_meant(passage, phrase, cities)
        if city is not None:
            return _exactly(passage, phrase, city, cities)
    return None


def _exactly(passage: Passage, phrase: _Phrase, city: City, cities: Gazetteer) -> Mention:
    """With the state or country that is written behind it; without one, a name that several cities share is asked about."""
    behind = passage.trail(_BEHIND, phrase.end)
    if behind is not None:
        for words in range(behind["region"].count(" ") + 1, 0, -1):
            region = " ".join(behind["region"].split(" ")[:words])
            end = behind.start("region") + len(region)
            named = STATES.get(region, region)
            exact = cities.find_name(f"{phrase.said}, {named}")
            if exact is not None:
                return Mention(phrase.start, end, passage.text[phrase.start : end], exact.name)
            if _is_region_of(city, region, named):
                return Mention(phrase.start, end, passage.text[phrase.start : end], city.name)
    others = cities.namesakes(city) if city.plain_name == city.name and name_key(phrase.said) == name_key(city.name) else ()
    if not others:
        return Mention(phrase.start, phrase.end, phrase.said, city.name)
    both = (city, *others)
    shown = " or ".join(each.name if ", " in each.name else f"{each.name} ({each.country})" for each in both)
    candidates = tuple(each.name for each in both)
    return Mention(phrase.start, phrase.end, phrase.said, None, f"Which {phrase.said}: {shown}?", candidates)


def _is_region_of(city: City, region: str, named: str) -> bool:
    if name_key(city.country) == name_key(region) or name_key(region) in _COUNTRY_TOO.get(name_key(city.country), ()):
        return True
    return city.country == "United States" and named in STATES.values() and region not in _STATES_LIKE_CITIES


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
    if said in _ONLY_WITH_A_CAPITAL:
        return None
    is_capital, key = said[0].isupper() and not passage.text.isupper(), name_key(said)
    if key in _ALSO_WORDS:
        if is_capital and passage.trail(_TO_ANOTHER, phrase.end):
            return city
        needed = _JOINED if is_capital else _TO_A_PLACE
        return city if passage.lead(needed, phrase.start) else None
    if key in _EVERYDAY or key in _NO_PLACE:
        return city if is_capital and passage.lead(_TO_A_PLACE, phrase.start) else None
    if said.islower() and len(said) <= _CODE_LETTERS and said not in ("sf", "nyc"):
        return city if passage.lead(_TO_A_PLACE, phrase.start) else None
    return city


def _can_be_a_code(passage: Passage, phrase: _Phrase) -> bool:
    """WHERE EVERYTHING IS SHOUTED, capitals do not tell the airport SEA from the sea."""
    if passage.trail(_AN_AMOUNT, phrase.end):
        return False
    is_joined = passage.lead(_JOINED, phrase.start) or passage.trail(_JOINED_ON, phrase.end)
    return is_joined is not None or not passage.text.isupper()


def _unknown_name(passage: Passage, words: list[re.Match[str]], spelling: _Spelling) -> Mention | None:
    """A place that nobody knows: said to be one by the word before it, or a misspelling of a city."""
    first = words[0]
    if name_key(first[0]) in _NO_PLACE or name_key(first[0]) in _EVERYDAY:
        return None
    capitals = any(character.isupper() for character in passage.text)
    phrases = list(_phrases(passage, words, _MOST_WORDS_UNKNOWN))
    first_is_a_word = name_key(first[0]) in _ALSO_WORDS
    for phrase in phrases:
        if first_is_a_word and (phrase.said == first[0] or first[0].islower()):
            continue  # `San Fransisco` begins with a town in Mali
        is_written_as_name = all(word[:1].isupper() for word in re.split(r"[\s-]+", phrase.said)) or not capitals
        is_placed = passage.lead(_JOINED, phrase.start) or passage.trail(_JOINED_ON, phrase.end)
        if is_written_as_name and is_placed and spelling.is_almost_a_city(phrase.said):
            return _unknown(phrase, spelling)
    if first[0][0].isupper() and passage.lead(_IN_A_PLACE, first.start()):
        return _unknown(_capitalised(phrases), spelling)
    if passage.lead(_IN_LOWER_CASE, first.start()):
        return _unknown(phrases[-1], spelling)
    return None


class _Spelling:
    """Compares with every name, which takes its time: only so often for one text."""

    def __init__(self, cities: Gazetteer) -> None:
        self._cities = cities
        self._left = _MOST_SPELLINGS
        self._complaints: dict[str, str] = {}

    def is_almost_a_city(self, said: str) -> bool:
        if len(said) < _SHORTEST_MISSPELLING or name_key(said) in _PLAIN_WORDS or self._left == 0:
            return False
        self._left -= 1
        return self._cities.misspelling_of(said) is not None

    def complaint(self, said: str) -> str:
        """What to tell whoever named a city that nobody knows."""
        if said not in self._complaints:
            is_looked_up = len(self._complaints) < _MOST_SPELLINGS
            self._complaints[said] = self._cities.unknown(said) if is_looked_up else f"no city called {said[:60]!r} is known"
        return self._complaints[said]


def _capitalised(phrases: list[_Phrase]) -> _Phrase:
    """The longest of which every word is written with a capital."""
    return next(
        (phrase for phrase in phrases if all(word[:1].isupper() for word in re.split(r"[\s-]+", phrase.said))), phrases[-1]
    )


def _unknown(phrase: _Phrase, spelling: _Spelling) -> Mention:
    return Mention(phrase.start, phrase.end, phrase.said, None, spelling.complaint(phrase.said))


def _without_countries(mentions: list[Mention], cities: Gazetteer) -> Iterator[Mention]:
    """`Berlin in Germany` is one place."""
    countries = {name_key(city.country) for mention in mentions if mention.city and (city := cities.find_name(mention.city))}
    for mention in mentions:
        if mention.city is not None or name_key(mention.said) not in countries:
            yield mention
