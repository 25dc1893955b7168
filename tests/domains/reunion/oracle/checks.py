"""Checks of the whole day, as release 0.3 had them: one for each rule, all of it at once.

They share the facts with the scoped validators (who is where, by `Simulation`, and what is past, by `History`), and nothing else.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any

from sagagraph.domains.reunion.events import VehicleDown
from sagagraph.domains.reunion.plan import Journey, Work
from sagagraph.domains.reunion.request import Attention, PersonGoal, Vehicle
from sagagraph.domains.reunion.rules.company import waits
from sagagraph.domains.reunion.rules.facts.case import Case, clock, listed
from sagagraph.domains.reunion.rules.facts.course import Course, Hindrance, Obstacle
from sagagraph.domains.reunion.rules.whole import dropped, inserted, not_readable, rewritten
from sagagraph.domains.reunion.times import whole_minutes
from sagagraph.validators.verdict import Violation


def check_readable(case: Case) -> Iterator[Violation]:
    """Once for each action that cannot be read."""
    if case.plan.fault:
        yield Violation(code="MALFORMED", message=case.plan.fault, scope={"field": "actions"})
    yield from (not_readable(each.index, each.faults) for each in case.plan.broken)


def check_past(case: Case) -> Iterator[Violation]:
    """Report each past action that is told differently, left out, or made up."""
    history = case.history
    if history is None:
        return
    before, now, until = history.old.actions, history.new.actions, history.until
    for old, new in history.rewritten:
        yield rewritten(old, before[old], new, now[new], until)
    for old in history.dropped:
        yield from dropped(old, before[old], until)
    for new in history.inserted:
        yield from inserted(new, now[new], until)


def _missing(case: Case) -> tuple[str, ...]:
    """Tasks that should have been done and were not, apart from those that an unjudged action may have done."""
    done = {work.task for _, work in case.works} | {each.task for each in case.traces}
    missing = [task.name for task in case.problem.tasks if not task.optional and task.name not in done]
    return tuple(missing[sum(each.other_tasks for each in case.traces) :])


def check_missing(case: Case) -> Iterator[Violation]:
    for name in _missing(case):
        yield Violation(code="MISSING_TASK", message=f"{name!r} is not done by anybody", scope={"task": name})


def check_watched(case: Case) -> Iterator[Violation]:
    """Report each time during which nobody is there."""
    for index, work in case.works:
        place = case.simulation.sites.get(index)
        if case.world.tasks[work.task].attention is not Attention.WATCHED or place is None:
            continue
        for begins, ends in _gaps(case, place, work):
            start, end = clock(begins, ends)
            yield Violation(
                code="UNATTENDED",
                message=f"{work.task!r}: nobody is at {place} from {start} to {end}, {ends - begins} minutes",
                scope={"task": work.task, "place": place, "action": index},
                evidence={"from": start, "to": end, "minutes": ends - begins},
            )


def _gaps(case: Case, place: str, work: Work) -> Iterator[tuple[int, int]]:
    """Return the gaps within [start, end), joined where one follows another."""
    begins: int | None = None
    for at in (at for at in case.changes if work.start <= at < work.end):
        watched = any(each.may_be_at(place, at) for each in case.simulation.people.values())
        if watched and begins is not None:
            yield begins, at
        begins = None if watched else at if begins is None else begins
    if begins is not None:
        yield begins, work.end


def check_company(case: Case) -> Iterator[Violation]:
    """Report each time and place once. If several places are possible, alone means at each of them."""
    for name, person in case.world.people.items():
        goals = [goal for whose, goal in case.world.goals() if whose == name]
        if person.never_alone and goals:
            last = max(goals, key=lambda goal: goal.by)
            for place, begins, ends in _times_alone(case, name, last):
                start, end = clock(begins, ends)
                yield Violation(
                    code="ALONE",
                    message=f"{name} waits alone at {place} from {start} to {end}, {ends - begins} minutes",
                    scope={"people": [name], "place": place},
                    evidence={"from": start, "to": end, "minutes": ends - begins},
                )


def _times_alone(case: Case, name: str, last: PersonGoal) -> Iterator[tuple[str, int, int]]:
    """Return (place, from, until), joined where one follows another at the same place."""
    cuts = [at for at in case.changes if at < last.by]
    since: tuple[str, int] | None = None
    for at in cuts:
        place = _where_alone(case, name, last.place, at)
        if since is not None and since[0] != place:
            yield *since, at
            since = None
        if place is not None and since is None:
            since = place, at
    if since is not None:
        yield *since, last.by


def _where_alone(case: Case, name: str, refuge: str, at: int) -> str | None:
    """Return the place; None: they are not waiting, or not alone."""
    mine = case.simulation.people[name]
    if not waits(mine, at):
        return None
    places = [place for place in case.problem.places if mine.may_be_at(place, at)]
    others = [each for each in case.simulation.people.values() if each is not mine]
    is_alone = refuge not in places and not any(each.may_be_at(place, at) for place in places for each in others)
    return places[0] if places and is_alone else None


def check_names(case: Case) -> Iterator[Violation]:
    """Once for each name of an action that stands for nobody and nothing at its start."""
    for index, act in case.plan.actions.items():
        named = [("person", name) for name in act.people]
        if isinstance(act, Journey):
            named += [("vehicle", act.vehicle), ("place", act.from_), ("place", act.to)]
        else:
            named += [("task", act.task), *([] if act.place is None else [("place", act.place)])]
        for kind, name in dict.fromkeys(named):
            why = _unknown(case, kind, name, act.start)
            if why:
                scope = {"people": [name]} if kind == "person" else {kind: name}
                message = f"action {index}, at {clock(act.start)[0]}: {why}"
                yield Violation(code="UNKNOWN_REFERENCE", message=message, scope={**scope, "action": index})


def _unknown(case: Case, kind: str, name: str, at: int) -> str:
    world = case.world
    if kind != "person":
        there_are: dict[str, Container[str]] = {"vehicle": world.vehicles, "task": world.tasks, "place": world.problem.places}
        return "" if name in there_are[kind] else f"no {kind} is called {name!r}"
    if world.takes_part(name, at):
        return ""
    if name not in world.people:
        return f"nobody is called {name!r}"
    who = world.subjects[name]
    if who.cancelled is not None and who.cancelled <= at:
        return f"{name} has cancelled, at {clock(who.cancelled)[0]}"
    return f"{name} is not known before {clock(who.added or 0)[0]}"


def check_roads(case: Case) -> Iterator[Violation]:
    for index, journey in case.journeys:
        if {journey.from_, journey.to} <= case.problem.places.keys():
            rerouted = case.history.is_rerouted(index) if case.history else None
            yield from _check_road(case, index, journey, case.world.way(journey).needed(rerouted=rerouted))


def _check_road(case: Case, index: int, journey: Journey, needed: int | None) -> Iterator[Violation]:
    way = {"from": journey.from_, "to": journey.to}
    scope = {"people": list(journey.people), "vehicle": journey.vehicle, **way, "action": index}
    said = f"{journey.vehicle}, {journey.from_} to {journey.to} at {clock(journey.start)[0]}"
    stated = journey.end - journey.start
    if needed is None:
        closed = case.world.way(journey).closed_at
        why = "no direct way is listed" if closed is None else f"that road is closed from {clock(closed)[0]} on"
        yield Violation(code="NO_ROUTE", message=f"{said}: {why}", scope=scope)
    elif stated < needed:
        yield Violation(
            code="TRAVEL_TIME",
            message=f"{said}: {stated} minutes for a way of {needed}, {needed - stated} too few",
            scope=scope,
            evidence={"stated": stated, "needed": needed, "short_by": needed - stated},
        )


def check_drivers(case: Case) -> Iterator[Violation]:
    """Check drivers. An unknown driver is reported as such."""
    for index, journey in case.journeys:
        vehicle = case.world.vehicles.get(journey.vehicle)
        why = vehicle and _no_driver(case, vehicle, journey)
        if why:
            yield Violation(
                code="NO_DRIVER",
                message=f"{journey.vehicle} at {clock(journey.start)[0]}, {journey.from_} to {journey.to}: {why}",
                scope={
                    "vehicle": journey.vehicle,
                    **({"people": [journey.driver]} if journey.driver else {}),
                    "action": index,
                },
                evidence={"driver": journey.driver, "drivers": list(vehicle.drivers or ()) if vehicle else []},
            )


def _no_driver(case: Case, vehicle: Vehicle, journey: Journey) -> str:
    name = journey.driver
    if vehicle.drivers is None:
        known = name is not None and case.world.takes_part(name, journey.start)
        return f"it brings its own driver, and {name} is not to drive it" if known else ""
    if name is None:
        return "nobody drives it"
    if not case.world.takes_part(name, journey.start):
        return ""
    if name not in vehicle.drivers:
        return f"{name} is not one of its drivers"
    return f"{name} does not drive" if case.world.people[name].drives is False else ""


def check_seats(case: Case) -> Iterator[Violation]:
    """Check that everybody aboard has a seat, the driver too unless the vehicle brings its own. Unknown names need none."""
    for index, journey in case.journeys:
        vehicle = case.world.vehicles.get(journey.vehicle)
        aboard = sorted({name for name in journey.people if case.world.takes_part(name, journey.start)})
        if vehicle is not None and len(aboard) > vehicle.seats:
            yield Violation(
                code="CAPACITY",
                message=f"{vehicle.name} at {clock(journey.start)[0]}: {len(aboard)} people for {vehicle.seats} seats",
                scope={"vehicle": vehicle.name, "people": aboard, "action": index},
                evidence={"people": len(aboard), "seats": vehicle.seats, "too_many": len(aboard) - vehicle.seats},
            )


def check_misplaced(case: Case) -> Iterator[Violation]:
    for index, work in case.works:
        own = case.world.tasks[work.task].place
        if own not in (None, work.place) and work.place in case.problem.places:
            yield Violation(
                code="CONTINUITY",
                message=f"{listed(work.who)} at {clock(work.start)[0]}: {work.task!r} is done at {own}, not at {work.place}",
                scope={"people": list(work.who), "task": work.task, "place": work.place, "action": index},
                evidence={"place": own, "stated": work.place},
            )


def check_windows(case: Case) -> Iterator[Violation]:
    """Check windows, with one report for each time that a task is done, though it may begin too early and end too late."""
    for index, work in case.works:
        window = case.world.tasks[work.task].window
        early = 0 if window.opens is None else max(0, window.opens - work.start)
        late = 0 if window.closes is None else max(0, work.end - window.closes)
        faults = []
        if window.opens is not None and early:
            faults.append(f"begins at {clock(work.start)[0]}, {early} minutes before {clock(window.opens)[0]}")
        if window.closes is not None and late:
            faults.append(f"ends at {clock(work.end)[0]}, {late} minutes after {clock(window.closes)[0]}")
        if faults:
            evidence = {"early_by": early, "late_by": late}
            yield _at(case, index, "WINDOW", " and ".join(faults), evidence=evidence)


def check_durations(case: Case) -> Iterator[Violation]:
    for index, work in case.works:
        stated, needed = work.end - work.start, whole_minutes(case.world.tasks[work.task].minutes)
        if stated < needed:
            evidence = {"stated": stated, "needed": needed, "short_by": needed - stated}
            yield _at(case, index, "DURATION", f"{stated} minutes for {needed}, {needed - stated} too few", evidence=evidence)


def check_order(case: Case) -> Iterator[Violation]:
    """Check the order. A prerequisite that is never done is missing or optional: nothing has to wait for it."""
    for index, work in case.works:
        for before in case.world.tasks[work.task].after:
            done = case.first_ends.get(before)
            if done is not None and done > work.start:
                why = f"begins at {clock(work.start)[0]}, and {before!r}, which comes first, ends at {clock(done)[0]}"
                yield _at(case, index, "ORDER", why, evidence={"after": before, "early_by": done - work.start})


def check_workers(case: Case) -> Iterator[Violation]:
    """Check workers, with one report for each person who may not do it, and one if they are too few."""
    for index, work in case.works:
        task, workers = case.world.tasks[work.task], list(dict.fromkeys(work.who))
        for name in workers:
            if task.who is not None and name not in task.who and case.world.takes_part(name, work.start):
                evidence = {"who": list(task.who)}
                yield _at(case, index, "NOT_ALLOWED", f"{name} is none of {listed(task.who)}", [name], evidence)
        if len(workers) < task.people:
            few = {"people": len(workers), "needed": task.people}
            yield _at(case, index, "NOT_ALLOWED", f"{len(workers)} people for {task.people}", evidence=few)


def _at(
    case: Case, index: int, code: str, why: str, people: list[str] | None = None, evidence: Mapping[str, object] | None = None
) -> Violation:
    work = dict(case.works)[index]
    place = case.simulation.sites.get(index)
    who = list(work.who) if people is None else people
    return Violation(
        code=code,
        message=f"{work.task!r} at {clock(work.start)[0]}: {why}",
        scope={"people": who, "task": work.task, **({"place": place} if place else {}), "action": index},
        evidence=dict(evidence or {}),
    )


def check_hindrances(case: Case) -> Iterator[Violation]:
    """Report each action and obstacle once, naming everybody concerned: not there yet, in another action, or elsewhere."""
    groups: dict[tuple[Obstacle, int], list[tuple[Course, Hindrance]]] = {}
    for course in (*case.simulation.people.values(), *case.simulation.vehicles.values()):
        for each in course.hindrances:
            groups.setdefault((each.obstacle, each.step.index), []).append((course, each))
    yield from (_hindered(case, group) for group in groups.values())


def _hindered(case: Case, group: list[tuple[Course, Hindrance]]) -> Violation:
    step, act = group[0][1].step, case.plan.actions[group[0][1].step.index]
    group.sort(
        key=lambda each: (each[0].who.is_vehicle, *([] if each[0].who.is_vehicle else [act.people.index(each[0].who.name)]))
    )
    start = clock(act.start)[0]
    told = [(course.who.name, *_why(case, course, each)) for course, each in group]
    people = [course.who.name for course, _ in group if not course.who.is_vehicle]
    vehicles = [course.who.name for course, _ in group if course.who.is_vehicle]
    reasons = "; ".join(f"{name} {why}" for name, _, why in told)
    scope: dict[str, Any] = {"people": people} if people else {}
    scope |= {"vehicle": vehicles[0]} if vehicles else {}
    return Violation(
        code=group[0][1].obstacle.value,
        message=f"at {start}, {_doing(case, step.index)}: {reasons}",
        scope={**scope, **({"place": step.place} if step.place else {}), "action": step.index},
        evidence={"starts": start, "each": [{"name": name, **evidence} for name, evidence, _ in told]},
    )


def _why(case: Case, course: Course, found: Hindrance) -> tuple[dict[str, Any], str]:
    act = case.plan.actions[found.step.index]
    if found.obstacle is Obstacle.NOT_YET_AVAILABLE:
        since = course.who.available_from(act.start)
        available = act.start if since is None else since
        early, at = available - act.start, clock(available)[0]
        return {"available": at, "early_by": early}, f"is available {early} minutes later, at {at}"
    if found.other is not None:
        other = case.plan.actions[found.other.index]
        until = clock(other.end)[0]
        where = f"{_doing(case, found.other.index)} (action {found.other.index}) until {until}"
        return {"other_action": found.other.index, "until": until}, f"is {where}"
    return {"is_at": sorted(found.places)}, f"is at {' or '.join(sorted(found.places))}, not at {found.step.place}"


def _doing(case: Case, index: int) -> str:
    act = case.plan.actions[index]
    return f"on the way {act.from_} to {act.to}" if isinstance(act, Journey) else f"at work on {act.task!r}"


def check_vehicles_ready(case: Case) -> Iterator[Violation]:
    """Check for rentals that are not unlocked, and vehicles that have broken down."""
    hindered = [each for course in case.simulation.vehicles.values() for each in course.hindrances]
    early = {each.step.index for each in hindered if each.obstacle is Obstacle.NOT_YET_AVAILABLE}
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
    downs = (each for each in case.world.events if isinstance(each, VehicleDown) and each.vehicle == vehicle.name)
    now = (each for each in downs if each.at <= journey.start and (each.until is None or journey.start < each.until))
    down = next(now, None)
    if down is not None:
        until = "" if down.until is None else f" until {clock(down.until)[0]}"
        return f"it is down from {clock(down.at)[0]} on{until}"
    if vehicle.unlocked_by is None:
        return ""
    unlocked, by = case.first_ends.get(vehicle.unlocked_by), f"it is unlocked by {vehicle.unlocked_by!r}"
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
    course = case.simulation.people[name]
    places = course.places_at(goal.by)
    if course.leg_at(goal.by) is None and goal.place in places and course.is_ready(goal.by):
        return True
    return any(not each.is_restated and each.may_have_moved(places, goal.place, goal.by) for each in course.excuses)


def _arrival(case: Case, name: str, goal: PersonGoal) -> int | None:
    stays = case.simulation.people[name].stays
    return min((since for since, places in stays if since > goal.by and goal.place in places), default=None)


def _whereabouts(case: Case, name: str, at: int) -> str:
    course = case.simulation.people[name]
    on_the_way = course.leg_at(at)
    if on_the_way is not None:
        return _doing(case, on_the_way.index)
    return f"at {' or '.join(sorted(course.places_at(at)))}" if course.is_ready(at) else "not available yet"
