"""Reader: what sentences say about a reunion, clause by clause, and which parts are not understood."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sagagraph.domains.reunion.text.clauses import Clause, bared, leading_name, names_in, tagged
from sagagraph.domains.reunion.text.facts import Fact
from sagagraph.domains.reunion.text.slots import SLOTS
from sagagraph.language.forms import Forms
from sagagraph.language.passage import Passage
from sagagraph.language.utterance.shorthand import in_full, spelled

_SAYS: Final = Forms(__file__, "reader")
_SENTENCE_END: Final = re.compile(r"[!?;\n]+|\.(?=\s|$)")
_MOST_PARTS: Final = 8
"""Of a sentence that are one clause together, like `Ann, Bob, Cleo and Dan are at home`."""
_WRITTEN: Final = (
    (re.compile(r"(?m)^[ \t]*(?:[-*•]|\d+[.)])[ \t]+"), ""),
    (re.compile(r"\b([ap])\.\s?m\.?(?=\W|$)", re.IGNORECASE), r"\1m"),
    (re.compile(r"\s*\(([^)]*)\),?"), r", \1,"),
    (re.compile(r"\bSt\.(?= [A-Z])"), "St"),
    (re.compile(r"(?<![\w.'])i(?![\w.])"), "I"),
    (re.compile(r"\b(I)'m\b"), r"\1 am"),
    (re.compile(r"\b([Ww]e|[Tt]hey)'re\b"), r"\1 are"),
    (re.compile(r"\b(I|[Ww]e|[Tt]hey)'ve\b"), r"\1 have"),
    (re.compile(r"\b([Ww]e|[Tt]hey|I|[Ss]?[Hh]e)'(?:d|ll)\b"), r"\1 will"),
    (re.compile(r"'s got\b"), " has"),
    (re.compile(r"'s (?:flight|plane|train) (?=lands|arrives|gets in)"), " "),
    (re.compile(r"\b(\w+)'s(?= (?:at|in|on|not|ready|moved|coming|landing)\b)"), r"\1 is"),
)
"""One way of writing for each that is common: lists, and short forms of verbs."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as read. `unread`: what means nothing here, as it was written."""

    facts: tuple[Fact, ...]
    unread: tuple[str, ...]


def sentences(text: str) -> list[str]:
    text = spelled(in_full(text)).replace("’", "'").replace("–", "-").replace("—", ", ")
    for written, instead in _WRITTEN:
        text = written.sub(instead, text)
    return [stripped for each in _SENTENCE_END.split(text) if (stripped := each.strip(" ,."))]


def read_sentence(sentence: str, before: tuple[Fact, ...] = (), known: frozenset[str] = frozenset()) -> Sentence:
    """Read a sentence, without what introduces it or rounds it off. `before`: what was said before tells who `she` is.
    `known`: people on the board.
    """
    plain = _SAYS.after.sub("", _SAYS.before.sub("", sentence))
    tried = (_Reading(each, before, known) for each in dict.fromkeys((plain, sentence)))
    best = min(tried, key=lambda each: sum(map(len, each.unread)))
    return Sentence(tuple(best.facts), tuple(best.unread))


class _Reading:
    """Reads part by part between commas and `and`s, always as many parts as make one clause together."""

    def __init__(self, sentence: str, before: tuple[Fact, ...], known: frozenset[str]) -> None:
        self.facts: list[Fact] = []
        self.unread: list[str] = []
        self._before = before
        self._known = known.union(each.name for each in before if each.table == "people")
        self._passage = tagged(sentence)
        joints = [each.span() for each in _SAYS.joint.finditer(self._passage.text)]
        ends = [*(begin for begin, _ in joints), len(self._passage.text)]
        self._parts = list(zip([0, *(end for _, end in joints)], ends, strict=True))
        self._people: tuple[str, ...] = ()
        """Whom this sentence is about so far."""
        self._read_all()

    def _read_all(self) -> None:
        at = unread_from = 0
        while at < len(self._parts):
            end = next((end for end in range(min(at + _MOST_PARTS, len(self._parts)), at, -1) if self._reads(at, end)), None)
            if end is not None:
                self._leave_out(unread_from, at)
                unread_from = end
            else:
                self._pass_over(self._part(at, at + 1))
            at = end or at + 1
        self._leave_out(unread_from, at)

    def _pass_over(self, words: str) -> None:
        """Pass over a clause that is not understood: the next one is about whom it begins with, if anybody is named in it."""
        if names_in(words):
            begins = leading_name(words.strip())
            self._people = begins if len(names_in(words)) == 1 else ()

    def _reads(self, begin: int, end: int) -> bool:
        for words in self._as_meant(self._part(begin, end)):
            facts = self._facts(words)
            if facts:
                self.facts += facts
                return True
        return False

    def _facts(self, words: str) -> list[Fact]:
        part = Passage(words.strip(), self._passage)
        plain, adjuncts, when = bared(part)
        if len({each.how for each in when}) < len(when):
            return []  # two times, of two people
        last = next(reversed((*self._before, *self.facts)), None)
        for slot in SLOTS:
            found = (part if slot.takes is None else plain).whole(slot.form) if slot.fits(adjuncts) else None
            if found:
                named = names_in(found.passage.said(found.match.groupdict().get("who") or ""))
                facts = list(slot.read(Clause(found, when, named or self._people, last, adjuncts, self._known)))
                if facts:
                    self._people = named or self._people
                    return facts
        return []

    def _as_meant(self, words: str) -> Iterator[str]:
        """Return the words as they were said, and with names in place of `she`, `it` or `I`, where only one can be meant."""
        yield words
        said = (*self._before, *self.facts)
        people = self._people or next(((each.name,) for each in reversed(said) if each.table == "people"), ())
        things = [each.name for each in said if each.table == "tasks"][-1:]
        meant = _SAYS.he.sub(people[0], words) if len(people) == 1 else words
        meant = _SAYS.it.sub(things[0], meant) if things else meant
        if meant != words:
            yield meant

    def _leave_out(self, begin: int, end: int) -> None:
        """Leave out what means nothing here, as it was written."""
        words = self._passage.said(self._part(begin, end)).strip(" ,.") if begin < end else ""
        if words and not _SAYS.filler.fullmatch(words):
            self.unread.append(words)

    def _part(self, begin: int, end: int) -> str:
        return self._passage.text[self._parts[begin][0] : self._parts[end - 1][1]]
