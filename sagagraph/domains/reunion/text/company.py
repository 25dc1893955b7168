"""Company: who must not wait alone (`don't leave Grandma alone`), and who may after all (`she doesn't mind waiting alone`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sagagraph.domains.reunion.text.clauses import Clause, Slot
from sagagraph.domains.reunion.text.facts import CompanyFact, Fact, PersonFact

_NO: Final = frozenset("not never nobody no none hate hates without".split())
_MAY: Final = frozenset("may can could might fine ok okay happy right".split())
_BESIDE: Final = frozenset(
    "please make sure ensure see to it is that do does ever have has having should shall must will would want wants like need needs "
    "ought rather i we if when all us of one are be being been left kept leave let keep wait waits waiting stay stays staying stand "
    "sit around there mind minds and well she he they her him them anybody anyone everybody everyone".split()
)
"""What such a wish is made of beside names, and beside the words that say whether it is one."""
_EVERYBODY: Final = frozenset("nobody no none anybody anyone everybody everyone".split())
_TO_WHOM: Final = re.compile(r".*\b(?:leave|let|keep|want|that|if|when)\b", re.IGNORECASE)
_WHERE: Final = "[,] [(at|in|on|outside) PLACE|there|anywhere] [ever|again|please|after all]"
_WHILE: Final = "[while (she|he|they) wait~|while waiting]"


def _alone(clause: Clause) -> Iterator[Fact]:
    """With any other word, it is about something else."""
    said = re.sub(r"(ca|wo)?n't", lambda each: {"ca": "can", "wo": "will"}.get(each[1], "") + " not", clause.said("words") or "")
    words = set(re.findall(r"[a-z]+", clause.without_names(said).lower()))
    is_refused = bool(words & _NO) != ("mind" in words)
    is_granted = bool(words & _MAY) or "mind" in words
    if words <= _NO | _MAY | _BESIDE and (is_refused or is_granted):
        named = clause.names(_TO_WHOM.sub("", said)) or clause.spoken_of
        yield from _wish(() if words & _EVERYBODY else named, is_wanted=is_refused)


def _wish(people: tuple[str, ...], *, is_wanted: bool = True) -> Iterator[Fact]:
    yield from map(PersonFact, people)
    yield CompanyFact(people, is_wanted)


COMPANY: Final = (
    Slot.of(
        f"WORDS (alone|unaccompanied|by (herself|himself|themselves)|on (her|his|their) own) {_WHERE}", _alone, is_timed=False
    ),
    Slot.of(
        f"[SOMEBODY|WHO] [MUST [always] (wait|stay|be [there|waiting]) with WHOM {_WHILE} {_WHERE}",
        lambda clause: _wish(clause.whom),
        is_timed=False,
    ),
    Slot.of(f"[please] [SOMEBODY|WHO] [MUST] keep WHOM company {_WHERE}", lambda clause: _wish(clause.whom), is_timed=False),
    Slot.of(f"WHO (need~|want~|MUST [always] have) company {_WHILE} {_WHERE}", lambda clause: _wish(clause.people), is_timed=False),
)
