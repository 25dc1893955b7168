"""Repair of a plan when something has happened: what was done is kept, and as little as possible of what is planned changes.

The smallest neighbourhood is tried first: the actions of the people whom the events affect. Only if that has no plan does it grow
to those who share an action with them, and in the end to all. Inside it the objectives come first, then what is kept. (ALAS 3.3,
"Localized Cascading Repair Protocol".)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from sagagraph.domains.reunion.events import Added, Cancelled, Delayed, Event, MayReroute, RoadClosed, TravelFactor, VehicleDown
from sagagraph.domains.reunion.plan import Act, Journey, ReunionPlan
from sagagraph.domains.reunion.planning.model.situation import Situation
from sagagraph.domains.reunion.planning.model.stability import slack_of
from sagagraph.domains.reunion.planning.planner import MANY, bound_of, judged
from sagagraph.domains.reunion.planning.planner import plan as plan_anew
from sagagraph.domains.reunion.planning.progress import Standing, standing
from sagagraph.domains.reunion.planning.solving import MOST_JOURNEYS, Solved, Unsolved, is_impossible, questions_of, solve, sought
from sagagraph.domains.reunion.planning.teams import Team, excerpt, joined, teams_of
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.planning.budget import Budget

SECONDS_A_TEAM: Final = 10.0
EFFORT_A_TEAM: Final = 0.2
"""For each aim, in CP-SAT's own measure, which is the same on a busy machine."""
TEAMS_SHARE: Final = 0.5
"""Of the time, for repairs by teams: the rest is for planning anew if none of them has a plan."""
ANEW_SHARE: Final = 0.7
"""Of the time, for planning anew: the rest is for a repair if nothing is found."""
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
    neighbourhood: int
    """How many planned actions might have changed."""


def repair(problem: ReunionProblem, plan: ReunionPlan, events: tuple[Event, ...], budget: Budget) -> Repaired | Unsolved:
    """Repair a plan. `events` are in the order of `at`; now is the latest. Picks the best way for vehicles under way to
    continue.
    """
    best: tuple[tuple[float, ...], Repaired] | None = None
    standings = tuple(standing(sought(problem), plan, events))
    for answer in (_repaired(plan, stands, budget) for stands in standings):
        if answer is not None:
            worth = (*(each.value for each in answer.solved.objectives), float(answer.edit_radius.actions))
            best = (worth, answer) if best is None or worth < best[0] else best
    if best is not None:
        return best[1]
    return Unsolved(is_proof=all(is_impossible(each.problem, each.setting, budget) for each in standings))


def recompute(problem: ReunionProblem, plan: ReunionPlan, events: tuple[Event, ...], budget: Budget) -> Repaired | Unsolved:
    """Plan everything that has not begun from scratch, as if nothing had been promised: the yardstick for repairs."""
    stands = next(standing(problem, plan, events))
    part = budget.part(budget.left * ANEW_SHARE)
    answer = plan_anew(stands.problem, part, stands.setting, tuple(stands.history.values()))
    if isinstance(answer, Solved):
        return _told(plan, answer, len(stands.planned))
    return answer if answer.is_proof else repair(problem, plan, events, budget)


def _repaired(plan: ReunionPlan, stands: Standing, budget: Budget) -> Repaired | None:
    """Return the repair in the smallest neighbourhood that has a plan."""
    if len(stands.problem.people) > MANY:
        part = budget.part(budget.left * TEAMS_SHARE)
        for team in _neighbours(stands):
            by_team = _repaired_in(team, stands, part) if part.left else None
            if by_team is not None:
                return _told(plan, by_team, sum(map(team.takes_part_in, stands.planned.values())))
        anew = plan_anew(stands.problem, budget, stands.setting, tuple(stands.history.values()))
        return _told(plan, anew, len(stands.planned)) if isinstance(anew, Solved) else None
    for question in questions_of(stands.problem, stands.setting):
        for fixed in _neighbourhoods(stands, question.outlook(MOST_JOURNEYS)):
            kept = replace(question, planned=stands.planned, fixed=fixed)
            answer = solve(stands.problem, kept, budget, before=tuple(stands.history.values()))
            if isinstance(answer, Solved):
                return _told(plan, answer, len(stands.planned) - len(fixed))
    return None


# -- many people -----------------------------------------------------------------------------------------------------


def _neighbours(stands: Standing) -> Iterator[Team]:
    """Yield the teams that the events affect; then these with each one of the other teams that have a vehicle, the least busy
    first; then with all of these, one after the other.
    """
    actions = (*stands.history.values(), *stands.planned.values())
    teams = teams_of(stands.problem, actions)
    touched_names = _touched(stands, stands.setting(stands.problem, MOST_JOURNEYS))
    touched = joined(team for team in teams if not touched_names.isdisjoint(team.people | team.vehicles | team.tasks))
    others = [team for team in teams if team.vehicles and not team.vehicles <= touched.vehicles]
    others.sort(key=lambda team: sum(map(team.takes_part_in, stands.planned.values())))
    if touched.vehicles:
        yield touched
    yield from (touched | other for other in others)
    yield from (joined((touched, *others[:count])) for count in range(2, len(others) + 1))


def _repaired_in(team: Team, stands: Standing, budget: Budget) -> Solved | None:
    """Repair within the team alone; everybody else does as planned."""
    history = {index: each for index, each in stands.history.items() if team.takes_part_in(each)}
    planned = {index: each for index, each in stands.planned.items() if team.takes_part_in(each)}
    problem = excerpt(stands.problem, team, (*history.values(), *planned.values()))
    own = replace(stands, problem=problem, history=history, planned=planned)
    question = replace(questions_of(problem, own.setting)[0], planned=planned)
    answer = solve(problem, question, replace(budget.part(SECONDS_A_TEAM), effort=EFFORT_A_TEAM))
    if isinstance(answer, Unsolved):
        return None
    others = (each for index, each in stands.planned.items() if index not in planned)
    before = tuple(stands.history.values())
    whole = ReunionPlan.model_construct(problem=stands.problem.name, actions=(*before, *others, *answer.plan.actions))
    least = bound_of(stands.problem, budget.part(SECONDS_TO_BOUND), stands.setting, before)
    return judged(stands.problem, whole, least, answer.seconds_to_first)


# -- neighbourhoods --------------------------------------------------------------------------------------------------


def _neighbourhoods(stands: Standing, situation: Situation) -> Iterator[frozenset[int]]:
    """Yield what stays fixed in each neighbourhood: most at first, in the end nothing."""
    touched = _touched(stands, situation)
    fixed = frozenset(stands.planned)
    while fixed:
        still = frozenset(index for index, action in stands.planned.items() if not touched & _involved(action))
        if still != fixed:
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


def _told(plan: ReunionPlan, solved: Solved, neighbourhood: int) -> Repaired:
    """Return the plan; actions that differ only in their driver or order are as in the old one."""
    as_before = (next((old for old in plan.actions if _is_same(old, each)), each) for each in solved.plan.actions)
    actions = tuple(sorted(as_before, key=lambda each: each.start))
    told = ReunionPlan.model_construct(problem=plan.problem, actions=actions)
    changed = changes(plan, told)
    return Repaired(replace(solved, plan=told), changed, edit_radius(changed), neighbourhood)


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
