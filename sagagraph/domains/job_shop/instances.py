"""Job shops from files: the standard format, Taillard's, and REALM-Bench's JSON (docs/jobshop.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sagagraph.domains.job_shop.request import LONGEST, MOST_STEPS, JobShop, Step
from sagagraph.errors import InvalidInputError
from sagagraph.validators.complaints import in_words, shown

FIELD: Final = "FILE"
_WHOLE: Final = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    words: tuple[str, ...]

    @property
    def is_title(self) -> bool:
        return bool(re.match("[A-Za-z]", self.words[0]))

    def wrong(self, message: str) -> NoReturn:
        raise InvalidInputError(f"line {self.number}: {message}", field=FIELD)

    def numbers(self, about: str) -> tuple[int, ...]:
        for word in self.words:
            if not _WHOLE.fullmatch(word):
                self.wrong(f"{about}: {shown(word)} is not a whole number, 0 or more")
        return tuple(int(word) for word in self.words)


def parse_problem(text: str) -> JobShop:
    """Parse an instance.

    Raises:
        InvalidInputError: the first fault, in one line that names the line, or in JSON the field.
    """
    if text.lstrip().startswith("{"):
        return _realm(text)
    listed = ((number, line.split("#")[0].split()) for number, line in enumerate(text.splitlines(), start=1))
    lines = [_Line(number, tuple(words)) for number, words in listed if words]
    if not lines:
        raise InvalidInputError("is empty", field=FIELD)
    return _taillard(lines) if any(line.is_title for line in lines) else _standard(lines)


def _standard(lines: Sequence[_Line]) -> JobShop:
    """Read `n m`, then a line for each job: pairs of machine (from 0) and duration."""
    jobs, machines = _size(lines[0], exactly=True)
    steps: list[tuple[Step, ...]] = []
    for job, line in enumerate(_rows(lines[1:], jobs, lines[0], "there"), start=1):
        numbers = line.numbers(f"job {job}")
        if len(numbers) % 2:
            line.wrong(f"job {job}: pairs of machine and duration are an even number of numbers, not {len(numbers)}")
        steps.append(_steps(line, line, job, numbers[::2], numbers[1::2], range(machines)))
    return JobShop(tuple(steps), range(machines))


def _taillard(lines: Sequence[_Line]) -> JobShop:
    """Read a line with numbers of jobs and machines, then `Times` and `Machines` (from 1), with a line for each job."""
    head = next((line for line in lines if not line.is_title), None)
    if head is None:
        lines[-1].wrong("the numbers of jobs and machines are missing")
    jobs, machines = _size(head, exactly=False)
    rest = list(lines[lines.index(head) + 1 :])
    times, rest = _block(rest, "times", jobs, head)
    places, rest = _block(rest, "machines", jobs, head)
    if rest:
        rest[0].wrong("there is something behind the last job; one instance a file")
    known = range(1, machines + 1)
    both = enumerate(zip(times, places, strict=True), start=1)
    steps = (
        _steps(place, time, job, place.numbers(f"job {job}"), time.numbers(f"job {job}"), known) for job, (time, place) in both
    )
    return JobShop(tuple(steps), known)


def _block(lines: list[_Line], title: str, jobs: int, head: _Line) -> tuple[list[_Line], list[_Line]]:
    """Return the lines under a title, and those after them."""
    shown = repr(title.capitalize())
    if not lines:
        head.wrong(f"the line {shown} does not follow")
    if lines[0].words[0].lower().rstrip(":") != title:
        lines[0].wrong(f"the line {shown} is missing before this one")
    count = next((number for number, line in enumerate(lines[1:]) if line.is_title), len(lines) - 1)
    if title == "machines" and count > jobs:
        count = jobs
    return _rows(lines[1 : count + 1], jobs, head, f"under {shown}"), lines[count + 1 :]


def _size(line: _Line, *, exactly: bool) -> tuple[int, int]:
    numbers = line.numbers("the numbers of jobs and machines")
    if len(numbers) < 2 or (exactly and len(numbers) > 2):
        line.wrong(f"the numbers of jobs and machines are two, not {len(numbers)}")
    jobs, machines = numbers[:2]
    if not jobs or not machines:
        line.wrong("there is at least one job and one machine")
    if max(jobs, machines) > MOST_STEPS:
        line.wrong(f"there are at most {MOST_STEPS} jobs and machines, not {max(jobs, machines)}")
    return jobs, machines


def _rows(lines: Sequence[_Line], jobs: int, head: _Line, where: str) -> list[_Line]:
    if len(lines) < jobs:
        last = lines[-1] if lines else head
        last.wrong(f"the jobs {where} end after {len(lines)} of the {jobs} that line {head.number} states")
    if len(lines) > jobs:
        lines[jobs].wrong(f"{where} are more jobs than the {jobs} that line {head.number} states")
    if sum(len(line.words) for line in lines) > 2 * MOST_STEPS:
        raise InvalidInputError(f"has more than {MOST_STEPS} steps", field=FIELD)
    return list(lines)


def _steps(
    at_machines: _Line, at_times: _Line, job: int, places: Sequence[int], times: Sequence[int], machines: range
) -> tuple[Step, ...]:
    if len(places) != len(times):
        at_machines.wrong(f"job {job}: {len(places)} machines for the {len(times)} times of line {at_times.number}")
    for step, (machine, duration) in enumerate(zip(places, times, strict=True), start=1):
        if machine not in machines:
            at_machines.wrong(f"job {job}, step {step}: there is no machine {machine}; there are {machines[0]} to {machines[-1]}")
        if duration > LONGEST:
            at_times.wrong(f"job {job}, step {step}: the duration {duration} is more than {LONGEST}")
    return tuple(Step(*each) for each in zip(places, times, strict=True))


# -- REALM-Bench -----------------------------------------------------------------------------------------------------


class _Operation(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    operation: int
    machine: int
    processing_time: Annotated[int, Field(ge=0, le=LONGEST)]


class _Instance(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    num_jobs: int
    num_machines: Annotated[int, Field(ge=1, le=MOST_STEPS)]
    processing_times: Annotated[list[Annotated[list[_Operation], Field(min_length=1)]], Field(min_length=1)]


def _realm(text: str) -> JobShop:
    try:
        read = _Instance.model_validate(json.loads(text))
    except ValidationError as exc:
        field, message = in_words(exc)[0]
        raise InvalidInputError(message, field=field) from exc
    except (ValueError, RecursionError) as exc:
        raise InvalidInputError(f"is not JSON: {exc}", field=FIELD) from exc
    if len(read.processing_times) != read.num_jobs:
        raise InvalidInputError(f"is {read.num_jobs}, and there are {len(read.processing_times)} jobs", field="num_jobs")
    if sum(len(job) for job in read.processing_times) > MOST_STEPS:
        raise InvalidInputError(f"has more than {MOST_STEPS} steps", field=FIELD)
    machines = range(1, read.num_machines + 1)
    for job, steps in enumerate(read.processing_times):
        for number, step in enumerate(steps, start=1):
            field = f"processing_times[{job}][{number - 1}]"
            if step.operation != number:
                raise InvalidInputError(f"is {step.operation}, and in its place is number {number}", field=f"{field}.operation")
            if step.machine not in machines:
                message = f"there is no machine {step.machine}; there are 1 to {read.num_machines}"
                raise InvalidInputError(message, field=f"{field}.machine")
    jobs = (tuple(Step(each.machine, each.processing_time) for each in job) for job in read.processing_times)
    return JobShop(tuple(jobs), machines)
