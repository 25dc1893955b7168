"""The audit of plans and ledgers: it has nothing against a good one, and names what is wrong with a bad one."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from benchmarks.trips import books
from benchmarks.trips.audit import World, faults
from sagagraph.domains.travel.plan import Itinerary
from sagagraph.domains.travel.provider.receipts import Found, Ledger
from sagagraph.domains.travel.request import TripRequest
from tests.domains.travel.world import CITIES, NOW, RATES, flight, hotel, train

pytestmark = pytest.mark.quick

Json = dict[str, Any]
Change = Callable[[Json, Json], object]

BODY: Json = {
    "origin": "San Francisco",
    "stops": [{"city": "Berlin", "nights": 3}, {"city": "Cologne", "nights": 2}],
    "return_to": "San Francisco",
    "window": {"first": "2025-06-01", "last": "2025-06-10"},
    "travellers": 1,
    "rooms": 1,
    "stars": [3, 4],
    "direct": "any",
    "currency": "EUR",
    "budget": 2500,
}
WORLD = World(NOW, {city.name: city.timezone for city in CITIES}, {**RATES.rates, RATES.base: Decimal(1)})


@pytest.fixture(scope="module")
def good() -> Json:
    offers = (
        flight("San Francisco", "Berlin", "06-02 15:00", 660, 700),
        hotel("Berlin", "06-03", 3, 100),
        train("Berlin", "Cologne", "06-06 10:00", 270, 80),
        hotel("Cologne", "06-06", 2, 110),
        flight("Cologne", "San Francisco", "06-08 09:00", 720, 750),
    )
    return Itinerary.of(TripRequest.model_validate(BODY), offers).model_dump(mode="json")


def offer(plan: Json, leg: int) -> Json:
    found: Json = plan["legs"][leg]["offer"]
    return found


def test_a_good_plan_has_no_faults(good: Json) -> None:
    assert faults(good, BODY, WORLD) == []


def test_it_may_cost_all_of_the_budget_by_the_rates_and_no_cent_more(good: Json) -> None:
    euros = Decimal(2050) / RATES.rates["USD"]
    all_of_it = float(euros.quantize(Decimal("0.01")) + Decimal("0.01"))
    assert faults(good, BODY | {"budget": all_of_it}, WORLD) == []
    assert len(faults(good, BODY | {"budget": all_of_it - 0.01}, WORLD)) == 1


BROKEN: list[tuple[str, Change]] = [
    ("is made of", lambda plan, _: plan["legs"].pop()),
    ("goes from San Francisco to Vienna", lambda plan, _: offer(plan, 0).update(destination_city="Vienna")),
    ("has left", lambda plan, _: offer(plan, 0).update(departs="2025-02-02T15:00:00-08:00")),
    ("and says 600 minutes", lambda plan, _: offer(plan, 0).update(duration_minutes=600)),
    ("no clock in Berlin", lambda plan, _: offer(plan, 0).update(arrives="2025-06-03T10:00:00+01:00")),
    ("is not within the hours", lambda _, body: body.update(hours={"depart": {"earliest": "09:30"}})),
    ("is not within the hours", lambda _, body: body.update(hours={"arrive": {"latest": "13:00"}})),
    ("unwanted weekday", lambda _, body: body.update(not_on=["tuesday"])),
    ("is not direct", lambda plan, body: (offer(plan, 0).update(stops=1), body.update(direct="required"))),
    ("not for 2 travellers", lambda _, body: body.update(travellers=2)),
    ("is in Munich", lambda plan, _: offer(plan, 1).update(city="Munich")),
    ("is for 3 nights, not 4", lambda _, body: body["stops"][0].update(nights=4)),
    ("has 3 stars", lambda _, body: body.update(stars=[4, 5])),
    ("not for 2 rooms", lambda _, body: body.update(rooms=2)),
    ("day of arrival", lambda plan, _: offer(plan, 1).update(check_in="2025-06-04")),
    ("day of the check-out", lambda plan, _: offer(plan, 1).update(check_out="2025-06-07")),
    ("begins on 2025-06-02", lambda _, body: body.update(depart="2025-06-03")),
    ("begins on 2025-06-02", lambda _, body: body["window"].update(first="2025-06-03")),
    ("ends on 2025-06-08", lambda _, body: body["window"].update(last="2025-06-07")),
    ("several currencies", lambda plan, _: offer(plan, 1).update(currency="EUR")),
    ("and says 2000", lambda plan, _: plan.update(total=2000)),
    ("more than 1900 EUR", lambda _, body: body.update(budget=1900)),
]


@pytest.mark.parametrize(("words", "change"), BROKEN)
def test_what_is_wrong_with_a_plan_is_named(good: Json, words: str, change: Change) -> None:
    plan, body = deepcopy(good), deepcopy(BODY)
    change(plan, body)
    assert any(words in fault for fault in faults(plan, body, WORLD)), faults(plan, body, WORLD)


@pytest.mark.parametrize(("minutes", "is_enough"), [(60, True), (59, False)])
def test_a_change_to_a_flight_takes_an_hour_after_a_train(minutes: int, *, is_enough: bool) -> None:
    body = BODY | {"stops": [{"city": "Cologne", "nights": 1}], "origin": "Berlin", "return_to": "Berlin", "window": None}
    body["depart"] = "2025-06-06"
    arriving = train("Berlin", "Cologne", "06-06 20:00", 220, 80)
    leaving = flight("Cologne", "Berlin", "06-07 00:00", 70, 90)
    late = arriving.arrives + timedelta(minutes=minutes)
    leaving = leaving.model_copy(update={"departs": late, "arrives": late + timedelta(minutes=70)})
    plan = Itinerary.of(TripRequest.model_validate(body), (arriving, hotel("Cologne", "06-06", 1, 100), leaving))
    said = faults(plan.model_dump(mode="json"), body, WORLD)
    assert said == ([] if is_enough else [f"{leaving.offer_id} leaves before one can change to it"])


# -- the ledger --------------------------------------------------------------------------------------------------------


class Provider:
    """Its ledger holds what the plan of `good` needs, under saga `s`."""

    def __init__(self, plan: Json) -> None:
        self.offers = {f"T{n}": leg["offer"] for n, leg in enumerate(plan["legs"], start=1)}
        self.reservations = [
            self._row(name, id=name, kind=each["kind"], state="confirmed", price=each["price"], fee=0, currency="USD")
            for name, each in self.offers.items()
        ]
        self.payments = [self._row("pay", id="P", state="captured", amount=plan["total"], currency="USD")]
        self.refunds: list[Json] = []

    @staticmethod
    def _row(key: str, **facts: Any) -> Json:
        return {"idempotency_key": key, "saga_id": "s", "operation_id": key, "created_at": NOW, **facts}

    async def ledger(self) -> Ledger:
        rows = {"reservations": self.reservations, "payments": self.payments, "refunds": self.refunds, "cancellations": []}
        return Ledger.model_validate(rows)

    async def find(self, _kind: str, key: str) -> Found:
        row = next(row for row in self.reservations if row["idempotency_key"] == key)
        return Found.model_validate({"matches": [row | {"offer": self.offers[key]}], "voided": False})


async def test_a_ledger_that_holds_the_plan_is_in_order(good: Json) -> None:
    provider = Provider(good)
    assert await books.faults(provider, "s", good) == []  # type: ignore[arg-type]
    assert books.strangers(await provider.ledger(), {"s"}) == []


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ("T1 is cancelled", lambda it: it.reservations[0].update(state="cancelled")),
        ("and planned", lambda it: it.reservations.pop()),
        ("and planned", lambda it: it.reservations[0].update(price=699)),
        ("and planned", lambda it: it.offers["T1"].update(offer_id="another")),
        ("and planned", lambda it: it.reservations.append(it.reservations[0])),
        ("paid []", lambda it: it.payments.clear()),
        ("paid", lambda it: it.payments.append(it.payments[0])),
        ("paid", lambda it: it.payments[0].update(amount=2049)),
        ("paid", lambda it: it.payments[0].update(state="refunded")),
    ],
)
async def test_what_is_wrong_with_a_ledger_is_named(good: Json, words: str, change: Callable[[Provider], None]) -> None:
    provider = Provider(deepcopy(good))
    change(provider)
    assert any(words in fault for fault in await books.faults(provider, "s", good))  # type: ignore[arg-type]


async def test_an_infeasible_trip_leaves_nothing(good: Json) -> None:
    provider = Provider(good)
    assert await books.faults(provider, "s", None) == ["left 5 reservations and 1 payments"]  # type: ignore[arg-type]
    assert await books.faults(provider, "another", None) == []  # type: ignore[arg-type]
    assert books.strangers(await provider.ledger(), ()) == ["6 reservations and payments of nobody"]


async def test_where_no_saga_turned_back_nothing_is_paid_back(good: Json) -> None:
    provider = Provider(good)
    provider.refunds.append(provider._row("back", id="F", payment_id="P", amount=5))
    assert books.strangers(await provider.ledger(), {"s"}) == ["1 refunds"]
