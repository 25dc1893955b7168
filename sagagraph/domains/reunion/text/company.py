"""Company: who must not wait alone (`don't leave Grandma alone`), and who may after all (`she doesn't mind waiting alone`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sagagraph.domains.reunion.text.clauses import Clause, Slot, names_in, without_names
from sagagraph.domains.reunion.text.facts import ApartFact, CompanyFact, Fact, PersonFact

_NO: Final = re.compile(r"\b(?:not|never|nobody|no-?one|no|none|hates?|without)\b", re.IGNORECASE)
_MAY: Final = re.compile(r"\b(?:may|can|could|might|fine|ok|okay|happy|all right)\b", re.IGNORECASE)
_MIND: Final = re.compile(r"\bminds?\b", re.IGNORECASE)
_BESIDE: Final = re.compile(
    r"\b(?:please|make|sure|ensure|see|to|it(?:'s)?|is|that|do|does|ever|ha(?:ve|s|d|ving)|should|shall|must|will|would|wants?|like|needs?"
    r"|ought|rather|i|we|if|when|us|of|one|are|be|been|being|left|kept|leave|let|keep|wait(?:s|ing)?|stay(?:s|ing)?|stand|sit"
    r"|around|there|and|well|with|s?he|they|her|him|them|(?:any|every)(?:body|one))\b",
    re.IGNORECASE,
)
"""What such a wish is made of beside names, and beside the words that say whether it is one."""
_EVERYBODY: Final = re.compile(r"\b(?:nobody|no-?one|no one|none|(?:any|every)(?:body|one))\b", re.IGNORECASE)
_FULL: Final = {"ca": "can", "wo": "will"}
_TO_WHOM: Final = re.compile(r".*\b(?:leave|let|keep|want|that|if|when)\b", re.IGNORECASE)
_WHERE: Final = "[,] [(at|in|on|outside) PLACE|there|anywhere] [ever|again|please|after all]"
_WHILE: Final = "[while (she|he|they) wait~|while waiting]"


def _alone(clause: Clause) -> Iterator[Fact]:
    said = re.sub(r"(\bca|\bwo)?n't", lambda each: f"{_FULL.get(each[1], '')} not", clause.said("words") or "")
    rest = without_names(said)
    is_refused = bool(_NO.search(rest)) != bool(_MIND.search(rest))
    is_wish = is_refused or bool(_MAY.search(rest) or _MIND.search(rest))
    for words in (_NO, _MAY, _MIND, _BESIDE):
        rest = words.sub("", rest)
    people = () if _EVERYBODY.search(said) else names_in(_TO_WHOM.sub("", said)) or names_in(said) or clause.people
    if is_wish and not rest.strip() and (people or _EVERYBODY.search(said)):
        yield from _wish(people, is_wanted=is_refused)


def _wish(people: tuple[str, ...], *, is_wanted: bool = True) -> Iterator[Fact]:
    yield from map(PersonFact, people)
    yield CompanyFact(people, is_wanted)


def _apart(clause: Clause) -> Iterator[Fact]:
    people = (*clause.people, *clause.whom)
    if len(people) > 1:
        yield from map(PersonFact, people)
        yield ApartFact(people, is_wanted=not clause.said("may"))


_SIDE_BY_SIDE: Final = (
    "(cook|bake|work|be) [in the [same] kitchen] (together|with WHOM|side by side|in one kitchen|at the same time)"
)

COMPANY: Final = (
    Slot.of(
        "WHO ([had|would] (rather|better) not|(MUST|may|can) not|(shouldn't|mustn't|can't|cannot|don't|won't) [want to|like to]"
        f"|may=(may|can)) {_SIDE_BY_SIDE} [after all|please]",
        _apart,
        is_timed=False,
    ),
    Slot.of("[please] (keep|have) WHO apart [in the kitchen|while cooking]", _apart, is_timed=False),
    Slot.of("[please] [do not|don't] (let|have|make|put) WHO (cook|bake|work) (together|side by side)", _apart, is_timed=False),
    Slot.of(
        f"WORDS (alone|unaccompanied|by (herself|himself|themselves)|on (her|his|their) own) {_WHERE}", _alone, is_timed=False
    ),
    Slot.of(
        f"[SOMEBODY|WHO] MUST [always] (wait|stay|be [there|waiting]) with WHOM {_WHILE} {_WHERE}",
        lambda clause: _wish(clause.whom),
        is_timed=False,
    ),
    Slot.of(f"[please] [SOMEBODY|WHO] [MUST] keep WHOM company {_WHERE}", lambda clause: _wish(clause.whom), is_timed=False),
    Slot.of(
        f"WHO (need~|want~|MUST [always] have) company {_WHILE} {_WHERE}", lambda clause: _wish(clause.people), is_timed=False
    ),
)
