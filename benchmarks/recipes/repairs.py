"""Repairs beside planning anew in the same situation: how soon each answers, how many starts move, how long the meal takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, islice
from random import Random
from statistics import mean, median
from time import process_time
from typing import Any, TypeVar

from benchmarks.recipes.official import pairs
from sagagraph.domains.recipes.events import Event
from sagagraph.domains.recipes.plan import Cooked, makespan, moved, planned
from sagagraph.domains.recipes.planning.planner import plan_meal, plan_or_explain
from sagagraph.domains.recipes.planning.repair import Thinking, first_answer, repair
from sagagraph.domains.recipes.planning.situation import Situation
from sagagraph.domains.recipes.request import parse_meal
from sagagraph.planning.budget import Budget

Case = dict[str, Any]
T = TypeVar("T")


def meals(dishes: int) -> Iterator[list[Any]]:
    """Meals of so many dishes: the pairs, each with the dishes of those behind it that it has not."""
    known = list(pairs().values())
    for place, pair in enumerate(known):
        dish = {recipe["recipe"]: recipe for other in (pair, *known[place + 1 :], *known[:place]) for recipe in other}
        yield list(dish.values())[:dishes]


def struck(cooked: Cooked, rng: Random) -> Event:
    """Something that happens at 30 to 60 % of the plan."""
    meal, plan = cooked.meal, cooked.plan
    at = round(makespan(plan) * rng.uniform(0.3, 0.6))
    row = rng.choice([row for row in plan if row.end > at])
    begun = rng.choice([each for each in plan if each.start < at])
    longer = meal.steps[row.key].duration + rng.randint(30, 600)
    events = [
        Event(event="longer", at=at, recipe=row.recipe, step=row.step, duration_s=longer),
        Event(event="burnt", at=at, recipe=begun.recipe, step=begun.step),
        Event(event="away", at=at, until=at + 600),
    ]
    if meal.objects:
        events.append(Event(event="broken", at=at, object=rng.choice(meal.objects), until=at + rng.randint(60, 1200)))
    return rng.choice(events)


def measured(dishes: int, many: int, seconds: float, seed: int = 1) -> list[Case]:
    rng = Random(seed)  # noqa: S311 - no secret
    plans = []
    for meal in map(parse_meal, islice(meals(dishes), many)):
        found = plan_meal(Situation(meal), Budget.of(seconds))
        plans += [planned(meal, found.plan, found.lower_bound)] if found.plan else []
    return [compared(old, struck(old, rng), seconds) for old in islice(cycle(plans), many)]


def compared(old: Cooked, event: Event, seconds: float) -> Case:
    """Each answer to one event, beside planning anew, all in processor time; `is_left`: a plan is left at all."""
    old.meal  # noqa: B018 - is read before, as it is for whoever has judged the plan
    first_s, first = _timed(lambda: first_answer(old, [event]))
    near_s, near = _timed(lambda: repair(old, [event], Budget.of(seconds)))
    anew_s, anew = _timed(lambda: repair(old, [event], Budget.of(seconds), anew_within(seconds)))
    case: Case = {"event": event.event, "first_s": first_s, "near_s": near_s, "anew_s": anew_s, "is_left": False}
    if isinstance(near, Cooked) and isinstance(anew, Cooked):
        answers = {"first": first, "near": near, "anew": anew}
        case |= {name: _told(old, each, anew) for name, each in answers.items() if each} | {"is_left": True}
    return case


def anew_within(seconds: float) -> Thinking:
    return lambda situation, _known, _bound: plan_or_explain(situation, Budget.of(seconds))


def _told(old: Cooked, new: Cooked, anew: Cooked) -> Case:
    return {"moved": moved(old.plan, new.plan), "longer": makespan(new.plan) / makespan(anew.plan) - 1, "cooked": new}


def _timed(answer: Callable[[], T]) -> tuple[float, T]:
    began = process_time()
    found = answer()
    return process_time() - began, found


def sooner(cases: Sequence[Case]) -> list[float]:
    """How many times sooner than planning anew the first answer comes; where there is none, that is the repair."""
    return [case["anew_s"] / _until_first(case) for case in cases]


def _until_first(case: Case) -> float:
    return float(case["first_s"] + (0 if "first" in case else case["near_s"]))


def summary(cases: Sequence[Case]) -> list[str]:
    """Cases, milliseconds of each answer, how much sooner the first is, starts moved and how much longer, of each."""
    left = [case for case in cases if case["is_left"]]
    times = [[1000 * case[key] for case in cases] for key in ("first_s", "near_s", "anew_s")]
    soon = sooner(cases)
    answers = [[case[name if name in case else "near"] for case in left] for name in ("first", "near", "anew")]
    return [
        str(len(cases)),
        *(f"{median(each):.1f} / {max(each):.0f}" for each in times),
        f"{median(soon):.0f}",
        f"{sum(case['anew_s'] for case in cases) / sum(map(_until_first, cases)):.0f}",
        f"{100 * mean(each >= 10 for each in soon):.0f} %",
        f"{sum('first' in case for case in left)}",
        " / ".join(str(sum(each["moved"] for each in answer)) for answer in answers),
        " / ".join(f"{100 * mean(each['longer'] for each in answer):.2f} %" for answer in answers[:2]),
    ]
