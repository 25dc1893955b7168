"""Actions one by one: names, journeys and tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sagagraph.domains.reunion.events import MayReroute, RoadClosed, TravelFactor
from sagagraph.domains.reunion.plan import Journey, Work
from sagagraph.domains.reunion.rules.facts.part import (
    Part,
    PartCase,
    act_json,
    at_its_site,
    by_index,
    events_about,
    first_work,
    json_of,
    json_of_event,
    known_places,
    people_json,
    task_json,
)
from sagagraph.domains.reunion.rules.journeys import check_drivers, check_roads, check_seats
from sagagraph.domains.reunion.rules.presence import check_misplaced
from sagagraph.domains.reunion.rules.references import check_names
from sagagraph.domains.reunion.rules.tasks import check_durations, check_order, check_windows, check_workers
from sagagraph.validators.concern import Concern
from sagagraph.validators.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sagagraph.domains.reunion.events import Event
    from sagagraph.domains.reunion.plan import Act
    from sagagraph.domains.reunion.rules.facts.case import Case, Check
    from sagagraph.validators.verdict import Violation


def _names_scopes(case: Case) -> Iterator[tuple[str, Part]]:
    for index, act in case.plan.actions.items():
        vehicle = case.world.vehicles.get(act.vehicle) if isinstance(act, Journey) else None
        yield (
            f"action {index}",
            Part(
                about=(index,),
                actions=by_index({index: act_json(act)}),
                places=known_places(case, _places(act)),
                people=people_json(case, act.people),
                vehicles=() if vehicle is None else (json_of(vehicle),),
                tasks=task_json(case, act.task, "place") if isinstance(act, Work) else (),
                events=events_about(case, act.people),
            ),
        )


def _places(act: Act) -> tuple[str | None, ...]:
    return (act.from_, act.to) if isinstance(act, Journey) else (act.place,)


def _journey_scopes(case: Case) -> Iterator[tuple[str, Part]]:
    for index, journey in case.journeys:
        vehicle, ends = case.world.vehicles.get(journey.vehicle), {journey.from_, journey.to}
        yield (
            f"{journey.vehicle}, action {index}",
            Part(
                about=(index,),
                actions=by_index({index: act_json(journey)}),
                places=known_places(case, ends),
                roads=tuple(json_of(each) for each in case.problem.travel_minutes if {each.here, each.there} == ends),
                people=_aboard(case, journey),
                vehicles=() if vehicle is None else (json_of(vehicle),),
                events=(
                    *events_about(case, journey.people),
                    *(json_of_event(each) for each in case.world.events if _is_on_the_way(each, journey)),
                ),
                rerouted=case.history.is_rerouted(index) if case.history else None,
            ),
        )


def _aboard(case: Case, journey: Journey) -> tuple[dict[str, Any], ...]:
    """The driver as in the problem; of riders it matters only that they are known."""
    driver = () if journey.driver is None else (journey.driver,)
    riders = people_json(case, [name for name in journey.riders if name not in driver])
    return (*people_json(case, driver), *({"name": each["name"], "place": each["place"]} for each in riders))


def _is_on_the_way(event: Event, journey: Journey) -> bool:
    match event:
        case TravelFactor():
            return event.place in (journey.from_, journey.to)
        case RoadClosed():
            return {event.from_, event.to} == {journey.from_, journey.to}
        case MayReroute():
            return event.vehicle == journey.vehicle
        case _:
            return False


def _task_scopes(case: Case) -> Iterator[tuple[str, Part]]:
    for index, work in case.works:
        task = case.world.tasks[work.task]
        before = {each: act for name in task.after for each, act in first_work(case, name).items()}
        yield (
            f"task {work.task!r}, action {index}",
            Part(
                about=(index,),
                actions=by_index({**before, index: at_its_site(case, index, work)}),
                places=known_places(case, (task.place, work.place, case.simulation.sites.get(index))),
                people=people_json(case, work.people),
                tasks=(
                    *task_json(case, work.task),
                    *(each for name in task.after for each in task_json(case, name, "attention")),
                ),
                events=events_about(case, work.people),
            ),
        )


def checked(part: Part, *checks: Check) -> Iterator[Violation]:
    """What the checks find of the actions that the part is about."""
    case = PartCase.of(part)
    for check in checks:
        yield from (each for each in check(case) if each.scope.get("action") in (None, *part.about))


def _check_names(part: Part) -> Iterator[Violation]:
    return checked(part, check_names)


def _check_journey(part: Part) -> Iterator[Violation]:
    return checked(part, check_roads, check_drivers, check_seats)


def _check_task(part: Part) -> Iterator[Violation]:
    return checked(part, check_misplaced, check_windows, check_durations, check_order, check_workers)


NAMES = Concern("names", Kind.CONTRACT, Part, _names_scopes, _check_names)
JOURNEYS = Concern("journey", Kind.FACTUAL, Part, _journey_scopes, _check_journey)
TASKS = Concern("task", Kind.CONSTRAINT, Part, _task_scopes, _check_task)
