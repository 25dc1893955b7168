"""Random calls against the service and against a model of it that fits on a page; the books must agree."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import given, settings, strategies

from sagagraph.sandbox.books.calls import BookCall, Call, CancelCall, CaptureCall, Labels, RefundCall, VoidCall
from sagagraph.sandbox.books.effects import Arrival
from sagagraph.sandbox.service import Service
from sagagraph.sandbox.settings import SandboxSettings
from tests.support.today import TODAY

OFFERS = ["hotel.BER-1.2025-06-10.2025-06-12.x1", "hotel.BER-1.2025-06-11.2025-06-14.x1"]
"""Two stays that share a night."""
SHARED_ROOMS = 4


@dataclass
class Model:
    """What should have landed: reservations as [stay, quantity, key, is confirmed], and the rest by key."""

    answers: dict[str, tuple[object, ...]] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    voided: set[str] = field(default_factory=set)
    reservations: list[list[Any]] = field(default_factory=list)
    payments: list[str | None] = field(default_factory=list)
    cancellations: list[str | None] = field(default_factory=list)
    refunds: list[str | None] = field(default_factory=list)

    def taken(self) -> list[int]:
        """Rooms by stay."""
        return [sum(r[1] for r in self.reservations if r[0] == stay and r[3]) for stay in (0, 1)]

    def apply(self, step: tuple[Any, ...]) -> int:
        """The status that the service should answer with."""
        name, key, *what = step
        if name == "void":
            return self._void(key)
        if key in self.voided and name in ("book", "cancel"):
            return 422
        if key in self.answers:
            return 200 if self.answers[key] == (name, *what) else 422
        if key in self.refused:
            return 422
        status = getattr(self, f"_{name}")(key, *what)
        if key is not None and status == 201:
            self.answers[key] = (name, *what)
        return int(status)

    def _book(self, key: str | None, stay: int, quantity: int) -> int:
        if sum(self.taken()) + quantity > SHARED_ROOMS:
            if key is not None:
                self.refused.add(key)
            return 422
        self.reservations.append([stay, quantity, key, True])
        return 201

    def _cancel(self, key: str | None, index: int) -> int:
        if index >= len(self.reservations):
            return 404
        self.reservations[index][3] = False
        self.cancellations.append(key)
        return 201

    def _capture(self, key: str | None) -> int:
        self.payments.append(key)
        return 201

    def _refund(self, key: str | None, index: int) -> int:
        if index >= len(self.payments):
            return 404
        self.refunds.append(key)
        return 201

    def _void(self, key: str) -> int:
        if key in self.voided:
            return 200
        landed = [r for r in self.reservations if r[2] == key]
        if not landed and key in self.cancellations:
            return 422
        self.voided.add(key)
        for reservation in landed:
            if reservation[3]:
                self.cancellations.append(key)
            reservation[3] = False
        return 200


def call_for(step: tuple[Any, ...]) -> Call:
    name, key, *what = step
    labels = Labels(idempotency_key=key)
    match name:
        case "book":
            return BookCall(labels=labels, kind="hotel", offer_id=OFFERS[what[0]], quantity=what[1], expected_price=None)
        case "cancel":
            return CancelCall(labels=labels, kind="hotel", reservation_id=f"R-{what[0] + 1:05}")
        case "capture":
            return CaptureCall(labels=labels, amount=100_00, reservation_ids=())
        case "refund":
            return RefundCall(labels=labels, payment_id=f"P-{what[0] + 1:05}", amount=None)
        case _:
            return VoidCall(labels=Labels(), kind="hotel", key=key)


keys = strategies.sampled_from([None, "a", "b", "c", "d"])
indices = strategies.integers(0, 3)
steps = strategies.one_of(
    strategies.tuples(strategies.just("book"), keys, strategies.integers(0, 1), strategies.integers(1, 3)),
    strategies.tuples(strategies.just("cancel"), keys, indices),
    strategies.tuples(strategies.just("capture"), keys),
    strategies.tuples(strategies.just("refund"), keys, indices),
    strategies.tuples(strategies.just("void"), keys.filter(lambda key: key is not None)),
)


def left(service: Service) -> list[int]:
    return [service.offer(offer_id)["left"] for offer_id in OFFERS]


@settings(max_examples=40, deadline=None)
@given(strategies.lists(steps, max_size=20))
def test_the_books_and_the_stock_agree_with_the_model(course: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        service = Service(SandboxSettings(Path(folder) / "sandbox.db", today=TODAY), lambda: datetime(2030, 1, 1, tzinfo=UTC))
        model = Model()
        for step in course:
            assert service.effects.carry_out(call_for(step), Arrival()).status == model.apply(step)
            assert left(service) == [SHARED_ROOMS - sum(model.taken())] * 2
            assert min(left(service)) >= 0
        ledger = service.ledger()
        service.close()
    assert [(row["idempotency_key"], row["state"]) for row in ledger["reservations"]] == [
        (key, "confirmed" if is_confirmed else "cancelled") for _, _, key, is_confirmed in model.reservations
    ]
    for book in ("payments", "cancellations", "refunds"):
        assert [row["idempotency_key"] for row in ledger[book]] == getattr(model, book)
    assert {row["key"] for row in ledger["voids"]} == model.voided
