"""Draws with fixed results: from a hash of what they concern, never from the process."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

_SEED = "sagagraph-sandbox-1"
_T = TypeVar("_T")


def draw(*about: object) -> float:
    """A number in [0, 1), always the same for the same things."""
    text = "|".join([_SEED, *map(str, about)])
    return int.from_bytes(blake2b(text.encode(), digest_size=6).digest()) / 2**48


def draw_between(low: int, high: int, *about: object) -> int:
    """A whole number from `low` to `high`, both included."""
    return low + int(draw(*about) * (high - low + 1))


def pick(options: Sequence[_T], *about: object) -> _T:
    return options[int(draw(*about) * len(options))]
