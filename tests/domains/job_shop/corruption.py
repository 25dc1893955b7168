"""One operator or more for each code: it breaks exactly that rule of a schedule that was right."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from sagagraph.domains.job_shop.request import JobShop, Step
from tests.domains.job_shop.shops import Json


@dataclass
class Corrupted:
    """`at`: the rows at which the code is expected; None where it is at none."""

    problem: JobShop
    rows: list[Any]
    at: list[int | None]
    events: list[Json] = field(default_factory=list)
    against: list[Json] | None = None
    until: int | None = None


Operator = Callable[[JobShop, list[Json], Random], Corrupted | None]
"""None: this schedule offers no place for it."""


def _ends(rows: list[Json]) -> int:
    return max(row["end"] for row in rows)


def without_a_field(problem: JobShop, rows: list[Json], rng: Random) -> Corrupted:
    n = rng.randrange(len(rows))
    del rows[n][rng.choice(["job", "step", "machine", "start", "end"])]
    return Corrupted(problem, rows, [n])


def of_another_type(problem: JobShop, rows: list[Json], rng: Random) -> Corrupted:
    n = rng.randrange(len(rows))
    rows[n][rng.choice(["job", "step", "machine", "start", "end"])] = rng.choice(["1", 1.5, None, True, [], {}, -1.0])
    return Corrupted(problem, rows, [n])


def backwards(problem: JobShop, rows: list[Json], rng: Random) -> Corrupted:
    n = rng.randrange(len(rows))
    rows[n]["start"], rows[n]["end"] = rows[n]["end"], rows[n]["start"]
    return Corrupted(problem, rows, [n])


def before_the_beginning(problem: JobShop, rows: list[Json], rng: Random) -> Corrupted:
    n = rng.randrange(len(rows))
    rows[n]["start"] = -1
    return Corrupted(problem, rows, [n])


def no_row_at_all(problem: JobShop, rows: list[Json], rng: Random) -> Corrupted:
    n = rng.randrange(len(rows))
    return Corrupted(problem, [*rows[:n], rng.choice([None, "rest", 7, []]), *rows[n + 1 :]], [n])


def of_a_stranger(problem: JobShop, rows: list[Json], rng: Random) -> Corrupted:
    n = rng.randrange(len(rows))
    rows[n][rng.choice(["job", "step", "machine"])] = rng.choice([100_000, -1])
    return Corrupted(problem, rows, [n])


def on_another_machine(problem: JobShop, rows: list[Json], rng: Random) -> Corrupted | None:
    n = rng.randrange(len(rows))
    others = [machine for machine in problem.machines if machine != rows[n]["machine"]]
    rows[n]["machine"] = rng.choice(others)
    return Corrupted(problem, rows, [n])


def twice(problem: JobShop, rows: list[Json], rng: Random) -> Corrupted:
    return Corrupted(problem, [*rows, copy.deepcopy(rng.choice(rows))], [len(rows)])


def left_out(problem: JobShop, rows: list[Json], rng: Random) -> Corrupted:
    del rows[rng.randrange(len(rows))]
    return Corrupted(problem, rows, [None])


def too_short_or_too_long(problem: JobShop, rows: list[Json], rng: Random) -> Corrupted:
    n = rng.randrange(len(rows))
    return Corrupted(_taking(problem, rows[n], rng.choice([-1, 1])), rows, [n])


def _taking(problem: JobShop, row: Json, more: int) -> JobShop:
    jobs = [list(job) for job in problem.jobs]
    step = jobs[row["job"] - 1][row["step"] - 1]
    jobs[row["job"] - 1][row["step"] - 1] = Step(step.machine, step.duration + more)
    return replace(problem, jobs=tuple(tuple(job) for job in jobs))


def of_another_duration_by_now(problem: JobShop, rows: list[Json], rng: Random) -> Corrupted:
    n = rng.randrange(len(rows))
    row = rows[n]
    minutes = row["end"] - row["start"] + rng.choice([-1, 1])
    at = rng.randint(0, row["end"] - 1)
    return Corrupted(
        problem, rows, [n], [{"at": at, "event": "duration", "job": row["job"], "step": row["step"], "minutes": minutes}]
    )


def working_while_its_machine_is_down(problem: JobShop, rows: list[Json], rng: Random) -> Corrupted | None:
    long = [n for n, row in enumerate(rows) if row["end"] - row["start"] > 1]
    if not long:
        return None
    n = rng.choice(long)
    at = rng.randint(rows[n]["start"] + 1, rows[n]["end"] - 1)
    until = rng.choice([None, at + 1]) if rows[n]["end"] == _ends(rows) else at + 1
    later = [row for row in rows if row["machine"] == rows[n]["machine"] and row["start"] >= at]
    until = at + 1 if later else until
    return Corrupted(problem, rows, [n], [{"at": at, "event": "machine_down", "machine": rows[n]["machine"], "until": until}])


def begun_while_its_machine_is_down(problem: JobShop, rows: list[Json], rng: Random) -> Corrupted:
    n = rng.randrange(len(rows))
    at = rows[n]["start"]
    return Corrupted(problem, rows, [n], [{"at": at, "event": "machine_down", "machine": rows[n]["machine"], "until": at + 1}])


def out_of_order(problem: JobShop, rows: list[Json], rng: Random) -> Corrupted | None:
    """A job's first step after all else: its second begins too early."""
    firsts = [n for n, row in enumerate(rows) if row["step"] == 1 and len(problem.jobs[row["job"] - 1]) > 1]
    if not firsts:
        return None
    n, by = rng.choice(firsts), _ends(rows) + rng.randint(0, 3)
    rows[n] = {**rows[n], "start": rows[n]["start"] + by, "end": rows[n]["end"] + by}
    return Corrupted(problem, rows, [n + 1])


def two_at_once(problem: JobShop, rows: list[Json], rng: Random) -> Corrupted | None:
    """The last step of a job when a later one of another job is on its machine, and no third."""
    pairs = [
        (n, m)
        for n, row in enumerate(rows)
        for m, other in enumerate(rows)
        if row["step"] == len(problem.jobs[row["job"] - 1])
        and row["machine"] == other["machine"]
        and row["start"] < other["start"]
        and row["job"] != other["job"]
        and row["end"] - row["start"] <= other["end"] - other["start"]
    ]
    if not pairs:
        return None
    n, m = rng.choice(pairs)
    by = rows[m]["start"] - rows[n]["start"]
    rows[n] = {**rows[n], "start": rows[n]["start"] + by, "end": rows[n]["end"] + by}
    same = rows[n]["end"] == rows[m]["end"]
    return Corrupted(problem, rows, [max(n, m) if same else m])


def another_past(problem: JobShop, rows: list[Json], rng: Random) -> Corrupted:
    """The last step of all a little later, though it had begun."""
    old = copy.deepcopy(rows)
    n = max(range(len(rows)), key=lambda n: (rows[n]["end"], rows[n]["start"]))
    by = rng.randint(1, 5)
    rows[n] = {**rows[n], "start": rows[n]["start"] + by, "end": rows[n]["end"] + by}
    return Corrupted(problem, rows, [n], against=old, until=old[n]["start"] + rng.randint(1, 5))


def begun_in_the_past(problem: JobShop, rows: list[Json], rng: Random) -> Corrupted:
    """A step that was to begin later has begun already."""
    told = another_past(problem, rows, rng)
    assert told.against is not None
    new, old = told.against, told.rows
    n = told.at[0]
    assert n is not None
    return Corrupted(problem, new, [n], against=old, until=rng.randint(new[n]["start"] + 1, old[n]["start"]))


def begun_although_cancelled(problem: JobShop, rows: list[Json], rng: Random) -> Corrupted:
    """The last step of a job, which was cancelled when it began, or after the one before it."""
    n = rng.choice([n for n, row in enumerate(rows) if row["step"] == len(problem.jobs[row["job"] - 1])])
    at = max([0, *(row["start"] + 1 for row in rows if row["job"] == rows[n]["job"] and row["step"] < rows[n]["step"])])
    event = {"at": min(at, rows[n]["start"]), "event": "job_cancelled", "job": rows[n]["job"]}
    return Corrupted(problem, rows, [n], [event])


def begun_before_it_was_known(problem: JobShop, rows: list[Json], rng: Random) -> Corrupted:
    """A job of one step is added, and begins too early, after everything else."""
    at, machine = _ends(rows), rng.choice(problem.machines)
    rows.append({"job": len(problem.jobs) + 1, "step": 1, "machine": machine, "start": at, "end": at + 2})
    return Corrupted(problem, rows, [len(rows) - 1], [{"at": at + 1, "event": "job_added", "steps": [[machine, 2]]}])


def not_done_again(problem: JobShop, rows: list[Json], rng: Random) -> Corrupted:
    """A job goes back to its last step once everything is done."""
    job = rng.randint(1, len(problem.jobs))
    return Corrupted(
        problem, rows, [None], [{"at": _ends(rows), "event": "redo", "job": job, "step": len(problem.jobs[job - 1])}]
    )


def done_again_too_early(problem: JobShop, rows: list[Json], rng: Random) -> Corrupted:
    """A last step is done again after everything else, and before its job goes back."""
    row = rng.choice([row for row in rows if row["step"] == len(problem.jobs[row["job"] - 1])])
    at = _ends(rows)
    rows.append({**row, "start": at, "end": at + row["end"] - row["start"]})
    event = {"at": at + rng.randint(1, 9), "event": "redo", "job": row["job"], "step": row["step"]}
    return Corrupted(problem, rows, [len(rows) - 1], [event])


OPERATORS: Mapping[str, tuple[Operator, ...]] = {
    "MALFORMED": (without_a_field, of_another_type, backwards, before_the_beginning, no_row_at_all),
    "UNKNOWN_REFERENCE": (of_a_stranger,),
    "NOT_ALLOWED": (on_another_machine, begun_although_cancelled),
    "REPEATED_TASK": (twice,),
    "MISSING_TASK": (left_out, not_done_again),
    "DURATION": (too_short_or_too_long, of_another_duration_by_now, working_while_its_machine_is_down),
    "NOT_YET_AVAILABLE": (begun_while_its_machine_is_down, begun_before_it_was_known, done_again_too_early),
    "ORDER": (out_of_order,),
    "OVERLAP": (two_at_once,),
    "PAST_REWRITTEN": (another_past, begun_in_the_past),
}
