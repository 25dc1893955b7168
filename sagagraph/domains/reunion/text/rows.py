"""Rows of a problem's JSON as they were said: one fact after the other, the last word on each thing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from sagagraph.domains.reunion.problem import ReunionProblem
from sagagraph.domains.reunion.text.facts import (
    CompanyFact,
    Fact,
    GoalFact,
    HoursFact,
    ObjectiveFact,
    PersonFact,
    RoadFact,
    TaskFact,
    VehicleFact,
)
from sagagraph.domains.reunion.text.places import plain
from sagagraph.domains.reunion.times import text_of
from sagagraph.errors import InvalidInputError

EVERYBODY: Final = "all"
_TABLES: Final = ("people", "vehicles", "tasks", "goals", "travel_minutes", "distance_km", "objectives")
Row = dict[str, Any]
Window = tuple[int | None, int | None]
UNSAID: Final[Window] = (None, None)


class Rows:
    """On top of `base`, a problem that came as a whole. Places are named as they were said; what is not known is missing."""

    def __init__(self, facts: Iterable[Fact], base: ReunionProblem | None = None) -> None:
        """
        Raises:
            InvalidInputError: what is said does not fit `base`.
        """
        self.tables: Row = {table: [] for table in _TABLES} | {"name": "reunion", "places": {}}
        if base:
            self.tables |= base.model_dump(mode="json")
        named = [(table, row) for table in ("people", "vehicles", "tasks") for row in self.tables[table]]
        self._by_name = {(table, plain(row["name"])): row for table, row in named}
        self._given = {id(row) for _, row in named}
        self.lands: dict[str, str | None] = {}
        """Who lands, and where it was said that they do."""
        self.errands: set[str] = set()
        self.windows: dict[str, Window] = {}
        self.hours: list[HoursFact] = []
        self.company: dict[str, bool] = {}
        """Who must not wait alone; the empty name is everybody else."""
        self.roads: list[RoadFact] = []
        said = tuple(facts)
        for fact in said:
            if isinstance(fact, PersonFact) and (base is None or fact.place):
                self._row("people", fact.name)
        for fact in said:
            self._apply(fact)

    def is_new(self, row: Row) -> bool:
        """Not of `base`."""
        return id(row) not in self._given

    def person(self, name: str) -> Row:
        return self._row("people", name)

    def _row(self, table: str, name: str) -> Row:
        if (table, plain(name)) not in self._by_name:
            self._by_name[table, plain(name)] = {"name": name}
            self.tables[table].append(self._by_name[table, plain(name)])
        return self._by_name[table, plain(name)]

    def _apply(self, fact: Fact) -> None:
        match fact:
            case PersonFact():
                self._person(fact)
            case VehicleFact(name, place, seats, drivers):
                row = self._row("vehicles", name)
                row |= _said(place=place, seats=seats, drivers=drivers and list(drivers))
                if drivers == ():
                    row.pop("drivers", None)
            case TaskFact():
                self._task(fact)
            case HoursFact():
                self.hours.append(fact)
            case GoalFact():
                self._goal(fact)
            case RoadFact():
                self.roads.append(fact)
            case CompanyFact(people, is_wanted):
                self.company = self.company | {plain(name): is_wanted for name in people} if people else {"": is_wanted}
            case ObjectiveFact(objective):
                self.tables["objectives"] = [objective]

    def _person(self, fact: PersonFact) -> None:
        if ("people", plain(fact.name)) not in self._by_name:
            raise InvalidInputError(f"nobody is called {fact.name}; say where they are, if they are to come too", field="text")
        row = self.person(fact.name)
        row |= _said(place=fact.place, drives=fact.drives, prefers=fact.prefers)
        if fact.from_ is not None:
            row["from"] = text_of(fact.from_)
        if fact.lands:
            self.lands[fact.name] = fact.place or self.lands.get(fact.name)

    def _task(self, fact: TaskFact) -> None:
        row = self._row("tasks", plain(fact.name))
        row |= _said(place=fact.place, minutes=fact.minutes, attention="watched" if fact.watched else None)
        row |= {"who": list(fact.who)} if fact.who else {}
        self.errands |= {row["name"]} if fact.is_errand else set()
        self.windows[row["name"]] = window_of(self.windows.get(row["name"], UNSAID), fact.opens, fact.closes)

    def _goal(self, fact: GoalFact) -> None:
        """One for everybody, and one for each who was named; a new one on top of a whole problem is like its first."""
        people: Any = list(fact.people) or EVERYBODY
        said = _said(place=fact.place, by=None if fact.by is None else text_of(fact.by))
        own = self.person(fact.people[0]).get("goals", ()) if len(fact.people) == 1 else ()
        goal = next((goal for goal in (*self.tables["goals"], *own) if goal.get("people", people) == people), None)
        if goal is None:
            goal = {"people": people, "place": None, "by": None}
            self.tables["goals"].append(goal)
        goal |= said


def _said(**fields: Any) -> Row:
    return {name: value for name, value in fields.items() if value is not None}


def window_of(before: Window, opens: int | None, closes: int | None) -> Window:
    """With what is said of it now."""
    return (before[0] if opens is None else opens, before[1] if closes is None else closes)
