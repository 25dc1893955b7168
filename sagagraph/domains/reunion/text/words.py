"""Words: the holes that all phrases about a reunion share, written in capitals there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sagagraph.language.phrases import as_form

_WORD: Final = r"(?:[\w'&.-]|{n:_}|{nth:_})+"
_STOP: Final = (
    r"(?!(?:with|and|but|from|by|for|has|have|who|after|before|until|needs?|rents?|takes?|must|is|are|at|on|in|to|it|that|this"
    r"|between|which|where)\b)"
)
_NOUN: Final = rf"{_STOP}{_WORD}(?: {_STOP}{_WORD})"
_NO_NAME: Final = (
    r"(?!(?:the|an?|it|some(?:one|body)|any(?:one|body)|every(?:one|body)|all|we|they|s?he|i|this|that|there|no|nobody|no-?one|none"
    r"|dinner|lunch|breakfast|brunch|thanksgiving|wedding|party|please|pick|don't|do|never|keep|collect|fetch|buy|get|from"
    r"|driving|taxi|vehicle|make|ensure|see|home)\b)"
)
_CAPITAL: Final = r"(?-i:[A-Z])(?:[\w'-]|{n:_})*"
_CAR: Final = r"(?:car|van|minivan|suv|pick-?up truck|truck|bus|minibus|taxi|(?:[a-z]+|{n:_})-seater)"
NAME: Final = rf"{_NO_NAME}(?:(?:my|our) (?-i:[a-z]+)(?: {_CAPITAL})?|{_CAPITAL}(?: {_CAPITAL})?|[a-z]{{n:_}})"
NAMES: Final = rf"{NAME}(?:(?:,|,? and) {NAME})*"
PRONOUN: Final = "she|he|they"

_HOLES: Final = {
    "NAME": NAME,
    "WHO": rf"(?P<who>{NAMES}|{PRONOUN})(?:, (?:the|our) hosts?)?,?(?: who)?",
    "WHOM": rf"(?P<whom>{NAMES}|her|him|them)",
    "PLACE": rf"(?:(?:the|an?) )?(?P<place>{_NOUN}{{0,5}}?(?: in (?:the )?{_NOUN}{{0,3}}?)?)",
    "HERE": rf"(?:the )?(?P<here>{_NOUN.replace('-', '')}{{0,4}}?)",
    "THERE": rf"(?:the )?(?P<there>{_NOUN.replace('-', '')}{{0,4}}?)",
    "THING": rf"(?:(?:the|an?|some|our) )?(?P<thing>{_NOUN}{{0,3}}?)",
    "CAR": _CAR,
    "A_CAR": rf"(?:(?:an?|her|his|their|the) )?(?:own )?(?P<car>(?:[\w-]+ )*?{_CAR})",
    "N": r"(?P<n>{n:_})",
    "AMOUNT": r"(?:(?:about|around|some) )?{amount:_}",
    "SEATS": r"(?:seats?|passengers?|people|riders?)",
}


def _more(**phrases: str) -> dict[str, str]:
    return {name: as_form(words, _HOLES) for name, words in phrases.items()}


HOLES: Final[Mapping[str, str]] = _HOLES | _more(
    MUST="(must|has to|have to|needs to|need to|should|is to|are to|ought to)",
    BE="(is|are|was|will be|stay~|wait~|live~|be)",
    SOMEBODY="(someone|somebody|anyone|anybody)",
    EVERYBODY="((everyone|everybody) [else]|all [of us|guests]|we [all])",
    AT="(at|in|into|on|near) PLACE",
    FROM="(at|from|in) PLACE",
    BY_WHOM="by (family|NAME)",
    AT_HOME="(at home|home|there|in the house)",
)
