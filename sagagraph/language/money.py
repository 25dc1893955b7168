"""Money: amounts with a currency, or said in thousands, are tagged `money` (`Money`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sagagraph.language.forms import Forms
from sagagraph.language.numbers import Number

if TYPE_CHECKING:
    from decimal import Decimal

    from sagagraph.language.passage import Found, Passage

_CURRENCIES: Final = Forms(__file__, "money.currencies")
SIGN: Final = "|".join(map(_CURRENCIES.text, (*_CURRENCIES, "CODE")))
"""A part of a form: a sign, a code or the name of a currency."""
_SAYS: Final = Forms(__file__, "money", SIGN=SIGN)
_UNRATED: Final = _SAYS.listed("UNRATED")
_LESS: Final = ("less", "cheaper")


@dataclass(frozen=True, slots=True)
class Money:
    amount: Decimal | None
    """None: the digits can be read in two ways."""
    currencies: tuple[str, ...]
    """Currencies that the sign can mean; empty: there is no sign."""
    said: str
    most: Decimal | None = None
    """The upper end of a range."""
    per: str = ""
    """`night` or `person`."""
    is_range: bool = False
    is_least: bool = False
    change: str = ""
    """`more` or `less` than was said before."""

    @property
    def currency(self) -> str | None:
        """Return the currency that is meant; None if none is stated, or several are possible."""
        return self.currencies[0] if len(self.currencies) == 1 else None


@dataclass(frozen=True, slots=True)
class Cues:
    """Cues before (ending in `$`) or after a bare number of `least` or more, which make it an amount."""

    before: re.Pattern[str]
    after: re.Pattern[str]
    least: int = 100


def currencies_meant(written: str, codes: frozenset[str] | None) -> tuple[str, ...]:
    """Return the currency, or the candidates; empty if it is not a currency. `codes` None: any three letters are one."""
    for names in _CURRENCIES:
        if _CURRENCIES[names].fullmatch(written.strip()):
            return tuple(names.upper().split())
    code = written.strip().upper()
    return (code,) if code in _UNRATED or (code in codes if codes is not None else len(code) == 3) else ()


def tag_money(passage: Passage, codes: frozenset[str], cues: Cues) -> None:
    """Tag amounts after numbers. `codes`: known currencies; after a cue, any three capitals count as one."""
    for words in (_SAYS.range, _SAYS.amount):
        passage.tag("money", words, lambda found: _money(found, codes, cues))
    passage.tag("currency", _SAYS.alone, lambda found: _alone(found, codes), "sign")


def _alone(found: Found, codes: frozenset[str]) -> Money | None:
    meant = currencies_meant(found["sign"], codes)
    return Money(None, meant, found.said) if meant else None


def _money(found: Found, codes: frozenset[str], cues: Cues) -> Money | None:
    low, high = found.get("low", Number), found.get("high", Number)
    if low is None:
        return None
    is_led = bool(found.led_by(cues.before) or found.followed_by(cues.after))
    signs = dict.fromkeys(sign for name in ("sign", "second", "after", "exact") if (sign := found[name]))
    meant = [code for sign in signs for code in currencies_meant(sign, None if is_led else codes)]
    meant = [code for code in meant if code != "USD"] or meant  # `$6,000 CAD`
    if high is not None and not _is_range(found, high):
        return None
    is_large = (is_led or found["change"] or found["head"]) and (low.value is None or low.value >= cues.least)
    if not meant and not low.is_thousands and not (high and high.is_thousands) and not is_large:
        return None
    minus, least = found["minus"] or found["negative"], found.led_by(_SAYS.least)
    return Money(
        -low.value if minus and low.value is not None else low.value,
        tuple(dict.fromkeys(meant)),
        found.said,
        most=high.value if high is not None and high.value is not None else None,
        per="night" if found["night"] else "person" if found["head"] else "",
        is_range=high is not None,
        is_least=(least is not None and not least["not"]) or found.followed_by(_SAYS.or_more) is not None,
        change="less" if found["change"] in _LESS else "more" if found["change"] else "",
    )


def _is_range(found: Found, high: Number) -> bool:
    """Tell a range, `$3000-4000`, from `$3000 and 2 rooms` and `$3000 - 4`."""
    if found["second"] or high.is_thousands or found["after"] or found.led_by(_SAYS.between):
        return True
    return found["link"] in ("-", "to") and (high.value is None or high.value >= 100)
