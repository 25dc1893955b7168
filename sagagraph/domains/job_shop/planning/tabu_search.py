"""Tabu search for shorter schedules: tasks move inside the blocks of a critical path, and no order returns for a while.

The moves are those of Zhang, Li, Guan and Rao ("A tabu search algorithm with a new neighborhood structure for the job shop
scheduling problem", Computers & Operations Research 2007, N7), their estimates those of Balas and Vazacopoulos ("Guided local
search with shifting bottleneck for job shop scheduling", Management Science 1998). Whether a move closes a circle is decided
exactly, not by their sufficient condition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import repeat
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

from sagagraph.domains.job_shop.planning.workload import Starts, Workload
from sagagraph.planning.budget import Budget

if TYPE_CHECKING:
    Ints = list[int]
    """Arrays if functions are compiled, because compiled code reads lists slowly; otherwise lists, which Python reads faster."""
    Table = list[list[int]]


P = ParamSpec("P")
R = TypeVar("R")

try:
    import numba
    import numpy as np
except ImportError:
    IS_COMPILED = False
    AT_ONCE = 1

    def compiled(function: Callable[P, R]) -> Callable[P, R]:
        return function

    def ints(values: Iterable[int]) -> Ints:
        return list(values)

    def table(rows: Table) -> Table:
        return rows

else:
    IS_COMPILED = True
    AT_ONCE = 500
    """Moves of a search between two looks at the clock."""

    def compiled(function: Callable[P, R]) -> Callable[P, R]:
        """Compile at the first call, which takes some seconds; the result is kept on disk. Threads run it side by side."""
        made: Callable[P, R] = numba.njit(cache=True, nogil=True)(function)
        return made

    def ints(values: Iterable[int]) -> Ints:
        return np.fromiter(values, np.int64)  # type: ignore[return-value] # to Python it is as good as a list

    def table(rows: Table) -> Table:
        return np.array(rows, np.int64)  # type: ignore[return-value] # to Python it is as good as lists


PATIENCE: Final = 12_500
"""Moves without a better schedule after which a search ends (Peng, Lü and Cheng 2015)."""
_TENURE: Final = 10
"""An order on a machine does not return for this many moves, up to half as many again."""
_ORDERS: Final = 1 << 16
"""How many orders are remembered separately; collisions do little harm."""
_FAR: Final = 1 << 60


# An order is a table with a column for each task, numbered from 0; the number after the last means none. Its rows:
_DURATION: Final = 0
_RELEASE: Final = 1
_FIXED: Final = 2
"""Tasks that keep their places on their machines."""
_BEFORE: Final = 3
"""The one before it in its job."""
_AFTER: Final = 4
_EARLIER: Final = 5
"""The one before it on its machine."""
_LATER: Final = 6
_RANK: Final = 7
"""Its place on its machine."""
_SEQUENCE: Final = 8
"""All tasks, each after those that it waits for."""
_POSITION: Final = 9
"""Its place in the sequence."""
_HEAD: Final = 10
"""Its earliest start."""
_TAIL: Final = 11
"""How long work continues from that start, at least: the task and everything after it."""
_BEST: Final = 12
"""Its start in the best schedule."""
_PATH: Final = 13
"""The critical path; between two moves, anything."""
_ROW: Final = 14
"""The tasks from one end of a move to the other, as it would leave them."""
_MARKS: Final = 15
"""Tasks that a sweep has reached; all false between two sweeps."""
# By places on the critical path, next to one another, since estimates read nothing else:
_ARRIVES: Final = 16
"""When its job, and its release, let the task at this place begin."""
_TAKES: Final = 17
_REMAINS: Final = 18
"""How long its job continues after it."""
_STAYS: Final = 19
"""How many of the tasks before this place keep their places on their machines."""
_BEGINS: Final = 20
"""When the task at this place would begin."""
_ROWS: Final = 21

# A search counts:
_ENDS: Final = 0
"""The best makespan."""
_MOVES: Final = 1
_STALE: Final = 2
"""Moves since the last improvement."""
_RANDOM: Final = 3
_HELD: Final = 4
"""For how many moves an order is barred, at least."""
_FIRST: Final = 5
_LAST: Final = 6
_FORWARDS: Final = 7
"""The chosen move: both ends, and whether the first goes behind the last, or the last ahead of the first."""
_LEAST: Final = 8
"""Its estimate."""
_TIES: Final = 9
_COUNTS: Final = 10


def improved(
    workload: Workload,
    starts: Starts,
    budget: Budget,
    bound: int,
    *,
    patience: int = PATIENCE,
    may_move: Iterable[int] | None = None,
) -> Starts:
    """Improve `starts`, and never worsen them, until `bound`, the time limit, or `patience` moves without an improvement.

    `may_move`: the tasks that may change their places on their machines; None: all.
    """
    if workload.ends(starts) <= bound or not budget.left:
        return starts
    order, barred, counts = _order(workload, starts, may_move), ints(repeat(0, _ORDERS)), _counts(workload, starts, budget.seed)
    # The first moves are made even if compiling has used up the time.
    while _search(order, barred, counts, workload.begun_until, AT_ONCE, patience) and counts[_ENDS] > bound and budget.left:
        pass
    return [int(start) for start in order[_BEST][: len(starts)]]


def restored(workload: Workload, starts: Starts, promised: Starts, budget: Budget, latest: int) -> Starts:
    """Put neighbours on a machine back into the order that was promised wherever the last task still ends by `latest`."""
    order, wanted = _order(workload, starts, None), ints(promised)
    while budget.left and _restore(order, wanted, max(latest, workload.begun_until)):
        pass
    return [int(start) for start in order[_HEAD][: len(starts)]]


@compiled
def _restore(order: Table, promised: Ints, latest: int) -> int:
    """Go through all tasks once. Returns how many pairs were exchanged."""
    none, exchanged = len(order[0]) - 1, 0
    for first in range(none):
        second = order[_LATER][first]
        if second == none or promised[second] >= promised[first] or _waits_for(order, second, order[_AFTER][first]):
            continue
        _move(order, first, second, 1)
        if _longest(order) > latest:
            _move(order, second, first, 1)
        else:
            exchanged += 1
    return exchanged


def _counts(workload: Workload, starts: Starts, seed: int) -> Ints:
    machines = max(1, len(workload.on_machine))
    counts = [0] * _COUNTS
    counts[_ENDS], counts[_RANDOM] = workload.ends(starts), seed
    counts[_HELD] = _TENURE + len(starts) // (machines * machines)
    return ints(counts)


def _order(workload: Workload, starts: Starts, may_move: Iterable[int] | None) -> Table:
    tasks, none = workload.tasks, len(workload.tasks)
    before = [place - 1 if follows else none for place, follows in enumerate(workload.follows)]
    after = [place + 1 if place + 1 < none and workload.follows[place + 1] else none for place in range(none)]
    sequence = workload.sequence(starts)
    earlier, later, rank, position = [none] * none, [none] * none, [0] * none, [0] * none
    last: dict[int, int] = {}
    for place, n in enumerate(sequence):
        position[n] = place
        earlier[n] = last.get(tasks[n].machine, none)
        if earlier[n] != none:
            later[earlier[n]] = n
            rank[n] = rank[earlier[n]] + 1
        last[tasks[n].machine] = n
    free = range(none) if may_move is None else set(may_move)
    durations = (task.duration for task in tasks)
    releases = (task.release for task in tasks)
    fixed = (int(n not in free) for n in range(none))
    links = (before, after, earlier, later, rank, sequence, position)
    rows = [*map(list, (durations, releases, fixed, *links, range(0), range(0), starts))]
    rows += [[] for _ in range(_ROWS - len(rows))]
    order = table([[*row, *[0] * (none + 1 - len(row))] for row in rows])
    _time_heads(order, 0)
    _time_tails(order, none - 1)
    return order


@compiled
def _search(order: Table, barred: Ints, counts: Ints, begun_until: int, steps: int, patience: int) -> bool:
    """Make at most this many moves. Returns False if no move is left, or none has helped for long."""
    ends = max(_longest(order), begun_until)
    for _ in range(steps):
        if ends <= begun_until or not _choose(order, barred, counts):
            return False
        counts[_MOVES] += 1
        counts[_STALE] += 1
        size = _fill(order, counts[_FIRST], counts[_LAST], counts[_FORWARDS])
        _bar(order, barred, counts, size, counts[_FORWARDS])
        _move(order, counts[_FIRST], counts[_LAST], counts[_FORWARDS])
        ends = max(_longest(order), begun_until)
        if ends < counts[_ENDS]:
            counts[_ENDS], counts[_STALE] = ends, 0
            for n in range(len(order[0])):
                order[_BEST][n] = order[_HEAD][n]
        if counts[_STALE] >= patience:
            return False
    return True


@compiled
def _draw(counts: Ints, below: int) -> int:
    """Draw a random number, 0 or more."""
    counts[_RANDOM] = (counts[_RANDOM] * 1_103_515_245 + 12_345) % (1 << 31)
    return (counts[_RANDOM] >> 8) % below


# -- choosing a move -------------------------------------------------------------------------------------------------


@compiled
def _choose(order: Table, barred: Ints, counts: Ints) -> bool:
    """Choose the best move that is allowed; otherwise any. Returns False if there is none."""
    counts[_LEAST], counts[_TIES] = 2 * _FAR, 0
    path, length, begin = order[_PATH], _critical_path(order, counts), 0
    _look_up(order, length)
    for end in range(length):
        if end + 1 < length and order[_EARLIER][path[end + 1]] == path[end]:
            continue
        for at in range(begin + 1, end + 1):
            if not _offer(order, barred, counts, begin, at, 1):
                break  # nor can it go any further
        for at in range(end - 1, begin, -1):
            if not _offer(order, barred, counts, at, end, 0):
                break
        for at in range(begin + 2, end + 1):
            _offer(order, barred, counts, begin, at, 0)
        for at in range(begin + 1, end - 1):
            _offer(order, barred, counts, at, end, 1)
        begin = end + 1
    return counts[_TIES] > 0


@compiled
def _look_up(order: Table, length: int) -> None:
    """Put what estimates need of the tasks of the critical path next to one another."""
    head, tail, duration, before, after = order[_HEAD], order[_TAIL], order[_DURATION], order[_BEFORE], order[_AFTER]
    for at in range(length):
        n = order[_PATH][at]
        order[_ARRIVES][at] = max(head[before[n]] + duration[before[n]], order[_RELEASE][n])
        order[_TAKES][at] = duration[n]
        order[_REMAINS][at] = tail[after[n]]
        order[_STAYS][at + 1] = order[_STAYS][at] + order[_FIXED][n]


@compiled
def _offer(order: Table, barred: Ints, counts: Ints, low: int, high: int, forwards: int) -> bool:
    """Choose this move if it is better than the one chosen so far. Returns False if it is found to be impossible.

    A move is told by places on the critical path: the task at the lower one goes behind the one at the higher one (forwards),
    or that one ahead of it. Most moves are no better: only of the others is it asked whether they are barred, or close a circle,
    which takes much longer.
    """
    if order[_STAYS][high + 1] != order[_STAYS][low]:
        return False
    ends = _estimate(order, low, high, forwards, counts[_LEAST])
    if ends <= counts[_LEAST] and _is_barred(order, barred, counts, low, high, forwards):
        ends = _FAR
    if ends > counts[_LEAST]:
        return True
    first, last = order[_PATH][low], order[_PATH][high]
    before, after = (order[_AFTER][first], last) if forwards else (first, order[_BEFORE][last])
    if _waits_for(order, after, before):
        return False
    if ends < counts[_LEAST]:
        counts[_LEAST], counts[_TIES] = ends, 0
    counts[_TIES] += 1
    if _draw(counts, counts[_TIES]) == 0:
        counts[_FIRST], counts[_LAST], counts[_FORWARDS] = first, last, forwards
    return True


@compiled
def _waits_for(order: Table, task: int, other: int) -> bool:
    """Tell whether `task` is `other` or comes after it, by way of jobs and machines. Neither may exist."""
    none = len(order[0]) - 1
    if task == none or other == none:
        return False
    if task == other:
        return True
    begin, end = order[_POSITION][other], order[_POSITION][task]
    took, head, tail = order[_DURATION][other], order[_HEAD], order[_TAIL]
    if begin > end or head[task] < head[other] + took or tail[other] < took + tail[task]:
        return False
    order[_MARKS][other] = 1
    for at in range(begin + 1, end + 1):
        n = order[_SEQUENCE][at]
        order[_MARKS][n] = order[_MARKS][order[_BEFORE][n]] or order[_MARKS][order[_EARLIER][n]]
    found = order[_MARKS][task] == 1
    for at in range(begin, end + 1):
        order[_MARKS][order[_SEQUENCE][at]] = 0
    return found


@compiled
def _is_barred(order: Table, barred: Ints, counts: Ints, low: int, high: int, forwards: int) -> bool:
    """Tell whether a move restores an order of two tasks that is barred."""
    path, now = order[_PATH], counts[_MOVES]
    for at in range(low, high):
        pair = _pair(path[at + 1], path[low]) if forwards else _pair(path[high], path[at])
        if barred[pair] > now:
            return True
    return False


@compiled
def _pair(first: int, second: int) -> int:
    return (first * 1_000_003 + second * 7919) % _ORDERS


@compiled
def _estimate(order: Table, low: int, high: int, forwards: int, least: int) -> int:
    """Return about how long the longest path through the moved tasks would be, or anything above `least`."""
    arrives, takes, remains, begins = order[_ARRIVES], order[_TAKES], order[_REMAINS], order[_BEGINS]
    earlier, later = order[_EARLIER][order[_PATH][low]], order[_LATER][order[_PATH][high]]
    free, moved = order[_HEAD][earlier] + order[_DURATION][earlier], low if forwards else high
    begin, end = (low + 1, high + 1) if forwards else (low, high)
    if not forwards:
        begins[moved] = max(free, arrives[moved])
        free = begins[moved] + takes[moved]
        if free + remains[moved] > least:
            return least + 1
    for at in range(begin, end):
        begins[at] = max(free, arrives[at])
        free = begins[at] + takes[at]
        if free + remains[at] > least:
            return least + 1
    rest, ends = order[_TAIL][later], 0
    if forwards:
        begins[moved] = max(free, arrives[moved])
        rest = max(rest, remains[moved]) + takes[moved]
        ends = begins[moved] + rest
    for at in range(end - 1, begin - 1, -1):
        if ends > least:
            break
        rest = max(rest, remains[at]) + takes[at]
        ends = max(ends, begins[at] + rest)
    return ends if forwards else max(ends, begins[moved] + max(rest, remains[moved]) + takes[moved])


@compiled
def _critical_path(order: Table, counts: Ints) -> int:
    """Return how many tasks are on a critical path, drawn among all."""
    none, longest = len(order[0]) - 1, _longest(order)
    here, ties = none, 0
    for n in range(none):
        if order[_HEAD][n] == order[_RELEASE][n] and order[_HEAD][n] + order[_TAIL][n] == longest:
            ties += 1
            if _draw(counts, ties) == 0:
                here = n
    length = 0
    while here != none:
        order[_PATH][length] = here
        length += 1
        ends = order[_HEAD][here] + order[_DURATION][here]
        on_machine, in_job = order[_LATER][here], order[_AFTER][here]
        is_critical = on_machine != none and order[_HEAD][on_machine] == ends and ends + order[_TAIL][on_machine] == longest
        also_job = in_job != none and order[_HEAD][in_job] == ends and ends + order[_TAIL][in_job] == longest
        here = none
        if is_critical and not (also_job and _draw(counts, 2)):
            here = on_machine
        elif also_job:
            here = in_job
    return length


# -- making it -------------------------------------------------------------------------------------------------------


@compiled
def _fill(order: Table, first: int, last: int, forwards: int) -> int:
    """Fill the row with the tasks from `first` to `last` as a move leaves them. Returns how many."""
    row, later = order[_ROW], order[_LATER]
    n, size = later[first] if forwards else first, 0
    if not forwards:
        row[0], size = last, 1
    while n != last:
        row[size] = n
        size += 1
        n = later[n]
    if forwards:
        row[size], row[size + 1] = last, first
        size += 2
    return size


@compiled
def _bar(order: Table, barred: Ints, counts: Ints, size: int, forwards: int) -> None:
    """Bar the orders of two tasks that the move, of which the row is the result, ends."""
    row, until = order[_ROW], counts[_MOVES] + counts[_HELD] + _draw(counts, counts[_HELD] // 2 + 1)
    for at in range(size - 1):
        barred[_pair(row[size - 1], row[at]) if forwards else _pair(row[at + 1], row[0])] = until


@compiled
def _move(order: Table, first: int, last: int, forwards: int) -> None:
    """Make a move; all heads and tails are updated."""
    none, size = len(order[0]) - 1, _fill(order, first, last, forwards)
    previous, following, rank = order[_EARLIER][first], order[_LATER][last], order[_RANK][first]
    begin, end = order[_POSITION][first], order[_POSITION][last]
    for at in range(size):
        n = order[_ROW][at]
        order[_RANK][n] = rank + at
        order[_EARLIER][n] = previous
        if previous != none:
            order[_LATER][previous] = n
        previous = n
    order[_LATER][previous] = following
    if following != none:
        order[_EARLIER][following] = previous
    if forwards:
        _put_in_order(order, first, end, order[_BEFORE], order[_EARLIER])
    else:
        _put_in_order(order, last, begin, order[_AFTER], order[_LATER])
    _time_heads(order, begin)
    _time_tails(order, end)


@compiled
def _put_in_order(order: Table, moved: int, end: int, in_job: Ints, on_machine: Ints) -> None:
    """Move `moved`, and every task up to `end` that depends on it by these links, behind all others up to there."""
    place = order[_POSITION][moved]
    step = 1 if place < end else -1
    behind = 0
    for at in range(place, end + step, step):
        n = order[_SEQUENCE][at]
        if n == moved or order[_MARKS][in_job[n]] or order[_MARKS][on_machine[n]]:
            order[_MARKS][n] = 1
            order[_PATH][behind] = n
            behind += 1
        else:
            order[_SEQUENCE][place] = n
            order[_POSITION][n] = place
            place += step
    for at in range(behind):
        n = order[_PATH][at]
        order[_MARKS][n] = 0
        order[_SEQUENCE][place + at * step] = n
        order[_POSITION][n] = place + at * step


@compiled
def _time_heads(order: Table, begin: int) -> None:
    head, duration, before, earlier, release = order[_HEAD], order[_DURATION], order[_BEFORE], order[_EARLIER], order[_RELEASE]
    for at in range(begin, len(order[0]) - 1):
        n = order[_SEQUENCE][at]
        job, machine = before[n], earlier[n]
        head[n] = max(head[job] + duration[job], head[machine] + duration[machine], release[n])


@compiled
def _time_tails(order: Table, end: int) -> None:
    tail, after, later = order[_TAIL], order[_AFTER], order[_LATER]
    for at in range(end, -1, -1):
        n = order[_SEQUENCE][at]
        tail[n] = max(tail[after[n]], tail[later[n]]) + order[_DURATION][n]


@compiled
def _longest(order: Table) -> int:
    ends = 0
    for n in range(len(order[0]) - 1):
        ends = max(ends, order[_HEAD][n] + order[_DURATION][n])
    return ends
