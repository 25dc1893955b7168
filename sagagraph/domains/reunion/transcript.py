"""Transcript: what people said about a reunion, kept alongside the problem that it made."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Final, Self

from pydantic import AfterValidator, BaseModel, Field, model_validator

from sagagraph.domains.reunion.request import ReunionProblem

MOST_SENTENCES: Final = 200
LONGEST_TRANSCRIPT: Final = 20_000
"""Characters of all sentences: they are repeated in the journal with every change of a saga's request."""

IN_PART: Final = "not all of it was understood"
"""Why the name of a row is marked, of which something was said that was not understood."""
WHOSE: Final = {"goals": "people"}
"""The column that carries the mark, by the table, where it is not the name."""

Sentence = Annotated[str, Field(min_length=1, max_length=LONGEST_TRANSCRIPT)]


class _Goal(BaseModel, frozen=True):
    people: str | list[str] = ""
    place: str | None
    by: str | None


class _Row(BaseModel, frozen=True):
    name: str
    place: str | None = None
    drivers: list[str] | None = None
    goals: list[_Goal] = []


class _Person(_Row, frozen=True):
    place: str | None


class _Tables(BaseModel, frozen=True):
    """Tables of a board: what must stand in them at least for it to be completed."""

    name: str
    places: dict[str, str]
    people: list[_Person]
    vehicles: list[_Row]
    tasks: list[_Row]
    goals: list[_Goal]
    travel_minutes: list[tuple[str, str, Any]]
    objectives: list[str]

    @model_validator(mode="after")
    def _has_its_places(self) -> Self:
        goals = [*self.goals, *(goal for person in self.people for goal in person.goals)]
        rows: list[_Row | _Goal] = [*self.people, *self.vehicles, *self.tasks, *goals]
        named = {each.place for each in rows}
        named |= {end for here, there, _ in self.travel_minutes for end in (here, there)}
        for unknown in sorted(named - {None} - set(self.places), key=str):
            raise ValueError(f"{unknown!r} is none of its places")
        return self


def _has_tables(problem: dict[str, Any]) -> dict[str, Any]:
    _Tables.model_validate(problem)
    return problem


class Filled(BaseModel, extra="forbid", frozen=True):
    """What was filled in field by field, complete or not. `problem`: in the shape of a file, in which unknown values are None.
    `assumed`: why a value in it is taken to be so, by its field. `day`: on which all meet; None: nobody has said.
    """

    problem: Annotated[dict[str, Any], AfterValidator(_has_tables)]
    assumed: dict[str, str] = {}
    day: date | None = None


EMPTY: Final = Filled(
    problem={
        "name": "reunion",
        "places": {},
        **{kind: [] for kind in ("people", "vehicles", "tasks", "travel_minutes", "distance_km", "objectives", "apart")},
        "goals": [{"people": "all", "place": None, "by": None}],
    }
)


class Transcript(BaseModel, extra="forbid", frozen=True, serialize_by_alias=True):
    """Transcript. `filled`: the board. The others are of releases that kept what was said in `sentences`, on top of a problem
    (`base`) or of the board, with ids of accepted suggestions (`added`).
    """

    sentences: Annotated[tuple[Sentence, ...], Field(max_length=MOST_SENTENCES)] = ()
    added: Annotated[tuple[str, ...], Field(max_length=MOST_SENTENCES)] = ()
    base: ReunionProblem | None = None
    filled: Filled | None = Field(None, exclude_if=lambda filled: filled is None)

    @model_validator(mode="after")
    def _is_short(self) -> Self:
        length = sum(map(len, self.sentences))
        if length > LONGEST_TRANSCRIPT:
            raise ValueError(f"has {length} characters, and at most {LONGEST_TRANSCRIPT} are kept")
        return self
