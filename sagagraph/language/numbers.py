"""Numbers: digits and words are tagged `n` (`Number`), ordinals (`the second`, `5th`) are tagged `nth` (`Nth`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from sagagraph.language.forms import Forms

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

SMALL: Final = rf"(?:(?:{'|'.join(_TENS)})(?:[- ]?(?:{'|'.join(_ONES[1:10])})\b)?|(?:{'|'.join(reversed(_ONES))}))\b"
_PLACED: Final = "|".join(sorted(_NTH, key=len, reverse=True))
_SAYS: Final = Forms(__file__, "numbers", SMALL=SMALL, TENS="|".join(_TENS), PLACE=_PLACED)
_SCALES: Final = {"million": 1_000_000, "lakh": 100_000, "crore": 10_000_000}
_PLAIN: Final = re.compile(r"\d+(?:\.\d{1,2})?|\d{1,3}(?:[, ']\d{2,3})*[, ']\d{3}(?:\.\d{1,2})?")


@dataclass(frozen=True, slots=True)
class Number:
    value: Decimal | None
    """None: the digits are ambiguous; 5.000 is five thousand to some and five to others."""
    is_thousands: bool = False
    """Stated in thousands: `4k`, `five thousand`."""
    is_word: bool = False

    @property
    def count(self) -> int | None:
        """Return the whole number; None if it is not one."""
        return int(self.value) if self.value is not None and self.value == self.value.to_integral_value() else None


@dataclass(frozen=True, slots=True)
class Nth:
    place: int


def tag_numbers(passage: Passage) -> None:
    passage.tag("nth", _SAYS.nth, lambda found: Nth(_TENS.get(found["tens"], 0) + _NTH[found["word"]]))
    passage.tag("n", _SAYS.words, _words)
    passage.tag("nth", _SAYS.digits, _nth)
    passage.tag("n", _SAYS.digits, _digits)


def _words(found: Found) -> Number:
    """Read `two hundred and fifty`, `twenty-one`."""
    total = 0
    for word in re.findall(r"[a-z]+", found["words"]):
        if word == "hundred":
            total *= 100
        elif word != "and":
            total += _TENS[word] if word in _TENS else 1 if word == "a" else _ONES.index(word)
    return Number(Decimal(total * _scale(found)), bool(found["k"]), is_word=True)


def _scale(found: Found) -> int:
    return _SCALES.get(found["k"].removesuffix("s"), 1000) if found["k"] else 1


def _nth(found: Found) -> Nth | None:
    return Nth(int(found["digits"])) if found["nth"] and found["digits"].isdigit() else None


def _digits(found: Found) -> Number | None:
    if found["nth"]:
        return None
    if not _PLAIN.fullmatch(found["digits"]):
        return Number(None)
    value = Decimal(re.sub(r"[, ']", "", found["digits"]))
    return Number(value * _scale(found), bool(found["k"]))
