"""Completion of a reunion: what follows from the board, or nobody minds, with the reasons; and what only people can say."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from sagagraph.domains.reunion.estimates import Estimate, estimates
from sagagraph.domains.reunion.parsing import parse_problem
from sagagraph.domains.reunion.request import AS_PEOPLE_PLAN, MOST_WITH_SLACK, ReunionProblem
from sagagraph.domains.reunion.transcript import Filled

SEATS: Final = 5
EVERYBODY: Final = "all"
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """A question. `field`: what the answer sets in the problem. `answer`: the sentence for a bare answer, with `{}` in its
    place.
    """

    field: str
    text: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Completed:
    """A completed board. `problem`: in the shape of a file; what is unknown is None or missing. `assumed`: why, by its field."""

    problem: Row
    assumed: dict[str, str]
    notes: tuple[str, ...]
    """What was taken for granted, in sentences."""
    estimates: tuple[Estimate, ...]
    questions: tuple[Question, ...]

    @property
    def guess(self) -> tuple[str, ...]:
        """Return what is guessed of drives, in a sentence, if anything is."""
        minutes = sorted({each.minutes for each in self.estimates})
        if not minutes:
            return ()
        many = len(self.estimates)
        drives = f"{many} drives that nobody gave are" if many > 1 else "1 drive that nobody gave is"
        span = f"{minutes[0]}" if len(minutes) == 1 else f"{minutes[0]} to {minutes[-1]}"
        return (f"{drives} guessed at {span} minutes{' each' * (many > 1)}",)

    @property
    def whole(self) -> ReunionProblem | None:
        """Return the problem; None as long as something is missing. Raises `InvalidInputError`: it does not fit together."""
        return None if self.questions else parse_problem(self.problem)


def completed(told: Filled) -> Completed:
    """Complete what was told: a car is where its driver is, what has to be done is done where all meet, and so on."""
    board = _Board(told)
    board.settle()
    problem = board.problem
    own = len(problem["travel_minutes"])
    home = board.meeting.get("place")
    guessed = tuple(estimates(problem["places"], ((row[0], row[1]) for row in problem["travel_minutes"]), home))
    problem["travel_minutes"] += [[each.here, each.there, each.minutes] for each in guessed]
    board.assumed |= {f"travel_minutes[{own + n}]": each.why for n, each in enumerate(guessed)}
    return Completed(problem, board.assumed, tuple(dict.fromkeys(board.notes)), guessed, tuple(_questions(problem)))


class _Board:
    def __init__(self, told: Filled) -> None:
        self.problem: Row = deepcopy(told.problem)
        self.assumed = dict(told.assumed)
        places, people = self.problem["places"], enumerate(self.problem["people"])
        whys = ((person, told.assumed.get(f"people[{number}].place")) for number, person in people)
        self.notes = [f"{person['name']} is at {places.get(person['place'])}, {why}" for person, why in whys if why]

    @property
    def meeting(self) -> Row:
        return next((goal for goal in self.problem["goals"] if goal["people"] == EVERYBODY), {})

    def settle(self) -> None:
        for number, person in enumerate(self.problem["people"]):
            theirs = (key for key in self.problem["places"] if f" {person['name']}'s house" in f" {key}")
            if person.get("place") is None and (house := next(theirs, None)):
                self._assume("people", number, house, "their own house", place=house)
        at = {person["name"]: person.get("place") for person in self.problem["people"]}
        for number, car in enumerate(self.problem["vehicles"]):
            driver = next(iter(car.get("drivers") or ()), None)
            stands = at.get(driver) if driver else self.meeting.get("place")
            why = "where its driver is" if driver else "where all meet"
            self._assume("vehicles", number, "", why, place=stands)
            self._assume("vehicles", number, f"{car['name']} has {SEATS} seats", "as most cars have", seats=SEATS)
        for number, task in enumerate(self.problem["tasks"]):
            place, by = self.meeting.get("place"), self.meeting.get("by")
            words = self.problem["places"].get(place)
            self._assume("tasks", number, f"{task['name']} is done at {words}", "where all meet", place=place)
            field = f"tasks[{number}].ends"
            if "window" not in task and by:
                task["window"], self.assumed[field] = [None, by], "before all meet"
                self.notes.append(f"{task['name']} is done by {by}")
        usual = AS_PEOPLE_PLAN if len(self.problem["people"]) <= MOST_WITH_SLACK else AS_PEOPLE_PLAN[-1:]
        self.problem["objectives"] = self.problem["objectives"] or [each.value for each in usual]

    def _assume(self, table: str, number: int, note: str, why: str, **values: Any) -> None:
        """Set what nobody has said, unless that leaves it as unknown as it is."""
        row = self.problem[table][number]
        for key, value in values.items():
            if value is not None and row.get(key) is None and (key not in row or table != "tasks"):
                row[key], self.assumed[f"{table}[{number}].{key}"] = value, why
                self.notes += [note] if note else []


# -- what only people can say ----------------------------------------------------------------------------------------------


def _questions(said: Row) -> Iterator[Question]:
    if not said["people"]:
        yield Question("people", "Who takes part, and where are they?")
    if not said["goals"] and not any(person.get("goals") for person in said["people"]):
        yield Question("goals", "Where is everybody to be, and by when?", "Everybody must be at {}")
    for number, goal in enumerate(said["goals"]):
        yield from _of_goal(f"goals[{number}]", "everybody", goal)
    for number, person in enumerate(said["people"]):
        name = person["name"]
        if person["place"] is None:
            where = "Where are you?" if name == "Me" else f"Where is {name}?"
            yield Question(f"people[{number}].place", where, f"{name} is at {{}}")
        for index, goal in enumerate(person.get("goals", ())):
            yield from _of_goal(f"people[{number}].goals[{index}]", name, goal)
    for number, vehicle in enumerate(said["vehicles"]):
        if vehicle.get("drivers") == []:
            yield Question(f"vehicles[{number}].drivers", f"Who drives {vehicle['name']}?", f"{{}} drives {vehicle['name']}")
        elif vehicle.get("unlocked_by") and not vehicle.get("drivers"):
            yield Question(f"vehicles[{number}].drivers", "Who rents the car?", "{} rents a car")
    for number, task in enumerate(said["tasks"]):
        if task.get("minutes") is None:
            text = f"How long does {task['name']} take?"
            yield Question(f"tasks[{number}].minutes", text, f"{task['name']} takes {{}}")
    for here, there in unknown_ways(said):
        text = f"How long does it take from {said['places'][here]} to {said['places'][there]}?"
        yield Question("travel_minutes", text, f"{here} to {there} takes {{}}")
    if any(True for _ in _trips(said)) and not said["vehicles"]:
        yield Question("vehicles", "Who has a car, or which vehicles are there?")
    if len(said["people"]) == 1 and not said["tasks"]:
        yield Question("people[1].name", "Who else takes part, or what has to be done?")


def _of_goal(field: str, who: str, goal: Row) -> Iterator[Question]:
    place, by = goal["place"], goal["by"]
    must_be = f"{who[0].upper()}{who[1:]} must be at"
    if place is None:
        yield Question(f"{field}.place", f"Where is {who} to be?", f"{must_be} {{}}" + (f" by {by}" if by else ""))
    if by is None:
        yield Question(f"{field}.by", f"By when is {who} to be there?", f"{must_be} {place} by {{}}" if place else "")


def unknown_ways(said: Row) -> list[tuple[str, str]]:
    """Return the ways that somebody has to travel, and of which nobody knows how long they take; anything along one may be a
    detour.
    """
    import networkx as nx  # slow to import, and a server is to answer soon

    roads = nx.Graph((row[0], row[1]) for row in said["travel_minutes"])
    roads.add_nodes_from(said["places"])
    return [pair for pair in dict.fromkeys(_trips(said)) if not nx.has_path(roads, *pair)]


def _trips(said: Row) -> Iterator[tuple[str, str]]:
    """Return trips from the places of people, vehicles and tasks to where people must be."""
    for person in said["people"]:
        goals = [goal for goal in (*said["goals"], *person.get("goals", ())) if goal["place"]]
        yield from ((person["place"], goal["place"]) for goal in goals if person["place"] not in (None, goal["place"]))
    for goal in (goal for goal in said["goals"][:1] if goal["place"]):
        done = (each.get("place") for each in (*said["tasks"], *said["vehicles"]))
        yield from ((place, goal["place"]) for place in done if place not in (None, goal["place"]))
