"""Seats: a provider that is one table in a file, a body that books with it, and a LangGraph graph that does.

The script that writes the stores of a release and the test that opens them with a later one both use it, so it keeps to names
that `sagagraph` exports.
"""

from __future__ import annotations

import os
import signal
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any, TypedDict

from langgraph.graph import START
from langgraph.types import interrupt

from sagagraph import Call, Engine, Guarantees, Probe, SagaGraph, action, current_call

BODY, THREAD = "body", "thread"
ONCE = Guarantees(dedup=timedelta(days=1))


class Seats:
    """The file. `dies_at`: the process that books this is killed when it has landed."""

    def __init__(self, file: Path, *, dies_at: str = "") -> None:
        self._file = file
        self._dies_at = dies_at
        self._run("CREATE TABLE IF NOT EXISTS seats (key TEXT PRIMARY KEY, name TEXT NOT NULL)")

    def book(self, name: str, key: str) -> None:
        self._run("INSERT OR IGNORE INTO seats VALUES (?, ?)", key, name)
        if name == self._dies_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def cancel(self, key: str) -> None:
        self._run("DELETE FROM seats WHERE key = ?", key)

    def is_booked(self, key: str) -> bool:
        return bool(self._run("SELECT 1 FROM seats WHERE key = ?", key))

    def booked_by(self, saga_id: str) -> list[str]:
        rows = self._run("SELECT name FROM seats WHERE key LIKE ? ORDER BY name", f"{saga_id}/%")
        return [str(name) for (name,) in rows]

    def _run(self, statement: str, *values: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self._file, isolation_level=None)) as connection:
            return connection.execute(statement, values).fetchall()


def booking(seats: Seats, name: str) -> Any:
    """The action that books this."""

    async def cancel(request: Any, result: Any, call: Call) -> None:
        seats.cancel(call.operation_key)

    async def find(request: Any, call: Call) -> Probe:
        return Probe.landed(name) if seats.is_booked(call.operation_key) else Probe.absent()

    @action(name=name, compensate=cancel, probe=find, guarantees=ONCE)
    async def book(request: Any, call: Call) -> str:
        seats.book(name, call.idempotency_key)
        return name

    return book


async def run_body(engine: Engine, seats: Seats) -> None:
    async with engine.saga(BODY) as saga:
        flight = await saga.run(booking(seats, "flight"), {"to": "Oslo"})
        await saga.run(booking(seats, "hotel"), {"nights": 3}, after=[flight])


class Trip(TypedDict, total=False):
    flight: str
    answer: str
    hotel: str


def trip_graph(seats: Seats) -> Any:
    """Books a flight, asks whether there is to be a hotel, and books that."""

    def booked(name: str) -> dict[str, Any]:
        def book(trip: Trip) -> dict[str, str]:
            seats.book(name, current_call().idempotency_key)
            return {name: name}

        def cancel(trip: Trip, update: Trip, call: Call) -> None:
            seats.cancel(call.operation_key)

        def find(trip: Trip, call: Call) -> Probe:
            return Probe.landed({name: name}) if seats.is_booked(call.operation_key) else Probe.absent()

        return {"action": book, "compensate": cancel, "probe": find, "guarantees": ONCE}

    def ask(trip: Trip) -> dict[str, str]:
        return {"answer": interrupt("a hotel, too?")}

    graph = (
        SagaGraph(Trip).add_node("book_flight", **booked("flight")).add_node("ask", ask).add_node("book_hotel", **booked("hotel"))
    )
    return graph.add_edge(START, "book_flight").add_edge("book_flight", "ask").add_edge("ask", "book_hotel")
