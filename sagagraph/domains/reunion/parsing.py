"""Parsing: problems, events and plans from JSON. A problem must be valid; of a plan, what is readable is kept, and the rest is
named.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import TypeAdapter, ValidationError

from sagagraph.domains.reunion.events import EVENTS, Added, Event
from sagagraph.domains.reunion.plan import Act, Journey, Work
from sagagraph.domains.reunion.request import ReunionProblem, moments_in, names_in
from sagagraph.domains.reunion.times import Moment, is_dated
from sagagraph.errors import InvalidInputError
from sagagraph.validators.complaints import in_words, shown

_FIELD: Final = re.compile(r"[a-z_]+(\[\d+\])?(\.[a-z_]+(\[\d+\])?)*(?=: )")
"""How models' messages begin that name a field themselves."""
_ACTS: Final[Mapping[object, type[Journey | Work]]] = {"travel": Journey, "task": Work}
_KINDS: Final = ("travel_factor", "delayed", "cancelled", "added", "vehicle_down", "road_closed", "may_reroute")
_MOMENT: Final = TypeAdapter[int](Moment)


@dataclass(frozen=True, slots=True)
class Broken:
    """Action that cannot be read."""

    index: int
    faults: tuple[tuple[str, str], ...]
    """(field, message)"""
    said: object
    """The value as given."""


@dataclass(frozen=True, slots=True)
class ParsedPlan:
    """Plan as read: `actions` by index in the file. `fault`: why there are none, if the value is not even a list of actions."""

    actions: Mapping[int, Act]
    broken: tuple[Broken, ...] = ()
    fault: str = ""


def parse_problem(value: object) -> ReunionProblem:
    """Parse a problem.

    Raises:
        InvalidInputError: the first fault, in one line that names the field.
    """
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"must be a JSON object, not {shown(value)}", field="problem")
    try:
        return ReunionProblem.model_validate(value)
    except ValidationError as exc:
        field, message = _first_of(exc)
        raise InvalidInputError(message, field=field or "problem") from exc


def parse_moment_of(problem: ReunionProblem, value: object, field: str) -> int:
    """Parse a moment of the same kind as the problem's. Raises `InvalidInputError`."""
    try:
        moment = _MOMENT.validate_python(value)
    except ValidationError as exc:
        raise InvalidInputError(in_words(exc)[0][1], field=field) from exc
    _check_kind(problem.is_dated, moment, field)
    return moment


def parse_events(problem: ReunionProblem, *files: object) -> tuple[Event, ...]:
    """Parse what became known, in the order of `at`. Each file holds an event or a list of them.

    Raises:
        InvalidInputError: the first fault, in one line that names the event (counted over all files) and its field.
    """
    listed = [each for file in files for each in (file if isinstance(file, list) else [file])]
    try:
        events = EVENTS.validate_python(listed)
    except ValidationError as exc:
        field, message = _first_of(exc)
        raise InvalidInputError(message, field=f"events{field}") from exc
    numbered = sorted(enumerate(events), key=lambda each: each[1].at)
    people = {person.name for person in problem.people}
    for number, event in numbered:
        _check_event(problem, people, event, f"events[{number}]")
        if isinstance(event, Added):
            people.add(event.person.name)
    return tuple(event for _, event in numbered)


def parse_plan(problem: ReunionProblem, value: object) -> ParsedPlan:
    """Parse a plan, whatever `value` is. Fields that no rule needs are ignored, and so is the name of the problem."""
    if not isinstance(value, Mapping):
        return ParsedPlan({}, fault=f"a plan is a JSON object with a list of actions, not {shown(value)}")
    listed = value.get("actions")
    if not isinstance(listed, list):
        what = "is missing" if listed is None else f"must be a list, not {shown(listed)}"
        return ParsedPlan({}, fault=f"actions: {what}")
    actions: dict[int, Act] = {}
    broken: list[Broken] = []
    dated = problem.is_dated
    for index, said in enumerate(listed):
        read = _parse_act(said, dated)
        if isinstance(read, tuple):
            broken.append(Broken(index, read, said))
        else:
            actions[index] = read
            dated = is_dated(read.start)
    return ParsedPlan(actions, tuple(broken))


def moment_in(value: object) -> int | None:
    """Return the moment that it states; None if it states none."""
    try:
        return _MOMENT.validate_python(value)
    except ValidationError:
        return None


def _parse_act(said: object, dated: bool | None) -> Act | tuple[tuple[str, str], ...]:
    """Return the action, or what is wrong with it."""
    if not isinstance(said, Mapping):
        return (("", f"an action is a JSON object, not {shown(said)}"),)
    kind = said.get("do")
    if not isinstance(kind, str) or kind not in _ACTS:
        return (("do", "is missing" if kind is None else f'must be "travel" or "task", not {shown(kind)}'),)
    try:
        act = _ACTS[kind].model_validate(said)
    except ValidationError as exc:
        return tuple(_named(field, message) for field, message in in_words(exc))
    kinds = (("start", act.start), ("end", act.end))
    expected = is_dated(act.start) if dated is None else dated
    return tuple((field, _other_kind(expected)) for field, at in kinds if is_dated(at) is not expected) or act


def _check_event(problem: ReunionProblem, people: set[str], event: Event, field: str) -> None:
    """Check an event's moments, the names in it, and that a person who is added is new."""
    for name, moment in moments_in(event):
        _check_kind(problem.is_dated, moment, f"{field}.{name}")
    there_are = {"place": {*problem.places}, "person": people, "vehicle": {vehicle.name for vehicle in problem.vehicles}}
    for name, kind, said in names_in(event):
        if said not in there_are[kind]:
            known = ", ".join(sorted(there_are[kind])) or "none"
            raise InvalidInputError(f"there is no {said!r}; there are {known}", field=f"{field}.{name}")
    if isinstance(event, Added) and event.person.name in people:
        raise InvalidInputError(f"{event.person.name!r} is there already; names must be unique", field=f"{field}.person.name")


def _check_kind(dated: bool | None, moment: int, field: str) -> None:
    if dated is not None and is_dated(moment) is not dated:
        raise InvalidInputError(_other_kind(dated), field=field)


def _other_kind(dated: bool) -> str:
    return "has no date, and the other times have one" if dated else "has a date, and the other times have none"


def _first_of(error: ValidationError) -> tuple[str, str]:
    return _named(*in_words(error)[0])


def _named(field: str, message: str) -> tuple[str, str]:
    """Name the fields: an error of a model about several fields begins with their names."""
    field = "".join(part for part in re.split(r"(?=[.\[])", field) if part.removeprefix(".") not in _KINDS)
    named = _FIELD.match(message)
    return (f"{field}.{named[0]}".lstrip("."), message[named.end() + 2 :]) if named else (field, message)
