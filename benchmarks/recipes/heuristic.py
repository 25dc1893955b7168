"""The paper's heuristic (algorithm 1), as a baseline: the first complete order that a depth-first search comes upon.

Steps that go on alone come first, the longest before the others, and then those of the cook, each preceded by what it comes
after. Time advances with the cook's steps. The search is bounded: with time constraints it may run for ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from sagagraph.domains.recipes.plan import Row, makespan
from sagagraph.domains.recipes.request import Meal, Property, Step, StepKey

_MOST_NODES: Final = 20_000


@dataclass(frozen=True)
class _State:
    now: int = 0
    rows: tuple[Row, ...] = ()
    props: tuple[tuple[str, str, Property], ...] = ()

    def ended(self, key: StepKey) -> int | None:
        return next((row.end for row in self.rows if (row.recipe, row.step) == key), None)


def heuristic(meal: Meal, *, looks_back: bool = True) -> tuple[Row, ...] | None:
    """Return its plan; None: it found none. Without looking back it is greedy: the first choice at every moment stands."""
    order = _order(meal)
    nodes = [0]

    def search(state: _State) -> tuple[Row, ...] | None:
        nodes[0] += 1
        left = [step for step in order if state.ended(step.key) is None]
        if not left:
            return state.rows
        for after in _choices(meal, state, left):
            if nodes[0] > _MOST_NODES:
                return None
            found = search(after)
            if found is not None or not looks_back:
                return found
        return None

    return search(_State())


def _order(meal: Meal) -> list[Step]:
    wanted = sorted(meal.steps.values(), key=lambda step: (not step.is_autonomous, -step.duration if step.is_autonomous else 0))
    order: dict[StepKey, Step] = {}
    for step in wanted:
        level, chain = [step], [step]
        while level:
            level = [before for each in level for before in meal.before(each)]
            chain += level
        for each in reversed(chain):
            order.setdefault(each.key, each)
    return list(order.values())


def _choices(meal: Meal, state: _State, left: list[Step]) -> Iterator[_State]:
    for step in left:
        after = _begun(meal, state, step)
        if after is not None:
            yield after
    later = sorted({row.end for row in state.rows if row.end > state.now})
    if later and makespan(state.rows) > state.now:
        yield replace(state, now=later[0])


def _begun(meal: Meal, state: _State, step: Step) -> _State | None:
    ends = [state.ended(before.key) for before in meal.before(step)]
    if any(end is None or end > state.now for end in ends):
        return None
    for number, within in step.within.items():
        end = state.ended((step.recipe, number))
        if end is not None and state.now - end > within:
            return None
    props = {(name, key): value for name, key, value in state.props}
    for name, use in step.uses.items():
        users = (row for row in state.rows if name in meal.steps[row.recipe, row.step].uses)
        if any(row.end > state.now for row in users) or any(props.get((name, k)) != v for k, v in use.require.items()):
            return None
        props |= {(name, key): value for key, value in use.update.items()}
    row = Row(step.number, step.recipe, step.duration, state.now)
    now = state.now if step.is_autonomous else row.end
    return _State(now, (*state.rows, row), tuple((name, key, value) for (name, key), value in props.items()))
