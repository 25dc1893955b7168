"""Currencies as people write them."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.request import CURRENCIES

if TYPE_CHECKING:
    from collections.abc import Mapping

_WRITTEN: Final[Mapping[str, str]] = MappingProxyType(
    {
        "CAD": r"(?:ca|can|c)\s?\$|canadian dollars?\b|cad\b",
        "AUD": r"(?:au|a)\s?\$|(?:australian|aussie) dollars?\b|aud\b",
        "NZD": r"nz\s?\$|(?:new zealand|kiwi) dollars?\b|nzd\b",
        "HKD": r"hk\s?\$|hong kong dollars?\b",
        "SGD": r"s\$|singapore dollars?\b",
        "USD": r"us\s?\$|\$|usd\b|(?:us |american )?dollars?\b|bucks\b",
        "EUR": r"€|euros?\b|eur\b",
        "GBP": r"£|(?:pounds?(?: sterling)?|quid|sterling)\b|gbp\b",
        "CHF": r"(?:swiss )?francs?\b|chf\b|sfr\b\.?",
        "JPY": r"(?:japanese )?yen\b|jpy\b",
        "CNY": r"(?:yuan|renminbi|rmb)\b|cny\b",
        "INR": r"₹|(?:indian )?rupees?\b|inr\b",
        "KRW": r"₩|(?:korean )?won\b(?!'t)",
        "THB": r"฿|(?:thai )?baht\b",
        "ZAR": r"(?:south african )?rand\b",
        "PLN": r"zł|zlotys?\b|złoty\b",
        "TRY": r"₺|(?:turkish )?lira\b",
        "ILS": r"₪|shekels?\b",
        "BRL": r"r\$|reais\b|(?:brazilian )?reals?\b",
        "HUF": r"forints?\b",
        "SEK": r"swedish (?:kronor|krona|crowns?)\b",
        "NOK": r"norwegian (?:kroner|krone|crowns?)\b",
        "DKK": r"danish (?:kroner|krone|crowns?)\b",
        "ISK": r"icelandic (?:kronur|krona|crowns?)\b",
        "CZK": r"kč|(?:czech )?koruna\b|czech crowns?\b",
        "MXN": r"mx\s?\$|mexican pesos?\b",
        "PHP": r"₱|philippine pesos?\b",
    }
)
_EITHER: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        r"¥": ("CNY", "JPY"),
        r"kr\b\.?|kron(?:or|er|a|e|ur)\b|crowns?\b": ("CZK", "DKK", "ISK", "NOK", "SEK"),
        r"pesos?\b": ("MXN", "PHP"),
    }
)
"""What may be one of several."""
_CODES: Final = rf"(?-i:{'|'.join(sorted(CURRENCIES))})\b"
"""In capitals: `try` and `all` are words."""
SIGN: Final = rf"(?:(?<![^\W\d_])(?:{_CODES}|{'|'.join((*_WRITTEN.values(), *_EITHER))}))"
"""A regular expression for a currency, before or after an amount."""


def currencies_meant(written: str) -> tuple[str, ...]:
    """By what `SIGN` matched: one, or those between which nothing decides."""
    text = written.strip()
    if text.upper() in CURRENCIES:
        return (text.upper(),)
    for code, words in _WRITTEN.items():
        if re.fullmatch(words, text, re.IGNORECASE):
            return (code,)
    return next((codes for words, codes in _EITHER.items() if re.fullmatch(words, text, re.IGNORECASE)), ())
