"""Parsing: schedules and events from JSON. Events must be right; of a schedule, what is readable is kept and the rest is
named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import TypeAdapter, ValidationError

from sagagraph.domains.job_shop.request import (
    KINDS,
    DurationChanged,
    Event,
    JobAdded,
    JobCancelled,
    JobShop,
    Moment,
    Redo,
    Slot,
    grown,
)
from sagagraph.errors import InvalidInputError
from sagagraph.validators.complaints import in_words, shown

_KINDS: Final = " or ".join(f'"{kind}"' for kind in KINDS)
_MOMENT: Final = TypeAdapter[int](Moment)


@dataclass(frozen=True, slots=True)
class Illegible:
    """Row that cannot be read. `of`: the job and step that it is about, if it says so."""

    index: int
    fault: str
    of: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class ParsedSchedule:
    """Schedule as read: `slots` by their index in the file. `fault`: why there are none, if the value is not even a list
    of rows.
    """

    slots: Mapping[int, Slot]
    illegible: tuple[Illegible, ...] = ()
    fault: str = ""


def parse_schedule(value: object) -> ParsedSchedule:
    """Parse a schedule. `value`: a list of rows, or what `jobshop solve` prints, with such a list as its `schedule`."""
    listed = value.get("schedule") if isinstance(value, Mapping) else value
    if listed is None:
        return ParsedSchedule({}, fault="schedule: is missing")
    if not isinstance(listed, list):
        return ParsedSchedule({}, fault=f"a schedule is a list of steps, not {shown(listed)}")
    slots: dict[int, Slot] = {}
    illegible: list[Illegible] = []
    for index, said in enumerate(listed):
        try:
            slots[index] = Slot.model_validate(said)
        except ValidationError as exc:
            fault = "; ".join(f"{field}: {message}".removeprefix(": ") for field, message in in_words(exc))
            job, step = (said.get("job"), said.get("step")) if isinstance(said, Mapping) else (None, None)
            of = (job, step) if type(job) is int and type(step) is int else None
            illegible.append(Illegible(index, fault, of))
    return ParsedSchedule(slots, tuple(illegible))


def parse_events(problem: JobShop, *files: object) -> tuple[Event, ...]:
    """Parse what became known, in the order of `at`. Each file holds an event or a list of them.

    Raises:
        InvalidInputError: the first fault, in one line that names the event (counted over all files) and its field.
    """
    listed = [each for file in files for each in (file if isinstance(file, list) else [file])]
    fields = {number: f"events[{number}]" for number in range(len(listed))}
    events = sorted(((_parse_event(said, fields[n]), n) for n, said in enumerate(listed)), key=lambda each: (each[0].at, each[1]))
    for place, (event, number) in enumerate(events):
        _check_names(grown(problem, (each for each, _n in events[:place])), event, fields[number])
    return tuple(event for event, _number in events)


def parse_moment_said(text: str, field: str) -> int:
    """Parse a moment in the arguments of a command. Raises `InvalidInputError`."""
    try:
        return _MOMENT.validate_python(
            int(text) if text.isascii() and text.removeprefix("-").isdigit() and len(text) < 19 else text
        )
    except ValidationError as exc:
        raise InvalidInputError(in_words(exc)[0][1], field=field) from exc


def check_legible(parsed: ParsedSchedule, field: str) -> None:
    """Raise `InvalidInputError` if something of it cannot be read."""
    if parsed.fault:
        raise InvalidInputError(parsed.fault, field=field)
    for each in parsed.illegible:
        raise InvalidInputError(f"row {each.index} cannot be read: {each.fault}", field=field)


def _parse_event(said: object, field: str) -> Event:
    if not isinstance(said, Mapping):
        raise InvalidInputError(f"an event is a JSON object, not {shown(said)}", field=field)
    kind = said.get("event")
    if not isinstance(kind, str) or kind not in KINDS:
        what = "is missing" if kind is None else f"must be {_KINDS}, not {shown(kind)}"
        raise InvalidInputError(what, field=f"{field}.event")
    try:
        return KINDS[kind].model_validate(said)
    except ValidationError as exc:
        name, message = in_words(exc)[0]
        raise InvalidInputError(message, field=f"{field}.{name}") from exc


def _check_names(problem: JobShop, event: Event, field: str) -> None:
    """Check that the jobs, steps and machines exist when it happens."""
    if isinstance(event, DurationChanged | JobCancelled | Redo):
        if not 1 <= event.job <= len(problem.jobs):
            raise InvalidInputError(f"there is no job {event.job}; there are 1 to {len(problem.jobs)}", field=f"{field}.job")
        if isinstance(event, DurationChanged | Redo) and problem.step(event.job, event.step) is None:
            message = f"job {event.job} has no step {event.step}; it has 1 to {len(problem.jobs[event.job - 1])}"
            raise InvalidInputError(message, field=f"{field}.step")
        return
    if isinstance(event, JobAdded):
        named = {f"{field}.steps[{place}]": machine for place, (machine, _duration) in enumerate(event.steps)}
    else:
        named = {f"{field}.machine": event.machine}
    for where, machine in named.items():
        if machine not in problem.machines:
            message = f"there is no machine {machine}; there are {problem.machines[0]} to {problem.machines[-1]}"
            raise InvalidInputError(message, field=where)
