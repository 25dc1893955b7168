"""Making personal fields of a finished saga unreadable."""

from __future__ import annotations

import json
import typing
from pathlib import Path
from typing import Any

import pytest

from sagagraph import Call, ContextSlice, Engine, Verdict
from sagagraph.errors import ConflictError, InvalidInputError, NotAllowedError, StoreError
from sagagraph.saga.core import events as e
from sagagraph.saga.core.codec import encode
from sagagraph.saga.core.commands import CallKind
from sagagraph.saga.core.evolve.evolve import fold
from sagagraph.saga.core.redaction import REDACTED, Redaction, checked_fields, redaction_of
from sagagraph.saga.core.state import operation_key
from sagagraph.saga.stores.port import Note, RequestKind
from sagagraph.saga.stores.sqlite import SqliteSagaStore
from sagagraph.validators.verdict import Violation
from sagagraph.workflow.operation import OperationSpec, reference

from .service import Service, answers, lands_but_is_lost, quick
from .story import spec
from .workers import OpenEngine, on_every_store

SECRET = "ada.lovelace@example.com"
KIND = {"booked": "flight", "traveller": {"email": SECRET}}


class Greets:
    name = "greets"
    version = 1

    def validate(self, artifact: Any, context: ContextSlice) -> Verdict:
        return Verdict.of([])


async def booked(engine: Engine, service: Service, saga_id: str = "trip", *, email: str = SECRET, **pivot: Any) -> None:
    service.on("do flight", answers({"booked": "flight", "traveller": {"email": email}}))
    async with engine.saga(saga_id) as saga:
        await saga.run(service.action("flight", validators=[Greets()]), {"to": "Oslo", "email": email})
        if pivot:
            await saga.run(service.action("pay", undoable=False, kind="pivot", **pivot), {"payer": {"email": email}})


# -- what is hidden, and what is not ------------------------------------------------------------------------------------


@on_every_store
async def test_it_is_unreadable_everywhere_and_the_fold_is_unchanged(engine: Engine, service: Service) -> None:
    await booked(engine, service)
    await engine.store.note("trip", Note("flight-1", CallKind.ACTION, "trip/flight-1/1", KIND))
    before = await engine.load("trip")
    view = await engine.redact("trip", ["email"], by="ada")
    after = await engine.load("trip")
    assert SECRET not in json.dumps(await engine.store.dump("trip"))
    assert view.redacted == ("email",)
    (operation,) = view.operations
    assert operation.inputs == {"to": "Oslo", "email": REDACTED}
    assert operation.output == {"booked": "flight", "traveller": {"email": REDACTED}}
    assert (after.stage, after.version, after.plan) == (before.stage, before.version + 1, before.plan)
    for old, new in zip(before.in_order(), after.in_order(), strict=True):
        assert operation_key("trip", old) == operation_key("trip", new)
        assert (old.status, old.attempts, old.ended_at, old.verdicts) == (new.status, new.attempts, new.ended_at, new.verdicts)
    last = (await engine.journal("trip"))[-1].event
    assert last == e.FieldsRedacted(("email",), "ada")


@on_every_store
async def test_it_may_be_repeated_and_go_on_to_other_fields(engine: Engine, service: Service) -> None:
    await booked(engine, service)
    await engine.redact("trip", ["email"])
    await engine.redact("trip", ["email"])
    assert (await engine.redact("trip", ["to"])).redacted == ("email", "to")
    assert "Oslo" not in json.dumps(await engine.store.dump("trip"))


@on_every_store
async def test_replay_says_what_it_cannot_judge_any_more(engine: Engine, service: Service) -> None:
    await booked(engine, service)
    assert (await engine.replay("trip")).validators == 1
    await engine.redact("trip", ["email"])
    replayed = await engine.replay("trip")
    assert (replayed.validators, replayed.differences) == (0, ())
    assert "flight-1" in replayed.unchecked[0]
    assert "redacted" in replayed.unchecked[0]


def test_sentences_that_quote_it_are_hidden_and_other_words_are_not() -> None:
    fault = e.Fault("sold_out", f"no seat for {SECRET}, not even for x{SECRET}")
    events = (
        e.SagaBegun(e.Driver.BODY, "", {"people": [{"email": SECRET, "seat": "1"}]}),
        e.OperationFailed("flight", fault),
        e.SagaTurnedBack(SECRET, "flight"),
        e.PlanFoundInfeasible(("1 traveller", f"{SECRET} cannot fly")),
    )
    hides = redaction_of(["email", "seat"], events, ())
    begun, failed, turned, infeasible = (json.loads(encode(hides.event(each)).data) for each in events)
    assert begun["request"] == {"people": [{"email": REDACTED, "seat": REDACTED}]}
    assert failed["fault"] == {"code": "sold_out", "message": f"no seat for {REDACTED}, not even for x{SECRET}"}
    assert turned == {"cause": REDACTED, "operation": "flight"}
    assert infeasible["reasons"] == ["1 traveller", f"{REDACTED} cannot fly"]


def test_references_between_operations_stay() -> None:
    inputs = {"email": reference("flight", "contact"), "phone": {"home": reference("flight", "home"), "work": "555-0100"}}
    event = e.OperationPlanned(spec("hotel", inputs=inputs))
    hidden = Redaction(frozenset({"email", "phone"})).event(event)
    assert isinstance(hidden, e.OperationPlanned)
    assert hidden.operation.inputs == {
        "email": reference("flight", "contact"),
        "phone": {"home": reference("flight", "home"), "work": REDACTED},
    }


def test_a_verdict_keeps_its_judgement_and_its_certificate() -> None:
    verdict = {
        "verdict": "INVALID",
        "violations": [{"code": "AGE", "message": f"{SECRET} is too young", "evidence": {"email": SECRET, "age": 9}}],
        "certificate": {"validator": "age", "version": 1, "artifact_hash": "a", "slice_hash": "b", "slice_tokens": 3},
    }
    event = e.PlanJudged("hash", verdict)
    hidden = redaction_of(["email"], [event], ()).event(event)
    assert isinstance(hidden, e.PlanJudged)
    violation = verdict["violations"][0]
    assert hidden.verdict == {
        **verdict,
        "violations": [{**violation, "message": f"{REDACTED} is too young", "evidence": {"email": REDACTED, "age": 9}}],
    }


def test_every_free_value_of_every_event_is_looked_into() -> None:
    """A field of any type is a payload: a new one must be known to the redaction as soon as there is one."""
    hides = Redaction(frozenset({"email"}))
    for kind in typing.get_args(e.Event):
        for name, hint in typing.get_type_hints(kind).items():
            if name in ("operation", "operations"):
                continue
            if Any in (hint, *typing.get_args(hint)):
                content: Any = {"email": SECRET}
                if typing.get_origin(hint) is dict:
                    content = {"flight": content}
                elif typing.get_origin(hint) is tuple:
                    content = [content]
                if name in ("verdict", "verdicts"):
                    content = {"violations": [{"code": "X", "scope": content}]}
                assert SECRET not in json.dumps(hides._structure({name: content})), f"{kind.__name__}.{name}"
    assert typing.get_type_hints(OperationSpec)["inputs"] is Any


# -- refused ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fields", [[], "email", [""], ["operation"], ["email", "key"], ["$from"], ["verdict"], ["message"]])
def test_names_that_journals_are_made_of_are_refused(fields: Any) -> None:
    with pytest.raises(InvalidInputError, match="fields"):
        checked_fields(fields)


@on_every_store
async def test_a_name_that_is_nowhere_is_refused_and_changes_nothing(engine: Engine, service: Service) -> None:
    await booked(engine, service)
    before = await engine.store.dump("trip")
    with pytest.raises(InvalidInputError, match="'emial'"):
        await engine.redact("trip", ["email", "emial"])
    assert await engine.store.dump("trip") == before


@on_every_store
async def test_rule_4_a_saga_that_is_open_keeps_what_undoing_it_needs(engine: Engine, service: Service) -> None:
    service.on("do hotel", lands_but_is_lost)
    with pytest.raises(Exception, match="held"):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("hotel"), {"email": SECRET})
    with pytest.raises(NotAllowedError, match="it is held, and that needs its data"):
        await engine.redact("trip", ["email"])
    await booked(engine, service, "asked")
    await engine.store.ask("asked", RequestKind.CANCEL, "ada", None)
    with pytest.raises(NotAllowedError, match="nobody has seen to that"):
        await engine.redact("asked", ["email"])


@on_every_store
async def test_rule_5_what_was_redacted_is_not_undone_any_more(engine: Engine, service: Service) -> None:
    async def refund(request: Any, result: Any, call: Call) -> Any:
        return await service._answer("refund", call, lambda: service._undo(call))

    await booked(engine, service, reverse=refund, policy=quick())
    await engine.redact("trip", ["email"])
    for preview in (True, False):
        with pytest.raises(NotAllowedError, match=r"redacted \(email\)"):
            await engine.cancel("trip", preview=preview)
    await engine.store.ask("trip", RequestKind.CANCEL, "an older release", None)
    await engine._see_to("trip", (await engine.store.requests({"trip": 0}))[-1].number)
    assert any(isinstance(each.event, e.RequestRefused) for each in await engine.journal("trip"))
    assert "refund" not in service.calls
    with pytest.raises(ConflictError, match="was redacted"):
        await booked(engine, service, reverse=refund, policy=quick())


@on_every_store
async def test_the_saga_that_undid_it_is_redacted_with_it(engine: Engine, service: Service) -> None:
    async def refund(request: Any, result: Any, call: Call) -> Any:
        return await service._answer("refund", call, lambda: service._undo(call))

    await booked(engine, service, reverse=refund, policy=quick())
    await engine.cancel("trip")
    assert SECRET in json.dumps(await engine.store.dump("trip~reversal"))
    await engine.redact("trip", ["email"])
    for name in ("trip", "trip~reversal"):
        assert SECRET not in json.dumps(await engine.store.dump(name))
        assert (await engine.replay(name)).differences == ()


# -- gone from the disk -------------------------------------------------------------------------------------------------


async def test_the_bytes_are_gone_from_the_file_and_from_its_log(
    open_engine: OpenEngine, service: Service, tmp_path: Path
) -> None:
    path = tmp_path / "sagas.db"
    async with open_engine(await SqliteSagaStore.open(path)) as engine:
        for number in range(40):  # so that pages are split, and parts of them moved about
            name = f"trip {number * 7 % 40}"
            await booked(engine, service, name, email=SECRET if number in (11, 12, 30) else f"somebody{number}@example.com")
        holders = [name for name in map("trip {}".format, range(40)) if SECRET in json.dumps(await engine.store.dump(name))]
        assert len(holders) == 3
        assert _occurs(path)
        for name in holders:
            await engine.redact(name, ["email"])
        assert not _occurs(path)  # while the store is open
    assert not _occurs(path)


async def test_an_older_file_forgets_too(open_engine: OpenEngine, service: Service, tmp_path: Path) -> None:
    """Written by a connection that did not overwrite what it moved."""
    path = tmp_path / "sagas.db"
    store = await SqliteSagaStore.open(path)
    store._connection.execute("PRAGMA secure_delete = OFF")
    async with open_engine(store) as engine:
        for number in range(60):
            name = f"trip {number * 7 % 60}"
            await booked(engine, service, name, email=f"{'x' * (number * 5)} {SECRET}" if number % 9 == 4 else "nobody")
    async with open_engine(await SqliteSagaStore.open(path)) as engine:
        for headline in await engine.sagas():
            if SECRET in json.dumps(await engine.store.dump(headline.saga_id)):
                await engine.redact(headline.saga_id, ["email"])
        assert not _occurs(path)


async def test_a_log_that_another_process_reads_is_said_to_hold_it_still(
    open_engine: OpenEngine, service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sagagraph.saga.stores.sqlite.BUSY_TIMEOUT_S", 0.2)
    path = tmp_path / "sagas.db"
    other = await SqliteSagaStore.open(path)
    async with open_engine(await SqliteSagaStore.open(path)) as engine:
        await booked(engine, service)
        other._connection.execute("BEGIN")
        other._connection.execute("SELECT * FROM events").fetchone()
        with pytest.raises(StoreError, match="another process uses it"):
            await engine.redact("trip", ["email"])
        other._connection.execute("ROLLBACK")
        await engine.redact("trip", ["email"])
        assert not _occurs(path)
    await other.close()


def _occurs(path: Path) -> bool:
    files = [each for each in path.parent.iterdir() if each.name.startswith(path.name)]
    assert files
    return any(SECRET.encode() in each.read_bytes() for each in files)


def test_the_fold_of_a_redaction_is_a_list_of_names() -> None:
    begun = e.Entry(1, 1, 1.0, e.SagaBegun(e.Driver.BODY, "", None))
    saga = fold("trip", [begun, *(e.Entry(n, 1, 1.0, e.FieldsRedacted((f, "x"), "ada")) for n, f in ((2, "email"), (3, "name")))])
    assert saga.redacted == ("email", "x", "name")
    assert Violation(code="X", message="y").scope == {}
