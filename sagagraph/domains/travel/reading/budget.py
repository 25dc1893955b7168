"""How much the trip may cost."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.reading.currency import SIGN, currencies_meant
from sagagraph.domains.travel.reading.numerals import COUNT, count_of
from sagagraph.domains.travel.reading.partial import Question
from sagagraph.domains.travel.reading.passage import Passage, Understood, pattern
from sagagraph.domains.travel.request import CURRENCIES

if TYPE_CHECKING:
    from collections.abc import Iterator

DIGITS: Final = r"(?<![\d.,])(?:\d{1,3}(?:[ ']\d{3})+(?!\d)|\d+(?:[.,]\d+)*)"
_THOUSAND: Final = r"\s?(?:k|thousand|grand)\b"
_NUMERAL: Final = pattern(rf"(?P<digits>{DIGITS})(?P<k>{_THOUSAND})?|\b(?P<words>{COUNT}){_THOUSAND}")
_PLAINDIGITS: Final = re.compile(r"\d+(?:\.\d{1,2})?|\d{1,3}(?:[, ']\d{3})+(?:\.\d{1,2})?")

_SIGN_OF_MONEY: Final = SIGN.replace(r"(?<![^\W\d_])", "")
"""After an amount nothing needs to part them: `3kEUR`."""
_CURRENCY_ALONE: Final = pattern(rf"\s*(?:in\s+)?(?P<sign>{_SIGN_OF_MONEY})\s*[.!]?\s*")
_SIGN_BEFORE: Final = pattern(rf"(?P<minus>(?<!\w)-\s?)?(?P<sign>{SIGN})?\s?(?P<minus2>(?<!\w)-)?$")
_SIGN_AFTER: Final = pattern(rf"\s?(?P<sign>{_SIGN_OF_MONEY})")

_OTHER_CURRENCY: Final = pattern(
    r"\b(?:budget|max(?:imum)?|under|below|up to|at most|limit|within)(?:\s*(?:of|is|:))?\s*"
    r"(?P<amount>(?P<code>(?-i:[A-Z]{3}))\s?\d[\d,.]*)"
)
_CUE: Final = pattern(
    r"(?:budget|max(?:imum)?|at most|up to|under|below|less than|(?:no|not) more than|within|limit|spend|costs?|costing|capped)"
    r"(?:\s*(?:of|is|:|=|at|to|about|around|roughly|a|max(?:imum)?|at most|up to|under|(?:no|not) more than|total))*\s*$"
)
_AT_LEAST: Final = pattern(r"(?:at least|more than|over|above|minimum(?: of)?|not less than)\s*$")
_OR_MORE: Final = pattern(r"\s*(?:or|and) (?:more|up|above|over)\b")
_NO_MORE: Final = pattern(r"(?:no|not)\s+more than\s*$")
_RANGE_BEFORE: Final = pattern(r"between\s*$")
_RANGE_AFTER: Final = pattern(
    rf"\s*(?:-|to|and|or)\s*(?P<sign>{SIGN})?\s*{DIGITS}(?P<k>{_THOUSAND})?(?P<after>\s*{_SIGN_OF_MONEY})?"
)
_LOWER_END: Final = pattern(rf"{DIGITS}\s*(?:-|to)\s*$")
_PER_NIGHT: Final = pattern(r"\s*(?:per|an?|each|every|/)\s*(?:night|day)\b")
_PER_NIGHT_BEFORE: Final = pattern(r"\b(?:per|a|each|every)\s+(?:night|day)\s*:?\s*$|\bnightly(?:\s+\w+)?\s*:?\s*$")
_PER_HEAD: Final = pattern(r"\s*(?:(?:per|a)\s+(?:person|head|adult|travell?er|passenger)\b|each\b|apiece\b|pp\b|p\.p\.)")
_WHOLE: Final = pattern(r"\s*(?:in total|total|altogether|overall|all in|in all|all included|for everything)\b")
_CUE_AFTER: Final = pattern(r"\s*(?:as\s+)?(?:(?:a|my|our|the|total|maximum|max)\s+)*(?:budget|max(?:imum)?|limit)\b")
_OTHER_UNIT: Final = pattern(
    r"\s*[- ]?(?:(?:nights?|days?|weeks?|months?|hours?|minutes?|people|persons?|adults?|travell?ers?|stars?|rooms?|km|kg)\b"
    r"|\*|★)"
)
LARGEST_BUDGET: Final = 1_000_000_000
_SMALLEST_BARE_BUDGET: Final = 100
"""`under 4`, `up to 3` speak of stars, nights or people."""


class Share(Enum):
    TRIP = "trip"
    PERSON = "person"


_NO_LIMIT: Final = pattern(
    r"\b(?:no|without(?: an?| any)?) (?:budget(?: limit)?|(?:price |upper )?limit)\b|\bunlimited(?: budget)?\b"
    r"|\bmoney(?: is)? no object\b|\bwhatever it costs\b"
)


@dataclass(frozen=True)
class Budget:
    amount: Decimal | None
    """None: as much as it takes."""
    share: Share
    currency: str | None = None
    """None: not said."""


@dataclass(frozen=True)
class _Amount:
    """One number that means money, and what stands around it."""

    start: int
    end: int
    said: str
    value: Decimal | None
    """None: the digits can be read in two ways; 5.000 is five thousand to some and five to others."""
    currencies: tuple[str, ...]
    """What the sign beside it can mean; empty: there is none."""
    is_negative: bool
    is_range: bool
    is_least: bool
    is_per_night: bool
    is_per_head: bool


def read_budget(passage: Passage) -> Understood[Budget | None]:
    """What is said per person is left to the caller, who knows how many travel."""
    rest = passage
    budgets: list[Budget] = []
    doubts: list[Question] = []
    for match in passage.matches(_NO_LIMIT):
        rest = rest.without(*match.span())
        budgets.append(Budget(None, Share.TRIP))
    for match in rest.matches(_OTHER_CURRENCY):
        if match["code"] not in CURRENCIES:
            rest = rest.without(*match.span())
            text = (
                f"No rates are known for {match['code']}; how much is {match['amount'].strip()!r} in another currency, like USD?"
            )
            doubts.append(Question(field="budget", text=text))
    amounts = list(_amounts(rest))
    for amount in amounts:
        rest = rest.without(amount.start, amount.end)
        doubt = _doubt(amount)
        if doubt is not None:
            doubts.append(doubt)
        elif amount.value is not None:
            currency = amount.currencies[0] if len(amount.currencies) == 1 else None
            budgets.append(Budget(amount.value, Share.PERSON if amount.is_per_head else Share.TRIP, currency))
    signed = {(budget.amount, budget.share) for budget in budgets if budget.currency is not None}
    different = list(dict.fromkeys(each for each in budgets if each.currency or (each.amount, each.share) not in signed))
    if len(different) > 1:
        named = " or ".join(_named(budget) for budget in different)
        doubts.append(Question(field="budget", text=f"What may the whole trip cost: {named}, or their sum?"))
    unclear = next((amount for amount in amounts if len(amount.currencies) > 1), None)
    if unclear is not None and not doubts:
        text = f"Which currency is meant by {unclear.said!r}: {' or '.join(unclear.currencies)}?"
        return Understood(different[0], rest, (Question(field="currency", text=text),))
    if doubts or not different:
        return Understood(None, rest, tuple(doubts[:1]))
    return Understood(different[0], rest)


def _named(budget: Budget) -> str:
    return "no limit" if budget.amount is None else f"{budget.amount:,} {budget.currency or ''}".rstrip()


def bare_currency(text: str) -> str | None:
    """Of an answer that is nothing but a currency."""
    match = _CURRENCY_ALONE.fullmatch(text)
    meant = currencies_meant(match["sign"]) if match else ()
    return meant[0] if len(meant) == 1 else None


def bare_amount(text: str) -> Decimal | None:
    """Of an answer that is nothing but an amount, its currency left out."""
    match = _NUMERAL.fullmatch(text.strip())
    return _value(match) if match else None


def _amounts(passage: Passage) -> Iterator[_Amount]:
    read_up_to = 0
    for numeral in passage.matches(_NUMERAL):
        amount = _amount(passage, numeral) if numeral.start() >= read_up_to else None
        if amount is not None:
            read_up_to = amount.end
            yield amount


def _amount(passage: Passage, numeral: re.Match[str]) -> _Amount | None:
    """None where the number is something else."""
    sign_before = passage.lead(_SIGN_BEFORE, numeral.start())
    start = sign_before.start() if sign_before else numeral.start()
    end = numeral.end()
    to = passage.trail(_RANGE_AFTER, end)
    if to is not None and _is_range(passage, start, to):
        end = to.end()
    end_of_range = end
    sign_after = passage.trail(_SIGN_AFTER, end)
    if sign_after:
        end = sign_after.end()
    signs = [sign for sign in (sign_before, sign_after) if sign and sign["sign"]]
    is_signed = bool(signs) or (end_of_range != numeral.end() and to is not None and bool(to["sign"] or to["after"]))
    cue = passage.lead(_CUE, start)
    cue_after = passage.trail(_CUE_AFTER, end)
    value = _value(numeral)
    if passage.trail(_OTHER_UNIT, end):
        return None
    if not is_signed and not numeral["k"] and not numeral["words"] and (value or 0) < _SMALLEST_BARE_BUDGET and value is not None:
        return None
    if not is_signed and not cue and not cue_after and not numeral["k"] and not numeral["words"]:
        return None
    per_night, per_head = passage.trail(_PER_NIGHT, end), passage.trail(_PER_HEAD, end)
    for words in (_PER_NIGHT, _PER_HEAD, _WHOLE, _CUE_AFTER):
        following = passage.trail(words, end)
        end = following.end() if following else end
    is_least = passage.trail(_OR_MORE, end) is not None or (
        passage.lead(_AT_LEAST, start) is not None and passage.lead(_NO_MORE, start) is None
    )
    return _Amount(
        start=cue.start() if cue else start,
        end=end,
        said=passage.text[start:end].strip(),
        value=value,
        currencies=tuple(dict.fromkeys(code for sign in signs for code in currencies_meant(sign["sign"]))),
        is_negative=bool(sign_before and (sign_before["minus"] or sign_before["minus2"])) and bool(signs or cue),
        is_range=end_of_range != numeral.end() or passage.lead(_LOWER_END, start) is not None,
        is_least=is_least,
        is_per_night=per_night is not None or passage.lead(_PER_NIGHT_BEFORE, start) is not None,
        is_per_head=per_head is not None,
    )


def _is_range(passage: Passage, start: int, to: re.Match[str]) -> bool:
    """`$3000-4000`; but not `$3000 and 2 rooms`, nor `$3000 - 4 nights`."""
    is_money = to["sign"] or to["k"] or to["after"] or passage.lead(_RANGE_BEFORE, start)
    looks_like_money = re.search(r"\d{3}", to[0]) is not None and not re.search(r"(?:and|or)\s", to[0], re.IGNORECASE)
    return bool(is_money or looks_like_money) and passage.trail(_OTHER_UNIT, to.end()) is None


def _value(numeral: re.Match[str]) -> Decimal | None:
    if numeral["words"]:
        return Decimal(count_of(numeral["words"]) * 1000)
    if not _PLAINDIGITS.fullmatch(numeral["digits"]):
        return None
    value = Decimal(re.sub(r"[, ']", "", numeral["digits"]))
    return value * 1000 if numeral["k"] else value


def _doubt(amount: _Amount) -> Question | None:
    said = amount.said
    if amount.is_per_night:
        return Question(field="budget", text=f"{said!r} is for one night; what may the whole trip cost?")
    if amount.is_range:
        return Question(field="budget", text=f"{said!r} is a range; what is the most that the whole trip may cost?")
    if amount.is_least:
        return Question(field="budget", text=f"{said!r} is the least; what is the most that the whole trip may cost?")
    if amount.value is None:
        return Question(field="budget", text=f"How much is {said!r}? Please write thousands with a comma and cents with a point.")
    if amount.value > LARGEST_BUDGET:
        return Question(field="budget", text=f"Is {said!r} meant? The largest budget is {LARGEST_BUDGET:,}.")
    if amount.is_negative or amount.value == 0:
        return Question(field="budget", text=f"A budget is more than nothing, and {said!r} is not; what is it?")
    return None
