"""Bench: what the author of an adapter supplies so that it can be checked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import date

from sagagraph.domains.travel.provider.provider import ReservationProvider
from sagagraph.domains.travel.provider.receipts import Ledger, ReservationKind


@dataclass(frozen=True)
class Journey:
    """Journey: a search for flights or trains."""

    origin: str
    destination: str
    day: date
    travellers: int = 1

    @property
    def quantity(self) -> int:
        return self.travellers

    @property
    def cities(self) -> tuple[str, ...]:
        return (self.origin, self.destination)


@dataclass(frozen=True)
class Stay:
    """Stay: a search for hotels."""

    city: str
    check_in: date
    check_out: date
    rooms: int = 1

    @property
    def quantity(self) -> int:
        return self.rooms

    @property
    def cities(self) -> tuple[str, ...]:
        return (self.city,)


@dataclass(frozen=True)
class Bench:
    """Bench: a connected provider, and searches whose offers may be booked, cancelled and paid for as often as a check needs.

    At least one of `flight`, `train` and `hotel`: bookings of each given kind are checked. The rest is optional; what it would
    show is skipped without it.
    """

    provider: ReservationProvider
    flight: Journey | None = None
    train: Journey | None = None
    hotel: Stay | None = None
    ledger: Callable[[], Awaitable[Ledger]] | None = None
    """The provider's own ledger: `provider.ledger`, if it has one. It shows what answers may hide."""
    lose_next_answer: Callable[[], Awaitable[None]] | None = None
    """Once it has returned, the next booking lands but its answer is lost."""
    unreachable: ReservationProvider | None = None
    """The same adapter, connected to an address where nothing answers."""

    @property
    def questions(self) -> dict[ReservationKind, Journey | Stay]:
        """Return the given searches, by what they ask for."""
        every: dict[ReservationKind, Journey | Stay | None] = {"flight": self.flight, "train": self.train, "hotel": self.hotel}
        return {kind: question for kind, question in every.items() if question is not None}
