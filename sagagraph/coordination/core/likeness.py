"""Likeness of texts, and what a goal is about: by words alone, the same everywhere and offline. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Final


def by_words(one: str, other: str) -> float:
    """Return the cosine of two bags of words, from 0 to 1."""
    first, second = (Counter(re.findall(r"\w+", text.lower())) for text in (one, other))
    dot = sum(count * second[word] for word, count in first.items())
    return dot / math.sqrt(_square(first) * _square(second)) if dot else 0.0


def _square(words: Counter[str]) -> int:
    return sum(count * count for count in words.values())


def says(text: str, sign: str) -> bool:
    """Tell whether a word, in one of its forms, stands in a text."""
    return re.search(rf"\b{re.escape(sign)}(e?s|ing|d|ed|ies)?\b", text.lower()) is not None


_OPENING: Final = re.compile(
    r"^\s*(please\s+)?(research|investigate|study|survey|explore|review|compare|analy[sz]e|write|create|draft|look into)\b"
    r"(\s+(a|an|the|our|report|on|about|of))*\s+",
    re.IGNORECASE,
)


def topic_of(goal: str) -> str:
    """Return what a goal is about, without the verb with which it opens."""
    return _OPENING.sub("", goal).strip(" .") or goal
