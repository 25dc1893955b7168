"""Repairs beside planning anew in the same situation: how soon each answers, how many starts move, how long the meal takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from random import Random
from statistics import mean, median
from time import process_time
from typing import Any

from benchmarks.recipes.official import pairs
from sagagraph.domains.recipes.events import Event
from sagagraph.domains.recipes.plan import Cooked, makespan, planned
from sagagraph.domains.recipes.planning.planner import Situation, plan_meal
from sagagraph.domains.recipes.planning.repair import repair
from sagagraph.domains.recipes.request import parse_meal
from sagagraph.planning.budget import Budget

Case = dict[str, Any]


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
    rng, cases = Random(seed), []  # noqa: S311 - no secret
    for document in islice(meals(dishes), many):
        meal = parse_meal(document)
        found = plan_meal(Situation(meal), Budget.of(seconds))
        if found.plan:
            cases.append(_case(planned(meal, found.plan, found.lower_bound), rng, seconds))
    return cases


def _case(old: Cooked, rng: Random, seconds: float) -> Case:
    event, budget = struck(old, rng), Budget.of(3 * seconds)
    old.meal  # noqa: B018 - read before, as it is for whoever repairs a plan that has been judged
    first_s, first = _timed(lambda: first_answer(old, [event]))
    near_s, near = _timed(lambda: repair(old, [event], budget))
    anew_s, anew = _timed(lambda: repair(old, [event], budget, lambda situation, _known, _bound: plan_or_explain(situation, budget)))
    timed = {"event": event.event, "first_s": first_s, "near_s": near_s, "anew_s": anew_s, "is_first": first is not None}
    if not isinstance(near, Cooked) or not isinstance(anew, Cooked):
        return {"event": event.event, "near_s": near_s, "anew_s": anew_s, "is_left": False}
    return {
        "event": event.event,
        "near_s": near_s,
        "anew_s": anew_s,
        "is_left": True,
        "moved": [_moved(old, near), _moved(old, anew)],
        "longer": makespan(near.plan) / makespan(anew.plan) - 1,
    }


def _moved(old: Cooked, new: Cooked) -> int:
    was, now = ({row.key: row.start for row in reversed(each.plan)} for each in (old, new))
    return sum(now[key] != start for key, start in was.items())


def summary(cases: Sequence[Case]) -> list[str]:
    """Cases, seconds of either in the median and at most, how much sooner, starts moved, how much longer."""
    left = [case for case in cases if case["is_left"]]
    sooner = [case["anew_s"] / case["near_s"] for case in cases]
    return [
        str(len(cases)),
        *(f"{median(case[key] for case in cases):.2f} / {max(case[key] for case in cases):.1f}" for key in ("near_s", "anew_s")),
        f"{median(sooner):.1f}",
        f"{sum(case['anew_s'] for case in cases) / sum(case['near_s'] for case in cases):.1f}",
        f"{sum(each >= 10 for each in sooner)}",
        " / ".join(str(sum(case["moved"][place] for case in left)) for place in (0, 1)),
        f"{100 * mean(case['longer'] for case in left):.2f} %",
    ]
