"""Repair: what was done stands, nothing uses what is missing, and what cannot be kept is said."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from sagagraph.domains.recipes.events import Event, parse_events
from sagagraph.domains.recipes.plan import Cooked, Plan, Row, makespan
from sagagraph.domains.recipes.plan import planned as as_planned
from sagagraph.domains.recipes.planning.planner import Situation, plan_meal
from sagagraph.domains.recipes.planning.repair import repair
from sagagraph.domains.recipes.request import Meal, pairs_in, parse_meal
from sagagraph.domains.recipes.rules.past import Past
from sagagraph.domains.recipes.rules.validator import validate_plan
from sagagraph.errors import InvalidInputError
from sagagraph.planning.budget import Budget
from tests.domains.recipes.meals import IS_FULL, NEEDS_DATA, meal_of, recipe, step

pytestmark = pytest.mark.quick


def planned(meal: Meal) -> Cooked:
    found = plan_meal(Situation(meal), Budget.of(20))
    return as_planned(meal, found.plan, found.lower_bound)


def mended(cooked: Cooked, event: Event, *, keeps: bool = True) -> Cooked:
    """The repair, judged: by the validator, and by what an event forbids."""
    meal, old = cooked.meal, cooked.plan
    found = repair(cooked, [event], Budget.of(60), keeps=keeps)
    assert isinstance(found, Cooked), (event, found)
    assert validate_plan(found.meal, [list(row) for row in found.plan], Past(old, found.waste, event)).violations == (), event
    check_past(old, found, event)
    for row in found.plan:
        is_new = row.start >= event.at
        if event.event == "away" and is_new:
            assert row.start >= event.until
        if event.event == "broken" and is_new and event.object in meal.steps[row.recipe, row.step].uses:
            assert row.start >= event.until
    return found


def check_past(old: Plan, found: Cooked, event: Event) -> None:
    """Whatever had begun is in the plan or thrown away, where it was; and nothing else begins before the event."""
    begun = sorted((row.recipe, row.step, row.start) for row in old if row.start < event.at)
    told = sorted((row.recipe, row.step, row.start) for row in (*found.plan, *found.waste) if row.start < event.at)
    assert told == begun
    over = {row for row in old if row.end <= event.at}
    assert over <= {*found.plan, *found.waste}
    assert {row.key for row in found.waste} == set(found.again)


def struck(cooked: Cooked, rng: Random) -> Event:
    meal, old = cooked.meal, cooked.plan
    at = round(makespan(old) * rng.uniform(0.3, 0.6))
    row = rng.choice([row for row in old if row.end > at])
    step = meal.steps[row.recipe, row.step]
    things = sorted({name for each in meal.steps.values() for name in each.uses})
    begun = rng.choice([each for each in old if each.start < at])
    events: list[Event] = [
        Event(event="longer", at=at, recipe=row.recipe, step=row.step, duration_s=step.duration + rng.randint(30, 600)),
        Event(event="burnt", at=at, recipe=begun.recipe, step=begun.step),
        Event(event="away", at=at, until=at + 600),
        Event(event="broken", at=at, object=rng.choice(things), until=at + rng.randint(60, 1200)),
    ]
    return rng.choice(events)


def test_random_disruptions_of_the_shipped_pairs() -> None:
    rng = Random(3)
    for pair in pairs_in(None).values():
        old = planned(parse_meal(pair))
        mended(old, struck(old, rng))


@NEEDS_DATA
@pytest.mark.thorough
def test_disruptions_of_pairs_of_the_paper() -> None:
    """Beside planning anew in the same situation: fewer starts move, and little time is lost."""
    from benchmarks.recipes.official import pairs

    rng, moved, anew, longer = Random(4), 0, 0, []
    plans = [planned(parse_meal(pair)) for pair in list(pairs().values())[::6]]
    for n in range(200 if IS_FULL else 30):
        old = plans[n % len(plans)]
        event = struck(old, rng)
        found, best = mended(old, event), mended(old, event, keeps=False)
        moved += changes(old.plan, found.plan)
        anew += changes(old.plan, best.plan)
        longer.append(makespan(found.plan) / makespan(best.plan) - 1)
    assert moved < anew, (moved, anew)
    assert sum(longer) / len(longer) <= 0.03


def changes(old: Plan, new: Plan) -> int:
    starts = {row.key: row.start for row in reversed(new)}
    return sum(starts[row.recipe, row.step] != row.start for row in {row.key: row for row in reversed(old)}.values())


BUTTER = [
    recipe(
        "Sauce",
        step("1 min", kind="a", microwave={}),
        step("2 min", 0, within={0: "2 min"}),
    ),
    recipe("Salad", step("5 min", kind="i")),
]


def test_who_comes_back_too_late_melts_the_butter_again() -> None:
    meal = meal_of(BUTTER)
    old: Plan = (Row(0, "Sauce", 60, 0), Row(0, "Salad", 60, 0), Row(1, "Sauce", 120, 60), Row(0, "Salad", 240, 180))
    found = mended(as_planned(meal, old), Event(event="away", at=30, until=630))
    assert (found.waste, found.again) == ((Row(0, "Sauce", 30, 0),), (("Sauce", 0),))
    assert found.passed == ("Sauce step 1 must start within 2 min of the end of Sauce step 0",)
    assert Row(0, "Salad", 30, 0) in found.plan  # what was laid down is not done again


def test_a_dish_that_would_be_cold_at_dinner_is_made_again() -> None:
    document = [recipe("Rice", step("5 min", kind="a")), recipe("Tea", step("3 min", kind="a"))]
    old: Plan = (Row(0, "Rice", 300, 0), Row(0, "Tea", 180, 0))
    meal = parse_meal({"recipes": document, "warm": {"Rice": "1 min"}})
    found = mended(as_planned(meal, old), Event(event="longer", at=100, recipe="Tea", step=0, duration_s=900))
    assert (found.again, found.waste) == ((("Rice", 0),), (Row(0, "Rice", 100, 0),))
    assert found.passed == ("Rice must be ready within 1 min of the end of the meal, to be warm",)


def test_a_delay_that_fits_changes_nothing_that_is_done() -> None:
    meal = meal_of(BUTTER)
    old: Plan = (Row(0, "Sauce", 60, 0), Row(0, "Salad", 60, 0), Row(1, "Sauce", 120, 60), Row(0, "Salad", 240, 180))
    found = mended(as_planned(meal, old), Event(event="longer", at=30, recipe="Sauce", step=0, duration_s=90))
    assert (found.waste, found.again, found.passed) == ((), (), ())


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (7, "events[0].event: must be one of longer, burnt, away, broken"),
        ({"event": "flood", "at": 3}, "events[0].event: must be one of"),
        ({"event": "away", "at": 3}, "events[0].until: is missing"),
        ({"event": "away", "at": 3, "until": 2}, "events[0].until: 2 is before 3"),
        ({"event": "burnt", "at": 3, "recipe": "Sauce", "step": 9}, "events[0].step: there is no step 9 of 'Sauce'"),
        ({"event": "broken", "at": 3, "until": 5, "object": "grill"}, "events[0].object: nothing needs an object 'grill'"),
    ],
)
def test_an_event_that_cannot_be_is_refused(said: Any, words: str) -> None:
    with pytest.raises(InvalidInputError) as raised:
        parse_events(meal_of(BUTTER), [said])
    assert words in str(raised.value)
