"""What a ledger says of a saga that is at rest: nothing twice, nothing left over, and what is left open is named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sagagraph.saga.core import events as e
from sagagraph.saga.core.call import Purpose
from sagagraph.saga.core.events import Via
from sagagraph.saga.core.evolve.evolve import fold
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.reversals import original_id
from sagagraph.saga.core.state import Operation, Saga, Stage
from sagagraph.saga.core.status import OperationStatus, SagaStatus
from tests.support.storm.provider import Books

_NOTHING_STANDS = frozenset(
    {
        OperationStatus.PLANNED,
        OperationStatus.FAILED,
        OperationStatus.VOIDED,
        OperationStatus.SKIPPED,
        OperationStatus.COMPENSATED,
    }
)
_AT_REST = frozenset({SagaStatus.COMMITTED, SagaStatus.COMPENSATED, SagaStatus.HELD, SagaStatus.STUCK})
_INTENTS: dict[type, tuple[Purpose, ...]] = {
    e.AttemptStarted: (Purpose.ACTION, Purpose.COMPENSATION),  # an attempt of a reversal undoes something
    e.CompensationStarted: (Purpose.COMPENSATION,),
    e.VoidStarted: (Purpose.VOID,),
}


@dataclass(frozen=True, slots=True)
class Fault:
    saga_id: str
    operation_id: str
    what: str

    def __str__(self) -> str:
        return f"{self.saga_id} {self.operation_id}: {self.what}".replace(" :", ":")


@dataclass(frozen=True, slots=True)
class Journal:
    """One saga's journal and what it says."""

    saga: Saga
    entries: Sequence[e.Entry]

    @classmethod
    def of(cls, saga_id: str, entries: Sequence[e.Entry]) -> Journal:
        return cls(fold(saga_id, entries), entries)

    @property
    def status(self) -> SagaStatus:
        return status_of(self.saga)

    @property
    def named(self) -> tuple[str, ...]:
        return tuple(each.id for each in self.saga.in_order() if each.waits_for_person)

    @property
    def changes_of_hand(self) -> int:
        """How often another engine than the one before took it."""
        owners = [entry.event.owner for entry in self.entries if isinstance(entry.event, e.LeaseTaken)]
        return sum(one != other for one, other in pairwise(owners))

    def keys(self, operation: str) -> tuple[str, ...]:
        """Under which its effects may have landed."""
        started = (each.event for each in self.entries if isinstance(each.event, e.AttemptStarted))
        return tuple(dict.fromkeys(each.key for each in started if each.operation == operation))


def judge(journals: Sequence[Journal], books: Books) -> list[Fault]:
    """`journals`: all of them that the ledger knows of."""
    faults = [*_without_intent(journals, books)]
    by_id = {each.saga.id: each for each in journals}
    for each in journals:
        if each.saga.driver is not e.Driver.REVERSAL:
            faults += _faults(each, by_id.get(each.saga.reversal or ""), books)
        faults += _openness(each)
    return faults


def _without_intent(journals: Sequence[Journal], books: Books) -> Iterator[Fault]:
    """Every call has an intent of its own in a journal, and every landing a call's key (docs/protocol.md rules 1 and 6)."""
    intents: Counter[tuple[Purpose, str]] = Counter()
    homes: dict[str, tuple[str, str]] = {}
    for journal in journals:
        for event in (each.event for each in journal.entries):
            if isinstance(event, e.AttemptStarted | e.CompensationStarted | e.VoidStarted):
                intents.update((purpose, event.key) for purpose in _INTENTS[type(event)])
                if isinstance(event, e.VoidStarted) and _is_voided_by_its_compensation(journal, event.operation):
                    intents[Purpose.COMPENSATION, event.key] += 1
                homes[event.key] = (journal.saga.id, event.operation)
    for (purpose, key), calls in books.calls.items():
        if purpose is not Purpose.PROBE and calls > intents[purpose, key]:
            what = f"{calls} calls of its {purpose.value} under {key}, but {intents[purpose, key]} intents"
            yield Fault(*homes.get(key, ("unknown", "unknown")), what)
    for key in (books.landed | books.undone).keys() - homes.keys():
        yield Fault("unknown", "unknown", f"the ledger has an effect under {key}, of which no journal knows")


def _is_voided_by_its_compensation(journal: Journal, operation: str) -> bool:
    return journal.saga.operations[operation].spec.guarantees.void_compensates


def _faults(journal: Journal, reversal: Journal | None, books: Books) -> Iterator[Fault]:
    saga = journal.saga
    undoings = {original_id(each.id): each.status for each in reversal.saga.in_order()} if reversal else {}
    lasting = {each.partition(":")[0] for each in saga.residue}
    for operation in saga.in_order():
        if not operation.has_effect:
            continue
        keys = journal.keys(operation.id)
        what = [*_balance(keys, books)]
        if not operation.waits_for_person:
            expected = _expected(saga, operation, undoings.get(operation.id), lasts=operation.id in lasting)
            what += _standing(keys, books, expected)
            if saga.stage is Stage.COMMITTED and not operation.succeeded and operation.via is not Via.PERSON:
                what.append("but its saga committed")
        yield from (Fault(saga.id, operation.id, f"{journal.status.value}, {operation.status.value}, {each}") for each in what)


def _balance(keys: tuple[str, ...], books: Books) -> Iterator[str]:
    for key in keys:
        if books.undone[key] > books.landed[key]:
            yield f"landed {books.landed[key]} times and was undone {books.undone[key]} times under {key}"


def _expected(saga: Saga, operation: Operation, undoing: OperationStatus | None, *, lasts: bool) -> tuple[int, ...]:
    """How many of it may stand. `undoing` is how far a reversal has come with it."""
    if operation.status is OperationStatus.SUCCEEDED:
        if saga.stage is Stage.REVERSING and undoing not in (None, OperationStatus.PLANNED):
            return (0,) if undoing is OperationStatus.SUCCEEDED else (0, 1)
        return (0,) if saga.stage is Stage.COMPENSATED and not lasts else (1,)
    if operation.status in _NOTHING_STANDS or saga.stage in (Stage.COMMITTED, Stage.COMPENSATED):
        return (0,)
    return (0, 1)  # in doubt, and blocked by one that is named


def _standing(keys: tuple[str, ...], books: Books, expected: tuple[int, ...]) -> Iterator[str]:
    landed = sum(books.landed[key] for key in keys)
    standing = sum(books.standing(key) for key in keys)
    if landed > 1:
        yield f"landed {landed} times under {', '.join(keys)}"
    if standing not in expected:
        yield f"{standing} of it stand"


def _openness(journal: Journal) -> Iterator[Fault]:
    """A saga that has not ended says what it waits for."""
    if journal.status not in _AT_REST:
        yield Fault(journal.saga.id, "", f"it is {journal.status.value} and did not come to rest")
    elif not journal.status.is_final and not journal.named and not journal.saga.reversal_hold:
        yield Fault(journal.saga.id, "", f"it is {journal.status.value} and names nothing")
