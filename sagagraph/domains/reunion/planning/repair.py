"""Repair of a plan when something has happened: what was done is kept, and as little as possible of what is planned changes.

The smallest neighbourhood is tried first: the actions of the people whom the events affect. Only if no plan is found for it
does it grow to those who share an action with them, and in the end to all. Inside it the objectives come first, then what is
kept. (ALAS 3.3, "Localized Cascading Repair Protocol".)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import networkx as nx

from sagagraph.domains.reunion.events import Added, Cancelled, Delayed, Event, MayReroute, RoadClosed, TravelFactor, VehicleDown
from sagagraph.domains.reunion.plan import Act, Journey, ReunionPlan
from sagagraph.domains.reunion.planning.drafting import draft, shifted, without
from sagagraph.domains.reunion.planning.measure import measure
from sagagraph.domains.reunion.planning.model.search import Question, Unsolved
from sagagraph.domains.reunion.planning.model.situation import Situation
from sagagraph.domains.reunion.planning.model.stability import slack_of
from sagagraph.domains.reunion.planning.planner import MANY, bound_of, judged
from sagagraph.domains.reunion.planning.planner import plan as plan_anew
from sagagraph.domains.reunion.planning.progress import Standing, standing
from sagagraph.domains.reunion.planning.solving import (
    MOST_JOURNEYS,
    Solved,
    is_impossible,
    questions_of,
    solve,
    sought,
    timed,
)
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.planning.budget import Budget

SOON_S: Final = 1.8
"""How long the repair for few people is sought and improved, as they wait for it; only if none is found, longer."""
EFFORT: Final = 0.1
"""For a first plan in each neighbourhood but the last, in CP-SAT's own measure: to prove that there is none would take longer."""
SHARE: Final = 0.5
"""Of what is left of the time, for each neighbourhood."""
SECONDS_TO_BOUND: Final = 0.5


@dataclass(frozen=True, slots=True)
class Change:
    """Change of an action. `index` is a position in the old plan, or of a new action in the new one. `before` None: it is new;
    `after` None: it is dropped.
    """

    index: int
    before: Act | None
    after: Act | None


@dataclass(frozen=True, slots=True)
class EditRadius:
    actions: int
    """Changed, dropped or new."""
    people: int
    """People who take part in one of these."""
    minutes: int
    """The sum by which starts of changed actions moved."""


@dataclass(frozen=True, slots=True)
class Repaired:
    solved: Solved
    changed: tuple[Change, ...]
    edit_radius: EditRadius


def repair(problem: ReunionProblem, plan: ReunionPlan, events: tuple[Event, ...], budget: Budget) -> Repaired | Unsolved:
    """Repair a plan. `events` are in the order of `at`; now is the latest. Picks the best way for vehicles under way to
    continue.
    """
    standings = tuple(standing(sought(problem), plan, events))
    soon = budget.part(SOON_S)
    found = [each for stands in standings if (each := _repaired(plan, stands, budget, soon)) is not None]
    if found:
        return min(found, key=lambda each: (*each.solved.values, each.edit_radius.actions))
    return Unsolved(is_proof=all(is_impossible(each.problem, each.setting, budget) for each in standings))


def _repaired(plan: ReunionPlan, stands: Standing, budget: Budget, soon: Budget) -> Repaired | None:
    """Return the repair in the smallest neighbourhood in which one is found."""
    before = tuple(stands.history.values())
    for question in questions_of(stands.problem, stands.setting):
        kept = replace(question, planned=stands.planned)
        if len(stands.problem.people) > MANY:
            return _redrafted(plan, stands, kept, budget)
        for fixed in _neighbourhoods(stands, question.outlook(MOST_JOURNEYS)):
            seeking = replace(budget, effort=EFFORT) if fixed else budget
            answer = solve(stands.problem, replace(kept, fixed=fixed), seeking, improving=soon, before=before)
            if isinstance(answer, Solved):
                return told(plan, answer)
    return None


# -- many people -----------------------------------------------------------------------------------------------------


def _redrafted(plan: ReunionPlan, stands: Standing, question: Question, budget: Budget) -> Repaired | None:
    """Return the better of the repairs that change times alone and that draft anew what the events affect; if there is none, with
    more and more of the other vehicles, the least busy first; or else all is planned anew.
    """
    now = question.outlook(0)
    before, planned = tuple(stands.history.values()), tuple(stands.planned.values())
    found: list[tuple[Act, ...]] = []
    for affected in _affected(stands, now):
        fixed = tuple(each for each in planned if affected.isdisjoint(_involved(each)))
        part, is_shifted = budget.part(budget.left * SHARE), fixed == planned
        drafted = () if is_shifted else draft(without(now, fixed), part)
        if drafted or is_shifted:
            found.append(timed(question, shifted(now, (*fixed, *drafted)), part))
        if any(found) and not is_shifted:
            break

    def worth(actions: tuple[Act, ...]) -> tuple[float, ...]:
        made = ReunionPlan.model_construct(problem=plan.problem, actions=(*before, *actions))
        measured = (measure(stands.problem, made, each) for each in stands.problem.objectives)
        return not actions, *measured, edit_radius(changes(plan, made)).actions

    best = min(found, key=worth, default=())
    if not best:
        anew = plan_anew(stands.problem, budget, stands.setting, before)
        return told(plan, anew) if isinstance(anew, Solved) else None
    least = bound_of(stands.problem, budget.part(SECONDS_TO_BOUND), stands.setting, before)
    return told(plan, judged(stands.problem, (*before, *best), least))


def _affected(stands: Standing, now: Situation) -> Iterator[frozenset[str]]:
    """Yield nobody; then all whose actions the events affect; then these with each one of the other vehicles, and with more."""
    yield frozenset()
    groups: nx.Graph[str] = nx.Graph()
    for action in stands.planned.values():
        nx.add_path(groups, _involved(action))
    touched = _touched(stands, now)
    own = touched.union(*(group for group in nx.connected_components(groups) if not touched.isdisjoint(group)))
    if own:
        yield own
    others = [frozenset(group) for group in nx.connected_components(groups) if own.isdisjoint(group)]
    others.sort(key=lambda group: sum(not group.isdisjoint(_involved(each)) for each in stands.planned.values()))
    yield from (own | other for other in others)
    yield from (own.union(*others[:count]) for count in range(2, len(others) + 1))


# -- neighbourhoods --------------------------------------------------------------------------------------------------


def _neighbourhoods(stands: Standing, situation: Situation) -> Iterator[frozenset[int]]:
    """Yield what stays fixed in each neighbourhood: most at first, in the end nothing."""
    touched = _touched(stands, situation)
    fixed = frozenset(stands.planned)
    while fixed:
        still = frozenset(index for index, action in stands.planned.items() if not touched & _involved(action))
        if still and still != fixed:
            yield still
        grown = touched.union(*(_involved(action) for index, action in stands.planned.items() if index not in still))
        if grown == touched:
            break
        fixed, touched = still, grown
    yield frozenset()


def _touched(stands: Standing, situation: Situation) -> frozenset[str]:
    """Return the people whom the events name, whose actions cannot stay as they are, and who are on a journey that something may
    have slowed.
    """
    touched: set[str] = set()
    for event in stands.events:
        match event:
            case Added(person=person):
                touched.add(person.name)
            case Delayed() | Cancelled():
                touched.add(event.person)
            case VehicleDown() | MayReroute():
                touched.add(event.vehicle)
            case TravelFactor() | RoadClosed():
                pass
    slowing = [event.at for event in stands.events if isinstance(event, TravelFactor | MayReroute)]
    under_way = (each for each in stands.history.values() if isinstance(each, Journey) and each.end > stands.now)
    late = (each for each in under_way if any(at > each.start for at in slowing))
    broken = (each for each in stands.planned.values() if slack_of(situation, each) is None)
    return frozenset(touched.union(*map(_involved, (*late, *broken))))


def _involved(action: Act) -> frozenset[str]:
    return frozenset((*action.people, action.vehicle if isinstance(action, Journey) else action.task))


# -- what changed ----------------------------------------------------------------------------------------------------


def told(plan: ReunionPlan, solved: Solved) -> Repaired:
    """Return the plan; actions that differ only in their driver or order are as in the old one."""
    as_before = (next((old for old in plan.actions if _is_same(old, each)), each) for each in solved.plan.actions)
    actions = tuple(sorted(as_before, key=lambda each: each.start))
    shown = ReunionPlan.model_construct(problem=plan.problem, actions=actions)
    changed = changes(plan, shown)
    return Repaired(replace(solved, plan=shown), changed, edit_radius(changed))


def _is_same(old: Act, new: Act) -> bool:
    """Tell whether it is the same, with any of its possible drivers."""
    is_alike = _goes_the_same_way(old, new) and (old.start, old.end) == (new.start, new.end)
    return is_alike and frozenset(old.people) == frozenset(new.people)


def changes(old: ReunionPlan, new: ReunionPlan) -> tuple[Change, ...]:
    """Return each action that the other plan lacks; the most similar ones of both plans are paired."""
    before = dict(enumerate(old.actions))
    after = dict(enumerate(new.actions))
    for number, action in enumerate(new.actions):
        same = next((index for index, each in before.items() if _is_same(each, action)), None)
        if same is not None:
            del before[same], after[number]
    changed: list[Change] = []
    for alike in (_goes_the_same_way, _goes_with_the_same_vehicle):
        for index, was in tuple(before.items()):
            candidates = [number for number, each in after.items() if alike(was, each)]
            if candidates:
                nearest = min(candidates, key=lambda number: abs(after[number].start - was.start))
                changed.append(Change(index, before.pop(index), after.pop(nearest)))
    changed += [Change(index, was, None) for index, was in before.items()]
    changed.sort(key=lambda each: each.index)
    return (*changed, *(Change(number, None, each) for number, each in after.items()))


def _goes_the_same_way(was: Act, now: Act) -> bool:
    """Tell whether it goes the same way, or does the same task."""
    if isinstance(was, Journey) and isinstance(now, Journey):
        return (was.vehicle, was.from_, was.to) == (now.vehicle, now.from_, now.to)
    return not isinstance(was, Journey) and not isinstance(now, Journey) and was.task == now.task


def _goes_with_the_same_vehicle(was: Act, now: Act) -> bool:
    return isinstance(was, Journey) and isinstance(now, Journey) and was.vehicle == now.vehicle


def edit_radius(changed: tuple[Change, ...]) -> EditRadius:
    people = {name for each in changed for action in (each.before, each.after) if action is not None for name in action.people}
    pairs = [(each.before, each.after) for each in changed if each.before is not None and each.after is not None]
    return EditRadius(len(changed), len(people), sum(abs(after.start - before.start) for before, after in pairs))
