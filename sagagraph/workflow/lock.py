"""Locks: what an operation takes that other sagas use too (docs/protocol.md rule 12). Pure."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from math import inf

from msgspec import Struct

from sagagraph.errors import InvalidInputError


class LockMode(StrEnum):
    EXCLUSIVE = "exclusive"
    SHARED = "shared"
    """Others may share it; nobody may change it."""
    COUNTED = "counted"
    """`amount` of a `capacity`, of which others may take the rest."""


class Lock(Struct, frozen=True, omit_defaults=True):
    """Lock on one thing, under a name that every saga of the store uses for it, and only for it.

    It holds from `begins` up to, but not including, `ends`, on one scale for all who use the key (seconds since the epoch, if
    nothing else suggests itself); None is without limit.
    """

    key: str
    mode: LockMode = LockMode.EXCLUSIVE
    begins: float | None = None
    ends: float | None = None
    amount: int = 1
    capacity: int = 1
    """How much there is in all, as far as the saga that takes it knows: the smallest number that is named counts."""

    def __post_init__(self) -> None:
        if not self.key:
            raise InvalidInputError("a name that is not empty", field="lock.key")
        if not self.first < self.last:
            raise InvalidInputError(f"{self.key!r} must end after it begins", field="lock.ends")
        if not 1 <= self.amount <= self.capacity:
            raise InvalidInputError(f"at least 1 of {self.key!r}, and no more than its capacity", field="lock.amount")

    @property
    def first(self) -> float:
        return -inf if self.begins is None else self.begins

    @property
    def last(self) -> float:
        return inf if self.ends is None else self.ends

    def meets(self, other: Lock) -> bool:
        """Tell whether both lock the same thing, at the same time."""
        return self.key == other.key and self.first < other.last and other.first < self.last


def is_overdrawn(wanted: Lock, locks: Iterable[Lock]) -> bool:
    """Tell whether, at any moment of `wanted`, more of it is taken than there is; `locks` include `wanted` itself."""
    counted = [each for each in locks if each.mode is LockMode.COUNTED and each.meets(wanted)]
    moments = {max(each.first, wanted.first) for each in counted}
    return any(_is_overdrawn_at(moment, counted) for moment in moments)


def _is_overdrawn_at(moment: float, counted: list[Lock]) -> bool:
    there = [each for each in counted if each.first <= moment < each.last]
    return sum(each.amount for each in there) > min(each.capacity for each in there)
