"""Whether the stops have to be visited in the order in which they are named."""

from __future__ import annotations

from typing import Final

from sagagraph.domains.travel.reading.passage import Passage, Understood, pattern
from sagagraph.domains.travel.request import Order

_NOT: Final = r"(?:does ?n[o']?t|do ?n[o']?t|does not|do not)"
_ANY: Final = pattern(
    r"\b(?:visit(?:ed|ing)? (?:them )?)?(?:in )?"
    r"(?:(?:any|whatever|whichever|no (?:particular|special|fixed|set)) (?:other )?order|the (?:best|cheapest|easiest) order)\b"
    r"(?: (?:that )?(?:you (?:like|want|prefer)|(?:works|suits|fits|is)(?: (?:you|best|out|fine|cheapest|easiest|possible))*"
    r"|makes (?:most )?sense|will do))?"
    rf"|\b(?:the )?order (?:of (?:the )?(?:stops|cities|visits|places|them) )?{_NOT} (?:really )?matter\b"
    r"|\b(?:the )?order (?:of (?:the )?(?:stops|cities|visits|places|them) )?(?:is )?"
    r"(?:not (?:important|fixed)|unimportant|irrelevant|flexible|free|open|up to you)\b"
    rf"|\b(?:i|we) {_NOT} (?:really )?(?:care|mind) (?:about |in )?(?:the |what |which )?order\b"
    r"|\bregardless of (?:the )?order\b"
)
_GIVEN: Final = pattern(r"\bin (?:exactly |just )?(?:that|this|the given) order\b|\bkeep (?:to )?(?:the|that|this) order\b")


def read_order(passage: Passage) -> Understood[Order | None]:
    found, rest = None, passage
    for words, meaning in ((_ANY, Order.ANY), (_GIVEN, Order.GIVEN)):
        for match in rest.matches(words):
            rest = rest.without(*match.span())
            found = found or meaning
    return Understood(found, rest)
