"""Words: the holes of all phrases about a reunion, which are written in capitals there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sagagraph.language.forms import as_form

_WORD: Final = r"(?:[\w'&.-]|{n:_}|{nth:_})+"
_STOP: Final = (
    r"(?!(?:with(?:out)?|and|but|from|by|for|has|have|who|after|before|until|needs?|rents?|takes?|must|is|are|at|on|in|to|it|that|this"
    r"|between|which|where|driving|flying|com(?:es|ing)|lands|arrives|joins)\b)"
)
_NOUN: Final = rf"{_STOP}{_WORD}(?: {_STOP}{_WORD})"
_END: Final = _NOUN.replace("-", "")
_OCCASION: Final = (
    "(?:dinner|lunch|breakfast|brunch|meal|wedding|ceremony|party|birthday|reunion|funeral|concert|barbecue|picnic|meeting|tea"
    "|photos?|rehearsal|graduation|christening|baptism|recital|show)"
)
_NO_NAME: Final = (
    r"(?!(?:the|an?|it|some(?:one|body)|any(?:one|body)|every(?:one|body)|all|we|they|s?he|i|this|that|there|no|nobody|no-?one|none"
    rf"|thanksgiving|{_OCCASION}|please|pick|don't|do|never|keep|collect|fetch|buy|get|from|driving|taxi|vehicle|make|ensure|see"
    r"|home)\b)"
)
_CAPITAL: Final = r"(?-i:[A-Z])(?:[\w'-]|{n:_})*"
_CAR: Final = r"(?:car|van|minivan|suv|pick-?up truck|truck|bus|minibus|taxi|(?:[a-z]+|{n:seats})-seater(?: car)?)"
_KIN: Final = rf"(?:my|our) (?-i:[a-z]+(?:[ -]in[ -]law)?)(?: {_CAPITAL})?"
NAME: Final = rf"(?<!\w){_NO_NAME}(?:{_KIN}|{_CAPITAL}(?: {_CAPITAL})?|[a-z](?:{{n:_}}|\d+))"
_NAMES: Final = rf"{NAME}(?:(?:,|,? and) {NAME})*"

_HOLES: Final = {
    "NAME": NAME,
    "WHO": rf"(?P<who>{_NAMES})(?:,? (?:(?:the|our) )?hosts?(?=,))?,?(?: who)?",
    "WHOM": rf"(?P<whom>{_NAMES})",
    "PLACE": rf"(?:(?:the|an?) )?(?P<place>{_NOUN}{{0,5}}?(?: in (?:the )?{_NOUN}{{0,3}}?)?)",
    "HERE": rf"(?:the )?(?P<here>{_END}{{0,4}}?)",
    "THERE": rf"(?:the )?(?P<there>{_END}{{0,4}}?)",
    "THING": rf"(?:(?:the|an?|some|our) )?(?P<thing>{_NOUN}{{0,3}}?)",
    "HOME": "(?P<home>home)",
    "LETTER": "(?P<letter>(?-i:[A-Z]))",
    "PET": r"(?:(?:the|her|his|our|their|my|an?) )?(?:[\w'-]+ )?(?:dogs?|puppy|cats?|kitten|pets?)",
    "CAR": _CAR,
    "A_CAR": rf"(?:(?:an?|her|his|their|the) )?(?:own )?(?P<car>(?:{_STOP}[\w-]+ ){{0,3}}?{_CAR})",
    "ELSEWHERE": rf"(?!the airport){_NOUN}{{0,3}}?",
    "SEATS": "(?:seats?|passengers?|people|riders?)",
    "N": "{n}",
    "NAMED": r"(?P<named>(?:[\w'-]|{n:_})+)",
    "FIRST": "(?P<first>(?-i:[A-Z]))",
    "LAST": "(?P<last>(?-i:[A-Z]))",
    "WORDS": "(?P<words>.+?)",
    "EVENT": rf"(?P<event>(?:{_STOP}{_WORD} ){{0,3}}?{_OCCASION})",
    "AMOUNT": r"(?:(?:about|around|some) )?{amount:_}",
}


def _phrases(**phrases: str) -> dict[str, str]:
    return {name: as_form(words, _HOLES) for name, words in phrases.items()}


HOLES: Final[Mapping[str, str]] = _HOLES | _phrases(
    MUST="(must|has to|have to|needs to|need to|should|is to|are to|ought to)",
    BE="(is|are|was|will be|stay~|wait~|live~|be)",
    SOMEBODY="(someone|somebody|anyone|anybody)",
    EVERYBODY="((everyone|everybody) [else]|all [of us|of them] [[the] (guests|family members|family|people)]|we [all])",
    AT="(at|in|into|on|near) PLACE",
    FROM="(at|from|in) PLACE",
    FOR="(with|take~|has|for) N SEATS [each]",
    IN_OVEN="(in|into|on) the (oven|stove|grill)",
    FETCH="(pick~ up|collect~|fetch~|get~)",
    FETCHED="(picked up|collected|fetched)",
    ARE="[it] [is|takes|are]",
)
