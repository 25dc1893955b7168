"""Which bookings of a trip go wrong, and how: every single one, and every pair, a booking and what replaces it included."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

How = Literal["sold out", "price up", "no answer"]
HOW: tuple[How, ...] = ("sold out", "price up", "no answer")
UNANSWERED = {"flight": 4, "train": 4, "hotel": 7}
"""So many calls in a row without an answer, and a booking is given up: after its fourth attempt (the policy of travel's actions).
Two hotels may be booked side by side; of seven calls one of them makes four."""


@dataclass(frozen=True)
class Blow:
    """The `nth` call that books this kind goes wrong."""

    kind: str
    nth: int
    how: How

    def rules(self) -> list[dict[str, Any]]:
        call = {"kind": self.kind, "call": "book"}
        match self.how:
            case "sold out":
                return [call | {"nth": self.nth, "fault": "refuse"}]
            case "price up":
                return [call | {"nth": self.nth, "fault": "price_up"}]
            case "no answer":
                return [call | {"nth": self.nth + n, "fault": 500} for n in range(UNANSWERED[self.kind])]

    def __str__(self) -> str:
        return f"{self.kind} {self.nth} {self.how}"


@dataclass(frozen=True)
class Disruption:
    blows: tuple[Blow, ...]

    def rules(self) -> list[dict[str, Any]]:
        """What strikes after calls that were repeated is counted from after them."""
        first, *others = self.blows
        return first.rules() + [rule for each in others for rule in _after(first, each).rules()]

    def __str__(self) -> str:
        return ", ".join(map(str, self.blows))


def _after(first: Blow, then: Blow) -> Blow:
    is_pushed_back = first.how == "no answer" and then.kind == first.kind
    return Blow(then.kind, then.nth + UNANSWERED[first.kind] - 1, then.how) if is_pushed_back else then


def singles(kinds: Iterable[str]) -> Iterator[Disruption]:
    """`kinds`: of the bookings of a trip."""
    for kind, times in Counter(kinds).items():
        for nth, how in product(range(1, times + 1), HOW):
            yield Disruption((Blow(kind, nth, how),))


def pairs(kinds: Iterable[str]) -> Iterator[Disruption]:
    """Of one kind, one call more than there are bookings: the replacement of what failed is struck too."""
    counted = Counter(kinds)
    for kind, times in counted.items():
        for first, second in combinations(range(1, times + 2), 2):
            for how, then in product(HOW, HOW):
                yield Disruption((Blow(kind, first, how), Blow(kind, second, then)))
    for (kind, times), (other, more) in combinations(counted.items(), 2):
        for first, second in product(range(1, times + 1), range(1, more + 1)):
            for how, then in product(HOW, HOW):
                yield Disruption((Blow(kind, first, how), Blow(other, second, then)))
