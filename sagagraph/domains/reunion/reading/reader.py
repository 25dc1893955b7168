"""Reads a reunion from sentences, deterministically. Another reader, a model for instance, is a function of the same shape."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from sagagraph.domains.reunion.reading.clauses import LONGEST_TEXT, Clause, clauses, sentences, tidy
from sagagraph.domains.reunion.reading.company import company, read_company, without_company
from sagagraph.domains.reunion.reading.errands import read_doing, read_everybody, read_somebody, read_thing
from sagagraph.domains.reunion.reading.facts import Fact, GoalFact, PersonFact, RoadFact, TaskFact
from sagagraph.domains.reunion.reading.partial import PartialProblem, Question
from sagagraph.domains.reunion.reading.predicates import PLACE, by_of, read_predicate
from sagagraph.domains.reunion.reading.quantities import durations, times, without_durations, without_times
from sagagraph.domains.reunion.reading.roads import read_roads
from sagagraph.errors import InvalidInputError

Reader = Callable[[str, PartialProblem], PartialProblem]
"""What a text says, on top of what is known from before."""

_PLACE_ALONE: Final = re.compile(rf"(?:at|in|on)?\s*{PLACE}", re.IGNORECASE)
_FILLER: Final = re.compile(r"(?:please|thanks?|thank you|hello|hi|ok(?:ay)?|(?:the|our) hosts?)", re.IGNORECASE)


def read_reunion(text: str, known: PartialProblem | None = None) -> PartialProblem:
    """What `text` says, on top of what is `known` from before. A bare place, time or duration answers the first open question.

    Raises:
        InvalidInputError: the text is far too long.
    """
    if len(text) > LONGEST_TEXT:
        raise InvalidInputError(f"has {len(text)} characters, and at most {LONGEST_TEXT} are read", field="TEXT")
    before = known or PartialProblem()
    facts: list[Fact] = []
    unread: list[str] = []
    people: tuple[str, ...] = ()
    for sentence in sentences(tidy(text)):
        is_answer = known is not None and not any(read_company(each.people, each.rest) for each in clauses(sentence, people))
        answer = _answer(sentence, next(iter(before.missing()), None)) if is_answer else None
        if answer:
            facts += answer
            continue
        roads, rest = read_roads(sentence)
        facts += roads
        for clause in clauses(rest, people):
            people = clause.people or people
            read = _read_with_company(clause, people, facts)
            facts += read or []
            if not read and not _FILLER.fullmatch(clause.rest):
                unread.append(_said(clause))
    return before.updated_by(tuple(facts), tuple(unread))


def _read_with_company(clause: Clause, people: tuple[str, ...], facts: list[Fact]) -> list[Fact] | None:
    """`people`: those whom the clause, or one before it, is about."""
    read = read_company(people, clause.rest)
    rest, is_wanted = without_company(clause.rest)
    if read or not is_wanted:
        return read or _read(clause, facts)
    before = _read(replace(clause, rest=rest), facts)
    return before and [*before, *company(() if clause.everybody else clause.people)]


def _read(clause: Clause, facts: list[Fact]) -> list[Fact] | None:
    if clause.everybody:
        return read_everybody(clause.rest)
    if clause.somebody:
        return read_somebody(clause.rest, next((each.name for each in reversed(facts) if isinstance(each, TaskFact)), None))
    if clause.people:
        read = read_predicate(clause.people, clause.rest) or read_doing(clause.people, clause.rest)
        if read:
            return read
    return read_thing(_said(clause), facts[-1] if facts else None)


def _said(clause: Clause) -> str:
    who = " and ".join(clause.people)
    return f"{who} {clause.rest}" if who else clause.rest


def _answer(sentence: str, question: Question | None) -> list[Fact] | None:
    """A bare answer: nothing but a duration, a place, or a time."""
    if question is None:
        return None
    said, took = times(sentence), durations(sentence)
    plain = without_durations(without_times(sentence)).strip(" ,")
    kind = question.field.rpartition(".")[2]
    if took and not plain and not said:
        return _duration(question, took[0])
    if kind == "by" and said and not plain:
        return [GoalFact(_whom(question), by=by_of(said))]
    place = _PLACE_ALONE.fullmatch(plain)
    if place is None or len(plain.split()) > 5:
        return None
    if kind == "place" and question.field.startswith("people[") and ".goals[" not in question.field:
        return [PersonFact(question.about[0], place["place"])]
    if kind == "place" and question.field.startswith("tasks["):
        return [TaskFact(question.about[0], place["place"])]
    if kind == "place" or (kind == "goals" and said):
        return [GoalFact(_whom(question), place["place"], by_of(said))]
    return None


def _duration(question: Question, minutes: float) -> list[Fact] | None:
    if question.field == "travel_minutes":
        return [RoadFact(question.about[0], question.about[1], minutes)]
    return [TaskFact(question.about[0], minutes=round(minutes))] if question.field.startswith("tasks[") else None


def _whom(question: Question) -> tuple[str, ...]:
    return tuple(each for each in question.about if each != "everybody")
