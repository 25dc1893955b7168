"""Times: the order of steps, one at a time on a machine, their durations, and what has begun."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from sagagraph.validators.verdict import Violation
from tests.domains.job_shop.oracle.case import Case, Row, rows_of


def check_order(case: Case) -> Iterator[Violation]:
    for rows in case.jobs.values():
        for before, row in pairwise(rows):
            if row.slot.start < before.slot.end:
                yield _violation("ORDER", row, f"begins before {before} ends", after=before.scope, ends=before.slot.end)


def check_machines(case: Case) -> Iterator[Violation]:
    """Check machines. Two simultaneous steps of one job are out of order, and reported as that."""
    for machine, rows in case.machines.items():
        latest: Row | None = None
        for row in rows:
            if latest is not None and row.slot.start < latest.slot.end and row.slot.job != latest.slot.job:
                message = f"begins on machine {machine} while {latest} is on it"
                yield _violation("OVERLAP", row, message, beside=latest.scope, ends=latest.slot.end)
            if latest is None or row.slot.end > latest.slot.end:
                latest = row


def check_machines_there(case: Case) -> Iterator[Violation]:
    for row in case.rows.values():
        stop = case.stop(row.step.machine, row.slot.start)
        if stop is not None:
            down, back = stop
            until = "for ever" if back == float("inf") else f"until {back}"
            message = f"begins while machine {row.step.machine} is down, from {down} {until}"
            yield _violation("NOT_YET_AVAILABLE", row, message, down=down)


def check_durations(case: Case) -> Iterator[Violation]:
    """Check exact durations, without pauses of the machine; a step is over when the last of its work is."""
    for row in case.rows.values():
        needed, end = case.duration(row), row.slot.end
        worked = case.worked(row, end)
        idle = worked == needed and end > row.slot.start and case.worked(row, end - 1) == worked
        if worked != needed or idle:
            message = f"is worked at for {worked}, and takes {needed}" if not idle else f"is over before {end}"
            yield _violation("DURATION", row, message, worked=worked, needed=needed)


def check_orders(case: Case) -> Iterator[Violation]:
    """Check that no step of an added job begins before it is known, and none of a cancelled one afterwards."""
    for (job, _step), row in sorted(case.rows.items()):
        start = row.slot.start
        if start < (known := case.added.get(job, 0)):
            yield _violation("NOT_YET_AVAILABLE", row, f"begins before its job is known, at {known}", known=known)
        cancelled = case.cancelled.get(job)
        if cancelled is not None and start >= cancelled:
            message = f"begins although its job was cancelled at {cancelled}"
            yield _violation("NOT_ALLOWED", row, message, cancelled=cancelled)


def check_past(case: Case) -> Iterator[Violation]:
    """Check that what had begun begins when it did, and nothing else begins in the past."""
    if case.history is None:
        return
    until = case.history.until
    for key, old in rows_of(case.problem, case.history.old).items():
        row, was = case.rows.get(key), old.slot.start
        if row is None or row.slot.start == was or min(row.slot.start, was) >= until:
            continue
        told = f"began at {was}, before {until}, and stands" if was < until else f"had not begun before {until}"
        yield _violation("PAST_REWRITTEN", row, told, began=was, until=until)


def _violation(code: str, row: Row, message: str, **evidence: Any) -> Violation:
    slot = {"start": row.slot.start, "end": row.slot.end}
    return Violation(code=code, message=f"{row} {message}", scope=row.scope, evidence={**slot, **evidence})
