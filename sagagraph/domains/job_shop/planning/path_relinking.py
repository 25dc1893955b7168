"""Path relinking: elite schedules are combined in pairs, and what lies between two of them is improved by tabu search.

(Peng, Lü and Cheng, "A tabu search/path relinking algorithm to solve the job shop scheduling problem", Computers & Operations
Research 2015.) Between two schedules lies the order of tasks by a weighted mean of their starts: it can always be carried out,
and keeps whatever both agree on. There is one search for each core, in threads: compiled searches hold no lock.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import cycle
from random import Random
from typing import Final

from sagagraph.domains.job_shop.planning.dispatching import dispatched, rules
from sagagraph.domains.job_shop.planning.tabu_search import IS_COMPILED, improved
from sagagraph.domains.job_shop.planning.workload import Starts, Workload
from sagagraph.planning.budget import Budget

_MOST: Final = 10
_FEWEST: Final = 4
"""Elite schedules: more of them find better ones in the end, and fewer sooner."""
_TASK_SECONDS: Final = 50
"""One more of them for so many times as many tasks as there are seconds on each core."""
_FILLING: Final = 0.3
"""Share of the time after which that few are enough to combine."""
_NOISE: Final = 0.2
"""Part of a rule's number by which the first schedules of a rule differ."""
_NEAREST: Final = 0.3
"""The least weight that one of two schedules has in what lies between them."""
_FRUITLESS: Final = 80
"""Searches without a better schedule after which the elite begins anew."""
_MORE: Final = 1.5
"""How many times as many schedules the next elite has: there is time for them."""
_PAIR: Final = 2
"""So few are combined if a small shop has no more."""
_AHEAD: Final = 2
"""Searches begun for each core: one runs, and the next waits, so that no core waits for another's."""
_BEGINNINGS: Final = 6
"""How often the elite begins anew in vain before the search ends."""


def cores() -> int:
    """Return how many searches run side by side: one, if nothing is compiled, since Python runs one thread at a time."""
    return len(os.sched_getaffinity(0)) if IS_COMPILED and hasattr(os, "sched_getaffinity") else 1


@dataclass(slots=True)
class _Elite:
    workload: Workload
    random: Random
    most: int
    filling: Budget
    """Until its end, the first elite waits for so many schedules, and then makes do with few."""
    members: list[Starts] = field(default_factory=list)
    """The best first."""
    repeated: int = 0
    """How many schedules in a row were members already."""
    fruitless: int = 0
    """How many in a row were no better than the best."""
    beginnings: int = 0

    @property
    def is_filled(self) -> bool:
        wanted = self.most if self.filling.left or self.beginnings else min(self.most, _FEWEST)
        return len(self.members) >= (wanted if self.repeated < _FRUITLESS else _PAIR)

    @property
    def is_exhausted(self) -> bool:
        return self.fruitless >= _FRUITLESS

    def take(self, starts: Starts) -> None:
        """Keep a schedule if it is among the best, and differs from every other as good as it."""
        ends, leading = self.workload.ends, self.members[:1]
        self.repeated += 1
        if all(ends(each) != ends(starts) or self._far_apart(each, starts) for each in self.members):
            self.members, self.repeated = sorted([*self.members, starts], key=ends)[: self.most], 0
        self.fruitless = 0 if self.members[:1] != leading or not self.is_filled else self.fruitless + 1

    def begin_anew(self, best: Starts) -> None:
        """Forget all schedules, and every second time all but the best, which draws the others towards it."""
        self.members = [best] if self.beginnings % 2 else []
        self.most, self.fruitless, self.beginnings = round(_MORE * self.most), 0, self.beginnings + 1

    def between(self) -> Starts:
        """Return what lies between two members."""
        one, other = self.random.sample(self.members, 2)
        weight = self.random.uniform(_NEAREST, 1 - _NEAREST)
        return carried_out(self.workload, [weight * a + (1 - weight) * b for a, b in zip(one, other, strict=True)])

    def _far_apart(self, one: Starts, other: Starts) -> bool:
        return any(a != b for a, b in zip(one, other, strict=True))


def elites(workload: Workload, seconds: float) -> int:
    """Return how many schedules are kept. `seconds`: of all cores. The larger the shop, the fewer searches there is time for."""
    return max(_FEWEST, round(min(_MOST, _TASK_SECONDS * seconds / max(1, len(workload.tasks)))))


def searched(workload: Workload, known: Starts, budget: Budget, bound: int) -> Starts:
    """Search for a shorter schedule than `known`, until `bound`, the time limit, or many searches without a better one."""
    random, threads = Random(budget.seed), cores()  # noqa: S311 - not a secret: the same schedule for the same seed
    filling = budget.part(budget.left * _FILLING)
    best, elite = known, _Elite(workload, random, elites(workload, budget.left * threads), filling)
    starting = first_schedules(workload, known, random)
    in_vain = 0

    def begun(pool: ThreadPoolExecutor) -> Future[Starts]:
        child = elite.between() if elite.is_filled else next(starting)
        seeded = replace(budget, seed=random.randrange(1 << 31))
        return pool.submit(improved, workload, child, seeded, bound)

    with ThreadPoolExecutor(threads) as pool:
        searches: deque[Future[Starts]] = deque()
        while budget.left and workload.ends(best) > bound and in_vain < _BEGINNINGS:
            while len(searches) < _AHEAD * threads:
                searches.append(begun(pool))
            elite.take(searches.popleft().result())  # in the order of their beginning, whichever ends first
            if workload.ends(elite.members[0]) < workload.ends(best):
                best, in_vain = elite.members[0], 0
            if elite.is_exhausted:
                best = min([best, *(each.result() for each in searches)], key=workload.ends)
                searches.clear()  # what they found lies near the elite that goes
                elite.begin_anew(best)
                in_vain += 1
        pool.shutdown(cancel_futures=True)
    return min([best, *(each.result() for each in searches if not each.cancelled())], key=workload.ends)


def first_schedules(workload: Workload, known: Starts, random: Random) -> Iterator[Starts]:
    """Yield what is known, then schedules by rules, each time a little different."""
    yield known
    for rule in cycle(rules(workload)):
        yield dispatched(workload, [number + _NOISE * random.uniform(-1, 1) * abs(number) for number in rule])


def carried_out(workload: Workload, moments: Sequence[float]) -> Starts:
    """Return the earliest starts of all tasks in the order of these moments, which has to keep the order of each job."""
    tasks, follows = workload.tasks, workload.follows
    starts = [0] * len(tasks)
    free: dict[int, int] = {}
    for n in sorted(range(len(tasks)), key=lambda n: (moments[n], moments[n] + tasks[n].duration, tasks[n].step, n)):
        start = max(tasks[n].release, free.get(tasks[n].machine, 0))
        if follows[n]:
            start = max(start, starts[n - 1] + tasks[n - 1].duration)
        starts[n] = start
        free[tasks[n].machine] = start + tasks[n].duration
    return starts
