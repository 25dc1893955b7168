"""Draft of a large reunion: the chosen rounds, packed into the shifts of the vehicles, at their times."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Final

from ortools.sat.python import cp_model

from sagagraph.domains.reunion.plan import Act, Journey, Work
from sagagraph.domains.reunion.planning.insertion import Driven, inserted
from sagagraph.domains.reunion.planning.master import NEVER, Master
from sagagraph.domains.reunion.planning.model.situation import Situation, Traveller, is_on, journey
from sagagraph.domains.reunion.planning.rounds import NO_CREW, Kind, Round, Rounds, Shift
from sagagraph.domains.reunion.request import Objective, Task
from sagagraph.domains.reunion.times import whole_minutes
from sagagraph.planning.budget import Budget
from sagagraph.planning.cp_sat import solver_with

SHORTER: Final = 3
"""Minutes by which the rounds of a crew together have to become shorter if they do not fit."""
SECONDS_TO_PACK: Final = 0.7
Ride = tuple[int, int | None, int, Kind]
"""Shift whose driver rides before its first round, or the round that is their last, and in which they ride, as what."""
Pairs = dict[tuple[int, int], cp_model.IntVar]


def draft(situation: Situation, budget: Budget) -> tuple[Act, ...]:
    """Return what everybody does, in order, at worst as in a first draft; nothing, if there is none, which proves nothing."""
    rounds = Rounds(situation)
    if not rounds.shifts or not rounds.names:
        return _acted(rounds, ())
    is_early = Objective.WAITING in situation.objectives
    best = _driven(Master(rounds, budget), rounds.shifts, is_early, budget) or inserted(rounds)
    return _acted(rounds, best) if best else ()


def first_draft(situation: Situation) -> tuple[Act, ...]:
    """Return what everybody does in rounds that come at once, and are not good; nothing, if there is no time for them."""
    rounds = Rounds(situation)
    return _acted(rounds, inserted(rounds))


def _acted(rounds: Rounds, driven: Sequence[Driven]) -> tuple[Act, ...]:
    actions = tuple(_actions(rounds, driven))
    works = _works(rounds.situation, actions)
    return tuple(sorted((*actions, *works), key=lambda each: (each.start, each.end)))


def _driven(master: Master, shifts: Sequence[Shift], is_early: bool, budget: Budget) -> list[Driven]:
    """Return the best rounds that can be packed; none if none were found in time. If no choice has drivers who ride back, none
    may.
    """
    while budget.left:
        chosen = master.chosen(budget)
        driven = None if chosen is None else _all_packed(master, chosen, shifts, is_early, budget)
        if driven is not None:
            return driven
        if chosen is None and not master.most_rides:
            break
        if chosen is None:
            master.most_rides = 0
    return []


def _all_packed(
    master: Master, chosen: Sequence[Round], shifts: Sequence[Shift], is_early: bool, budget: Budget
) -> list[Driven] | None:
    """Return which shifts drive the rounds. If they have no time, tell the master problem, and return None. Crews whose drivers
    ride with each other are packed together.
    """
    meeting = {crew for each in chosen for kind, _ in each.boards for crew in (kind.crew, each.crew)}
    driven: list[Driven] = []
    for crews in (meeting, *({crew} for crew in master.crews if crew not in meeting)):
        own = [each for each in chosen if each.crew in crews]
        packed = _packed([each for each in shifts if each.crew in crews], own, is_early, Budget.of(SECONDS_TO_PACK, budget.clock))
        if packed is not None:
            driven += packed
            continue
        if crews is meeting:
            master.most_rides = sum(len(each.boards) for each in own) // 2
        for crew in crews - meeting:
            master.shorten(crew, sum(each.lasts for each in own) - SHORTER)
        return None
    return driven


def _works(situation: Situation, drafted: Sequence[Act]) -> Iterator[Work]:
    """Yield what else is to be done: as early as enough people are there who do nothing else, best by those who stay longest."""
    acts = list(drafted)
    left = {each.name: each for each in situation.tasks if not each.optional}
    for act in drafted:
        left.pop("" if isinstance(act, Journey) else act.task, None)
    while ready := [each for each in left.values() if left.keys().isdisjoint(each.after)]:
        work = _work_on(situation, left.pop(ready[0].name), acts)
        if work is not None:
            acts.append(work)
            yield work


def _work_on(situation: Situation, task: Task, acts: Sequence[Act]) -> Work | None:
    ends = {each.task: each.end for each in acts if isinstance(each, Work)} | dict(situation.done)
    opens = max(situation.begins, task.window.opens or 0, *(ends.get(name, 0) for name in task.after))
    minutes = whole_minutes(task.minutes)
    able = [each for each in situation.travellers if task.who is None or each.name in task.who]
    moments = {opens, *(each.free for each in able), *(act.end for act in acts)}
    for moment in sorted(each for each in moments if opens <= each <= (task.window.closes or situation.ends) - minutes):
        stays: dict[str, dict[str, int]] = defaultdict(dict)
        for each in able:
            place, until = _stay(each, acts, moment)
            if moment >= each.free and until > moment and (task.is_watched or until >= moment + minutes):
                stays[place][each.name] = -until
        for place, names in stays.items():
            if task.place in (None, place) and len(names) >= task.people:
                who = tuple(sorted(names, key=names.__getitem__)[: task.people])
                return Work.model_construct(task=task.name, who=who, place=place, start=moment, end=moment + minutes)
    return None


def _stay(person: Traveller, acts: Sequence[Act], moment: int) -> tuple[str, int]:
    """Return where they are at the moment, and until when they do nothing else there."""
    place = person.place
    for act in sorted((each for each in acts if person.name in each.people), key=lambda each: each.start):
        if act.end > moment:
            return place, act.start
        place = act.to if isinstance(act, Journey) else place
    return place, NEVER


def without(situation: Situation, fixed: Sequence[Act]) -> Situation:
    """Return the situation without all who and what is in these actions."""
    people = {name for act in fixed for name in act.people}
    others = {act.vehicle if isinstance(act, Journey) else act.task for act in fixed}
    return replace(
        situation,
        travellers=tuple(each for each in situation.travellers if each.name not in people),
        cars=tuple(each for each in situation.cars if each.name not in others),
        tasks=tuple(each for each in situation.tasks if each.name not in others),
    )


def shifted(situation: Situation, acts: Iterable[Act]) -> tuple[Act, ...]:
    """Return the actions in the order in which they can begin, each of them as planned or as soon after that as all are free."""
    free = {each.name: each.free for each in situation.travellers}
    cars = {each.name: each for each in situation.cars}
    since = {each.name: each.free for each in situation.cars}
    watched = {task.name: task.is_watched for task in situation.tasks}
    moved: list[Act] = []
    for act in sorted(acts, key=lambda each: (each.start, each.end)):
        people = [name for name in act.people if name in free]
        start = max([act.start, *(free[name] for name in people)])
        end = start + act.end - act.start
        if isinstance(act, Journey) and act.vehicle in cars:
            start = max(start, since[act.vehicle])
            start = max([start, *(until for begins, until in cars[act.vehicle].down if begins <= start < until)])
            now = act.model_copy(update={"start": start, "riders": tuple(name for name in act.riders if name in free)})
            end = max([start + act.end - act.start, *(start + leg.minutes for leg in situation.legs if is_on(leg, now))])
            moved.append(now.model_copy(update={"end": end}))
            since[act.vehicle] = end
        elif isinstance(act, Work) and act.task in watched:
            moved.append(act.model_copy(update={"start": start, "end": end, "who": tuple(people)}))
            end = start if watched[act.task] else end
        free |= dict.fromkeys(people, end)
    return tuple(sorted(moved, key=lambda each: (each.start, each.end)))


def _packed(shifts: Sequence[Shift], rounds: Sequence[Round], is_early: bool, budget: Budget) -> list[Driven] | None:
    """Return which shift drives each round, and from when on; the last one is back as early as possible. `is_early`: so are all,
    first of all those who are many.
    """
    if not shifts:
        return []
    model, until = cp_model.CpModel(), {each.crew: each.until for each in shifts}
    latest = [min(each.closes, until[each.crew] - each.lasts) for each in rounds]
    if any(each.opens > moment for each, moment in zip(rounds, latest, strict=True)):
        return None
    starts = [model.new_int_var(each.opens, moment, "") for each, moment in zip(rounds, latest, strict=True)]
    first, follows, rides = _chains(model, shifts, rounds, starts)
    last = model.new_int_var(0, max(until.values()), "")
    for each, start in zip(rounds, starts, strict=True):
        model.add(last >= start + each.lasts)
    early = sum(each.some.people * start for each, start in zip(rounds, starts, strict=True))
    model.minimize(early if is_early else last)
    solver = solver_with(budget)
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    after = {one: other for (one, other), yes in follows.items() if solver.value(yes)}
    by: dict[int, int] = {}
    for shift, number in (pair for pair, yes in first.items() if solver.value(yes)):
        following: int | None = number
        while following is not None:
            by[following] = shift
            following = after.get(following)
    aboard: dict[int, list[tuple[Kind, str]]] = defaultdict(list)
    for (shift, index, other, kind), yes in rides.items():
        if solver.value(yes):
            aboard[other].append((kind, shifts[shift if index is None else by[index]].driver or ""))
    return [(shifts[shift], solver.value(starts[index]), rounds[index], aboard[index]) for index, shift in by.items()]


def _chains(
    model: cp_model.CpModel, shifts: Sequence[Shift], rounds: Sequence[Round], starts: Sequence[cp_model.IntVar]
) -> tuple[Pairs, Pairs, dict[Ride, cp_model.IntVar]]:
    """Let each round begin where the shift does, or another round has ended, and each shift end where it is to, or its driver
    ride there. Return which round each shift begins with, which round follows which, and who rides along in which.
    """
    first, follows, rides = Pairs(), Pairs(), dict[Ride, cp_model.IntVar]()
    boards = [(index, kind, minutes) for index, each in enumerate(rounds) for kind, minutes in each.boards]
    for number, shift in enumerate(shifts):
        for index in (index for index, each in enumerate(rounds) if (each.start, each.crew) == (shift.start, shift.crew)):
            first[number, index] = model.new_bool_var("")
            model.add(starts[index] >= shift.since).only_enforce_if(first[number, index])
        for index, kind, minutes in boards:
            if (kind.here, kind.crew) == (shift.start, shift.crew):
                rides[number, None, index, kind] = model.new_bool_var("")
                model.add(starts[index] + minutes >= shift.since).only_enforce_if(rides[number, None, index, kind])
        begins = [yes for (which, _), yes in first.items() if which == number]
        begun = sum([*begins, *(yes for (which, before, _, _), yes in rides.items() if (which, before) == (number, None))])
        model.add(begun <= 1 if shift.end in (None, shift.start) else begun == 1)
    for one, other in permutations(range(len(rounds)), 2):
        if (rounds[one].some.end, rounds[one].crew) == (rounds[other].start, rounds[other].crew):
            follows[one, other] = model.new_bool_var("")
            model.add(starts[other] >= starts[one] + rounds[one].lasts).only_enforce_if(follows[one, other])
    ends = {shift.crew: shift.end for shift in shifts}
    for index, each in enumerate(rounds):
        for other, kind, minutes in boards:
            if (kind.here, kind.crew) == (each.some.end, each.crew) and index != other:
                rides[-1, index, other, kind] = model.new_bool_var("")
                model.add(starts[other] + minutes >= starts[index] + each.lasts).only_enforce_if(rides[-1, index, other, kind])
        coming = [yes for (_, to), yes in (*first.items(), *follows.items()) if to == index]
        model.add(sum(coming) == 1)
        going_on = [yes for (here, _), yes in follows.items() if here == index]
        leaving = sum([*going_on, *(yes for (_, before, _, _), yes in rides.items() if before == index)])
        model.add(leaving <= 1 if ends[each.crew] in (None, each.some.end) else leaving == 1)
        for kind in dict.fromkeys(kind for kind, _ in each.boards):
            riding = sum(yes for (_, _, other, of), yes in rides.items() if (other, of) == (index, kind))
            model.add(riding == each.some.kinds.count(kind))
    return first, follows, rides


def _actions(rounds: Rounds, driven: Iterable[Driven]) -> Iterator[Act]:
    """Yield the actions of the rounds: what is done on the way is done by the driver."""
    names = {kind: list(each) for kind, each in rounds.names.items()}
    with_whom: dict[str, str] = {}
    """The vehicle of each, by preference the next time too, so that teams stay small."""
    for shift, start, each, riding in sorted(driven, key=lambda one: (one[1], one[2].lasts)):
        now, here = start, each.start
        drivers = defaultdict[Kind, list[str]](list)
        for ride, name in riding:
            drivers[ride].append(name)
        left, aboard = list(each.some.kinds), list[tuple[str, str]]()
        for stop in each.way:
            for there in rounds.paths[here][stop][1:]:
                ends = now + round(rounds.apart(here, there))
                yield journey(shift.car.name, shift.driver, tuple(name for name, _ in aboard), (here, there), (now, ends))
                now, here = ends, there
            aboard = [(name, to) for name, to in aboard if to != stop]
            for kind in [kind for kind in left if kind.here == stop]:
                left.remove(kind)
                if kind.crew != NO_CREW:
                    aboard.append((drivers[kind].pop(), kind.there))
                    continue
                if not names[kind]:  # another round came by
                    continue
                name = next((each for each in names[kind] if with_whom.get(each) == shift.car.name), names[kind][0])
                names[kind].remove(name)
                with_whom[name] = shift.car.name
                if kind.there:
                    aboard.append((name, kind.there))
                    continue
                who = (shift.driver,) if shift.driver is not None else tuple(name for name, _ in aboard[:1])
                yield Work.model_construct(task=name, who=who, place=here, start=now, end=now + kind.minutes)
                now += kind.minutes
