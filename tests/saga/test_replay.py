"""`Engine.replay` and `Engine.state_at`: a journal is read once more (docs/protocol.md rule 10)."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sagagraph import ContextSlice, Engine, Verdict, Violation
from sagagraph.errors import InvalidInputError, JournalError, OperationFailedError, UnknownSagaError
from sagagraph.saga.core import events as e
from sagagraph.saga.core.codec import decode, encode
from sagagraph.saga.core.events import Entry
from sagagraph.saga.core.state import Stage
from sagagraph.saga.core.status import OperationStatus, SagaStatus
from sagagraph.saga.engine.maintenance.replay import Difference, refold, replay, turns
from tests.support.replaying import Witness, check_replays

from .service import A_DAY, Service, is_lost, lands_but_is_lost
from .workers import OpenEngine, on_every_store

pytestmark = pytest.mark.quick


class Limit:
    """INVALID above `most` nights."""

    name = "limit"
    version = 1

    def __init__(self, most: int) -> None:
        self.most = most

    def validate(self, artifact: Any, context: ContextSlice) -> Verdict:
        nights = context.facts["inputs"]["nights"]
        return Verdict.of([Violation(code="TOO_LONG", message=f"{nights} nights")] if nights > self.most else [])


async def stayed(engine: Engine, service: Service, nights: int = 3, *, most: int = 5) -> None:
    async with engine.saga("trip") as saga:
        await saga.run(service.action("flight"))
        await saga.run(service.action("hotel", validators=[Limit(most)]), {"nights": nights})


# -- no difference ------------------------------------------------------------------------------------------------------


@on_every_store
async def test_rule_10_a_journal_replays_to_the_same_state_and_the_same_verdicts(engine: Engine, service: Service) -> None:
    await stayed(engine, service)
    replayed = await engine.replay("trip")
    assert (replayed.saga_id, replayed.status, replayed.validators) == ("trip", SagaStatus.COMMITTED, 1)
    assert replayed.versions == len(await engine.journal("trip"))
    assert (replayed.differences, replayed.unchecked) == ((), ())


@on_every_store
async def test_a_verdict_against_is_made_again_too(engine: Engine, service: Service) -> None:
    with pytest.raises(OperationFailedError):
        await stayed(engine, service, nights=9)
    replayed = await engine.replay("trip")
    assert (replayed.status, replayed.validators, replayed.differences) == (SagaStatus.COMPENSATED, 1, ())


@on_every_store
async def test_keys_of_repetitions_voids_and_compensations_are_as_they_were_minted(engine: Engine, service: Service) -> None:
    service.on("do flight", lands_but_is_lost)
    service.on("do train", is_lost)
    service.on("undo flight", lands_but_is_lost)
    with pytest.raises(ValueError, match="no"):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight", dedup=A_DAY))
            with pytest.raises(OperationFailedError):
                await saga.run(service.action("train", void=True))
            raise ValueError("no")
    kinds = {type(each.event) for each in await engine.journal("trip")}
    assert {e.AttemptStarted, e.VoidStarted, e.CompensationStarted} <= kinds
    assert (await engine.replay("trip")).differences == ()


@on_every_store
async def test_replaying_writes_nothing(engine: Engine, service: Service) -> None:
    await stayed(engine, service)
    before = await engine.journal("trip")
    await engine.replay("trip")
    await engine.state_at("trip", 2)
    assert await engine.journal("trip") == before


# -- differences --------------------------------------------------------------------------------------------------------


async def test_a_validator_that_judges_otherwise_now_is_a_difference(open_engine: OpenEngine, service: Service) -> None:
    async with open_engine() as engine:
        await stayed(engine, service)
    async with open_engine(actions=[service.action("flight"), service.action("hotel", validators=[Limit(2)])]) as engine:
        (difference,) = (await engine.replay("trip")).differences
    assert "limit 1 on hotel-1" in difference.what
    assert (difference.journal["verdict"], difference.replay["verdict"]) == ("VALID", "INVALID")
    assert difference.replay["violations"] == ["TOO_LONG"]


@on_every_store
async def test_a_certificate_belongs_to_what_was_judged(engine: Engine, service: Service) -> None:
    await stayed(engine, service)
    entries = await engine.journal("trip")
    judged = next(each.version for each in entries if getattr(each.event, "verdicts", ()))
    forged = changed(entries, judged, output={"booked": "a palace"})
    (difference,) = (await replay("trip", forged, None, engine.find)).differences
    assert difference.journal["artifact"] != difference.replay["artifact"]
    assert difference.journal["slice"] == difference.replay["slice"]


@on_every_store
async def test_a_key_that_was_not_minted_for_its_operation_is_a_difference(engine: Engine, service: Service) -> None:
    await stayed(engine, service)
    entries = await engine.journal("trip")
    started = next(each.version for each in entries if isinstance(each.event, e.AttemptStarted))
    forged = changed(entries, started, key="another/flight-1/1")
    assert refold("trip", forged, None) == (Difference(started, "the key of flight-1", "another/flight-1/1", "trip/flight-1/1"),)


@on_every_store
async def test_a_head_that_says_something_else_is_a_difference(engine: Engine, service: Service) -> None:
    await stayed(engine, service)
    headline = await engine.store.headline("trip")
    assert headline is not None
    entries = await engine.journal("trip")
    assert refold("trip", entries, headline) == ()
    found = refold("trip", entries, replace(headline, stage=Stage.RUNNING, version=3))
    version = len(entries)
    assert found == (
        Difference(version, "the stage at the head", Stage.RUNNING, Stage.COMMITTED),
        Difference(version, "the version at the head", 3, version),
    )


async def test_a_state_that_its_writer_did_not_have_is_seen(open_engine: OpenEngine, service: Service) -> None:
    """The check that every test's journals go through can fail."""
    witness = Witness()
    async with open_engine(observers=[witness]) as engine:
        await stayed(engine, service)
        assert await check_replays(engine.store, witness.seen) > 3
        later = [Entry(each.version, each.epoch, each.at + 1, each.event) for each in await engine.journal("trip")]
        impure = [turn.after for turn in turns("trip", later)]
        with pytest.raises(AssertionError, match="folds to another state"):
            await check_replays(engine.store, impure)


# -- what cannot be checked --------------------------------------------------------------------------------------------


async def test_what_cannot_be_judged_again_is_said(open_engine: OpenEngine, service: Service) -> None:
    async with open_engine() as engine:
        await stayed(engine, service)
    newer = Limit(2)
    newer.version = 2
    async with open_engine(actions=[service.action("hotel", validators=[newer])]) as engine:
        replayed = await engine.replay("trip")
    assert replayed.differences == ()
    assert any("judged by limit 1, and would be by limit 2" in each for each in replayed.unchecked)


async def test_an_outage_of_a_validator_is_neither_a_verdict_nor_a_difference(open_engine: OpenEngine, service: Service) -> None:
    class Broken(Limit):
        def validate(self, artifact: Any, context: ContextSlice) -> Verdict:
            raise RuntimeError("out of memory")

    async with open_engine() as engine:
        await stayed(engine, service)
    async with open_engine(actions=[service.action("hotel", validators=[Broken(5)])]) as engine:
        replayed = await engine.replay("trip")
    assert (replayed.validators, replayed.differences) == (1, ())
    assert "out of memory" in replayed.unchecked[0]


# -- damage -------------------------------------------------------------------------------------------------------------


@on_every_store
async def test_a_journal_that_is_about_something_it_never_planned_is_damaged(engine: Engine, service: Service) -> None:
    await stayed(engine, service)
    entries = [each for each in await engine.journal("trip") if not isinstance(each.event, e.OperationPlanned)]
    renumbered = [Entry(number, each.epoch, each.at, each.event) for number, each in enumerate(entries, 1)]
    with pytest.raises(JournalError, match="flight-1"):
        refold("trip", renumbered, None)


async def test_a_flipped_byte_is_refused(journal_of_trip: Path) -> None:
    with closing(sqlite3.connect(journal_of_trip)) as connection, connection:
        flipped = "UPDATE events SET data = replace(data, 'hotel-1', 'motel-1') WHERE type = 'OperationPlanned'"
        assert connection.execute(flipped).rowcount == 2
    async with Engine.open(f"sqlite:///{journal_of_trip}") as engine:
        with pytest.raises(JournalError, match="was changed after it was written"):
            await engine.replay("trip")


@pytest.fixture
async def journal_of_trip(tmp_path: Path, service: Service, open_engine: OpenEngine) -> Path:
    path = tmp_path / "damaged.db"
    async with Engine.open(f"sqlite:///{path}") as engine, engine.saga("trip") as saga:
        await saga.run(service.action("flight"))
        await saga.run(service.action("hotel"))
    return path


# -- the state at a version ---------------------------------------------------------------------------------------------


@on_every_store
async def test_the_state_at_a_version_is_what_it_was_then(engine: Engine, service: Service) -> None:
    await stayed(engine, service)
    entries = await engine.journal("trip")
    planned = next(each.version for each in entries if isinstance(each.event, e.AttemptStarted))
    then = await engine.state_at("trip", planned)
    assert (then.status, [each.status for each in then.operations]) == (SagaStatus.RUNNING, [OperationStatus.STARTED])
    assert (await engine.state_at("trip", 1)).operations == ()
    assert await engine.state_at("trip", len(entries)) == await engine.status("trip")


@on_every_store
@pytest.mark.parametrize("version", [0, -1, 99])
async def test_a_version_that_there_never_was_is_named(engine: Engine, service: Service, version: int) -> None:
    await stayed(engine, service)
    with pytest.raises(InvalidInputError, match=rf"versions 1 to \d+, and no version {version}"):
        await engine.state_at("trip", version)
    with pytest.raises(UnknownSagaError):
        await engine.state_at("another", 1)


def changed(entries: tuple[Entry, ...], version: int, **changes: Any) -> tuple[Entry, ...]:
    """The journal with another event at `version`."""

    def other(event: e.Event) -> e.Event:
        record = encode(event)
        return decode(record._replace(data=json.dumps({**json.loads(record.data), **changes})), 0.0)

    return tuple(
        Entry(each.version, each.epoch, each.at, other(each.event)) if each.version == version else each for each in entries
    )
