"""Numbers: digits and words are tagged `n` (`Number`), ordinals (`the second`, `5th`) are tagged `nth` (`Nth`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from sagagraph.language.passage import form

if TYPE_CHECKING:
    from sagagraph.language.passage import Found, Passage

_WORDS_TO_NINETEEN = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen"
)
_WORDS_OF_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_PLACES = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth "
    "seventeenth eighteenth nineteenth twentieth"
)
_ONES: Final = _WORDS_TO_NINETEEN.split()
_TENS: Final = dict(zip(_WORDS_OF_TENS.split(), range(20, 100, 10), strict=True))
_NTH: Final = {**{word: n for n, word in enumerate(_PLACES.split(), start=1)}, "thirtieth": 30}

_SMALL: Final = rf"(?:(?:{'|'.join(_TENS)})(?:[- ]?(?:{'|'.join(_ONES[1:10])})\b)?|(?:{'|'.join(reversed(_ONES))}))\b"
_HUNDREDS: Final = rf"(?:(?:{_SMALL} hundred(?: and)?(?: {_SMALL})?)|{_SMALL})"
_WORDS: Final = form(rf"(?<!\bno\s)(?<!\bno-)\b(?P<words>{_HUNDREDS})(?P<k> thousand\b| grand\b| k\b)?(?![- ]?way\b)")
_DIGITS: Final = form(
    r"(?<![\d.,])(?P<digits>\d{1,3}(?:[ ']\d{3})+(?!\d)|\d+(?:[.,]\d+)*)(?!\d)"
    r"(?:(?P<nth>st|nd|rd|th)\b|(?P<k> ?(?:k|thousand|grand)(?:(?![^\W\d_])|(?=(?-i:[A-Z]{3})\b))))?"
)
_NTH_WORDS: Final = form(rf"\b(?:(?P<tens>{'|'.join(_TENS)})[- ])?(?P<word>{'|'.join(sorted(_NTH, key=len, reverse=True))})\b")
_PLAIN: Final = re.compile(r"\d+(?:\.\d{1,2})?|\d{1,3}(?:[, ']\d{3})+(?:\.\d{1,2})?")


@dataclass(frozen=True, slots=True)
class Number:
    value: Decimal | None
    """None: the digits are ambiguous; 5.000 is five thousand to some and five to others."""
    is_thousands: bool = False
    """Stated in thousands: `4k`, `five thousand`."""
    is_word: bool = False

    @property
    def count(self) -> int | None:
        """The whole number; None if it is not one."""
        return int(self.value) if self.value is not None and self.value == self.value.to_integral_value() else None


@dataclass(frozen=True, slots=True)
class Nth:
    place: int


def tag_numbers(passage: Passage) -> None:
    passage.tag("nth", _NTH_WORDS, lambda found: Nth(_TENS.get(found["tens"], 0) + _NTH[found["word"]]))
    passage.tag("n", _WORDS, _words)
    passage.tag("nth", _DIGITS, lambda found: Nth(int(found["digits"])) if found["nth"] and found["digits"].isdigit() else None)
    passage.tag("n", _DIGITS, _digits)


def _words(found: Found) -> Number:
    """Read `two hundred and fifty`, `twenty-one`."""
    total = 0
    for word in re.findall(r"[a-z]+", found["words"]):
        if word == "hundred":
            total *= 100
        elif word != "and":
            total += _TENS[word] if word in _TENS else _ONES.index(word)
    return Number(Decimal(total * (1000 if found["k"] else 1)), bool(found["k"]), is_word=True)


def _digits(found: Found) -> Number | None:
    if found["nth"]:
        return None
    if not _PLAIN.fullmatch(found["digits"]):
        return Number(None)
    value = Decimal(re.sub(r"[, ']", "", found["digits"]))
    return Number(value * 1000 if found["k"] else value, bool(found["k"]))
