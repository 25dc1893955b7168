"""Presence: whether people and vehicles are where the plan needs them, and at their goals in time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sagagraph.domains.reunion.plan import Journey
from sagagraph.domains.reunion.request import PersonGoal, Vehicle
from sagagraph.domains.reunion.rules.facts.case import Case, clock
from sagagraph.domains.reunion.rules.facts.simulation import Hindrance, Obstacle, Subject
from sagagraph.validators.verdict import Violation


def check_hindrances(case: Case) -> Iterator[Violation]:
    """Report each action and obstacle once, naming everybody concerned: not there yet, in another action, or elsewhere."""
    groups: dict[tuple[Obstacle, int], list[Hindrance]] = {}
    for each in case.simulation.hindrances:
        groups.setdefault((each.obstacle, each.index), []).append(each)
    yield from (_hindered(case, group) for group in groups.values())


def _hindered(case: Case, group: list[Hindrance]) -> Violation:
    index, place = group[0].index, group[0].place
    start = clock(case.plan.actions[index].start)[0]
    told = [(each.subject.name, *_why(case, each)) for each in group]
    people = [each.subject.name for each in group if not each.subject.is_vehicle]
    vehicles = [each.subject.name for each in group if each.subject.is_vehicle]
    reasons = "; ".join(f"{name} {why}" for name, _, why in told)
    scope: dict[str, Any] = {"people": people} if people else {}
    scope |= {"vehicle": vehicles[0]} if vehicles else {}
    return Violation(
        code=group[0].obstacle.value,
        message=f"at {start}, {_doing(case, index)}: {reasons}",
        scope={**scope, **({"place": place} if place else {}), "action": index},
        evidence={"starts": start, "each": [{"name": name, **evidence} for name, evidence, _ in told]},
    )


def _why(case: Case, found: Hindrance) -> tuple[dict[str, Any], str]:
    act = case.plan.actions[found.index]
    if found.obstacle is Obstacle.NOT_YET_AVAILABLE:
        name = found.subject.name
        vehicle = case.world.vehicles[name].from_ if found.subject.is_vehicle else case.world.available_from(name, act.start)
        available = act.start if vehicle is None else vehicle
        early, at = available - act.start, clock(available)[0]
        return {"available": at, "early_by": early}, f"is available {early} minutes later, at {at}"
    if found.other is not None:
        other = case.plan.actions[found.other]
        until = clock(other.end)[0]
        where = f"{_doing(case, found.other)} (action {found.other}) until {until}"
        return {"other_action": found.other, "until": until}, f"is {where}"
    return {"is_at": sorted(found.places)}, f"is at {' or '.join(sorted(found.places))}, not at {found.place}"


def _doing(case: Case, index: int) -> str:
    act = case.plan.actions[index]
    return f"on the way {act.from_} to {act.to}" if isinstance(act, Journey) else f"at work on {act.task!r}"


def check_vehicles_ready(case: Case) -> Iterator[Violation]:
    """Check for rentals that are not unlocked, and vehicles that have broken down."""
    hindered = [each for each in case.simulation.hindrances if each.obstacle is Obstacle.NOT_YET_AVAILABLE]
    early = {each.index for each in hindered if each.subject.is_vehicle}
    for index, journey in case.journeys:
        vehicle = case.world.vehicles.get(journey.vehicle)
        why = vehicle and index not in early and _not_ready(case, vehicle, journey)
        if why:
            yield Violation(
                code="NOT_YET_AVAILABLE",
                message=f"{journey.vehicle} leaves {journey.from_} at {clock(journey.start)[0]}: {why}",
                scope={"vehicle": journey.vehicle, "action": index},
                evidence={"starts": clock(journey.start)[0]},
            )


def _not_ready(case: Case, vehicle: Vehicle, journey: Journey) -> str:
    down = case.world.breakdown(vehicle.name, journey.start)
    if down is not None:
        until = "" if down.until is None else f" until {clock(down.until)[0]}"
        return f"it is down from {clock(down.at)[0]} on{until}"
    if vehicle.unlocked_by is None:
        return ""
    unlocked, by = case.first_end(vehicle.unlocked_by), f"it is unlocked by {vehicle.unlocked_by!r}"
    if unlocked is None:
        is_reported = not case.world.tasks[vehicle.unlocked_by].optional
        may_be_done = any(vehicle.unlocked_by == each.task or each.other_tasks for each in case.traces)
        return "" if is_reported or may_be_done else f"{by}, which nobody does"
    return f"{by} at {clock(unlocked)[0]}" if journey.start < unlocked else ""


def check_goals(case: Case) -> Iterator[Violation]:
    """Report each missed goal and person once; somebody who arrives at the very minute is there."""
    for name, goal in case.world.goals():
        if not _is_met(case, name, goal):
            arrives = _arrival(case, name, goal)
            late = "" if arrives is None else f", and arrives at {clock(arrives)[0]}, {arrives - goal.by} minutes late"
            yield Violation(
                code="GOAL_MISSED",
                message=f"{name} is not at {goal.place} at {clock(goal.by)[0]}, but {_whereabouts(case, name, goal.by)}{late}",
                scope={"people": [name], "place": goal.place},
                evidence={
                    "by": clock(goal.by)[0],
                    **({} if arrives is None else {"arrives": clock(arrives)[0], "late_by": arrives - goal.by}),
                },
            )


def _is_met(case: Case, name: str, goal: PersonGoal) -> bool:
    simulation = case.simulation
    places = simulation.courses[Subject(name)].places_at(goal.by)
    on_the_way = simulation.leg_at(Subject(name), goal.by)
    if on_the_way is None and goal.place in places and simulation.is_ready(Subject(name), goal.by):
        return True
    return any(each.may_have_moved(name, is_vehicle=False, places=places, to=goal.place, by=goal.by) for each in case.traces)


def _arrival(case: Case, name: str, goal: PersonGoal) -> int | None:
    stays = case.simulation.courses[Subject(name)].stays
    return min((since for since, places in stays if since > goal.by and goal.place in places), default=None)


def _whereabouts(case: Case, name: str, at: int) -> str:
    on_the_way = case.simulation.leg_at(Subject(name), at)
    if on_the_way is not None:
        return _doing(case, on_the_way)
    if not case.simulation.is_ready(Subject(name), at):
        return "not available yet"
    return f"at {' or '.join(sorted(case.simulation.courses[Subject(name)].places_at(at)))}"
