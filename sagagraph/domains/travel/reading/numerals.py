"""Small numbers, in digits and in words."""

from typing import Final

_ONES: Final = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS: Final = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_ORDINAL_ONES: Final = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"),
    *("thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"),
)

ORDINALS: Final = {word: n for n, word in enumerate(_ORDINAL_ONES, start=1)} | {
    "twentieth": 20,
    **{f"twenty-{word}": 20 + n for n, word in enumerate(_ORDINAL_ONES[:9], start=1)},
    "thirtieth": 30,
    "thirty-first": 31,
}

_WORDS: Final = "|".join(sorted(_ONES, key=len, reverse=True))
COUNT: Final = rf"(?>\d{{1,4}}|(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(_ONES[1:10])})\b)?|{_WORDS})"
"""A regular expression for a number in digits or words; atomic, so that `twenty-one` is never twenty to one."""


def count_of(text: str) -> int:
    """Of what `COUNT` matched."""
    word = text.strip().lower()
    if word.isdigit():
        return int(word)
    tens, _, ones = word.replace("-", " ").partition(" ")
    if tens in _TENS:
        return _TENS[tens] + (_ONES.index(ones) if ones else 0)
    return _ONES.index(word)
