"""Parts: a part of a problem and its plan, by which one rule can be judged: what a slice of a reunion holds.

The rules see a part as they would see the whole: everything that is not in it does not concern them. What is in several parts is
written once, and read once.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeVar

from msgspec import Raw, Struct
from pydantic import BaseModel, TypeAdapter

from sagagraph.domains.reunion.events import Added, Cancelled, Delayed, Event
from sagagraph.domains.reunion.parsing import ParsedPlan
from sagagraph.domains.reunion.plan import Act, Work
from sagagraph.domains.reunion.request import Goal, Person, Road, Task, Vehicle
from sagagraph.domains.reunion.rules.facts.case import Case, Check
from sagagraph.domains.reunion.rules.facts.circumstances import Circumstances
from sagagraph.domains.reunion.rules.facts.unjudged import Trace
from sagagraph.validators.concern import written
from sagagraph.validators.verdict import Violation

_ROAD: TypeAdapter[Road] = TypeAdapter(Road)
_PERSON, _VEHICLE, _TASK, _GOAL = TypeAdapter(Person), TypeAdapter(Vehicle), TypeAdapter(Task), TypeAdapter(Goal)
_ACT: TypeAdapter[Act] = TypeAdapter(Act)
_EVENT: TypeAdapter[Event] = TypeAdapter(Event)
T = TypeVar("T")
Json = dict[str, Any]
Rows = tuple[Raw, ...]
_REMEMBERED: Final = 10_000
RULED: Final = ("name", "place", "from", "exit_minutes", "drives", "never_alone")
"""Fields of a person that rules look at, beside goals."""


class Part(Struct, frozen=True, omit_defaults=True):
    """In the form of the files. `about`: the actions to be judged; the others are there for them."""

    about: tuple[int, ...] = ()
    actions: dict[str, Raw] = {}
    """By their index, written as text: JSON has no other keys."""
    places: tuple[str, ...] = ()
    roads: Rows = ()
    people: Rows = ()
    vehicles: Rows = ()
    tasks: Rows = ()
    goals: Rows = ()
    events: Rows = ()
    traces: tuple[Trace, ...] = ()
    """They were found where all actions are known."""
    rerouted: bool | None = None
    """Whether the journey goes elsewhere than it first did; None: not known."""


@dataclass(slots=True)
class _Excerpt:
    """As much of a problem as a part has."""

    places: Container[str]
    travel_minutes: tuple[Road, ...]
    people: tuple[Person, ...]
    vehicles: tuple[Vehicle, ...]
    tasks: tuple[Task, ...]
    goals: tuple[Goal, ...]


class PartCase(Case):
    def __init__(self, part: Part) -> None:
        excerpt: Any = _Excerpt(
            dict.fromkeys(part.places),
            _all(_ROAD, part.roads),
            _all(_PERSON, part.people),
            _all(_VEHICLE, part.vehicles),
            _all(_TASK, part.tasks),
            _all(_GOAL, part.goals),
        )
        acts = {int(index): read_act(bytes(act)) for index, act in part.actions.items()}
        world = Circumstances(excerpt, _all(_EVENT, part.events))
        super().__init__(world, ParsedPlan(acts), traces=part.traces, about=part.about)
        self._rerouted = part.rerouted

    def is_rerouted(self, index: int) -> bool | None:  # noqa: ARG002 - there is one journey
        return self._rerouted


def checking(*checks: Check) -> Callable[[Part], Iterator[Violation]]:
    """What the checks find of the actions that a part is about."""

    def checked(part: Part) -> Iterator[Violation]:
        case, about = PartCase(part), (None, *part.about)
        for check in checks:
            yield from (each for each in check(case) if each.scope.get("action") in about)

    return checked


def _all(kind: TypeAdapter[T], rows: Rows) -> tuple[T, ...]:
    return tuple([_read(kind, bytes(each)) for each in rows]) if rows else ()


def read_act(row: bytes) -> Act:
    act: Act = _read(_ACT, row)
    return act


@lru_cache(maxsize=_REMEMBERED)
def _read(kind: TypeAdapter[T], row: bytes) -> T:
    return kind.validate_json(row)


# -- what is shown -----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=_REMEMBERED)
def _json_of(value: BaseModel) -> Json:
    return _dumped(value)


def _dumped(value: BaseModel) -> Json:
    return value.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude_none=True)


def raw(value: BaseModel, **changes: Any) -> Raw:
    told = _json_of(value)
    return Raw(written({**told, **changes} if changes else told))


def act_json(act: Act, **changes: Any) -> Json:
    return {**_json_of(act), "do": act.do, **changes}


def raw_act(act: Act, **changes: Any) -> Raw:
    return Raw(written(act_json(act, **changes)))


def event_json(event: Event) -> Json:
    return {**_dumped(event), "event": event.event}


def raw_events(events: Iterable[Event]) -> Rows:
    return tuple(Raw(written(event_json(event))) for event in events)


def raw_people(case: Case, names: Iterable[str], fields: tuple[str, ...] = RULED) -> Rows:
    """People of the problem, with these fields; who is added later is in an event."""
    known = dict.fromkeys(name for name in names if name in case.world.people and name not in case.world.added)
    return tuple(_raw_fields(case.world.people[name], fields) for name in known)


def raw_task(case: Case, name: str, *fields: str) -> Rows:
    """A task with its name and these fields, or all of them without any."""
    task = case.world.tasks.get(name)
    if task is None:
        return ()
    return (_raw_fields(task, ("name", *fields)) if fields else raw(task),)


def _raw_fields(value: BaseModel, fields: tuple[str, ...]) -> Raw:
    return Raw(written({name: told for name, told in _json_of(value).items() if name in fields}))


def events_about(case: Case, names: Iterable[str]) -> Rows:
    wanted = set(names) if case.world.events else set()

    def is_about(event: Event) -> bool:
        if isinstance(event, Added):
            return event.person.name in wanted
        return isinstance(event, Delayed | Cancelled) and event.person in wanted

    return raw_events(event for event in case.world.events if is_about(event))


def known_places(case: Case, names: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(sorted({name for name in names if name is not None and name in case.problem.places}))


def at_its_site(case: Case, index: int, act: Work, **changes: Any) -> Raw:
    """A task's action where it is done: what can be done anywhere is done where its people meet."""
    own = case.world.tasks[act.task].place if act.task in case.world.tasks else None
    site = case.simulation.sites.get(index)
    return raw_act(act, **changes, **({} if own is not None or site is None else {"place": site}))


def first_work(case: Case, task: str) -> dict[str, Raw]:
    """The action that completes a task first."""
    works = [(work.end, index, work) for index, work in case.works if work.task == task]
    if not works:
        return {}
    _end, index, work = min(works, key=lambda each: each[:2])
    return {str(index): raw_act(work, who=[])}
