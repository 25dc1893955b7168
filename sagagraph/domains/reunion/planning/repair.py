"""Repair of a plan when something has happened: what was done stands, and as little as possible of what is planned changes.

The smallest neighbourhood is tried first: the actions of those whom the events touch. Only if that leaves no plan does it grow to
those who share an action with them, and in the end to all. Inside it the objectives come first, then what is kept.
(ALAS 3.3, "Localized Cascading Repair Protocol".)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from sagagraph.domains.reunion.events import Added, Cancelled, Delayed, MayReroute, RoadClosed, TravelFactor, VehicleDown
from sagagraph.domains.reunion.plan import Journey, ReunionPlan
from sagagraph.domains.reunion.planning.model.stability import slack_of
from sagagraph.domains.reunion.planning.planner import MANY, bound_of, judged
from sagagraph.domains.reunion.planning.planner import plan as plan_anew
from sagagraph.domains.reunion.planning.progress import Standing, situation_after, standing
from sagagraph.domains.reunion.planning.solving import MOST_JOURNEYS, Solved, Unsolved, is_impossible, questions_of, solve, sought
from sagagraph.domains.reunion.planning.teams.team import Team, excerpt, teams_of

if TYPE_CHECKING:
    from sagagraph.domains.reunion.events import Event
    from sagagraph.domains.reunion.plan import Work
    from sagagraph.domains.reunion.planning.model.situation import Situation
    from sagagraph.domains.reunion.request import ReunionProblem
    from sagagraph.planning.budget import Budget

    Action = Journey | Work


@dataclass(frozen=True, slots=True)
class Change:
    """`index` counts in the old plan; of what is new, in the new one. `before` None: it is new; `after` None: it is dropped."""

    index: int
    before: Action | None
    after: Action | None


@dataclass(frozen=True, slots=True)
class EditRadius:
    actions: int
    """Changed, dropped or new."""
    people: int
    """Who take part in one of these."""
    minutes: int
    """By which starts of changed actions moved, in all."""


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
    for stands in standings:
        for answer in _repaired(plan, stands, budget):
            worth = (*(each.value for each in answer.solved.objectives), float(answer.edit_radius.actions))
            if best is None or worth < best[0]:
                best = (worth, answer)
    if best is not None:
        return best[1]
    return Unsolved(is_proof=all(is_impossible(each.problem, After(each), budget) for each in standings))


def recompute(problem: ReunionProblem, plan: ReunionPlan, events: tuple[Event, ...], budget: Budget) -> Repaired | Unsolved:
    """Plan everything that has not begun anew, as if nothing had been promised: the yardstick for repairs."""
    stands = next(standing(problem, plan, events))
    answer = plan_anew(stands.problem, budget, After(stands), tuple(stands.history.values()))
    return answer if isinstance(answer, Unsolved) else _told(plan, answer, len(stands.planned))


def _repaired(plan: ReunionPlan, stands: Standing, budget: Budget) -> Iterator[Repaired]:
    """Return at most one repair: in the smallest neighbourhood that has a plan."""
    if len(stands.problem.people) > MANY:
        for team in _neighbours(stands):
            by_team = _repaired_in(team, stands, budget)
            if by_team is not None:
                size = sum(team.takes_part_in(action) for action in stands.planned.values())
                yield _told(plan, by_team, size)
                return
        return
    for question in questions_of(stands.problem, After(stands)):
        for fixed in _neighbourhoods(stands, question.outlook(MOST_JOURNEYS)):
            kept = replace(question, planned=stands.planned, fixed=fixed)
            answer = solve(stands.problem, kept, budget, before=tuple(stands.history.values()))
            if isinstance(answer, Solved):
                yield _told(plan, answer, len(stands.planned) - len(fixed))
                return


# -- many people -----------------------------------------------------------------------------------------------------


def _neighbours(stands: Standing) -> Iterator[Team]:
    """The teams that the events touch; with each one of the others that have a vehicle, the least busy first; with all of these,
    one after the other."""
    actions = (*stands.history.values(), *stands.planned.values())
    teams = teams_of(stands.problem, actions)
    touched_names = _touched(stands, After(stands)(stands.problem, MOST_JOURNEYS, is_free=False))
    touched = Team()
    for team in teams:
        if not touched_names.isdisjoint(team.people | team.vehicles | team.tasks):
            touched |= team
    others = [team for team in teams if team.vehicles and not team.vehicles <= touched.vehicles]
    others.sort(key=lambda team: sum(team.takes_part_in(action) for action in stands.planned.values()))
    if touched.vehicles:
        yield touched
    yield from (touched | other for other in others)
    for count in range(2, len(others) + 1):
        joined = touched
        for other in others[:count]:
            joined |= other
        yield joined


def _repaired_in(team: Team, stands: Standing, budget: Budget) -> Solved | None:
    """By the team alone; all others do as they did."""
    also = frozenset(place for each in _journeys_of(team, stands) for place in (each.from_, each.to))
    own = replace(
        stands,
        problem=excerpt(stands.problem, team, also),
        history={index: each for index, each in stands.history.items() if team.takes_part_in(each)},
        planned={index: each for index, each in stands.planned.items() if team.takes_part_in(each)},
    )
    question = replace(questions_of(own.problem, After(own))[0], planned=own.planned)
    part = budget.part(SECONDS_A_TEAM)
    answer = solve(own.problem, question, part)
    if isinstance(answer, Unsolved):
        return None
    others = (each for index, each in stands.planned.items() if index not in own.planned)
    before = tuple(stands.history.values())
    whole = ReunionPlan.model_construct(problem=stands.problem.name, actions=(*before, *others, *answer.plan.actions))
    least = bound_of(stands.problem, budget, After(stands), before)
    return judged(stands.problem, whole, least, answer.seconds_to_first)


def _journeys_of(team: Team, stands: Standing) -> Iterator[Journey]:
    actions = (*stands.history.values(), *stands.planned.values())
    yield from (each for each in actions if isinstance(each, Journey) and team.takes_part_in(each))


SECONDS_A_TEAM: Final = 10.0


@dataclass(frozen=True, slots=True)
class After:
    """The setting when events have become known."""

    stands: Standing

    def __call__(self, problem: ReunionProblem, journeys: int, *, is_free: bool) -> Situation:
        return situation_after(replace(self.stands, problem=problem), journeys=journeys, is_free=is_free)


# -- neighbourhoods --------------------------------------------------------------------------------------------------


def _neighbourhoods(stands: Standing, situation: Situation) -> Iterator[frozenset[int]]:
    """What stays fixed in each of them: at first most, in the end nothing."""
    touched = _touched(stands, situation)
    fixed = frozenset(stands.planned)
    while fixed:
        loose = [action for action in stands.planned.values() if touched & _involved(action)]
        still = frozenset(index for index, action in stands.planned.items() if not touched & _involved(action))
        if still != fixed:
            yield still
        grown = touched.union(*(_involved(action) for action in loose))
        if grown == touched:
            break
        fixed, touched = still, grown
    yield frozenset()


def _touched(stands: Standing, situation: Situation) -> frozenset[str]:
    """Whom the events name, whose actions cannot stay as they are, and who is on the way for longer than was planned."""
    touched = {name for event in stands.events for name in _named(event)}
    broken = [action for action in stands.planned.values() if slack_of(situation, action) is None]
    touched |= {name for action in broken for name in _involved(action)}
    touched |= {name for action in stands.history.values() if action.end > stands.now for name in _late(stands, action)}
    return frozenset(touched)


def _late(stands: Standing, action: Action) -> frozenset[str]:
    """Those on a journey under way that something may have slowed."""
    slows = any(isinstance(event, TravelFactor | MayReroute) and event.at > action.start for event in stands.events)
    return _involved(action) if slows and isinstance(action, Journey) else frozenset()


def _involved(action: Action) -> frozenset[str]:
    return frozenset((*action.people, action.vehicle if isinstance(action, Journey) else action.task))


def _named(event: Event) -> tuple[str, ...]:
    match event:
        case Added(person=person):
            return (person.name,)
        case Delayed() | Cancelled():
            return (event.person,)
        case VehicleDown() | MayReroute():
            return (event.vehicle,)
        case TravelFactor() | RoadClosed():
            return ()


# -- what changed ----------------------------------------------------------------------------------------------------


def _told(plan: ReunionPlan, solved: Solved, neighbourhood: int) -> Repaired:
    """With the drivers and the order of the old plan where nothing else is new."""
    actions = tuple(sorted((_as_before(plan, each) for each in solved.plan.actions), key=lambda each: each.start))
    told = ReunionPlan.model_construct(problem=plan.problem, actions=actions)
    changed = changes(plan, told)
    return Repaired(replace(solved, plan=told), changed, edit_radius(changed), neighbourhood)


def _as_before(plan: ReunionPlan, action: Action) -> Action:
    return next((each for each in plan.actions if _is_same(each, action)), action)


def _is_same(old: Action, new: Action) -> bool:
    """Whoever of those who may is at the wheel."""
    if isinstance(old, Journey) and isinstance(new, Journey):
        return _road(old) == _road(new) and (old.end, frozenset(old.people)) == (new.end, frozenset(new.people))
    if isinstance(old, Journey) or isinstance(new, Journey):
        return False
    return (old.task, old.start, old.end, frozenset(old.who)) == (new.task, new.start, new.end, frozenset(new.who))


def _road(action: Journey) -> tuple[object, ...]:
    return action.vehicle, action.from_, action.to, action.start


def changes(old: ReunionPlan, new: ReunionPlan) -> tuple[Change, ...]:
    """Return each action that the other plan lacks; the most alike of both plans are paired."""
    before = dict(enumerate(old.actions))
    after = dict(enumerate(new.actions))
    for number, action in enumerate(new.actions):
        same = next((index for index, each in before.items() if _is_same(each, action)), None)
        if same is not None:
            del before[same], after[number]
    changed: list[Change] = []
    for alike in (_goes_the_same_way, _does_the_same):
        for index, was in tuple(before.items()):
            number_found = _nearest(was, {number: each for number, each in after.items() if alike(was, each)})
            if number_found is not None:
                changed.append(Change(index, before.pop(index), after.pop(number_found)))
    changed += [Change(index, was, None) for index, was in before.items()]
    changed.sort(key=lambda each: each.index)
    return (*changed, *(Change(number, None, each) for number, each in after.items()))


def _nearest(was: Action, candidates: Mapping[int, Action]) -> int | None:
    return min(candidates, key=lambda number: abs(candidates[number].start - was.start), default=None)


def _goes_the_same_way(was: Action, now: Action) -> bool:
    if isinstance(was, Journey) and isinstance(now, Journey):
        return (was.vehicle, was.from_, was.to) == (now.vehicle, now.from_, now.to)
    return not isinstance(was, Journey) and not isinstance(now, Journey) and was.task == now.task


def _does_the_same(was: Action, now: Action) -> bool:
    return isinstance(was, Journey) and isinstance(now, Journey) and was.vehicle == now.vehicle


def edit_radius(changed: tuple[Change, ...]) -> EditRadius:
    people = {name for each in changed for action in (each.before, each.after) if action is not None for name in action.people}
    pairs = [(each.before, each.after) for each in changed if each.before is not None and each.after is not None]
    return EditRadius(len(changed), len(people), sum(abs(after.start - before.start) for before, after in pairs))
