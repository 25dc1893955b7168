"""Progress when events have become known: what was done, where everybody is by then, and what is still only planned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from sagagraph.domains.reunion.events import Added, Cancelled, Delayed, Event, MayReroute, RoadClosed, TravelFactor, VehicleDown
from sagagraph.domains.reunion.plan import Act, Journey, ReunionPlan, Work
from sagagraph.domains.reunion.planning.model.situation import (
    Car,
    Leg,
    Situation,
    Traveller,
    UnderWay,
    journey,
    roads_of,
    situation_of,
)
from sagagraph.domains.reunion.request import ReunionProblem, with_row
from sagagraph.domains.reunion.times import whole_minutes

Numbered = Mapping[int, Act]
"""By their indices in the old plan."""


@dataclass(frozen=True, slots=True)
class Standing:
    problem: ReunionProblem
    """The problem after all events."""
    events: tuple[Event, ...]
    now: int
    history: Numbered
    """What began before `now`, with its current ends."""
    planned: Numbered

    def setting(self, problem: ReunionProblem, journeys: int, *, is_free: bool = False) -> Situation:
        """Return where everybody is and what is to be done from now on, with at most this many further journeys."""
        plain = situation_of(problem, journeys, is_free=is_free)
        begun = sorted(self.history.values(), key=lambda each: each.start)
        done = {action.task: action.end for action in reversed(begun) if action.do == "task"}
        ends = max(plain.ends, self.now)
        stands = replace(self, problem=problem)
        tasks = {task.name: task for task in problem.tasks}
        working = (each for each in begun if isinstance(each, Work) and each.end > self.now and each.task in tasks)
        return replace(
            plain,
            begins=self.now,
            ends=ends,
            travellers=tuple(_traveller(stands, each, begun) for each in plain.travellers),
            cars=tuple(_car(stands, each, begun, ends) for each in plain.cars),
            legs=tuple(_legs(stands, ends)),
            tasks=tuple(task for task in problem.tasks if task.name not in done),
            done=done,
            under_way=tuple(
                UnderWay(each.who, each.place or tasks[each.task].place, each.end, tasks[each.task].is_watched)
                for each in working
            ),
            departed=frozenset(action.vehicle for action in begun if isinstance(action, Journey)),
            ended=max((action.end for action in begun), default=0),
        )


def standing(problem: ReunionProblem, plan: ReunionPlan, events: tuple[Event, ...]) -> Iterator[Standing]:
    """Yield the state of things. `events` in the order of `at`: the latest is now; without any, nothing has begun. There is one
    for each way in which vehicles under way may continue: first unchanged, then with one of them rerouted, in turn.
    """
    now = events[-1].at if events else min(problem.moments, default=0)
    actions = dict(enumerate(plan.actions))
    history = {index: _as_it_goes_on(problem, events, each) for index, each in actions.items() if each.start < now}
    stands = Standing(
        amended(problem, events), events, now, history, {index: each for index, each in actions.items() if each.start >= now}
    )
    yield stands
    for event in (each for each in events if isinstance(each, MayReroute)):
        for index, old in enumerate(plan.actions):
            if not isinstance(old, Journey) or old.vehicle != event.vehicle or not old.start < event.at < old.end:
                continue
            for place, left in event.minutes_left.items():
                if place == old.to:
                    continue
                end = _slowed(old, place, event.at - old.start + whole_minutes(left), events, after=event.at) + old.start
                elsewhere = journey(old.vehicle, old.driver, old.riders, (old.from_, place), (old.start, end))
                yield replace(stands, history={**history, index: elsewhere})


# -- what the events make of the problem -----------------------------------------------------------------------------


def amended(problem: ReunionProblem, events: tuple[Event, ...]) -> ReunionProblem:
    """Return the problem without those who cancelled, with those who were added, and with the last delay of each; roads
    unchanged.
    """
    for event in events:
        match event:
            case Added(person=person):
                problem = problem.model_copy(update={"people": (*problem.people, person)})
            case Delayed(person=name, from_=since):
                problem = with_row("people", name, from_=since)(problem)
            case Cancelled(person=name):
                left = (tuple(each for each in names if each != name) for names in problem.apart)
                goals = (
                    goal
                    if goal.people == "all"
                    else goal.model_copy(update={"people": tuple(each for each in goal.people if each != name)})
                    for goal in problem.goals
                )
                people = (each for each in problem.people if each.name != name)
                apart = tuple(names for names in left if len(names) > 1)
                problem = problem.model_copy(update={"people": tuple(people), "goals": tuple(goals), "apart": apart})
            case _:
                pass
    return problem


# -- journeys that began before --------------------------------------------------------------------------------------


def _as_it_goes_on(problem: ReunionProblem, events: tuple[Event, ...], action: Act) -> Act:
    """Return the action as it continues: a journey that was under way when something slowed it ends later; others are
    unchanged.
    """
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
    """Return the minutes of a journey that begins at `start`."""
    slowed: float = minutes
    for event in events:
        if isinstance(event, TravelFactor) and event.place in (here, there) and _holds(event, start):
            slowed *= event.factor
    return whole_minutes(slowed)


def _slowed(action: Journey, to: str, needed: int, events: tuple[Event, ...], *, after: int) -> int:
    """Apply T_new = T_elapsed + factor · (T_total − T_elapsed) for each event in turn (docs/formats.md section 11)."""
    for event in events:
        if not isinstance(event, TravelFactor) or event.place not in (action.from_, to) or action.vehicle in event.passed:
            continue
        if after < event.at < action.start + needed:
            elapsed = event.at - action.start
            needed = whole_minutes(elapsed + event.factor * (needed - elapsed))
    return needed


def _holds(event: TravelFactor | RoadClosed | VehicleDown, moment: int) -> bool:
    return event.at <= moment and (event.until is None or moment < event.until)


# -- where everybody is ----------------------------------------------------------------------------------------------


def _traveller(stands: Standing, person: Traveller, begun: list[Act]) -> Traveller:
    own = [action for action in begun if person.name in action.people]
    watched = {task.name for task in stands.problem.tasks if task.is_watched}
    journeys = [action for action in own if isinstance(action, Journey)]
    busy = [action.end for action in own if isinstance(action, Journey) or action.task not in watched]

    def was_at(place: str, moment: int) -> bool:
        """Tell whether they were there at a moment that has passed."""
        before = [each for each in journeys if each.start < moment]
        if not before:
            return person.place == place and person.arrives <= moment
        return before[-1].to == place and before[-1].end <= moment

    return replace(
        person,
        place=journeys[-1].to if journeys else person.place,
        free=max(stands.now, person.free, *busy),
        is_expected=person.is_expected and not own and person.free > stands.now,
        arrives=max(person.arrives, journeys[-1].end) if journeys else person.arrives,
        goals=tuple(goal for goal in person.goals if goal.by >= stands.now or not was_at(goal.place, goal.by)),
        worked=sum(action.end - action.start for action in own),
        company=replace(person.company, from_first_action=False) if person.company and own else person.company,
    )


def _car(stands: Standing, car: Car, begun: list[Act], ends: int) -> Car:
    journeys = [each for each in begun if isinstance(each, Journey) and each.vehicle == car.name]
    downs = (each for each in stands.events if isinstance(each, VehicleDown) and each.vehicle == car.name)
    return replace(
        car,
        place=journeys[-1].to if journeys else car.place,
        free=max(stands.now, car.free, *(each.end for each in journeys)),
        down=tuple((each.at, ends + 1 if each.until is None else each.until) for each in downs),
    )


def _legs(stands: Standing, ends: int) -> Iterator[Leg]:
    """Return each road once for every period in which its duration is constant."""
    closures = [each for each in stands.events if isinstance(each, RoadClosed)]
    changes = (each.until for each in stands.events if isinstance(each, TravelFactor | RoadClosed))
    cuts = sorted({stands.now, *(each for each in changes if each is not None and stands.now < each <= ends), ends + 1})
    for here, there, minutes, km in roads_of(stands.problem):
        for opens, closes in pairwise(cuts):
            if not any({each.from_, each.to} == {here, there} and _holds(each, opens) for each in closures):
                yield Leg(here, there, _minutes_at(minutes, here, there, opens, stands.events), km, opens, closes)
