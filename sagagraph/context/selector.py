"""Selection: which facts an agent or validator of one operation may know (SagaLLM figure 1, information selector).

Along the dependency graph: its inputs, what it declares to read of the wishes, the constraints that touch it, and the outputs of
its ancestors, nearer ones before farther ones. What lies beyond the budget is not even looked at, however long the history is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Protocol

from sagagraph.context.slice import DEFAULT_BUDGET_TOKENS, ContextSlice, Fact, select, tokens_of
from sagagraph.workflow.values import Json

MOST_VISITED: Final = 256
"""Ancestors that are looked at, whether or not they have an output."""
MOST_MISSED: Final = 8
"""Outputs without room; a smaller one behind them may still fit, but the search for it ends."""


class ContextSource(Protocol):
    """What contexts are made of: a saga at one version of its journal. Nothing that a planner said is in it."""

    @property
    def wishes(self) -> Mapping[str, Json]:
        """What was asked for, by name."""
        ...

    def inputs(self, operation: str) -> Json: ...

    def prerequisites(self, operation: str) -> Sequence[str]:
        """What it depends on directly; the latest last."""
        ...

    def constraint(self, operation: str) -> Json:
        """The condition under which it runs, as JSON; None: that all its prerequisites have succeeded."""
        ...

    def has_output(self, operation: str) -> bool: ...

    def output(self, operation: str) -> Json: ...


@dataclass(frozen=True, slots=True)
class Need:
    """What somebody declares to read. `wishes` are critical to him: he can not do without."""

    wishes: tuple[str, ...] = ()
    ancestors: bool = True
    """Whether the outputs of what the operation depends on are of use to him."""
    budget_tokens: int = DEFAULT_BUDGET_TOKENS


def context_of(source: ContextSource, operation: str, need: Need) -> ContextSlice:
    """The slice for one operation. Raises `ContextBudgetError` if what is critical does not fit."""
    facts = [Fact("inputs", source.inputs(operation), critical=True)]
    facts += [Fact(name, source.wishes[name], critical=True) for name in need.wishes if name in source.wishes]
    constraint = source.constraint(operation)
    if constraint is not None:
        facts.append(Fact("condition", constraint, critical=True))
    if need.ancestors:
        room = need.budget_tokens - sum(tokens_of({fact.name: fact.value}) for fact in facts)
        facts += _outputs(source, operation, room)
    return select(facts, budget_tokens=need.budget_tokens)


def _outputs(source: ContextSource, operation: str, room: int) -> Iterator[Fact]:
    """Of the ancestors, until they fill the room: priority is the distance."""
    missed = 0
    for ancestor, distance in islice(_ancestors(source, operation), MOST_VISITED):
        if missed >= MOST_MISSED:
            return
        if source.has_output(ancestor):
            fact = Fact(f"output of {ancestor}", source.output(ancestor), priority=distance)
            size = tokens_of({fact.name: fact.value})
            room, missed = (room - size, missed) if size <= room else (room, missed + 1)
            yield fact


def _ancestors(source: ContextSource, operation: str) -> Iterator[tuple[str, int]]:
    """Each once, the nearest first; of those at one distance, the latest first."""
    seen = {operation}
    frontier = deque([(operation, 0)])
    while frontier:
        here, distance = frontier.popleft()
        for ancestor in reversed(source.prerequisites(here)):
            if ancestor not in seen:
                seen.add(ancestor)
                frontier.append((ancestor, distance + 1))
                yield ancestor, distance + 1
