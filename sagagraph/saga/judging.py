"""What the validators of an action are shown and what they say: the same for a new output and for a journal that is replayed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from sagagraph.context.slice import ContextSlice, Fact, select
from sagagraph.errors import ContextBudgetError, InvalidInputError
from sagagraph.saga.action import Action
from sagagraph.saga.model import Operation, Saga
from sagagraph.validators.protocol import Validator, judge
from sagagraph.validators.response import augmented
from sagagraph.validators.verdict import Verdict, VerdictStatus
from sagagraph.workflow.operation import resolve


def shown_with(saga: Saga, operation: Operation) -> ContextSlice:
    """The slice that goes with an output of `operation`. Raises `ContextBudgetError` if its inputs do not fit."""
    outputs = saga.outputs
    facts = [Fact("inputs", resolve(operation.spec.inputs, outputs), critical=True)]
    facts += [Fact(f"output of {name}", outputs.get(name), priority=1) for name in operation.spec.depends_on]
    return select(facts)


Ask = Callable[[Validator, Any, ContextSlice], Awaitable[Verdict]]


async def judged_output(saga: Saga, operation: Operation, action: Action, output: Any, ask: Ask = judge) -> tuple[Verdict, ...]:
    """One verdict for each of the action's validators, in their order."""
    if not action.validators:
        return ()
    try:
        context = shown_with(saga, operation)
    except ContextBudgetError as exc:
        return (Verdict.unknown(str(exc)),)
    return tuple([await ask(validator, output, context) for validator in action.validators])


async def augmented_output(
    saga: Saga, operation: Operation, action: Action, output: Any, ask: Ask = judge
) -> tuple[Any, tuple[Verdict, ...]]:
    """The output with what its validators fill in, and their verdicts on that: what is journalled is what was judged.

    It stays as it was if the action could not have returned it so, or if it is not VALID to all of them then.
    """
    verdicts = await judged_output(saga, operation, action, output, ask)
    filled = augmented(output, verdicts)
    if filled == output or not _is_result(action, filled):
        return output, verdicts
    again = await judged_output(saga, operation, action, filled, ask)
    is_accepted = all(each.verdict is VerdictStatus.VALID for each in again)
    return (filled, again) if is_accepted else (output, verdicts)


def _is_result(action: Action, output: Any) -> bool:
    try:
        action.result_from_json(output)
    except InvalidInputError:
        return False
    return True
