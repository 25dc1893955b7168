"""The app books a trip and is killed in the middle; a worker in a process of its own, on the same PostgreSQL, carries it on."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings
from tests.support.today import TODAY
from tests.ui.server import Server

TRIP = {"domain": "travel", "text": "3 days in Rome from Berlin, 10-13 June 2025, 1500 euros"}
HANGS = {"kind": "hotel", "call": "book", "nth": 1, "fault": "hang", "seconds": 30}
_PATIENCE_S = 90.0


@contextmanager
def worker(store: str, provider: str) -> Iterator[str]:
    """Yields the address of its health."""
    words = ["worker", "--slots", "4", "--health", "0", "--store", store, "--provider", provider]
    running = subprocess.Popen([sys.executable, "-m", "sagagraph", *words], stdout=subprocess.PIPE, text=True)
    assert running.stdout is not None
    try:
        yield running.stdout.readline().rpartition(" ")[2].strip()
    finally:
        running.terminate()
        assert running.wait(30) == 0


def until(look: Callable[[], Any]) -> Any:
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.1)
    raise AssertionError("it did not come to that")


def test_a_trip_that_the_app_began_is_carried_on_by_a_worker(tmp_path: Path, empty_database: str) -> None:
    with EmbeddedSandbox(SandboxSettings(tmp_path / "sandbox.db", today=TODAY)) as sandbox:
        app = Server(tmp_path / "unused.db", "--provider", sandbox.url, database=empty_database)
        with httpx2.Client(base_url=app.url, timeout=60) as visitor:
            assert visitor.get("/readyz").json()["ready"] is True
            saga_id = visitor.post("/api/v1/sagas", json=TRIP).json()["saga_id"]
            path = f"/api/v1/sagas/{saga_id}"

            def state() -> Any:
                return visitor.get(path).json()

            plan = until(lambda: (told := state())["status"] == "awaiting_approval" and told["plan_hash"])
            visitor.post(f"{path}/faults", json=HANGS).raise_for_status()
            visitor.post(f"{path}/approve", json={"plan_hash": plan}).raise_for_status()
            until(lambda: any(each["status"] == "succeeded" for each in state()["operations"]))
        app.kill()
        with worker(empty_database, sandbox.url) as health:
            figures = until(
                lambda: 'action="capture_payment"' in (told := httpx2.get(f"{health}/metrics", timeout=_PATIENCE_S).text) and told
            )
            assert 'action="capture_payment",domain="travel",outcome="succeeded"' in figures
        ledger = httpx2.get(f"{sandbox.url}/ledger", timeout=_PATIENCE_S).json()
    landed = Counter((each["saga_id"], each["operation_id"]) for each in (*ledger["reservations"], *ledger["payments"]))
    assert len(landed) == 4
    assert set(landed.values()) == {1}
