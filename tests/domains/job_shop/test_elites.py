"""How many schedules are combined depends on how many searches there is time for."""

from __future__ import annotations

import pytest

from benchmarks.jobshop.generator import generate
from sagagraph.domains.job_shop.planning.path_relinking import elites
from sagagraph.domains.job_shop.planning.workload import workload_of


@pytest.mark.quick
def test_larger_shops_and_less_time_combine_fewer_schedules() -> None:
    small, large = (workload_of(generate(jobs, machines, seed=1)) for jobs, machines in ((15, 15), (40, 20)))
    kept = [elites(workload, seconds) for workload in (small, large) for seconds in (6.0, 60.0, float("inf"))]
    assert kept == [4, 10, 10, 4, 4, 10]
