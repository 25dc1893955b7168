"""After a storm: everything that is under way lands, a person settles by the ledger what is left open, and the ledger judges."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from sagagraph.errors import BusyError, NotAllowedError
from sagagraph.saga.core import events as e
from sagagraph.saga.core.events import Resolution
from sagagraph.saga.core.state import Operation, Saga, operation_key
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.port import RequestKind
from tests.support.storm.judge import Fault, Journal, judge
from tests.support.storm.provider import Books
from tests.support.storm.worker import Batch

_AT_ONCE = 16
_ROUNDS = 4


@dataclass(frozen=True, slots=True)
class Report:
    """Of one batch. `before`, `after`: how many sagas ended how, before and after a person settled some."""

    before: dict[str, int] = field(default_factory=dict)
    after: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    """The journals and calls of what is at fault."""

    @classmethod
    def read(cls, path: Path) -> Report:
        told = json.loads(path.read_text())
        return cls(told["before"], told["after"], told["counts"], tuple(told["faults"]), tuple(told["evidence"]))

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)))


async def come_to_rest(batch: Batch, report: Path) -> None:
    """Leaves a `Report` at that path."""
    async with batch.engine() as engine:
        await _resume_all(batch, engine)
        before = await _journals(engine)
        faults = judge(before, batch.provider.books())
        resolved = 0
        for _round in range(_ROUNDS):
            resolved += await _resolve_all(batch, engine)
            await _resume_all(batch, engine)
        after = await _journals(engine)
        books = batch.provider.books()
        faults += [each for each in judge(after, books) if each not in faults]
    Report(
        _statuses(before),
        _statuses(after),
        _counts(after, books, resolved),
        tuple(map(str, faults)),
        _evidence(batch, after, faults),
    ).write(report)


async def _resume_all(batch: Batch, engine: Engine) -> None:
    """Until no call of theirs is under way any more."""
    await _stragglers(batch)
    limit = asyncio.Semaphore(_AT_ONCE)

    async def one(saga_id: str) -> None:
        async with limit:
            with suppress(BusyError):  # a reversal and what it reverses are resumed at once: one waits for the other
                await engine.resume(saga_id)

    await asyncio.gather(*(one(each.saga_id) for each in await engine.sagas()))
    await _stragglers(batch)


async def _stragglers(batch: Batch) -> None:
    while (rest_s := batch.provider.rest_s()) > 0:  # noqa: ASYNC110 - a file sets no event
        await asyncio.sleep(rest_s)


async def _journals(engine: Engine) -> list[Journal]:
    return [Journal.of(each.saga_id, await engine.journal(each.saga_id)) for each in await engine.sagas()]


# -- a person --------------------------------------------------------------------------------------------------------


async def _resolve_all(batch: Batch, engine: Engine) -> int:
    """A person says of what is named what the ledger shows; half of them by a request that somebody else must hear."""
    books, said = batch.provider.books(), 0
    for number, journal in enumerate(await _journals(engine)):
        shape = batch.shapes.get(journal.saga.id.partition("~")[0])
        if shape is None or not shape.is_resolved:
            continue
        for operation in journal.saga.in_order():
            truth = _truth(journal.saga, operation, books) if operation.waits_for_person else None
            if truth is None:
                continue
            said += 1
            output = {"receipt": operation_key(journal.saga.id, operation)} if truth is Resolution.LANDED else None
            if number % 2:
                data = {"operation": operation.id, "resolution": truth.value, "output": output}
                await engine.store.ask(journal.saga.id, RequestKind.RESOLVE, "person", data)
            else:
                with suppress(NotAllowedError):  # it went on by itself when another one was settled
                    await engine.resolve(journal.saga.id, operation.id, truth, output=output, by="person")
            break  # the books must be looked at again
    return said


def _truth(saga: Saga, operation: Operation, books: Books) -> Resolution | None:
    if saga.driver is e.Driver.REVERSAL:
        return Resolution.LANDED if books.undone[operation.spec.inputs["key"]] else Resolution.ABSENT
    key = operation_key(saga.id, operation)
    if books.landed[key] == 0:
        return Resolution.ABSENT
    if books.standing(key) == 0:
        return Resolution.COMPENSATED
    return Resolution.LANDED if books.standing(key) == 1 else None


# -- what is reported ------------------------------------------------------------------------------------------------


def _statuses(journals: Iterable[Journal]) -> dict[str, int]:
    return dict(Counter(each.status.value for each in journals if each.saga.driver is not e.Driver.REVERSAL))


def _counts(journals: list[Journal], books: Books, resolved: int) -> dict[str, int]:
    calls: Counter[str] = Counter()
    for (purpose, _key), times in books.calls.items():
        calls[f"{purpose.value} calls"] += times
    return {
        "operations": sum(len(each.saga.operations) for each in journals if each.saga.driver is not e.Driver.REVERSAL),
        "cancelled": sum(each.saga.cancel_by is not None for each in journals),
        "reversals": sum(each.saga.driver is e.Driver.REVERSAL for each in journals),
        "changes of hand": sum(each.changes_of_hand for each in journals),
        "events": sum(len(each.entries) for each in journals),
        **calls,
        "landings": books.landed.total(),
        "undoings": books.undone.total(),
        "resolved by a person": resolved,
    }


def _evidence(batch: Batch, journals: list[Journal], faults: list[Fault]) -> tuple[str, ...]:
    at_fault = {each.saga_id for each in faults}
    lines = [line for journal in journals if journal.saga.id in at_fault for line in _told(journal)]
    return (*lines, *batch.provider.told(at_fault))


def _told(journal: Journal) -> Iterable[str]:
    for spec in (each.spec for each in journal.saga.in_order()):
        yield f"{journal.saga.id} {spec.id} {spec.action!r} after {', '.join(spec.depends_on) or 'nothing'}; {spec.policy}"
    for entry in journal.entries:
        if not isinstance(entry.event, e.PlanAccepted):
            yield f"{journal.saga.id} {entry.version} epoch {entry.epoch} at {entry.at:.3f} {entry.event!r}"
