"""What the exploration of one saga leaves out: sagas that undo or change another one, a store that was restored, real outputs.

A saga that changes or undoes another is explored like any other: its operations that undo land where those of the other stood. At
its end its parent is told, and must say of everything what the providers say.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pytest

from sagagraph.saga.core import amendments, commands
from sagagraph.saga.core import events as e
from sagagraph.saga.core.amendments import amendment_of, outcome_for_parent
from sagagraph.saga.core.decide import decide
from sagagraph.saga.core.evolve import evolve, index, sagas
from sagagraph.saga.core.reversals import is_live
from sagagraph.saga.core.state import Saga, Stage
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine import reversal
from sagagraph.saga.engine.reversal import plan_reversal, undoing_specs
from sagagraph.workflow.operation import OperationSpec
from tests.saga.cases import COMPENSATABLE, PIVOT, RETRIABLE, Case, Edges
from tests.saga.conftest import Explore
from tests.saga.explorer import TROUBLES, Explorer, Report
from tests.saga.invariants import violations
from tests.saga.story import spec
from tests.saga.test_amendment import ACTIONS, Journal, beginning
from tests.saga.test_planted_faults import absent_allows_an_attempt
from tests.saga.world import Profile, Provider

FULL = os.environ.get("SAGAGRAPH_EXPLORE") == "full"
LIMIT = 400_000 if FULL else 5_000
BOTH_ENDS = {SagaStatus.COMMITTED, SagaStatus.COMPENSATED}
NOTHING, PROBE, KEYED, KEYED_BLIND = Profile(probe=False), Profile(), Profile(dedup=True), Profile(dedup=True, probe=False)
VOID, DEADLINE = Profile(void=True), Profile(deadline=True)
Patch = pytest.MonkeyPatch


def paid() -> Journal:
    """A flight and its payment."""
    trip = Journal("trip", "wish")
    trip.append(e.PlanAccepted(1, (spec("flight"), spec("pay", PIVOT, "flight"))))
    trip.do("flight", "pay")
    trip.append(e.SagaCommitted())
    return trip


def _edges(first: Edges, undoing: Sequence[OperationSpec], places: dict[str, int]) -> Edges:
    by_place = sorted(undoing, key=lambda each: places[each.id])
    return (*first, *(tuple(sorted(places[each] for each in spec.depends_on)) for spec in by_place))


@dataclass(frozen=True)
class Family:
    """A saga that changes or undoes the trip."""

    case: Case
    begun: Saga
    judge: Callable[[Saga, Sequence[Provider]], Iterator[str]]

    def options(self) -> dict[str, object]:
        return {"begun": self.begun, "judge": self.judge}

    def explore(self, troubles: int, kinds: frozenset[str] = TROUBLES) -> Report:
        return Explorer(self.case, troubles, losses=1, limit=60_000, kinds=kinds, **self.options()).explore(first_only=True)  # type: ignore[arg-type]


def amendment(profile: Profile) -> Family:
    """Another flight (0) and another payment (1); then the old payment (2) and the old flight (3) are undone."""
    trip = paid()
    trip.tell(beginning(trip.saga))
    assert trip.saga.amending is not None
    begun = evolve.begin(
        trip.saga.amending.saga, e.Entry(1, 1, 0.0, e.SagaBegun(e.Driver.WORKFLOW, "test", trip.saga.amending.request))
    )
    asked = amendment_of(begun)
    assert asked is not None
    undoing = [*undoing_specs(asked, ("pay", "flight"), "undo", "1", ACTIONS)]
    edges = _edges(((), (0,)), undoing, {"1": 1, "undo pay": 2, "undo flight": 3})
    case = Case((COMPENSATABLE, PIVOT, RETRIABLE, RETRIABLE), edges, (profile,) * 4, names=("0", "1", "2 pay", "3 flight"))

    def judge(saga: Saga, providers: Sequence[Provider]) -> Iterator[str]:
        yield from violations(saga, providers)
        yield from _undone_in_order(*providers[2:])
        if providers[2].landings and not providers[1].live:
            yield "I6 the old payment is undone although the new one does not stand"
        if saga.stage in (Stage.COMMITTED, Stage.COMPENSATED):
            stands = {"flight": not providers[3].landings, "pay": not providers[2].landings}
            stands |= {name: providers[int(name)].live > 0 for name in "01"}
            if _told(trip, saga) != {name for name, is_there in stands.items() if is_there}:
                yield "I1 the changed saga counts on something else than what stands"

    return Family(case, begun, judge)


def _told(trip: Journal, child: Saga) -> set[str]:
    """What the parent counts on when it has been told of the end."""
    after = Journal("trip", "wish")
    after.saga = trip.saga
    after.tell(outcome_for_parent(child))
    return {each.id for each in after.saga.in_order() if is_live(each)}


def reversing(profile: Profile) -> Family:
    plan = plan_reversal(paid().saga, lambda name, _version: ACTIONS[name])
    edges = _edges((), plan.operations, {"undo pay": 0, "undo flight": 1})
    case = Case((RETRIABLE,) * 2, edges, (profile,) * 2, names=("0 pay", "1 flight"), driver=e.Driver.REVERSAL)
    begun = evolve.begin("trip~reversal", e.Entry(1, 1, 0.0, e.SagaBegun(e.Driver.REVERSAL, "test", {"reverses": "trip"})))

    def judge(saga: Saga, providers: Sequence[Provider]) -> Iterator[str]:
        yield from violations(saga, providers)
        yield from _undone_in_order(*providers)

    return Family(case, begun, judge)


def _undone_in_order(payment: Provider, flight: Provider) -> Iterator[str]:
    if flight.landings and not payment.landings:
        yield "I5 the flight is undone before what rests on it"


WITHOUT_CANCEL = TROUBLES - {"cancel"}
"""Nobody cancels a reversal."""


@pytest.mark.parametrize("profile", [NOTHING, PROBE, KEYED, KEYED_BLIND], ids=str)
def test_an_amendment_leaves_the_old_trip_or_the_new_one(profile: Profile, explore: Explore) -> None:
    """Its parent is told at every end, in whatever trouble that was reached."""
    family = amendment(profile)
    report = explore(family.case, 2 if FULL else 1, losses=None if FULL else 1, limit=LIMIT, **family.options())
    assert report.cut or report.endings == BOTH_ENDS


@pytest.mark.parametrize("profile", [NOTHING, PROBE, KEYED, KEYED_BLIND], ids=str)
def test_a_reversal_undoes_once_and_in_order(profile: Profile, explore: Explore) -> None:
    family = reversing(profile)
    report = explore(family.case, 3 if FULL else 2, kinds=WITHOUT_CANCEL, limit=LIMIT, **family.options())
    assert report.cut or SagaStatus.COMMITTED in report.endings


# -- a journal that returns to a prefix of itself ----------------------------------------------------------------------------

RESTORED = frozenset({"restore", "crash", "timeout", "cancel"})
CHAIN = ((COMPENSATABLE, COMPENSATABLE), ((), (0,)))
PIVOT_LAST = ((COMPENSATABLE, PIVOT), ((), (0,)))
PIVOT_FIRST = ((PIVOT, RETRIABLE), ((), (0,)))


@pytest.mark.parametrize("profile", [NOTHING, PROBE, KEYED, VOID, DEADLINE], ids=str)
@pytest.mark.parametrize("saga", [CHAIN, PIVOT_LAST, PIVOT_FIRST], ids=["chain", "pivot", "after the pivot"])
def test_a_store_is_restored_to_any_earlier_state(
    saga: tuple[tuple[object, ...], Edges], profile: Profile, explore: Explore
) -> None:
    kinds, edges = saga
    case = Case(kinds, edges, (profile,) * 2)  # type: ignore[arg-type]
    explore(case, 3 if FULL else 2, kinds=RESTORED, losses=1, limit=LIMIT)


@pytest.mark.parametrize("profile", [NOTHING, PROBE, KEYED, VOID, DEADLINE], ids=str)
def test_a_handler_that_ran_before_its_store_was_restored_is_found(profile: Profile, explore: Explore) -> None:
    """What it handles may succeed this time, or never be called again: then nothing of the handler is left standing."""
    case = Case(*CHAIN, (profile,) * 2, handler_of=0)  # type: ignore[arg-type]
    explore(case, 3 if FULL else 2, kinds=RESTORED, losses=1, limit=LIMIT)


HANDLED = ((COMPENSATABLE,) * 4, ((), (0,), (1,), (0,)))
LONGER_CHAIN = ((COMPENSATABLE,) * 3, ((), (0,), (1,)))


@pytest.mark.parametrize("profile", [PROBE, KEYED, VOID, KEYED_BLIND], ids=str)
@pytest.mark.parametrize("saga", [HANDLED, LONGER_CHAIN], ids=["handled", "chain"])
def test_what_rests_on_a_rejected_operation_may_have_run_before_its_store_was_restored(
    saga: tuple[tuple[object, ...], Edges], profile: Profile, explore: Explore
) -> None:
    """It is sealed before that is undone, and neither waits for the other for ever."""
    kinds, edges = saga
    case = Case(kinds, edges, (profile,) * len(kinds), handler_of=0 if saga is HANDLED else None)  # type: ignore[arg-type]
    explore(case, 2, kinds=frozenset({"restore", "invalid", "timeout"}), losses=1, limit=LIMIT)


# -- an outcome that a body was shown and that is not written -----------------------------------------------------------------

UNWRITTEN = frozenset({"unwritten", "crash", "timeout", "cancel", "transient"})
APART = ((COMPENSATABLE, COMPENSATABLE), ((), ()))


@pytest.mark.parametrize("profile", [KEYED, KEYED_BLIND], ids=str)
@pytest.mark.parametrize("saga", [CHAIN, APART, PIVOT_LAST], ids=["chain", "apart", "pivot"])
def test_what_was_shown_and_not_written_is_found_out_again(
    saga: tuple[tuple[object, ...], Edges], profile: Profile, explore: Explore
) -> None:
    """Rule 1: the body goes on with it, and a crash takes it back."""
    kinds, edges = saga
    case = Case(kinds, edges, (profile,) * 2, driver=e.Driver.BODY)  # type: ignore[arg-type]
    report = explore(case, 3 if FULL else 2, kinds=UNWRITTEN, losses=1, limit=LIMIT)
    assert report.cut or report.endings == BOTH_ENDS


# -- planted faults ----------------------------------------------------------------------------------------------------------


def the_order_of_undoing_is_lost(patch: Patch) -> None:
    for module in (reversal, amendments):
        patch.setattr(module, "nearest_dependents", lambda *_given: set())


def what_was_undone_is_not_told(patch: Patch) -> None:
    real = amendments.outcome_for_parent

    def silent(child: Saga) -> commands.AmendSaga | commands.EndAmendment:
        told = real(child)
        return commands.EndAmendment(child.id, "") if isinstance(told, commands.AmendSaga) else told

    patch.setitem(globals(), "outcome_for_parent", silent)


def a_restored_store_is_believed(patch: Patch) -> None:
    patch.setattr(sagas, "restored", lambda operation, _at: operation)


def what_a_probe_found_is_not_kept(patch: Patch) -> None:
    real = decide._DECIDE[commands.ProbeAnswered]

    def careless(saga: Saga, answered: commands.ProbeAnswered, now: float) -> decide.Events:
        return real(saga, commands.ProbeAnswered(answered.operation, answered.answer), now)

    patch.setitem(decide._DECIDE, commands.ProbeAnswered, careless)


def restored() -> Report:
    return Explorer(Case(*CHAIN, (PROBE,) * 2), 1, kinds=RESTORED, limit=60_000).explore(first_only=True)  # type: ignore[arg-type]


def unwritten() -> Report:
    return _with_what_is_unwritten(never_written=False)


def never_written() -> Report:
    return _with_what_is_unwritten(never_written=True)


def _with_what_is_unwritten(*, never_written: bool) -> Report:
    case = Case(*CHAIN, (KEYED,) * 2, driver=e.Driver.BODY)  # type: ignore[arg-type]
    return Explorer(case, 1, kinds=UNWRITTEN, limit=60_000, never_written=never_written).explore(first_only=True)


def lost() -> Report:
    return Explorer(Case((COMPENSATABLE,), ((),), (PROBE,)), 1).explore(first_only=True)


PLANTED: dict[Callable[[Patch], None], tuple[Callable[[], Report], str]] = {
    the_order_of_undoing_is_lost: (lambda: reversing(PROBE).explore(0), "I5"),
    what_was_undone_is_not_told: (lambda: amendment(PROBE).explore(0), "I1"),
    absent_allows_an_attempt: (lambda: reversing(PROBE).explore(1, WITHOUT_CANCEL), "I1"),
    a_restored_store_is_believed: (restored, "I1"),
    what_a_probe_found_is_not_kept: (lost, "I1"),
}


@pytest.mark.parametrize("plant", PLANTED, ids=lambda each: each.__name__)
def test_a_planted_fault_is_caught(plant: Callable[[Patch], None], monkeypatch: Patch) -> None:
    explored, breaks = PLANTED[plant]
    assert not explored().violations
    monkeypatch.setattr(index, "_KNOWN", {})
    plant(monkeypatch)
    assert any(name.startswith(breaks) for name in explored().violations)


def test_a_call_that_goes_out_before_what_was_shown_is_written_is_caught() -> None:
    assert not unwritten().violations
    assert any(name.startswith("I8") for name in never_written().violations)
