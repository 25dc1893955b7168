"""One planned use of an action, as data: what is needed to run and undo it without the planner (PROTOCOL rule 7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sagagraph.workflow.condition import StoredCondition, value_at
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.policy import Policy

_REFERENCE = "$from"


@dataclass(frozen=True, slots=True)
class GuaranteeTerms:
    """What the provider of an action promises about repeated and late calls; by default nothing (PROTOCOL rule 0)."""

    dedup_s: float | None = None
    """For how many seconds it remembers a key: a repeated call within that time lands nothing."""
    void: bool = False
    """It can cancel by key, leaving a tombstone where nothing had landed."""
    deadline: bool = False
    """It refuses calls that arrive after `call.deadline`."""
    refusals_final: bool = False
    """A refusal is recorded for the key: no other call with it will land."""


NOTHING_GUARANTEED = GuaranteeTerms()
DEFAULT_POLICY = Policy()


@dataclass(frozen=True, slots=True)
class OperationSpec:
    """`inputs` is a JSON value; `reference()` inside it stands for a value of an earlier operation's output.

    `condition` is asked once everything in `depends_on` has settled; None means that all of them must have succeeded.
    """

    id: str
    action: str
    kind: ActionKind
    inputs: Any
    depends_on: tuple[str, ...] = ()
    condition: StoredCondition = None
    policy: Policy = DEFAULT_POLICY
    guarantees: GuaranteeTerms = NOTHING_GUARANTEED
    has_probe: bool = False
    action_version: int = 1


@dataclass(frozen=True, slots=True)
class Workflow:
    """Executable operations and their edges; the order of `operations` is the planner's and carries no meaning."""

    operations: tuple[OperationSpec, ...]
    meta: Mapping[str, Any] = field(default_factory=dict)


def reference(operation: str, *path: str | int) -> dict[str, Any]:
    """Stands in `inputs` for the value at `path` of the output of `operation`."""
    return {_REFERENCE: operation, "path": list(path)}


def references(inputs: Any) -> Iterator[str]:
    """The operations whose outputs `inputs` asks for."""
    if isinstance(inputs, Mapping):
        if _REFERENCE in inputs:
            yield str(inputs[_REFERENCE])
        else:
            for each in inputs.values():
                yield from references(each)
    elif isinstance(inputs, list | tuple):
        for each in inputs:
            yield from references(each)


def resolve(inputs: Any, outputs: Mapping[str, Any]) -> Any:
    """`inputs` with each reference replaced by the value it stands for (None where the output has no such value)."""
    if isinstance(inputs, Mapping):
        if _REFERENCE in inputs:
            return value_at(outputs.get(str(inputs[_REFERENCE])), tuple(inputs["path"]))
        return {key: resolve(each, outputs) for key, each in inputs.items()}
    if isinstance(inputs, list | tuple):
        return [resolve(each, outputs) for each in inputs]
    return inputs
