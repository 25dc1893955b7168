"""Reader: what sentences say of a reunion, clause by clause, and which parts mean nothing here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from sagagraph.domains.reunion.text.clauses import Clause, names_in, tagged, untimed
from sagagraph.domains.reunion.text.facts import Fact, PersonFact, TaskFact, VehicleFact
from sagagraph.domains.reunion.text.slots import SLOTS
from sagagraph.language.forms import Forms
from sagagraph.language.passage import Passage

_SAYS: Final = Forms(__file__, "reader")

_SENTENCE_END: Final = re.compile(r"[!?;\n]+|\.(?=\s|$)")
_MOST_PARTS: Final = 8
"""Of a sentence that are one clause together, like `Ann, Bob, Cleo and Dan are at home`."""
_SPELLINGS: Final = tuple(
    (re.compile(words, re.MULTILINE), instead)
    for words, instead in (
        (r"^[ \t]*(?:[-*•]|\d+[.)])[ \t]+", ""),
        (r"^[A-Z][\w ,/&'()-]{2,60}:[ \t]*$", ""),
        (
            r"(?i)(^|[.;]\s+)(?:objective|goal|(?:travel|driving) times?(?: ?\(minutes\))?|locations?|places"
            r"|soft(?: wish(?:es)?)?|arrivals|common sense(?:, to be offered)?|(?:key )?requirements?|note)\s*:\s*",
            r"\1",
        ),
        (r"\(([A-Z])\)", r"\1"),
        (r"\b([Ss]?[Hh]e)'s\b", r"\1 is"),
        (
            r"(?i)\bwe (?:also |still |all )?(?:need|have) to "
            r"(?=(?:pick|buy|get|collect|fetch|bring|walk|feed|bake|cook|make|prepare)\b)",
            "somebody must ",
        ),
        (r"\bin ([A-Z]\w+(?: [A-Z]\w+)?) at ((?:[A-Z]\w+'s|our|my|the) (?:place|house|home))\b", r"at \2 in \1"),
        (r"\b(\d+) and a half hours", r"\1.5 hours"),
        (r"\b([A-Z]\w+)'s (?=(?:at|in|coming|landing|driving|arriving|not|still) )", r"\1 is "),
        (r"(?i)\b(?:my|our|her|his|their|the) (dog|cat|puppy|kitten),? (?-i:[A-Z]\w+),?", r"the \1"),
        (r"\b([A-Z]\w+) \(((?:[a-z]+|\d+)-seater)\)", r"\1 with a \2"),
        (r"^([A-Z]\w+(?: \w+)?)(?: \([^)]*\))?: ([A-Z])(?=[a-z])", lambda said: f"{said[1]} {said[2].lower()}"),
        (r"^([A-Z]\w+(?: \w+)?)(?: \([^)]*\))?: (?=[a-z\d])", r"\1 "),
        (r"(?i)\b(?:our|the|my|a )?(?:local )?(?:friend|neighbou?r|cousin|colleague) (?=(?-i:[A-Z]))", ""),
        (
            r"(?i)\bbetween (\d{1,2}(?::\d\d)?(?: ?[ap]m)?) and (\d{1,2}(?::\d\d)?(?: ?[ap]m)?)(?![\w:])",
            r"from \1 until \2",
        ),
    )
)
"""Lists, headings and short ways of writing, as sentences have them."""


@dataclass(frozen=True, slots=True)
class Context:
    """The people whom `she` means, and what `it` may mean."""

    people: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    cooked: str = ""
    """What is in the oven, and must not be left."""

    def after(self, facts: Iterable[Fact]) -> Context:
        said = list(facts)
        people = dict.fromkeys(each.name for each in said if isinstance(each, PersonFact))
        cooked = [
            each.name for each in said if isinstance(each, TaskFact) and _SAYS.oven.search(each.name) and not each.is_errand
        ]
        things = tuple(thing for each in said for thing in _things(each))
        return self.then(Context(tuple(people), things, (cooked or [""])[-1]))

    def then(self, later: Context) -> Context:
        return Context(later.people or self.people, later.things or self.things, later.cooked or self.cooked)


def _things(fact: Fact) -> Iterator[str]:
    match fact:
        case TaskFact(name, place):
            yield from (each for each in (name, place) if each)
        case VehicleFact(name, drivers=()):
            yield f"taxi {name}"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as read. `text` has only what was understood, and can be read alone. `unread`: what means nothing here."""

    text: str
    facts: tuple[Fact, ...]
    unread: tuple[str, ...]
    context: Context


def sentences(text: str) -> list[str]:
    """Return the sentences, with one spelling for what can be written in several ways."""
    text = text.replace("’", "'").replace("–", "-").replace("—", ", ").replace("→", "-")
    text = re.sub(r"\b([ap])\.\s?m\.?(?=\W|$)", r"\1m", text, flags=re.IGNORECASE)
    for words, instead in _SPELLINGS:
        text = words.sub(instead, text)
    text = re.sub(r"\s*\(([^)]*)\)", r", \1,", text)
    text = re.sub(r"'s (?:flight|plane|train|bus) (?=lands|arrives|gets in)", " ", text)
    return [stripped for each in _SENTENCE_END.split(text) if (stripped := each.strip(" ,."))]


def parts_of(text: str) -> list[tuple[int, int]]:
    """Return where each possible clause, or part of one, begins and ends."""
    joints = [each.span() for each in _SAYS.joint.finditer(text)]
    return list(zip([0, *(end for _, end in joints)], [*(begin for begin, _ in joints), len(text)], strict=True))


def read_sentence(sentence: str, context: Context) -> Sentence:
    """Read a sentence. `Actually, dinner is at 7 instead` announces a change; the rest of it is what holds."""
    plain = _SAYS.after.sub("", _SAYS.before.sub("", sentence))
    return min(_read(plain, context), _read(sentence, context), key=lambda each: len(each.unread))


@lru_cache(maxsize=1024)
def _read(sentence: str, context: Context) -> Sentence:
    reading = _Reading(sentence, context)
    return Sentence(reading.text, tuple(reading.facts), tuple(reading.unread), reading.context)


class _Reading:
    """Reads part by part between commas and `and`s, always as many parts as make one clause together."""

    def __init__(self, sentence: str, context: Context) -> None:
        self.text = ""
        self.facts: list[Fact] = []
        self.unread: list[str] = []
        self.context = context
        self._people: tuple[str, ...] = ()
        """Whom this sentence is about so far."""
        self._passage = tagged(sentence)
        self._parts = parts_of(self._passage.text)
        self._read_all()

    def _read_all(self) -> None:
        at = unread_from = 0
        while at < len(self._parts):
            end = self._read_clause(at)
            if end is not None:
                self._leave_out(unread_from, at)
                unread_from = end
            elif len((words := self._part(at, at + 1)).split()) > 1 and names_in(words):
                self.context = replace(self.context, people=())  # whom `he` means after it is nobody before it
            at = end or at + 1
        self._leave_out(unread_from, at)

    def _read_clause(self, begin: int) -> int | None:
        """Return where the next clause begins; None if none begins here."""
        for end in range(min(begin + _MOST_PARTS, len(self._parts)), begin, -1):
            for words in _as_meant(self._part(begin, end), self.context):
                facts = self._facts(words)
                if facts:
                    joint = self._passage.text[self._parts[begin - 1][1] : self._parts[begin][0]] if self.text else ""
                    self.text += self._passage.said(joint + words)
                    self.facts += facts
                    self._people = Context().after(facts).people or self._people
                    self.context = self.context.after(facts)
                    return end
        return None

    def _facts(self, words: str) -> list[Fact]:
        part = Passage(words.strip(), self._passage)
        plain, when = untimed(part)
        for slot in SLOTS:
            found = (plain if slot.is_timed else part).whole(slot.form)
            if found:
                people = names_in(found.passage.said(found.match.groupdict().get("who") or "")) or self._people
                facts = list(slot.read(Clause(found, when, people, self.facts[-1] if self.facts else None)))
                if facts:
                    return facts
        return []

    def _leave_out(self, begin: int, end: int) -> None:
        """Leave out what means nothing here, as it was written."""
        words = self._passage.said(self._part(begin, end)) if begin < end else ""
        if words.strip() and not _SAYS.filler.fullmatch(words):
            self.unread.append(words)

    def _part(self, begin: int, end: int) -> str:
        return self._passage.text[self._parts[begin][0] : self._parts[end - 1][1]]


def _as_meant(words: str, context: Context) -> Iterator[str]:
    """Return the words as they were said, with names in place of `she` or `it`."""
    yield words
    if context.people and _SAYS.they.search(words):
        yield _SAYS.they.sub(" and ".join(context.people), words)
    for thing in filter(None, dict.fromkeys((context.cooked, *context.things))):
        if _SAYS.somebody.search(words) and _SAYS.be_there.search(words):
            yield _SAYS.be_there.sub(f"watch {thing}", words)
    for thing in context.things:
        if _SAYS.it.search(words):
            yield _SAYS.it.sub(thing, words)
