"""Figures of the validators: faults of each kind in each domain, untouched plans, tokens of a slice, and time.

`python -m tests.validators.figures` prints them; each line ends in `, not met` where something was missed.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from benchmarks.jobshop.generator import generate
from sagagraph.context.slice import DEFAULT_BUDGET_TOKENS, Fact, select
from sagagraph.domains.job_shop.parsing import parse_events
from sagagraph.domains.job_shop.rules.validator import validate_schedule
from sagagraph.domains.recipes.rules.validator import validate_plan as validate_meal
from sagagraph.domains.reunion.parsing import parse_events as parse_news
from sagagraph.domains.reunion.parsing import parse_problem
from sagagraph.domains.reunion.rules.validator import validate_plan as validate_day
from sagagraph.validators.verdict import Verdict, VerdictStatus
from tests.domains.job_shop import corruption as shop_faults
from tests.domains.job_shop.oracle import validator as shop_oracle
from tests.domains.job_shop.shops import quick, rows
from tests.domains.recipes import corruption as meal_faults
from tests.domains.recipes.meals import meal_of
from tests.domains.reunion import corruption as day_faults
from tests.domains.reunion.days import problem_of, random_day
from tests.domains.reunion.oracle import judge as day_oracle
from tests.domains.reunion.test_concerns import shuttle
from tests.domains.travel import corruption as trip_faults
from tests.domains.travel.corruption import random_trip
from tests.domains.travel.oracle import judge as trip_oracle
from tests.domains.travel.world import GAZETTEER, RATES

OF_EACH: Final = 20
UNTOUCHED: Final = 500
SIZES: Final = (5, 50, 500, 10_000)
MOST_TIMES: Final = 3.0

Case = tuple[str, Verdict]
"""The code that has to be found, and the verdict."""


@dataclass(frozen=True)
class Domain:
    name: str
    faults: Callable[[int], Iterator[Case]]
    """As many of each kind."""
    untouched: Callable[[int], Iterator[Verdict]]


# -- each domain ---------------------------------------------------------------------------------------------------------


def trips(count: int) -> Iterator[Case]:
    for code, operators in trip_faults.OPERATORS.items():
        for seed in range(count):
            rng = Random(seed)
            operator, made = operators[seed % len(operators)], random_trip(rng)
            if operator is trip_faults.a_change_of_planes:
                while not any(leg.offer.kind == "flight" for leg in made.itinerary.legs):
                    made = random_trip(rng)
            yield code, operator(made, rng).judged()


def answers(count: int) -> Iterator[Case]:
    for code, operators in trip_faults.ANSWERS.items():
        for seed in range(count):
            rng = Random(seed)
            yield code, _answered(operators[seed % len(operators)](random_trip(rng), rng))


def _answered(case: trip_faults.Answered) -> Verdict:
    return case.validator.validate(case.answer, select([Fact("inputs", case.asked, critical=True)]))


def right_answers(count: int) -> Iterator[Verdict]:
    for seed in range(count):
        rng = Random(seed)
        yield _answered(trip_faults.as_planned(random_trip(rng), rng))


def days(count: int) -> Iterator[Case]:
    for code, operators in day_faults.OPERATORS.items():
        for seed in range(count):
            broken = operators[seed % len(operators)](random_day(seed), Random(seed))
            problem = parse_problem(broken.problem)
            told = {"against": broken.against, "executed_until": None if broken.until is None else _moment(broken.until)}
            yield code, validate_day(problem, broken.plan, parse_news(problem, list(broken.events)), **told)


def _moment(text: str) -> int:
    hours, minutes = text.split(":")
    return 60 * int(hours) + int(minutes)


def a_shop(seed: int) -> tuple[Any, list[Any], Random]:
    rng = Random(seed)
    problem = generate(rng.randint(2, 4), rng.randint(2, 4), seed, is_reentrant=rng.random() < 0.3)
    return problem, rows(quick(problem, [rng.randint(0, 9) for _ in problem.numbered()])), rng


def shops(count: int) -> Iterator[Case]:
    for code, operators in shop_faults.OPERATORS.items():
        yield from ((code, verdict) for verdict in _broken(operators, count))


def _broken(operators: Any, count: int) -> Iterator[Verdict]:
    made = (operators[seed % len(operators)](*a_shop(seed)) for seed in range(50 * count))
    for _n, each in zip(range(count), filter(None, made), strict=False):
        events = parse_events(each.problem, each.events)
        yield validate_schedule(each.problem, each.rows, events, against=each.against, executed_until=each.until)


def meals(count: int) -> Iterator[Case]:
    """The kinds of fault are placed by hand; the rest of the plan is put into another order."""
    meal = meal_of(meal_faults.MEAL)
    for code, plan in meal_faults.FAULTS.items():
        for seed in range(count):
            shuffled = [*plan]
            Random(seed).shuffle(shuffled)
            yield code, validate_meal(meal, plan if code == "IN_THE_PAST" else sorted(shuffled, key=lambda row: row[3]))


def a_meal_later(seconds: int) -> Verdict:
    rows = [[number, name, takes, start + seconds] for number, name, takes, start in meal_faults.PLAN]
    return validate_meal(meal_of(meal_faults.MEAL), rows)


DOMAINS: Final = (
    Domain("travel", trips, lambda count: (random_trip(Random(seed)).judged() for seed in range(count))),
    Domain("answers of operations", answers, right_answers),
    Domain(
        "reunion",
        days,
        lambda count: (validate_day(parse_problem(problem_of(day)), day.plan) for day in map(random_day, range(count))),
    ),
    Domain("jobshop", shops, lambda count: (validate_schedule(problem, said) for problem, said, _ in map(a_shop, range(count)))),
    Domain("recipes", meals, lambda count: map(a_meal_later, range(count))),
)


def missed(cases: Iterable[Case]) -> tuple[Counter[str], Counter[str]]:
    """Return how many faults of each kind there were, and how many of them nobody found."""
    there, not_found = Counter[str](), Counter[str]()
    for code, verdict in cases:
        there[code] += 1
        not_found[code] += code not in {each.code for each in verdict.violations}
    return there, +not_found


def false_alarms(verdicts: Iterable[Verdict]) -> tuple[int, int]:
    found = [each.verdict is not VerdictStatus.VALID for each in verdicts]
    return len(found), sum(found)


# -- tokens and time -------------------------------------------------------------------------------------------------------


def sized(size: int) -> dict[str, Verdict]:
    """Return verdicts on a trip, a day and a shop of about so many operations. A trip has at most a few dozen."""
    jobs = max(1, size // 10)
    problem = generate(jobs, min(10, size), 1)
    day, plan = shuttle(min(size, 280))
    return {
        "travel": random_trip(Random(1), stops=min(6, max(1, size // 3))).judged(),
        "reunion": validate_day(parse_problem(day), plan),
        "jobshop": validate_schedule(problem, rows(quick(problem))),
    }


def slower() -> dict[str, float]:
    """Return how many times the time of the judge that sees everything the validators take, on small plans, in the mean."""
    made = [random_trip(Random(seed)) for seed in range(300)]
    plain = [each for each in made if not any(leg.cover for leg in each.itinerary.legs)]
    known = [(parse_problem(problem_of(day)), day.plan) for day in map(random_day, range(120))]
    here = [a_shop(seed)[:2] for seed in range(300)]

    def trip_at_once(each: Any) -> None:
        trip_oracle.validate_itinerary(each.itinerary, each.request, each.quotes, now=each.now, cities=GAZETTEER, rates=RATES)

    return {
        "travel": _ratio(plain, lambda each: each.judged(), trip_at_once),
        "reunion": _ratio(known, lambda each: validate_day(*each), lambda each: day_oracle.validate_plan(*each)),
        "jobshop": _ratio(here, lambda each: validate_schedule(*each), lambda each: shop_oracle.validate_schedule(*each)),
    }


def _ratio(cases: list[Any], scoped: Callable[[Any], object], whole: Callable[[Any], object]) -> float:
    """Each plan is judged once, by both in turn: nothing is remembered, and a busy machine slows both."""
    took = [(_seconds(scoped, each), _seconds(whole, each)) for each in cases]
    return sum(ours for ours, _ in took) / sum(theirs for _, theirs in took)


def _seconds(judge: Callable[[Any], object], case: Any) -> float:
    """In the time of this process alone."""
    begun = time.process_time_ns()
    judge(case)
    return (time.process_time_ns() - begun) / 1e9


def main() -> int:
    is_met = True
    for domain in DOMAINS:
        there, not_found = missed(domain.faults(OF_EACH))
        plans, wrong = false_alarms(domain.untouched(UNTOUCHED))
        fewest = min(there.values())
        is_met &= not not_found and not wrong and fewest == OF_EACH
        sys.stdout.write(
            f"{domain.name}: {there.total()} faults of {len(there)} kinds, at least {fewest} of each, "
            f"{not_found.total()} not found; {plans} untouched, {wrong} refused\n"
        )
    for size in SIZES:
        largest = {name: max(each.slice_tokens for each in verdict.certificates) for name, verdict in sized(size).items()}
        is_met &= max(largest.values()) <= DEFAULT_BUDGET_TOKENS
        sys.stdout.write(
            f"largest slice, {size} operations: {', '.join(f'{name} {tokens}' for name, tokens in largest.items())} tokens\n"
        )
    for name, times in slower().items():
        is_met &= times <= MOST_TIMES
        sys.stdout.write(f"{name}: {times:.1f} times the time of one judge{'' if times <= MOST_TIMES else ', not met'}\n")
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
