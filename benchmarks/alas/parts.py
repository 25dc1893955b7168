"""Parts of the search for schedules: what each of them comes to alone, in the same time on the same cores."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from random import Random
from typing import Final

from sagagraph.domains.job_shop.planning.dispatching import first_schedule
from sagagraph.domains.job_shop.planning.path_relinking import cores, first_schedules
from sagagraph.domains.job_shop.planning.tabu_search import improved
from sagagraph.domains.job_shop.planning.workload import Starts, Workload
from sagagraph.planning.budget import Budget

_ENDLESS: Final = 1 << 40
"""Moves without a better schedule."""


def one_search(workload: Workload, seconds: float) -> Starts:
    """Search from the schedule of the best rule, without end, on each core with another seed."""
    budget = Budget.of(seconds)
    first = first_schedule(workload, budget)
    return _on_all_cores(workload, lambda seed: improved(workload, first, replace(budget, seed=seed), 0, patience=_ENDLESS))


def many_searches(workload: Workload, seconds: float) -> Starts:
    """Search from one schedule after the other, by rules that differ a little, until each search is in vain."""
    budget = Budget.of(seconds)
    first = first_schedule(workload, budget)

    def search(seed: int) -> Starts:
        best, random = first, Random(seed)  # noqa: S311 - no secret
        for starts in first_schedules(workload, first, random):
            if not budget.left:
                break
            found = improved(workload, starts, replace(budget, seed=random.randrange(1 << 31)), 0)
            best = min(best, found, key=workload.ends)
        return best

    return _on_all_cores(workload, search)


def _on_all_cores(workload: Workload, search: Callable[[int], Starts]) -> Starts:
    with ThreadPoolExecutor(cores()) as pool:
        return min(pool.map(search, range(cores())), key=workload.ends)


PARTS: Final[dict[str, Callable[[Workload, float], Starts]]] = {
    "one tabu search": one_search,
    "many tabu searches": many_searches,
}
