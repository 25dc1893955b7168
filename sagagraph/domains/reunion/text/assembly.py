"""Assembly: rows made a problem, as far as it is known, with what was taken for granted on the way."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from sagagraph.domains.reunion.problem import ReunionProblem
from sagagraph.domains.reunion.text.facts import Fact
from sagagraph.domains.reunion.text.places import Places, plain
from sagagraph.domains.reunion.text.rows import EVERYBODY, UNSAID, Row, Rows, Window, window_of
from sagagraph.domains.reunion.times import text_of

SEATS: Final = 5
_RENTAL: Final = "rental car"
_RENTING: Final = "rent a car"


class Assembly:
    """`problem`: its JSON, in which what is not known is None or missing. `notes`: what was taken for granted.

    Of `base`, a problem that came as a whole, everything stays of which nothing was said.
    """

    def __init__(self, facts: Iterable[Fact], base: ReunionProblem | None = None) -> None:
        """
        Raises:
            InvalidInputError: what is said does not fit `base`.
        """
        self.notes: list[str] = []
        self._rows = Rows(facts, base)
        self.problem = self._rows.tables
        self._places = Places([person["name"] for person in self.problem["people"]], self.problem["places"])
        self._hours: dict[str, Window] = {}
        self._find_airports()
        self._name_places()
        self._house_people()
        self._provide_vehicles()
        for task in self.problem["tasks"]:
            self._plan(task)
        if base is None:
            self._give_goals()
        self.problem["objectives"] = self.problem["objectives"] or ["driving_minutes"]
        self.problem["places"] = self._places.described()

    def sense(self) -> str:
        """The same for all that means the same, in whatever order and words."""
        tables = {name: _in_order(value) for name, value in self.problem.items() if name not in ("name", "places")}
        rows = self._rows
        beside = [
            sorted(rows.lands),
            self._landed,
            rows.windows,
            rows.company,
            sorted(rows.errands),
            self._hours,
            sorted(self.problem["places"]),
        ]
        return json.dumps([tables, beside], sort_keys=True)

    def _find_airports(self) -> None:
        """Who lands nobody said where lands where all others do."""
        lands = {name: (self._rows.person(name), where) for name, where in self._rows.lands.items()}
        self._landed = sorted(name for name, (person, where) in lands.items() if where and where == person.get("place"))
        airports = {self._places.airport(lands[name][0]["place"]) for name in self._landed}
        for person, _ in lands.values():
            if len(airports) == 1 and not person.get("place"):
                person["place"] = min(airports)
                self.notes.append(f"{person['name']} lands at {person['place']}")

    def _name_places(self) -> None:
        """By their keys; of a road, in either direction, the last word holds, and so of the hours of a place."""
        for row in (row for table in ("goals", "people", "vehicles", "tasks") for row in self.problem[table]):
            row["place"] = row.get("place") and self._places.key(row["place"])
        for road in self._rows.roads:
            ends = [self._places.key(road.here), self._places.key(road.there)]
            for table, amount in (("travel_minutes", road.minutes), ("distance_km", road.km)):
                if amount is not None and ends[0] != ends[1]:
                    others = [row for row in self.problem[table] if {*row[:2]} != {*ends}]
                    self.problem[table] = [*others, [*ends, round(amount, 6)]]
        for hours in self._rows.hours:
            key = self._places.key(hours.place)
            self._hours[key] = window_of(self._hours.get(key, UNSAID), hours.opens, hours.closes)

    def _house_people(self) -> None:
        """Nobody said where Grandma is, but how far it is to Grandma: she is at her house."""
        ends = {end for road in self.problem["travel_minutes"] for end in road[:2]}
        company = self._rows.company
        for person in self.problem["people"]:
            house = f"{person['name']}'s house"
            person["place"] = person["place"] or (house if house in ends else None)
            is_accompanied = company.get(plain(person["name"]), company.get(""))
            if is_accompanied is not None:
                person["never_alone"] = is_accompanied

    def _provide_vehicles(self) -> None:
        """One that nobody said the place of is where its driver is; a rental has to be rented there."""
        for vehicle in filter(self._rows.is_new, list(self.problem["vehicles"])):
            drivers = vehicle.get("drivers") or ()
            driver = self._rows.person(drivers[0]) if drivers else {}
            vehicle["place"] = vehicle["place"] or driver.get("place")
            if "seats" not in vehicle:
                vehicle["seats"] = SEATS
                self.notes.append(f"{vehicle['name']} has {SEATS} seats")
            if vehicle["name"] == _RENTAL:
                vehicle["unlocked_by"] = _RENTING
                renting = {"name": _RENTING, "place": vehicle["place"], "minutes": 0, "who": drivers}
                self.problem["tasks"].insert(0, renting)
                self._rows.errands.add(_RENTING)
            elif driver.get("from"):
                vehicle["from"] = driver["from"]

    def _plan(self, task: Row) -> None:
        """What nobody has to go for is done where everybody is to be, before they are to be there."""
        shared: Mapping[str, Any] = next((goal for goal in self.problem["goals"] if goal["people"] == EVERYBODY), {})
        is_shared = self._rows.is_new(task) and task["name"] not in self._rows.errands
        if is_shared and shared.get("place") and not task["place"]:
            task["place"] = shared["place"]
            self.notes.append(f"{task['name']} is done at {self._places.described()[shared['place']]}")
        opens, closes = self._window(task)
        if is_shared and shared.get("by") and not closes:
            closes = shared["by"]
            self.notes.append(f"{task['name']} is done by {closes}")
        if opens or closes:
            task["window"] = [opens, closes]
        if self._rows.is_new(task) and not is_shared:
            task.setdefault("minutes", 0)

    def _window(self, task: Row) -> list[str | None]:
        """As it was said of the task itself, or of its place, or before."""
        said = window_of(self._hours.get(task["place"], UNSAID), *self._rows.windows.get(plain(task["name"]), UNSAID))
        before = task.get("window") or UNSAID
        return [old if moment is None else text_of(moment) for moment, old in zip(said, before, strict=True)]

    def _give_goals(self) -> None:
        """What is said of single people is theirs."""
        goals = self.problem["goals"]
        self.problem["goals"] = [goal for goal in goals if goal["people"] == EVERYBODY]
        for goal in goals:
            for name in goal["people"] if goal["people"] != EVERYBODY else ():
                self._rows.person(name).setdefault("goals", []).append({"place": goal["place"], "by": goal["by"]})


def _in_order(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    rows = [sorted(each[:2]) + each[2:] if isinstance(each, list) and len(each) == 3 else each for each in value]
    return sorted(rows, key=lambda each: json.dumps(each, sort_keys=True))
