"""Each repair of the protocol, taken out again: the exploration must see it (docs/protocol.md, planted faults).

So no repair is there for nothing, and no invariant is a check that cannot fail.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec.structs import replace

from sagagraph.saga.core import commands, dependencies, next_steps
from sagagraph.saga.core import events as e
from sagagraph.saga.core.decide import bodies, calls, decide, plans
from sagagraph.saga.core.doubt import in_doubt, settling
from sagagraph.saga.core.evolve import evolve, index, sagas
from sagagraph.saga.core.state import Operation, Saga, Stage
from sagagraph.saga.core.status import OperationStatus, SagaStatus
from sagagraph.saga.core.steps import Record, Step
from tests.saga.cases import COMPENSATABLE, PIVOT, RETRIABLE, Case
from tests.saga.explorer import Explorer, Report
from tests.saga.world import Profile

Patch = pytest.MonkeyPatch
PROBE, KEYED, VOID, DEADLINE = Profile(), Profile(dedup=True), Profile(void=True), Profile(deadline=True)
KEYED_BLIND = Profile(dedup=True, probe=False)
FINAL_NO = Profile(refusals_final=True)
KEYED_FINAL_NO = Profile(dedup=True, refusals_final=True)

SETTLING = Profile(settles=True)
COPING = Profile(settles=True, copes=True, probe=False)

ALONE = ((COMPENSATABLE,), ((),))
CHAIN = ((COMPENSATABLE, COMPENSATABLE), ((), (0,)))
APART = ((COMPENSATABLE, COMPENSATABLE), ((), ()))
PIVOT_APART = ((COMPENSATABLE, PIVOT), ((), ()))
BODY = e.Driver.BODY
PIVOT_FIRST = ((PIVOT, RETRIABLE), ((), (0,)))


def case(saga: tuple[Any, Any], profile: Profile, **options: Any) -> Case:
    kinds, edges = saga
    return Case(kinds, edges, (profile,) * len(kinds), **options)


@dataclass(frozen=True)
class Planted:
    """A fault, the small saga that shows it, and the invariant that it breaks there."""

    name: str
    plant: Callable[[Patch], None]
    case: Case
    troubles: int
    breaks: str
    options: dict[str, Any] = field(default_factory=dict)
    after: tuple[str, ...] = ()

    def explore(self) -> Report:
        explorer = Explorer(self.case, self.troubles, **self.options)
        return explorer.explore(after=self.after, first_only=self.breaks != "I10")

    def __str__(self) -> str:
        return self.name


# -- rule 3: nothing is silently done twice ------------------------------------------------------------------------------------


def lost_is_failed(patch: Patch) -> None:
    patch.setitem(decide._DECIDE, commands.ActionLost, lambda _saga, lost, _now: (e.OperationFailed(lost.operation, lost.fault),))


def absent_allows_an_attempt(patch: Patch) -> None:
    real = in_doubt._settle_by_probe

    def careless(operation: Operation, now: float, *, after_pivot: bool) -> Step:
        if operation.probe is e.ProbeAnswer.ABSENT:
            return in_doubt._repeat(operation, now, after_pivot=after_pivot)
        return real(operation, now, after_pivot=after_pivot)

    patch.setattr(in_doubt, "_settle_by_probe", careless)


def absent_closes_when_going_back(patch: Patch) -> None:
    real = next_steps.seal

    def careless(operation: Operation, now: float, *, may_claim: bool, may_void: bool = True) -> Step:
        if operation.probe is e.ProbeAnswer.ABSENT:
            return Record(e.OperationFailed(operation.id, e.Fault("absent", "absent")))
        return real(operation, now, may_claim=may_claim, may_void=may_void)

    patch.setattr(next_steps, "seal", careless)


def giving_up_does_not_seal(patch: Patch) -> None:
    failed = e.Fault("exhausted", "exhausted")
    patch.setattr(in_doubt, "_exhausted", lambda operation, **_: Record(e.OperationFailed(operation.id, failed)))


def a_later_refusal_is_definite(patch: Patch) -> None:
    real = decide._DECIDE[commands.ActionRefused]

    def careless(saga: Saga, refused: commands.ActionRefused, now: float) -> decide.Events:
        operation = replace(saga.operations[refused.operation], lost=0)
        return real(replace(saga, operations=saga.operations.set(operation.id, operation)), refused, now)

    patch.setitem(decide._DECIDE, commands.ActionRefused, careless)


def a_refusal_for_now_is_definite(patch: Patch) -> None:
    real = decide._DECIDE[commands.ActionRefused]

    def definite(saga: Saga, command: commands.ActionRefused, now: float) -> tuple[e.Event, ...]:
        operation = saga.operations[command.operation]
        if command.transient and operation.lost and operation.spec.guarantees.refusals_final:
            return (e.AttemptRefused(operation.id, command.fault, now),)
        return tuple(real(saga, command, now))

    patch.setitem(decide._DECIDE, commands.ActionRefused, definite)


def retention_is_eternal(patch: Patch) -> None:
    for module in (in_doubt, calls):
        patch.setattr(module, "remembers_key", lambda operation, _now: operation.spec.guarantees.dedup_s is not None)


def clocks_are_one(patch: Patch) -> None:
    for module in (in_doubt, settling):
        patch.setattr(module, "margin_s", lambda _operation: 0.0)


def a_probe_before_the_deadline_seals(patch: Patch) -> None:
    for module in (in_doubt, calls):
        patch.setattr(module, "is_final", lambda _operation, _at: True)
    patch.setattr(in_doubt, "final_from", lambda _operation: 0.0)


def absence_is_believed_too_early(patch: Patch) -> None:
    for module in (in_doubt, settling):
        patch.setattr(module, "settled_from", lambda operation: None if operation.senders else operation.quiet_since)


def a_sender_that_may_be_alive_is_forgotten(patch: Patch) -> None:
    def careless(operation: Operation) -> float | None:
        settles_s = operation.spec.guarantees.settles_s
        return None if settles_s is None else operation.quiet_since + settles_s

    for module in (in_doubt, settling):
        patch.setattr(module, "settled_from", careless)


def a_void_without_a_tombstone_does_not_wait(patch: Patch) -> None:
    patch.setattr(in_doubt, "_leaves_no_tombstone", lambda _operation: False)


def what_settled_proves_an_undo_too_early(patch: Patch) -> None:
    real = in_doubt._resettle_by_waiting
    patch.setattr(in_doubt, "_resettle_by_waiting", lambda operation, _instant, now: real(operation, 0.0, now))
    patch.setattr(in_doubt, "is_settled_by", lambda operation, answer: operation.probe is answer)


def a_claim_is_not_undone(patch: Patch) -> None:
    real = decide._DECIDE[commands.ActionReplied]

    def careless(saga: Saga, replied: commands.ActionReplied, now: float) -> decide.Events:
        if saga.operations[replied.operation].claiming:
            return (e.OperationFailed(replied.operation, e.Fault("claimed", "claimed")),)
        return real(saga, replied, now)

    patch.setitem(decide._DECIDE, commands.ActionReplied, careless)


def a_claim_rests_on_what_is_undone(patch: Patch) -> None:
    patch.setattr(next_steps, "rests_on_undone", lambda _saga, _operation: False)


def keys_stay_after_a_final_refusal(patch: Patch) -> None:
    real = evolve._OF_ONE_OPERATION[e.AttemptRefused]

    def careless(operation: Operation, event: e.AttemptRefused, at: float) -> Operation:
        return replace(real(operation, event, at), generation=operation.generation)

    patch.setitem(evolve._OF_ONE_OPERATION, e.AttemptRefused, careless)


# -- rule 4: compensation ----------------------------------------------------------------------------------------------


def undone_when(patch: Patch, may_be_undone: Callable[[Saga, Operation], bool]) -> None:
    real = next_steps._due

    def careless(saga: Saga) -> list[Operation]:
        if saga.stage is not Stage.COMPENSATING:
            return real(saga)
        live = [each for each in saga.in_order() if not each.in_flight and not dependencies.is_closed(each)]
        return [each for each in live if may_be_undone(saga, each)]

    patch.setattr(next_steps, "_due", careless)


def any_order(patch: Patch) -> None:
    undone_when(patch, lambda _saga, _operation: True)


def ancestors_first(patch: Patch) -> None:
    def after_what_it_needs(saga: Saga, operation: Operation) -> bool:
        return all(dependencies.is_closed(saga.operations[each]) for each in operation.spec.depends_on)

    undone_when(patch, after_what_it_needs)


def any_undo_may_be_repeated(patch: Patch) -> None:
    patch.setattr(in_doubt, "_remembers_undo_key", lambda _operation, _undo, _now: True)


def absent_proves_an_undo(patch: Patch) -> None:
    real = decide._DECIDE[commands.ProbeAnswered]

    def careless(saga: Saga, answered: commands.ProbeAnswered, now: float) -> decide.Events:
        undoing = saga.operations[answered.operation].status is OperationStatus.COMPENSATING
        if undoing and answered.answer is e.ProbeAnswer.ABSENT:
            return (e.OperationCompensated(answered.operation, None, e.Via.PROBE),)
        return real(saga, answered, now)

    patch.setitem(decide._DECIDE, commands.ProbeAnswered, careless)


def calls_are_not_awaited(patch: Patch) -> None:
    patch.setattr(index, "is_calling_forward", lambda _operation: False)


def a_contradicted_undo_is_repeated(patch: Patch) -> None:
    real = evolve._OF_ONE_OPERATION[e.CompensationFailed]

    def careless(operation: Operation, event: e.CompensationFailed, at: float) -> Operation:
        return replace(real(operation, event, at), undo=operation.undo)

    patch.setitem(evolve._OF_ONE_OPERATION, e.CompensationFailed, careless)


def a_rejected_operation_counts_as_settled(patch: Patch) -> None:
    patch.setattr(index, "is_settled", lambda operation: operation.status in dependencies._SETTLED)


# -- rule 5: the pivot -------------------------------------------------------------------------------------------------


def no_gate(patch: Patch) -> None:
    patch.setattr(next_steps, "is_past_pivot_gate", lambda _saga: True)


def an_open_pivot_is_ignored(patch: Patch) -> None:
    patch.setattr(Saga, "pivot_is_open", property(lambda _saga: False))


def a_cancel_is_not_queued(patch: Patch) -> None:
    real = next_steps._turn
    patch.setattr(next_steps, "_turn", lambda saga: e.SagaTurnedBack("cancelled") if saga.cancel_by else real(saga))


def a_pivot_gives_way_to_what_comes_after_it(patch: Patch) -> None:
    patch.setattr(next_steps, "_has_no_way_back", lambda saga, operation: dependencies.comes_after_pivot(saga, operation.id))
    patch.setattr(next_steps, "descendants", lambda _saga, *_names: frozenset())  # whatever is sealed may be voided


def what_a_person_undid_is_forgotten(patch: Patch) -> None:
    real = index.is_fatal
    patch.setattr(index, "is_fatal", lambda each: each.status is not OperationStatus.COMPENSATED and real(each))


# -- rules 1, 6, 8 and 9 -----------------------------------------------------------------------------------------------


def nothing(_patch: Patch) -> None:
    """The fault is the explorer's: calls go out before their intents are durable."""


def epochs_are_not_checked(patch: Patch) -> None:
    real = evolve.evolve
    patch.setattr(evolve, "evolve", lambda saga, entry: real(saga, replace(entry, epoch=max(entry.epoch, saga.epoch))))


def a_takeover_forgets_what_was_under_way(patch: Patch) -> None:
    real = sagas.taken_over

    def careless(operation: Operation, before: str) -> Operation:
        if operation.status is OperationStatus.STARTED:
            return replace(operation, status=OperationStatus.PLANNED, in_flight=False)
        return real(operation, before)

    patch.setattr(sagas, "taken_over", careless)


def removed_operations_stay(patch: Patch) -> None:
    done, backward = index.is_done_with, next_steps._backward_step

    def only_going_back(saga: Saga, operation: Operation, now: float) -> Step | None:
        return None if saga.stage is Stage.RUNNING else backward(saga, operation, now)

    patch.setattr(index, "is_done_with", lambda operation: operation.removed or done(operation))
    patch.setattr(next_steps, "_backward_step", only_going_back)


def what_is_in_doubt_may_be_removed(patch: Patch) -> None:
    real = plans._check_removable

    def careless(saga: Saga, name: str, removed: set[str], replaced: Mapping[str, str]) -> None:
        if saga.operations[name].status is not OperationStatus.IN_DOUBT:
            real(saga, name, removed, replaced)

    patch.setattr(plans, "_check_removable", careless)
    a_plan_changes_although_the_pivot_has_landed(patch)


def a_plan_changes_although_the_pivot_has_landed(patch: Patch) -> None:
    patch.setattr(plans, "_check_pivot_allows", lambda _saga, _command: None)


def what_is_kept_rests_on_what_went(patch: Patch) -> None:
    patch.setattr(sagas, "with_replaced", lambda saga, _replaced: saga)


def what_becomes_ready_is_not_noticed(patch: Patch) -> None:
    patch.setattr(index, "_with_prerequisite", lambda unsettled, _dependents, _by: unsettled)


def what_becomes_free_is_not_noticed(patch: Patch) -> None:
    patch.setattr(index, "_spread", lambda _saga, below, _origin, by: (below, []))


def other_prerequisites_are_ignored(patch: Patch) -> None:
    patch.setattr(bodies, "_with_other_prerequisites", lambda _saga, _known, _command: ())


def other_prerequisites_are_not_checked(patch: Patch) -> None:
    patch.setattr(bodies, "_why_not_after", lambda _saga, _known, _name: "")


def other_prerequisites_do_not_bind(patch: Patch) -> None:
    """They are kept with the operation, but what must wait for it is not told."""
    real = evolve._OF_THE_SAGA[e.PrerequisitesAdded]

    def careless(saga: Saga, event: e.PrerequisitesAdded, at: float) -> Saga:
        return replace(real(saga, event, at), dependents=saga.dependents)

    patch.setitem(evolve._OF_THE_SAGA, e.PrerequisitesAdded, careless)


PLANTED = [
    Planted("an ambiguous error is a failure", lost_is_failed, case(ALONE, PROBE), 0, "I4"),
    Planted("absent allows a new attempt", absent_allows_an_attempt, case(ALONE, PROBE), 1, "I1"),
    Planted("absent closes when going back", absent_closes_when_going_back, case(ALONE, PROBE), 2, "I4"),
    Planted("giving up does not seal", giving_up_does_not_seal, case(ALONE, KEYED), 1, "I4"),
    Planted("a refusal of a later attempt is definite", a_later_refusal_is_definite, case(ALONE, KEYED), 1, "I4"),
    Planted("a refusal for now is definite", a_refusal_for_now_is_definite, case(ALONE, KEYED_FINAL_NO), 2, "I2"),
    Planted("keys are remembered for ever", retention_is_eternal, case(ALONE, KEYED_BLIND), 1, "I2"),
    Planted("clocks are one clock", clocks_are_one, case(ALONE, DEADLINE), 1, "I4"),
    Planted("a probe before the deadline seals", a_probe_before_the_deadline_seals, case(ALONE, DEADLINE), 1, "I4"),
    Planted("absence is believed too early", absence_is_believed_too_early, case(ALONE, SETTLING), 1, "I4"),
    Planted("a living sender is forgotten", a_sender_that_may_be_alive_is_forgotten, case(ALONE, SETTLING), 2, "I4"),
    Planted("a void without a tombstone does not wait", a_void_without_a_tombstone_does_not_wait, case(ALONE, COPING), 1, "I4"),
    Planted("an undo is asked about too early", what_settled_proves_an_undo_too_early, case(ALONE, SETTLING), 2, "I4"),
    Planted("an exception lied", nothing, case(ALONE, SETTLING), 1, "I4", {"kinds": frozenset({"lie"})}),
    Planted("what a claim landed is not undone", a_claim_is_not_undone, case(ALONE, KEYED), 2, "I4"),
    Planted("a claim rests on what is undone", a_claim_rests_on_what_is_undone, case(CHAIN, KEYED), 2, "I5"),
    Planted(
        "keys stay after a final refusal",
        keys_stay_after_a_final_refusal,
        case(ALONE, FINAL_NO),
        1,
        "I10",
        after=("CallAction 0", "call 0 refused for now"),
    ),
    Planted("compensations in any order", any_order, case(CHAIN, PROBE), 1, "I5"),
    Planted("compensations in forward order", ancestors_first, case(CHAIN, PROBE), 1, "I5"),
    Planted("an unkeyed compensation is repeated", any_undo_may_be_repeated, case(ALONE, PROBE), 1, "I3"),
    Planted("absent proves an undo", absent_proves_an_undo, case(ALONE, PROBE), 2, "I4"),
    Planted("calls are not awaited before compensating", calls_are_not_awaited, case(APART, PROBE), 1, "I5"),
    Planted("a contradicted undo is repeated", a_contradicted_undo_is_repeated, case(ALONE, PROBE), 3, "I3"),
    Planted(
        "what was rejected counts as settled",
        a_rejected_operation_counts_as_settled,
        case(CHAIN, PROBE, handler_of=0),
        1,
        "I5",
    ),
    Planted("the pivot has no gate", no_gate, case(PIVOT_APART, PROBE), 0, "I1"),
    Planted("an open pivot is ignored", an_open_pivot_is_ignored, case(PIVOT_APART, PROBE), 1, "I6"),
    Planted("a cancel is not queued", a_cancel_is_not_queued, case(PIVOT_APART, PROBE), 1, "I6"),
    Planted("a pivot gives way to what comes after", a_pivot_gives_way_to_what_comes_after_it, case(PIVOT_FIRST, VOID), 2, "I5"),
    Planted("what a person undid is forgotten", what_a_person_undid_is_forgotten, case(ALONE, PROBE), 2, "I1"),
    Planted("an intent is dropped", nothing, case(ALONE, PROBE), 1, "I8", {"call_first": True}),
    Planted("the epoch is not checked", epochs_are_not_checked, case(ALONE, PROBE), 1, "I8"),
    Planted("a takeover forgets", a_takeover_forgets_what_was_under_way, case(ALONE, PROBE), 1, "I1"),
    Planted("removed operations stay", removed_operations_stay, case(APART, PROBE, alternative_of=0), 1, "I1"),
    Planted(
        "a replan while in doubt",
        what_is_in_doubt_may_be_removed,
        Case((PIVOT, PIVOT), ((), ()), (PROBE, PROBE), alternative_of=0),
        1,
        "I7",
    ),
    Planted(
        "a plan changes although the pivot has landed",
        a_plan_changes_although_the_pivot_has_landed,
        Case((COMPENSATABLE, PIVOT, COMPENSATABLE), ((), (0,), ()), (PROBE,) * 3, alternative_of=0, revisable=True),
        1,
        "I1",
    ),
    Planted(
        "what is kept rests on what went",
        what_is_kept_rests_on_what_went,
        Case((COMPENSATABLE,) * 3, ((), (0,), ()), (PROBE,) * 3, alternative_of=0, revisable=True),
        1,
        "I7",
    ),
    Planted("other prerequisites are ignored", other_prerequisites_are_ignored, case(APART, PROBE, driver=BODY), 1, "I5"),
    Planted("other prerequisites do not bind", other_prerequisites_do_not_bind, case(APART, PROBE, driver=BODY), 2, "I5"),
    Planted("other prerequisites are not checked", other_prerequisites_are_not_checked, case(APART, PROBE, driver=BODY), 2, "I7"),
    Planted("what becomes ready is not noticed", what_becomes_ready_is_not_noticed, case(CHAIN, PROBE), 0, "I7"),
    Planted("what becomes free is not noticed", what_becomes_free_is_not_noticed, case(CHAIN, PROBE), 1, "I7"),
]


@pytest.mark.parametrize("planted", PLANTED, ids=str)
def test_a_planted_fault_is_caught(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "_KNOWN", {})  # what the sound core knew of operations must not cover the fault up
    planted.plant(monkeypatch)
    report = planted.explore()
    if planted.breaks == "I10":
        assert SagaStatus.COMMITTED not in report.endings
    else:
        assert any(name.startswith(planted.breaks) for name in report.violations), report.violations


@pytest.mark.proof  # the sound core is explored in `test_exploration`, in other cases
@pytest.mark.parametrize("planted", PLANTED, ids=str)
def test_without_the_fault_nothing_is_found(planted: Planted) -> None:
    sound = dataclasses.replace(planted, options={})
    report = sound.explore()
    assert not report.violations
    assert not report.cut
    assert planted.breaks != "I10" or SagaStatus.COMMITTED in report.endings


# -- the last check is for providers that do not keep their promises --------------------------------------------------------


def _explored_with_a_liar() -> Report:
    return Explorer(case(ALONE, KEYED), 2, kinds=frozenset({"cancel", "lie"})).explore()


def test_the_last_check_finds_an_undo_that_was_acknowledged_but_not_done() -> None:
    """Against honest providers it finds nothing; this is what it is there for (rule 9)."""
    assert not [name for name in _explored_with_a_liar().violations if name.startswith("I2")]


def test_without_the_last_check_such_a_saga_ends_as_compensated(monkeypatch: pytest.MonkeyPatch) -> None:
    def unchecked(_saga: Saga, *, committing: bool) -> Step:
        return Record(e.SagaCommitted() if committing else e.SagaCompensated())

    monkeypatch.setattr(next_steps, "_verification", unchecked)
    assert [name for name in _explored_with_a_liar().violations if name.startswith("I2")]
