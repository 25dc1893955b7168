"""Days of people and vehicles: one after another, each by its own actions; two people's views of one ride are put together.

A day with more actions than fit is judged in windows. Each begins with the journey that ends the one before it, where nothing
else is under way: whoever arrives is where it ends, whatever came before.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from itertools import pairwise
from typing import Any, Final

from msgspec import Raw, json
from msgspec.structs import replace

from sagagraph.domains.reunion.events import VehicleDown
from sagagraph.domains.reunion.plan import Act, Journey, Work
from sagagraph.domains.reunion.rules.facts.case import Case
from sagagraph.domains.reunion.rules.facts.part import (
    RULED,
    Part,
    Rows,
    at_its_site,
    checking,
    events_about,
    first_work,
    known_places,
    raw,
    raw_act,
    raw_events,
    raw_people,
    raw_task,
)
from sagagraph.domains.reunion.rules.facts.unjudged import Trace
from sagagraph.domains.reunion.rules.presence import check_goals, check_hindrances, check_vehicles_ready
from sagagraph.domains.reunion.times import parse_moment
from sagagraph.validators import concern
from sagagraph.validators.concern import Concern, written
from sagagraph.validators.kinds import Kind

Acts = list[tuple[int, Act]]
_FIELDS: Final = (*RULED, "goals")


def _person_scopes(case: Case) -> Iterator[tuple[str, Part]]:
    """The goals of the problem are shown to each whom they concern: cancelled and later people are judged in their part."""
    for name, person in case.world.people.items():
        acts = _in_order(case, [(n, act) for n, act in case.plan.actions.items() if name in act.people])
        common = [
            goal for goal in case.problem.goals for each in ([name] if goal.people == "all" else goal.people) if each == name
        ]
        if not acts and not common and not person.goals:
            continue
        tasks = {act.task for _, act in acts if isinstance(act, Work)}
        yield from _windows(
            name,
            Part(
                about=tuple(index for index, _ in acts),
                actions={str(index): _alone(case, index, act, name) for index, act in acts},
                places=known_places(
                    case, (person.place, *(each.place for each in (*person.goals, *common)), *_places(case, acts))
                ),
                people=raw_people(case, [name], _FIELDS),
                tasks=tuple(each for task in sorted(tasks) for each in raw_task(case, task, "place", "attention")),
                goals=tuple(raw(goal, people=[name]) for goal in common),
                events=events_about(case, (name,)),
                traces=tuple(
                    Trace(
                        people=(name,) if name in each.people else (),
                        other_people=(name,) if name in each.other_people else (),
                        origin=each.origin,
                        to=each.to,
                        start=each.start,
                    )
                    for each in case.traces
                    if each.moves and (name in each.people or name in each.other_people)
                ),
            ),
            acts,
            case,
        )


def _alone(case: Case, index: int, act: Act, name: str) -> Raw:
    """An action as one of its people sees it."""
    return at_its_site(case, index, act, who=[name]) if isinstance(act, Work) else raw_act(act, driver=None, riders=[name])


def _vehicle_scopes(case: Case) -> Iterator[tuple[str, Part]]:
    for name, vehicle in case.world.vehicles.items():
        acts = _in_order(case, [(n, act) for n, act in case.journeys if act.vehicle == name])
        if not acts:
            continue
        key = vehicle.unlocked_by
        unlocking = [each for each in case.traces if key is not None and (each.task == key or each.other_tasks)]
        yield from _windows(
            name,
            Part(
                about=tuple(index for index, _ in acts),
                actions={
                    **{str(index): raw_act(act, driver=None, riders=[]) for index, act in acts},
                    **({} if key is None else first_work(case, key)),
                },
                places=known_places(case, (vehicle.place, *_places(case, acts))),
                vehicles=(raw(vehicle),),
                tasks=() if key is None else raw_task(case, key, "place", "attention", "optional"),
                events=raw_events(each for each in case.world.events if isinstance(each, VehicleDown) and each.vehicle == name),
                traces=(
                    *(
                        Trace(
                            vehicle=each.vehicle,
                            other_vehicles=(name,) if name in each.other_vehicles else (),
                            origin=each.origin,
                            to=each.to,
                            start=each.start,
                        )
                        for each in case.traces
                        if each.moves and (name == each.vehicle or name in each.other_vehicles)
                    ),
                    *(Trace(task=each.task, other_tasks=each.other_tasks, moves=False) for each in unlocking),
                ),
            ),
            acts,
            case,
        )


def _in_order(case: Case, acts: Acts) -> Acts:
    return sorted(acts, key=lambda each: case.simulation.order(each[0]))


def _places(case: Case, acts: Acts) -> Iterator[str | None]:
    for index, act in acts:
        if isinstance(act, Journey):
            yield from (act.from_, act.to)
        else:
            task = case.world.tasks.get(act.task)
            yield from (act.place, case.simulation.sites.get(index), None if task is None else task.place)


# -- windows -----------------------------------------------------------------------------------------------------------


def _windows(name: str, whole: Part, acts: Acts, case: Case) -> Iterator[tuple[str, Part]]:
    """The day at once if it fits, or if something in it cannot be judged; otherwise in windows."""
    if whole.traces or len(acts) < 2 or len(written(whole)) <= concern.ROOM_BYTES:
        yield f"the day of {name}", whole
        return
    cuts = set(_settled(acts, case))
    room = concern.ROOM_BYTES - len(written(replace(whole, actions={}, about=(), goals=())))
    for begin, end in pairwise([0, *_far_cuts(whole, acts, cuts, room), len(acts)]):
        yield f"the day of {name}, actions {acts[begin][0]} to {acts[end - 1][0]}", _window(whole, acts, begin, end)


def _settled(acts: Acts, case: Case) -> Iterator[int]:
    """Where a journey has ended at a known place and nothing else is under way: before which actions the day can be cut."""
    busy_until: int | None = None
    for number, ((_, last), (_, following)) in enumerate(pairwise(acts), start=1):
        is_known = isinstance(last, Journey) and {last.from_, last.to} <= case.problem.places.keys()
        if is_known and following.start >= last.end and (busy_until is None or busy_until <= last.start):
            yield number
        if not case.simulation.is_watched(last):
            busy_until = last.end if busy_until is None else max(busy_until, last.end)


def _far_cuts(whole: Part, acts: Acts, cuts: Container[int], room: int) -> Iterator[int]:
    """As few of the cuts as will do."""
    sizes = [len(bytes(whole.actions[str(index)])) + 8 for index, _ in acts]
    begin, latest, used = 0, 0, 0
    for number, size in enumerate(sizes):
        if number in cuts:
            latest = number
        used += size
        if used > room and latest > begin:
            yield latest
            begin = latest
            used = sum(sizes[begin - 1 : number + 1])


def _window(whole: Part, acts: Acts, begin: int, end: int) -> Part:
    """The actions from `begin` to before `end`, after the journey before them; with the goals that are due in between."""
    border = acts[begin - 1][1] if begin else None
    until = acts[end][1].start if end < len(acts) else None
    about = {str(index) for index in whole.about}
    shown = {str(index) for index, _ in acts[max(0, begin - 1) : end]}

    def is_due(goal: dict[str, Any]) -> bool:
        by = parse_moment(goal["by"])
        return isinstance(by, int) and (border is None or by >= border.end) and (until is None or by < until)

    def then(rows: Rows, **changes: Any) -> Rows:
        """With those who are in it where the window begins."""
        at = {"place": border.from_} if isinstance(border, Journey) else {}
        return tuple(Raw(written({**json.decode(each), **at, **changes})) for each in rows)

    goals = [goal for person in whole.people for goal in json.decode(person).get("goals", ()) if is_due(goal)]
    return replace(
        whole,
        about=tuple(index for index, _ in acts[begin:end]),
        actions={index: act for index, act in whole.actions.items() if index in shown or index not in about},
        goals=tuple(each for each in whole.goals if is_due(json.decode(each))),
        people=then(whole.people, goals=goals),
        vehicles=then(whole.vehicles),
    )


PERSON = Concern("person's day", Kind.TEMPORAL, Part, _person_scopes, checking(check_hindrances, check_goals))
VEHICLE = Concern("vehicle's day", Kind.TEMPORAL, Part, _vehicle_scopes, checking(check_hindrances, check_vehicles_ready))
