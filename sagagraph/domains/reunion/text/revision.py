"""Revision: how a transcript grows sentence by sentence, and how earlier sentences are corrected.

A transcript lists what holds. What a new sentence supersedes is replaced, shortened or dropped, but only if the whole keeps
exactly the meaning that it has with both: everything is read again for each way that may work.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from rapidfuzz.distance import OSA

from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.suggestions import accept, suggestions
from sagagraph.domains.reunion.text.clauses import tagged
from sagagraph.domains.reunion.text.facts import PersonFact, Sense, sense_of, still_holds
from sagagraph.domains.reunion.text.partial import LONGEST_TEXT, PartialProblem, Question, hear
from sagagraph.domains.reunion.text.reader import Context, Sentence, parts_of, read_sentence
from sagagraph.domains.reunion.transcript import LONGEST_TRANSCRIPT, MOST_SENTENCES, Transcript
from sagagraph.errors import InvalidInputError
from sagagraph.language.forms import form


@dataclass(frozen=True, slots=True)
class Meaning:
    """Meaning of a transcript. `questions`: what must be answered before there is a `problem`. `notes`: the assumptions."""

    questions: tuple[Question, ...]
    notes: tuple[str, ...]
    problem: ReunionProblem | None
    partial: dict[str, Any] = field(default_factory=dict)
    """The problem as far as it is known, in the shape of a file."""
    assumed: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Revision:
    """A revision. `unread`: new sentences that mean nothing here. `overtaken`: earlier sentences, and what replaces each now."""

    transcript: Transcript
    unread: tuple[str, ...] = ()
    overtaken: tuple[tuple[str, str], ...] = ()


def meaning_of(transcript: Transcript) -> Meaning:
    """Return the meaning. Raises `InvalidInputError` for sentences that contradict one another, or the problem they add to."""
    partial = partial_of(transcript)
    questions = partial.missing()
    told = {"partial": partial.problem, "assumed": partial.assembly.assumed}
    if questions:
        return Meaning(questions, partial.notes, None, **told)
    problem = partial.complete()
    proposed = {each.id for each in suggestions(problem)}  # others, which were added before, are no longer made
    return Meaning((), partial.notes, accept(problem, [each for each in transcript.added if each in proposed]), **told)


def partial_of(transcript: Transcript) -> PartialProblem:
    """Return what its sentences say together."""
    partial = PartialProblem(base=transcript.base, filled=transcript.filled)
    heard: list[Sentence] = []
    for sentence in transcript.sentences:
        alone = _alone(sentence)
        if not any(each.facts for each in alone):
            partial = partial.updated_by(heard)
            alone, heard = tuple(hear(sentence, partial)), []
        heard += alone
    return partial.updated_by(heard)


@lru_cache(maxsize=2 * MOST_SENTENCES)
def _alone(sentence: str) -> tuple[Sentence, ...]:
    return tuple(hear(sentence, PartialProblem()))


def with_said(transcript: Transcript, text: str) -> Revision:
    """Add what `text` says. Sentences that mean nothing here are reported, and not kept.

    Raises:
        InvalidInputError: it does not fit the problem that it adds to, or there is too much of it.
    """
    if len(text) > LONGEST_TEXT:
        raise InvalidInputError(f"has {len(text)} characters, and at most {LONGEST_TEXT} are read", field="text")
    return _settled(transcript, hear(text, partial_of(transcript)))


def with_said_instead(transcript: Transcript, number: int, text: str) -> Revision:
    """Replace one sentence by what `text` says, which is read last, and so holds. Raises `InvalidInputError` for nonsense."""
    heard = _alone(text)
    new = [each.text for each in heard if each.facts]
    if not new:
        raise InvalidInputError(
            f"I did not understand: {text.strip() or 'nothing was said'}. The sentence stays as it was", field="text"
        )
    before, after = transcript.sentences[:number], transcript.sentences[number + 1 :]
    in_place = _of(transcript, (*before, *new, *after))
    if _sense(in_place) == _sense(_of(transcript, (*before, *after, *new))):
        return Revision(_checked(in_place), tuple(each for sentence in heard for each in sentence.unread))
    return _settled(_of(transcript, (*before, *after)), heard)


def without(transcript: Transcript, number: int) -> Transcript:
    return _of(transcript, (*transcript.sentences[:number], *transcript.sentences[number + 1 :]))


def _settled(transcript: Transcript, heard: Iterable[Sentence]) -> Revision:
    unread: list[str] = []
    overtaken: list[tuple[str, str]] = []
    known = [each["name"] for each in partial_of(transcript).problem["people"]]
    for sentence in heard:
        _check_names(sentence, known)
        unread += sentence.unread
        if sentence.facts:
            transcript, gone = _with_one_more(transcript, sentence)
            overtaken += gone
    return Revision(_checked(transcript), tuple(unread), tuple(overtaken))


def _check_names(sentence: Sentence, known: list[str]) -> None:
    """Refuse a new name that differs from a known one by a single letter. Raises `InvalidInputError`."""
    for name in (fact.name for fact in sentence.facts if isinstance(fact, PersonFact)):
        is_long = name.isalpha() and len(name) >= _LONG
        alike = [each for each in known if is_long and OSA.distance(each.casefold(), name.casefold()) == 1]
        if alike and name not in known and not _TOO.search(sentence.text):
            raise InvalidInputError(
                f"Do you mean {alike[0]}? Write the name as before, or say first that {name} comes, too.", field="text"
            )


def _with_one_more(transcript: Transcript, new: Sentence) -> tuple[Transcript, list[tuple[str, str]]]:
    """Add one sentence, and drop what it supersedes."""
    wanted = _sense(_of(transcript, (*transcript.sentences, new.text)))
    if _sense(transcript) == wanted:
        return transcript, []
    kept, last = list(transcript.sentences), [new.text]
    gone: list[tuple[str, str]] = []
    for number, old in enumerate(transcript.sentences):
        if still_holds([fact for each in _alone(old) for fact in each.facts], new.facts):
            continue
        ways: list[tuple[str, list[str]]] = [(each, []) for each in revised(old, new.text)] if last else []
        for text, left in (*ways, *((each, last) for each in shortened(old))):
            tried = [*kept[:number], text, *kept[number + 1 :]]
            is_understood = not any(each.unread for each in _alone(text))
            if is_understood and _sense(_of(transcript, (*tried, *left))) == wanted:
                kept, last = tried, left
                gone.append((old, text))
                break
    return _of(transcript, (*kept, *last)), gone


def _of(transcript: Transcript, said: Iterable[str]) -> Transcript:
    return transcript.model_copy(update={"sentences": tuple(each for each in said if each)})


def _checked(transcript: Transcript) -> Transcript:
    length = sum(map(len, transcript.sentences))
    if len(transcript.sentences) > MOST_SENTENCES or length > LONGEST_TRANSCRIPT:
        most = f"{MOST_SENTENCES} sentences and {LONGEST_TRANSCRIPT} characters"
        raise InvalidInputError(f"that is too much: at most {most} are kept; remove some, or begin anew", field="text")
    meaning_of(transcript)
    return transcript


def _sense(transcript: Transcript) -> Sense:
    return sense_of(partial_of(transcript).facts)


_LONG: Final = 4
"""Letters: shorter names are alike by chance."""
_TOO: Final = re.compile(r"\b(?:com(?:es?|ing)|joins?|be there)\b", re.IGNORECASE)
_VALUES: Final = (form("{when}"), form("{amount}"))


def revised(old: str, new: str) -> Iterator[str]:
    """Return one sentence for both, where `new` changes a part of `old`."""
    yield new
    yield from _with_other_values(old, new)
    parts, others = parts_of(old), new.partition(" ")[2]
    for begin, end in _windows(parts):
        before, after = old[: parts[begin][0]], old[parts[end - 1][1] :]
        if begin and new.split()[0] == old.split()[0]:
            yield before + others + after
        yield before + new + after


def shortened(old: str) -> Iterator[str]:
    """Yield `old` without some of its parts, the shortest first."""
    yield ""
    parts = parts_of(old)
    for begin, end in sorted(_windows(parts), key=lambda each: each[0] - each[1]):
        yield old[parts[end][0] :] if begin == 0 else old[: parts[begin - 1][1]] + old[parts[end - 1][1] :]


def _with_other_values(old: str, new: str) -> Iterator[str]:
    """Yield variants with a time, an amount or a place of `new` instead of one of `old`."""
    was, now = tagged(old), tagged(new)
    for kind in _VALUES:
        for before in was.find(kind):
            head, tail = was.said(was.text[: before.start]), was.said(was.text[before.end :])
            yield from (head + after.said + tail for after in now.find(kind))
    for place in _places(old):
        head, found, tail = old.partition(place)
        yield from (head + other + tail for other in _places(new) if found)


def _places(sentence: str) -> dict[str, None]:
    said = (getattr(fact, "place", None) for fact in read_sentence(sentence, Context()).facts)
    return dict.fromkeys(place for place in said if place)


def _windows(parts: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the parts, though not all, that could be meant."""
    for begin in range(len(parts)):
        yield from ((begin, end) for end in range(begin + 1, len(parts) + 1) if end - begin < len(parts))
