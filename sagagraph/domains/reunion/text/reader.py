"""Reader: cuts what people say of a reunion into clauses, and gives the values in each to the nearest field that holds them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from sagagraph.domains.reunion.text import values
from sagagraph.domains.reunion.text.clause import ROLES, SAYS, Clause
from sagagraph.domains.reunion.text.facts import ROADS, TELLER, Fact
from sagagraph.domains.reunion.text.goals import read_goal
from sagagraph.domains.reunion.text.people import read_company, read_passengers, read_person
from sagagraph.domains.reunion.text.places import plain
from sagagraph.domains.reunion.text.talk import Heard, Talk
from sagagraph.domains.reunion.text.tasks import read_task
from sagagraph.domains.reunion.text.values import Event, Spot, When, Who
from sagagraph.domains.reunion.text.ways import read_ways
from sagagraph.language.clock import Lasting

_READERS: Final = (read_company, read_passengers, read_goal, read_task, read_person)
"""Readers in order: the first that makes anything of a clause is the one that reads it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A reading. `unread`: what means nothing here, as it was written. `doubted`: rows of which not all was understood."""

    facts: tuple[Fact, ...]
    unread: tuple[str, ...]
    doubted: frozenset[tuple[str, str]] = frozenset()


def read(text: str, known: Iterable[str] = ()) -> Reading:
    """Return what a text says. `known`: people on the board."""
    said = values.sentences(text)
    people = values.people_in(said)
    talk = Talk(people, frozenset(known) | people.known | {TELLER}, is_long=len(said) > 1)
    for each in said:
        _hear(each, talk)
    put = [(key, str(value)) for each in talk.facts for key, value in each.values.items() if key != "event"]
    rows = " ".join([*(each.name for each in talk.facts), *(value for key, value in put if key != "place")]).casefold()
    held = " ".join([rows, *(value for key, value in put if key == "place")]).casefold()
    left = [(name, rows) for name in (*talk.named, *sorted(people.known))]
    left += [(name, held) for name in values.strays_in(said)] if talk.facts else []
    for name, told in dict.fromkeys(left):
        if name != TELLER and name.casefold() not in told and not any(name in each for each in talk.unread):
            talk.unread.append(name)
    tasks = {plain(each.name) for each in talk.facts if each.table == "tasks"}
    unread = tuple(each for each in talk.unread if plain(talk.begun.get(each, "")) not in tasks)
    return Reading(tuple(talk.facts), unread, frozenset(_doubted(talk, unread)))


def _doubted(talk: Talk, unread: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the rows, as table and name, of which something else was said: by the same clause, or by one that follows it in its
    sentence; and whom that names.
    """
    left = {*unread}
    for sentence in talk.heard:
        told: tuple[Fact, ...] = ()
        for clause in sentence:
            told = clause.facts or told
            if not left.isdisjoint((*clause.unread, *re.findall(r"[\w-]+", clause.said))):
                yield from ((each.table, each.name) for each in told if each.table != ROADS)
    yield from (("people", name) for each in left for name in values.names_in(each, talk.known))


def _hear(sentence: str, talk: Talk) -> None:
    passage = values.valued(sentence, talk.known)
    talk.last_table = talk.table
    talk.table = talk.way = talk.spot = talk.last_spot = ""
    talk.beside = []
    talk.has_place = bool(passage.values(Spot))
    is_told = talk.has_place and bool(passage.values(Lasting))
    talk.is_of_shop = is_told or any(passage.has(ROLES[name]) for name in ("opens", "closes"))
    joints = [each.span() for each in SAYS.joint.finditer(passage.text) if not _is_of_two(passage.text, each)]
    ends = [0, 0, *(at for joint in joints for at in joint), len(passage.text)]
    clause = None
    talk.heard.append([])
    for joint, begin, end in zip(ends[::2], ends[1::2], ends[2::2], strict=False):
        if clause is not None:
            _turn_back(clause, passage.text[joint:begin], talk)
        clause = Clause(passage.text[begin:end], passage, passage.text[joint:begin].strip(" ,;"))
        talk.heard[-1].append(_tell(clause, talk))
    talk.table = talk.table or ("goals" if passage.values(Event) else "")


def _turn_back(clause: Clause, joint: str, talk: Talk) -> None:
    """Notice that the next clause is about what this one ends with."""
    if SAYS.is_of_them.search(joint) and (clause.others or talk.unread[-1:] == [clause.said]):
        talk.who, talk.table = clause.others[-1:], "people"  # `with her sister Zara, who has a Clio`; of `amy, who is` nobody
    noun: re.Match[str] | None = SAYS.noun.fullmatch(clause.passage.text.strip())
    if noun and "which" in joint and "car" not in clause.roles:  # `the present, which is at the jeweller's`
        talk.thing, talk.table = noun["thing"], "tasks"


def _tell(clause: Clause, talk: Talk) -> Heard:
    """Take what a clause says; if nothing follows from it, name it."""
    thing, was_unread = talk.thing, len(talk.unread)
    is_of_another = talk.table == "people" and clause.kind in ("", "thing") and clause.passage.text[:1].isupper()
    facts = _facts(clause, talk) if clause.is_clear and not is_of_another else []
    named = clause.subject.get("who", Who) if clause.subject and clause.kind == "person" else None
    if named and not clause.is_clear and {*named.names} <= talk.known:
        talk.turn_to(clause)  # `Ben hasn't eaten yet and is at college`
    talk.facts += facts
    talk.is_lost = not facts and (talk.is_lost or clause.minutes is not None)
    if clause.passage.whole(SAYS.retracts):
        talk.facts = [each for each in talk.facts if each.name != talk.thing]
    if facts:
        talk.unread += [clause.said] if _is_left(clause, facts) else []
        talk.named += clause.others
    else:
        _leave(clause, talk, is_of_same=talk.thing == thing)
    if talk.table == "people" and clause.said not in talk.unread:
        talk.unread += [each.said for each in clause.passage.find(SAYS.unnamed)]  # `comes with two kids`
    talk.moment = clause.when[-1] if clause.when else talk.moment
    said = [each.name for each in clause.passage.values(Spot)]
    places = [each.values["place"] for each in facts if each.table == "people" and "place" in each.values]
    talk.last_spot = [talk.last_spot, *said][-1]
    talk.spot = [talk.spot, *said, *places][-1]
    return Heard(clause.said, tuple(facts), tuple(talk.unread[was_unread:]))


def _leave(clause: Clause, talk: Talk, *, is_of_same: bool) -> None:
    """Name a clause of which nothing follows, and forget whom and what it may have turned to. `is_of_same`: thing."""
    is_of_a_noun = clause.passage.text[:1].isupper() and SAYS.determined.match(clause.passage.text)
    is_named = clause.said[:1].isupper() and not is_of_a_noun
    if (not clause.kind and not talk.table) or (clause.kind == "thing" and is_named):
        talk.who, talk.mentioned = (), []  # it is about somebody or something else, of which nothing is known
        talk.thing = "" if is_of_same else talk.thing
    if len(clause.others) > 1 or (clause.passage.text[:3].lower() == "we " and talk.table == "people"):
        talk.table = ""  # it is not clear of whom the next clause tells
    if clause.is_only_named:
        talk.named += talk.who if clause.kind == "person" else ()
        noun = clause.passage.whole(SAYS.noun)
        if noun and talk.is_of_shop and not talk.table:
            talk.thing, talk.table = noun["thing"], "tasks"  # `then the cake: it waits at the bakery`
            talk.made_at = talk.made_by = None
        return
    if clause.kind and is_of_same:
        talk.thing = ""
    if clause.said:
        talk.unread.append(clause.said)
        talk.begun |= {clause.said: talk.thing} if talk.thing and not is_of_same else {}
    elif clause.kind == "person":
        talk.named += talk.who


def _is_left(clause: Clause, facts: list[Fact]) -> bool:
    """Tell whether a value of a clause is in none of its facts: a time, a duration, seats, or somebody."""
    moments = {value.minutes for fact in facts for value in fact.values.values() if isinstance(value, When)}
    said = {"minutes": None if clause.passage.has(SAYS.reckoned) else clause.minutes, "seats": clause.seats}
    left = (key for key, value in said.items() if value is not None and all(fact.values.get(key) is None for fact in facts))
    return any(left) or any(each.minutes not in moments for each in clause.when)


def _is_of_two(text: str, joint: re.Match[str]) -> bool:
    """Tell whether `and` joins two things, not two clauses."""
    before = text[max(text.rfind(mark, 0, joint.start()) for mark in ",:;") + 1 : joint.start()].strip()
    return joint[0].strip() == "and" and SAYS.bare.fullmatch(before) is not None


def _facts(clause: Clause, talk: Talk) -> list[Fact]:
    """Return what the first reader makes of the clause that can make anything of it."""
    roads = read_ways(clause, talk)
    if roads is not None:
        return roads
    talk.turn_to(clause)
    return next((facts for each in _READERS if (facts := list(each(clause, talk)))), [])
