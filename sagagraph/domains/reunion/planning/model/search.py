"""Search: runs CP-SAT over a sequence, one aim after the other, fixing each while the next is optimised.

One worker with a fixed seed: the same question has the same answer, unless time ran out before the proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Sequence as Ordered
from dataclasses import dataclass, field, replace

from ortools.sat.python import cp_model

from sagagraph.domains.reunion.plan import Act, Journey, Work
from sagagraph.domains.reunion.planning.model.objectives import Aims
from sagagraph.domains.reunion.planning.model.presence import Presence, both, keep_apart, keep_company
from sagagraph.domains.reunion.planning.model.sequence import Sequence
from sagagraph.domains.reunion.planning.model.situation import Situation, is_on, journey
from sagagraph.domains.reunion.planning.model.stability import Keeping, slack_of
from sagagraph.domains.reunion.request import Objective
from sagagraph.planning.budget import Budget
from sagagraph.planning.cp_sat import proven_bound, solver_with

Roles = frozenset[tuple[str, str]]
"""Who rides in which vehicle, and who does which task: what people ask about a plan first."""


@dataclass(frozen=True, slots=True)
class Question:
    """Question: a situation, what must stay of an older plan, and which plans are known already."""

    outlook: Callable[[int], Situation]
    """Function that returns the situation for at most a given number of journeys."""
    planned: Mapping[int, Act] = field(default_factory=dict)
    """Actions of the older plan: as many as possible are kept, once the objectives are as good as possible."""
    fixed: frozenset[int] = frozenset()
    """Those of `planned` that must be kept."""
    known: tuple[Roles, ...] = ()
    """The plan must differ from any with these roles."""
    foremost: Objective | None = None
    """Before the objectives."""
    draft: tuple[Act, ...] = ()
    """The only steps, in this order: what is still to be decided is when."""

    def model(self, journeys: int) -> tuple[Sequence, list[cp_model.LinearExprT]]:
        """Return the model with its aims in order: objectives, kept actions, soft wishes, and every action as early as
        possible.
        """
        situation = self.outlook(journeys)
        slacks = [slack_of(situation, action) or 0 for action in self.planned.values()]
        sequence = Sequence(situation, journeys + len(situation.tasks), longer=max(slacks, default=0), draft=self.draft)
        presence = Presence(sequence)
        keep_company(sequence, presence)
        keep_apart(sequence)
        aims = Aims(sequence, presence)
        objectives = [aims.expression(each) for each in situation.objectives]
        for roles in self.known:
            _differ(sequence, roles)
        foremost = [] if self.foremost is None else [aims.expression(self.foremost)]
        changes: list[cp_model.LinearExprT] = []
        if self.planned:
            keeping = Keeping(sequence, self.planned)
            for index in self.fixed:
                sequence.model.add(keeping.is_kept[index] == 1)
            kept, promised = sum(keeping.is_kept.values()), sum(keeping.promises)
            weight = len(keeping.promises) + 1
            changes.append((len(self.planned) - kept) * weight + len(keeping.promises) - promised)
        return sequence, [*foremost, *objectives, *changes, aims.wishes(), aims.ties()]


def roles_of(actions: tuple[Act, ...]) -> Roles:
    return frozenset(
        (name, action.vehicle if action.do == "travel" else action.task) for action in actions for name in action.people
    )


def _differ(sequence: Sequence, roles: Roles) -> None:
    """Require a difference in somebody's ride or task at least."""
    here, model, steps = sequence.situation, sequence.model, sequence.steps
    different: list[cp_model.LiteralT] = []
    for person, each in enumerate(here.travellers):
        for index, car in enumerate(here.cars):
            rides = model.new_bool_var("")
            together = [both(model, steps.rides[k][person], steps.uses_car[k][index]) for k in range(sequence.count)]
            model.add_max_equality(rides, together)
            different.append(~rides if (each.name, car.name) in roles else rides)
        for task, what in enumerate(here.tasks):
            part = sequence.takes_part[task][person]
            different.append(~part if (each.name, what.name) in roles else part)
    model.add_bool_or(*different)


# -- the search --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Found:
    """Result with `values` and `bounds`, one for each aim that was optimised; an aim is proven best if they are equal."""

    actions: tuple[Act, ...]
    values: tuple[int, ...]
    bounds: tuple[int, ...]
    is_cut_short: bool = False
    """By the clock: another time it may be another plan."""


@dataclass(frozen=True, slots=True)
class NothingFound:
    """No result. `is_proof`: there is none; otherwise the time ran out."""

    is_proof: bool


def search(
    sequence: Sequence,
    aims: Ordered[cp_model.LinearExprT],
    budget: Budget,
    *,
    start_from: Iterable[Act] = (),
    foremost: float | None = None,
) -> Found | NothingFound:
    """Return the best in the order of `aims`; without aims, any. `foremost`: the effort for the first aim, if it differs."""
    model = sequence.model
    started = tuple(start_from)
    if started:
        _hint(sequence, started)
    found = Found((), (), ())
    for number, aim in enumerate(aims or (0,)):
        model.minimize(aim)
        if number and not model.proto.objective.vars:  # nothing to choose: no food, no wishes
            value = round(model.proto.objective.offset)
            found = replace(found, values=(*found.values, value), bounds=(*found.bounds, value))
            continue
        solver = solver_with(budget if number else replace(budget, effort=foremost or budget.effort))
        status = solver.solve(model)
        has_tried = budget.effort is not None and solver.response_proto.deterministic_time >= budget.effort
        is_cut = found.is_cut_short or (status != cp_model.OPTIMAL and not has_tried)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return replace(found, is_cut_short=is_cut) if number else NothingFound(is_proof=status == cp_model.INFEASIBLE)
        value = round(solver.objective_value)
        bound = value if status == cp_model.OPTIMAL else proven_bound(solver)
        found = Found(_actions_of(sequence, solver.value), (*found.values, value), (*found.bounds, bound), is_cut)
        model.add(aim <= value)
        model.clear_hints()  # type: ignore[no-untyped-call] # CP-SAT does not say
        for index in range(len(model.proto.variables)):
            variable = model.get_int_var_from_proto_index(index)
            model.add_hint(variable, solver.value(variable))
    return found


# -- between steps of a sequence and actions of a plan -----------------------------------------------------------------


def _actions_of(sequence: Sequence, value: Callable[[cp_model.IntVar], int]) -> tuple[Act, ...]:
    """Return the actions in the order of the steps; `value` gives a variable's value."""
    here, steps = sequence.situation, sequence.steps

    def chosen(listed: Iterable[object], flags: list[cp_model.IntVar]) -> list[int]:
        return [index for index, (_each, flag) in enumerate(zip(listed, flags, strict=True)) if value(flag)]

    def travel(k: int) -> Journey:
        leg, car = here.legs[chosen(here.legs, steps.uses_leg[k])[0]], here.cars[chosen(here.cars, steps.uses_car[k])[0]]
        aboard = [here.travellers[index].name for index in chosen(here.travellers, steps.rides[k])]
        driver = None if car.drivers is None else next(name for name in car.drivers if name in aboard)
        riders = tuple(name for name in aboard if name != driver)
        return journey(car.name, driver, riders, (leg.here, leg.there), (value(steps.start[k]), value(steps.end[k])))

    def work(k: int) -> Work:
        task = chosen(here.tasks, steps.does_task[k])[0]
        what = here.tasks[task]
        return Work.model_construct(
            task=what.name,
            who=tuple(here.travellers[index].name for index in chosen(here.travellers, sequence.takes_part[task])),
            place=what.place or here.places[chosen(here.places, sequence.place_of_task[task])[0]],
            start=value(steps.start[k]),
            end=value(steps.end[k]),
        )

    used = (k for k in range(sequence.count) if value(steps.is_used[k]))
    return tuple(travel(k) if value(steps.is_journey[k]) else work(k) for k in used)


def _hint(sequence: Sequence, actions: Iterable[Act]) -> None:
    """Start the search at these actions, as far as the sequence knows what they name."""
    here, model, steps = sequence.situation, sequence.model, sequence.steps
    model.clear_hints()  # type: ignore[no-untyped-call] # CP-SAT does not say
    ordered = sorted(actions, key=lambda each: each.start)[: sequence.count]
    for k in range(sequence.count):
        action = ordered[k] if k < len(ordered) else None
        ride = action if isinstance(action, Journey) else None
        work = action if isinstance(action, Work) else None
        model.add_hint(steps.is_used[k], action is not None)
        model.add_hint(steps.is_journey[k], ride is not None)
        model.add_hint(steps.start[k], here.ends if action is None else action.start)
        for leg, uses_leg in zip(here.legs, steps.uses_leg[k], strict=True):
            model.add_hint(uses_leg, ride is not None and is_on(leg, ride))
        for car, uses_car in zip(here.cars, steps.uses_car[k], strict=True):
            model.add_hint(uses_car, ride is not None and car.name == ride.vehicle)
        for each, rides in zip(here.travellers, steps.rides[k], strict=True):
            model.add_hint(rides, ride is not None and each.name in ride.people)
        for task, what in enumerate(here.tasks):
            model.add_hint(steps.does_task[k][task], work is not None and what.name == work.task)
            if work is not None and what.name == work.task:
                for each, part in zip(here.travellers, sequence.takes_part[task], strict=True):
                    model.add_hint(part, each.name in work.who)
