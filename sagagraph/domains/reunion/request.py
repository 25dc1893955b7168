"""Problem of logistics as in files (docs/formats.md section 8): typed, checked, and with every name known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, model_serializer, model_validator

from sagagraph.domains.reunion.times import Minutes, Moment, is_dated, text_of, whole_minutes

Name = Annotated[str, Field(min_length=1, max_length=200)]
Address = Annotated[str, Field(max_length=254, pattern=r"^[^@\s,;<>]+@[^@\s,;<>]+$")]


class _Form(BaseModel, extra="forbid", frozen=True, populate_by_name=True, serialize_by_alias=True):
    pass


class Attention(StrEnum):
    ACTIVE = "active"
    """Its people do nothing else meanwhile."""
    WATCHED = "watched"
    """Once it has started, somebody, anybody, is at its place at every moment."""


class Objective(StrEnum):
    """Objective to optimise, in the order in which a problem lists them; see measure.py for what is counted."""

    DISTANCE = "distance"
    DRIVING_MINUTES = "driving_minutes"
    MAKESPAN = "makespan"
    WORKLOAD_BALANCE = "workload_balance"
    LATEST_DEPARTURE = "latest_departure"
    ROBUSTNESS = "robustness"
    """Single disturbances that the plan does not survive: each person 30 minutes late, each road half as long again."""
    FRESH_FOOD = "fresh_food"
    WAITING = "waiting"
    UNUSED_RENTALS = "unused_rentals"


LONG_WAIT: Final = 30
"""Minutes; the part of a wait beyond this counts twice."""
AS_PEOPLE_PLAN: Final = (
    Objective.ROBUSTNESS,
    Objective.FRESH_FOOD,
    Objective.WAITING,
    Objective.UNUSED_RENTALS,
    Objective.DRIVING_MINUTES,
)
"""What is optimised if people describe a reunion without naming objectives; for a file without them it is only driving
minutes.
"""
MOST_WITH_SLACK: Final = 10
"""With more people than these robustness is not optimised: every delay of each of them would take too long."""
LATE_MINUTES: Final = 30
SLOW_ROAD: Final = 1.5
"""By this factor: the disturbances that `ROBUSTNESS` counts."""


class Road(_Form):
    """Road: a row of `travel_minutes` or `distance_km`: `[from, to, amount]`, both ways unless a fourth element is
    `"one-way"`.
    """

    here: Name
    there: Name
    amount: Minutes
    one_way: bool = False

    @property
    def ways(self) -> tuple[tuple[str, str], ...]:
        """Return every direction in which it holds."""
        return ((self.here, self.there),) if self.one_way else ((self.here, self.there), (self.there, self.here))

    @model_validator(mode="before")
    @classmethod
    def _row(cls, row: Any) -> Any:
        if not isinstance(row, list | tuple):
            return row
        if len(row) not in (3, 4) or (len(row) == 4 and row[3] != "one-way"):
            raise ValueError('a row is [from, to, amount], with "one-way" as a fourth element where it holds one way only')
        return {"here": row[0], "there": row[1], "amount": row[2], "one_way": len(row) == 4}

    @model_serializer
    def _as_row(self) -> list[str | float]:
        return [self.here, self.there, self.amount, *(("one-way",) if self.one_way else ())]


class PersonGoal(_Form):
    """Goal of a person: reach `place` by `by`, and preferably not before `not_before` (soft)."""

    place: Name
    by: Moment
    not_before: Moment | None = None

    @model_validator(mode="after")
    def _forwards(self) -> Self:
        if self.not_before is not None and self.by < self.not_before:
            raise ValueError(f"not before {text_of(self.not_before)} is after {text_of(self.by)}")
        return self


class Goal(PersonGoal):
    people: Literal["all"] | tuple[Name, ...]


class Person(_Form):
    name: Name
    place: Name
    from_: Moment | None = Field(None, alias="from")
    """Where and from when they can take part; None: from the beginning."""
    exit_minutes: Minutes = 0
    """Luggage and terminal: not available before `from` + `exit_minutes`."""
    drives: bool | None = None
    """None: they drive the vehicles that name them as drivers."""
    prefers: Annotated[tuple[Name, ...], BeforeValidator(lambda told: (told,) if isinstance(told, str) else told)] = ()
    """People whom they would rather ride with (soft)."""
    goals: tuple[PersonGoal, ...] = ()
    mail: Address | None = Field(None, exclude_if=lambda mail: mail is None)
    """Where they are sent what they are told, if mail is sent at all."""
    never_alone: bool = False
    """Wherever they wait before reaching their last goal, somebody else is there."""

    @property
    def available(self) -> int | None:
        return None if self.from_ is None else self.from_ + whole_minutes(self.exit_minutes)


class Vehicle(_Form):
    name: Name
    seats: int = Field(ge=1, le=1000)
    """All of them, the driver's included; if it brings its own driver, those for riders."""
    place: Name
    from_: Moment | None = Field(None, alias="from")
    drivers: tuple[Name, ...] | None = None
    """Who may drive it; None: it brings its own driver."""
    unlocked_by: Name | None = None
    """A rental: nobody drives it before the stated end of this task."""
    plate: Name | None = Field(None, exclude_if=lambda plate: plate is None)
    """What other reunions know it by, too: no two days of one store have it at the same time."""


class Window(_Form):
    """Window: `[earliest start, latest end]`, either of them null."""

    opens: Moment | None = None
    closes: Moment | None = None

    @model_validator(mode="before")
    @classmethod
    def _pair(cls, pair: Any) -> Any:
        if not isinstance(pair, list | tuple):
            return pair
        if len(pair) != 2:
            raise ValueError("a window is [earliest start, latest end], either of them null")
        return {"opens": pair[0], "closes": pair[1]}

    @model_validator(mode="after")
    def _forwards(self) -> Self:
        if self.opens is not None and self.closes is not None and self.closes < self.opens:
            raise ValueError(f"it ends at {text_of(self.closes)}, before it begins at {text_of(self.opens)}")
        return self

    @model_serializer
    def _as_pair(self) -> list[str | None]:
        return [None if moment is None else text_of(moment) for moment in (self.opens, self.closes)]


class Task(_Form):
    name: Name
    place: Name | None = None
    """None: anywhere, as long as its people are together."""
    minutes: Minutes = 0
    """Minutes on the clock, however many take part."""
    window: Window = Window()
    who: tuple[Name, ...] | None = None
    """Who may do it; None: anybody."""
    people: int = Field(1, ge=1, le=1000)
    """The minimum number of people."""
    after: tuple[Name, ...] = ()
    optional: bool = False
    attention: Attention = Attention.ACTIVE
    food: bool = False
    """What it makes is eaten when the last goal at its place is due."""

    @property
    def is_watched(self) -> bool:
        return self.attention is Attention.WATCHED


class ReunionProblem(_Form):
    """Logistics problem. Every name is defined in it once; its times are all of one kind, with a date or without."""

    name: Name
    places: dict[Name, str] = Field(min_length=1)
    """Places by the short name that everything else uses."""
    travel_minutes: tuple[Road, ...] = ()
    distance_km: tuple[Road, ...] = ()
    people: tuple[Person, ...] = Field(min_length=1)
    vehicles: tuple[Vehicle, ...] = ()
    tasks: tuple[Task, ...] = ()
    goals: tuple[Goal, ...] = ()
    objectives: tuple[Objective, ...] = (Objective.DRIVING_MINUTES,)
    apart: tuple[tuple[Name, ...], ...] = Field((), exclude_if=lambda apart: not apart)
    """People who must not do a task together, nor tasks at the same place at the same time. Watching does not count."""

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        for kind, named in (("people", self.people), ("vehicles", self.vehicles), ("tasks", self.tasks)):
            listed = [each.name for each in named]
            for number, name in enumerate(listed):
                if name in listed[:number]:
                    raise ValueError(f"{kind}[{number}].name: {name!r} is there twice; names must be unique")
        known = {
            "place": {*self.places},
            "person": {each.name for each in self.people},
            "task": {each.name for each in self.tasks},
        }
        found = [*names_in(self), *((f"apart[{n}]", "person", name) for n, names in enumerate(self.apart) for name in names)]
        for kind, names in known.items():
            for field, of, name in found:
                if of == kind and name not in names:
                    none = "nobody" if kind == "person" else f"no {kind}"
                    raise ValueError(f"{field}: {none} is called {name!r}; there are {', '.join(sorted(names)) or 'none'}")
        return self

    @model_validator(mode="after")
    def _rows_agree(self) -> Self:
        for number, names in enumerate(self.apart):
            if len(set(names)) < 2:
                raise ValueError(f"apart[{number}]: name at least two people")
        for table in ("travel_minutes", "distance_km"):
            amounts: dict[tuple[str, str], float] = {}
            for number, road in enumerate(getattr(self, table)):
                for way in road.ways:
                    if amounts.setdefault(way, road.amount) != road.amount:
                        raise ValueError(f"{table}[{number}]: {way[0]} to {way[1]} is {amounts[way]:g} in another row")
        return self

    @model_validator(mode="after")
    def _goals_can_be_reached(self) -> Self:
        import networkx as nx  # slow to import, and a server is to answer soon

        roads: nx.DiGraph[str] = nx.DiGraph()
        roads.add_nodes_from(self.places)
        roads.add_edges_from(way for road in self.travel_minutes for way in road.ways)
        people = list(enumerate(self.people))
        own = ((f"people[{n}].goals[{i}]", person, goal) for n, person in people for i, goal in enumerate(person.goals))
        shared = ((f"goals[{n}]", person, goal) for n, goal in enumerate(self.goals) for _, person in people)
        for field, person, goal in (*own, *(each for each in shared if each[2] in self.goals_of(each[1]))):
            if not nx.has_path(roads, person.place, goal.place):
                raise ValueError(
                    f"{field}: {person.name} is to be at {goal.place}, and travel_minutes has no way from {person.place}"
                )
        return self

    @model_validator(mode="after")
    def _tasks_have_an_order(self) -> Self:
        import networkx as nx

        order = nx.DiGraph([(before, task.name) for task in self.tasks for before in task.after])
        if not nx.is_directed_acyclic_graph(order):
            circle = [before for before, _ in nx.find_cycle(order)]
            raise ValueError(f"tasks.after: {' after '.join([circle[0], *reversed(circle)])}: none of them can be first")
        return self

    @model_validator(mode="after")
    def _times_are_of_one_kind(self) -> Self:
        dated = self.is_dated
        for field, moment in moments_in(self):
            if is_dated(moment) is not dated:
                has = "has no date, and others have one" if dated else "has a date, and others have none"
                raise ValueError(f"{field}: {text_of(moment)} {has}: write all of them one way")
        return self

    @property
    def is_dated(self) -> bool | None:
        """Tell whether its times have a date; None if it has no times."""
        return next((is_dated(moment) for _, moment in moments_in(self)), None)

    @property
    def moments(self) -> list[int]:
        """Return all moments stated for when something begins, opens, closes or is due."""
        return [moment for field, moment in moments_in(self) if not field.endswith("not_before")]

    @property
    def every_goal(self) -> tuple[PersonGoal, ...]:
        return (*self.goals, *(goal for person in self.people for goal in person.goals))

    @property
    def minutes(self) -> dict[tuple[str, str], float]:
        """Return the minutes of every direct way; if it is listed twice, those of the last row."""
        return {way: road.amount for road in self.travel_minutes for way in road.ways}

    @property
    def kilometres(self) -> dict[tuple[str, str], float]:
        return {way: road.amount for road in self.distance_km for way in road.ways}

    def goals_of(self, person: Person) -> tuple[PersonGoal, ...]:
        """Return a person's own goals, and shared ones that they belong to."""
        return (*person.goals, *(goal for goal in self.goals if goal.people == "all" or person.name in goal.people))


Change = Callable[[ReunionProblem], ReunionProblem]


def with_row(kind: str, name: str, **update: Any) -> Change:
    """Return what changes one of the `people`, `tasks` or `vehicles`."""

    def change(problem: ReunionProblem) -> ReunionProblem:
        rows = (each.model_copy(update=update) if each.name == name else each for each in getattr(problem, kind))
        return problem.model_copy(update={kind: tuple(rows)})

    return change


_NAMES: Final = {
    "place": ("place", "here", "there", "from_", "to", "minutes_left"),
    "person": ("person", "people", "prefers", "drivers", "who"),
    "vehicle": ("vehicle", "passed"),
    "task": ("unlocked_by", "after"),
}
"""The fields that name a part of a problem, by its kind; `from_` is a moment if it is a number."""
_KIND_OF: Final = {field: kind for kind, fields in _NAMES.items() for field in fields}
_MOMENTS: Final = ("at", "until", "from_", "opens", "closes", "by", "not_before")


def names_in(model: BaseModel) -> Iterator[tuple[str, str, str]]:
    """Yield (path, kind, name) of each name of a place, person, vehicle or task in a problem or an event."""
    for path, field, held in _fields_in(model):
        if field in _KIND_OF and held != "all" and not isinstance(held, int | None):
            yield from ((path, _KIND_OF[field], name) for name in ((held,) if isinstance(held, str) else held))


def moments_in(model: BaseModel) -> Iterator[tuple[str, int]]:
    """Return (path, moment) of all stated moments."""
    return ((path, held) for path, field, held in _fields_in(model) if field in _MOMENTS and isinstance(held, int))


def _fields_in(model: BaseModel, path: str = "") -> Iterator[tuple[str, str, Any]]:
    """Yield (path, field, value) of everything that is not itself a model; all of a row has the row's path."""
    for field, held in model:
        here = path if isinstance(model, Road | Window) else f"{path}.{field.rstrip('_')}".lstrip(".")
        if isinstance(held, BaseModel):
            yield from _fields_in(held, here)
        elif isinstance(held, tuple) and held and isinstance(held[0], BaseModel):
            for number, each in enumerate(held):
                yield from _fields_in(each, f"{here}[{number}]")
        else:
            yield here, field, held
