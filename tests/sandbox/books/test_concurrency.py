from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain
from pathlib import Path

from httpx2 import Client

from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings
from tests.support.today import TODAY

OFFER = "hotel.BER-1.2025-06-10.2025-06-14.x1"


def book(url: str, key: str | None = None) -> int:
    with Client(base_url=url, trust_env=False) as client:
        return client.post(
            "/reservations",
            json={"kind": "hotel", "offer_id": OFFER, "quantity": 1},
            headers={"Idempotency-Key": key} if key else {},
        ).status_code


def book_in_a_process_of_its_own(database: Path, keys: list[str]) -> list[int]:
    with EmbeddedSandbox(SandboxSettings(database, today=TODAY)) as sandbox:
        return [book(sandbox.url, key) for key in keys]


def at_once(calls: list[Callable[[], int]]) -> Counter[int]:
    with ThreadPoolExecutor(len(calls)) as pool:
        return Counter(pool.map(lambda call: call(), calls))


def left(url: str) -> int:
    with Client(base_url=url, trust_env=False) as client:
        rooms: int = client.get(f"/offers/{OFFER}").json()["left"]
        return rooms


def test_nothing_is_oversold_through_two_services_on_one_file(tmp_path: Path) -> None:
    settings = SandboxSettings(tmp_path / "sandbox.db", today=TODAY)
    with EmbeddedSandbox(settings) as one, EmbeddedSandbox(settings) as other:
        rooms = left(one.url)
        answers = at_once([partial(book, url) for url in (one.url, other.url) for _ in range(10)])
        assert answers == {201: rooms, 422: 20 - rooms}
        assert left(other.url) == 0


def test_simultaneous_calls_with_one_key_land_once(tmp_path: Path) -> None:
    settings = SandboxSettings(tmp_path / "sandbox.db", today=TODAY)
    with EmbeddedSandbox(settings) as one, EmbeddedSandbox(settings) as other:
        rooms = left(one.url)
        answers = at_once([partial(book, url, "k") for url in (one.url, other.url) for _ in range(10)])
        assert answers == {201: 1, 200: 19}
        assert left(one.url) == rooms - 1


def test_processes_share_keys_and_stock(tmp_path: Path) -> None:
    database = tmp_path / "sandbox.db"
    keys = [[f"{process}-{n}" if n else "shared" for n in range(6)] for process in range(2)]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        answers = Counter(chain(*pool.starmap(book_in_a_process_of_its_own, [(database, own) for own in keys])))
    with (
        EmbeddedSandbox(SandboxSettings(database, today=TODAY)) as sandbox,
        Client(base_url=sandbox.url, trust_env=False) as client,
    ):
        landed = client.get("/ledger").json()["reservations"]
        assert answers[201] == len(landed)
        assert answers[201] + answers[200] + answers[422] == 12
        assert len({row["idempotency_key"] for row in landed}) == len(landed)
        assert left(sandbox.url) == 0
