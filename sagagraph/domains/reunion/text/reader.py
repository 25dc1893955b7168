"""Reader: what sentences say about a reunion, clause by clause, and which parts are not understood."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

from sagagraph.domains.reunion.text.clauses import HERE, TELLER, Clause, bared, car_of, leading_name, names_in, tagged
from sagagraph.domains.reunion.text.facts import Fact, PersonFact, TaskFact, VehicleFact
from sagagraph.domains.reunion.text.slots import SLOTS
from sagagraph.language.forms import Forms
from sagagraph.language.passage import Passage
from sagagraph.language.utterance.shorthand import in_full, spelled

_SAYS: Final = Forms(__file__, "reader")

_SENTENCE_END: Final = re.compile(r"[!?;\n]+|\.(?=\s|$)")
_WORDS: Final = frozenset(re.findall(r"[a-z]{4,}", (Path(__file__).parent / "forms.ini").read_text(encoding="utf-8")))
"""Those of the phrases, for slips of the finger."""
_NO_FIRST_NAMES: Final = _SAYS.listed("NO_FIRST_NAMES")
_FIRST_NAMES: Final = re.compile(r"^[a-z]+(?:(?:, and|,| and) [a-z]+)+(?= )")
_MOST_PARTS: Final = 8
"""Of a sentence that are one clause together, like `Ann, Bob, Cleo and Dan are at home`."""
_SPELT: Final = Forms(__file__, "spellings")
_SPELLINGS: Final = tuple(
    (re.compile(words, re.MULTILINE), instead.strip())
    for words, _, instead in (_SPELT.text(name).partition(" =>") for name in _SPELT)
)
"""Lists, headings and short ways of writing, as sentences have them."""


@dataclass(frozen=True, slots=True)
class Context:
    """The people whom `she` means, and what `it` may mean."""

    people: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    cooked: str = ""
    """What is in the oven, and must not be left."""
    place: str = ""
    """`There`."""
    both: tuple[str, ...] = ()
    several: tuple[str, ...] = ()
    """`They`; nobody, if things were named last."""
    driver: str = ""
    """Whose car `the car` is."""
    subject: tuple[str, ...] = ()
    """Of the people, those of whom something was said: `Ann` in `Ann picks up Bob`."""

    @classmethod
    def of(cls, said: list[Fact]) -> Context:
        """Return what the facts of one clause name."""
        people = dict.fromkeys(name for each in said for name in _people(each))
        cooked = [
            each.name for each in said if isinstance(each, TaskFact) and _SAYS.oven.search(each.name) and not each.is_errand
        ]
        things = tuple(thing for each in said for thing in _things(each))
        places = [place for each in said if (place := getattr(each, "place", None)) and place != HERE]
        drivers = [each.drivers[0] for each in said if isinstance(each, VehicleFact) and each.drivers]
        several = tuple(people) if len(people) > 1 else ()
        return cls(
            tuple(people),
            things,
            (cooked or [""])[-1],
            (places or [""])[-1],
            both=tuple(people),
            several=several,
            driver=(drivers or [""])[-1],
        )

    def then(self, later: Context) -> Context:
        both = tuple(dict.fromkeys(reversed((*self.both, *later.both))))[:2][::-1]
        return Context(
            later.people or self.people,
            later.things or self.things,
            later.cooked or self.cooked,
            later.place or self.place,
            both,
            later.several if later.people or later.things else self.several,
            later.driver or self.driver,
            later.subject or self.subject,
        )

    def pronouns(self) -> Iterator[tuple[re.Pattern[str], tuple[str, ...]]]:
        """Yield whom each pronoun means. One of several people means nobody."""
        others = tuple(name for name in self.people if name not in self.subject) or self.people
        yield from ((words, who) for words, who in ((_SAYS.she, self.subject), (_SAYS.him, others)) if len(who) == 1)
        yield _SAYS.they, self.several
        if TELLER in self.people:
            yield _SAYS.we, self.people


def _people(fact: Fact) -> tuple[str, ...]:
    match fact:
        case PersonFact(name):
            return (name,)
        case TaskFact(who=who):
            return who
    return ()


def _things(fact: Fact) -> Iterator[str]:
    match fact:
        case TaskFact(name, place):
            yield from (each for each in (name, place) if each)
        case VehicleFact(name, drivers=()):
            yield f"taxi {name}"
        case VehicleFact(name, drivers=None):
            yield name


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as read. `text` has only what was understood, and can be read alone. `unread`: what means nothing here."""

    text: str
    facts: tuple[Fact, ...]
    unread: tuple[str, ...]
    context: Context


def sentences(text: str) -> list[str]:
    """Return the sentences, with one spelling for what can be written in several ways."""
    text = spelled(in_full(text)).replace("’", "'").replace("–", "-").replace("—", ", ").replace("→", "-")
    text = re.sub(r"\b([ap])\.\s?m\.?(?=\W|$)", r"\1m", text, flags=re.IGNORECASE)
    for words, instead in _SPELLINGS:
        text = words.sub(instead, text)
    text = re.sub("~(.)", lambda said: said[1].lower(), text)
    text = re.sub(r"\s*\(([^)]*)\),?", r", \1,", text)
    text = re.sub(r"'s train (?=arrives|gets in|comes in|is (?:at|due))", " by train ", text)
    text = re.sub(r"'s (?:flight|plane|bus) (?=lands|arrives|gets in|is (?:at|due))", " ", text)
    return [stripped for each in _SENTENCE_END.split(text) if (stripped := each.strip(" ,."))]


def parts_of(text: str) -> list[tuple[int, int]]:
    """Return where each possible clause, or part of one, begins and ends."""
    joints = [each.span() for each in _SAYS.joint.finditer(text)]
    return list(zip([0, *(end for _, end in joints)], [*(begin for begin, _ in joints), len(text)], strict=True))


def read_sentence(sentence: str, context: Context) -> Sentence:
    """Read a sentence. `Actually, dinner is at 7 instead` announces a change; the rest of it is what holds."""
    plain = _SAYS.after.sub("", _SAYS.before.sub("", sentence))
    read = min((_read(each, context) for each in (plain, sentence)), key=lambda each: len(each.unread))
    if not read.unread:
        return read
    typed = [spelled(plain, _WORDS)]
    if _NO_FIRST_NAMES.isdisjoint(typed[0].lower().split()[:1]):
        typed += [typed[0][:1].upper() + typed[0][1:], _FIRST_NAMES.sub(_in_capitals, typed[0])]
    tried = (_read(each, context) for each in typed if each != plain)
    return min((read, *tried), key=lambda each: sum(len(part.split()) for part in each.unread))


def _in_capitals(names: re.Match[str]) -> str:
    return re.sub(r"\b(?!and\b)[a-z]", lambda letter: letter[0].upper(), names[0])


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
        self._named: tuple[str, ...] = ()
        """Whom this clause names as its subject."""
        self._passage = tagged(sentence)
        self._parts = parts_of(self._passage.text)
        self._read_all()

    def _read_all(self) -> None:
        at = unread_from = 0
        while at < len(self._parts):
            end = self._read_clause(at, is_after_gap=unread_from < at)
            if end is not None:
                self._leave_out(unread_from, at)
                unread_from = end
            else:
                self._pass_over(self._part(at, at + 1))
            at = end or at + 1
        self._leave_out(unread_from, at)

    def _pass_over(self, words: str) -> None:
        """Pass over a clause that is not understood: `it`, `he`, `both` refer to nothing before it, but its subject remains."""
        named = names_in(words)
        if len(words.split()) < 2 and not named:
            return
        people = () if _SAYS.many.match(words) else self.context.people
        self.context = replace(self.context, things=(), cooked="", people=people, both=())
        if named:
            first, rest = leading_name(words)
            self._people = (first,) if first and rest else ()
            people = self._people if len(named) == 1 else ()
            self.context = replace(self.context, people=people, subject=people, place="")

    def _read_clause(self, begin: int, *, is_after_gap: bool) -> int | None:
        """Return where the next clause begins; None if none begins here."""
        for end in range(min(begin + _MOST_PARTS, len(self._parts)), begin, -1):
            for words in _as_meant(self._part(begin, end), self.context):
                facts = self._facts(words)
                if facts:
                    about = Context.of(facts)
                    joint = self._passage.text[self._parts[begin - 1][1] : self._parts[begin][0]] if self.text else ""
                    if is_after_gap and not self._named and set(self._people) & set(about.people):
                        words = f"{' and '.join(self._people)} {words}"  # who was named in what is left out
                        joint = joint and ", "
                    self.text += self._passage.said(joint + words)
                    self.facts += facts
                    subject = tuple(name for name in about.people if name in self._named) or about.people
                    self._people = subject or self._people
                    self.context = self.context.then(replace(about, subject=subject))
                    return end
        return None

    def _facts(self, words: str) -> list[Fact]:
        part = Passage(words.strip(), self._passage)
        plain, adjuncts, when = bared(part)
        if len({each.how for each in when}) < len(when):
            return []  # two times, of two people
        for slot in SLOTS:
            found = (part if slot.takes is None else plain).whole(slot.form) if slot.fits(adjuncts) else None
            if found:
                self._named = names_in(found.passage.said(found.match.groupdict().get("who") or ""))
                people = self._named or self._people
                last = self.facts[-1] if self.facts else None
                facts = list(slot.read(Clause(found, when, people, last, adjuncts)))
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
    both = _SAYS.both.search(words) if len(context.both) > 1 else None
    if both and (not both["us"] or TELLER in context.both):
        yield _SAYS.both.sub(" and ".join(context.both), words)
    if context.people and _SAYS.their_house.search(words):
        yield _SAYS.their_house.sub(lambda said: f"{context.people[-1]}'s {said['house']}", words)
    if context.driver and _SAYS.the_car.search(words):
        yield _SAYS.the_car.sub(car_of(context.driver), words)
    meant = words
    for pronoun, who in context.pronouns():
        meant = pronoun.sub(" and ".join(who), meant) if who else meant
    if meant != words:
        yield meant
    for thing in filter(None, dict.fromkeys((context.cooked, *context.things))):
        if _SAYS.somebody.search(words) and _SAYS.be_there.search(words):
            yield _SAYS.be_there.sub(f"watch {thing}", words)
    if context.place and _SAYS.there.search(words):
        yield _SAYS.there.sub(f"at {context.place}", words)
    for thing in context.things:
        if _SAYS.it.search(words):
            yield _SAYS.it.sub(thing, words)
