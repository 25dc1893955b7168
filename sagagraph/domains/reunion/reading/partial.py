"""What is known of a reunion so far, what of that was taken for granted, and what has to be asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Self

import networkx as nx

from sagagraph.domains.reunion.parsing import parse_problem
from sagagraph.domains.reunion.reading.assembly import Assembly, assemble
from sagagraph.domains.reunion.reading.facts import Fact
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class Question:
    """`field`: what of the problem the answer sets. `about`: the people or places that it is about."""

    field: str
    text: str
    about: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PartialProblem:
    """`facts` in the order in which they were said: a later one goes before. `unread`: what was said and means nothing here."""

    facts: tuple[Fact, ...] = ()
    unread: tuple[str, ...] = ()
    _made: list[Assembly] = field(default_factory=list, repr=False, compare=False)

    def updated_by(self, facts: tuple[Fact, ...], unread: tuple[str, ...]) -> Self:
        return replace(self, facts=(*self.facts, *facts), unread=unread, _made=[])

    @property
    def notes(self) -> tuple[str, ...]:
        """What was taken for granted: to be shown."""
        return self._assembly.notes

    @property
    def problem(self) -> dict[str, Any]:
        """As far as it is known, in the shape of a problem's file."""
        return self._assembly.problem

    def missing(self) -> tuple[Question, ...]:
        """Everything that has to be answered before `complete`."""
        return tuple(self._questions())

    def complete(self) -> ReunionProblem:
        """Raises `InvalidInputError`: something is missing, named by its field, or does not fit together."""
        for question in self.missing():
            raise InvalidInputError(question.text, field=question.field)
        return parse_problem(self._assembly.problem)

    @property
    def _assembly(self) -> Assembly:
        if not self._made:
            self._made.append(assemble(self.facts))
        return self._made[0]

    def _questions(self) -> Iterator[Question]:
        said = self._assembly.problem
        if not said["people"]:
            yield Question("people", "Who takes part, and where are they?")
        if not said["goals"] and not any(person.get("goals") for person in said["people"]):
            yield Question("goals", "Where is everybody to be, and by when?")
        for number, goal in enumerate(said["goals"]):
            yield from _goal_questions(f"goals[{number}]", "everybody", goal)
        for number, person in enumerate(said["people"]):
            if person.get("place") is None:
                yield Question(f"people[{number}].place", f"Where is {person['name']}?", (person["name"],))
            for index, goal in enumerate(person.get("goals", ())):
                yield from _goal_questions(f"people[{number}].goals[{index}]", person["name"], goal)
        for number, task in enumerate(said["tasks"]):
            if task.get("place") is None:
                yield Question(f"tasks[{number}].place", f"Where is {task['name']} to be done?", (task["name"],))
            if task.get("minutes") is None:
                yield Question(f"tasks[{number}].minutes", f"How long does {task['name']} take?", (task["name"],))
        yield from self._ways()

    def _ways(self) -> Iterator[Question]:
        """Only ways that somebody has to go; whatever lies on one can be a detour."""
        said = self._assembly.problem
        roads = nx.Graph((row[0], row[1]) for row in said["travel_minutes"])
        roads.add_nodes_from(said["places"])
        wanted = dict.fromkeys(_trips(said))
        for here, there in wanted:
            if not nx.has_path(roads, here, there):
                names = (said["places"][here], said["places"][there])
                yield Question("travel_minutes", f"How long does it take from {names[0]} to {names[1]}?", (here, there))
        if wanted and not said["vehicles"]:
            yield Question("vehicles", "Who has a car, or which vehicles are there?")


def _goal_questions(field: str, who: str, goal: dict[str, Any]) -> Iterator[Question]:
    if goal.get("place") is None:
        yield Question(f"{field}.place", f"Where is {who} to be?", (who,))
    if goal.get("by") is None:
        yield Question(f"{field}.by", f"By when is {who} to be there?", (who,))


def _trips(said: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """From where people and vehicles are, and from where something is to be done, to where people are to be."""
    for person in said["people"]:
        goals = [goal for goal in (*said["goals"], *person.get("goals", ())) if goal.get("place")]
        yield from ((person["place"], goal["place"]) for goal in goals if person.get("place") not in (None, goal["place"]))
    for goal in said["goals"][:1]:
        done = [each for each in (*said["tasks"], *said["vehicles"]) if each.get("place") not in (None, goal.get("place"))]
        yield from ((each["place"], goal["place"]) for each in done if goal.get("place"))
