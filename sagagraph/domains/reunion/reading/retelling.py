"""A telling, read: what it comes to, and how it grows sentence by sentence.

A telling lists what holds. What is said later goes before, so what it overtakes is put right in the list: an earlier sentence is
replaced, shortened or dropped, but only in a way that leaves the meaning of the whole exactly what it was with both in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from sagagraph.domains.reunion.common_sense import accept, suggestions
from sagagraph.domains.reunion.reading.clauses import sentences, tidy
from sagagraph.domains.reunion.reading.facts import CompanyFact, Fact, GoalFact, HoursFact, ObjectiveFact, RoadFact
from sagagraph.domains.reunion.reading.partial import PartialProblem, Question
from sagagraph.domains.reunion.reading.reader import read_reunion
from sagagraph.domains.reunion.reading.upon import upon
from sagagraph.domains.reunion.reading.variants import merged, named, spelt_out, trimmed
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.telling import LONGEST_TELLING, MOST_SENTENCES, Telling
from sagagraph.errors import InvalidInputError

_FILLER_BEFORE: Final = re.compile(
    r"^(?:(?:actually|no|oh|wait|sorry|well|also|and|but|then|please|rather)\b,?\s+)+", re.IGNORECASE
)
_FILLER_AFTER: Final = re.compile(r",?\s+(?:instead|then|after all|please|too|as well)$", re.IGNORECASE)
_REMEMBERED: Final = 3
"""Texts of a sentence that are remembered for each of those that a telling may have."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """`questions`: what has to be answered before there is a `problem`. `notes`: what was taken for granted."""

    questions: tuple[Question, ...]
    notes: tuple[str, ...]
    problem: ReunionProblem | None


@dataclass(frozen=True, slots=True)
class Heard:
    """`unread`: what of the new sentences means nothing here. `overtaken`: earlier sentences, and what stands for each now."""

    telling: Telling
    unread: tuple[str, ...] = ()
    overtaken: tuple[tuple[str, str], ...] = ()


def meaning_of(telling: Telling) -> Meaning:
    """Raises `InvalidInputError` for sentences that do not fit together, or not the problem that they are said on top of."""
    partial = partial_of(telling.sentences)
    if telling.base is not None:
        return Meaning((), (), _with_added(upon(telling.base, partial.facts), telling.added))
    questions = partial.missing()
    return Meaning(
        questions, tuple(dict.fromkeys(partial.notes)), None if questions else _with_added(partial.complete(), telling.added)
    )


def _with_added(problem: ReunionProblem, ids: Iterable[str]) -> ReunionProblem:
    """What is not proposed any more is left out."""
    proposed = {each.id for each in suggestions(problem)}
    return accept(problem, [each for each in ids if each in proposed])


def partial_of(said: Iterable[str]) -> PartialProblem:
    """Sentence by sentence; one that means nothing by itself answers the question that was open then."""
    partial = PartialProblem()
    for sentence in said:
        read = _alone(sentence)
        if not read.facts and partial.facts:
            read = read_reunion(sentence, partial)
            partial = partial.updated_by(read.facts[len(partial.facts) :], ())
        else:
            partial = partial.updated_by(read.facts, ())
    return partial


@lru_cache(maxsize=_REMEMBERED * MOST_SENTENCES)
def _alone(sentence: str) -> PartialProblem:
    return read_reunion(sentence)


# -- hearing ---------------------------------------------------------------------------------------------------------


def heard(telling: Telling, text: str) -> Heard:
    """With what `text` says. Sentences that mean nothing here are told, and not kept.

    Raises:
        InvalidInputError: it does not fit the problem that it is said on top of, or there is too much of it.
    """
    unread: list[str] = []
    overtaken: list[tuple[str, str]] = []
    before = telling.sentences[-1] if telling.sentences else ""
    for said in sentences(tidy(text)):
        sentence = _without_filler(said)
        found = _one_more(telling, sentence, before)
        before, telling = sentence, found.telling
        unread += found.unread
        overtaken += found.overtaken
    return Heard(_checked(telling), tuple(unread), tuple(overtaken))


def said_instead(telling: Telling, number: int, text: str) -> Heard:
    """One sentence replaced by what `text` says, which is said last, and so holds. Raises `InvalidInputError` for nonsense."""
    others = (*telling.sentences[:number], *telling.sentences[number + 1 :])
    new = ". ".join(map(_without_filler, sentences(tidy(text))))
    read = _alone(new)
    if not read.facts:
        raise InvalidInputError(f"I did not understand: {new or 'nothing was said'}. The sentence stays as it was", field="text")
    in_place = _with(telling, (*telling.sentences[:number], new, *telling.sentences[number + 1 :]))
    if _sense(in_place) == _sense(_with(telling, (*others, new))):
        return Heard(_checked(in_place), read.unread)
    settled = _settled(_with(telling, others), new)
    return Heard(_checked(settled.telling), read.unread, settled.overtaken)


def without(telling: Telling, number: int) -> Telling:
    return _with(telling, (*telling.sentences[:number], *telling.sentences[number + 1 :]))


def _one_more(telling: Telling, sentence: str, before: str) -> Heard:
    """`before`: what was said before it, and whom `she` may mean."""
    alone = _alone(sentence)
    if alone.unread and before:
        context, joined = _alone(before), _alone(f"{before}. {sentence}")
        if len(joined.unread) < len(context.unread) + len(alone.unread):
            facts = joined.facts[len(context.facts) :]
            by_name = (each for each in named(sentence, context.facts) if _alone(each).facts == facts)
            settled = _settled(telling, next(by_name, f"{before}. {sentence}"))
            return Heard(settled.telling, joined.unread[len(context.unread) :], settled.overtaken)
    if telling.base is None and not alone.facts and (answer := _answer(telling, sentence)) is not None:
        return Heard(_with(telling, (*telling.sentences, answer)))
    if not alone.facts:
        return Heard(telling, alone.unread)
    settled = _settled(telling, _read_part(sentence, alone))
    return Heard(settled.telling, alone.unread, settled.overtaken)


def _without_filler(sentence: str) -> str:
    """`Actually, dinner is at 7 instead`: a change says that it is one, and the rest is what holds."""
    plain = _FILLER_AFTER.sub("", _FILLER_BEFORE.sub("", sentence))
    return plain if _alone(plain).facts and len(_alone(plain).unread) <= len(_alone(sentence).unread) else sentence


def _read_part(sentence: str, read: PartialProblem) -> str:
    """Without what means nothing here, where that can be told from the rest."""
    if not read.unread:
        return sentence
    return next((each for each in trimmed(sentence) if each and _alone(each) == PartialProblem(read.facts)), sentence)


def _answer(telling: Telling, sentence: str) -> str | None:
    """The sentence that a bare answer stands for, or itself where there is none; None if it is no answer."""
    partial = partial_of(telling.sentences)
    question = next(iter(partial.missing()), None)
    if question is None or not telling.sentences:
        return None
    answered = read_reunion(sentence, partial)
    if answered.facts == partial.facts:
        return None
    wanted = _canonical(answered)
    for each in spelt_out(question, sentence, partial.problem):
        if _alone(each).facts and _canonical(partial.updated_by(_alone(each).facts, ())) == wanted:
            return each
    return sentence


def _checked(telling: Telling) -> Telling:
    length = sum(map(len, telling.sentences))
    if len(telling.sentences) > MOST_SENTENCES or length > LONGEST_TELLING:
        most = f"{MOST_SENTENCES} sentences and {LONGEST_TELLING} characters"
        raise InvalidInputError(f"that is too much: at most {most} are kept; remove some, or begin anew", field="text")
    meaning_of(telling)
    return telling


# -- what holds ------------------------------------------------------------------------------------------------------


def _settled(telling: Telling, new: str) -> Heard:
    """With `new`, and without what it overtakes."""
    after = _with(telling, (*telling.sentences, new))
    wanted = _sense(after)
    if _sense(telling) == wanted and {*_alone(new).facts} <= {*partial_of(telling.sentences).facts}:
        return Heard(telling)
    topics = _topics(new)
    touched = [number for number, each in enumerate(telling.sentences) if topics & _topics(each)]
    found = _in_place_of_one(telling, new, touched, wanted)
    telling = after if found is None else found[0]
    gone = [] if found is None else [found[1]]
    for number in reversed(touched):
        if found is None or telling.sentences[number] == after.sentences[number]:
            shorter = _shortened(telling, after, number, wanted)
            if shorter is not None:
                gone.append((after.sentences[number], shorter))
                kept = (shorter,) if shorter else ()
                telling = _with(telling, (*telling.sentences[:number], *kept, *telling.sentences[number + 1 :]))
    return Heard(telling, (), tuple(gone))


def _in_place_of_one(telling: Telling, new: str, touched: list[int], wanted: str) -> tuple[Telling, tuple[str, str]] | None:
    """With `new`, or the two in one, where an earlier sentence was."""
    for number in touched:
        old = telling.sentences[number]
        for each in merged(old, new):
            changed = _with(telling, (*telling.sentences[:number], each, *telling.sentences[number + 1 :]))
            if _sense(changed) == wanted:
                return changed, (old, each)
    return None


def _shortened(telling: Telling, after: Telling, number: int, wanted: str) -> str | None:
    """What is left of a sentence that held before, at least in part; empty: nothing. None: all of it still holds."""
    before = _with(telling, after.sentences[:-1])
    for each in trimmed(telling.sentences[number]):
        kept = (each,) if each else ()
        less = (*telling.sentences[:number], *kept, *telling.sentences[number + 1 :])
        held = (*before.sentences[:number], *kept, *before.sentences[number + 1 :])
        if _sense(_with(telling, less)) == wanted and _sense(_with(telling, held)) != _sense(before):
            return each
    return None


def _with(telling: Telling, said: Iterable[str]) -> Telling:
    return telling.model_copy(update={"sentences": tuple(said)})


def _topics(sentence: str) -> frozenset[tuple[str, str]]:
    """What its facts are about: two sentences without a common topic can not contradict each other."""
    return frozenset(map(_topic, _alone(sentence).facts))


def _topic(fact: Fact) -> tuple[str, str]:
    match fact:
        case RoadFact() | ObjectiveFact() | CompanyFact():
            about = ""
        case GoalFact():
            about = ", ".join(sorted(fact.people))
        case HoursFact():
            about = fact.place
        case _:
            about = fact.name
    return type(fact).__name__, about.casefold().removeprefix("the ")


def _sense(telling: Telling) -> str:
    """The same for tellings that mean the same, in whatever order."""
    try:
        partial = partial_of(telling.sentences)
        if telling.base is not None:
            return _sorted(upon(telling.base, partial.facts).model_dump(mode="json"))
        return f"{_canonical(partial)}\n{_of_others(partial.facts)}"
    except InvalidInputError as exc:
        return f"not a reunion: {exc}"


def _of_others(facts: Iterable[Fact]) -> str:
    """What holds for people and places that may be named later."""
    company: dict[str, bool] = {}
    hours: dict[tuple[str, str], int] = {}
    for fact in facts:
        if isinstance(fact, CompanyFact):
            company = {**company, **dict.fromkeys(fact.people, fact.is_wanted)} if fact.people else {"": fact.is_wanted}
        elif isinstance(fact, HoursFact):
            said = {"opens": fact.opens, "closes": fact.closes}
            hours |= {(fact.place.casefold(), name): moment for name, moment in said.items() if moment is not None}
    return f"{sorted(company.items())} {sorted(hours.items())}"


def _canonical(partial: PartialProblem) -> str:
    asked = sorted(each.text for each in partial.missing())
    return "\n".join([_sorted(partial.problem), *sorted(set(partial.notes)), *asked])


def _sorted(problem: Mapping[str, Any]) -> str:
    """Without what it is called, and the long names of its places: they say nothing of who is to be where."""
    fields = {name: _in_order(value) for name, value in problem.items() if name != "name"}
    return json.dumps({**fields, "places": sorted(problem["places"])}, sort_keys=True, default=list)


def _in_order(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        return value
    rows = [sorted(each[:2]) + each[2:] if isinstance(each, list) and len(each) == 3 else each for each in value]
    return sorted(rows, key=lambda each: json.dumps(each, sort_keys=True, default=list))
