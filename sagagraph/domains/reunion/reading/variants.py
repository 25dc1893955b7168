"""Other ways to say what was said. They are guesses: whoever uses one first reads whether it means what it should."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from sagagraph.domains.reunion.reading.facts import Fact, PersonFact, TaskFact, VehicleFact
from sagagraph.domains.reunion.reading.partial import Question
from sagagraph.domains.reunion.reading.quantities import DURATION

_COUNTS: Final = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_BEFORE: Final = r"(?:(?:at|by|from|before|after|until|till|since|around|about) )"
_TIME: Final = re.compile(
    rf"{_BEFORE}?\b(?:noon|midday|midnight|\d{{1,2}}(?:[:.h]\d\d)?(?: ?[ap]m)?)(?![\w:])|{_BEFORE}(?:{_COUNTS})\b", re.IGNORECASE
)
_LASTING: Final = re.compile(rf"(?<![\w.:]){DURATION}", re.IGNORECASE)
_WHERE: Final = re.compile(
    r"\b(?:at|in|from) (?!\d)(?:(?:the|her|his|their) )?[\w'&.-]+"
    r"(?: (?!(?:and|but|at|by|from|who|with|needs?|has|have|is|are|until|before|after)\b)[\w'&.-]+){0,4}",
    re.IGNORECASE,
)
_JOINT: Final = re.compile(r"(\s*,\s*(?:(?:and|but)\s+)?|\s+(?:and|but)\s+|\.\s+)")
_PRONOUN: Final = re.compile(r"\b(?:she|he|they|her|him|them|it)\b", re.IGNORECASE)
_MOST_PIECES: Final = 8
_LEADING: Final = re.compile(r"^(?:at|in|on|to)\s+", re.IGNORECASE)
_LEADING_BY: Final = re.compile(r"^(?:by|at|before|around|about)\s+", re.IGNORECASE)


def merged(old: str, new: str) -> Iterator[str]:
    """One sentence for both, where `new` says something else in a part of `old`."""
    yield new
    for quantity in (_TIME, _LASTING, _WHERE):
        for before in quantity.finditer(old):
            for after in quantity.finditer(new):
                yield old[: before.start()] + after[0] + old[before.end() :]
    for pieces, begin, end in _windows(old):
        if begin and new.split()[:1] == old.split()[:1]:
            yield "".join([*pieces[:begin], new.partition(" ")[2], *pieces[end:]])
        yield "".join([*pieces[:begin], new, *pieces[end:]])


def trimmed(old: str) -> Iterator[str]:
    """`old` without some of its parts, the least that is left first."""
    yield ""
    for pieces, begin, end in sorted(_windows(old), key=lambda each: each[1] - each[2]):
        left = pieces[:begin] + pieces[end + 1 :] if begin == 0 else pieces[: begin - 1] + pieces[end:]
        yield "".join(left)


def _windows(sentence: str) -> Iterator[tuple[list[str], int, int]]:
    """Its parts with what joins them, and which of them, though not all, could be meant."""
    pieces = _JOINT.split(sentence)
    parts = range(0, len(pieces), 2)
    if len(parts) > _MOST_PIECES:
        return
    for begin in parts:
        for end in range(begin + 1, len(pieces) + 1, 2):
            if end - begin < len(pieces):
                yield pieces, begin, end


def named(sentence: str, before: Iterable[Fact]) -> Iterator[str]:
    """With the names of those for whom it has a pronoun; `before`: what was said of whom."""
    names = [each.name for each in before if isinstance(each, PersonFact | TaskFact | VehicleFact)]
    for name in dict.fromkeys([*reversed(names), " and ".join(dict.fromkeys(names))]):
        yield _PRONOUN.sub(name, sentence)


def spelt_out(question: Question, answer: str, known: Mapping[str, Any]) -> Iterator[str]:
    """Whole sentences that a bare answer may stand for."""
    kind = question.field.rpartition(".")[2]
    who = question.about[0] if question.about else "everybody"
    where = _LEADING.sub("", answer)
    if question.field == "travel_minutes":
        yield f"{question.about[0]} to {question.about[1]} takes {answer}"
    elif question.field.startswith("tasks["):
        minutes = next((task.get("minutes") for task in known["tasks"] if task["name"] == who), None)
        yield f"{who} takes {answer}"
        yield f"{who} takes {minutes} minutes at {where}"
    elif kind == "place" and ".goals[" not in question.field and question.field.startswith("people["):
        yield f"{who} is at {where}"
    else:
        yield from _whole_goals(who, answer, where, known)


def _whole_goals(who: str, answer: str, where: str, known: Mapping[str, Any]) -> Iterator[str]:
    own = [goal for person in known["people"] if person["name"] == who for goal in person.get("goals", ())]
    goal: Mapping[str, Any] = next(iter(own or known["goals"]), {})
    named = who[0].upper() + who[1:]
    yield f"{named} must be at {where}"
    yield f"{named} must be at {where} by {goal.get('by')}"
    yield f"{named} must be at {goal.get('place')} by {_LEADING_BY.sub('', answer)}"
