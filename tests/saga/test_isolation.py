"""Two sagas side by side, in every interleaving: the production core and its locks, and a judge that knows neither.

The world keeps, for each thing, who has it now. An operation that lands looks who has what it takes, and takes it as well:
nothing in the world refuses, only locks keep sagas apart. The judge runs the sagas that committed one after the other, in every
order, in a world of its own. One of these orders must show each operation the same, and leave the same behind.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core import locks as core_locks
from sagagraph.saga.core.decide.decide import decide, intent
from sagagraph.saga.core.evolve.evolve import begin, evolve
from sagagraph.saga.core.locks import Holding, holdings_of, in_the_way, lock_change
from sagagraph.saga.core.next_steps import next_steps
from sagagraph.saga.core.state import Operation, Saga, Stage
from sagagraph.saga.core.steps import CallAction, CallCompensation, Record
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.lock import Lock, LockMode
from sagagraph.workflow.operation import GuaranteeTerms, OperationSpec
from sagagraph.workflow.policy import Backoff, Policy

pytestmark = pytest.mark.quick

Plan = tuple[Lock, ...]
"""What the operations of a saga take, one after the other."""
REUNIONS = (
    (Lock("car", begins=10, ends=12), Lock("car", begins=15, ends=17)),
    (Lock("car", begins=11, ends=16),),
)
SHOPS = (
    (Lock("mill", begins=0, ends=2), Lock("lathe", begins=2, ends=4)),
    (Lock("lathe", begins=1, ends=3), Lock("mill", begins=1, ends=5)),
)
TRIPS = (
    (Lock("voucher", LockMode.COUNTED, amount=3, capacity=5), Lock("seat of A")),
    (Lock("voucher", LockMode.COUNTED, amount=3, capacity=5), Lock("seat of B")),
)
APART = ((Lock("car", begins=10, ends=12),), (Lock("car", begins=12, ends=14),))
CASES = {"reunions": REUNIONS, "shops": SHOPS, "trips": TRIPS}
NOW = 1.0
POLICY = Policy(backoff=Backoff(base_s=0.0, cap_s=0.0, jitter=0.0))


# -- the world and its judge -------------------------------------------------------------------------------------------------

Seen = tuple[tuple[tuple[str, int], object], ...]


@dataclass(frozen=True)
class World:
    """`has`: who has what, as (saga, operation, lock). `seen`: what each saw when it landed. `undone` never lands again."""

    has: tuple[tuple[str, int, Lock], ...] = ()
    seen: Seen = ()
    undone: frozenset[tuple[str, int]] = frozenset()

    def land(self, saga: str, index: int, lock: Lock) -> World:
        if (saga, index) in dict(self.seen) or (saga, index) in self.undone:
            return self  # it remembers keys
        others = [other for name, _index, other in self.has if name != saga and other.meets(lock)]
        if lock.mode is LockMode.COUNTED:
            spent = sum(other.amount for _name, _index, other in self.has if other.meets(lock))
            saw: object = spent + lock.amount <= lock.capacity
        else:
            saw = len(others)
        return replace(self, has=(*self.has, (saga, index, lock)), seen=(*self.seen, ((saga, index), saw)))

    def undo(self, saga: str, index: int) -> World:
        kept = tuple(each for each in self.has if each[:2] != (saga, index))
        return replace(self, has=kept, undone=self.undone | {(saga, index)})


def has_serial_order(world: World, plans: dict[str, Plan], committed: tuple[str, ...]) -> bool:
    """Whether the sagas that committed saw, and left behind, what they would have one after the other."""
    saw = {place: what for place, what in world.seen if place[0] in committed}
    left = sorted(each[:2] for each in world.has)
    for order in itertools.permutations(committed):
        alone = World()
        for saga in order:
            for index, lock in enumerate(plans[saga]):
                alone = alone.land(saga, index, lock)
        if dict(alone.seen) == saw and sorted(each[:2] for each in alone.has) == left:
            return True
    return False


# -- the exploration ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class State:
    sagas: tuple[Saga, ...]
    world: World = World()
    late: frozenset[tuple[int, str, bool]] = frozenset()
    """Calls of dead workers, which may land at any moment: saga, operation, whether it undoes."""
    kept: tuple[Holding, ...] = ()
    """As a store keeps them: changed with every append."""
    troubles: int = 1

    @property
    def key(self) -> object:
        sagas = tuple((saga.stage, saga.cancel_by, bool(saga.body_fault), *map(_key, saga.in_order())) for saga in self.sagas)
        return sagas, self.world, self.late, self.troubles


def _key(operation: Operation) -> object:
    return operation.status, operation.in_flight, operation.attempts, operation.lost


@dataclass
class Exploration:
    plans: tuple[Plan, ...]
    troubles: int = 1
    driver: e.Driver = e.Driver.WORKFLOW
    states: int = 0
    ends: set[tuple[Stage, ...]] = field(default_factory=set)
    together: bool = False
    """Both had begun before either had ended."""
    faults: list[str] = field(default_factory=list)

    def run(self) -> Exploration:
        names = "AB"[: len(self.plans)]
        sagas = tuple(begin(name, e.Entry(1, 1, float(i), e.SagaBegun(self.driver, "", None))) for i, name in enumerate(names))
        stack = [State(sagas, troubles=self.troubles)]
        known = {stack[0].key}
        while stack:
            state = stack.pop()
            self.states += 1
            following = list(self.moves(state))
            self.check(state, is_end=not following)
            for each in following:
                if each.key not in known:
                    known.add(each.key)
                    stack.append(each)
        return self

    def check(self, state: State, *, is_end: bool) -> None:
        stages = tuple(saga.stage for saga in state.sagas)
        self.together |= all(saga.index.in_flight for saga in state.sagas)
        told = [each for saga in state.sagas for each in holdings_of(saga, saga.index.locking)]
        if sorted(each[:3] for each in told) != sorted(each[:3] for each in state.kept):
            self.faults.append(f"I11: the store keeps {state.kept}, the journals say {told}")
        if any(in_the_way([each], state.kept) for each in state.kept):
            self.faults.append(f"I11: {state.kept} are kept together")
        if not is_end:
            return
        self.ends.add(stages)
        if not set(stages) <= {Stage.COMMITTED, Stage.COMPENSATED}:
            self.faults.append(f"nothing moves, and the sagas are {stages}")
        committed = tuple(saga.id for saga in state.sagas if saga.stage is Stage.COMMITTED)
        if not has_serial_order(state.world, dict(zip("AB", self.plans, strict=True)), committed):
            self.faults.append(f"no serial order of {committed}: {state.world}")

    def moves(self, state: State) -> Iterator[State]:
        for number, saga in enumerate(state.sagas):
            yield from self._planning(state, number, saga)
            yield from self._steps(state, number, saga)
            yield from self._answers(state, number, saga)
            yield from self._troubles(state, number, saga)
        for each in state.late:
            number, operation, undoes = each
            yield replace(self._landed(state, number, operation, undoes=undoes), late=state.late - {each})

    def _planning(self, state: State, number: int, saga: Saga) -> Iterator[State]:
        specs = self._specs(number)
        if self.driver is e.Driver.WORKFLOW:
            if saga.stage is Stage.PLANNING:
                yield from self._told(state, number, c.AcceptPlan(specs))
            return
        operations = list(saga.in_order())
        if saga.stage is not Stage.RUNNING or saga.body_completed or saga.body_fault:
            return
        if any(each.failed for each in operations):
            yield from self._told(state, number, c.RaiseBody(e.Fault("failed", "failed")))
        elif not all(each.succeeded for each in operations):
            return
        elif len(operations) == len(specs):
            yield from self._told(state, number, c.CompleteBody(frozenset(saga.operations)))
        else:
            asking = list(self._told(state, number, c.PlanOperation(specs[len(operations)])))
            yield from asking or self._refused(state, number, saga, specs[len(operations)])

    def _refused(self, state: State, number: int, saga: Saga, spec: OperationSpec) -> Iterator[State]:
        """Who may not wait is told, and its body fails."""
        asked = [Holding(saga.id, spec.id, lock, saga.begun_at, 1) for lock in spec.locks]
        if not core_locks.may_wait_for(saga, in_the_way(asked, state.kept)):
            yield from self._told(state, number, c.RaiseBody(e.Fault("locked", "told")))

    def _specs(self, number: int) -> tuple[OperationSpec, ...]:
        return tuple(
            OperationSpec(
                id=str(index),
                action="take",
                kind=ActionKind.COMPENSATABLE,
                inputs=None,
                depends_on=(str(index - 1),) if index else (),
                policy=POLICY,
                guarantees=GuaranteeTerms(dedup_s=1000.0),
                locks=(lock,),
            )
            for index, lock in enumerate(self.plans[number])
        )

    def _told(self, state: State, number: int, command: c.Command) -> Iterator[State]:
        saga = state.sagas[number]
        yield from self._appended(state, number, decide(saga, command, NOW))

    def _appended(self, state: State, number: int, events: tuple[e.Event, ...]) -> Iterator[State]:
        """One commit: its events, what follows from them without an effect, and its locks; nothing if those are not free."""
        before = saga = state.sagas[number]
        for event in events:
            saga = evolve(saga, e.Entry(saga.version + 1, saga.epoch, NOW, event))
        while records := [each for each in next_steps(saga, NOW) if isinstance(each, Record)]:
            saga = evolve(saga, e.Entry(saga.version + 1, saga.epoch, NOW, records[0].event))
        change = lock_change(before, saga)
        kept = state.kept
        if change is not None:
            if in_the_way(change.asked, kept):
                return
            freed = [each for each in kept if each.saga_id == saga.id and each.operation in change.freed]
            kept = (*(each for each in kept if each not in freed), *change.asked, *change.recorded)
        yield replace(state, sagas=(*state.sagas[:number], saga, *state.sagas[number + 1 :]), kept=kept)

    def _steps(self, state: State, number: int, saga: Saga) -> Iterator[State]:
        for step in next_steps(saga, NOW):
            if isinstance(step, CallAction | CallCompensation):
                yield from self._appended(state, number, (intent(saga, step, NOW),))

    def _answers(self, state: State, number: int, saga: Saga) -> Iterator[State]:
        for operation in saga.in_order():
            if not operation.in_flight:
                continue
            undoes = operation.undo is not None
            told = c.UndoReplied(operation.id, None) if undoes else c.ActionReplied(operation.id, None)
            yield from self._told(self._landed(state, number, operation.id, undoes=undoes), number, told)
            if not undoes and not operation.claiming and state.troubles and not operation.lost:
                spent = replace(state, troubles=state.troubles - 1)
                yield from self._told(spent, number, c.ActionRefused(operation.id, e.Fault("no", "no")))

    def _landed(self, state: State, number: int, operation: str, *, undoes: bool) -> State:
        name, index = state.sagas[number].id, int(operation)
        world = state.world.undo(name, index) if undoes else state.world.land(name, index, self.plans[number][index])
        return replace(state, world=world)

    def _troubles(self, state: State, number: int, saga: Saga) -> Iterator[State]:
        if not state.troubles or saga.stage not in (Stage.RUNNING, Stage.COMPENSATING):
            return
        spent = replace(state, troubles=state.troubles - 1)
        late = {(number, each.id, each.undo is not None) for each in saga.in_order() if each.in_flight}
        taken = evolve(saga, e.Entry(saga.version + 1, saga.epoch + 1, NOW, e.LeaseTaken("another")))
        crashed = replace(spent, sagas=(*state.sagas[:number], taken, *state.sagas[number + 1 :]), late=state.late | late)
        yield from self._appended(crashed, number, ())
        if saga.stage is Stage.RUNNING and not saga.cancel_by:
            yield from self._told(spent, number, c.Cancel("somebody", 1))


# -- what it shows -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("driver", [e.Driver.WORKFLOW, e.Driver.BODY])
@pytest.mark.parametrize("name", CASES)
def test_rule_12_every_interleaving_has_a_serial_order(name: str, driver: e.Driver) -> None:
    found = Exploration(CASES[name], troubles=2, driver=driver).run()
    assert found.faults == []
    assert {(Stage.COMMITTED, Stage.COMMITTED), (Stage.COMMITTED, Stage.COMPENSATED)} <= found.ends
    assert found.states > 300, found.states


def test_rule_12_what_does_not_meet_runs_side_by_side() -> None:
    found = Exploration(APART).run()
    assert (found.faults, found.together) == ([], True)


@pytest.mark.parametrize("name", CASES)
def test_without_locks_the_judge_finds_sagas_that_no_serial_order_explains(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _unlocked(monkeypatch)
    faults = Exploration(CASES[name]).run().faults
    assert any(each.startswith("no serial order") for each in faults)


def test_a_lock_that_is_freed_before_its_saga_ends_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if an operation's lock went when its call has returned."""
    keeps = core_locks.keeps_locks
    _with_keeping(monkeypatch, lambda saga, operation: keeps(saga, operation) and not operation.succeeded)
    assert any(each.startswith("no serial order") for each in Exploration(REUNIONS).run().faults)


def test_a_saga_that_waits_for_an_older_one_while_it_keeps_something_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core_locks, "may_wait_for", lambda _saga, _blockers: True)
    faults = Exploration(SHOPS, driver=e.Driver.BODY).run().faults
    assert any(each.startswith("nothing moves") for each in faults)


def _with_keeping(monkeypatch: pytest.MonkeyPatch, keeps: Callable[..., bool]) -> None:
    from sagagraph.saga.core.evolve import index

    monkeypatch.setattr(index, "keeps_locks", keeps)


def _unlocked(monkeypatch: pytest.MonkeyPatch) -> None:
    _with_keeping(monkeypatch, lambda _saga, _operation: False)


# -- the three of the textbooks, one history each ----------------------------------------------------------------------------


def _history(monkeypatch: pytest.MonkeyPatch, *, locked: bool, plans: tuple[Plan, ...], moves: str) -> Any:
    """Let A and B move in this order: `A`, `B` plans and lands its next operation; `a`, `b` undoes all of it.

    Returns the world, or whose turn was refused.
    """
    if not locked:
        _unlocked(monkeypatch)
    exploration = Exploration(plans, driver=e.Driver.BODY)
    sagas = tuple(begin(name, e.Entry(1, 1, float(i), e.SagaBegun(e.Driver.BODY, "", None))) for i, name in enumerate("AB"))
    state = State(sagas)
    for move in moves:
        number = "AB".index(move.upper())
        if move.islower():
            state = _ended(exploration, next(exploration._told(state, number, c.RaiseBody(e.Fault("no", "no")))), number)
            continue
        spec = exploration._specs(number)[len(state.sagas[number].operations)]
        planned = list(exploration._told(state, number, c.PlanOperation(spec)))
        if not planned:
            return move
        state = _ended(exploration, planned[0], number)
    return state.world


def _ended(exploration: Exploration, state: State, number: int) -> State:
    """Everything that is due of this saga has happened."""
    while following := [*exploration._steps(state, number, state.sagas[number])] or [
        *exploration._answers(state, number, state.sagas[number])
    ]:
        state = following[0]
    return state


CAR = Lock("car")
TEXTBOOK = {
    "lost update": (((CAR,), (CAR,)), "AB", lambda world: dict(world.seen)["B", 0] == 1),
    "dirty read": (((CAR,), (Lock("car", LockMode.SHARED),)), "ABa", lambda world: dict(world.seen)["B", 0] == 1),
    "fuzzy read": (
        ((Lock("car", LockMode.SHARED), Lock("car", LockMode.SHARED)), (CAR,)),
        "ABA",
        lambda world: dict(world.seen)["A", 0] != dict(world.seen)["A", 1],
    ),
}


@pytest.mark.parametrize("name", TEXTBOOK)
def test_rule_12_the_textbook_anomaly_happens_only_without_locks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plans, moves, has_happened = TEXTBOOK[name]
    assert _history(monkeypatch, locked=True, plans=plans, moves=moves) == "B"
    assert has_happened(_history(monkeypatch, locked=False, plans=plans, moves=moves))
