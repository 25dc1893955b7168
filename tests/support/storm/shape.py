"""Random sagas: graphs of two to eight operations, kinds that go together, and a provider for each that promises this or that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from msgspec.structs import replace

from sagagraph.saga.engine.actions import Action
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import OperationSpec
from sagagraph.workflow.policy import Backoff, CompensationPolicy, Policy, Retry
from tests.support.storm.provider import Promises, action_name

CALL_TIMEOUT_S = 1.0
_MOST = 8
_CANCEL_WITHIN_S = 2.5


@dataclass(frozen=True, slots=True)
class Shape:
    """One saga of a storm. `cancel_after_s`: how long after it began a person wants it undone; None: never."""

    saga_id: str
    specs: tuple[OperationSpec, ...]
    cancel_after_s: float | None
    is_resolved: bool
    """Whether a person settles what is left open at the end."""


def shape_of(seed: str, number: int, actions: Mapping[str, Action]) -> Shape:
    """The same for the same seed and number, in every process."""
    random = Random(f"{seed} shape {number}")
    count = random.randint(2, _MOST)
    edges = tuple(tuple(before for before in range(each) if random.random() < 1 / 3) for each in range(count))
    kinds = _kinds(edges, random)
    doomed = random.randrange(count) if random.random() < 0.3 else None
    generous = random.random() < 0.5
    specs = tuple(_spec(each, kinds[each], edges[each], each == doomed, generous, actions, random) for each in range(count))
    cancelled = random.uniform(0, _CANCEL_WITHIN_S) if random.random() < 0.25 else None
    return Shape(saga_id(number), specs, cancelled, random.random() < 0.5)


def saga_id(number: int) -> str:
    return f"s{number}"


def _kinds(edges: tuple[tuple[int, ...], ...], random: Random) -> tuple[ActionKind, ...]:
    pivot = random.randrange(len(edges)) if random.random() < 0.4 else None
    after: set[int] = set()
    for each, before in enumerate(edges):
        if pivot is not None and (pivot in before or after & set(before)):
            after.add(each)
    return tuple(
        ActionKind.PIVOT
        if each == pivot
        else ActionKind.READ_ONLY
        if random.random() < 0.15
        else ActionKind.RETRIABLE
        if each in after
        else ActionKind.COMPENSATABLE
        for each in range(len(edges))
    )


def _spec(
    number: int,
    kind: ActionKind,
    before: tuple[int, ...],
    doomed: bool,
    generous: bool,
    actions: Mapping[str, Action],
    random: Random,
) -> OperationSpec:
    """Providers of a `generous` saga mostly promise a lot, so that many sagas settle by themselves."""
    likely = 0.85 if generous else 0.35
    promises = Promises(*(random.random() < likely for _ in Promises._fields))
    policy = Policy(
        retry=Retry(max_attempts=random.randint(1, 5)),
        backoff=Backoff(base_s=0.02, cap_s=0.1),
        timeout_s=CALL_TIMEOUT_S,
        compensation=CompensationPolicy(max_attempts=random.randint(1, 5), timeout_s=CALL_TIMEOUT_S),
    )
    made = actions[action_name(kind, promises)].spec(f"o{number}", {"doomed": doomed}, [f"o{each}" for each in before])
    return replace(made, policy=policy)
