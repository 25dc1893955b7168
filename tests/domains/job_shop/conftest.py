"""The tabu search is compiled once, before any test that has a deadline."""

from __future__ import annotations

from itertools import count

import pytest

from benchmarks.jobshop.generator import generate
from sagagraph.domains.job_shop.planning.dispatching import first_schedule
from sagagraph.domains.job_shop.planning.tabu_search import improved
from sagagraph.domains.job_shop.planning.workload import workload_of
from sagagraph.planning.budget import Budget


@pytest.fixture(scope="session", autouse=True)
def _compiled() -> None:
    workload = workload_of(generate(6, 4, 1))
    improved(workload, first_schedule(workload, Budget.of(1)), Budget(3, count().__next__), 0)
