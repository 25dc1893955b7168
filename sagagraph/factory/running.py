"""Running: a document as a saga, begun, gone on with, undone, and checked against its journal (ALAS A.9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sagagraph.errors import NotAllowedError, OperationFailedError, SagaGraphError
from sagagraph.factory.binding import bound
from sagagraph.factory.interpreter import Interpreter, choose, members
from sagagraph.saga.core.events import Driver, SagaBegun
from sagagraph.saga.core.state import Saga
from sagagraph.saga.engine.actions import Action, to_json
from sagagraph.saga.engine.body import BodySaga
from sagagraph.saga.engine.engine import Engine
from sagagraph.workflow.language.document import WORKFLOWS, Document, document_json, read_document
from sagagraph.workflow.values import Json


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a saga was begun with: its journal keeps it, so that whoever goes on needs no file. `source`: where its actions come
    from, as the command line names it.
    """

    document: Document
    given: Json = None
    serial: bool = False
    source: Mapping[str, Json] = field(default_factory=dict)

    @property
    def json(self) -> dict[str, Json]:
        return {
            "document": document_json(self.document),
            "input": self.given,
            "serial": self.serial,
            "source": dict(self.source),
        }


@dataclass(frozen=True, slots=True)
class _Body:
    """Body of a saga as an interpreter's runner."""

    engine: Engine
    saga: BodySaga

    async def run(self, action: Action, request: object, *, id: str, after: tuple[str, ...]) -> Any:  # noqa: A002
        return await self.saga.run(action, request, id=id, after=after)

    async def code_of(self, operation: str) -> str:
        fault = (await self.engine.load(self.saga.id)).operations[operation].fault
        return fault.code if fault else ""


async def run_document(
    engine: Engine, saga_id: str, assignment: Assignment, actions: Mapping[str, Action], *, wait: bool = True
) -> dict[str, Json]:
    """Carry a document out, or go on with it; returns the output of each node. `wait`: for a dead worker's lease.

    Safe to repeat under the same id: what is in the journal is not done again. Raises `OperationFailedError` after everything was
    undone, `WorkflowError` for a document that is not well-formed, `ConflictError` for another document under this id.
    """
    made = registered(engine, assignment.document, actions)
    begin = SagaBegun(Driver.BODY, WORKFLOWS, to_json(assignment.json))
    async with engine.saga(saga_id, begin=begin, wait=wait) as saga:
        interpreter = Interpreter(assignment.document, made, _Body(engine, saga), serial=assignment.serial)
        return await interpreter.run(assignment.given)


def registered(engine: Engine, document: Document, actions: Mapping[str, Action]) -> dict[str, Action]:
    """Return the action of each task, and make those known to the engine that undo them without the body."""
    made = bound(document, actions)
    for each in (choose, members, *made.values()):
        engine.register(each)
    return made


def assignment_of(saga: Saga) -> Assignment:
    """Return what a saga was begun with. Raises `NotAllowedError` if it carries out no document."""
    if saga.domain != WORKFLOWS:
        raise NotAllowedError(f"saga {saga.id!r} carries out no workflow document", saga_id=saga.id)
    told: Any = saga.request
    return Assignment(read_document(told["document"]), told["input"], told["serial"], told["source"])


# -- parity (ALAS A.9) -----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Journal:
    """A saga's journal as an interpreter's runner: it answers, and notes where a run would ask for anything else."""

    saga: Saga
    asked: set[str] = field(default_factory=set)
    differences: list[str] = field(default_factory=list)

    async def run(self, action: Action, request: object, *, id: str, after: tuple[str, ...]) -> Any:  # noqa: A002
        self.asked.add(id)
        known = self.saga.operations.get(id)
        if known is None:
            raise _UnknownError(id)
        spec, wanted = known.spec, action.spec(id, request, after)
        for what in ("action", "kind", "inputs", "depends_on", "policy"):
            if getattr(spec, what) != getattr(wanted, what):
                told = f"{getattr(spec, what)!r}, and would be {getattr(wanted, what)!r}"
                self.differences.append(f"{id}: {what} is {told}")
        if known.output is None and known.fault is not None:
            raise OperationFailedError(known.fault.message, operation_id=id)
        return action.result_from_json(known.output)

    async def code_of(self, operation: str) -> str:
        fault = self.saga.operations[operation].fault
        return fault.code if fault else ""


class _UnknownError(Exception):
    """The journal ends here: a run that was stopped would go on with this operation."""


async def differences(saga: Saga, actions: Mapping[str, Action]) -> tuple[str, ...]:
    """Walk through a saga's document once more with the journal's answers, calling nothing; return where the two differ."""
    assignment = assignment_of(saga)
    journal = _Journal(saga)
    walk = Interpreter(assignment.document, bound(assignment.document, actions), journal, serial=assignment.serial)
    try:
        await walk.run(assignment.given)
    except (OperationFailedError, _UnknownError):
        pass
    except SagaGraphError as exc:
        journal.differences.append(str(exc))
    else:
        left = sorted(set(saga.operations) - journal.asked)
        journal.differences += [f"{each}: the journal has it, and nothing asks for it" for each in left]
    return tuple(journal.differences)
