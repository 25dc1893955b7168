"""Explanation of a plan: its figures in words, and what is better and worse in it than in the preferred one."""

from __future__ import annotations

from collections.abc import Iterator

from sagagraph.domains.reunion.plan import Journey, ReunionPlan
from sagagraph.domains.reunion.planning.measure import Tradeoffs, measure, tradeoffs
from sagagraph.domains.reunion.request import Objective, ReunionProblem
from sagagraph.domains.reunion.times import text_of


def reasons(problem: ReunionProblem, plan: ReunionPlan, preferred: ReunionPlan | None = None) -> tuple[str, ...]:
    """Return reasons; the first is a summary in one line. `preferred` None: it is the preferred plan."""
    of = tradeoffs(problem, plan)
    first = _driving(of)
    if preferred is not None:
        better, worse = _differences(of, tradeoffs(problem, preferred))
        before = set(_too_early(problem, preferred))
        worse += [each for each in _too_early(problem, plan) if each not in before]
        first = ", ".join([*better, *(worse or ["and nothing worse"])])
    waiting = f"{of.waiting} minutes of waiting in all" if of.waiting else "nobody waits for a ride"
    between = f"{of.spread} minutes between who has most to do and who has least"
    over = (f"all is over at {text_of(of.ends)}",) if plan.actions else ()
    standing = round(measure(problem, plan, Objective.FRESH_FOOD))
    food = (f"food is ready {standing} minutes before it is eaten, in all",) if standing else ()
    return (first, *((_driving(of),) if preferred is not None else ()), *over, *food, waiting, between)


def _driving(of: Tradeoffs) -> str:
    km = "" if of.kilometres is None else f", {of.kilometres:g} km"
    return f"{of.driving_minutes} minutes of driving{km}"


def _differences(mine: Tradeoffs, other: Tradeoffs) -> tuple[list[str], list[str]]:
    """Return what is better, and what is worse."""
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
    return better, worse


def _too_early(problem: ReunionProblem, plan: ReunionPlan) -> Iterator[str]:
    """By the journeys that bring people there before they would like to be."""
    for person in problem.people:
        shared = (goal for goal in problem.goals if goal.people == "all" or person.name in goal.people)
        for goal in (*person.goals, *shared):
            rides = (act for act in plan.actions if isinstance(act, Journey) and person.name in act.people and act.end <= goal.by)
            last = max(rides, key=lambda act: act.end, default=None)
            if goal.not_before is not None and last is not None and last.to == goal.place and last.end < goal.not_before:
                yield f"{person.name} is there {goal.not_before - last.end} minutes before {text_of(goal.not_before)}"
