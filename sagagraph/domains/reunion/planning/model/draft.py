"""Drafts: conversion between the steps of a sequence and the actions of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sagagraph.domains.reunion.plan import Journey, Work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ortools.sat.python import cp_model

    from sagagraph.domains.reunion.planning.model.sequence import Sequence
    from sagagraph.domains.reunion.planning.model.situation import Leg

    Action = Journey | Work
    Value = Callable[[cp_model.IntVar], int]


def actions_of(sequence: Sequence, value: Value) -> tuple[Action, ...]:
    """Return the actions in the order of the steps; `value` gives a variable's value."""
    used = (k for k in range(sequence.count) if value(sequence.steps.is_used[k]))
    return tuple(_journey(sequence, k, value) if value(sequence.steps.is_journey[k]) else _work(sequence, k, value) for k in used)


def _journey(sequence: Sequence, k: int, value: Value) -> Journey:
    here, steps = sequence.situation, sequence.steps
    leg = next(leg for leg, used in zip(here.legs, steps.uses_leg[k], strict=True) if value(used))
    car = next(car for car, used in zip(here.cars, steps.uses_car[k], strict=True) if value(used))
    aboard = [each.name for each, rides in zip(here.travellers, steps.rides[k], strict=True) if value(rides)]
    driver = None if car.drivers is None else next(name for name in car.drivers if name in aboard)
    riders = tuple(name for name in aboard if name != driver)
    return journey(car.name, driver, riders, (leg.here, leg.there), (value(steps.start[k]), value(steps.end[k])))


def journey(vehicle: str, driver: str | None, riders: tuple[str, ...], road: tuple[str, str], when: tuple[int, int]) -> Journey:
    """Build a journey from minutes: the model itself reads only what files hold."""
    return Journey.model_construct(
        vehicle=vehicle, driver=driver, riders=riders, from_=road[0], to=road[1], start=when[0], end=when[1]
    )


def _work(sequence: Sequence, k: int, value: Value) -> Work:
    here, steps = sequence.situation, sequence.steps
    task = next(index for index, does in enumerate(steps.does_task[k]) if value(does))
    parts = sequence.takes_part[task]
    what = here.tasks[task]
    who = tuple(each.name for each, part in zip(here.travellers, parts, strict=True) if value(part))
    return Work.model_construct(
        task=what.name,
        who=who,
        place=what.place or _chosen(sequence, task, value),
        start=value(steps.start[k]),
        end=value(steps.end[k]),
    )


def _chosen(sequence: Sequence, task: int, value: Value) -> str:
    places = zip(sequence.situation.places, sequence.place_of_task[task], strict=True)
    return next(name for name, there in places if value(there))


def hint(sequence: Sequence, actions: Iterable[Action]) -> None:
    """Start the search at these actions, as far as the sequence knows what they name."""
    model, steps = sequence.model, sequence.steps
    model.clear_hints()  # type: ignore[no-untyped-call] # CP-SAT does not say
    ordered = sorted(actions, key=lambda each: each.start)[: sequence.count]
    for k in range(sequence.count):
        action = ordered[k] if k < len(ordered) else None
        model.add_hint(steps.is_used[k], action is not None)
        model.add_hint(steps.is_journey[k], isinstance(action, Journey))
        model.add_hint(steps.start[k], sequence.situation.ends if action is None else action.start)
        _hint_journey(sequence, k, action if isinstance(action, Journey) else None)
        _hint_work(sequence, k, action if isinstance(action, Work) else None)


def _hint_journey(sequence: Sequence, k: int, action: Journey | None) -> None:
    here, steps, model = sequence.situation, sequence.steps, sequence.model
    for leg, uses_leg in zip(here.legs, steps.uses_leg[k], strict=True):
        same = action is not None and is_on(leg, action)
        model.add_hint(uses_leg, same)
    for car, uses_car in zip(here.cars, steps.uses_car[k], strict=True):
        model.add_hint(uses_car, action is not None and car.name == action.vehicle)
    for each, rides in zip(here.travellers, steps.rides[k], strict=True):
        model.add_hint(rides, action is not None and each.name in action.people)


def _hint_work(sequence: Sequence, k: int, action: Work | None) -> None:
    here, steps, model = sequence.situation, sequence.steps, sequence.model
    for task, what in enumerate(here.tasks):
        model.add_hint(steps.does_task[k][task], action is not None and what.name == action.task)
        if action is not None and what.name == action.task:
            for each, part in zip(here.travellers, sequence.takes_part[task], strict=True):
                model.add_hint(part, each.name in action.who)


def is_on(leg: Leg, journey: Journey) -> bool:
    return (leg.here, leg.there) == (journey.from_, journey.to) and leg.opens <= journey.start < leg.closes
