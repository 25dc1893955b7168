"""Completeness: rows must be readable and name existing steps, and every step must be there once."""

from __future__ import annotations

from collections.abc import Iterator

from sagagraph.validators.verdict import Violation
from tests.domains.job_shop.oracle.case import Case


def check_readable(case: Case) -> Iterator[Violation]:
    if case.plan.fault:
        yield Violation(code="MALFORMED", message=case.plan.fault, scope={"field": "schedule"})
    for each in case.plan.illegible:
        message = f"row {each.index} cannot be read: {each.fault}"
        yield Violation(code="MALFORMED", message=message, scope={"row": each.index})


def check_names(case: Case) -> Iterator[Violation]:
    for index, slot in case.plan.slots.items():
        scope = {"job": slot.job, "step": slot.step, "machine": slot.machine, "row": index}
        step = case.problem.step(slot.job, slot.step)
        if step is None:
            message = f"row {index}: there is no job {slot.job} with a step {slot.step}"
            yield Violation(code="UNKNOWN_REFERENCE", message=message, scope=scope)
        elif slot.machine not in case.problem.machines:
            message = f"row {index}: there is no machine {slot.machine}"
            yield Violation(code="UNKNOWN_REFERENCE", message=message, scope=scope)
        elif slot.machine != step.machine:
            message = f"job {slot.job}, step {slot.step} is for machine {step.machine}, not {slot.machine}"
            evidence = {"stated": slot.machine, "needed": step.machine}
            yield Violation(code="NOT_ALLOWED", message=message, scope=scope, evidence=evidence)


def check_once(case: Case) -> Iterator[Violation]:
    for index, slot in case.plan.slots.items():
        first = case.rows.get((slot.job, slot.step))
        if first is not None and first.index != index:
            message = f"row {index}: {first} is there already, in row {first.index}"
            yield Violation(code="REPEATED_TASK", message=message, scope={**first.scope, "row": index})


def check_missing(case: Case) -> Iterator[Violation]:
    """Check for missing steps. A row that stands for no step is reported as that, and excuses one missing step."""
    excused = {each.of for each in case.plan.illegible}
    known = {(job, number) for job, number, _step in case.problem.numbered()}
    strange = sum(each.of not in known for each in case.plan.illegible)
    strange += sum((slot.job, slot.step) not in known for slot in case.plan.slots.values())
    missing = [key for key in sorted(known) if key not in case.rows and key not in excused and case.is_needed(*key)]
    for job, step in missing[strange:]:
        yield Violation(
            code="MISSING_TASK", message=f"job {job}, step {step} is not in the schedule", scope={"job": job, "step": step}
        )
