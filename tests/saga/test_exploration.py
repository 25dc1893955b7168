"""The pure core, explored (docs/protocol.md, invariants and moves). How much, and what bounds it, stands with each test.

`SAGAGRAPH_EXPLORE=full` explores more providers and larger sagas, for hours. A state limit that was reached is a `cut` in the
summary at the end of the run.
"""

from __future__ import annotations

import itertools
import os
from collections import defaultdict

import pytest

from sagagraph.saga.core.events import Driver
from sagagraph.saga.core.status import SagaStatus
from sagagraph.workflow.kind import ActionKind
from tests.saga.cases import (
    COMPENSATABLE,
    PIVOT,
    READ_ONLY,
    RETRIABLE,
    Case,
    Edges,
    Kinds,
    all_profiles,
    covering,
    mixtures,
    pairwise_profiles,
    sagas,
    uniform,
    width,
)
from tests.saga.conftest import Explore
from tests.saga.explorer import TROUBLES, Explorer
from tests.saga.statekey import full_key
from tests.saga.world import Profile

FULL = os.environ.get("SAGAGRAPH_EXPLORE") == "full"
LIMIT = 400_000 if FULL else 6_000
FEWER = 400_000 if FULL else 3_000
"""Of states where there are many sagas to explore."""
BOTH_ENDS = {SagaStatus.COMMITTED, SagaStatus.COMPENSATED}

NOTHING = Profile(probe=False)
PROBE = Profile()
KEYED = Profile(dedup=True)
VOID = Profile(void=True)
DEADLINE = Profile(deadline=True)
EVERYTHING = Profile(dedup=True, void=True, deadline=True, refusals_final=True)
KEYED_BLIND = Profile(dedup=True, probe=False)
USUAL = [NOTHING, PROBE, KEYED, VOID, DEADLINE, EVERYTHING]
FEW = [PROBE, VOID, EVERYTHING]
QUICK = pytest.mark.quick
IN_PAIRS = [pytest.param(each, marks=() if each in FEW else pytest.mark.proof) for each in USUAL]
"""Of providers whose every guarantee one operation meets alone, and two of different providers meet in mixtures."""

SAGAS_OF_2 = list(sagas(2))
SAGAS_OF_3 = list(sagas(3))
SAGAS_OF_4 = list(sagas(4))


def name_of(saga: tuple[Kinds, Edges]) -> str:
    kinds, edges = saga
    return "-".join(f"{kind.value}{''.join(map(str, needs))}" for kind, needs in zip(kinds, edges, strict=True))


def answers_lost(edges: Edges) -> int | None:
    """Operations that run side by side multiply: there only one answer per run is lost, otherwise any number."""
    return None if FULL or width(edges) == 1 else 1


# -- one operation: every provider, three troubles, every append on its own ----------------------------------------------------


@pytest.mark.parametrize("profile", [pytest.param(each, marks=QUICK if each in FEW else ()) for each in all_profiles()], ids=str)
@pytest.mark.parametrize("kind", [COMPENSATABLE, PIVOT], ids=str)
def test_one_operation_meets_three_troubles(kind: ActionKind, profile: Profile, explore: Explore) -> None:
    case = Case((kind,), ((),), (profile,))
    assert explore(case, 3).endings == BOTH_ENDS
    assert explore(case, 2, eager=False).endings == BOTH_ENDS


@pytest.mark.quick
def test_one_read_only_operation_meets_three_troubles(explore: Explore) -> None:
    assert explore(Case((READ_ONLY,), ((),), (NOTHING,)), 3, eager=False).endings == BOTH_ENDS


SETTLING_PROFILES = [
    pytest.param(Profile(settles=True), marks=QUICK),
    Profile(copes=True, probe=False),
    Profile(copes=True),
    Profile(settles=True, copes=True),
    Profile(settles=True, copes=True, probe=False),
    Profile(settles=True, dedup=True),
    Profile(settles=True, deadline=True),
    Profile(settles=True, void=True),
    Profile(settles=True, refusals_final=True),
    Profile(settles=True, probe=False),
]


@pytest.mark.parametrize("profile", SETTLING_PROFILES, ids=str)
@pytest.mark.parametrize("kind", [COMPENSATABLE, PIVOT], ids=str)
def test_one_operation_that_settles_meets_three_troubles(kind: ActionKind, profile: Profile, explore: Explore) -> None:
    """What was sent lands up to the settling time after its sender has ended, and never after; a sender may live on, frozen."""
    case = Case((kind,), ((),), (profile,))
    assert explore(case, 3).endings == BOTH_ENDS
    assert explore(case, 2, eager=False).endings == BOTH_ENDS


SETTLING_IN_PAIRS = [
    pytest.param(each, marks=() if each in (Profile(copes=True), Profile(settles=True, copes=True)) else pytest.mark.proof)
    for each in SETTLING_PROFILES[1:]
]


@pytest.mark.parametrize("profile", [Profile(settles=True), *SETTLING_IN_PAIRS], ids=str)
@pytest.mark.parametrize("saga", SAGAS_OF_2, ids=name_of)
def test_two_operations_that_settle_meet_two_troubles(saga: tuple[Kinds, Edges], profile: Profile, explore: Explore) -> None:
    case = uniform(*saga, profile)
    report = explore(case, 2, losses=answers_lost(case.edges), limit=FEWER)
    assert report.cut or report.endings == BOTH_ENDS


# -- two operations ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", all_profiles() if FULL else IN_PAIRS, ids=str)
@pytest.mark.parametrize("saga", SAGAS_OF_2, ids=name_of)
def test_two_operations_meet_two_troubles(saga: tuple[Kinds, Edges], profile: Profile, explore: Explore) -> None:
    """Side by side with any trouble but only one lost answer."""
    case = uniform(*saga, profile)
    report = explore(case, 2, losses=answers_lost(case.edges), limit=FEWER)
    assert report.cut or report.endings == BOTH_ENDS


@pytest.mark.parametrize("saga", SAGAS_OF_2, ids=name_of)
def test_two_operations_of_different_providers_meet_a_trouble_at_every_append(
    saga: tuple[Kinds, Edges], explore: Explore
) -> None:
    """Every mixture of two providers; of a few of them where the operations run side by side."""
    for profiles in mixtures(USUAL if FULL or width(saga[1]) == 1 else FEW, 2):
        case = Case(*saga, profiles)
        assert explore(case, 1, losses=answers_lost(case.edges), eager=False).endings == BOTH_ENDS


@pytest.mark.parametrize("profile", USUAL, ids=str)
def test_a_replan_at_any_time_meets_another_trouble(profile: Profile, explore: Explore) -> None:
    """Also while the operation that it removes is in doubt, which the core must refuse."""
    for kinds, edges in [((COMPENSATABLE, COMPENSATABLE), ((), ())), ((COMPENSATABLE, PIVOT), ((), ()))]:
        case = Case(kinds, edges, (profile,) * 2, alternative_of=0)
        assert explore(case, 2, losses=1, eager=False, limit=LIMIT).endings == BOTH_ENDS


@pytest.mark.parametrize("profile", USUAL, ids=str)
def test_a_replan_behind_another_operation_keeps_what_it_keeps(profile: Profile, explore: Explore) -> None:
    case = Case((COMPENSATABLE, COMPENSATABLE, COMPENSATABLE), ((), (0,), (0,)), (profile,) * 3, alternative_of=1)
    explore(case, 2, losses=1, limit=LIMIT)


REPAIRED = [
    ((COMPENSATABLE, COMPENSATABLE), ((), ())),
    ((COMPENSATABLE, COMPENSATABLE, COMPENSATABLE), ((), (0,), ())),
    ((COMPENSATABLE, PIVOT, COMPENSATABLE), ((), (0,), ())),
    ((READ_ONLY, COMPENSATABLE, COMPENSATABLE), ((), (0,), ())),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("profile", USUAL, ids=str)
@pytest.mark.parametrize("saga", REPAIRED, ids=name_of)
def test_a_disrupted_plan_is_repaired_or_given_up(saga: tuple[Kinds, Edges], profile: Profile, explore: Explore) -> None:
    """The last operation takes the place of the first, whatever depends on it, landed or not; troubles come before and after."""
    kinds, edges = saga
    case = Case(kinds, edges, (profile,) * len(kinds), alternative_of=0, revisable=True)
    report = explore(case, 2, losses=1, eager=False, limit=400_000 if FULL else 4_000)
    assert report.cut or report.endings == BOTH_ENDS


@pytest.mark.parametrize("profile", USUAL, ids=str)
def test_an_open_end_waits_until_a_plan_replaces_it_or_a_cancel_comes(profile: Profile, explore: Explore) -> None:
    """The pivot of the first plan is never started; that of the second takes its place, at any moment and in any trouble."""
    case = Case((COMPENSATABLE, PIVOT, PIVOT), ((), (0,), (0,)), (profile,) * 3, alternative_of=1, open_end=1)
    report = explore(case, 2, losses=1, limit=LIMIT)
    assert report.cut or report.endings == BOTH_ENDS


@pytest.mark.parametrize("profile", USUAL, ids=str)
def test_a_failure_may_be_handled_instead_of_compensated(profile: Profile, explore: Explore) -> None:
    case = Case((COMPENSATABLE, COMPENSATABLE), ((), (0,)), (profile,) * 2, handler_of=0)
    assert explore(case, 2, eager=False, limit=LIMIT).endings == BOTH_ENDS


@pytest.mark.parametrize("profile", USUAL, ids=str)
def test_what_handles_a_failure_rests_on_what_had_come_before_that(profile: Profile, explore: Explore) -> None:
    case = Case((COMPENSATABLE,) * 3, ((), (0,), (1,)), (profile,) * 3, handler_of=1, attempts=1)
    assert explore(case, 2, losses=0, limit=LIMIT).endings == BOTH_ENDS


def test_what_a_handler_stands_for_keeps_its_name_when_its_undoing_is_contradicted(explore: Explore) -> None:
    case = Case((COMPENSATABLE, COMPENSATABLE), ((), (0,)), (PROBE,) * 2, handler_of=0)
    explore(case, 3, losses=0, kinds=frozenset({"invalid", "multiple", "crash"}))


@pytest.mark.parametrize("profile", USUAL, ids=str)
@pytest.mark.parametrize("kinds", [(COMPENSATABLE, COMPENSATABLE), (COMPENSATABLE, PIVOT), (PIVOT, RETRIABLE)], ids=str)
def test_a_body_of_code_asks_for_one_operation_at_a_time(kinds: Kinds, profile: Profile, explore: Explore) -> None:
    case = Case(kinds, ((), (0,)), (profile,) * 2, driver=Driver.BODY)
    assert SagaStatus.COMMITTED in explore(case, 2, eager=False, limit=LIMIT).endings


# -- three operations --------------------------------------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize("saga", SAGAS_OF_3, ids=name_of)
def test_three_operations_meet_a_trouble(saga: tuple[Kinds, Edges], explore: Explore) -> None:
    """Every graph and choice of kinds, over providers that cover all pairs of guarantees, of which a saga meets every other."""
    turn = SAGAS_OF_3.index(saga) % 2
    for profile in all_profiles() if FULL else pairwise_profiles()[turn::2]:
        case = uniform(*saga, profile)
        report = explore(case, 1, losses=answers_lost(case.edges), limit=FEWER)
        assert report.cut or report.endings == BOTH_ENDS


MIXTURES_OF_3 = mixtures(USUAL, 3)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("saga", SAGAS_OF_3, ids=name_of)
def test_three_operations_of_different_providers_meet_a_trouble(saga: tuple[Kinds, Edges], explore: Explore) -> None:
    """The mixtures cover every pair of providers at every pair of operations; the sagas take turns with them."""
    turn = SAGAS_OF_3.index(saga) % len(MIXTURES_OF_3)
    for profiles in MIXTURES_OF_3 if FULL else (MIXTURES_OF_3 * 2)[turn : turn + 2]:
        case = Case(*saga, profiles)
        explore(case, 1, losses=answers_lost(case.edges), limit=FEWER)


# -- four operations ---------------------------------------------------------------------------------------------------


def _of_four() -> dict[Edges, list[tuple[Case, str]]]:
    """By graph: every saga once or more, and every pair of (graph, provider), (graph, trouble) and (provider, trouble)."""
    by_graph: dict[Edges, list[Kinds]] = defaultdict(list)
    for kinds, edges in SAGAS_OF_4:
        by_graph[edges].append(kinds)
    troubles, profiles, graphs = sorted(TROUBLES), pairwise_profiles(), list(by_graph)
    wanted: dict[Edges, list[tuple[Profile, str]]] = defaultdict(list)
    for edges, profile, trouble in covering([graphs, profiles, troubles]):
        wanted[edges].append((profile, trouble))
    rows: dict[Edges, list[tuple[Case, str]]] = {}
    for edges, choices in by_graph.items():
        turns = max(len(choices), len(wanted[edges]))
        pairs = zip(itertools.cycle(choices), itertools.cycle(wanted[edges]), range(turns), strict=False)
        rows[edges] = [(uniform(kinds, edges, profile), trouble) for kinds, (profile, trouble), _ in pairs]
    return rows


OF_FOUR = _of_four()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("edges", OF_FOUR, ids=lambda edges: "-".join("".join(map(str, needs)) or "_" for needs in edges))
def test_four_operations_meet_a_trouble_of_one_kind(edges: Edges, explore: Explore) -> None:
    """Pairwise, and bounded: one lost answer (none where three run side by side), and so many states of each saga."""
    losses = 1 if width(edges) < 3 else 0
    for case, trouble in OF_FOUR[edges]:
        explore(case, 1, kinds=frozenset({trouble}), losses=losses, limit=100_000 if FULL else 1_200)


# -- the exploration itself --------------------------------------------------------------------------------------------

COMPARED = [
    (Case((COMPENSATABLE,), ((),), (EVERYTHING,)), 2),
    (Case((COMPENSATABLE,), ((),), (KEYED_BLIND,)), 2),
    (Case((COMPENSATABLE, PIVOT), ((), (0,)), (DEADLINE, DEADLINE)), 1),
    (Case((PIVOT, RETRIABLE), ((), (0,)), (KEYED, VOID)), 1),
    (Case((COMPENSATABLE, COMPENSATABLE), ((), ()), (VOID, VOID)), 1),
]


@pytest.mark.parametrize(("case", "troubles"), COMPARED, ids=str)
def test_the_reduced_states_hide_nothing_that_complete_ones_show(case: Case, troubles: int) -> None:
    reduced = Explorer(case, troubles, symmetric=False).explore()
    complete = Explorer(case, troubles, symmetric=False, key=full_key).explore()
    assert reduced.projections == complete.projections
    assert reduced.states < complete.states


def test_a_symmetric_saga_ends_as_it_does_when_its_symmetry_is_ignored() -> None:
    case = uniform((COMPENSATABLE, COMPENSATABLE), ((), ()), DEADLINE)
    folded, unfolded = Explorer(case, 1, losses=1).explore(), Explorer(case, 1, losses=1, symmetric=False).explore()
    assert folded.states < unfolded.states
    assert {_unordered(each) for each in folded.projections} == {_unordered(each) for each in unfolded.projections}


def _unordered(projection: object) -> object:
    stage, statuses, providers = projection  # type: ignore[misc]
    return stage, frozenset({(statuses, providers), (statuses[::-1], providers[::-1])})


# -- changed prerequisites ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", FEW, ids=str)
def test_an_edited_body_wants_another_order_at_any_time(profile: Profile, explore: Explore) -> None:
    """Also while one of the two is under way, in doubt, or being undone, which the core must refuse."""
    case = Case((COMPENSATABLE, COMPENSATABLE), ((), ()), (profile,) * 2, driver=Driver.BODY)
    assert explore(case, 2, losses=1, limit=LIMIT).endings == BOTH_ENDS
