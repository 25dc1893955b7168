"""Retention and redaction as every store does them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sagagraph.errors import ConflictError, RetiredError, SupersededError, UnknownSagaError
from sagagraph.saga.core.commands import CallKind
from sagagraph.saga.core.events import BodyCompleted, Driver, Entry, Event, FieldsRedacted, SagaBegun, SagaCommitted
from sagagraph.saga.core.state import Stage
from sagagraph.saga.stores.owner import this_owner
from sagagraph.saga.stores.port import Document, Lease, Note, RequestKind, SagaStore
from sagagraph.saga.stores.rows import checksum

from .conftest import Clock

ME = this_owner("me")
NOTE = Note("flight", CallKind.ACTION, "trip/flight/1", {"email": "ada@example.com"})


async def ended(store: SagaStore, saga_id: str = "trip") -> Lease:
    """A journal of three events, with a note, a request and a document beside it."""
    begun = SagaBegun(Driver.BODY, "", {"email": "ada@example.com"})
    lease = await store.create(saga_id, begun, stage=Stage.RUNNING, owner=ME, ttl_s=4.0)
    await store.append(lease, [Entry(2, 1, 5.5, BodyCompleted()), Entry(3, 1, 5.5, SagaCommitted())], stage=Stage.COMMITTED)
    await store.note(saga_id, NOTE)
    await store.ask(saga_id, RequestKind.RESOLVE, "ada", {"output": {"email": "ada@example.com"}})
    await store.put(Document(saga_id, "letter", "first", {"email": "ada@example.com"}))
    return lease


async def heard(store: SagaStore, saga_id: str = "trip") -> int:
    return max(each.number for each in await store.requests({saga_id: 0}))


# -- retention ----------------------------------------------------------------------------------------------------------


async def test_a_dump_has_every_row_as_it_is_kept(store: SagaStore, clock: Clock) -> None:
    await ended(store)
    dumped = json.loads(json.dumps(await store.dump("trip")))
    assert set(dumped) == {"saga", "events", "evidence", "requests", "documents"}
    head = dumped["saga"]
    assert (head["saga_id"], head["stage"], head["epoch"], head["version"]) == ("trip", "committed", 1, 3)
    assert head["begun_at"] == clock.now
    assert [each["type"] for each in dumped["events"]] == ["SagaBegun", "BodyCompleted", "SagaCommitted"]
    for each in dumped["events"]:
        row = {name: each[name] for name in ("version", "epoch", "at", "type", "schema_version", "data")}
        assert each["checksum"] == checksum("trip", *row.values())
    assert dumped["evidence"] == [
        {"operation": "flight", "call": "action", "key": "trip/flight/1", "output": {"email": "ada@example.com"}}
    ]
    assert dumped["documents"] == [{"kind": "letter", "key": "first", "data": {"email": "ada@example.com"}}]
    (request,) = dumped["requests"]
    assert (request["kind"], request["by"], request["data"]["output"]) == ("resolve", "ada", {"email": "ada@example.com"})


async def test_what_is_retired_is_gone_and_its_id_stays(store: SagaStore, clock: Clock) -> None:
    lease = await ended(store)
    await ended(store, "other")
    await store.retire("trip", 3, heard=await heard(store), at=1_700_000_000.0)
    for look in (store.read("trip"), store.dump("trip"), store.ask("trip", RequestKind.CANCEL, "ada", None)):
        with pytest.raises(RetiredError, match="2023-11-14"):
            await look
    with pytest.raises(RetiredError):
        await store.take("trip", owner=ME, ttl_s=4.0)
    with pytest.raises(RetiredError):
        await store.retire("trip", 3, heard=99, at=1.0)
    with pytest.raises(ConflictError):
        await store.create("trip", SagaBegun(Driver.BODY, "", None), stage=Stage.RUNNING, owner=ME, ttl_s=4.0)
    with pytest.raises(SupersededError):
        await store.append(lease, [Entry(4, 1, 6.0, BodyCompleted())], stage=Stage.COMMITTED)
    assert await store.renew([lease], 4.0) == frozenset()
    await store.release(lease)
    await store.note("trip", NOTE)
    assert (await store.notes("trip"), await store.requests({"trip": 0}), await store.documents("trip")) == ((), (), ())
    with pytest.raises(RetiredError):
        await store.put(Document("trip", "letter", "second", None))
    headline = await store.headline("trip")
    assert headline is not None
    assert headline.retired_at == 1_700_000_000.0
    assert [each.saga_id for each in await store.headlines()] == ["other"]
    assert len(await store.read("other")) == 3
    assert (len(await store.notes("other")), len(await store.documents("other"))) == (1, 1)


async def test_rule_6_nothing_is_retired_that_has_moved_on(store: SagaStore) -> None:
    await ended(store)
    number = await heard(store)
    with pytest.raises(SupersededError):
        await store.retire("trip", 2, heard=number, at=1.0)
    await store.ask("trip", RequestKind.CANCEL, "ada", None)
    with pytest.raises(SupersededError):
        await store.retire("trip", 3, heard=number, at=1.0)
    assert len(await store.read("trip")) == 3
    assert len(await store.requests({"trip": 0})) == 2
    with pytest.raises(UnknownSagaError):
        await store.retire("nothing", 1, heard=0, at=1.0)


# -- redaction ----------------------------------------------------------------------------------------------------------


def change(event: Event) -> Event:
    return SagaBegun(Driver.BODY, "", {"email": "[redacted]"}) if isinstance(event, SagaBegun) else event


def hide(value: Any) -> Any:
    return json.loads(json.dumps(value).replace("ada@example.com", "[redacted]"))


RECORDED = Entry(4, 1, 7.5, FieldsRedacted(("email",), "ada"))


async def test_what_is_rewritten_is_read_like_any_journal(store: SagaStore) -> None:
    lease = await ended(store)
    before = await store.read("trip")
    await store.rewrite("trip", RECORDED, change, hide)
    after = await store.read("trip")  # with checksums that hold
    assert after == (Entry(1, 1, before[0].at, change(before[0].event)), *before[1:], RECORDED)
    assert (await store.notes("trip"))[0].output == {"email": "[redacted]"}
    assert (await store.requests({"trip": 0}))[0].data == {"output": {"email": "[redacted]"}}
    assert (await store.documents("trip"))[0].data == {"email": "[redacted]"}
    assert "ada@example.com" not in json.dumps(await store.dump("trip"))
    with pytest.raises(SupersededError):  # whoever held it does not know
        await store.append(lease, [Entry(4, 1, 8.0, BodyCompleted())], stage=Stage.COMMITTED)


async def test_rule_6_nothing_is_rewritten_that_has_moved_on(store: SagaStore) -> None:
    await ended(store)
    before = await store.dump("trip")
    for version in (3, 5):
        with pytest.raises(SupersededError):
            await store.rewrite("trip", Entry(version, 1, 7.5, RECORDED.event), change, hide)
    assert await store.dump("trip") == before
