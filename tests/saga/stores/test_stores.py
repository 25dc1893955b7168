"""What every store promises, whatever it is made of."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from typing import Any

import pytest

from sagagraph.errors import BusyError, ConflictError, JournalError, SupersededError, UnknownSagaError
from sagagraph.saga.core.codec import Record, decode, encode
from sagagraph.saga.core.commands import CallKind
from sagagraph.saga.core.events import (
    BodyCompleted,
    Driver,
    Entry,
    Fault,
    LeaseTaken,
    OperationFailed,
    OperationPlanned,
    SagaBegun,
    SagaCommitted,
)
from sagagraph.saga.core.state import Stage
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.saga.stores.owner import is_known_dead, this_owner
from sagagraph.saga.stores.port import Document, Lease, Note, RequestKind, SagaStore
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import GuaranteeTerms, OperationSpec, reference
from sagagraph.workflow.policy import Backoff, BackoffMode, Catch, KeyFormat, Policy, Retry

from .conftest import Clock
from .every_event import KINDS, examples_of

pytestmark = pytest.mark.quick

BEGUN = SagaBegun(Driver.BODY, "", {"to": "Oslo"})
ME, OTHER = this_owner("me"), this_owner("other")


async def begin(store: SagaStore, saga_id: str = "trip", *, owner: str = ME, ttl_s: float = 4.0) -> Lease:
    return await store.create(saga_id, BEGUN, stage=Stage.RUNNING, owner=owner, ttl_s=ttl_s)


async def append(store: SagaStore, lease: Lease, version: int, *events: Any, stage: Stage = Stage.RUNNING) -> None:
    said = enumerate(events or (BodyCompleted(),), version + 1)
    await store.append(lease, [Entry(number, lease.epoch, 1_700_000_001.5, event) for number, event in said], stage=stage)


# -- beginning and appending ------------------------------------------------------------------------------------------


async def test_a_journal_begins_with_what_it_was_created_with(store: SagaStore, clock: Clock) -> None:
    assert await begin(store) == Lease("trip", 1, ME)
    assert await store.read("trip") == (Entry(1, 1, clock.now, BEGUN),)


async def test_whoever_begins_a_saga_need_not_read_its_journal(store: SagaStore) -> None:
    lease = await begin(store)
    if not isinstance(store, MemorySagaStore):
        assert (lease.first,) == await store.read("trip")
    taken = await store.take("trip", owner=ME, ttl_s=4.0)
    assert taken.first is None, "others may have written meanwhile"


async def test_a_second_beginning_is_a_conflict_and_changes_nothing(store: SagaStore) -> None:
    lease = await begin(store)
    with pytest.raises(ConflictError, match="trip") as raised:
        await begin(store, owner=OTHER)
    assert raised.value.saga_id == "trip"
    assert len(await store.read("trip")) == 1
    await append(store, lease, 1)  # and the first one still holds it


async def test_what_is_appended_is_read_in_order(store: SagaStore, clock: Clock) -> None:
    lease = await begin(store)
    await append(store, lease, 1, BodyCompleted(("a",)), OperationFailed("a", Fault("x", "y")))
    await append(store, lease, 3, SagaCommitted())
    assert await store.read("trip") == (
        Entry(1, 1, clock.now, BEGUN),
        Entry(2, 1, 1_700_000_001.5, BodyCompleted(("a",))),
        Entry(3, 1, 1_700_000_001.5, OperationFailed("a", Fault("x", "y"))),
        Entry(4, 1, 1_700_000_001.5, SagaCommitted()),
    )


async def test_sagas_do_not_see_each_others_journals(store: SagaStore) -> None:
    one, another = await begin(store, "one"), await begin(store, "another")
    await append(store, one, 1, BodyCompleted(("one",)))
    await append(store, another, 1, BodyCompleted(("another",)))
    assert (await store.read("one"))[1].event == BodyCompleted(("one",))
    assert len(await store.read("another")) == 2


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
async def test_rule_10_every_event_is_read_as_it_was_written(store: SagaStore, kind: type[Any]) -> None:
    written = examples_of(kind, 12)
    await append(store, await begin(store), 1, *written)
    assert [each.event for each in (await store.read("trip"))[1:]] == written


async def test_an_operation_keeps_its_policy_its_guarantees_and_its_condition(store: SagaStore) -> None:
    spec = OperationSpec(
        "T1",
        "book",
        ActionKind.PIVOT,
        {"room": reference("T0", "room", 0)},
        ("T0",),
        policy=Policy(
            Retry(5, ("rate_limit",)),
            Backoff(BackoffMode.FIXED, 1.5, 2.5, 0.25),
            12.5,
            (Catch(("sold_out",), "T2"),),
            KeyFormat.UUID,
        ),
        guarantees=GuaranteeTerms(60.0, True, True, True),
        has_probe=True,
        action_version=3,
    )
    lease = await begin(store)
    await append(store, lease, 1, OperationPlanned(spec))
    assert (await store.read("trip"))[1].event == OperationPlanned(spec)


def test_rule_10_a_field_that_an_older_release_did_not_write_reads_as_its_default() -> None:
    assert decode(Record("SagaBegun", 1, '{"driver": "body", "domain": "", "request": null}'), 0.0) == SagaBegun(
        Driver.BODY, "", None
    )
    assert "approved_by" not in encode(SagaBegun(Driver.BODY, "", None)).data


@pytest.mark.parametrize(
    "record",
    [
        Record("SagaInvented", 1, "{}"),
        Record("SagaBegun", 3, '{"driver": "body", "domain": "", "request": null}'),
        Record("SagaBegun", 1, '{"driver": "body", "domain": ""'),
        Record("SagaBegun", 1, '{"driver": "nobody", "domain": "", "request": null}'),
        Record("SagaBegun", 1, '{"domain": "", "request": null}'),
    ],
)
def test_rule_10_an_event_that_cannot_be_read_is_never_guessed(record: Record) -> None:
    with pytest.raises(JournalError, match=record.type):
        decode(record, 0.0)


# -- the fence --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [0, 2, 5])
async def test_rule_6_an_append_at_another_version_is_superseded(store: SagaStore, version: int) -> None:
    lease = await begin(store)
    with pytest.raises(SupersededError, match="trip"):
        await append(store, lease, version)
    assert len(await store.read("trip")) == 1


async def test_rule_6_an_append_of_an_older_epoch_is_superseded(store: SagaStore, clock: Clock) -> None:
    old = await begin(store)
    clock.now += 5
    new = await store.take("trip", owner=OTHER, ttl_s=4)
    for version in (1, 2):
        with pytest.raises(SupersededError):
            await append(store, old, version)
    await append(store, new, 2)
    journal = await store.read("trip")
    assert [(each.version, each.epoch, type(each.event)) for each in journal] == [
        (1, 1, SagaBegun),
        (2, 2, LeaseTaken),
        (3, 2, BodyCompleted),
    ]


async def test_rule_6_of_two_writers_at_one_version_one_wins(store: SagaStore) -> None:
    lease = await begin(store)
    ended = await asyncio.gather(*(append(store, lease, 1) for _writer in range(5)), return_exceptions=True)
    assert sorted(type(each).__name__ for each in ended) == ["NoneType"] + ["SupersededError"] * 4
    assert len(await store.read("trip")) == 2


async def test_rule_6_a_batch_that_is_refused_leaves_nothing(store: SagaStore) -> None:
    lease = await begin(store)
    with pytest.raises(SupersededError):
        await append(store, lease, 7, BodyCompleted(), SagaCommitted())
    await append(store, lease, 1, BodyCompleted(("x",)))
    assert [type(each.event) for each in await store.read("trip")] == [SagaBegun, BodyCompleted]


# -- leases ---------------------------------------------------------------------------------------------------------------


async def test_a_saga_that_somebody_holds_is_busy_until_the_lease_runs_out(store: SagaStore, clock: Clock) -> None:
    await begin(store, ttl_s=4)
    with pytest.raises(BusyError, match=r"4\.0 s more"):
        await store.take("trip", owner=OTHER, ttl_s=4)
    assert len(await store.read("trip")) == 1
    clock.now += 4
    assert await store.take("trip", owner=OTHER, ttl_s=4) == Lease("trip", 2, OTHER)
    assert (await store.read("trip"))[1] == Entry(2, 2, clock.now, LeaseTaken(OTHER))


async def test_the_owner_itself_may_take_it_again_at_once(store: SagaStore) -> None:
    await begin(store)
    assert (await store.take("trip", owner=ME, ttl_s=4)).epoch == 2


async def test_a_renewed_lease_lasts(store: SagaStore, clock: Clock) -> None:
    lease = await begin(store, ttl_s=4)
    clock.now += 3
    assert await store.renew([lease], 4) == {lease}
    clock.now += 3
    with pytest.raises(BusyError):
        await store.take("trip", owner=OTHER, ttl_s=4)
    await append(store, lease, 1)  # renewing is no entry of the journal


async def test_a_lease_that_has_run_out_holds_until_somebody_takes_it(store: SagaStore, clock: Clock) -> None:
    """Rule 6: clocks decide when a takeover is allowed, and nothing else."""
    lease = await begin(store)
    clock.now += 3600
    await append(store, lease, 1)
    assert await store.renew([lease], 4) == {lease}


async def test_a_released_saga_can_be_taken_at_once(store: SagaStore) -> None:
    lease = await begin(store)
    await store.release(lease)
    assert (await store.take("trip", owner=OTHER, ttl_s=4)).epoch == 2


async def test_a_superseded_holder_neither_renews_nor_releases(store: SagaStore, clock: Clock) -> None:
    old = await begin(store)
    clock.now += 5
    await store.take("trip", owner=OTHER, ttl_s=4)
    assert await store.renew([old], 100) == frozenset()
    await store.release(old)
    with pytest.raises(BusyError):
        await store.take("trip", owner=this_owner("third"), ttl_s=4)
    clock.now += 5
    await store.take("trip", owner=this_owner("third"), ttl_s=4)  # the 100 s were not granted


def somebody_dead() -> str:
    code = "from sagagraph.saga.stores.owner import this_owner; print(this_owner('x'))"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


async def test_rule_6_a_saga_whose_owner_is_known_to_be_dead_can_be_taken_at_once(store: SagaStore) -> None:
    dead = somebody_dead()
    assert is_known_dead(dead)
    await begin(store, owner=dead, ttl_s=3600)
    assert (await store.take("trip", owner=OTHER, ttl_s=4)).epoch == 2


def test_death_is_only_seen_in_this_pid_namespace_since_the_boot_of_this_machine() -> None:
    machine, namespace, pid, started, nonce = ME.split("|")
    assert not is_known_dead(ME)
    assert is_known_dead("|".join((machine, namespace, pid, "1", nonce)))  # the number was given to another process
    assert not is_known_dead("|".join(("elsewhere/boot", namespace, pid, "1", nonce)))
    assert not is_known_dead("|".join((machine, "1.1", pid, "1", nonce)))
    assert not is_known_dead("|".join((machine, namespace, "no number", started, nonce)))
    assert not is_known_dead("|".join((machine, pid, "1.00", nonce)))  # an earlier release's
    assert pid == str(os.getpid())


# -- beside the fence -------------------------------------------------------------------------------------------------


async def test_rule_6_evidence_is_kept_whoever_brings_it(store: SagaStore, clock: Clock) -> None:
    await begin(store)
    clock.now += 5
    await store.take("trip", owner=OTHER, ttl_s=4)
    notes = (
        Note("T1", CallKind.ACTION, "trip/T1/1", {"seat": "7C"}),
        Note("T1", CallKind.COMPENSATION, "trip/T1/1/undo/1", None),
        Note("T2", CallKind.VOID, "trip/T2/1", ["ä", 1.5]),
    )
    for note in notes:
        await store.note("trip", note)
    assert await store.notes("trip") == notes
    assert len(await store.read("trip")) == 2


async def test_rule_6_requests_are_kept_in_order_beside_the_fence(store: SagaStore) -> None:
    await begin(store)
    await begin(store, "another")
    first = await store.ask("trip", RequestKind.CANCEL, "Ada", None)
    await store.ask("another", RequestKind.CANCEL, "Eve", None)
    second = await store.ask("trip", RequestKind.RESOLVE, "Ada", {"operation": "T1", "resolution": "landed"})
    assert first.number < second.number
    assert await store.requests({"trip": 0}) == (first, second)
    assert await store.requests({"trip": first.number}) == (second,)
    assert await store.requests({"trip": second.number}) == ()
    assert (second.kind, second.by, second.data) == (RequestKind.RESOLVE, "Ada", {"operation": "T1", "resolution": "landed"})


async def test_a_document_is_written_once_and_read_in_order(store: SagaStore) -> None:
    await begin(store)
    first, other = Document("trip", "note", "b", {"text": "one"}), Document("trip", "note", "a", None)
    assert [await store.put(each) for each in (first, other)] == [first, other]
    assert await store.put(Document("trip", "note", "b", {"text": "two"})) == first
    elsewhere = [await store.put(Document(*named, 1)) for named in (("trip", "mark", "b"), ("not begun", "note", "b"))]
    assert await store.documents("trip") == (first, other, elsewhere[0])
    assert await store.documents("trip", "note", "nothing") == (first, other)
    assert await store.documents("not begun") == (elsewhere[1],)


async def test_of_two_documents_under_one_key_one_is_kept_for_both(store: SagaStore) -> None:
    kept = await asyncio.gather(*(store.put(Document("trip", "note", "k", number)) for number in range(10)))
    assert len({each.data for each in kept}) == 1
    assert await store.documents("trip") == (kept[0],)


async def test_headlines_show_the_latest_first(store: SagaStore, clock: Clock) -> None:
    lease = await begin(store, "one")
    clock.now += 1
    await begin(store, "two")
    await append(store, lease, 1, SagaCommitted(), stage=Stage.COMMITTED)
    await store.release(lease)
    two, one = await store.headlines()
    assert (two.saga_id, two.stage, two.version, two.owner, two.lease_until) == ("two", Stage.RUNNING, 1, ME, clock.now + 4)
    assert (one.saga_id, one.stage, one.version, one.owner) == ("one", Stage.COMMITTED, 2, None)
    assert (one.begun_at, one.updated_at) == (clock.now - 1, 1_700_000_001.5)
    assert await store.headline("one") == one
    assert await store.headline("three") is None


async def test_a_saga_that_does_not_exist_is_unknown(store: SagaStore) -> None:
    for attempt in (
        store.read("gone"),
        store.take("gone", owner=ME, ttl_s=4),
        store.ask("gone", RequestKind.CANCEL, "Ada", None),
    ):
        with pytest.raises(UnknownSagaError, match="gone"):
            await attempt
    with pytest.raises((SupersededError, UnknownSagaError)):
        await append(store, Lease("gone", 1, ME), 0)


# -- lists --------------------------------------------------------------------------------------------------------------


async def test_a_list_is_read_page_by_page_and_may_be_of_one_domain_or_of_ids_that_begin_alike(
    store: SagaStore, clock: Clock
) -> None:
    for number, name in enumerate(("a-1", "a-2", "b-1", "a%3")):
        clock.now += 1
        begun = SagaBegun(Driver.BODY, "travel" if number % 2 else "", None)
        await store.create(name, begun, stage=Stage.RUNNING, owner=ME, ttl_s=4.0)

    async def names(**asked: Any) -> list[str]:
        return [each.saga_id for each in await store.headlines(**asked)]

    assert await names() == ["a%3", "b-1", "a-2", "a-1"]
    assert await names(most=2) == ["a%3", "b-1"]
    assert await names(most=2, skip=3) == ["a-1"]
    assert await names(domain="travel") == ["a%3", "a-2"]
    assert await names(prefix="a-", most=5) == ["a-2", "a-1"]
    assert await names(prefix="a%", domain="travel") == ["a%3"]


async def test_what_has_ended_is_not_among_what_is_open_unless_somebody_asked_something_of_a_committed_saga(
    store: SagaStore, clock: Clock
) -> None:
    ends = {"committed": Stage.COMMITTED, "asked": Stage.COMMITTED, "undone": Stage.COMPENSATED, "open": Stage.REVERSING}
    for name, stage in ends.items():
        clock.now += 1
        await append(store, await begin(store, name), 1, SagaCommitted(), stage=stage)
    await store.ask("asked", RequestKind.CANCEL, "ann", None)
    await store.ask("undone", RequestKind.CANCEL, "ann", None)
    assert [each.saga_id for each in await store.open_headlines()] == ["open", "asked"]
    await store.retire("asked", 2, heard=10**6, at=clock.now)
    assert [each.saga_id for each in await store.open_headlines()] == ["open"]
