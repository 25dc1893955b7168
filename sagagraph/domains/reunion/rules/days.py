"""Days of people and vehicles: one after another, each by its own actions; two people's views of one ride are put together.

A day with more actions than fit is judged in windows. Each begins with the journey that ends the one before it, where nothing
else is under way: whoever arrives is where it ends, whatever came before.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from sagagraph.domains.reunion.events import VehicleDown
from sagagraph.domains.reunion.plan import Journey, Work
from sagagraph.domains.reunion.rules.actions import checked
from sagagraph.domains.reunion.rules.facts.part import (
    Part,
    Traced,
    act_json,
    at_its_site,
    by_index,
    events_about,
    first_work,
    json_of,
    json_of_event,
    known_places,
    person_json,
    task_json,
    traced,
)
from sagagraph.domains.reunion.rules.facts.simulation import Subject
from sagagraph.domains.reunion.rules.journeys import check_vehicles_ready
from sagagraph.domains.reunion.rules.presence import check_goals, check_hindrances
from sagagraph.domains.reunion.times import parse_moment
from sagagraph.validators import concern
from sagagraph.validators.concern import Concern
from sagagraph.validators.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from sagagraph.domains.reunion.plan import Act
    from sagagraph.domains.reunion.rules.facts.case import Case
    from sagagraph.validators.verdict import Violation


def _person_scopes(case: Case) -> Iterator[tuple[str, Part]]:
    for name in case.world.people:
        acts = _acts(case, Subject(name))
        own = {index: _alone(case, index, act, name) for index, act in acts}
        goals = tuple({**json_of(goal), "people": [name]} for whose, goal in _common_goals(case) if whose == name)
        own_goals = tuple(goal.place for goal in case.world.people[name].goals)
        tasks = {act.task for _, act in acts if isinstance(act, Work)}
        person = case.world.people[name]
        whole = Part(
            about=tuple(own),
            actions=by_index(own),
            places=known_places(case, (person.place, *own_goals, *(goal["place"] for goal in goals), *_places(case, own))),
            people=person_json(case, name, with_goals=True),
            tasks=tuple(each for task in sorted(tasks) for each in task_json(case, task, "place", "attention")),
            goals=goals,
            events=events_about(case, (name,)),
            traces=traced(case, name, is_vehicle=False),
        )
        if acts or goals or own_goals:
            yield from _windows(f"{name}", whole, acts, case)


def _common_goals(case: Case) -> Iterator[tuple[str, Any]]:
    """The goals of the problem, for each person whom they concern: cancelled and later people are judged in their part."""
    for goal in case.problem.goals:
        for name in case.world.people if goal.people == "all" else goal.people:
            yield name, goal


def _vehicle_scopes(case: Case) -> Iterator[tuple[str, Part]]:
    for name, vehicle in case.world.vehicles.items():
        acts = _acts(case, Subject(name, is_vehicle=True))
        if not acts:
            continue
        own = {index: act_json(act, driver=None, riders=[]) for index, act in acts}
        key = vehicle.unlocked_by
        whole = Part(
            about=tuple(own),
            actions=by_index({**own, **({} if key is None else first_work(case, key))}),
            places=known_places(case, (vehicle.place, *_places(case, own))),
            vehicles=(json_of(vehicle),),
            tasks=() if key is None else task_json(case, key, "place", "attention", "optional"),
            events=tuple(
                json_of_event(each) for each in case.world.events if isinstance(each, VehicleDown) and each.vehicle == name
            ),
            traces=(*traced(case, name, is_vehicle=True), *_of_task(case, key)),
        )
        yield from _windows(name, whole, acts, case)


def _of_task(case: Case, task: str | None) -> Iterator[Traced]:
    for each in case.traces if task is not None else ():
        if each.task == task or each.other_tasks:
            yield Traced(task=each.task, other_tasks=each.other_tasks, moves=False)


def _acts(case: Case, subject: Subject) -> list[tuple[int, Act]]:
    """Its actions, in the order in which it is in them."""
    own: list[tuple[int, Act]]
    if subject.is_vehicle:
        own = [(n, act) for n, act in case.journeys if act.vehicle == subject.name]
    else:
        own = [(n, act) for n, act in case.plan.actions.items() if subject.name in act.people]
    return sorted(own, key=lambda each: case.simulation.order(each[0]))


def _alone(case: Case, index: int, act: Act, name: str) -> dict[str, Any]:
    """An action as one of its people sees it."""
    if isinstance(act, Work):
        return {**at_its_site(case, index, act), "who": [name]}
    return act_json(act, driver=None, riders=[name])


def _places(case: Case, acts: dict[int, dict[str, Any]]) -> Iterator[str | None]:
    for act in acts.values():
        yield from (act.get("from"), act.get("to"), act.get("place"))
        task = case.world.tasks.get(act.get("task", ""))
        yield None if task is None else task.place


# -- windows -----------------------------------------------------------------------------------------------------------


def _windows(name: str, whole: Part, acts: list[tuple[int, Act]], case: Case) -> Iterator[tuple[str, Part]]:
    """The day at once if it fits, or if something in it cannot be judged; otherwise in windows."""
    if whole.traces or len(msgspec.json.encode(whole)) <= concern.ROOM_BYTES or len(acts) < 2:
        yield f"the day of {name}", whole
        return
    cuts = set(_settled(acts, case))
    room = concern.ROOM_BYTES - len(msgspec.json.encode(replace(whole, actions={}, about=(), goals=())))
    for begin, end in pairwise([0, *_far_cuts(whole, acts, cuts, room), len(acts)]):
        yield f"the day of {name}, actions {acts[begin][0]} to {acts[end - 1][0]}", _window(whole, acts, begin, end)


def _settled(acts: list[tuple[int, Act]], case: Case) -> Iterator[int]:
    """Where a journey has ended at a known place and nothing else is under way: before which actions the day can be cut."""
    busy_until: int | None = None
    for number, ((_, last), (_, following)) in enumerate(pairwise(acts), start=1):
        is_known = isinstance(last, Journey) and {last.from_, last.to} <= case.problem.places.keys()
        if is_known and following.start >= last.end and (busy_until is None or busy_until <= last.start):
            yield number
        if not case.simulation.is_watched(last):
            busy_until = last.end if busy_until is None else max(busy_until, last.end)


def _far_cuts(whole: Part, acts: list[tuple[int, Act]], cuts: Container[int], room: int) -> Iterator[int]:
    """As few of the cuts as will do."""
    sizes = [len(msgspec.json.encode(whole.actions[str(index)])) + 8 for index, _ in acts]
    begin, latest, used = 0, 0, 0
    for number, size in enumerate(sizes):
        if number in cuts:
            latest = number
        used += size
        if used > room and latest > begin:
            yield latest
            begin = latest
            used = sum(sizes[begin - 1 : number + 1])


def _window(whole: Part, acts: list[tuple[int, Act]], begin: int, end: int) -> Part:
    inside = [index for index, _ in acts[begin:end]]
    border = acts[begin - 1 : begin] if begin else []
    own = {str(index) for index in whole.about}
    others = {index: act for index, act in whole.actions.items() if index not in own}
    since = border[0][1].end if border else None
    until = acts[end][1].start if end < len(acts) else None
    goals = tuple(each for each in whole.goals if _is_between(_by(each), since, until))
    people, vehicles = whole.people, whole.vehicles
    for _index, act in border:
        if isinstance(act, Journey):
            people = tuple({**each, "place": act.from_, "goals": _between(each, since, until)} for each in people)
            vehicles = tuple({**each, "place": act.from_} for each in vehicles)
    if not border:
        people = tuple({**each, "goals": _between(each, since, until)} for each in people)
    actions = {**others, **{str(index): whole.actions[str(index)] for index in (*(n for n, _ in border), *inside)}}
    return replace(whole, about=tuple(inside), actions=actions, goals=goals, people=people, vehicles=vehicles)


def _between(person: dict[str, Any], since: int | None, until: int | None) -> list[Any]:
    return [each for each in person.get("goals", ()) if _is_between(_by(each), since, until)]


def _by(goal: dict[str, Any]) -> int:
    found = parse_moment(goal["by"])
    return found if isinstance(found, int) else 0


def _is_between(at: int, since: int | None, until: int | None) -> bool:
    return (since is None or at >= since) and (until is None or at < until)


def _check_person(part: Part) -> Iterator[Violation]:
    return checked(part, check_hindrances, check_goals)


def _check_vehicle(part: Part) -> Iterator[Violation]:
    return checked(part, check_hindrances, check_vehicles_ready)


PERSON = Concern("person's day", Kind.TEMPORAL, Part, _person_scopes, _check_person)
VEHICLE = Concern("vehicle's day", Kind.TEMPORAL, Part, _vehicle_scopes, _check_vehicle)
