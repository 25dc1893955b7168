"""Operations as data: one planned use of an action, with everything needed to run and undo it (docs/protocol.md rule 7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct, structs, to_builtins
from msgspec.json import Encoder

from sagagraph.workflow.condition import Condition, value_at
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.lock import Lock
from sagagraph.workflow.policy import Policy
from sagagraph.workflow.values import Json

_REFERENCE = "$from"
_REFERENCE_WRITTEN = b'"$from"'
_WRITER = Encoder()


class GuaranteeTerms(Struct, frozen=True, omit_defaults=True):
    """Guarantees of an action's provider about repeated and late calls; by default none (docs/protocol.md rule 0)."""

    dedup_s: float | None = None
    """For how many seconds the provider remembers a key: a repeated call within that time lands nothing."""
    void: bool = False
    """The provider can cancel by key, leaving a tombstone where nothing had landed."""
    deadline: bool = False
    """The provider refuses calls that arrive after `call.deadline`."""
    refusals_final: bool = False
    """A refusal is recorded for the key: no other call with it will land."""
    clock_margin_s: float = 1.0
    """How far our clock and the provider's may differ where a deadline or a key's retention is relied on."""
    settles_s: float | None = None
    """How many seconds after a call has ended, or its sender has died, it may still land, with the margin for clocks."""
    void_compensates: bool = False
    """The compensation is the void: it copes with a call that may not have landed, and may be repeated."""


NOTHING_GUARANTEED = GuaranteeTerms()
DEFAULT_POLICY = Policy()


class OperationSpec(Struct, frozen=True, omit_defaults=True):
    """Operation of a plan. `inputs` is a JSON value; a `reference()` inside it stands for a value of an earlier operation's
    output.

    `condition` is evaluated once everything in `depends_on` has settled; None means that all of them must have succeeded. The
    planner's remarks (`reasoning` and below) do not affect execution: they are there for readers.
    """

    id: str
    action: str
    kind: ActionKind
    inputs: Json
    depends_on: tuple[str, ...] = ()
    condition: Condition | None = None
    policy: Policy = DEFAULT_POLICY
    guarantees: GuaranteeTerms = NOTHING_GUARANTEED
    has_probe: bool = False
    action_version: int = 1
    reasoning: str = ""
    """How the planner arrived at it: a model's chain of thought, if there is one."""
    justification: str = ""
    """Why this operation was chosen."""
    alternatives: tuple[Json, ...] = ()
    """What was considered instead: JSON values."""
    resources: tuple[str, ...] = ()
    """What it takes for itself, by names that other operations and sagas use too: "flight MD1 on 2025-06-10"."""
    locks: tuple[Lock, ...] = ()
    """What no other saga may take from the acceptance of its plan until it is undone, or its saga ends (docs/protocol.md rule
    12).
    """
    read_again: bool = False
    """A reading on which the plan relies: it must say the same just before the pivot (docs/protocol.md rule 12)."""
    provider_id: str = ""
    """The identity of the provider that its action calls, as it was when it was planned; empty if none was named."""
    open_end: bool = False
    """Never started: it keeps the saga open (running, and quiet) until a later plan omits it, or a cancellation ends it."""
    confidence: float | None = None
    """The confidence of whoever chose it, from 0 to 1; None if it is unknown."""


def rebind(spec: OperationSpec, replaced: Mapping[str, str]) -> OperationSpec:
    """Return `spec` with each operation in `replaced` exchanged for its replacement, even where it handles a failure."""
    if any(each.handler in replaced for each in spec.policy.catch):
        catch = tuple(structs.replace(each, handler=replaced.get(each.handler, each.handler)) for each in spec.policy.catch)
        spec = structs.replace(spec, policy=structs.replace(spec.policy, catch=catch))
    if not any(each in replaced for each in spec.depends_on):
        return spec
    return structs.replace(spec, depends_on=tuple(dict.fromkeys(replaced.get(each, each) for each in spec.depends_on)))


def reference(operation: str, *path: str | int) -> dict[str, Json]:
    """Return a reference, which stands in `inputs` for the value at `path` of the output of `operation`."""
    return {_REFERENCE: operation, "path": list(path)}


def reference_in(value: Json) -> tuple[str, tuple[str | int, ...]] | None:
    """Return the reference that a value is: the operation, and the path in its output. None for data that only look like one."""
    path = value.get("path", ()) if isinstance(value, Mapping) and _REFERENCE in value else None
    if not isinstance(path, list | tuple) or not all(isinstance(step, str | int) for step in path):
        return None
    return str(value[_REFERENCE]), tuple(path)


def references(inputs: Json) -> Iterator[str]:
    """Return the operations whose outputs `inputs` refers to."""
    return (operation for operation, _path in references_with_paths(inputs))


def references_with_paths(inputs: Json) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    """Yield each reference in `inputs`: the operation, and the path in its output."""
    if isinstance(inputs, Mapping):
        if (found := reference_in(inputs)) is not None:
            yield found
        else:
            for each in inputs.values():
                yield from references_with_paths(each)
    elif isinstance(inputs, list | tuple):
        for each in inputs:
            yield from references_with_paths(each)


def resolve(inputs: Json, outputs: Mapping[str, Json]) -> Json:
    """Return a copy of `inputs` in which each reference is replaced by the value it stands for (None if the output has none)."""
    if _REFERENCE_WRITTEN not in _WRITER.encode(inputs):  # most have none, which a writer finds out far sooner than a walk
        return to_builtins(inputs)
    return _resolved(inputs, outputs)


def _resolved(inputs: Json, outputs: Mapping[str, Json]) -> Json:
    if isinstance(inputs, Mapping):
        if (found := reference_in(inputs)) is not None:
            return value_at(outputs.get(found[0]), found[1])
        return {key: _resolved(each, outputs) for key, each in inputs.items()}
    if isinstance(inputs, list | tuple):
        return [_resolved(each, outputs) for each in inputs]
    return inputs
