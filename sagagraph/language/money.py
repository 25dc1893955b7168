"""Money: amounts with a currency, or said in thousands, are tagged `money` (`Money`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from sagagraph.language.numbers import Number
from sagagraph.language.passage import form

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal

    from sagagraph.language.passage import Found, Passage

_WRITTEN: Final[Mapping[str, str]] = MappingProxyType(
    {
        "CAD": r"(?:ca|can|c)\s?\$|canadian dollars?\b",
        "AUD": r"(?:au|a)\s?\$|(?:australian|aussie) dollars?\b",
        "NZD": r"nz\s?\$|(?:new zealand|kiwi) dollars?\b",
        "HKD": r"hk\s?\$|hong kong dollars?\b",
        "SGD": r"s\$|singapore dollars?\b",
        "MXN": r"mx\s?\$|mexican pesos?\b",
        "BRL": r"r\$|reais\b|(?:brazilian )?reals?\b",
        "USD": r"us\s?\$|\$|usd\b|(?:us |american )?dollars?\b|bucks\b",
        "EUR": r"€|euros?\b|eur\b",
        "GBP": r"£|(?:pounds?(?: sterling)?|quid|sterling)\b|gbp\b",
        "CHF": r"(?:swiss )?francs?\b|chf\b|sfr\b\.?",
        "JPY": r"(?:japanese )?yen\b",
        "CNY": r"(?:yuan|renminbi|rmb)\b",
        "INR": r"₹|(?:indian )?rupees?\b",
        "KRW": r"₩|(?:korean )?won\b(?!'t)",
        "THB": r"฿|(?:thai )?baht\b",
        "ZAR": r"(?:south african )?rand\b",
        "PLN": r"zł|zlotys?\b|złoty\b",
        "TRY": r"₺|(?:turkish )?lira\b",
        "ILS": r"₪|shekels?\b",
        "HUF": r"forints?\b",
        "SEK": r"swedish (?:kronor|krona|crowns?)\b",
        "NOK": r"norwegian (?:kroner|krone|crowns?)\b",
        "DKK": r"danish (?:kroner|krone|crowns?)\b",
        "ISK": r"icelandic (?:kronur|krona|crowns?)\b",
        "CZK": r"kč|(?:czech )?koruna\b|czech crowns?\b",
        "PHP": r"₱|philippine pesos?\b",
        "CNY JPY": r"¥",
        "CZK DKK ISK NOK SEK": r"kr\b\.?|kron(?:or|er|a|e|ur)\b|crowns?\b",
        "MXN PHP": r"pesos?\b",
    }
)
"""By the currency; several where nothing decides between them. Codes in capitals are known without it."""
_CODE: Final = r"(?-i:[A-Z]{3})(?![^\W\d_])"
"""In capitals: `try` and `all` are words."""
SIGN: Final = rf"(?:{'|'.join(_WRITTEN.values())}|{_CODE})"
"""A part of a form: a sign, a code or the name of a currency."""
_BEFORE: Final = rf"(?P<minus>(?<!\w)- ?)?(?:(?<![^\W\d_])(?P<sign>{SIGN}) ?)?(?P<negative>(?<!\w)-)?"
_AFTER: Final = rf"(?: ?(?P<after>{SIGN})(?! ?{{n:_}}))?"
_MORE: Final = (
    r"(?: (?P<change>more|extra|less|on top|cheaper)\b(?! (?:or|of|per|each|a)\b)(?: than (?:that|now|before)\b|(?! than\b)))?"
)
_PER: Final = (
    r"(?:\s*(?:(?P<night>(?:(?:per|an?|each|every) |/ ?)(?:night|day)\b)"
    r"|(?P<head>(?:per|a) (?:person|head|adult|travell?er|passenger)\b|each\b|apiece\b|pp\b|p\.p\.)))?"
)
_RANGE: Final = form(rf"{_BEFORE}{{n:low}}\s*(?P<link>-|to\b|and\b|or\b)\s*(?:(?P<second>{SIGN}) ?)?{{n:high}}{_AFTER}{_PER}")
_AMOUNT: Final = form(rf"{_BEFORE}{{n:low}}{_AFTER}{_PER}{_MORE}")
_BETWEEN: Final = form(r"\bbetween $")
_LEAST: Final = form(r"(?<!no\s)(?<!not\s)\b(?:at least|more than|over|above|minimum(?: of)?|not less than) $")
_OR_MORE: Final = form(r"\s*(?:or|and) (?:more|up|above|over)\b")
_LESS: Final = ("less", "cheaper")


@dataclass(frozen=True, slots=True)
class Money:
    amount: Decimal | None
    """None: the digits can be read in two ways."""
    currencies: tuple[str, ...]
    """Currencies that the sign can mean; empty: there is no sign."""
    said: str
    per: str = ""
    """`night` or `person`."""
    is_range: bool = False
    is_least: bool = False
    change: str = ""
    """`more` or `less` than was said before."""

    @property
    def currency(self) -> str | None:
        """The currency that is meant; None if none is stated, or several are possible."""
        return self.currencies[0] if len(self.currencies) == 1 else None


@dataclass(frozen=True, slots=True)
class Cues:
    """Words before (they end in `$`) or after a bare number of `least` or more that make it an amount."""

    before: re.Pattern[str]
    after: re.Pattern[str]
    least: int = 100


def currencies_meant(written: str, codes: frozenset[str] | None) -> tuple[str, ...]:
    """Return the currency, or the candidates; empty for what is no currency. `codes` None: any three letters are one."""
    for names, words in _WRITTEN.items():
        if re.fullmatch(words, written.strip(), re.IGNORECASE):
            return tuple(names.split())
    code = written.strip().upper()
    return (code,) if (code in codes if codes is not None else len(code) == 3) else ()


def tag_money(passage: Passage, codes: frozenset[str], cues: Cues) -> None:
    """Tag amounts after numbers. `codes`: known currencies; after a cue, any three capitals count as one."""
    for words in (_RANGE, _AMOUNT):
        passage.tag("money", words, lambda found: _money(found, codes, cues))


def _money(found: Found, codes: frozenset[str], cues: Cues) -> Money | None:
    low, high = found.get("low", Number), found.get("high", Number)
    if low is None:
        return None
    is_led = bool(found.led_by(cues.before) or found.followed_by(cues.after))
    signs = dict.fromkeys(sign for name in ("sign", "second", "after") if (sign := found[name]))
    meant = [code for sign in signs for code in currencies_meant(sign, None if is_led else codes)]
    if high is not None and not _is_range(found, high):
        return None
    is_large = (is_led or found["change"]) and (low.value is None or low.value >= cues.least)
    if not meant and not low.is_thousands and not (high and high.is_thousands) and not is_large:
        return None
    minus = found["minus"] or found["negative"]
    return Money(
        -low.value if minus and low.value is not None else low.value,
        tuple(dict.fromkeys(meant)),
        found.said,
        per="night" if found["night"] else "person" if found["head"] else "",
        is_range=high is not None,
        is_least=found.led_by(_LEAST) is not None or found.followed_by(_OR_MORE) is not None,
        change="less" if found["change"] in _LESS else "more" if found["change"] else "",
    )


def _is_range(found: Found, high: Number) -> bool:
    """Tell a range, `$3000-4000`, from `$3000 and 2 rooms` and `$3000 - 4`."""
    if found["second"] or high.is_thousands or found["after"] or found.led_by(_BETWEEN):
        return True
    return found["link"] in ("-", "to") and (high.value is None or high.value >= 100)
