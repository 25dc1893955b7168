"""Schedules are right and as good as is claimed: against everything there is, and against the best known bounds."""

from __future__ import annotations

import csv
import os
from itertools import count
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.jobshop.generator import generate
from sagagraph.domains.job_shop.instances import parse_problem
from sagagraph.domains.job_shop.planning.dispatching import dispatched, first_schedule
from sagagraph.domains.job_shop.planning.planner import Planned, plan
from sagagraph.domains.job_shop.planning.tabu_search import improved
from sagagraph.domains.job_shop.planning.workload import makespan_bound, schedule_of, workload_of
from sagagraph.domains.job_shop.request import JobShop
from sagagraph.domains.job_shop.rules.validator import validate_schedule
from sagagraph.planning.budget import Budget
from sagagraph.planning.cp_sat import interrupted
from tests.domains.job_shop.shops import THREE, enough, rows, shops, shortest
from tests.domains.job_shop.test_instances import NEEDS_DATA

pytestmark = pytest.mark.quick


def assert_right(problem: JobShop, planned: Planned) -> None:
    schedule = schedule_of(workload_of(problem), planned.starts)
    assert validate_schedule(problem, rows(schedule)).violations == ()
    assert planned.lower_bound <= planned.makespan == max(slot.end for slot in schedule.values())


@settings(max_examples=60, deadline=None)
@given(problem=shops(jobs=3, steps=3))
def test_the_best_of_all_there_are_is_found_and_proven(problem: JobShop) -> None:
    planned = plan(workload_of(problem), enough())
    assert_right(problem, planned)
    assert planned.makespan == planned.lower_bound == shortest(problem)


@given(problem=shops(jobs=3, steps=3))
def test_no_schedule_is_below_the_bound(problem: JobShop) -> None:
    assert makespan_bound(workload_of(problem)) <= shortest(problem)


@given(tasks=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 4), st.integers(0, 8)), min_size=1, max_size=5))
def test_the_bound_of_a_machine_is_that_of_minutes_dealt_out_one_by_one(tasks: list[tuple[int, int, int]]) -> None:
    left = {n: duration for n, (_head, duration, _tail) in enumerate(tasks)}
    latest = max(head + tail for head, duration, tail in tasks if not duration) if 0 in left.values() else 0
    for now in range(100):
        ready = [n for n, minutes in left.items() if minutes and tasks[n][0] <= now]
        if ready:
            first = max(ready, key=lambda n: tasks[n][2])
            left[first] -= 1
            latest = max(latest, now + 1 + tasks[first][2])
    assert interrupted(tasks) >= latest if 0 in [each[1] for each in tasks] else interrupted(tasks) == latest


@given(problem=shops(), seed=st.integers(0, 100))
def test_any_rule_gives_a_right_schedule_that_exchanges_do_not_make_worse(problem: JobShop, seed: int) -> None:
    workload = workload_of(problem)
    random = Random(seed)
    first = dispatched(workload, [random.randint(0, 9) for _ in workload.tasks])
    bound = makespan_bound(workload)
    better = improved(workload, first, Budget(20, count().__next__, seed), bound)
    assert_right(problem, Planned(better, workload.ends(better), bound))
    assert workload.ends(better) <= workload.ends(first)


def test_exchanges_find_what_rules_do_not() -> None:
    workload = workload_of(generate(8, 5, 3))
    first = first_schedule(workload, enough())
    better = improved(workload, first, enough(), makespan_bound(workload))
    assert workload.ends(better) < workload.ends(first)


def test_there_is_a_schedule_where_there_is_no_time() -> None:
    problem = generate(30, 10, 1, is_reentrant=True)
    assert_right(problem, plan(workload_of(problem), Budget(0, lambda: 1.0)))


def test_exchanges_end_when_time_is_up() -> None:
    workload = workload_of(generate(20, 15, 1))
    asked = count()
    improved(workload, first_schedule(workload, enough()), Budget(25, lambda: float(next(asked))), 0)
    assert next(asked) <= 30


def test_the_same_question_has_the_same_answer() -> None:
    workload = workload_of(generate(6, 4, 7))
    first, second = plan(workload, enough()), plan(workload, enough())
    assert first == second
    assert first.makespan == first.lower_bound


def test_what_is_large_and_comes_back_to_machines_is_scheduled() -> None:
    problem = generate(200, 30, 1, is_reentrant=True)
    assert len(list(problem.numbered())) > 5_000  # too many for a model
    assert_right(problem, plan(workload_of(problem), Budget.of(0.5)))


def test_numbers_are_those_of_the_file() -> None:
    planned = plan(workload_of(THREE), enough())
    assert planned.makespan == shortest(THREE) == 11


@NEEDS_DATA
@pytest.mark.parametrize("file", ["ta/TA01.txt", "abz-swv-yn/swv13.txt", "dmu/rcmax_20_15_5.txt"])
def test_the_best_known_bounds_are_not_contradicted(file: str) -> None:
    folder = Path(os.environ["SAGAGRAPH_DATA"], "jobshop")
    with (folder / "bounds.csv").open() as table:
        known = next(row for row in csv.DictReader(table) if row["file"] == file)
    problem = parse_problem((folder / file).read_text())
    planned = plan(workload_of(problem), Budget.of(2))
    assert_right(problem, planned)
    assert planned.makespan >= int(known["lower_bound"])
    assert planned.lower_bound <= int(known["upper_bound"])
