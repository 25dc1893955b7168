"""Many people at once on one server of the app, and those who are in their way; the provider's ledger judges.

`python -m tests.support.load --clients 100 --minutes 10` prints calls, errors, times and memory. Each client plans a trip,
approves it and what replaces it, and cancels it, over and over. Beside them: clients that read a byte a second, or send nothing,
bodies of 10 MB, and streams of events that stay open.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any

import httpx2
import psutil

from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings
from tests.support.today import TODAY
from tests.ui.server import Server

TRIP = {"domain": "travel", "text": "3 days in Rome from Berlin, 10-13 June 2025, one traveller"}
_ENDED = {"committed", "compensated", "held", "stuck", "rejected", "infeasible"}
_PATIENCE_S = 180.0


@dataclass
class Told:
    seconds: list[float] = field(default_factory=list)
    ended: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    memory_mb: list[int] = field(default_factory=list)
    otherwise: list[dict[str, Any]] = field(default_factory=list)
    """What did not end as it should."""
    streams: int = 0


async def _call(client: httpx2.AsyncClient, told: Told, method: str, path: str, **more: Any) -> Any:
    began = time.perf_counter()
    answer = await client.request(method, f"/api/v1{path}", **more)
    told.seconds.append(time.perf_counter() - began)
    if answer.status_code >= 400:
        told.errors[f"{method} {path.rpartition('/')[2]} {answer.status_code}"] += 1
    return answer.json()


async def _until(client: httpx2.AsyncClient, told: Told, saga_id: str, wanted: set[str]) -> dict[str, Any]:
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end:
        state: dict[str, Any] = await _call(client, told, "GET", f"/sagas/{saga_id}")
        if state.get("status") in wanted and not state["is_busy"]:
            return state
        await asyncio.sleep(0.5)
    told.errors["a saga did not come to an end"] += 1
    return {"status": "waited in vain", "plan_hash": ""}


async def _visitor(url: str, told: Told, end: float) -> None:
    while time.monotonic() < end:
        async with httpx2.AsyncClient(base_url=url, timeout=_PATIENCE_S) as client:
            begun = await _call(client, told, "POST", "/sagas", json=TRIP)
            if "saga_id" not in begun:
                return
            saga_id = begun["saga_id"]
            await _booked(client, told, saga_id)
            await _call(client, told, "POST", f"/sagas/{saga_id}/cancel")
            ended = await _until(client, told, saga_id, _ENDED - {"committed"})
            told.ended[ended["status"]] += 1
            if ended["status"] != "compensated":
                told.otherwise.append(ended)


async def _booked(client: httpx2.AsyncClient, told: Told, saga_id: str) -> None:
    """Approve what is proposed, and what is proposed instead when the last seat has gone to somebody else."""
    while (shown := await _until(client, told, saga_id, {"awaiting_approval", *_ENDED}))["status"] == "awaiting_approval":
        await _call(client, told, "POST", f"/sagas/{saga_id}/approve", json={"plan_hash": shown["plan_hash"]})


async def _follower(url: str, told: Told, end: float) -> None:
    """Keeps a stream open for as long as it lasts, and opens the next."""
    async with httpx2.AsyncClient(base_url=url, timeout=_PATIENCE_S, limits=httpx2.Limits(max_connections=None)) as client:
        while time.monotonic() < end:
            begun = (await client.post("/api/v1/sagas", json=TRIP)).json()
            streams = [_follow(client, told, begun["saga_id"]) for _ in range(200)]
            await asyncio.gather(*streams, return_exceptions=True)


async def _follow(client: httpx2.AsyncClient, told: Told, saga_id: str) -> None:
    async with client.stream("GET", f"/api/v1/sagas/{saga_id}/events") as answer:
        told.streams += 1
        async for _line in answer.aiter_lines():
            pass


async def _nuisances(url: str, end: float) -> None:
    host, _, port = url.removeprefix("http://").partition(":")
    head = f"POST /api/v1/sagas HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: {{}}\r\n\r\n"

    async def silent() -> None:
        _reader, writer = await asyncio.open_connection(host, int(port))
        await asyncio.sleep(max(0.0, end - time.monotonic()))
        writer.close()

    async def slow() -> None:
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"GET /openapi.json HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        while time.monotonic() < end:
            await reader.read(1)
            await asyncio.sleep(1)
        writer.close()

    async def heavy() -> None:
        while time.monotonic() < end:
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(head.format(10_000_000).encode() + b"x" * 1_000_000)
            assert b" 413 " in await reader.readline()
            writer.close()
            await asyncio.sleep(1)

    await asyncio.gather(*(silent() for _ in range(20)), *(slow() for _ in range(5)), heavy())


async def _watch(pid: int, told: Told, end: float) -> None:
    process = psutil.Process(pid)
    while time.monotonic() < end:
        family = [process, *process.children(recursive=True)]
        told.memory_mb.append(round(sum(map(_own_memory, family)) / 2**20))
        await asyncio.sleep(5)


def _own_memory(process: psutil.Process) -> int:
    """Return its share of the memory, in bytes: of what several have, each has a part."""
    try:
        return int(process.memory_full_info().pss)
    except psutil.NoSuchProcess:
        return 0


async def load(server: Server, clients: int, followers: int, minutes: float) -> Told:
    told, end = Told(), time.monotonic() + 60 * minutes
    people = [_visitor(server.url, told, end) for _ in range(clients)]
    streams = [_follower(server.url, told, end) for _ in range(followers)]
    await asyncio.gather(*people, *streams, _nuisances(server.url, end), _watch(server.pid, told, end))
    return told


def left(ledger: dict[str, Any], saga_ids: set[str] | None = None) -> list[str]:
    """What stands although everything was cancelled, and what landed twice."""
    rows = [each for each in ledger["reservations"] if saga_ids is None or each["saga_id"] in saga_ids]
    standing = [each["id"] for each in rows if each["state"] == "confirmed"]
    standing += [each["id"] for each in ledger["payments"] if each["state"] == "captured"]
    landed = Counter((each["saga_id"], each["operation_id"]) for each in (*rows, *ledger["payments"]))
    return standing + [f"{saga} {operation} twice" for (saga, operation), number in landed.items() if number > 1]


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--clients", type=int, default=100)
    asked.add_argument("--followers", type=int, default=5, help="with 200 streams each")
    asked.add_argument("--minutes", type=float, default=10)
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        with EmbeddedSandbox(SandboxSettings(place / "sandbox.db", today=TODAY)) as sandbox:
            server = Server(place / "saga.db", "--provider", sandbox.url)
            try:
                told = asyncio.run(load(server, given.clients, given.followers, given.minutes))
            finally:
                server.stop()
            wrong = left(httpx2.get(f"{sandbox.url}/ledger", timeout=60).json())
    tenth = max(1, len(told.memory_mb) // 10)
    shown = {
        "calls": len(told.seconds),
        "p50_s": round(quantiles(told.seconds, n=100)[49], 3),
        "p95_s": round(quantiles(told.seconds, n=100)[94], 3),
        "ended": told.ended,
        "errors": told.errors,
        "streams": told.streams,
        "otherwise": [{key: each.get(key) for key in ("saga_id", "status", "next_steps")} for each in told.otherwise[:5]],
        "left_or_twice": wrong[:20],
        "most_memory_mb": [max(told.memory_mb[at : at + tenth]) for at in range(0, len(told.memory_mb), tenth)],
    }
    sys.stdout.write(f"{json.dumps(shown, indent=1)}\n")
    return 1 if wrong or told.errors else 0


if __name__ == "__main__":
    sys.exit(main())
