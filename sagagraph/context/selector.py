"""Selection: which facts an agent or validator of one operation may know (SagaLLM figure 1, information selector).

Along the dependency graph: its inputs, the wishes that it declares to read, the constraints that concern it, and the outputs of
its ancestors, nearer ones before farther ones. Whatever exceeds the budget is never visited, however long the history is.
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
"""How many ancestors are visited, whether or not they have an output."""
MOST_MISSED: Final = 8
"""How many outputs that do not fit end the search: a smaller one behind them might still fit."""


class ContextSource(Protocol):
    """Source of contexts: a saga at one version of its journal. It holds nothing that a planner said."""

    @property
    def wishes(self) -> Mapping[str, Json]:
        """Return the request's fields, by name."""
        ...

    def inputs(self, operation: str) -> Json: ...

    def prerequisites(self, operation: str) -> Sequence[str]:
        """Return its direct dependencies; the latest last."""
        ...

    def constraint(self, operation: str) -> Json:
        """Return the condition under which it runs, as JSON; None: that all its prerequisites have succeeded."""
        ...

    def has_output(self, operation: str) -> bool: ...

    def output(self, operation: str) -> Json: ...


@dataclass(frozen=True, slots=True)
class Need:
    """Need of an agent or validator, as it declares it. `wishes` are critical: it cannot do without them."""

    wishes: tuple[str, ...] = ()
    ancestors: bool = True
    """Whether it can use the outputs of the operation's ancestors."""
    budget_tokens: int = DEFAULT_BUDGET_TOKENS


def context_of(source: ContextSource, operation: str, need: Need) -> ContextSlice:
    """Return the slice for one operation. Raises `ContextBudgetError` if its critical facts do not fit."""
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
    """Yield outputs of the ancestors until the budget is used up: priority is the distance."""
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
    """Yield each ancestor once, the nearest first; at equal distance, the latest first."""
    seen = {operation}
    frontier = deque([(operation, 0)])
    while frontier:
        here, distance = frontier.popleft()
        for ancestor in reversed(source.prerequisites(here)):
            if ancestor not in seen:
                seen.add(ancestor)
                frontier.append((ancestor, distance + 1))
                yield ancestor, distance + 1
