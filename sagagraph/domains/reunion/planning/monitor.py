"""Monitor of days: arrivals, journeys and vehicles that would be late, with the room that the plan has until somebody waits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sagagraph.domains.reunion.events import Delayed, Event, TravelFactor, VehicleDown
from sagagraph.domains.reunion.plan import Act, Journey, ReunionPlan
from sagagraph.domains.reunion.planning.model.situation import is_on
from sagagraph.domains.reunion.planning.progress import Standing, standing
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.errors import InvalidInputError
from sagagraph.planning.monitor import Finding, Observed, Thresholds, findings

_THRESHOLDS: Final = Thresholds(horizon=60)
"""In minutes."""


def delays(problem: ReunionProblem, plan: ReunionPlan, events: tuple[Event, ...], news: Event) -> tuple[Finding, ...]:
    """Judge what `news`, one of the events, would delay. Raises `InvalidInputError` for news that is no delay."""
    return findings(_observed(problem, plan, events, news), news.at, _THRESHOLDS)


def _observed(problem: ReunionProblem, plan: ReunionPlan, events: tuple[Event, ...], news: Event) -> Iterator[Observed]:
    stands = next(standing(problem, plan, events))
    match news:
        case Delayed(person=name, from_=since):
            yield from _arrivals(problem, plan, name, since)
        case TravelFactor():
            yield from _journeys(plan, stands)
        case VehicleDown(until=until) if until is not None:
            for act in stands.planned.values():
                if isinstance(act, Journey) and act.vehicle == news.vehicle and news.at <= act.start < until:
                    yield Observed(f"{act.vehicle} leaves {act.from_}", act.start, until, _due(problem, plan, act) - act.end)
        case _:
            raise InvalidInputError("is no delay: report it with `sagagraph reunion event` once it is known", field="event")


def _arrivals(problem: ReunionProblem, plan: ReunionPlan, name: str, since: int) -> Iterator[Observed]:
    person = next(each for each in problem.people if each.name == name)
    begins = [act.start for act in plan.actions if name in act.people]
    ends = [goal.by for goal in problem.goals_of(person)]
    if person.available is not None and person.from_ is not None and (begins or ends):
        late, slack = since - person.from_, min(begins or ends) - person.available
        yield Observed(f"{name} arrives", person.available, person.available + late, slack)


def _journeys(plan: ReunionPlan, stands: Standing) -> Iterator[Observed]:
    """Yield those under way, as they go on, and those that are planned, by the minutes that their roads take then."""
    legs = stands.setting(stands.problem, 0).legs
    for index, act in enumerate(plan.actions):
        if not isinstance(act, Journey):
            continue
        minutes = next((leg.minutes for leg in legs if is_on(leg, act)), act.end - act.start)
        end = stands.history[index].end if index in stands.history else act.start + minutes
        if end > act.end:
            yield Observed(f"{act.vehicle} arrives at {act.to}", act.end, end, _due(stands.problem, plan, act) - act.end)


def _due(problem: ReunionProblem, plan: ReunionPlan, act: Journey) -> int:
    """Return when a journey must have ended: when somebody on it, or its vehicle, acts next, or has to be there."""
    involved = {act.vehicle, *act.people}
    following = (each.start for each in plan.actions if each.start >= act.end and involved & _involved(each))
    travelling = (each for each in problem.people if each.name in act.people)
    goals = (goal.by for each in travelling for goal in problem.goals_of(each) if goal.place == act.to and goal.by >= act.end)
    return min((*following, *goals), default=max(each.end for each in plan.actions))


def _involved(act: Act) -> set[str]:
    return {*act.people, act.vehicle} if isinstance(act, Journey) else set(act.people)
