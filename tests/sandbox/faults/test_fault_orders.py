"""Faults that are ordered while the service runs."""

from __future__ import annotations

from typing import Any

from sagagraph.sandbox.books.calls import Kind
from sagagraph.sandbox.books.faults import FaultOrder, FaultOrders
from tests.sandbox.caller import code
from tests.sandbox.conftest import Open


def order(**more: Any) -> FaultOrder:
    return FaultOrder(**{"kind": "hotel", "call": "book", "fault": "refuse", **more})


def struck(orders: FaultOrders, times: int, *, kind: Kind = "hotel", saga_id: str | None = None) -> list[bool]:
    return [orders.take(kind, "book", saga_id) is not None for _call in range(times)]


async def test_an_order_strikes_the_next_call_once(open_sandbox: Open) -> None:
    async with open_sandbox() as sandbox:
        ordered = await sandbox.post("/faults", {"kind": "hotel", "call": "book", "fault": "before"})
        assert ordered.status_code == 201
        assert len((await sandbox.get("/faults")).json()["orders"]) == 1
        assert code(await sandbox.book(key="k")) == (503, "unavailable")
        assert (await sandbox.book(key="k")).status_code == 201
        assert (await sandbox.get("/faults")).json() == {"orders": []}


async def test_an_order_for_a_search_strikes_the_next_one(open_sandbox: Open) -> None:
    async with open_sandbox() as sandbox:
        before = await sandbox.hotels()
        await sandbox.post("/faults", {"kind": "hotel", "call": "search", "fault": "price_up"})
        assert [round(offer["price"] / 1.2) for offer in await sandbox.hotels()] == [offer["price"] for offer in before]
        assert (await sandbox.get("/faults")).json() == {"orders": []}


async def test_an_order_that_is_none_is_refused(open_sandbox: Open) -> None:
    async with open_sandbox() as sandbox:
        assert code(await sandbox.post("/faults", {"kind": "hotel", "call": "book", "fault": "explode"})) == (422, "invalid")


def test_an_order_for_one_saga_leaves_all_others_alone() -> None:
    orders = FaultOrders()
    orders.add(order(saga_id="ann-1"))
    assert struck(orders, 2, saga_id="bob-1") == [False, False]
    assert struck(orders, 2, saga_id=None) == [False, False]
    assert struck(orders, 2, saga_id="ann-1") == [True, False]


def test_an_order_counts_the_calls_that_it_means_from_the_moment_of_the_order() -> None:
    orders = FaultOrders()
    assert struck(orders, 3) == [False] * 3
    orders.add(order(nth=2))
    assert struck(orders, 1, kind="flight") == [False]
    assert struck(orders, 3) == [False, True, False]
    assert orders.open == ()


def test_two_orders_for_the_same_calls_strike_one_call_each() -> None:
    orders = FaultOrders()
    orders.add(order())
    orders.add(order(nth=2))
    assert struck(orders, 3) == [True, True, False]
