"""People: who is where, from when on, who drives what, and who is fetched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sagagraph.domains.reunion.text.clause import SAYS, Clause
from sagagraph.domains.reunion.text.facts import EVERYBODY, HERE, RENTAL, TELLER, Fact, car_of, fact
from sagagraph.domains.reunion.text.places import plain
from sagagraph.domains.reunion.text.talk import OF_A_WAY, Talk
from sagagraph.domains.reunion.text.values import UP_TO, Spot, When, Who, names_in

_SINCE: Final = ("not before", "until", "till", "from", "after", "since", "at", "around", "about", *UP_TO)
_SEVERAL: Final = 3
"""So many people do not drive one car."""
_OF_SUBJECT: Final = re.compile(r"\W*(?:he\b.*\bhis|she\b.*\bher)\b", re.IGNORECASE)
"""`She picks up Ben at her office`: her own."""


def read_company(clause: Clause, talk: Talk) -> Iterator[Fact]:
    names = talk.who if clause.kind in ("person", "pronoun") else (EVERYBODY,) if clause.passage.has(SAYS.all) else ()
    if "alone" in clause.roles and "watched" not in clause.roles:
        yield from (fact("people", name, never_alone=True) for name in names)


def read_passengers(clause: Clause, talk: Talk) -> Iterator[Fact]:
    """Read whom somebody fetches: they do not drive, and would rather ride with whoever is named."""
    is_along = "brings" in clause.roles and (clause.kind == "person" or (not clause.kind and bool(talk.who)))
    is_asked = "ride" in clause.roles and clause.kind != "somebody"
    if is_along or clause.kind == "everybody" or not {"fetch", "ride", "gives"} & clause.roles or is_asked:
        return
    is_of_things = talk.table == "tasks" or (talk.facts and talk.facts[-1].table == "tasks")
    if is_of_things and clause.passage.has(SAYS.of_it):
        return  # `the balls are in the hall, somebody must fetch them`
    by = next(iter(talk.who), None) if clause.kind in ("person", "pronoun") else None
    last = talk.who if by is None else next((each for each in talk.mentioned[::-1] if by not in each), ())
    is_told = by is None or clause.kind == "person"  # of `she drops him off` it is not known who she is
    them = clause.others or (last if is_told and clause.passage.has(SAYS.them) else ())
    is_own = _OF_SUBJECT.match(clause.said) is not None
    place = talk.place(clause, "at", "in", "on", "from", "near", of=() if is_own else them)
    if by and them:
        yield fact("people", by, drives=True)
        yield fact("vehicles", car_of(by), drivers=(by,))
    for name in them:
        values = {"place": place, "from": clause.at("after", "at", "from"), "drives": False, "fetched": True}
        yield fact("people", name, prefers=by, **values)
    if them:
        talk.table = "people"
    if clause.others or (them and not by):  # of `Ann picks her up, she is at work` the second one is Ann
        talk.who = them
        talk.mentioned.append(them)


def read_person(clause: Clause, talk: Talk) -> Iterator[Fact]:
    """Read who is where, from when on, and who drives what."""
    if not talk.who or not _is_about_people(clause, talk):
        return
    last = next((each for each in talk.facts[-1:] if each.table == "vehicles"), None)
    if clause.kind == "it" and _is_no_driver(talk):
        last = next((each for each in talk.facts[::-1] if each.table == "vehicles"), None)  # `I ride with him, it has five seats`
    is_theirs = last is not None and (clause.kind == "it" or last.name in (RENTAL, *map(car_of, talk.who)))
    if last is not None and is_theirs and clause.kind in ("", "it") and clause.seats is not None:
        yield fact("vehicles", last.name, seats=clause.seats)
        return
    if talk.where.get("place") and clause.passage.whole(SAYS.only_there):
        return  # `at her house in Rome, in Trastevere`
    if likewise := clause.passage.whole(SAYS.likewise):
        yield from _likewise(likewise.get("who", Who), talk)
        return
    is_busy = clause.minutes is not None or clause.passage.has(SAYS.acts)
    if is_busy and not OF_A_WAY & clause.roles:
        until = clause.at("until", "till")
        yield from (fact("people", name, **{"from": until}) for name in talk.who if until is not None)
        return  # `I have to try on my suit at the tailor's`
    drives = _drives(clause, talk)
    found = _where_and_when(clause, talk, is_driving=drives is True)
    if found is not None:
        others = _others(clause, talk)
        yield from _of_them(clause, talk, *found, drives)
        yield from _of_companions(clause, talk, *found, others)


def _is_no_driver(talk: Talk) -> bool:
    """Tell whether whoever was told of last does not drive."""
    return any(each.table == "people" and each.values.get("drives") is False for each in talk.facts[-1:])


def _likewise(who: Who | None, talk: Talk) -> Iterator[Fact]:
    """Yield that somebody drives, or does not, as whoever was told of last: `Ann needs a lift, and so does Bob`."""
    said = [each.values["drives"] for each in talk.facts if each.table == "people" and "drives" in each.values][-1:]
    yield from (fact("people", name, drives=drives) for drives in said for name in (who.names if who else talk.who))


def _where_and_when(clause: Clause, talk: Talk, *, is_driving: bool) -> tuple[str | None, When | None] | None:
    """Return where they are and from when on, or None if it is not said of them."""
    since = clause.at(*_SINCE)
    place = _whereabouts(clause, talk, is_driving=is_driving or "drives" in clause.roles)
    is_out = bool(place and SAYS.at_home.fullmatch(place) and re.search(r"\bstay\w* ", clause.passage.text))
    met = talk.told("goals", "place")
    if is_out and met and not any(each == HERE or SAYS.at_home.match(each) for each in met):
        return None  # `I am staying home this time`
    is_taken = "ride" in clause.roles and bool(talk.where.get("place"))
    is_due = since.how == "by" if since is not None else is_taken or bool(_words(place) & _words(*met))
    if place is not None and clause.spot("to") == place and is_due:
        return None  # `comes straight to the church`; `my job is to get the lads to the hall by 5`
    is_known = talk.where.get("place") and talk.where.get("from") and place is not None and place == clause.spot("from")
    if ("no_drive" in clause.roles and talk.where.get("place")) or is_known:
        place = None  # `they do not drive in Italy`; `lands at 3, he comes from Spain`
    is_of_them = place or clause.passage.has(SAYS.moves) or (not clause.kind and clause.passage.whole(SAYS.only_then))
    if since is not None and since.how in ("at", "by", "around", "about") and not is_of_them:
        since = None  # `I would like to serve at 2`
    is_of_one = len(talk.who) == 1 and SAYS.of_several.match(clause.passage.text)
    if is_of_one or (since is not None and since.how == "at" and "busy" in clause.roles):
        return None  # it is of somebody else, too; or nobody says when it ends
    return place, since


def _others(clause: Clause, talk: Talk) -> tuple[str, ...]:
    """Return whom else the clause names: `Ann's mum brings her`."""
    whose = clause.subject.said.partition("'s ") if clause.subject and clause.kind == "person" else ("", "", "")
    them = names_in(whose[0], talk.known) if whose[1] and clause.passage.has(SAYS.them) else ()
    return tuple(each for each in (*them, *clause.others) if each not in talk.who)


def _of_them(clause: Clause, talk: Talk, place: str | None, since: When | None, drives: bool | None) -> Iterator[Fact]:
    """Yield what the clause says of those whom it is about: where they are, where they must be, and whether they drive."""
    roles = clause.roles
    if "no_drive" in roles and clause.others:
        yield from (fact("people", name, drives=False) for name in clause.others)
    elif (
        ("must" in roles or ("there_all" in roles and len(talk.who) > 1))
        and "ride" not in roles
        and place
        and since
        and since.how not in ("until", "till")
    ):
        yield from (fact("goals", name, place=place, by=since) for name in talk.who)
    elif any((place, since, drives is not None, {"lands", "ride"} & roles)):
        is_car = bool(clause.subject and clause.subject["car"])
        talk.where = {"place": None if is_car else place or talk.where.get("place"), "from": since}
        said = {"lands": "lands" in roles or None, "fetched": "ride" in roles or None, "drives": drives}
        values = {"place": None if is_car else place, "from": since, **said}
        values["own_home"] = bool(place and SAYS.own_home.fullmatch(place)) or None
        drivers = _drivers(clause, talk) if drives else talk.who
        for name in talk.who:
            yield fact("people", name, **values if name in drivers else {**values, "drives": None})
        yield from _car(clause, talk, place, drivers) if drives else ()
    elif clause.passage.has(SAYS.joins):
        yield from (fact("people", name) for name in talk.who)


def _of_companions(clause: Clause, talk: Talk, place: str | None, since: When | None, others: tuple[str, ...]) -> Iterator[Fact]:
    """Yield where those are who are with them, and whoever tells, if they are with that one."""
    theirs = tuple(each for each in others if re.search(rf"\b(?:his|her|their) {each}\b", clause.said, re.IGNORECASE))
    along = [name for name in others if "takes_along" in clause.roles and name not in theirs and not talk.where_is(name)]
    yield from (fact("people", name, **talk.where) for name in along)
    if not clause.kind and (since or place):
        yield from (fact("people", name, place=place, **{"from": since}) for name in talk.beside)
    talk.beside = along or talk.beside
    if clause.passage.has(SAYS.with_me) and talk.where.get("place"):
        yield fact("people", TELLER, **talk.where)


def _words(*places: str | None) -> set[str]:
    return {word for each in places if each for word in plain(each).split()}


def _is_about_people(clause: Clause, talk: Talk) -> bool:
    spots = clause.passage.values(Spot)
    is_at_work = clause.kind == "person" and clause.when and spots  # `Ann closes at the bank at 5`
    is_of_shop = {"opens", "closes"} & clause.roles and not (is_at_work or clause.passage.has(SAYS.is_ready))
    return talk.table == "people" and clause.kind not in ("thing", "somebody") and not is_of_shop


def _whereabouts(clause: Clause, talk: Talk, *, is_driving: bool) -> str | None:
    """Return where they are: where they land or are, or where they come from."""
    at = ("at", "in", "inside", "into", "on", "near")
    is_there = "busy" in clause.roles or ({"lands", "rides_along"} & clause.roles and not is_driving)
    ways = ("from", *at) if is_driving else (*at, "from", "to")  # `drives from Bristol in a Ford`
    place = talk.place(clause, *((*at, "to") if is_there else ways))  # `has the van from the pool`
    if place is None and SAYS.gapped.fullmatch(clause.passage.text.strip()):
        return talk.spot or None
    return place


def _drives(clause: Clause, talk: Talk) -> bool | None:
    if {"no_drive", "ride"} & clause.roles:
        return False
    if clause.kind == "own" and talk.facts and talk.facts[-1].values.get("drives") is False:
        return None  # `I need a lift, my car is in the garage`
    return bool({"drives", "car", "rents"} & clause.roles or clause.seats or (clause.subject and clause.subject["car"])) or None


def _drivers(clause: Clause, talk: Talk) -> tuple[str, ...]:
    """Return who drives: whose car it is, or one or two who have it; of more it is not known who."""
    owner = clause.passage.first(SAYS.whose_car)
    who = owner.get("who", Who) if owner else None
    names = who.names if who else talk.who
    is_of_each = talk.who == names[:1] or clause.passage.has(SAYS.of_several)
    adults = tuple(name for name in names if is_of_each or name.split()[-1] not in talk.persons.children)
    return adults if len(adults) < _SEVERAL else ()


def _car(clause: Clause, talk: Talk, place: str | None, drivers: tuple[str, ...]) -> Iterator[Fact]:
    if "rents" in clause.roles:
        yield fact("vehicles", RENTAL, place=place, seats=clause.seats, drivers=talk.who)
        return
    is_named = bool(clause.roles & {"car"} or clause.seats or clause.kind == "own" or (clause.subject and clause.subject["car"]))
    own = (each for each in talk.facts[::-1] if each.table == "vehicles" and {*drivers} & {*each.values.get("drivers", ())})
    shared = next((each.name for each in own if not is_named), car_of((drivers or talk.who)[0]))
    yield fact("vehicles", shared, seats=clause.seats, drivers=drivers, named=is_named or None)
