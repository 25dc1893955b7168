"""Draft of a large reunion: the chosen rounds, packed into the shifts of the vehicles, at their times.

(Set covering: Balinski and Quandt, "On an integer program for a delivery problem", 1964.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
from typing import Final

from ortools.sat.python import cp_model

from sagagraph.domains.reunion.plan import Act, Work
from sagagraph.domains.reunion.planning.master import Master
from sagagraph.domains.reunion.planning.model.situation import Situation, journey
from sagagraph.domains.reunion.planning.rounds import Round, Rounds, Shift
from sagagraph.domains.reunion.planning.teams import Team
from sagagraph.planning.budget import Budget
from sagagraph.planning.cp_sat import solver_with

SHORTER: Final = 3
"""Minutes by which the rounds of a crew together have to become shorter if they do not fit."""
SECONDS_TO_PACK: Final = 1.5
Driven = tuple[Shift, int, Round]
"""By whom a round is driven, and from when on."""
Pairs = dict[tuple[int, int], cp_model.IntVar]


def draft(situation: Situation, waiting: Team, budget: Budget) -> tuple[Act, ...]:
    """Return what the vehicles do for those who wait, in order; nothing, if no draft was found, which proves nothing."""
    rounds = Rounds(situation, waiting)
    if not rounds.shifts:
        return ()
    master = Master(rounds)
    master.price(budget)
    while budget.left:
        chosen = master.chosen(budget)
        if chosen is None:
            break
        driven: list[Driven] = []
        for crew in master.crews:
            own = [each for each in chosen if each.crew == crew]
            packed = _packed([each for each in rounds.shifts if each.crew == crew], own, budget.part(SECONDS_TO_PACK))
            if packed is None:
                master.shorten(crew, sum(each.lasts for each in own) - SHORTER)
                break
            driven += packed
        else:
            return tuple(sorted(_actions(rounds, driven), key=lambda each: each.start))
    return ()


def _packed(shifts: Sequence[Shift], rounds: Sequence[Round], budget: Budget) -> list[Driven] | None:
    """Return which shift drives each round, and from when on; the last one is back as early as possible."""
    model, until = cp_model.CpModel(), shifts[0].until
    if any(each.opens > min(each.closes, until - each.lasts) for each in rounds):
        return None
    starts = [model.new_int_var(each.opens, min(each.closes, until - each.lasts), "") for each in rounds]
    first, follows = _chains(model, shifts, rounds, starts)
    last = model.new_int_var(0, until, "")
    for each, start in zip(rounds, starts, strict=True):
        model.add(last >= start + each.lasts)
    model.minimize(last)
    solver = solver_with(budget)
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    after = {one: other for (one, other), yes in follows.items() if solver.value(yes)}
    driven: list[Driven] = []
    for shift, number in (pair for pair, yes in first.items() if solver.value(yes)):
        following: int | None = number
        while following is not None:
            driven.append((shifts[shift], solver.value(starts[following]), rounds[following]))
            following = after.get(following)
    return driven


def _chains(
    model: cp_model.CpModel, shifts: Sequence[Shift], rounds: Sequence[Round], starts: Sequence[cp_model.IntVar]
) -> tuple[Pairs, Pairs]:
    """Let each round begin where the shift does, or another round has ended, and each shift end where it is to. Return which
    round each shift begins with, and which round follows which.
    """
    first, follows = Pairs(), Pairs()
    for number, shift in enumerate(shifts):
        for index in (index for index, each in enumerate(rounds) if each.start == shift.start):
            first[number, index] = model.new_bool_var("")
            model.add(starts[index] >= shift.since).only_enforce_if(first[number, index])
        begun = sum(yes for (which, _), yes in first.items() if which == number)
        model.add(begun <= 1 if shift.end in (None, shift.start) else begun == 1)
    for one, other in permutations(range(len(rounds)), 2):
        if rounds[one].some.end == rounds[other].start:
            follows[one, other] = model.new_bool_var("")
            model.add(starts[other] >= starts[one] + rounds[one].lasts).only_enforce_if(follows[one, other])
    for index, each in enumerate(rounds):
        coming = [yes for (_, to), yes in (*first.items(), *follows.items()) if to == index]
        model.add(sum(coming) == 1)
        leaving = sum(yes for (here, _), yes in follows.items() if here == index)
        model.add(leaving <= 1 if shifts[0].end in (None, each.some.end) else leaving == 1)
    return first, follows


def _actions(rounds: Rounds, driven: Iterable[Driven]) -> Iterator[Act]:
    """Yield the actions of the rounds: what is done on the way is done by the driver."""
    names = {kind: list(each) for kind, each in rounds.names.items()}
    with_whom: dict[str, str] = {}
    """The vehicle of each, by preference the next time too, so that teams stay small."""
    for shift, start, each in sorted(driven, key=lambda one: (one[1], one[2].lasts)):
        now, here = start, each.start
        left, aboard = list(each.some.kinds), list[tuple[str, str]]()
        for stop in each.way:
            for there in rounds.paths[here][stop][1:]:
                ends = now + round(rounds.apart(here, there))
                yield journey(shift.car.name, shift.driver, tuple(name for name, _ in aboard), (here, there), (now, ends))
                now, here = ends, there
            aboard = [(name, to) for name, to in aboard if to != stop]
            for kind in [kind for kind in left if kind.here == stop]:
                left.remove(kind)
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
