"""Larger sagas than can be explored: random shapes, providers and moves, every invariant in every state; and rule 10."""

from __future__ import annotations

import os
from collections.abc import Callable
from unittest.mock import patch

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sagagraph.saga.core import codec, next_steps
from sagagraph.saga.core import events as e
from sagagraph.saga.core.evolve import evolve
from sagagraph.saga.core.state import Saga
from tests.saga.cases import COMPENSATABLE, PIVOT, READ_ONLY, RETRIABLE, Case, Edges, Kinds, descendants, is_well_formed
from tests.saga.explorer import Explorer, Move, State
from tests.saga.invariants import violations
from tests.saga.statekey import Key
from tests.saga.world import Profile

TROUBLES = 8
FULL = os.environ.get("SAGAGRAPH_EXPLORE") == "full"
randomly = settings(
    max_examples=250 if FULL else 80, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
profiles = st.builds(Profile, *[st.booleans()] * 5)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    count = draw(st.integers(5, 8))
    edges: Edges = tuple(tuple(j for j in range(i) if draw(st.integers(0, 2)) == 0) for i in range(count))
    pivot = draw(st.none() | st.integers(0, count - 1))
    after = descendants(edges, pivot) if pivot is not None else set()
    kinds: Kinds = tuple(
        PIVOT if i == pivot else READ_ONLY if draw(st.integers(0, 4)) == 0 else RETRIABLE if i in after else COMPENSATABLE
        for i in range(count)
    )
    assert is_well_formed(kinds, edges)
    return Case(kinds, edges, tuple(draw(profiles) for _ in range(count)))


choices = st.lists(st.integers(0, 8 * 60 - 1), min_size=60, max_size=400)


def apart(_saga: Saga, _now: float) -> tuple[Key, tuple[Key, ...]]:
    """No two states are the same: each keeps its own history."""
    return (object(),), ()


class Journal:
    """Writes down every entry that the core is given, by the state that it makes."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Saga, Saga, e.Entry]] = {}
        self._evolve: Callable[[Saga, e.Entry], Saga] = evolve.evolve

    def evolve(self, saga: Saga, entry: e.Entry) -> Saga:
        made = self._evolve(saga, entry)
        self._made[id(made)] = (made, saga, entry)
        return made

    def of(self, saga: Saga) -> list[tuple[Saga, e.Entry]]:
        """Each state on the way to this one, with the entry that made it."""
        steps: list[tuple[Saga, e.Entry]] = []
        while id(saga) in self._made:
            made, before, entry = self._made[id(saga)]
            steps.append((made, entry))
            saga = before
        return steps[::-1]


def walk(explorer: Explorer, picks: list[int]) -> State:
    """One way through the saga, as the picks say; every state of it is judged."""
    state = explorer.start()
    trace: list[str] = []
    for pick in picks:
        moves = list(explorer.moves(state))
        if not moves:
            break
        move = chosen(moves, pick, state)
        trace.append(move.label)
        state = move.state
        found = [*violations(state.saga, state.providers), *([move.violates] if move.violates else [])]
        assert not found, f"{explorer.case}: {found} after {' → '.join(trace)}"
    return state


def chosen(moves: list[Move], pick: int, state: State) -> Move:
    """Trouble and refusals come one time in eight, so that most walks get far before they turn back."""
    smooth = [each for each in moves if each.state.troubles == state.troubles and "refused" not in each.label]
    among = smooth if smooth and pick % 8 else moves
    return among[pick // 8 % len(among)]


@randomly
@given(cases(), choices)
def test_a_larger_saga_keeps_the_invariants_whatever_happens_to_it(case: Case, picks: list[int]) -> None:
    walk(Explorer(case, TROUBLES, symmetric=False), picks)


@randomly
@given(cases(), choices)
def test_rule_10_any_journal_replays_to_the_same_state_at_any_version(case: Case, picks: list[int]) -> None:
    journal = Journal()
    with patch.object(evolve, "evolve", journal.evolve):
        state = walk(Explorer(case, TROUBLES, symmetric=False, key=apart), picks[:80])
    steps = journal.of(state.saga)
    entries = [e.Entry(1, 1, 0.0, e.SagaBegun(case.driver, "exploration", None)), *(entry for _, entry in steps)]
    stored = [e.Entry(each.version, each.epoch, each.at, codec.decode(codec.encode(each.event), each.at)) for each in entries]
    for version, (made, _) in enumerate(steps, start=2):
        assert evolve.fold("s", stored[:version]) == made


@randomly
@given(cases(), choices)
def test_rule_10_what_is_due_depends_on_the_state_and_the_clock_alone(case: Case, picks: list[int]) -> None:
    state = walk(Explorer(case, TROUBLES, symmetric=False), picks)
    before = repr(state.saga)
    due = next_steps.next_steps(state.saga, state.core.now)
    assert next_steps.next_steps(state.saga, state.core.now) == due
    assert repr(state.saga) == before
