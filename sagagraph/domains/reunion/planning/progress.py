"""Progress when events have become known: what was done, where everybody is by then, and what is still only planned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from sagagraph.domains.reunion.events import Added, Cancelled, Delayed, MayReroute, RoadClosed, TravelFactor, VehicleDown
from sagagraph.domains.reunion.plan import Journey
from sagagraph.domains.reunion.planning.model.draft import journey
from sagagraph.domains.reunion.planning.model.situation import Leg, Shift, Watch, is_watched, moments_of, roads_of, situation_of
from sagagraph.domains.reunion.times import whole_minutes

if TYPE_CHECKING:
    from sagagraph.domains.reunion.events import Event
    from sagagraph.domains.reunion.plan import ReunionPlan, Work
    from sagagraph.domains.reunion.planning.model.situation import Car, Situation, Traveller
    from sagagraph.domains.reunion.request import Goal, ReunionProblem

    Action = Journey | Work
    Numbered = Mapping[int, Action]
    """By the index in the old plan."""


@dataclass(frozen=True, slots=True)
class Standing:
    problem: ReunionProblem
    """As it is with all events."""
    events: tuple[Event, ...]
    now: int
    history: Numbered
    """What began before `now`, with the ends that it has now."""
    planned: Numbered


def standing(problem: ReunionProblem, plan: ReunionPlan, events: tuple[Event, ...]) -> Iterator[Standing]:
    """`events` in the order of `at`: the latest is now; without any, nothing has begun. One for each way in which vehicles
    under way may go on: first as they are, then with one of them rerouted after the other."""
    now = events[-1].at if events else min(moments_of(problem), default=0)
    actions = dict(enumerate(plan.actions))
    history = {index: _as_it_goes_on(problem, events, each) for index, each in actions.items() if each.start < now}
    stands = Standing(
        amended(problem, events), events, now, history, {index: each for index, each in actions.items() if each.start >= now}
    )
    yield stands
    for index, event, old in _under_way(plan, events, now):
        for place, left in event.minutes_left.items():
            if place != old.to:
                end = _slowed(old, place, event.at - old.start + whole_minutes(left), events, after=event.at) + old.start
                elsewhere = journey(old.vehicle, old.driver, old.riders, (old.from_, place), (old.start, end))
                yield replace(stands, history={**history, index: elsewhere})


def _under_way(plan: ReunionPlan, events: tuple[Event, ...], now: int) -> Iterator[tuple[int, MayReroute, Journey]]:
    journeys = [(index, each) for index, each in enumerate(plan.actions) if isinstance(each, Journey) and each.start < now]
    for event in (each for each in events if isinstance(each, MayReroute)):
        for index, each in journeys:
            if each.vehicle == event.vehicle and each.start < event.at < each.end:
                yield index, event, each


# -- what the events make of the problem -----------------------------------------------------------------------------


def amended(problem: ReunionProblem, events: tuple[Event, ...]) -> ReunionProblem:
    """Without those who cancelled, with those who were added, and with the last delay of each; roads as they were."""
    for event in events:
        match event:
            case Added(person=person):
                problem = problem.model_copy(update={"people": (*problem.people, person)})
            case Delayed(person=name, from_=since):
                people = (each.model_copy(update={"from_": since}) if each.name == name else each for each in problem.people)
                problem = problem.model_copy(update={"people": tuple(people)})
            case Cancelled(person=name):
                problem = _without(problem, name)
            case _:
                pass
    return problem


def _without(problem: ReunionProblem, name: str) -> ReunionProblem:
    def others(goal: Goal) -> Goal:
        if goal.people == "all":
            return goal
        return goal.model_copy(update={"people": tuple(each for each in goal.people if each != name)})

    return problem.model_copy(
        update={
            "people": tuple(each for each in problem.people if each.name != name),
            "goals": tuple(others(goal) for goal in problem.goals),
            "apart": tuple(left for names in problem.apart if len(left := tuple(each for each in names if each != name)) > 1),
        }
    )


# -- journeys that began before --------------------------------------------------------------------------------------


def _as_it_goes_on(problem: ReunionProblem, events: tuple[Event, ...], action: Action) -> Action:
    """A journey that was under way when something slowed it ends later; everything else stands."""
    if not isinstance(action, Journey) or not any(action.start < event.at < action.end for event in events):
        return action
    minutes = {(here, there): taken for here, there, taken, _ in roads_of(problem)}.get((action.from_, action.to))
    if minutes is None:
        return action
    needed = _minutes_at(minutes, action.from_, action.to, action.start, events)
    end = action.start + _slowed(action, action.to, needed, events, after=action.start)
    road = action.from_, action.to
    return journey(action.vehicle, action.driver, action.riders, road, (action.start, max(action.end, end)))


def _minutes_at(minutes: int, here: str, there: str, start: int, events: tuple[Event, ...]) -> int:
    """Of a journey that begins at `start`."""
    slowed: float = minutes
    for event in events:
        if isinstance(event, TravelFactor) and event.place in (here, there) and _holds(event, start):
            slowed *= event.factor
    return whole_minutes(slowed)


def _slowed(action: Journey, to: str, needed: int, events: tuple[Event, ...], *, after: int) -> int:
    """T_new = T_elapsed + factor · (T_total − T_elapsed) for each event in turn, docs/formats.md section 11."""
    for event in events:
        if not isinstance(event, TravelFactor) or event.place not in (action.from_, to) or action.vehicle in event.passed:
            continue
        if after < event.at < action.start + needed:
            elapsed = event.at - action.start
            needed = whole_minutes(elapsed + event.factor * (needed - elapsed))
    return needed


def _holds(event: TravelFactor | RoadClosed | VehicleDown, moment: int) -> bool:
    return event.at <= moment and (event.until is None or moment < event.until)


# -- the situation ---------------------------------------------------------------------------------------------------


def situation_after(stands: Standing, *, journeys: int, is_free: bool = False) -> Situation:
    """Where everybody is and what is to be done from now on, with at most so many journeys more."""
    plain = situation_of(stands.problem, journeys=journeys, is_free=is_free)
    begun = sorted(stands.history.values(), key=lambda each: each.start)
    done = {action.task: action.end for action in reversed(begun) if action.do == "task"}
    ends = max(plain.ends, stands.now)
    return replace(
        plain,
        begins=stands.now,
        ends=ends,
        travellers=tuple(_traveller(stands, each, begun) for each in plain.travellers),
        cars=tuple(_car(stands, each, begun, ends) for each in plain.cars),
        legs=tuple(_legs(stands, ends)),
        tasks=tuple(task for task in stands.problem.tasks if task.name not in done),
        done=done,
        watches=tuple(_watches(stands, begun)),
        shifts=tuple(_shifts(stands, begun)),
        departed=frozenset(each.vehicle for each in begun if isinstance(each, Journey)),
        ended=max((each.end for each in begun), default=0),
    )


def _traveller(stands: Standing, person: Traveller, begun: list[Action]) -> Traveller:
    own = [action for action in begun if person.name in action.people]
    watched = {task.name for task in stands.problem.tasks if is_watched(task)}
    journeys = [action for action in own if isinstance(action, Journey)]
    busy = [action.end for action in own if isinstance(action, Journey) or action.task not in watched]
    return replace(
        person,
        place=journeys[-1].to if journeys else person.place,
        free=max(stands.now, person.free, *busy),
        is_expected=person.is_expected and not own and person.free > stands.now,
        arrives=max(person.arrives, journeys[-1].end) if journeys else person.arrives,
        goals=tuple(goal for goal in person.goals if goal.by >= stands.now or not _was_at(person, journeys, goal.place, goal.by)),
        worked=sum(action.end - action.start for action in own),
        company=replace(person.company, from_first_action=False) if person.company and own else person.company,
    )


def _was_at(person: Traveller, journeys: list[Journey], place: str, moment: int) -> bool:
    """Whether they were there at a moment that has passed."""
    before = [each for each in journeys if each.start < moment]
    if not before:
        return person.place == place and person.arrives <= moment
    return before[-1].to == place and before[-1].end <= moment


def _car(stands: Standing, car: Car, begun: list[Action], ends: int) -> Car:
    journeys = [each for each in begun if isinstance(each, Journey) and each.vehicle == car.name]
    downs = (each for each in stands.events if isinstance(each, VehicleDown) and each.vehicle == car.name)
    return replace(
        car,
        place=journeys[-1].to if journeys else car.place,
        free=max(stands.now, car.free, *(each.end for each in journeys)),
        down=tuple((each.at, ends + 1 if each.until is None else each.until) for each in downs),
    )


def _legs(stands: Standing, ends: int) -> Iterator[Leg]:
    """Each road once for every time during which it is as it is."""
    changes = (each.until for each in stands.events if isinstance(each, TravelFactor | RoadClosed))
    cuts = sorted({stands.now, *(each for each in changes if each is not None and stands.now < each <= ends), ends + 1})
    for here, there, minutes, km in roads_of(stands.problem):
        for opens, closes in pairwise(cuts):
            if not _is_closed(stands, here, there, opens):
                yield Leg(here, there, _minutes_at(minutes, here, there, opens, stands.events), km, opens, closes)


def _is_closed(stands: Standing, here: str, there: str, moment: int) -> bool:
    closures = (each for each in stands.events if isinstance(each, RoadClosed) and {each.from_, each.to} == {here, there})
    return any(_holds(each, moment) for each in closures)


def _watches(stands: Standing, begun: list[Action]) -> Iterator[Watch]:
    tasks = {task.name: task for task in stands.problem.tasks}
    for action in begun:
        task = tasks.get(action.task) if action.do == "task" else None
        if task is not None and action.do == "task" and action.end > stands.now and is_watched(task):
            place = action.place or task.place
            if place is not None:
                yield Watch(place, action.end)


def _shifts(stands: Standing, begun: list[Action]) -> Iterator[Shift]:
    tasks = {task.name: task for task in stands.problem.tasks}
    for action in begun:
        if action.do == "task" and action.end > stands.now and action.task in tasks and not is_watched(tasks[action.task]):
            yield Shift(action.who, action.place or tasks[action.task].place, action.end)
