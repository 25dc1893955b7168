"""Better schedules, quickly: neighbours on a critical path change places, and do not change back for a while.

(Nowicki and Smutnicki, "A fast taboo search algorithm for the job shop problem", Management Science 1996.)
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sagagraph.domains.job_shop.planning.workload import Starts, Workload
    from sagagraph.planning.budget import Budget

_NONE: Final = -1
_TENURE: Final = (8, 16)
"""For so many moves, at least and at most, a pair does not change back."""
_PATIENCE: Final = 2_000
"""After so many moves without a better schedule, the search goes back to the best and a few moves off at random."""
_KICKS: Final = 10


def improved(workload: Workload, starts: Starts, budget: Budget, bound: int, *, rounds: int = 40) -> Starts:
    """Never worse than `starts`. It ends at `bound`, when time is up, or after so many rounds without a better one."""
    if workload.ends(starts) <= bound or not budget.left:
        return starts
    random = Random(budget.seed)  # noqa: S311 - no secret: the same schedule for the same seed
    order = _Order(workload, starts)
    best, found, fruitless = order.ends, order.heads(), 0
    while True:
        before = best
        for ends in _moves(order, random, best):
            if ends < best:
                best, found = ends, order.heads()
            if best <= bound or not budget.left:
                return found
        fruitless = 0 if best < before else fruitless + 1
        if fruitless == rounds:
            return found
        order = _Order(workload, found)
        _kick(order, random)


def _moves(order: _Order, random: Random, best: int) -> Iterator[int]:
    """The makespan after each move, until none is better for long."""
    barred: dict[tuple[int, int], int] = {}
    stale = now = 0
    while stale < _PATIENCE:
        now += 1
        moves = order.moves()
        if not moves:
            return
        looked_at = [(order.estimate(*move), random.random(), move) for move in moves]
        allowed = [each for each in looked_at if barred.get(each[2], 0) < now or each[0] < best]
        first, second = min(allowed or [random.choice(looked_at)])[2]
        order.swap(first, second)
        barred[second, first] = now + random.randint(*_TENURE)
        stale = 0 if order.ends < best else stale + 1
        best = min(best, order.ends)
        yield order.ends


def _kick(order: _Order, random: Random) -> None:
    for _ in range(_KICKS):
        moves = order.moves()
        if moves:
            order.swap(*random.choice(moves))


class _Order:
    """Who comes before whom on each machine; heads (earliest starts) and tails (what comes after, itself included)."""

    def __init__(self, workload: Workload, starts: Starts) -> None:
        tasks, count = workload.tasks, len(workload.tasks)
        self._duration = [task.duration for task in tasks] + [0]
        self._release = [task.release for task in tasks]
        self._before = [place - 1 if follows else count for place, follows in enumerate(workload.follows)]
        self._after = [count] * count
        for place, before in enumerate(self._before):
            if before != count:
                self._after[before] = place
        self._begun_until = workload.begun_until
        self._earlier, self._later = [count] * count, [count] * count
        self._sequence = sorted(range(count), key=lambda n: (starts[n], starts[n] + tasks[n].duration, tasks[n].step, n))
        last: dict[int, int] = {}
        for n in self._sequence:
            other = last.get(tasks[n].machine, count)
            self._earlier[n] = other
            if other != count:
                self._later[other] = n
            last[tasks[n].machine] = n
        self._position = [0] * count
        for position, n in enumerate(self._sequence):
            self._position[n] = position
        self._head, self._tail = [0] * (count + 1), [0] * (count + 1)
        self._count = count
        self._time_heads(0)
        self._time_tails(count - 1)

    def heads(self) -> list[int]:
        return self._head[: self._count]

    def moves(self) -> list[tuple[int, int]]:
        """The first two and the last two of each block of a critical path that runs on one machine."""
        path = self._critical_path()
        moves: list[tuple[int, int]] = []
        begin = 0
        for place in range(1, len(path) + 1):
            if place < len(path) and self._earlier[path[place]] == path[place - 1]:
                continue
            if place - begin >= 2:
                pairs = {(path[begin], path[begin + 1]), (path[place - 2], path[place - 1])}
                moves += sorted(pairs)
            begin = place
        return [pair for pair in moves if self._before[pair[1]] != pair[0]]

    def estimate(self, first: int, second: int) -> int:
        """At the least the makespan through these two if they changed places."""
        head, tail, duration = self._head, self._tail, self._duration
        before, earlier = self._before[second], self._earlier[first]
        head_second = max(head[before] + duration[before], head[earlier] + duration[earlier], self._release[second])
        before = self._before[first]
        head_first = max(head[before] + duration[before], head_second + duration[second], self._release[first])
        tail_first = max(tail[self._after[first]], tail[self._later[second]]) + duration[first]
        tail_second = max(tail[self._after[second]], tail_first) + duration[second]
        return max(head_first + tail_first, head_second + tail_second)

    def swap(self, first: int, second: int) -> None:
        """`second` comes right before `first`; all heads and tails are those of the new order."""
        none = self._count
        earlier, later = self._earlier[first], self._later[second]
        self._earlier[second], self._later[second] = earlier, first
        self._earlier[first], self._later[first] = second, later
        if earlier != none:
            self._later[earlier] = second
        if later != none:
            self._earlier[later] = first
        begin, end = self._position[first], self._position[second]
        self._put_in_order(first, begin, end)
        self._time_heads(begin)
        self._time_tails(end)

    def _put_in_order(self, first: int, begin: int, end: int) -> None:
        """Of those between the two, whatever comes after `first` comes behind all others."""
        segment = self._sequence[begin : end + 1]
        behind = {first}
        front, back = [], [first]
        for n in segment[1:]:
            if self._before[n] in behind or (self._earlier[n] in behind):
                behind.add(n)
                back.append(n)
            else:
                front.append(n)
        self._sequence[begin : end + 1] = front + back
        for position, n in enumerate(self._sequence[begin : end + 1], start=begin):
            self._position[n] = position

    def _time_heads(self, begin: int) -> None:
        head, duration, before, earlier, release = self._head, self._duration, self._before, self._earlier, self._release
        for n in self._sequence[begin:]:
            job, machine, at = before[n], earlier[n], release[n]
            ready = head[job] + duration[job]
            free = head[machine] + duration[machine]
            if ready > at:
                at = ready
            head[n] = max(at, free)
        self._longest = max(map(int.__add__, head, duration))
        self.ends = max(self._begun_until, self._longest)

    def _time_tails(self, end: int) -> None:
        tail, duration, after, later = self._tail, self._duration, self._after, self._later
        for n in reversed(self._sequence[: end + 1]):
            job, machine = tail[after[n]], tail[later[n]]
            tail[n] = (max(machine, job)) + duration[n]

    def _critical_path(self) -> list[int]:
        """Empty where what has begun takes longer than all that has not."""
        head, tail, longest = self._head, self._tail, self._longest
        if longest <= self._begun_until:
            return []
        here = next(n for n in self._sequence if head[n] == self._release[n] and head[n] + tail[n] == longest)
        path = [here]
        while True:
            ends = head[here] + self._duration[here]
            ahead = (self._later[here], self._after[here])
            following = next((n for n in ahead if n != self._count and head[n] == ends and ends + tail[n] == longest), None)
            if following is None:
                return path
            path.append(following)
            here = following
