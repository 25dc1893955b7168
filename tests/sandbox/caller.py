"""Somebody who calls the sandbox over HTTP, with the calls that tests make again and again."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from httpx2 import ASGITransport, AsyncClient, Response

from sagagraph.sandbox.api.app import create_app
from sagagraph.sandbox.settings import SandboxSettings
from tests.support.today import TODAY

JUNE = {"check_in": "2025-06-10", "check_out": "2025-06-14"}


class RealTime:
    """Stands still unless told otherwise."""

    def __init__(self) -> None:
        self._now = datetime(2030, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self._now

    def pass_by(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)


def write_faults(folder: Path, faults: list[dict[str, Any]]) -> Path:
    path = folder / "faults.json"
    path.write_text(json.dumps(faults))
    return path


def code(response: Response) -> tuple[int, str]:
    """The status, and the code of the error."""
    return response.status_code, response.json()["error"]["code"]


class Caller:
    def __init__(self, client: AsyncClient, database: Path) -> None:
        self.client = client
        self._database = database

    async def sent(self, call: Coroutine[Any, Any, Response]) -> asyncio.Task[Response]:
        """Sends a call with which something is to go wrong, and returns when it has arrived."""
        before = self._calls_counted()
        task = asyncio.create_task(call)
        for _ in range(1000):
            await asyncio.sleep(0.005)
            if self._calls_counted() != before:
                return task
        raise TimeoutError("the call has not arrived")

    def _calls_counted(self) -> int:
        """Looks behind the counter: nothing that the service says tells whether a call has arrived that hangs."""
        with closing(sqlite3.connect(self._database)) as database:
            counted: int = database.execute("SELECT coalesce(sum(calls), 0) FROM fault_counts").fetchone()[0]
        return counted

    async def get(self, path: str, **query: Any) -> Response:
        return await self.client.get(path, params=query)

    async def post(self, path: str, body: dict[str, Any], *, key: str | None = None) -> Response:
        return await self.client.post(path, json=body, headers={"Idempotency-Key": key} if key else None)

    async def hotels(self, city: str = "Berlin", **query: Any) -> list[dict[str, Any]]:
        return await self._offers("hotels", {"city": city, **JUNE, **query})

    async def flights(self, origin: str, destination: str, day: str, **query: Any) -> list[dict[str, Any]]:
        return await self._offers("flights", {"origin": origin, "destination": destination, "date": day, **query})

    async def trains(self, origin: str, destination: str, day: str, **query: Any) -> list[dict[str, Any]]:
        return await self._offers("trains", {"origin": origin, "destination": destination, "date": day, **query})

    async def _offers(self, what: str, query: dict[str, Any]) -> list[dict[str, Any]]:
        response = await self.get(f"/offers/{what}", **query)
        assert response.status_code == 200, response.text
        offers: list[dict[str, Any]] = response.json()["offers"]
        return offers

    async def offer(self, offer_id: str) -> dict[str, Any]:
        offer: dict[str, Any] = (await self.get(f"/offers/{offer_id}")).json()
        return offer

    async def book(
        self, offer: dict[str, Any] | None = None, *, key: str | None = None, quantity: int = 1, **body: Any
    ) -> Response:
        """Without an offer: the first hotel in Berlin."""
        offer = offer or await self.offer("hotel.BER-0.2025-06-10.2025-06-14.x1")
        body = {"kind": offer["kind"], "offer_id": offer["offer_id"], "quantity": quantity} | body
        return await self.post("/reservations", body, key=key)

    async def booked(self, offer: dict[str, Any] | None = None, **how: Any) -> dict[str, Any]:
        response = await self.book(offer, **how)
        assert response.status_code == 201, response.text
        reservation: dict[str, Any] = response.json()
        return reservation

    async def cancel(self, reservation_id: str, *, key: str | None = None, **body: Any) -> Response:
        return await self.post(f"/reservations/{reservation_id}/cancel", body, key=key)

    async def pay(self, amount: float = 100, *, key: str | None = None, **body: Any) -> Response:
        return await self.post("/payments", {"amount": amount, "currency": "USD", "reservations": [], **body}, key=key)

    async def refund(self, payment_id: str, *, key: str | None = None, **body: Any) -> Response:
        return await self.post(f"/payments/{payment_id}/refund", body, key=key)

    async def void(self, kind: str, key: str, **body: Any) -> Response:
        return await self.post("/void", {"kind": kind, "key": key, **body})

    async def find(self, kind: str, key: str) -> dict[str, Any]:
        found: dict[str, Any] = (await self.get("/find", kind=kind, key=key)).json()
        return found

    async def ledger(self, book: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = (await self.get("/ledger")).json()[book]
        return rows

    async def now(self) -> datetime:
        return datetime.fromisoformat((await self.get("/clock")).json()["now"])

    async def advance(self, seconds: float) -> None:
        assert (await self.post("/clock/advance", {"seconds": seconds})).status_code == 200


@asynccontextmanager
async def calling(database: Path, real_time: RealTime, **settings: Any) -> AsyncIterator[Caller]:
    """Starts the service on the file, and stops it again."""
    app = create_app(SandboxSettings(database, **{"today": TODAY, **settings}), real_now=real_time)
    async with (
        app.router.lifespan_context(app),
        AsyncClient(transport=ASGITransport(app), base_url="http://sandbox") as client,
    ):
        yield Caller(client, database)
