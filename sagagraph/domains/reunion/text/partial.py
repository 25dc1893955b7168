"""Partial problems: what is known of a reunion so far, and what must be asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Any, Final, Self

import networkx as nx

from sagagraph.domains.reunion.parsing import parse_problem
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.text.assembly import SEVERAL, Assembly
from sagagraph.domains.reunion.text.clauses import TELLER
from sagagraph.domains.reunion.text.facts import Fact
from sagagraph.domains.reunion.text.reader import Context, Sentence, read_sentence, sentences
from sagagraph.domains.reunion.transcript import Filled
from sagagraph.errors import InvalidInputError

LONGEST_TEXT: Final = 5_000
ESTIMATED: Final = "estimated, because nobody said how long one drives"
_LEADING: Final = re.compile(r"^(?:at|in|on|to|by|before|around|about)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """A question. `field`: what the answer sets in the problem. `answer`: the sentence for a bare answer, with `{}` in its
    place.
    """

    field: str
    text: str
    answer: str = ""

    def answered(self, said: str) -> str:
        return self.answer.format(_LEADING.sub("", said))


@dataclass(frozen=True)
class PartialProblem:
    """A partial problem. `facts` in the order of telling: later ones take precedence. `unread`: what was said and means
    nothing here.
    """

    facts: tuple[Fact, ...] = ()
    unread: tuple[str, ...] = ()
    base: ReunionProblem | None = None
    """A problem that came as a whole, to which everything said is added."""
    filled: Filled | None = None
    """One that was filled in, complete or not; everything said is added to it, too."""
    context: Context = field(default_factory=Context)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return assumptions, to be shown; estimates last."""
        listed = [f"{each.here} to {each.there} {each.minutes} minutes" for each in self.assembly.estimates]
        guessed = (f"{ESTIMATED}: {', '.join(listed)}",) if listed else ()
        return (*dict.fromkeys(self.assembly.notes), *guessed)

    @property
    def problem(self) -> dict[str, Any]:
        """Return the problem as far as it is known, in the shape of a problem's file."""
        return self.assembly.problem

    def updated_by(self, heard: Iterable[Sentence]) -> Self:
        said = tuple(heard)
        facts = (*self.facts, *(fact for sentence in said for fact in sentence.facts))
        unread = tuple(each for sentence in said for each in sentence.unread)
        context = reduce(Context.then, (sentence.context for sentence in said), self.context)
        return replace(self, facts=facts, unread=unread, context=context)

    @cached_property
    def assembly(self) -> Assembly:
        if self.filled is not None:
            return Assembly(self.facts, self.filled.problem, self.filled.assumed)
        return Assembly(self.facts, self.base.model_dump(mode="json") if self.base else None)

    def missing(self) -> tuple[Question, ...]:
        """Return everything that must be answered before `complete`."""
        return () if self.base else tuple(self._questions())

    def open_questions(self) -> Iterator[Question]:
        """Return what a bare answer may be about: the first thing that is missing, or the only time that is estimated."""
        yield from self.missing()[:1]
        if len(self.assembly.estimates) == 1:
            (only,) = self.assembly.estimates
            yield _how_long(self.problem["places"], only.here, only.there)

    def complete(self) -> ReunionProblem:
        """Return the problem. Raises `InvalidInputError`: something is missing, named by its field, or does not fit together."""
        for question in self.missing():
            raise InvalidInputError(question.text, field=question.field)
        return parse_problem(self.problem)

    def _questions(self) -> Iterator[Question]:
        said = self.problem
        if not said["people"]:
            yield Question("people", "Who takes part, and where are they?")
        if not said["goals"] and not any(person.get("goals") for person in said["people"]):
            yield Question("goals", "Where is everybody to be, and by when?", "Everybody must be at {}")
        for number, goal in enumerate(said["goals"]):
            yield from _of_goal(f"goals[{number}]", "everybody", goal)
        for number, person in enumerate(said["people"]):
            name = person["name"]
            if person["place"] is None:
                yield Question(f"people[{number}].place", _where_is(name), f"{name} is at {{}}")
            for index, goal in enumerate(person.get("goals", ())):
                yield from _of_goal(f"people[{number}].goals[{index}]", name, goal)
        for number, vehicle in enumerate(said["vehicles"]):
            if vehicle.get("drivers") == []:
                yield Question(f"vehicles[{number}].drivers", f"Who drives {vehicle['name']}?", f"{{}} drives {vehicle['name']}")
            elif vehicle.get("unlocked_by") and not vehicle.get("drivers"):
                yield Question(f"vehicles[{number}].drivers", "Who rents the car?", "{} rents a car")
        for number, task in enumerate(said["tasks"]):
            name = task["name"]
            if task["place"] is None and self.filled is None:
                yield Question(f"tasks[{number}].place", f"Where is {name} to be done?", f"{name} is done at {{}}")
            if task.get("minutes") is None:
                yield Question(f"tasks[{number}].minutes", f"How long does {name} take?", f"{name} takes {{}}")
        yield from self._ways()

    def _ways(self) -> Iterator[Question]:
        said = self.problem
        for here, there in unknown_ways(said):
            yield _how_long(said["places"], here, there)
        if any(True for _ in _trips(said)) and not said["vehicles"]:
            yield Question("vehicles", "Who has a car, or which vehicles are there?")


def unknown_ways(said: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the ways that somebody has to travel, and of which nobody knows how long they take; anything along one may be a
    detour.
    """
    roads = nx.Graph((row[0], row[1]) for row in said["travel_minutes"])
    roads.add_nodes_from(said["places"])
    return [pair for pair in dict.fromkeys(_trips(said)) if not nx.has_path(roads, *pair)]


def _how_long(names: dict[str, str], here: str, there: str) -> Question:
    text = f"How long does it take from {names[here]} to {names[there]}?"
    return Question("travel_minutes", text, f"{here} to {there} takes {{}}")


def _where_is(name: str) -> str:
    if name == TELLER:
        return "Where are you?"
    return f"Where are the {name.lower()}?" if SEVERAL.fullmatch(name) else f"Where is {name}?"


def _of_goal(field: str, who: str, goal: dict[str, Any]) -> Iterator[Question]:
    place, by = goal["place"], goal["by"]
    must_be = f"{who[0].upper()}{who[1:]} must be at"
    if place is None:
        yield Question(f"{field}.place", f"Where is {who} to be?", f"{must_be} {{}}" + (f" by {by}" if by else ""))
    if by is None:
        yield Question(f"{field}.by", f"By when is {who} to be there?", f"{must_be} {place} by {{}}" if place else "")


def _trips(said: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Return trips from the places of people, vehicles and tasks to where people must be."""
    for person in said["people"]:
        goals = [goal for goal in (*said["goals"], *person.get("goals", ())) if goal["place"]]
        yield from ((person["place"], goal["place"]) for goal in goals if person["place"] not in (None, goal["place"]))
    for goal in (goal for goal in said["goals"][:1] if goal["place"]):
        done = (each.get("place") for each in (*said["tasks"], *said["vehicles"]))
        yield from ((place, goal["place"]) for place in done if place not in (None, goal["place"]))


def read_reunion(text: str, known: PartialProblem | None = None) -> PartialProblem:
    """Read what `text` says, on top of what is `known`.

    Raises:
        InvalidInputError: the text is far too long.
    """
    if len(text) > LONGEST_TEXT:
        raise InvalidInputError(f"has {len(text)} characters, and at most {LONGEST_TEXT} are read", field="TEXT")
    before = known or PartialProblem()
    return before.updated_by(hear(text, before))


def hear(text: str, known: PartialProblem) -> Iterator[Sentence]:
    """Read sentence by sentence. A sentence that means nothing alone may answer the open question."""
    context = known.context
    for each in sentences(text):
        said = read_sentence(each, context)
        if not said.facts and known.facts:
            answers = (read_sentence(question.answered(each), Context()) for question in known.open_questions())
            said = next((answer for answer in answers if answer.facts and not answer.unread), said)
        context = said.context
        yield said
