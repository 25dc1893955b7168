"""Binding: which action carries out each task of a document, with that task's policy and compensation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from msgspec import structs

from sagagraph.errors import InvalidInputError, Refused, WorkflowError
from sagagraph.saga.core.call import Call
from sagagraph.saga.engine.actions import Action
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.language.checks import findings
from sagagraph.workflow.language.document import CompensationTerms, Document, NodeType, Trigger, nodes_in
from sagagraph.workflow.language.terms import OWN_UNDO, policy_from


def bound(document: Document, actions: Mapping[str, Action]) -> dict[str, Action]:
    """Return the action of each task. Raises `WorkflowError` with every fault of the document and every missing action."""
    tasks = [each for each in nodes_in(document.graph) if each.type is NodeType.TASK]
    faults = [each.message for each in findings(document, {name: each.kind for name, each in actions.items()})]
    faults += [f"task {each.id!r}: nobody fills the role {each.role!r}" for each in tasks if not each.action]
    missing = sorted({each.action for each in tasks if each.action} - actions.keys())
    faults += [f"there is no action {each!r}; there are {', '.join(sorted(actions)) or 'none'}" for each in missing]
    if faults:
        raise WorkflowError(f"workflow {document.name!r}: {'; '.join(faults)}")
    made = {}
    for node in tasks:
        terms, own = document.policy_of(node), actions[node.action]
        policy = structs.replace(policy_from(terms, own.policy), catch=())  # the interpreter sees to handlers
        made[node.id] = replace(_undone(own, terms.compensation, actions), policy=policy)
    return made


def _undone(own: Action, terms: CompensationTerms | None, actions: Mapping[str, Action]) -> Action:
    """Return the action with the compensation that the document names."""
    if terms is None:
        return own
    if terms.trigger is Trigger.ON_CANCEL:
        why = "this engine undoes what failed as well as what is cancelled: onCancel is for other engines"
        raise InvalidInputError(why, field="compensation.trigger")
    if terms.handler == own.name + OWN_UNDO:
        if own.compensate is None:
            raise InvalidInputError(f"action {own.name!r} has no compensation of its own", field="compensation.handler")
        return own if terms.trigger is Trigger.ON_FAILURE else _made(own, "a person", _by_hand)
    handler = actions.get(terms.handler)
    if handler is None:
        raise InvalidInputError(f"there is no action {terms.handler!r}", field="compensation.handler")
    if own.kind not in (ActionKind.READ_ONLY, ActionKind.COMPENSATABLE):
        raise InvalidInputError(f"{own.name!r} is {own.kind.value}: nothing undoes it", field="compensation.handler")

    def undo(request: Any, result: Any, call: Call) -> Any:
        return handler.execute({"request": request, "result": result}, call)

    return _made(own, handler.name, undo if terms.trigger is Trigger.ON_FAILURE else _by_hand)


def _by_hand(_request: Any, _result: Any, _call: Call) -> Any:
    raise Refused("the workflow leaves undoing this to a person: undo it, and say `sagagraph resolve … --as compensated`")


def _made(own: Action, by: str, undo: Any) -> Action:
    name = f"{own.name} (undone by {by})"
    return replace(own, name=name, kind=ActionKind.COMPENSATABLE, compensate=undo, home=f"{own.home} undone by {by}")
