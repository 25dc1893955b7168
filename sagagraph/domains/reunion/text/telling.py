"""Telling: a day told in a paragraph, read by its values: people, places, times and durations, each attached to what is nearest.

No phrase has to be complete. The cues of a clause say what its values are about; what has no value and no cue is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from sagagraph.domains.reunion.text.clauses import HERE, TELLER, Amount, When, car_of, tagged
from sagagraph.domains.reunion.text.facts import (
    RENTAL,
    Fact,
    GoalFact,
    HoursFact,
    PersonFact,
    RoadFact,
    TaskFact,
    VehicleFact,
)
from sagagraph.language.forms import Forms, form
from sagagraph.language.numbers import Number

_SAYS: Final = Forms(__file__, "telling")
_TOKEN: Final = re.compile(r"§\d+|\bSt\.|[^\W_]+(?:['’.&-][^\W_]+)*['’]?|[^\w\s]")
_SENTENCE_END: Final = re.compile(r"[!?;\n]+|(?<!\bSt)(?<!\bMr)(?<!\bDr)(?<!Mrs)\.(?=\s|$)")
_VALUES: Final = ((form("{when}"), When), (form("{amount}"), Amount), (form("{n}"), Number))
_PREPOSITIONS: Final = _SAYS.listed("PREPOSITIONS")
_ENDS: Final = _SAYS.listed("ENDS")
_NO_PLACES: Final = _SAYS.listed("NO_PLACES")
_NO_NAMES: Final = _SAYS.listed("NO_NAMES")
_OWN: Final = {"my": TELLER, "our": TELLER}
_LONGEST_PLACE: Final = 5
_LEADS_A_PLACE: Final = frozenset({"the", "a", "an", "my", "our", "his", "her", "their", "ours", "mine", "work"})
_A_TITLE: Final = _SAYS.listed("TITLES")


@dataclass(frozen=True, slots=True)
class Spot:
    """Place where it is named. `how`: the preposition before it."""

    how: str
    said: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Clause:
    """Clause with its values. `words`: in lower case, with a mark for each value."""

    words: str
    people: tuple[str, ...]
    spots: tuple[Spot, ...]
    whens: tuple[When, ...]
    amounts: tuple[Amount, ...]
    numbers: tuple[int, ...]
    said: str = ""
    """As it was written."""
    subject: tuple[str, ...] = ()
    """Whom it is about: who begins it, or whom the clause before was about."""

    def at(self, *how: str) -> int | None:
        return next((each.minutes for name in how for each in self.whens if each.how == name), None)

    @property
    def time(self) -> int | None:
        return self.whens[0].minutes if self.whens else None

    @property
    def minutes(self) -> int | None:
        return next((round(each.minutes) for each in self.amounts if each.minutes is not None), None)

    def spot(self, *how: str) -> str | None:
        found = next((each.said for each in self.spots if each.how in how), None)
        return found or (self.spots[0].said if self.spots and not how else None)

    def has(self, cue: str) -> bool:
        return _SAYS[cue].search(self.words) is not None


@dataclass
class _Thread:
    """What the telling is about at the moment."""

    people: tuple[str, ...] = ()
    place: str | None = None
    errand: str | None = None
    task: str | None = None
    road: str | None = None
    """Where the way leads that was told last."""
    landing: str | None = None
    """Where somebody arrives who was named last."""
    is_goal_open: bool = False
    """Whether the place or the time is still to come where all meet."""
    car: str | None = None
    waiting: list[str] = field(default_factory=list)
    """Names of a list whose verb has not come yet."""


def left_of_a_telling(text: str, unread: Sequence[str]) -> tuple[tuple[Fact, ...], tuple[str, ...]]:
    """Read the clauses of a day that are `unread` so far. Return what they say, and what is still unread."""
    found: list[Fact] = []
    left = {each: _plain(each) for each in unread}
    taken: set[str] = set()
    for said, facts in read_telling(text):
        of = next(
            (each for each, words in left.items() if _plain(said) and (_plain(said) in words or words in _plain(said))), None
        )
        if of is not None and facts:
            found += facts
            taken.add(of)
    return tuple(found), tuple(each for each in unread if each not in taken)


def _plain(text: str) -> str:
    return " ".join(_TOKEN.findall(text.casefold()))


def read_telling(text: str) -> Iterator[tuple[str, tuple[Fact, ...]]]:
    """Read a day; yield each clause and what it says. What is said last of anybody holds."""
    thread = _Thread()
    for sentence in filter(str.strip, _SENTENCE_END.split(text)):
        for clause in _clauses(sentence.strip(), thread):
            yield clause.said, tuple(_facts(clause, thread))


# -- clauses -----------------------------------------------------------------------------------------------------------


def _clauses(sentence: str, thread: _Thread) -> Iterator[Clause]:
    marked, values, said = _marked(sentence)
    parts = [each for each in _SAYS.joint.split(marked) if each and each.strip(" ,")]
    for part in parts:
        tokens = _TOKEN.findall(part.strip())
        clause = _clause(tokens, values, thread)
        is_list = not (clause.whens or clause.amounts or clause.spots) and len(tokens) <= 4 and clause.people
        if (
            thread.waiting
            and clause.people
            and tokens[0] == clause.people[0]
            and thread.waiting[-1].casefold() in _A_TITLE - _CALLED
        ):
            thread.waiting.pop()  # `my aunt, Carol,`
        if is_list and part is not parts[-1] and not _SAYS.with_a_verb.search(clause.words):
            thread.waiting += clause.people
            continue
        subject = (*thread.waiting, *clause.subject) or thread.people
        thread.waiting = []
        yield replace(clause, subject=tuple(dict.fromkeys(subject)), said=_as_written(part, said))


def _as_written(part: str, said: list[str]) -> str:
    return " ".join(re.sub(r"§(\d+)", lambda mark: said[int(mark[1])], part).split())


def _marked(sentence: str) -> tuple[str, list[object], list[str]]:
    """Write a mark for each value; return them, and how they were written."""
    passage = tagged(sentence)
    values: list[object] = []
    spans: list[tuple[int, int, object]] = []
    for kind, of in _VALUES:
        for found in passage.find(kind):
            value = next(iter(passage.values(of, found.match[0])), None)
            if value is not None:
                spans.append((found.start, found.end, value))
    text, at, written = "", 0, list[str]()
    for start, end, value in sorted(spans, key=lambda each: each[0]):
        text += f"{passage.text[at:start]} §{len(values)} "
        values.append(value)
        written.append(passage.said(passage.text[start:end]))
        at = end
    return passage.said(text + passage.text[at:]), values, written


def _clause(tokens: list[str], values: list[object], thread: _Thread) -> Clause:
    spots, used = _spots(tokens, thread)
    people = _people(tokens, used)
    verb = next((n for n, each in enumerate(tokens) if _SAYS.verb.fullmatch(each.casefold())), len(tokens))
    named = tuple(dict.fromkeys(name for _, name in people))
    subject = tuple(dict.fromkeys(name for at, name in people if at < verb))
    if not subject and tokens and re.split(r"['’]", tokens[0].casefold())[0] in _PRONOUNS:
        subject = thread.people
    own = [value for each in tokens if each.startswith("§") and (value := values[int(each[1:])]) is not None]
    return Clause(
        " ".join(tokens).casefold(),
        named,
        tuple(spots),
        tuple(each for each in own if isinstance(each, When)),
        tuple(each for each in own if isinstance(each, Amount)),
        tuple(each.count for each in own if isinstance(each, Number) and each.count is not None),
        subject=subject,
    )


def _spots(tokens: list[str], thread: _Thread) -> tuple[list[Spot], set[int]]:
    """Return the places after prepositions, and the tokens that they take."""
    spots: list[Spot] = []
    used: set[int] = set()
    at = 0
    while at < len(tokens):
        word = tokens[at].casefold()
        if word in ("home", "here", "there") and (at == 0 or tokens[at - 1].casefold() not in ("the", "nursing", "care")):
            spots.append(Spot("at", "home" if word == "home" else HERE, at, at + 1))
            used.add(at)
        elif word in _PREPOSITIONS:
            end = _end_of_place(tokens, at + 1)
            said = _place(tokens[at + 1 : end], tokens, at, thread)
            if said is not None:
                spots.append(Spot(word, said, at, end))
                used |= set(range(at, end))
                at = end
                continue
        at += 1
    return spots, used


def _end_of_place(tokens: list[str], at: int) -> int:
    end = at
    while end < len(tokens) and end - at < _LONGEST_PLACE + 1:
        word = tokens[end].casefold()
        if word.startswith("§") or not word[0].isalnum() or (word in _ENDS and end > at) or word in _PREPOSITIONS:
            break
        end += 1
    if end < len(tokens) and tokens[end].casefold() == "in" and end > at:  # `at my house in Boston`
        town = _end_of_place(tokens, end + 1)
        return town if town > end + 1 and tokens[end + 1][:1].isupper() else end
    return end


def _place(words: list[str], tokens: list[str], at: int, thread: _Thread) -> str | None:
    """Return a place's name; None if it is none: a day, a vehicle, somebody's hands."""
    if not words:
        return None
    first, *rest = words
    said, low = " ".join(words), [each.casefold() for each in words]
    is_infinitive = tokens[at].casefold() == "to" and first[:1].islower() and first.casefold() not in _LEADS_A_PLACE
    if low[-1] in _NO_PLACES or is_infinitive or all(each in _LEADS_A_PLACE - {"ours", "mine", "work"} for each in low):
        return None
    if (owned := _SAYS.owned_house.fullmatch(said)) is not None:
        return f"{owned['owner'][:1].upper()}{owned['owner'][1:]}'s house{owned['town'] or ''}"
    if first.casefold() in ("my", "our") and rest and _SAYS.house.fullmatch(low[1]):
        return "home" + (f" {' '.join(rest[1:])}" if len(rest) > 2 and low[2] == "in" else "")
    if low in (["ours"], ["mine"], ["home"]) or low[:1] == ["home"]:
        return said
    if first.casefold() in ("his", "her", "their") and rest:
        before = [name for where, name in _people(tokens[:at], set())]
        owner = (before or thread.waiting or list(thread.people) or [""])[-1]
        kind = "house" if _SAYS.house.fullmatch(low[1]) else " ".join(rest)
        return f"{owner}'s {kind}" if owner else None
    return " ".join(words[1:] if first.casefold() in ("the", "a", "an", "my", "our") and rest else words)


def _people(tokens: list[str], used: set[int]) -> list[tuple[int, str]]:
    """Return who is named, and at which token."""
    found: list[tuple[int, str]] = []
    at = 0
    while at < len(tokens):
        word = tokens[at]
        low = word.casefold().removesuffix("'s").rstrip("'")
        if at in used or word.startswith("§"):
            at += 1
            continue
        if low in ("i", "me", "i'm", "i've", "i'll"):
            found.append((at, TELLER))
        elif low in _A_TITLE:
            following = tokens[at + 1] if at + 1 < len(tokens) else ""
            is_named = following[:1].isupper() and at + 1 not in used and following.casefold() not in _NO_NAMES
            if (
                is_named
                or word[:1].isupper()
                or (at and tokens[at - 1].casefold() in ("my", "our", "his", "her"))
                or low in _CALLED
            ):
                found.append((at, (following if is_named else word).removesuffix("'s").capitalize()))
                at += is_named
        elif (
            word[:1].isupper()
            and not (at and tokens[at - 1].casefold() == "the")
            and low not in _NO_NAMES
            and len(low) > 1
            and not _is_verb(tokens, at)
        ):
            found.append((at, word.removesuffix("'s")))
        at += 1
    return found


def _is_verb(tokens: list[str], at: int) -> bool:
    """Tell whether a capital begins a sentence with a verb: not in `Will is at home`."""
    following = tokens[at + 1].casefold() if at + 1 < len(tokens) else ""
    return at == 0 and bool(_SAYS.verb.fullmatch(tokens[at].casefold())) and not _SAYS.verb.fullmatch(following)


_PRONOUNS: Final = frozenset({"we", "he", "she", "they", "it", "who", "both", "neither", "his", "her", "their"})
_CALLED: Final = _SAYS.listed("CALLED")


# -- what a clause says ------------------------------------------------------------------------------------------------


def _facts(clause: Clause, thread: _Thread) -> list[Fact]:
    readers = (_road, _hours, _goal, _watched, _errand, _task, _person)
    facts: list[Fact] = next((found for read in readers if (found := list(read(clause, thread)))), [])
    people = tuple(each for each in clause.subject if each) or clause.people
    if people and not clause.has("errand") and not any(isinstance(each, GoalFact) for each in facts):
        thread.people = people
    if clause.spots:
        thread.place = clause.spots[-1].said
    return facts


def _road(clause: Clause, thread: _Thread) -> Iterator[Fact]:
    """Read two places and how long it takes between them."""
    minutes = clause.minutes or (clause.numbers[0] if clause.numbers and len(clause.spots) == 2 else None)
    if minutes is None or clause.has("task") or clause.whens:
        return
    spots = [each.said for each in clause.spots]
    if len(spots) == 1 and (head := _SAYS.leading_place.match(clause.words)):
        spots.insert(0, head["place"])
    if len(spots) == 1 and thread.road is not None and not clause.people:
        spots.append(thread.road)  # `35 minutes from Boulder to the car park, and an hour from Denver`
    if len(spots) == 2 and clause.has("road"):
        thread.road = spots[1]
        yield RoadFact(spots[0], spots[1], float(minutes))


def _hours(clause: Clause, thread: _Thread) -> Iterator[Fact]:
    where = thread.errand or thread.place
    if clause.has("hours") and clause.time is not None and not clause.has("errand"):
        opens = clause.time if clause.has("opens") and not clause.at("until", "till") else None
        place = clause.spot() or where
        if place:
            yield HoursFact(place, opens, None if opens else clause.at("until", "till") or clause.time)


def _goal(clause: Clause, thread: _Thread) -> Iterator[Fact]:
    event = _SAYS.event.search(clause.words)
    is_for_all = clause.has("everybody")
    is_headed = event is not None and not _SAYS.with_a_verb.search(clause.words[: event.start()])
    if is_headed:  # `Our choir's concert is at St John's`: of nobody
        clause = replace(clause, subject=(), people=())
    is_more = thread.is_goal_open and clause.time is not None and not clause.people and (clause.has("start") or not clause.spots)
    if is_more and not (event or is_for_all):
        place = next((each.said for each in clause.spots if each.said != HERE), None)
        yield GoalFact((), place, clause.time)
        return
    thread.is_goal_open = False
    if not (event or is_for_all) or clause.has("errand") or (clause.has("task") and not (is_for_all or clause.has("served"))):
        return
    if is_for_all or (event and not clause.subject) or (event and event.start() < _first_person(clause)):
        place = next((each.said for each in clause.spots if each.how != "from" and each.said != HERE), None)
        if place or clause.time is not None:
            is_start = bool(event) and not is_for_all
            thread.is_goal_open = clause.time is None or not place
            owner = _SAYS.owned_house.fullmatch(place or "")
            if owner and owner["owner"][:1].isupper():  # the host is there
                yield PersonFact(owner["owner"].split()[-1], place)
            yield GoalFact((), place, clause.time, event=event[0] if event and is_start else "")


def _first_person(clause: Clause) -> int:
    return min((clause.words.find(each.casefold()) for each in clause.people if each != TELLER), default=10**6)


def _watched(clause: Clause, thread: _Thread) -> Iterator[Fact]:
    if not clause.has("watched"):
        return
    thing = _thing(clause) if clause.has("task") else None
    name = thing or thread.task
    if name:
        thread.task = name
        yield TaskFact(name, None, clause.minutes, watched=True)


def _errand(clause: Clause, thread: _Thread) -> Iterator[Fact]:
    goods_there = _SAYS.goods_there.match(clause.words)
    if not clause.has("errand") and not (goods_there and clause.spots):
        return
    others = [each for each in clause.people if each not in clause.subject]
    fetched = _fetched(clause, others)
    if fetched:
        thread.people = tuple(fetched)
        place = clause.spot("at", "from", "in") or None
        yield from (PersonFact(name, place, clause.time, drives=False, is_fetched=True) for name in fetched)
        return
    thing = _thing(clause)
    if thing is None:
        return
    place = clause.spot("at", "from", "to", "in")
    opens, closes = clause.at("after", "from"), clause.at("by", "before", "until", "till")
    thread.errand, thread.task = place, thing
    yield TaskFact(thing, place, clause.minutes, opens, closes, is_errand=True)


def _fetched(clause: Clause, others: list[str]) -> list[str]:
    """Return the people whom somebody fetches, or who are to be fetched."""
    if clause.has("passive"):
        is_of_people = clause.people or not (_SAYS.thing.search(clause.words) or _SAYS.goods.search(clause.words))
        return list(clause.subject) if is_of_people else []
    return others if not _SAYS.goods.search(clause.words) and not _SAYS.object.search(clause.words) else []


def _thing(clause: Clause) -> str | None:
    found = (
        _SAYS.object.search(clause.words)
        or _SAYS.goods.search(clause.words)
        or _SAYS.for_thing.search(clause.words)
        or _SAYS.thing.search(clause.words)
    )
    return found["thing"].strip() if found else None


def _task(clause: Clause, thread: _Thread) -> Iterator[Fact]:
    minutes = clause.minutes
    if (made := _SAYS.makes.search(clause.words)) is not None and clause.subject:
        thread.task = made["thing"]
        yield TaskFact(thread.task, None, minutes, who=clause.subject)
        return
    if minutes is None:
        if clause.has("chore") and (chore := _SAYS.thing.search(clause.words)) and not clause.people:
            thread.task = chore["thing"]
            yield TaskFact(chore["thing"], clause.spot("at", "in"), None, None, clause.at("by", "before"))
            return
        if thread.task and clause.has("due") and clause.at("by", "before") is not None:
            yield TaskFact(thread.task, closes=clause.at("by", "before"))
        return
    thing = _thing(clause) if clause.has("task") else None
    if thing is None and thread.task is not None and clause.subject != ():
        thing = thread.task if not clause.people else None
    thing = thing or (thread.task if not clause.people else None)
    if thing is not None:
        thread.task = thing
        place = clause.spot("at", "from")
        opens, closes = clause.at("after", "from"), clause.at("by", "before")
        yield TaskFact(thing, place, minutes, opens, closes)


def _person(clause: Clause, thread: _Thread) -> Iterator[Fact]:
    people = clause.subject
    if not people or (clause.amounts and not (clause.people or clause.whens)):
        return
    is_landing, is_rider = clause.has("lands"), clause.has("rides")
    drives = False if is_rider else True if clause.has("drives") else None
    place = (
        clause.spot("at", "in", "to", "into", "on")
        if is_landing
        else clause.spot("at", "in", "on", "near") or clause.spot("from", "leaves", "leave", "leaving", "off")
    )
    if is_landing:
        thread.landing = place
    elif place is None and clause.whens and clause.people and not clause.has("with_a_verb"):
        place, is_landing = thread.landing, thread.landing is not None  # `and Bruno's at 4:20`
    if is_landing and place is None:
        place = clause.spot("from") if clause.has("rail") and not clause.has("drives") else None
    since = clause.at("from", "at", "after", "since", "until", "till", "around", "about", "by") if clause.whens else None
    if place == HERE and drives and clause.spot("from"):
        place, since = clause.spot("from"), None
    if clause.has("along") and (drives or clause.people != clause.subject):
        people = tuple(dict.fromkeys((*people, *clause.people)))
        place = place or thread.place
    if clause.has("rents"):
        place = None
    if place or since is not None or drives is not None:
        for name in people:
            yield PersonFact(name, place, since, drives=drives, lands=clause.has("plane"))
    if drives and (clause.has("car") or clause.has("by_car")):
        seats = clause.numbers[0] if clause.numbers and clause.has("seats") else None
        name = RENTAL if clause.has("rents") else car_of(people[0])
        thread.car = name
        yield VehicleFact(name, None, seats, people[:1] if clause.has("car") else people)
    elif clause.numbers and clause.has("seats") and thread.car:
        yield VehicleFact(thread.car, None, clause.numbers[0])
