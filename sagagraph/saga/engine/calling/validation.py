"""Validation: what the validators of an action are shown, and their verdicts, the same for a new output and for a replay.

Contexts are selected from a `SagaSource`: what a saga's journal says at one version, and nothing that only a planner said.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from msgspec import to_builtins

from sagagraph.context.manager import SourceAt
from sagagraph.context.selector import ContextSource, Need, context_of
from sagagraph.context.slice import ContextSlice, Fact, select
from sagagraph.errors import ContextBudgetError, InvalidInputError, UnknownOperationError
from sagagraph.saga.core.events import Entry
from sagagraph.saga.core.evolve.evolve import fold
from sagagraph.saga.core.state import Operation, Saga
from sagagraph.saga.engine.actions import Action
from sagagraph.validators.protocol import Validator, judge
from sagagraph.validators.response import augmented
from sagagraph.validators.verdict import Verdict, VerdictStatus
from sagagraph.workflow.operation import resolve
from sagagraph.workflow.values import Json


class SagaSource:
    def __init__(self, saga: Saga) -> None:
        self._saga = saga

    @property
    def wishes(self) -> Mapping[str, Json]:
        """The fields of the request, if it has any."""
        return self._saga.request if isinstance(self._saga.request, Mapping) else {}

    def inputs(self, operation: str) -> Json:
        return resolve(self._found(operation).spec.inputs, self._saga.outputs)

    def prerequisites(self, operation: str) -> Sequence[str]:
        return self._found(operation).spec.depends_on

    def constraint(self, operation: str) -> Json:
        condition = self._found(operation).spec.condition
        return None if condition is None else to_builtins(condition)

    def has_output(self, operation: str) -> bool:
        return self._found(operation).succeeded

    def output(self, operation: str) -> Json:
        return self._found(operation).output

    def _found(self, operation: str) -> Operation:
        if operation not in self._saga.operations:
            raise UnknownOperationError(f"saga {self._saga.id!r} has no operation {operation!r}", saga_id=self._saga.id)
        return self._saga.operations[operation]


def source_at(saga_id: str, entries: Sequence[Entry]) -> SourceAt:
    """Return a function from a version to the saga at that version, folded from its journal."""

    def at(version: int) -> ContextSource:
        return SagaSource(fold(saga_id, entries[:version]))

    return at


def shown_with(saga: Saga, operation: Operation, action: Action, validator: Validator) -> ContextSlice:
    """Return the slice that goes with an output of `operation`. Raises `ContextBudgetError` if its critical part does not fit.

    A validator that declares what it `reads` of the request gets that, and outputs as far back as they fit; any other validator
    gets the inputs, and the outputs of the operation's direct dependencies. A node of a graph gets all of its state, whatever it
    reads of it: each part of the state is a separate fact, and parts that do not fit are left out.
    """
    reads: tuple[str, ...] | None = getattr(validator, "reads", None)
    if reads is not None:
        return context_of(SagaSource(saga), operation.id, Need(wishes=reads))
    outputs = saga.outputs
    inputs = _read_by(validator, resolve(operation.spec.inputs, outputs))
    if action.needs_body and isinstance(inputs, Mapping):
        facts = [Fact(f"state: {name}", value) for name, value in inputs.items()]
    else:
        facts = [Fact("inputs", inputs, critical=True)]
    facts += [Fact(f"output of {name}", outputs.get(name), priority=1) for name in operation.spec.depends_on]
    return select(facts)


def _read_by(validator: Validator, inputs: Json) -> Json:
    """Return the fields that it declares to read of the operation's inputs (`inputs`); all of them if it declares none."""
    names: tuple[str, ...] | None = getattr(validator, "inputs", None)
    if names is None or not isinstance(inputs, Mapping):
        return inputs
    return {name: inputs[name] for name in names if name in inputs}


Ask = Callable[[Validator, Json, ContextSlice], Awaitable[Verdict]]


async def judged_output(saga: Saga, operation: Operation, action: Action, output: Json, ask: Ask = judge) -> tuple[Verdict, ...]:
    """Return one verdict from each of the action's validators, in their order."""
    return tuple([await _verdict_of(validator, saga, operation, action, output, ask) for validator in action.validators])


async def _verdict_of(validator: Validator, saga: Saga, operation: Operation, action: Action, output: Json, ask: Ask) -> Verdict:
    try:
        context = shown_with(saga, operation, action, validator)
    except ContextBudgetError as exc:
        return Verdict.unknown(f"{validator.name} could not judge: {exc}")
    return await ask(validator, output, context)


async def augmented_output(
    saga: Saga, operation: Operation, action: Action, output: Json, ask: Ask = judge
) -> tuple[Json, tuple[Verdict, ...]]:
    """Return the output with what its validators fill in, and their verdicts on that: what is journalled is what was judged.

    The output stays as it was if the action could not have returned the new one, or if any validator does not find that VALID.
    """
    verdicts = await judged_output(saga, operation, action, output, ask)
    filled = augmented(output, verdicts)
    if filled == output or not _is_result(action, filled):
        return output, verdicts
    again = await judged_output(saga, operation, action, filled, ask)
    is_accepted = all(each.verdict is VerdictStatus.VALID for each in again)
    return (filled, again) if is_accepted else (output, verdicts)


def _is_result(action: Action, output: Json) -> bool:
    try:
        action.result_from_json(output)
    except InvalidInputError:
        return False
    return True
