"""Body: a saga that is driven by ordinary Python, inside an `async with` (door 1).

The body may be run again at any time: an operation that is in the journal returns its stored result instead of happening twice.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Collection, Iterable
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count
from types import TracebackType
from typing import Any, Final

from immutables import Map
from msgspec.structs import replace

from sagagraph.errors import (
    InvalidInputError,
    NotAllowedError,
    OperationFailedError,
    OperationHeldError,
    SagaClosedError,
    SagaGraphError,
    words_of,
)
from sagagraph.saga.core import commands as c
from sagagraph.saga.core.doubt.remedies import in_words, remedy_of
from sagagraph.saga.core.events import Driver, Fault, SagaBegun
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Operation, Saga, Stage
from sagagraph.saga.core.status import OperationStatus, SagaStatus
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.coordinator import Coordinator
from sagagraph.saga.engine.holder import SagaHolder
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.values import Json

PROGRAM: Final = SagaBegun(Driver.BODY, "", None)
"""The beginning of a saga whose body only its program has."""


@dataclass(frozen=True, slots=True)
class _Result:
    """A value and the operations that returned it. Keeping the value keeps its identity unique; True and None come from many."""

    value: object
    operations: list[str] = field(default_factory=list)


class BodySaga:
    """A saga driven by a body. Leaving the body commits; an exception compensates what committed, dependents first, and
    propagates. Entering a saga that had turned back finishes that, and raises what it failed with: the body does not run.

    Cancellation, Ctrl-C, SystemExit and errors of the machinery (`leaves_saga_open`) leave the saga open: run the body again.
    """

    def __init__(self, engine: SagaHolder, saga_id: str, begin: SagaBegun, *, wait: bool) -> None:
        self.id = checked_id(saga_id, "saga_id")
        self._begin = begin
        self._waits = wait
        self._engine = engine
        self._number = next(_NUMBERS)
        self._holding: AbstractAsyncContextManager[Coordinator] | None = None
        self._coordinator: Coordinator | None = None
        self._task: asyncio.Task[Any] | None = None
        """The one that runs the body. What other tasks of the body ask for may come in company."""
        self._forget()

    def _forget(self) -> None:
        """Reset the counters: in each run of the body, the same calls must get the same ids."""
        self._asked: set[str] = set()
        self._abandoned: set[str] = set()
        """What was asked for by a run that the body then cancelled."""
        self._outstanding: dict[str, str | None] = {}
        """Operation → its action, for those that were given no id."""
        self._counts: dict[str, int] = {}
        self._frontier: dict[str, None] = {}
        """Completed operations that no other completed one depends on: what a new one comes after by default."""
        self._numbered: set[str] = set()
        before = self._coordinator.saga if self._coordinator else None
        self._runs_again = before is not None and bool(before.operations)
        self._numbered_before = _numbered_in(before) if before else {}
        self._results: dict[int, _Result] = {}

    async def __aenter__(self) -> BodySaga:
        if self._holding is not None:
            raise NotAllowedError(f"saga {self.id!r} has been entered already", saga_id=self.id)
        holding = self._engine.hold(self.id, begin=self._begin, wait=self._waits)
        self._coordinator = await holding.__aenter__()
        self._task = asyncio.current_task()
        self._holding = holding
        self._forget()
        if not _takes_no_body(self._coordinator.saga):
            self._coordinator.asked = self._asked
            return self
        try:
            saga = await self._coordinator.until_quiet()
            raise end_of(saga)
        finally:
            await self._let_go()

    @property
    def status(self) -> SagaStatus:
        return status_of(self._running.saga)

    @property
    def _running(self) -> Coordinator:
        if self._coordinator is None:
            raise NotAllowedError(f"saga {self.id!r} has not been entered: use `async with engine.saga(...)`", saga_id=self.id)
        return self._coordinator

    # -- one operation -----------------------------------------------------------------------------------------------

    async def run(
        self,
        action: Action,
        request: object = None,
        *,
        id: str | None = None,  # noqa: A002 - the contract's name
        after: Iterable[object] | None = None,
    ) -> Any:
        """Run `action` as one operation of this saga and return its result; from the journal, if it is there.

        `after`: operation ids, or results of this saga's runs; by default everything that had completed before this call.

        Raises:
            OperationFailedError: it was refused or given up, and nothing of it stands.
            OperationHeldError: it is in doubt and waits for a person; the saga stays open.
            ConflictError: the journal has this id with another action or request.
            SagaClosedError: the saga was cancelled meanwhile.
        """
        self._engine.register_of_program(action)
        named = None if after is None else self._operations_of(after)
        passed = tuple(_PASSED.get().get(self._number, ())) if named is None else named
        spec = action.spec("", request, tuple(self._frontier) if named is None else named)
        name = self._named(action, id, spec.inputs, passed)
        self._asked.add(name)
        self._abandoned -= {name, *spec.depends_on}
        self._outstanding[name] = action.name if id is None else None
        self._running.give(name, action)
        try:
            planned = c.PlanOperation(replace(spec, id=name), action.formerly, passed, insists=named is not None)
            is_alone = len(self._outstanding) == 1 and asyncio.current_task() is self._task
            saga = await self._running.tell_until(planned, lambda state: is_over(state, name), operation=name, is_alone=is_alone)
        except asyncio.CancelledError:
            if action.kind is ActionKind.COMPENSATABLE:  # the body may go on without its result, so it must not commit unnoticed
                self._abandoned.add(name)
            raise
        finally:
            del self._outstanding[name]
        return self._result(saga, saga.operations[name], action)

    def _named(self, action: Action, given: str | None, inputs: Json, after: Collection[str]) -> str:
        if given is not None:
            if checked_id(given, "id") in self._outstanding:
                raise InvalidInputError(f"operation {given!r} is being run already", field="id")
            return given
        if action.name in self._outstanding.values():
            raise InvalidInputError(
                f"another run of {action.name!r} is outstanding: give each its own id=, to tell them apart when resumed",
                field="id",
            )
        own = self._numbered_name(action, inputs, after)
        self._numbered.add(own)
        return own if own in self._running.saga.operations else self._named_formerly(action) or own

    def _numbered_name(self, action: Action, inputs: Json, after: Collection[str]) -> str:
        """Return the name that this call had when the body ran before, or the next number.

        Which of two tasks asks first may differ from run to run, and must not decide which number each of them gets: what counts
        is the request, and what the operation comes after.
        """
        if before := self._numbered_before and self._numbered_before.get(_request_of(action.name, inputs)):
            alike = next((each for each in before if not _unlike(each, after)), None)
            found = alike or min(before, key=lambda each: _unlike(each, after))
            before.remove(found)
            return found.id
        number = self._counts.get(action.name, 0)
        while (own := f"{action.name}-{number + 1}") in self._numbered:
            number += 1
        self._counts[action.name] = number
        return own

    def _named_formerly(self, action: Action) -> str | None:
        """Return the next operation that an earlier release journalled for this call, under the action's name at that time."""
        for each in self._running.saga.in_order() if action.formerly else ():
            name = each.spec.action
            is_former = (name, each.spec.action_version) in action.formerly and re.fullmatch(rf"{re.escape(name)}-\d+", each.id)
            if is_former and each.id not in self._asked:
                return each.id
        return None

    def _operations_of(self, prerequisites: Iterable[object]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for each in prerequisites for name in self._operations_behind(each)))

    def _operations_behind(self, prerequisite: object) -> tuple[str, ...]:
        if isinstance(prerequisite, str) and prerequisite in self._running.saga.operations:
            return (prerequisite,)
        known = self._results.get(id(prerequisite))
        if known is None:
            raise InvalidInputError(
                f"{prerequisite!r} is neither an operation of saga {self.id!r} nor a result of one", field="after"
            )
        return tuple(known.operations)

    def _result(self, saga: Saga, operation: Operation, action: Action) -> Any:
        if operation.succeeded:
            result = action.result_from_json(operation.output)
            self._results.setdefault(id(result), _Result(result)).operations.append(operation.id)
            for each in operation.spec.depends_on:
                self._frontier.pop(each, None)
            self._frontier[operation.id] = None
            if self._runs_again:
                self._pass(operation)
            return result
        raise failure_of(saga, operation)

    def _pass(self, operation: Operation) -> None:
        """Note that this task, and what it starts from now on, comes after `operation`."""
        passed = _PASSED.get()
        earlier = passed.get(self._number, _NOTHING_PASSED)
        for each in operation.spec.depends_on:
            earlier = earlier.delete(each) if each in earlier else earlier
        _PASSED.set(passed.set(self._number, earlier.set(operation.id, None)))

    # -- the end of the body -----------------------------------------------------------------------------------------

    async def __aexit__(self, _kind: type[BaseException] | None, exc: BaseException | None, _trace: TracebackType | None) -> None:
        if self._holding is None:
            return
        try:
            if exc is None:
                await self._complete()
            elif not leaves_open(exc) or self._running.saga.stage is not Stage.RUNNING:
                await self._turn_back(exc)
        finally:
            await self._let_go()

    async def _let_go(self) -> None:
        if self._number in (passed := _PASSED.get()):
            _PASSED.set(passed.delete(self._number))
        holding, self._holding = self._holding, None
        if holding is not None:
            await holding.__aexit__(None, None, None)

    async def _complete(self) -> None:
        running = self._running
        running.asked = None
        await running.tell(c.CompleteBody(frozenset(self._asked - self._abandoned)))
        saga = await running.until_quiet()
        if saga.stage is Stage.COMMITTED:
            return
        raise open_end_of(saga)

    async def _turn_back(self, exc: BaseException) -> None:
        if not isinstance(exc, Exception):
            return  # the process is being told to stop now; the saga can be resumed
        self._running.asked = None
        try:
            await self._running.tell(c.RaiseBody(Fault(type(exc).__name__, words_of(exc) or type(exc).__name__)))
            saga = await self._running.until_quiet()
        except SagaGraphError as failure:
            exc.add_note(f"while compensating: {failure}")
        else:
            exc.add_note(f"saga {self.id!r} is {status_of(saga).value}")


_NUMBERS = count(1)
_NOTHING_PASSED: Map[str, None] = Map()
_NOWHERE: Map[int, Map[str, None]] = Map()
_PASSED = ContextVar("sagagraph_passed", default=_NOWHERE)
"""Body → what the running task has for certain passed in it: other tasks of the body may be ahead or behind by chance."""


def _numbered_in(saga: Saga) -> dict[tuple[str, str], list[Operation]]:
    """Return the operations that earlier runs of the body named by a number, by what they ask for."""
    found: dict[tuple[str, str], list[Operation]] = {}
    for each in saga.in_order():
        if each.id.removeprefix(f"{each.spec.action}-").isdecimal():
            found.setdefault(_request_of(each.spec.action, each.spec.inputs), []).append(each)
    return found


def _request_of(action: str, inputs: Json) -> tuple[str, str]:
    return action, json.dumps(inputs, sort_keys=True)


def _unlike(operation: Operation, after: Collection[str]) -> int:
    return len(set(operation.spec.depends_on).symmetric_difference(after))


def failure_of(saga: Saga, operation: Operation) -> SagaGraphError:
    """Return the reason why `operation`, which is over, returned nothing."""
    fault = operation.fault
    why = operation.hold or (fault.message if fault else operation.status.value)
    ids = {"saga_id": saga.id, "operation_id": operation.id}
    if operation.status in _BLOCKED and saga.stage is Stage.RUNNING:
        last = f"; the last call ended with {fault.message}" if fault and fault.message not in why else ""
        remedy = remedy_of(saga, operation)
        what_next = f" Resolve it, or run again later.{in_words(remedy)}" if remedy else "; resolve it, or run again later"
        return OperationHeldError(f"saga {saga.id!r}: operation {operation.id!r} is held ({why}{last}){what_next}", **ids)
    if operation.failed or operation.status is OperationStatus.SKIPPED or saga.stage is Stage.RUNNING:
        return OperationFailedError(f"saga {saga.id!r}: operation {operation.id!r} failed: {why}", **ids)
    return SagaClosedError(f"saga {saga.id!r} is {status_of(saga).value}: {saga.turned_back_by or 'cancelled'}", **ids)


def _takes_no_body(saga: Saga) -> bool:
    return saga.stage in (Stage.COMPENSATED, Stage.COMPENSATING, Stage.REVERSING) or saga.cancel_by is not None


def end_of(saga: Saga) -> SagaGraphError:
    """Return what a quiet saga that turned back failed with: the operation's error, if the body had let that through."""
    status, fault = status_of(saga), saga.body_fault
    if status in (SagaStatus.HELD, SagaStatus.STUCK):
        return open_end_of(saga)
    for each in saga.in_order() if fault else ():
        if each.failed and fault and str(failure := failure_of(saga, each)) == fault.message:
            return failure
    why = f"{fault.code}: {fault.message}" if fault else saga.turned_back_by or "cancelled"
    return SagaClosedError(f"saga {saga.id!r} is {status.value} ({why}): begin another id", saga_id=saga.id)


def open_end_of(saga: Saga) -> SagaGraphError:
    """Return the reason why a quiet saga whose body has ended has not committed."""
    status = status_of(saga)
    named = ", ".join(f"{each.id} ({each.hold})" for each in saga.in_order() if each.hold)
    kind = OperationHeldError if status in (SagaStatus.HELD, SagaStatus.STUCK) else SagaClosedError
    return kind(f"saga {saga.id!r} is {status.value}: {named or saga.turned_back_by}", saga_id=saga.id)


def leaves_open(exc: BaseException) -> bool:
    if isinstance(exc, ExceptionGroup):  # raised by a TaskGroup
        return all(leaves_open(each) for each in exc.exceptions)
    return not isinstance(exc, Exception) or (isinstance(exc, SagaGraphError) and exc.leaves_saga_open)


def checked_id(given: str, field: str) -> str:
    """Check an id, which becomes text in journals, keys and other people's ledgers."""
    if not isinstance(given, str) or not given:
        raise InvalidInputError("an id is a text that is not empty", field=field)
    try:
        given.encode()
    except UnicodeEncodeError as exc:
        raise InvalidInputError(f"{given!r} is not valid Unicode", field=field) from exc
    return given


def is_over(saga: Saga, name: str) -> bool:
    """Tell whether nothing more will become of this operation going forward, or the saga no longer goes forward."""
    operation = saga.operations.get(name)
    if operation is None or operation.in_flight:
        return False
    if saga.stage is not Stage.RUNNING or operation.succeeded:
        return True
    return operation.status in _BLOCKED or operation.status in _HOLDS_NOTHING


_HOLDS_NOTHING = (OperationStatus.FAILED, OperationStatus.VOIDED, OperationStatus.SKIPPED, OperationStatus.COMPENSATED)

_BLOCKED = (OperationStatus.HELD, OperationStatus.COMPENSATION_FAILED)
"""A person must say what to do about it."""
