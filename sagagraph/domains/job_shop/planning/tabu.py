"""Tabu search for shorter schedules: neighbours on a critical path are exchanged, and not exchanged back for a while.

(Nowicki and Smutnicki, "A fast taboo search algorithm for the job shop problem", Management Science 1996.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, NamedTuple, ParamSpec, TypeVar

from sagagraph.domains.job_shop.planning.workload import Starts, Workload
from sagagraph.planning.budget import Budget

if TYPE_CHECKING:
    Ints = list[int]
    """Arrays if functions are compiled, because compiled code reads lists slowly; otherwise lists, which Python reads faster."""


P = ParamSpec("P")
R = TypeVar("R")

try:
    import numba
    import numpy as np
except ImportError:
    AT_ONCE = 1

    def compiled(function: Callable[P, R]) -> Callable[P, R]:
        return function

    def ints(values: Iterable[int]) -> Ints:
        return list(values)

else:
    AT_ONCE = 200
    """Steps of a search between two looks at the clock."""

    def compiled(function: Callable[P, R]) -> Callable[P, R]:
        """Compile at the first call, which takes some seconds; the result is kept on disk."""
        made: Callable[P, R] = numba.njit(cache=True)(function)
        return made

    def ints(values: Iterable[int]) -> Ints:
        return np.fromiter(values, np.int64)  # type: ignore[return-value] # to Python it is as good as a list


_TENURE: Final = 8
"""For at least this many moves, and less than twice as many, a pair is not exchanged back."""
_PATIENCE: Final = 2_000
"""After this many moves without a better schedule, the search returns to the best one and makes a few random moves."""
_KICKS: Final = 10
_PAIRS: Final = 1 << 20
"""How many pairs of tasks are remembered separately; collisions do little harm."""
_FAR: Final = 1 << 60


class _Order(NamedTuple):
    """Order of tasks on each machine. Tasks are numbers from 0; the number after the last means none."""

    duration: Ints
    release: Ints
    before: Ints
    """In its job."""
    after: Ints
    earlier: Ints
    """On its machine."""
    later: Ints
    sequence: Ints
    """All tasks, each after those that it waits for."""
    position: Ints
    """In the sequence."""
    head: Ints
    """The earliest start."""
    tail: Ints
    """How long work continues from that start, at least: the task and everything after it."""
    first: Ints
    """Of each pair that may be exchanged."""
    second: Ints
    path: Ints
    behind: Ints
    """For each task, whether it comes after the one that is moved back; all false between two moves."""


class _Memory(NamedTuple):
    best: Ints
    """The starts of the best schedule."""
    barred: Ints
    """By pair: the move until which it may not be exchanged."""
    counts: Ints
    """The best makespan, moves made, moves since the last improvement, and the state of the random numbers."""


_ENDS: Final = 0
_MOVES: Final = 1
_STALE: Final = 2
_RANDOM: Final = 3


def improved(workload: Workload, starts: Starts, budget: Budget, bound: int, *, rounds: int = 200) -> Starts:
    """Improve `starts`, and never worsen them, until `bound`, the time limit, or this many rounds without an improvement."""
    ends = workload.ends(starts)
    if ends <= bound or not budget.left:
        return starts
    memory = _Memory(ints(starts), ints([0] * _PAIRS), ints([ends, 0, 0, budget.seed]))
    order = _order(workload, starts)
    fruitless = 0
    while fruitless < rounds:
        before = memory.counts[_ENDS]
        memory.counts[_STALE] = 0
        while _search(order, memory, workload.begun_until, AT_ONCE):
            if memory.counts[_ENDS] <= bound or not budget.left:
                return _found(memory)
        if memory.counts[_ENDS] <= bound or not budget.left:
            break
        fruitless = 0 if memory.counts[_ENDS] < before else fruitless + 1
        order = _order(workload, _found(memory))
        _kick(order, memory)
    return _found(memory)


def _found(memory: _Memory) -> Starts:
    return [int(start) for start in memory.best]


def _order(workload: Workload, starts: Starts) -> _Order:
    tasks, none = workload.tasks, len(workload.tasks)
    before = [place - 1 if follows else none for place, follows in enumerate(workload.follows)]
    after = [place + 1 if place + 1 < none and workload.follows[place + 1] else none for place in range(none)]
    sequence = workload.sequence(starts)
    earlier, later, position = [none] * none, [none] * none, [-1] * (none + 1)
    last: dict[int, int] = {}
    for place, n in enumerate(sequence):
        position[n] = place
        earlier[n] = last.get(tasks[n].machine, none)
        if earlier[n] != none:
            later[earlier[n]] = n
        last[tasks[n].machine] = n
    durations = [*(task.duration for task in tasks), 0]
    releases = [task.release for task in tasks]
    empty = [[0] * (none + 1) for _ in range(6)]
    order = _Order(*map(ints, (durations, releases, before, after, earlier, later, sequence, position, *empty)))
    _time_heads(order, 0)
    _time_tails(order, none - 1)
    return order


@compiled
def _search(order: _Order, memory: _Memory, begun_until: int, steps: int) -> bool:
    """Make at most this many moves. Returns False if no move is left, or none has helped for long."""
    counts = memory.counts
    for _ in range(steps):
        move = _chosen(order, memory) if _longest(order) > begun_until else -1
        if move < 0:
            return False
        first, second = order.first[move], order.second[move]
        _swap(order, first, second)
        counts[_MOVES] += 1
        memory.barred[_pair(second, first)] = counts[_MOVES] + _TENURE + _draw(memory, _TENURE + 1)
        counts[_STALE] += 1
        ends = max(_longest(order), begun_until)
        if ends < counts[_ENDS]:
            counts[_ENDS], counts[_STALE] = ends, 0
            for n in range(len(memory.best)):
                memory.best[n] = order.head[n]
        if counts[_STALE] >= _PATIENCE:
            return False
    return True


@compiled
def _kick(order: _Order, memory: _Memory) -> None:
    for _ in range(_KICKS):
        moves = _moves(order)
        if moves:
            move = _draw(memory, moves)
            _swap(order, order.first[move], order.second[move])


@compiled
def _chosen(order: _Order, memory: _Memory) -> int:
    """Return the best move that is allowed, or better than everything so far; otherwise any move; -1 if there is none at all."""
    moves = _moves(order)
    if not moves:
        return -1
    chosen, least, ties = -1, _FAR, 0
    for move in range(moves):
        first, second = order.first[move], order.second[move]
        ends = _estimate(order, first, second)
        if memory.barred[_pair(first, second)] > memory.counts[_MOVES] and ends >= memory.counts[_ENDS]:
            continue
        ties = 1 if ends < least else ties + 1 if ends == least else ties
        if ends < least or (ends == least and _draw(memory, ties) == 0):
            chosen, least = move, ends
    return chosen if chosen >= 0 else _draw(memory, moves)


@compiled
def _pair(first: int, second: int) -> int:
    return (first * 1_000_003 + second) % _PAIRS


@compiled
def _draw(memory: _Memory, below: int) -> int:
    """Draw a random number, 0 or more."""
    memory.counts[_RANDOM] = (memory.counts[_RANDOM] * 1_103_515_245 + 12_345) % (1 << 31)
    return (memory.counts[_RANDOM] >> 8) % below


@compiled
def _moves(order: _Order) -> int:
    """Return how many moves there are: the first and last two of each block on one machine of a critical path."""
    length, found, begin = _critical_path(order), 0, 0
    for place in range(1, length + 1):
        if place < length and order.earlier[order.path[place]] == order.path[place - 1]:
            continue
        for at in range(begin, place - 1):
            first, second = order.path[at], order.path[at + 1]
            if at in (begin, place - 2) and not _waits_otherwise(order, first, second):
                order.first[found], order.second[found] = first, second
                found += 1
        begin = place
    return found


@compiled
def _waits_otherwise(order: _Order, first: int, second: int) -> bool:
    """Tell whether `second`, right after `first` on a critical path, may also wait for it because of its job: then they stay as
    they are.
    """
    before = order.before[second]
    is_late = order.head[before] + order.duration[before] >= order.head[first] + order.duration[first]
    return is_late and order.position[before] >= order.position[first]


@compiled
def _critical_path(order: _Order) -> int:
    """Return how many tasks are on the critical path."""
    none, longest = len(order.sequence), _longest(order)
    here = none
    for n in order.sequence:
        if order.head[n] == order.release[n] and order.head[n] + order.tail[n] == longest:
            here = n
            break
    length = 0
    while here != none:
        order.path[length] = here
        length += 1
        ends = order.head[here] + order.duration[here]
        on_machine, in_job = order.later[here], order.after[here]
        here = none
        if on_machine != none and order.head[on_machine] == ends and ends + order.tail[on_machine] == longest:
            here = on_machine
        elif in_job != none and order.head[in_job] == ends and ends + order.tail[in_job] == longest:
            here = in_job
    return length


@compiled
def _estimate(order: _Order, first: int, second: int) -> int:
    """Return a lower bound of the makespan through these two if they were exchanged."""
    head, tail, duration = order.head, order.tail, order.duration
    before, earlier = order.before[second], order.earlier[first]
    head_second = max(head[before] + duration[before], head[earlier] + duration[earlier], order.release[second])
    before = order.before[first]
    head_first = max(head[before] + duration[before], head_second + duration[second], order.release[first])
    tail_first = max(tail[order.after[first]], tail[order.later[second]]) + duration[first]
    tail_second = max(tail[order.after[second]], tail_first) + duration[second]
    return max(head_first + tail_first, head_second + tail_second)


@compiled
def _swap(order: _Order, first: int, second: int) -> None:
    """Put `second` right before `first`; all heads and tails are updated."""
    none = len(order.sequence)
    earlier, later = order.earlier[first], order.later[second]
    order.earlier[second], order.later[second] = earlier, first
    order.earlier[first], order.later[first] = second, later
    if earlier != none:
        order.later[earlier] = second
    if later != none:
        order.earlier[later] = first
    begin, end = order.position[first], order.position[second]
    _put_in_order(order, first, begin, end)
    _time_heads(order, begin)
    _time_tails(order, end)


@compiled
def _put_in_order(order: _Order, first: int, begin: int, end: int) -> None:
    """Move every task between the two that comes after `first` behind all others."""
    order.behind[first] = 1
    back, place = 0, begin
    for at in range(begin, end + 1):
        n = order.sequence[at]
        if n == first or order.behind[order.before[n]] or order.behind[order.earlier[n]]:
            order.behind[n] = 1
            order.path[back] = n
            back += 1
        else:
            order.sequence[place] = n
            order.position[n] = place
            place += 1
    for at in range(back):
        n = order.path[at]
        order.behind[n] = 0
        order.sequence[place + at] = n
        order.position[n] = place + at


@compiled
def _time_heads(order: _Order, begin: int) -> None:
    head, duration, before, earlier, release = order.head, order.duration, order.before, order.earlier, order.release
    for at in range(begin, len(order.sequence)):
        n = order.sequence[at]
        job, machine = before[n], earlier[n]
        head[n] = max(head[job] + duration[job], head[machine] + duration[machine], release[n])


@compiled
def _time_tails(order: _Order, end: int) -> None:
    tail, after, later = order.tail, order.after, order.later
    for at in range(end, -1, -1):
        n = order.sequence[at]
        tail[n] = max(tail[after[n]], tail[later[n]]) + order.duration[n]


@compiled
def _longest(order: _Order) -> int:
    ends = 0
    for n in range(len(order.sequence)):
        ends = max(ends, order.head[n] + order.duration[n])
    return ends
