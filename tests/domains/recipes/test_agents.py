"""The agents of the paper with scripted models: what stops them, what each critic finds, and how their loops end."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import count, islice, permutations
from random import Random

import pytest

from benchmarks.recipes.agents import CRITICS, Ask, actions_in, closed_loop, critiqued, idle, open_loop, written
from benchmarks.recipes.agents import critique as found_in
from sagagraph.domains.recipes.plan import Plan, Row, makespan
from sagagraph.domains.recipes.planning.planner import plan_meal
from sagagraph.domains.recipes.planning.situation import Situation
from sagagraph.domains.recipes.request import Meal, pairs_in, parse_meal
from sagagraph.domains.recipes.rules.validator import validate_plan
from sagagraph.planning.budget import Budget
from tests.domains.recipes.corruption import FAULTS, MEAL, faulty
from tests.domains.recipes.meals import PAPER, drawn, meal_of

OF = {code: critic for critic, codes in CRITICS.items() for code in codes}


def right() -> Iterator[tuple[Meal, Plan]]:
    """Meals with plans that are right."""
    drawings = (parse_meal(drawn(Random(seed), most=4)) for seed in count())
    answers = ((meal, plan_meal(Situation(meal), Budget.of(20)).plan) for meal in drawings)
    return ((meal, plan) for meal, plan in answers if plan)


@cache
def planned() -> list[tuple[Meal, Plan]]:
    return list(islice(right(), 20))


def later(rows: Plan, seconds: int) -> Plan:
    return tuple(row._replace(start=row.start + seconds) for row in rows)


@pytest.mark.parametrize("code", FAULTS)
def test_a_critic_finds_what_it_is_for_and_no_other_speaks(code: str) -> None:
    meal, rows = parse_meal(MEAL), tuple(Row(*row) for row in FAULTS[code])
    for n in range(20):
        assert [critic for critic, _what in found_in(meal, later(rows, 30 * n))] == [OF[code]]


def spoilt(meal: Meal, plan: Plan, critic: str) -> Iterator[Plan]:
    """The plan with one fault that this critic is for, each at another place."""
    rows, of = list(plan), {row.key: row for row in plan}
    whole = [row for row in rows if meal.steps[row.key].duration == row.duration]
    by_hand = [row for row in whole if not meal.steps[row.key].is_autonomous]
    for row in whole if critic in ("completeness", "duration", "interruption") else ():
        rest = [each for each in rows if each != row]
        if critic == "completeness":
            yield tuple(rest)
        elif critic == "duration":
            yield (*rest, row._replace(duration=row.duration + 30))
        elif not meal.steps[row.key].is_interruptible and row.duration > 30:
            yield (*rest, row._replace(duration=30), row._replace(start=row.start + 30, duration=row.duration - 30))
    for one, two in permutations(by_hand, 2) if critic == "concurrency" else ():
        yield tuple(row._replace(start=one.start) if row == two else row for row in rows)
    for row in whole if critic == "dependency" else ():
        for before in filter(None, (of.get(each.key) for each in meal.before(meal.steps[row.key]))):
            yield tuple(each._replace(start=before.start) if each == row else each for each in rows)
    for row in rows if critic == "time constraint" else ():
        if limits := meal.steps[row.key].within.values():
            by = max(limits) + 30 + makespan(plan)
            yield tuple(each._replace(start=each.start + by) if each.start >= row.start else each for each in rows)
    for one, two in permutations(whole, 2) if critic == "object" else ():
        if {*meal.steps[one.key].uses} & {*meal.steps[two.key].uses}:
            yield tuple(row._replace(start=one.start) if row == two else row for row in rows)


@pytest.mark.parametrize("critic", CRITICS)
def test_a_critic_finds_what_it_is_for_at_twenty_places(critic: str) -> None:
    faults = list(islice(((meal, rows) for meal, plan in right() for rows in islice(spoilt(meal, plan, critic), 3)), 20))
    assert len({(str(meal), rows) for meal, rows in faults}) == 20
    assert all(critic in {who for who, _what in found_in(meal, rows)} for meal, rows in faults)


def test_no_critic_speaks_of_two_hundred_plans_that_are_right() -> None:
    plans = list(islice(right(), 200))
    assert len({(str(meal), plan) for meal, plan in plans}) == 200
    assert [found for meal, plan in plans for found in found_in(meal, plan)] == []


def test_the_critic_of_efficiency_names_the_moments_at_which_the_cook_is_idle() -> None:
    meal = parse_meal(PAPER)
    plan = plan_meal(Situation(meal), Budget.of(20)).plan
    hands = sum(row.duration for row in plan if not meal.steps[row.key].is_autonomous)
    assert sum(end - begin for begin, end in idle(meal, plan)) == makespan(plan) - hands
    for n in range(1, 21):
        assert idle(meal, later(plan, 30 * n))[0] == (0, 30 * n)


def mending(right: Plan, first: Plan) -> Ask:
    """A poor planner: each round it puts right what the first complaint is about, and nothing else."""
    wrong = list(first)

    def ask(prompt: str) -> str:
        if "Is not right:" in prompt:
            bad = next((row for row in wrong if row not in right), None)
            missing = next((row for row in right if row not in wrong), None)
            if bad is not None:
                wrong.remove(bad)
            if missing is not None:
                wrong.append(missing)
            wrong.sort(key=lambda row: (row.start, right.index(row) if row in right else 0))
        return written(wrong)

    return ask


def test_loops_of_critics_and_a_poor_planner_end_with_a_plan_that_is_right() -> None:
    rng, rounds = Random(7), []
    for meal, plan in planned():
        first = tuple(Row(*row) for row in faulty([list(row) for row in plan], rng))
        ended = critiqued(meal, mending(plan, first))
        assert validate_plan(meal, [list(row) for row in ended.rows]).is_valid
        rounds.append(ended.rounds)
    assert max(rounds) <= 10
    assert max(rounds) > 1


def test_after_ten_rounds_the_solver_plans() -> None:
    asked: list[str] = []

    def stubborn(prompt: str) -> str:
        asked.append(prompt)
        return "Step(0, Pie, 00:01:00, 00:00:00)"

    for meal, _plan in planned():
        ended = critiqued(meal, stubborn)
        assert (ended.how, ended.rounds) == ("solver", 10)
        assert validate_plan(meal, [list(row) for row in ended.rows]).is_valid
    assert "completeness: " in asked[-1]


def one_by_one(rows: Plan) -> Ask:
    told: Iterator[str] = iter([line for row in rows for line in ("Wait(00:00:30)", written([row]))])
    return lambda _prompt: next(told, "nothing more")


def test_an_open_and_a_closed_loop_of_a_model_that_knows_the_plan() -> None:
    for meal, plan in planned():
        assert open_loop(meal, lambda _prompt, plan=plan: f"Here it is:\n{written(plan)}").rows == plan  # type: ignore[misc]
        ended = closed_loop(meal, one_by_one(plan))
        assert (ended.how, ended.rows) == ("done", plan)


def test_a_closed_loop_is_stopped() -> None:
    document = pairs_in(None)["Flatbread_Custard"]
    meal, plan = parse_meal(document), plan_meal(Situation(parse_meal(document)), Budget.of(20)).plan
    late = next(row for row in plan if meal.steps[row.key].within)
    after = plan[: plan.index(late)]
    endings = {
        "no action": lambda _prompt: "I do not know",
        "nothing goes on": lambda _prompt: "Wait(00:10:00)",
        "the same action again": lambda _prompt: "Step(99, Custard, 00:01:00, 00:00:00)",
        "a time constraint is broken": one_by_one((*after, late._replace(start=late.start + 36000))),
    }
    assert {how: closed_loop(meal, ask).how for how, ask in endings.items()} == {how: how for how in endings}


def test_actions_are_read_from_any_text() -> None:
    assert actions_in("1. Step(3, Apple-Crumble, 00:01:00, 01:02:03), then rest") == (Row(3, "Apple-Crumble", 60, 3723),)
    assert actions_in("Step(x, y)") == ()
    assert meal_of(PAPER).steps["Baked-Potato", 0].duration == 600
