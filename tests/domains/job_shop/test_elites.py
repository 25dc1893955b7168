"""How many schedules are combined depends on how many searches there is time for, and a search in vain begins anew."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from benchmarks.jobshop.generator import generate
from sagagraph.domains.job_shop.planning import path_relinking
from sagagraph.domains.job_shop.planning.dispatching import first_schedule
from sagagraph.domains.job_shop.planning.path_relinking import carried_out, elites, searched
from sagagraph.domains.job_shop.planning.workload import Starts, Workload, workload_of
from sagagraph.planning.budget import Budget


@pytest.mark.quick
def test_larger_shops_and_less_time_combine_fewer_schedules() -> None:
    small, large = (workload_of(generate(jobs, machines, seed=1)) for jobs, machines in ((15, 15), (40, 20)))
    kept = [elites(workload, seconds) for workload in (small, large) for seconds in (6.0, 60.0, float("inf"))]
    assert kept == [4, 10, 10, 4, 4, 10]


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[Starts]:
    """Let no search improve anything, and return what the elites are filled with."""
    drawn: list[Starts] = []
    at_first = path_relinking.first_schedules

    def beginnings(workload: Workload, known: Starts, random: Random) -> Iterator[Starts]:
        for starts in at_first(workload, known, random):
            drawn.append(starts)
            yield starts

    monkeypatch.setattr(path_relinking, "improved", lambda _workload, starts, _budget, _bound: starts)
    monkeypatch.setattr(path_relinking, "first_schedules", beginnings)
    return drawn


@pytest.mark.quick
def test_a_search_in_vain_begins_anew_with_more_schedules_and_ends_before_its_time(begun: list[Starts]) -> None:
    workload, budget = workload_of(generate(8, 6, seed=1)), Budget.of(60)
    known = first_schedule(workload, budget)
    found = searched(workload, known, budget, 0)
    assert workload.ends(found) <= workload.ends(known)
    assert len(begun) > 10 + 15 + 22 + 34
    assert budget.left > 30


@pytest.mark.quick
def test_a_shop_with_few_schedules_does_not_wait_for_more(begun: list[Starts]) -> None:
    workload, budget = workload_of(generate(2, 1, seed=1)), Budget.of(60)
    found = searched(workload, carried_out(workload, [1.0, 0.0]), budget, 0)
    assert len({tuple(each) for each in begun}) == 2
    assert budget.left > 30
    assert min(found) == 0
