"""Jobs: the steps of each job are all there, one after another. Windows share the step on their border."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from sagagraph.domains.job_shop.rules.case import Row, named
from sagagraph.validators.concern import Concern, windows
from sagagraph.validators.kinds import Kind
from sagagraph.validators.verdict import Violation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sagagraph.domains.job_shop.rules.case import Case


class JobView(Struct, frozen=True):
    before: Row | None
    """The step before these; None: the job begins with them."""
    rows: tuple[Row, ...]


class Known(Struct, frozen=True, array_like=True):
    """A step of the problem. `is_told`: a row is about it, or seems to be."""

    job: int
    step: int
    is_told: bool


class MissingView(Struct, frozen=True):
    steps: tuple[Known, ...]
    excused: int
    """How many missing steps among these may be what rows that stand for no step are about: they are reported themselves."""


def _scopes(case: Case) -> Iterator[tuple[str, JobView]]:
    for job, rows in case.jobs.items():
        before: Row | None = None
        for window in windows(rows):
            yield named(f"job {job}", window), JobView(before, tuple(window))
            before = window[-1]


def _check(view: JobView) -> Iterator[Violation]:
    before = view.before
    for row in view.rows:
        if before is not None and row.start < before.end:
            yield row.breaks("ORDER", f"begins before {before} ends", after=before.scope, ends=before.end)
        before = row


def _missing_scopes(case: Case) -> Iterator[tuple[str, MissingView]]:
    about = {each.of for each in case.plan.illegible}
    known = sorted((job, number) for job, number, _step in case.problem.numbered())
    known_keys = set(known)
    strange = sum(each.of not in known_keys for each in case.plan.illegible)
    strange += sum((slot.job, slot.step) not in known_keys for slot in case.plan.slots.values())
    for window in windows(Known(*key, key in case.rows or key in about) for key in known):
        first, last = window[0], window[-1]
        yield f"job {first.job}, step {first.step} to job {last.job}, step {last.step}", MissingView(tuple(window), strange)
        strange = max(0, strange - sum(not each.is_told for each in window))


def _check_missing(view: MissingView) -> Iterator[Violation]:
    missing = [each for each in view.steps if not each.is_told]
    for each in missing[view.excused :]:
        message = f"job {each.job}, step {each.step} is not in the schedule"
        yield Violation(code="MISSING_TASK", message=message, scope={"job": each.job, "step": each.step})


JOBS = Concern("job", Kind.DEPENDENCY, JobView, _scopes, _check)
MISSING = Concern("missing steps", Kind.RETENTION, MissingView, _missing_scopes, _check_missing)
