"""Utterances: what somebody means by what they say, before anybody does anything about it.

A text is split into utterances, and each is one of the kinds below. Whatever is unclear gets the kind that does less: a question
rather than news, praise rather than a decision.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from sagagraph.errors import InvalidInputError
from sagagraph.language.forms import Forms, form
from sagagraph.language.utterance.decisions import Act, decision_in, is_small_talk
from sagagraph.language.utterance.shorthand import in_full, spelled


class Kind(StrEnum):
    """Kind of an utterance. Only `WISH`, `NEWS` and `DECISION` can change anything."""

    QUESTION = "question"
    HYPOTHETICAL = "hypothetical"
    """A change to be tried on a copy."""
    WISH = "wish"
    NEWS = "news"
    HEARSAY = "hearsay"
    """News that is denied, feared, of another time or of other people."""
    DECISION = "decision"
    SMALL_TALK = "small talk"


@dataclass(frozen=True, slots=True)
class Utterance:
    """`text`: as it was written; of a polite request or a hypothetical, the wish in it."""

    kind: Kind
    text: str
    act: Act | None = None
    place: int = 0
    """Of a choice: which one, from 1."""
    said: str = ""
    """The whole of it, where `text` is a part."""


_SAYS: Final = Forms(__file__, "utterances")

# -- taking a text apart -----------------------------------------------------------------------------------------------

_SENTENCE: Final = re.compile(r"(?<=[.!?;])(?<!\b[ap]\.m\.)(?<!\b[ap]\.m)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bSt\.)(?<!\bMt\.)\s+|\n+")


def utterances(text: str) -> tuple[Utterance, ...]:
    """Return what a text says, in order. Wishes that follow one another stay together, as they were written."""
    found: list[Utterance] = []
    for sentence in _SENTENCE.split(with_corrections(spelled(in_full(text)).strip())):
        for each in _parts(_SAYS.noise.sub("", sentence.strip())):
            last = found[-1] if found else None
            if last is not None and last.kind is each.kind is Kind.WISH and not (last.said or each.said):
                found[-1] = replace(last, text=f"{last.text} {each.text}")
            else:
                found.append(each)
    return (Utterance(Kind.HEARSAY, text, said=text),) if _is_opposed(found) else tuple(found)


def _is_opposed(said: Iterable[Utterance]) -> bool:
    """Tell whether it is `do it, cancel all of it`: a decision and its opposite. `Yes, cancel it` is only one."""
    acts = {each.act for each in said if each.act not in (Act.APPROVE, Act.WITHOUT) or _SAYS.does.search(each.text)}
    return not acts.isdisjoint((Act.APPROVE, Act.WITHOUT)) and not acts.isdisjoint((Act.CANCEL, Act.CANCEL_PART, Act.REJECT))


_STATED: Final = (Kind.WISH, Kind.NEWS, Kind.HEARSAY)


def is_statement(said: Utterance) -> bool:
    """Tell whether it was written as a statement, rather than as a question or a decision."""
    return said.kind in _STATED and not said.said


def wishes_in(text: str) -> str:
    """Return what a text wishes, for those who read sentences without a conversation.

    Raises:
        InvalidInputError: it only asks, supposes or decides, and so changes nothing.
    """
    said = utterances(text)
    if not said or all(map(is_statement, said)):
        return with_corrections(text)
    wished = [each.text for each in said if each.kind is Kind.WISH]
    if not wished:
        raise InvalidInputError(
            f"this asks, supposes or decides, and changes nothing: {text.strip()!r}. Say what you wish", field="text"
        )
    return " ".join(f"{each.rstrip(' .')}." for each in wished)


def news_in(text: str) -> str:
    """Return a report of what has happened. Raises `InvalidInputError` for what only asks, supposes, denies or fears it."""
    told = [each.text for each in utterances(text) if each.kind in (Kind.NEWS, Kind.WISH)]
    if not told or len(told) != len(utterances(text)):
        raise InvalidInputError(
            f"this asks, or is not certain, and changes nothing: {text.strip()!r}. Say what has happened", field="text"
        )
    return " ".join(told)


def with_corrections(text: str) -> str:
    """Return the text with the number that was said last in the place of what it corrects: `4 nights in Paris. No wait, 5`."""
    found = _SAYS.corrected.search(text)
    if found is None:
        return text
    before = text[: found.start()]
    unit = rf"(?= {re.escape(found['unit'])})" if found["unit"] else ""
    numbers = list(form(_SAYS.text("A_NUMBER") + unit).finditer(before))
    if not numbers:
        return text
    last = numbers[-1]
    return before[: last.start()] + found["number"] + before[last.end() :] + text[found.end() :]


def _parts(sentence: str) -> Iterator[Utterance]:
    if not re.search(r"\w", sentence):
        return
    alone = _decision(sentence)
    if alone is not None or is_small_talk(sentence):
        yield alone or Utterance(Kind.SMALL_TALK, sentence)
        return
    head = _SAYS.head.match(sentence)
    if head is not None and not (head["no"] and sentence[head.end("no")] == " " and not _SAYS.subject.match(head["rest"])):
        if not head["no"]:
            said = sentence[: head.start("rest")].strip(" ,!.–-")
            yield _decision(said) or Utterance(Kind.SMALL_TALK, said)
        elif (decided := _decision(head["rest"])) is not None:
            yield replace(decided, act=Act.PRAISE if decided.act is Act.APPROVE else decided.act)
            return
        yield from _parts(head["rest"])
        return
    split = _SAYS.but.match(sentence)
    decided = _decision(split["first"]) if split else None
    if split is not None and decided is not None:
        yield decided
        rest = split["rest"]
        is_condition = sentence[split.end("first") : split.start("rest")].strip(" ,").casefold() not in ("and", "but")
        yield from [Utterance(Kind.HEARSAY, rest, said=sentence)] if is_condition else _parts(rest)
        return
    decisions = [decided for piece in _SAYS.joint.split(sentence) if (decided := _decision(piece)) or piece.strip()]
    if all(decisions):
        opposed = _is_opposed(filter(None, decisions))
        yield from [Utterance(Kind.HEARSAY, sentence, said=sentence)] if opposed else filter(None, decisions)
        return
    pieces = [piece for piece in _SAYS.also_asked.split(sentence) if piece.strip()]
    if len(pieces) > 1 and _kind_of(pieces[0]).kind in (Kind.WISH, Kind.NEWS):
        for piece in pieces:
            yield from _parts(piece)
        return
    yield _kind_of(sentence)


# -- questions and hypotheticals ---------------------------------------------------------------------------------------

_QUESTION_MARK: Final = re.compile(r"\?[\s!?.…]*$")
_TENSES: Final = dict(each.split(":") for each in _SAYS.listed("TENSES"))
_TENSE: Final = form(rf"\b(?:{'|'.join(_TENSES)})\b")


def _kind_of(said: str) -> Utterance:
    supposed = _SAYS.supposed.match(said)
    if supposed is not None and _SAYS.if_cancelled.fullmatch(supposed["wish"]):
        return Utterance(Kind.QUESTION, "what does it cost to cancel it?", said=said)
    is_asked = any((_QUESTION_MARK.search(said), _SAYS.asks.match(said), _SAYS.another_one.fullmatch(said)))
    if supposed is not None or (is_asked and _SAYS.would.search(said)):
        return Utterance(Kind.HYPOTHETICAL, supposed_wish(supposed["wish"] if supposed else said), said=said)
    polite = _SAYS.polite.match(said)
    if polite is not None and not _SAYS.only_able.search(polite["wish"]) and not _SAYS.asks.match(polite["wish"]):
        wish = polite["wish"].rstrip("? ")
        decided = _decision(wish)
        if decided is None:
            return Utterance(Kind.WISH, wish)
        return Utterance(Kind.DECISION, wish, Act.PRAISE if decided.act is Act.APPROVE else decided.act, decided.place, said)
    if is_asked:
        return Utterance(Kind.QUESTION, said)
    return Utterance(_stated(said), said)


def supposed_wish(said: str) -> str:
    """Return the wish in a hypothetical: `if we stayed 4 nights, how much more would that be?` is `we stay 4 nights`."""
    plain = _TENSE.sub(lambda found: _TENSES[found[0].casefold()], _SAYS.around.sub(" ", said))
    return " ".join(plain.split()).strip(" ,.;")


# -- news --------------------------------------------------------------------------------------------------------------


def _stated(said: str) -> Kind:
    if not _SAYS.happened.search(said) and not _SAYS.denied.search(said):
        return Kind.WISH
    return Kind.HEARSAY if _SAYS.hedged.search(said) or _SAYS.denied.search(said) else Kind.NEWS


def is_undecided(said: str) -> bool:
    """Tell whether a wish is only thought about: `my sister might come`."""
    return _SAYS.hesitates.search(said) is not None


def is_another_plan(said: str) -> bool:
    """Tell whether it begins with a wish for one more plan, beside the one that is there."""
    return _SAYS.anew.match(said) is not None


def tells_news(said: str) -> bool:
    """Tell whether it speaks of something that falls through."""
    return _SAYS.happened.search(said) is not None


def falls_through(said: str) -> bool:
    """Tell whether it speaks of a booking that is lost."""
    return _SAYS.lost.search(said) is not None


def _decision(said: str) -> Utterance | None:
    found = decision_in(said)
    return None if found is None else Utterance(Kind.DECISION, said, *found)
