"""Assembly: turns facts into a problem, as far as it is known, with the assumptions made on the way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter

from sagagraph.domains.reunion.request import AS_PEOPLE_PLAN, MOST_WITH_SLACK
from sagagraph.domains.reunion.text import facts
from sagagraph.domains.reunion.text.clauses import HERE, TELLER
from sagagraph.domains.reunion.text.estimates import estimates
from sagagraph.domains.reunion.text.facts import Fact, merged
from sagagraph.domains.reunion.text.places import STATION, Places, is_our_home, is_terminal, plain
from sagagraph.domains.reunion.times import Moment, text_of
from sagagraph.errors import InvalidInputError

SEATS: Final = 5
_FOOD: Final = re.compile(
    r"\b(?:turkey|roasts?|sides?|(?:side )?dish(?:es)?|cakes?|pies?|bread|soup|stew|sauces?|salads?|pasta|potatoes|lasagna"
    r"|casserole|meat|fish|barbecue|food|meal|dinner|lunch|breakfast|dessert)\b"
)
_EVENING: Final = re.compile(r"\b(?:dinner|supper|party|concert|show)\b", re.IGNORECASE)
_AT_TEN, _MORNING, _HALF_A_DAY = 10 * 60, 11 * 60, 12 * 60
"""Dinner at 7 is in the evening."""
_EVENING_HOURS: Final = 3 * 60
_RENTING: Final = "rent a car"
EVERYBODY: Final = "all"
_TABLES: Final = ("people", "vehicles", "tasks", "goals", "travel_minutes", "distance_km", "objectives", "apart")
_PET: Final = re.compile(r"\b(?:dogs?|puppy|cats?|kitten|pets?|baby|toddler)\b")
_OF_TRAINS: Final = re.compile(r"\bstation\b", re.IGNORECASE)
SEVERAL: Final = re.compile(r"Kids|Children|Twins|Boys|Girls")
_MOMENT: Final = TypeAdapter[int](Moment)
Row = dict[str, Any]
_F = TypeVar("_F", bound=Fact)


class Assembly:
    """A problem and its assumptions. `problem`: its JSON, in which unknown values are None or missing. `notes`: the assumptions.
    `estimates`: how long one drives where nobody has said it.

    Of `base`, a problem that came as a whole or was filled in, everything stays that nobody has mentioned.
    """

    def __init__(self, heard: Iterable[Fact], base: Row | None = None, assumed: Mapping[str, str] | None = None) -> None:
        """Assemble. `assumed`: what of `base` nobody said.

        Raises:
            InvalidInputError: what is said does not fit `base`.
        """
        self.notes: list[str] = []
        self.assumed = dict(assumed or {})
        empty: Row = {table: [] for table in _TABLES} | {"name": "reunion", "places": {}}
        self.problem = empty | deepcopy(base) if base else empty
        self._base = base
        self._facts = merged(heard)
        people = [*(row["name"] for row in self.problem["people"]), *(each.name for each in self._of(facts.PersonFact))]
        people += self._others_named()
        self._places = Places(people, self.problem["places"])
        meeting = (each.place for each in self._of(facts.GoalFact) if not each.people and each.place)
        self._meeting = next(meeting, self._shared_goal().get("place"))
        self._places.meeting = self._meeting or ""
        for each in self._of(facts.PlaceFact):
            self._places.call(each.key, each.name)
        self._add_people()
        self._add_goals()
        home = str(self._shared_goal().get("place") or "")
        self._places.house = home if home.endswith(("'s house", "' house", "' home", "'s home")) else None
        self._add_roads()
        self._settle_people()
        self._add_vehicles()
        if assumed is not None:
            self._settle_rows()
        self._add_tasks()
        self._keep_apart()
        wanted = [each.objective for each in self._of(facts.ObjectiveFact)]
        usual = AS_PEOPLE_PLAN if len(self.problem["people"]) <= MOST_WITH_SLACK else AS_PEOPLE_PLAN[-1:]
        self.problem["objectives"] = wanted or self.problem["objectives"] or [each.value for each in usual]
        self.problem["places"] = self._places_used()
        told = ((row[0], row[1]) for row in self.problem["travel_minutes"])
        self.estimates = tuple(estimates(self.problem["places"], told, self._shared_goal().get("place")))
        told_roads = len(self.problem["travel_minutes"])
        self.problem["travel_minutes"] += [[each.here, each.there, each.minutes] for each in self.estimates]
        self.assumed |= {f"travel_minutes[{told_roads + n}]": "estimated by the distance" for n, _ in enumerate(self.estimates)}

    def _places_used(self) -> Row:
        """Return the places, without those that only had to be passed."""
        rows = [*self.problem["people"], *self.problem["vehicles"], *self.problem["tasks"], *self.problem["goals"]]
        rows += [goal for person in self.problem["people"] for goal in person.get("goals", ())]
        used = {row.get("place") for row in rows} | {end for row in self.problem["travel_minutes"] for end in row[:2]}
        return {key: name for key, name in self._places.described().items() if key in used or self._base}

    def _shared_goal(self) -> Row:
        """Return where everybody has to be."""
        return next((goal for goal in self.problem["goals"] if goal["people"] == EVERYBODY), {})

    def _keep_apart(self) -> None:
        for each in self._of(facts.ApartFact):
            others = [names for names in self.problem["apart"] if {*map(plain, names)} != {*map(plain, each.people)}]
            names = [self._row("people", name)[0]["name"] for name in each.people]
            self.problem["apart"] = [*others, names] if each.is_wanted else others

    def _of(self, kind: type[_F]) -> list[_F]:
        return [each for each in self._facts.values() if isinstance(each, kind)]

    def _row(self, table: str, name: str) -> tuple[Row, bool]:
        """Return the row, and whether it is new."""
        for row in self.problem[table]:
            if plain(row["name"]) == plain(name):
                return row, False
        self.problem[table].append({"name": name})
        return self.problem[table][-1], True

    def _key(self, place: str | None) -> str | None:
        said = self._meeting if place == HERE else place
        return None if said is None else self._places.key(said)

    def _add_people(self) -> None:
        """Add people. Somebody who lands at an unstated place lands where all others do."""
        landing = [each.place for each in self._of(facts.PersonFact) if each.lands and each.place]
        landing = landing or [end for each in self._of(facts.RoadFact) for end in (each.here, each.there) if is_terminal(end)]
        airports = {self._places.airport(place) for place in landing if not STATION.search(place)}
        told = (end for each in self._of(facts.RoadFact) for end in (each.here, each.there))
        named = [*(each.place for each in self._of(facts.PersonFact) if each.place), *told]
        stations = {self._places.key(place) for place in named if _OF_TRAINS.search(place)}
        for each in self._of(facts.PersonFact):
            person, is_new = self._row("people", each.name)
            if is_new and self._base and each.place is None:
                raise InvalidInputError(
                    f"nobody is called {each.name}; say where they are, if they are to come too", field="text"
                )
            person |= _said(place=self._where(each), drives=each.drives, prefers=each.prefers)
            kerb = next((fact.minutes for fact in self._of(facts.KerbFact) if each.lands), each.exit_minutes)
            person |= _said(exit_minutes=kerb if each.exit_minutes is None else each.exit_minutes)
            if each.fetched_by is not None:
                self.notes.append(
                    f"{each.name} should be fetched by {text_of(each.fetched_by)}: no plan promises it, so check it"
                )
            if each.lands and len(airports) == 1 and not person.get("place"):
                person["place"] = min(airports)
                self.notes.append(f"{each.name} lands at {person['place']}")
            if each.by_train and len(stations) == 1 and not person.get("place"):
                person["place"] = min(stations)
                self.notes.append(f"{each.name} arrives at {person['place']}")
        for name in () if self._base else self._others_named():
            self._row("people", name)[0].setdefault("place", None)
        for count in self._of(facts.HeadcountFact):
            if count.number != len(self.problem["people"]):
                self.notes.append(f"{count.number} people were said, and {len(self.problem['people'])} are known")
        several = [person["name"] for person in self.problem["people"] if SEVERAL.fullmatch(person["name"])]
        self.notes += [f"{name} have one seat: name them one by one, if they need more" for name in several]
        company = {plain(each.people[0] if each.people else ""): each.is_wanted for each in self._of(facts.CompanyFact)}
        for person in self.problem["people"]:
            person |= _said(never_alone=company.get(plain(person["name"]), company.get("")))

    def _where(self, each: facts.PersonFact) -> str | None:
        is_airport = each.lands and each.place and not STATION.search(each.place)
        return self._places.airport(each.place) if is_airport and each.place else self._key(each.place)

    def _others_named(self) -> list[str]:
        """Return whoever has something to do, or a car to drive: they take part, too."""
        named = [each.who for each in self._of(facts.TaskFact)] + [each.drivers or () for each in self._of(facts.VehicleFact)]
        return [name for names in named for name in names]

    def _add_goals(self) -> None:
        """Add goals; what is said of single people is theirs."""
        for each in self._of(facts.GoalFact):
            goal = self._goal(list(each.people) or EVERYBODY, is_further=each.is_further)
            late = _HALF_A_DAY if each.by is not None and each.by < _MORNING and _EVENING.search(each.event) else 0
            if each.by is not None and each.by < _AT_TEN and self._comes_after(each):
                late = _HALF_A_DAY
            goal |= _said(place=self._key(each.place), by=None if each.by is None else text_of(each.by + late))
            if self._base and None in (goal["place"], goal["by"]):
                raise InvalidInputError("say where, and by when", field="text")
            if each.event and not self._base and not each.is_further:
                self.problem["name"] = each.event.lower()

    def _comes_after(self, goal: facts.GoalFact) -> bool:
        """Return whether one comes after another, as in `From 5 pm, and at the restaurant by 7:30`."""
        known = (each for each in self._of(facts.PersonFact) if not goal.people or each.name in goal.people)
        return any(each.from_ is not None and goal.by is not None and each.from_ > goal.by for each in known)

    def _goal(self, people: Any, *, is_further: bool = False) -> Row:
        """Return the goal that there is for these people; a new one on top of a whole problem is like its first."""
        if is_further:
            self.problem["goals"].append({"place": None, "by": None, "people": people})
            return self.problem["goals"][-1]  # type: ignore[no-any-return]
        shared: list[Row] = self.problem["goals"]
        own: list[Row] = self._row("people", people[0])[0].setdefault("goals", []) if len(people) == 1 else []
        for goal in (*shared, *own):
            if goal.get("people", people) == people:
                return goal
        first = shared[0] if shared and self._base else {}
        goal = {"place": first.get("place"), "by": first.get("by")}
        if self._base or people == EVERYBODY:
            shared.append(goal | {"people": people})
            return shared[-1]
        own.append(goal)
        return goal

    def _add_roads(self) -> None:
        """Add roads. One that leads to nowhere in particular leads to where all meet; one that leads everywhere comes last."""
        roads = sorted(self._of(facts.RoadFact), key=lambda each: each.leads_everywhere)
        for each in roads:
            if not each.there and not self._shared_goal().get("place"):
                continue
            for here, there in self._ends(each):
                self._add_road(each, here, there)

    def _ends(self, road: facts.RoadFact) -> Iterable[tuple[str, str]]:
        """Return the pairs of places: `15 minutes from everything else` holds for every way that nobody has told."""
        if not road.leads_everywhere:
            here, there = self._places.key(road.here), self._places.key(road.there or self._shared_goal()["place"])
            return [(here, self._places.key("home") if here == there and not road.there else there)]
        told = {frozenset(row[:2]) for row in self.problem["travel_minutes"]}
        rows = (*self.problem["people"], *self.problem["goals"], *self._of(facts.TaskFact))
        said = [row.get("place") if isinstance(row, dict) else self._key(row.place) for row in rows]
        places = sorted({*filter(None, said), *(end for pair in told for end in pair)})
        is_general = facts.is_everything(road.here)
        heres = places if is_general else [self._places.key(road.here)]
        return [pair for here in heres for there in places if frozenset(pair := (here, there)) not in told]

    def _add_road(self, road: facts.RoadFact, here: str, there: str) -> None:
        for table, amount in (("travel_minutes", road.minutes), ("distance_km", road.km)):
            if amount is not None and here != there:
                others = [row for row in self.problem[table] if {*row[:2]} != {here, there}]
                self.problem[table] = [*others, [here, there, round(amount, 6)]]

    def _settle_people(self) -> None:
        """Settle who is where: whoever is fetched, or lives where roads lead to or all meet, is at home."""
        known = {end for row in self.problem["travel_minutes"] for end in row[:2]} | {self._shared_goal().get("place")}
        said = {plain(each.name): each for each in self._of(facts.PersonFact)}
        for person in self.problem["people"]:
            house, fact = f"{person['name']}'s house", said.get(plain(person["name"]))
            if fact and fact.from_ is not None:
                person["from"] = self._before_all_meet(fact.from_)
            if person.get("place") and not (house in known and person["place"] not in known and not self._base):
                continue
            if person["name"] == TELLER and (is_our_home(self._meeting or "") or "Home" in known):
                person["place"] = "Home" if "Home" in known else self._shared_goal().get("place")
                self.notes.append("you are at home")
            elif house in known or (fact and fact.is_fetched):
                person["place"] = self._places.key(house)
                self.notes.append(f"{person['name']} is at {house}")
            else:
                person["place"] = None

    def _settle_rows(self) -> None:
        """Settle what nobody has said of the cars and tasks that were filled in."""
        at, goal = {person["name"]: person.get("place") for person in self.problem["people"]}, self._shared_goal()
        for number, car in enumerate(self.problem["vehicles"]):
            driver = next(iter(car.get("drivers") or ()), None)
            stands, why = (at.get(driver), "where its driver is") if driver else (goal.get("place"), "where all meet")
            self._settle(car, f"vehicles[{number}].place", "place", stands, why)
        for number, task in enumerate(self.problem["tasks"]):
            self._settle(task, f"tasks[{number}].place", "place", goal.get("place"), "where all meet")
            self._settle(
                task, f"tasks[{number}].ends", "window", [None, goal["by"]] if goal.get("by") else None, "before all meet"
            )

    def _settle(self, row: Row, field: str, key: str, value: Any, why: str) -> None:
        if key not in row and value is not None:
            row[key], self.assumed[field] = value, why

    def _add_vehicles(self) -> None:
        """Add vehicles. One without a stated place is where its driver is; a rental must be rented there."""
        for each in self._of(facts.VehicleFact):
            vehicle, is_new = self._row("vehicles", each.name)
            driver = self._row("people", each.drivers[0])[0] if each.drivers else {}
            vehicle |= _said(place=self._key(each.place), seats=each.seats, drivers=list(each.drivers or ()) or None)
            if not is_new:
                continue
            if "place" not in vehicle:
                vehicle["place"] = driver.get("place")
                self.assumed[f"vehicles[{len(self.problem['vehicles']) - 1}].place"] = "where its driver is"
            if each.seats is None:
                vehicle["seats"] = SEATS
                self.assumed[f"vehicles[{len(self.problem['vehicles']) - 1}].seats"] = "as most cars have"
                self.notes.append(f"{each.name} has {SEATS} seats")
            if each.name == facts.RENTAL:
                vehicle["unlocked_by"] = _RENTING
                self.problem["tasks"].append(
                    {"name": _RENTING, "place": vehicle["place"], "minutes": 0, "who": vehicle.get("drivers")}
                )
            elif driver.get("from"):
                vehicle["from"] = driver["from"]

    def _add_tasks(self) -> None:
        """Add tasks. What nobody has to travel for is done where everybody must be, before they must be there."""
        shared = self._shared_goal()
        granted = []
        for each in self._of(facts.TaskFact):
            task, is_new = self._row("tasks", plain(each.name))
            task |= _said(place=self._key(each.place), minutes=each.minutes, who=list(each.who) or None)
            task |= {"attention": "watched"} if each.watched else {}
            task |= {"food": True} if not each.is_errand and _FOOD.search(task["name"]) else {}
            if is_new and each.is_errand:
                task.setdefault("minutes", 0)
            elif is_new:
                granted.append(task)
        for task in self.problem["tasks"]:
            task.setdefault("place", None)
            if task in granted and shared.get("place") and not task["place"]:
                task["place"] = shared["place"]
                self.assumed[f"tasks[{self.problem['tasks'].index(task)}].place"] = "where all meet"
                self.notes.append(f"{task['name']} is done at {self._places.described()[shared['place']]}")
            if _PET.search(task["name"]) and task.get("minutes") is None and shared.get("by"):
                self._stay_with(task, shared["by"])
            opens, closes = self._window(task)
            if task in granted and shared.get("by") and not closes:
                closes = shared["by"]
                self.assumed[f"tasks[{self.problem['tasks'].index(task)}].ends"] = "before all meet"
                self.notes.append(f"{task['name']} is done by {closes}")
            if opens or closes:
                task["window"] = [opens, closes]
        done_at = {task["place"] for task in self.problem["tasks"]}
        idle = [each.place for each in self._of(facts.HoursFact) if self._places.key(each.place) not in done_at]
        self.notes += [f"when it is open changes nothing, because nobody is sent there: {place}" for place in idle]

    def _stay_with(self, task: Row, until: str) -> None:
        """Whom nobody may leave alone, and nobody says for how long: from the first moment that is told until all are there."""
        known = [moment for person in self.problem["people"] if (moment := person.get("from"))]
        since = min([*known, until])
        minutes = _MOMENT.validate_python(until) - _MOMENT.validate_python(since)
        task |= {"minutes": minutes, "window": [since, until]}
        self.notes.append(f"somebody is with the {task['name']} from {since} to {until}")

    def _window(self, task: Row) -> Iterator[str | None]:
        """Return the window as stated for the task, for its place, or before."""
        there = [each for each in self._of(facts.HoursFact) if self._places.key(each.place) == task["place"]]
        own = self._facts.get((facts.TaskFact, plain(task["name"])))
        for side, before in zip(("opens", "closes"), task.get("window") or (None, None), strict=True):
            said = (getattr(each, side) for each in (own, *there) if each)
            yield next((self._before_all_meet(moment) for moment in said if moment is not None), before)

    def _before_all_meet(self, moment: int) -> str:
        """Read `the wine by 7` as the evening's where dinner is at 8."""
        meeting = _MOMENT.validate_python(self._shared_goal().get("by") or "00:00")
        is_evening = moment < _MORNING and meeting - _EVENING_HOURS < moment + _HALF_A_DAY <= meeting
        return text_of(moment + (_HALF_A_DAY if is_evening else 0))


def _said(**values: Any) -> Row:
    return {name: value for name, value in values.items() if value is not None}
