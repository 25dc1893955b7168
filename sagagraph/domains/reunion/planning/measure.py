"""Measures of a plan in each objective: arithmetic on its stated times, and in words. Less is always better."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sagagraph.domains.reunion.plan import Journey, ReunionPlan, Work
from sagagraph.domains.reunion.request import LONG_WAIT, Objective, Person, ReunionProblem
from sagagraph.domains.reunion.times import text_of
from sagagraph.errors import InvalidInputError


def measure(problem: ReunionProblem, plan: ReunionPlan, objective: Objective) -> float:
    """Return kilometres (vehicles', empty ones too; a pair without a distance counts as none), or minutes.

    `makespan` counts from the earliest moment that the problem states to the latest end; `workload_balance` is the difference
    between the longest and the shortest sum of minutes in actions among people who act; `latest_departure` adds up, over vehicles
    that set out, how long before the latest moment that the problem states they first do. `fresh_food`: minutes that food stands
    before the last goal at its place is due; `waiting`: minutes that people wait, with the part of a wait beyond half an hour
    counted twice; `unused_rentals`: vehicles that are rented and never driven. `robustness` is not measured here.
    """
    journeys = [action for action in plan.actions if isinstance(action, Journey)]
    match objective:
        case Objective.DISTANCE:
            km = problem.kilometres
            return round(sum(km.get((each.from_, each.to), 0.0) for each in journeys), 3)
        case Objective.DRIVING_MINUTES:
            return sum(each.end - each.start for each in journeys)
        case Objective.MAKESPAN:
            begins = min(problem.moments, default=0)
            return max((action.end for action in plan.actions), default=begins) - begins
        case Objective.WORKLOAD_BALANCE:
            work: dict[str, int] = {}
            for action in plan.actions:
                for name in set(action.people):
                    work[name] = work.get(name, 0) + action.end - action.start
            return max(work.values(), default=0) - min(work.values(), default=0)
        case Objective.LATEST_DEPARTURE:
            first = {each.vehicle: each.start for each in sorted(journeys, key=lambda each: -each.start)}
            return sum(max(0, max(problem.moments, default=0) - start) for start in first.values())
        case Objective.FRESH_FOOD:
            return _standing_food(problem, plan)
        case Objective.WAITING:
            every = (wait for person in problem.people for wait in waits(problem, plan, person))
            return sum(wait + max(0, wait - LONG_WAIT) for wait in every)
        case Objective.UNUSED_RENTALS:
            done = {each.task for each in plan.actions if isinstance(each, Work)}
            driven = {each.vehicle for each in journeys}
            return sum(each.unlocked_by in done and each.name not in driven for each in problem.vehicles)
        case Objective.ROBUSTNESS:
            raise ValueError("what a plan survives is no arithmetic on its times: the model counts it, and rules judge it")


def waits(problem: ReunionProblem, plan: ReunionPlan, person: Person) -> Iterator[int]:
    """Yield how long each wait between the actions of one person is, where these do not overlap."""
    watched = {task.name for task in problem.tasks if task.is_watched}
    own = [each for each in plan.actions if person.name in each.people and not (each.do == "task" and each.task in watched)]
    destinations = {goal.place for goal in problem.goals_of(person)}
    place, free = person.place, person.available
    for action in sorted(own, key=lambda each: (each.start, each.end)):
        if free is not None and place not in destinations:
            yield max(0, action.start - free)
        free = action.end if free is None else max(free, action.end)
        place = action.to if isinstance(action, Journey) else action.place or place


def _standing_food(problem: ReunionProblem, plan: ReunionPlan) -> int:
    """Return the minutes from when each food is ready until it is eaten."""
    goals = problem.every_goal
    food = {task.name: [goal.by for goal in goals if goal.place == task.place] for task in problem.tasks if task.food}
    works = [each for each in plan.actions if isinstance(each, Work) and food.get(each.task)]
    return sum(max(0, max(food[each.task]) - each.end) for each in works)


def check_distances(problem: ReunionProblem) -> None:
    """Check distances.

    Raises:
        InvalidInputError: `distance` is an objective, and a road has none.
    """
    km = problem.kilometres
    roads = problem.travel_minutes if Objective.DISTANCE in problem.objectives else ()
    for here, there in (way for road in roads for way in road.ways):
        if here != there and (here, there) not in km:
            why = f"{here} to {there} has none, and distance is an objective"
            raise InvalidInputError(why, field="distance_km")


# -- what plans are compared by ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tradeoffs:
    """Figures by which plans are compared. Less is always better."""

    driving_minutes: int
    kilometres: float | None
    """None if the problem has no distances."""
    ends: int
    """When the last action ends; 0 if nothing is done."""
    spread: int
    """Between the most and the least minutes in actions, among people who act."""
    waiting: int
    """Minutes that people spend away with nothing to do, added up: from when they can take part (those who are there from the
    beginning: from their first action on) until their last action, on no journey and no task, at no place where they are to be.
    Watching is not a task here: a watcher may leave.
    """


def tradeoffs(problem: ReunionProblem, plan: ReunionPlan) -> Tradeoffs:
    return Tradeoffs(
        driving_minutes=round(measure(problem, plan, Objective.DRIVING_MINUTES)),
        kilometres=measure(problem, plan, Objective.DISTANCE) if problem.distance_km else None,
        ends=max((action.end for action in plan.actions), default=0),
        spread=round(measure(problem, plan, Objective.WORKLOAD_BALANCE)),
        waiting=sum(sum(waits(problem, plan, person)) for person in problem.people),
    )


def reasons(problem: ReunionProblem, plan: ReunionPlan, preferred: ReunionPlan | None = None) -> tuple[str, ...]:
    """Return a plan's figures in words, first a summary in one line, compared with the preferred plan if that is another one."""
    of = tradeoffs(problem, plan)
    km = "" if of.kilometres is None else f", {of.kilometres:g} km"
    driving = f"{of.driving_minutes} minutes of driving{km}"
    summary = (driving,) if preferred is None else (_against(problem, plan, preferred), driving)
    waiting = f"{of.waiting} minutes of waiting in all" if of.waiting else "nobody waits for a ride"
    between = f"{of.spread} minutes between who has most to do and who has least"
    over = (f"all is over at {text_of(of.ends)}",) if plan.actions else ()
    standing = _standing_food(problem, plan)
    food = (f"food is ready {standing} minutes before it is eaten, in all",) if standing else ()
    return (*summary, *over, *food, waiting, between)


def _against(problem: ReunionProblem, plan: ReunionPlan, preferred: ReunionPlan) -> str:
    """Return what is better, and what is worse."""
    mine, other = tradeoffs(problem, plan), tradeoffs(problem, preferred)
    km = (mine.kilometres or 0) - (other.kilometres or 0)
    told = (
        (mine.ends - other.ends, "over {} minutes earlier", "over {} minutes later"),
        (mine.waiting - other.waiting, "{} minutes less waiting", "{} minutes more waiting"),
        (mine.driving_minutes - other.driving_minutes, "{} minutes less driving", "{} minutes more driving"),
        (km, "{} km less", "{} km more"),
        (mine.spread - other.spread, "work shared {} minutes more evenly", "work shared {} minutes less evenly"),
    )
    better = [less.format(f"{-change:g}") for change, less, _more in told if change < 0]
    worse = [more.format(f"{change:g}") for change, _less, more in told if change > 0]
    before = set(_too_early(problem, preferred))
    worse += [each for each in _too_early(problem, plan) if each not in before]
    return ", ".join([*better, *(worse or ["and nothing worse"])])


def _too_early(problem: ReunionProblem, plan: ReunionPlan) -> Iterator[str]:
    """Return how much too early people are, by the journeys that bring them there before they would like to be."""
    for person in problem.people:
        for goal in problem.goals_of(person):
            rides = (act for act in plan.actions if isinstance(act, Journey) and person.name in act.people and act.end <= goal.by)
            last = max(rides, key=lambda act: act.end, default=None)
            if goal.not_before is not None and last is not None and last.to == goal.place and last.end < goal.not_before:
                yield f"{person.name} is there {goal.not_before - last.end} minutes before {text_of(goal.not_before)}"
