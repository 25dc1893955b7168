"""Stars of hotels, and how much direct flights matter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.reading.numerals import COUNT, count_of
from sagagraph.domains.travel.reading.partial import Question
from sagagraph.domains.travel.reading.passage import Passage, Understood, pattern
from sagagraph.domains.travel.request import Direct

if TYPE_CHECKING:
    import re

FEWEST_STARS: Final = 1
MOST_STARS: Final = 5

_STAR: Final = r"[- ]?(?:stars?(?:[- ]?rated)?\b|\*(?!\d)|★)"
_STARS: Final = pattern(
    rf"(?P<least>at least|min(?:imum)?(?: of)?|no(?:t)? (?:less|fewer) than|from)?"
    rf"(?P<most>at most|max(?:imum)?(?: of)?|up to|no(?:t)? more than)?\s*"
    rf"(?:between\s+)?\b(?P<broken>\d[.,])?(?P<one>{COUNT})(?P<plus>\+)?(?:{_STAR})?"
    rf"(?:\s?-?\s?(?:-|to|or|and|/)\s*(?P<two>{COUNT})(?P<plus2>\+)?)?{_STAR}(?:\s+hotels?)?"
    rf"(?P<up>\s*(?:\+|(?:or|and)\s+(?:more|better|above|higher|up|upwards?)|minimum|min\b|at least))?"
    rf"(?P<down>\s*(?:(?:or|and)\s+(?:less|fewer|lower|below|under)|max(?:imum)?\b|at most))?"
)
_DENIED: Final = pattern(r"\b(?:not|no|never|except|avoid(?:ing)?)(?:\s+(?:an?|in))*\s*$")
_DRAWN_STARS: Final = pattern(r"★{2,}|\*{2,}")
_LUXURY: Final = pattern(r"\bluxur(?:y|ious)\b|\bfive stars\b")
_MODERATE: Final = pattern(r"\bmoderate(?:ly[- ]priced)?\b|\bmid(?:dle)?[- ]?(?:range|priced?)\b")

_DIRECT: Final = r"(?:direct|non[- ]?stop)(?:[- ](?:flights?|connections?|only|routes?))*"
_STOPS: Final = r"(?:stops?|stopovers?|layovers?|connections?|chang(?:es?|ing)(?: planes?)?|transfers?)"
_NO_STOPS: Final = rf"(?:no|without(?: any)?|zero) {_STOPS}(?!\s+(?:in|at|over)\b)"
_IF: Final = r"(?:when(?:ever)?|where(?:ver)?|if|as (?:far|much) as)"
_POSSIBLE: Final = rf"{_IF} (?:at all )?(?:it'?s |they are |that'?s )?(?:possible|available|you can|can be)"
_WISHED: Final = rf"(?:prefer(?:ably|red|ring|s)?|ideally|{_POSSIBLE}|rather|would like|i'?d like|nice to have)"
_MUST: Final = r"(?:only|must be|must have|strictly|just|ha(?:s|ve) to be|need|insist on|nothing but)"
_FEW_WORDS: Final = r"[\w ,:]{0,20}?"
_PREFERRED: Final = pattern(
    rf"(?:{_DIRECT}|{_NO_STOPS}){_FEW_WORDS}\b(?:{_POSSIBLE}|preferred|preferably|ideally)|{_WISHED}{_FEW_WORDS}(?:{_DIRECT}|{_NO_STOPS})"
)
_REQUIRED: Final = pattern(
    rf"{_MUST}\s+(?:be\s+)?(?:a\s+)?{_DIRECT}|{_DIRECT}\s+(?:only|required|(?:is|are) a must)"
    rf"|(?:direct|non[- ]?stop)[- ]only|{_NO_STOPS}"
)
_ANY: Final = pattern(
    rf"{_STOPS} (?:are |is )?(?:ok(?:ay)?|fine|no problem|allowed|welcome)|(?:don'?t|do not) mind {_STOPS}"
    r"|(?:direct|non[- ]?stop)[\w ]{0,15} (?:not (?:needed|necessary|required|important)|unnecessary)"
    r"|(?:needn'?t|doesn'?t have to|don'?t have to|not necessarily) (?:be )?(?:direct|non[- ]?stop)"
)
_PLAIN_DIRECT: Final = pattern(rf"\b{_DIRECT}\b")


def read_stars(passage: Passage) -> Understood[tuple[int, int] | None]:
    rest, ranges, doubts = passage, [], []
    for match in (*passage.matches(_STARS), *passage.matches(_DRAWN_STARS)):
        rest = rest.without(*match.span())
        stars = _range_of(match)
        if passage.lead(_DENIED, match.start()):
            doubts.append(Question(field="stars", text=f"How many stars do you want, if not {match[0].strip()}?"))
        elif stars is None:
            doubts.append(Question(field="stars", text=f"Hotels have 1 to 5 stars; what do you mean by {match[0].strip()!r}?"))
        else:
            ranges.append(stars)
    for words, stars in ((_LUXURY, (5, 5)), (_MODERATE, (3, 4))):
        for match in rest.matches(words):
            rest = rest.without(*match.span())
            if not ranges and not doubts:
                ranges.append(stars)
    different = list(dict.fromkeys(ranges))
    if len(different) > 1:
        doubts.append(Question(field="stars", text="One range of stars holds for all hotels; which one is it?"))
    return Understood(different[0] if different and not doubts else None, rest, tuple(doubts[:1]))


def _range_of(match: re.Match[str]) -> tuple[int, int] | None:
    """None where no hotel has so many."""
    if match.re is _DRAWN_STARS:
        fewest = most = len(match[0])
    elif match["broken"]:
        return None
    else:
        fewest = most = count_of(match["one"])
        if match["two"]:
            most = count_of(match["two"])
        if match["least"] or match["up"] or match["plus"] or match["plus2"]:
            most = MOST_STARS
        if match["most"] or match["down"]:
            fewest = FEWEST_STARS
    return (fewest, most) if FEWEST_STARS <= fewest <= most <= MOST_STARS else None


def read_direct(passage: Passage) -> Understood[Direct | None]:
    """`direct flights` alone is a wish that a trip should not fail for: preferred."""
    meanings = (
        (_ANY, Direct.ANY),
        (_PREFERRED, Direct.PREFERRED),
        (_REQUIRED, Direct.REQUIRED),
        (_PLAIN_DIRECT, Direct.PREFERRED),
    )
    found, rest = None, passage
    for words, meaning in meanings:
        for match in rest.matches(words):
            rest = rest.without(*match.span())
            found = found or meaning
    return Understood(found, rest)
