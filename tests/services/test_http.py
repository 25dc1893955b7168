"""HTTP services by description: the sandbox and a hotel without keys keep the contract; what is described wrongly is found."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sagagraph.errors import InvalidInputError, Refused
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.services.breaker import Breaker, guarded
from sagagraph.services.catalogue import service_of
from sagagraph.services.contract.check import Bench, Report, check
from sagagraph.services.http_description import at, described, filled
from sagagraph.services.service import Account
from tests.services.servers import Server

EXAMPLES = Path(__file__).parents[2] / "docs" / "services" / "examples"


@pytest.fixture
def description(tmp_path: Path) -> Callable[..., Account]:
    def written(name: str, server: Server, **replaced: str) -> Account:
        text = (EXAMPLES / f"{name}.yaml").read_text(encoding="utf-8").replace("127.0.0.1:8080", f"127.0.0.1:{server.port}")
        for before, after in replaced.items():
            assert before in text
            text = text.replace(before, after)
        for each in EXAMPLES.glob("*.json"):
            (tmp_path / each.name).write_text(each.read_text(encoding="utf-8"), encoding="utf-8")
        (tmp_path / "described.yaml").write_text(text, encoding="utf-8")
        return Account.of(f"http://127.0.0.1:{server.port}", options={"description": str(tmp_path / "described.yaml")})

    return written


async def tried(account: Account, server: Server | None = None, **options: Any) -> Report:
    restart = None if server is None else server.restart
    return await check(service_of("http"), Bench(account, restart), f"trial-{uuid.uuid4().hex[:8]}", **options)


SAMPLES = [2, pytest.param(0, marks=pytest.mark.proof)]
"""Exchanges for each fault; 0: all of them."""


@pytest.mark.parametrize("sample", SAMPLES)
async def test_the_sandbox_keeps_the_contract(sandbox: Server, description: Callable[..., Account], sample: int) -> None:
    report = await tried(description("sandbox", sandbox), sandbox, sample=sample)
    assert (report.broken, report.held, report.not_asked) == ([], [], [])


async def test_a_service_without_keys_keeps_the_contract(rooms: Server, description: Callable[..., Account]) -> None:
    """What arrives twice lands twice there."""
    report = await tried(description("rooms", rooms))
    assert (report.broken, report.held) == ([], [])
    assert report.not_asked == ["twice: nothing is promised about it"]


async def test_a_promise_that_the_service_does_not_keep_is_found(rooms: Server, description: Callable[..., Account]) -> None:
    """It has no keys, whatever is said of it: with its own promise it keeps the contract."""
    broken = (await tried(description("rooms", rooms, **{"settles: 1.5": "dedup: 86400"}), most=1)).broken
    assert broken != []
    assert all("late at" in each or "twice at" in each for each in broken), broken


async def test_a_probe_by_what_was_asked_is_found(rooms: Server, description: Callable[..., Account]) -> None:
    account = description("rooms", rooms, **{"parameters: {client_reference: $key}": "parameters: {}"})
    assert (await tried(account, most=1)).broken != []


@pytest.mark.parametrize(
    ("replaced", "says"),
    [
        ({"operation: deleteBooking": "operation: removeBooking"}, "actions.book_room.undo: the document has no operation"),
        ({"{bookingId: $result.id}": "{}"}, "actions.book_room.undo.parameters: 'deleteBooking' needs bookingId"),
        ({"{client_reference: $key}": "{reference: $key}"}, "has no parameter reference"),
        ({"found: /items": "finds: /items"}, "actions.book_room.ask.finds"),
        ({"rooms.openapi.json": "nowhere.json"}, "openapi: 'nowhere.json' cannot be read"),
        ({"actions:": "actions: ["}, "description: is no YAML"),
    ],
)
async def test_what_is_described_wrongly_is_named(
    rooms: Server, description: Callable[..., Account], replaced: dict[str, str], says: str
) -> None:
    with pytest.raises(InvalidInputError) as raised:
        await tried(description("rooms", rooms, **replaced))
    assert says in str(raised.value)


def test_what_is_asked_for_is_never_read_as_a_template() -> None:
    values = {"key": "secret", "request": {"guest": "$key", "rooms": ["12"]}}
    assert filled({"a": "$request.guest", "b": ["$request.rooms.0", "$request.none"]}, values) == {"a": "$key", "b": ["12", None]}
    with pytest.raises(InvalidInputError, match="stands for nothing"):
        filled("$password", values)
    assert at({"a/b": [{"~": 1}]}, "/a~1b/0/~0") == 1


def test_a_description_needs_a_source_for_what_it_promises() -> None:
    said = {"openapi": "x", "actions": {"book": {"book": {"operation": "b"}, "result": {}, "promises": {"dedup": 1}}}}
    with pytest.raises(InvalidInputError, match=r"actions\.book\.promises\.source"):
        described(json.dumps(said))


# -- the breaker ---------------------------------------------------------------------------------------------------------


async def test_a_provider_that_does_not_answer_is_left_alone_by_all_workers() -> None:
    now = [1000.0]
    store = MemorySagaStore()
    one, other = (Breaker(store, "hotel", lambda: now[0], failures=2, pause_s=30) for _worker in range(2))
    for _time in range(2):
        await one.check()
        await one.note(answered=False)
    for each in (one, other):
        with pytest.raises(Refused) as raised:
            await each.check()
        assert (raised.value.transient, raised.value.retry_after_s) == (True, 30.0)
    now[0] += 31
    await other.check()
    await one.check()
    await one.note(answered=False)  # the first one afterwards
    now[0] += 2
    with pytest.raises(Refused):
        await other.check()
    now[0] += 31
    await one.check()
    await one.note(answered=True)
    await one.note(answered=False)
    await one.check()


async def test_behind_an_open_breaker_nothing_is_sent_and_nothing_is_in_doubt(
    rooms: Server, description: Callable[..., Account]
) -> None:
    async with service_of("http").open(description("rooms", rooms)) as opened:
        store, now = MemorySagaStore(), [1000.0]
        breaker = Breaker(store, "hotel", lambda: now[0], failures=1)
        behind = guarded(opened.action("book_room"), breaker)
        await breaker.note(answered=False)
        engine = Engine(store)
        guest = uuid.uuid4().hex
        async with engine.saga("stay") as saga:
            running = saga.run(behind, {"guest": guest, "room": "1"})
            now[0] += 31  # it is asked again when the pause is over, and not before
            await running
        view = await engine.status("stay")
        assert view.status == "committed"
        assert opened.trial.standing is not None
        assert await opened.trial.standing(guest) == {"live": 1, "too often": 0}
        await engine.close()
