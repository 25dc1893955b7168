"""Schedules of every suite of job shops: untouched ones are found right, and faults of each kind are found at their places.

The suites are those of SAGAGRAPH_DATA; without it, generated instances of up to 100 jobs. `make proof` injects 20 of each kind.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from functools import cache
from itertools import cycle, islice
from random import Random

import pytest

from benchmarks.jobshop.cases import Instance, instances
from sagagraph.domains.job_shop.parsing import parse_events
from sagagraph.domains.job_shop.request import JobShop, Schedule
from sagagraph.domains.job_shop.rules.validator import validate_schedule
from tests.domains.job_shop.corruption import OPERATORS, Corrupted, Operator
from tests.domains.job_shop.shops import quick, rows

SUITES = ("abz", "dmu", "j", "swv", "ta", "yn") if "SAGAGRAPH_DATA" in os.environ else ("generated",)
KINDS = tuple((code, operator) for code, operators in OPERATORS.items() for operator in operators)


@cache
def suite(name: str) -> tuple[Instance, ...]:
    """The instances whose names begin so, the smallest first."""
    found = [each for each in instances([], of_all=True) if re.match("[a-z]*", each.name)[0] == name]  # type: ignore[index]
    return tuple(sorted(found, key=lambda each: len(list(each.problem.numbered()))))


@cache
def scheduled(problem: JobShop) -> Schedule:
    return quick(problem)


def corrupted(problem: JobShop, operator: Operator, seed: str) -> Corrupted:
    """The first fault of this kind for which the schedule offers a place."""
    tried = (operator(problem, rows(scheduled(problem)), Random(f"{seed} {attempt}")) for attempt in range(100))
    return next(each for each in tried if each is not None)


@pytest.mark.parametrize("name", SUITES)
@pytest.mark.parametrize("faults", [1, pytest.param(20, marks=pytest.mark.proof)])
def test_every_injected_fault_is_found_and_none_in_untouched_schedules(name: str, faults: int) -> None:
    among = suite(name) if faults > 1 else suite(name)[:1]
    for instance in among:
        verdict = validate_schedule(instance.problem, rows(scheduled(instance.problem)))
        assert verdict.is_valid, (instance.name, verdict.violations)
    found = Counter[str]()
    for code, operator in KINDS:
        for number, instance in enumerate(islice(cycle(among), faults)):
            made = corrupted(instance.problem, operator, f"{instance.name} {operator.__name__} {number}")
            events = parse_events(made.problem, made.events)
            verdict = validate_schedule(made.problem, made.rows, events, against=made.against, executed_until=made.until)
            told = [(each.code, each.scope.get("row")) for each in verdict.violations]
            assert told == [(code, at) for at in made.at], (instance.name, operator.__name__, number)
            found[operator.__name__] += 1
    assert found == {operator.__name__: faults for _code, operator in KINDS}
