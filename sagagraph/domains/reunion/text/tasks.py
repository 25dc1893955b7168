"""Tasks: what has to be done, where, how long, and by whom."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from sagagraph.domains.reunion.text.clause import SAYS, Clause
from sagagraph.domains.reunion.text.facts import TELLER, Fact, fact
from sagagraph.domains.reunion.text.places import plain
from sagagraph.domains.reunion.text.talk import Talk
from sagagraph.domains.reunion.text.values import UP_TO, Spot, When, Who
from sagagraph.language.clock import DAY

_ME: Final = "me"
_NEEDS_SO_LONG: Final = 3
"""Words of `he needs ten minutes`, which is said of what he does."""


def read_task(clause: Clause, talk: Talk) -> Iterator[Fact]:
    """Read what has to be done: what is only fetched takes no time, unless somebody says it."""
    roles, who = clause.roles, _worker(clause, talk)
    if {"rents", "car"} & roles or clause.seats is not None or (clause.passage.has(SAYS.reckoned) and "fetched" not in roles):
        return
    if who and (done := _done(clause, talk)):
        yield from (fact("tasks", name, who=who) for name in done)
        return
    if clause.kind in ("", "pronoun") and not clause.when and (timed := _timed(clause, talk)):
        yield fact("tasks", timed, minutes=clause.minutes)
        return
    is_errand = bool({"fetch", "fetched"} & roles)
    if kept := None if is_errand else _kept(clause, talk):
        yield from _fetched_from(*kept, clause, talk)
        return
    thing, place, is_of_it = _thing(clause, talk, who, is_errand=is_errand)
    is_told_of = "must" in roles or clause.passage.has(SAYS.passive)
    if thing and clause.kind == "thing" and not is_errand and clause.minutes is None and not is_told_of:
        is_errand = _is_fetched_there(clause, thing, place, talk)
        is_errand = is_errand and not _between(clause)
        is_to_do = clause.subject is not None and clause.passage.text[clause.subject.end :].lstrip().startswith("to ")
        if not is_errand and place and (is_to_do or SAYS.FOOD.search(thing)) and not _between(clause):
            talk.thing, talk.made_by, talk.made_at = thing, None, place
            return  # `the cake is in the oven at home`, `a quiche to bake at home`, and the next clause says how long
        thing = thing if is_errand or _between(clause) else None
    if "brings" in roles and who and not (place or clause.when or clause.minutes or clause.others):
        talk.thing, talk.table = thing or "", "tasks"
        return  # it comes along with whoever brings it
    if clause.kind == "thing" and _is_of_somebody(clause, thing, place, talk, is_errand=is_errand):
        return
    if thing and _may_be_a_verb(thing, clause):
        return
    if thing:
        talk.thing, talk.table = thing, "tasks"
        talk.made_by = who
        talk.made_at = place or next((talk.where_is(name) for name in who or ()), None)
    elif not (is_of_it and talk.thing and (talk.table == "tasks" or clause.kind == "it" or "watched" in roles)):
        return
    values = _values(clause, talk, who, place, is_errand=is_errand, is_new=bool(thing))
    is_told = is_errand or any(each is not None for key, each in values.items() if key not in ("who", "place"))
    if is_told or (values["place"] and ("makes" not in roles or clause.kind == "thing")):
        if clause.when and values["opens"] is None and values["closes"] is None:
            talk.unread.append(clause.said)
        of = [each.name for each in talk.facts if each.table == "tasks"] if clause.passage.has(SAYS.of_several) else []
        for name in dict.fromkeys([*of[-2:], talk.thing]):
            yield fact("tasks", name, is_errand=is_errand or None, **values)


def _kept(clause: Clause, talk: Talk) -> tuple[str, str] | None:
    """Return a thing and the shop, office or hall where it is, which somebody has to fetch though nobody says so: a thing has no
    other field. It is one if its sentence says how long that takes, or when the place is open, or that it comes from there.
    """
    found = clause.passage.whole(SAYS.kept)
    spot = found.get("spot", Spot) if found else None
    if found is None or spot is None or not talk.facts or clause.passage.values(Who) or clause.seats is not None:
        return None
    is_open = talk.table == "tasks" and not _told_of_it(talk)
    thing = found["thing"] or (talk.thing if is_open else "")  # `the prizes, from Costcutter`
    if not thing or (found["thing"] and _is_no_thing(thing, clause, talk)) or not _is_shop(spot, clause, talk):
        return None
    return thing, spot.name


def _is_no_thing(thing: str, clause: Clause, talk: Talk) -> bool:
    """Tell whether it is a shop or a verb: `fetch the wine, the store is in Broadway`; of a van: `and waits at the pool`."""
    is_joined = clause.joint in ("and", "so", "but") and not clause.is_led and " " not in thing and clause.spot("from") is None
    is_verb = (talk.table == "people" or is_joined) and not SAYS.determined.match(thing)
    return is_verb or SAYS.keeper.fullmatch(thing.split()[-1]) is not None


def _is_shop(spot: Spot, clause: Clause, talk: Talk) -> bool:
    """Tell whether things are fetched there: it is nobody's house, and not where somebody is."""
    is_private = any(SAYS[each].fullmatch(spot.name) for each in ("at_home", "host", "own_place"))
    is_known = plain(spot.name) in {plain(each) for table in ("goals", "people") for each in talk.told(table, "place")}
    is_called = spot.name[0].isupper() or SAYS.determined.match(spot.name) or SAYS.shop.fullmatch(spot.name)
    is_bare = not clause.when and clause.passage.whole(SAYS.from_there) is not None  # `Greetings from Leicester`
    is_there = talk.is_of_shop or (spot.how == "from" and spot.name[0].isupper() and not is_bare)
    return bool(is_called and is_there) and not (is_private or is_known)


def _fetched_from(thing: str, place: str, clause: Clause, talk: Talk) -> Iterator[Fact]:
    talk.thing, talk.table, talk.made_by, talk.made_at = thing, "tasks", None, place
    opens, closes = _window(clause, is_errand=True)
    yield fact("tasks", thing, is_errand=True, place=place, minutes=clause.minutes or 0, opens=opens, closes=closes)


def _worker(clause: Clause, talk: Talk) -> tuple[str, ...] | None:
    """Return who does it, if the clause is about people."""
    if _takes_somebody(clause):
        return (TELLER,) if _ME in clause.passage.text.split() else talk.who  # `packing takes me an hour`
    if (by := clause.passage.first(SAYS.by_whom)) and (doer := by.get("who", Who)):
        return doer.names
    is_theirs = clause.kind in ("person", "pronoun", "own") or (not clause.kind and talk.table == "people")
    is_unclear = clause.kind == "pronoun" and len(talk.who) == 1 and clause.passage.text[:5].lower() == "they "
    return talk.who if is_theirs and not is_unclear and clause.passage.text[:3].lower() != "we " else None


def _timed(clause: Clause, talk: Talk) -> str | None:
    """Return the task that a clause tells the duration of, and nothing else: the one of which the clause before it told."""
    told = _told_before(talk)
    is_open = told and told[-1].table == "tasks" and not told[-1].values.get("minutes")
    is_long = clause.kind == "pronoun" and len(clause.passage.text.split()) > _NEEDS_SO_LONG
    has_others = is_long or bool(clause.passage.values(Spot)) or bool(clause.passage.values(Who))
    return None if not is_open or has_others or clause.minutes is None else told[-1].name


def _told_before(talk: Talk) -> tuple[Fact, ...]:
    """Return what the clause before this one told."""
    return next((each.facts for sentence in talk.heard[::-1] for each in sentence[::-1] if each.said), ())


def _done(clause: Clause, talk: Talk) -> list[str]:
    """Return the tasks that a clause about people names and says nothing else of: they do them. `it` is the last one."""
    words = {plain(word) for word in re.findall(r"[\w'-]+", clause.said)}
    named = {each.name: None for each in talk.facts if each.table == "tasks" and plain(each.name).split()[-1] in words}
    is_there = any(plain(each.name).split()[-1] not in map(plain, named) for each in clause.passage.values(Spot))
    has_more = clause.when or clause.minutes is not None or clause.seats is not None or not {*clause.others} <= {*talk.who}
    if has_more or "watched" in clause.roles or clause.passage.has(SAYS.no_doing):
        return []
    before = _told_before(talk)
    if not named and before and before[-1].table == "tasks" and clause.passage.has(SAYS.of_that):
        return [before[-1].name]  # `the wine is at the shop, Tom will get it`
    return [] if is_there else [*named]


def _takes_somebody(clause: Clause) -> bool:
    """Tell whether it is said whom a task takes that long: `me`, or whoever was spoken of last."""
    is_timed = clause.kind == "thing" and clause.minutes is not None and not clause.others
    return is_timed and (_ME in clause.passage.text.split() or clause.passage.has(SAYS.them))


def _thing(clause: Clause, talk: Talk, who: tuple[str, ...] | None, *, is_errand: bool) -> tuple[str | None, str | None, bool]:
    """Return what has to be done and where, as far as the clause names it, and whether it may be the last task instead."""
    roles, is_of_it = clause.roles, clause.kind in ("", "it") or "watched" in clause.roles or clause.passage.has(SAYS.of_it)
    place = talk.place(clause, "at", "in", "on", "inside", "from", "near", "to")
    subject = clause.subject["thing"] if clause.kind == "thing" and clause.subject else None
    thing = subject if subject not in ("here", "there") else None
    if thing and ({"opens", "closes"} & roles or clause.passage.has(SAYS.there)) and _is_of_its_place(thing, talk):
        thing, is_of_it = None, True  # `the tents are in the gym, the gym opens at 9`
    if thing and place is None and {"opens", "closes"} & roles and _is_where_it_is(thing, talk):
        thing, is_of_it, place = None, True, thing  # `fetch the wreath, the flower shop opens at 9`
    if "fetch" in roles and "fetched" not in roles:
        thing = clause.said_as("fetches") or thing
    is_until = who is not None and clause.at("until", "till") is not None  # `he has to feed the animals until 8`
    if not thing and (is_errand or ("makes" in roles and not is_until)):
        thing = clause.said_as("fetches" if is_errand else "made")
    is_bidden = clause.kind == "somebody" or (clause.joint == "and" and not clause.kind and talk.table == "tasks")
    if not thing and is_bidden and "watched" not in roles:
        thing = clause.said_as("chore")
    is_of_it = is_of_it or (is_errand and not thing and talk.table == "tasks")  # `the cake is at Gail's, pick up by 1`
    if thing and talk.thing and SAYS.handling.fullmatch(thing):
        thing, is_of_it = None, True  # `the stands must be fetched, loading takes ten minutes`
    if not thing and clause.minutes is not None and (who or clause.kind == "somebody"):
        thing = clause.said_as("spent")
    if not thing and who and "watched" not in roles and not is_until:
        thing = clause.said_as("does")
    if not thing and who and (clause.minutes is not None or ("watched" in roles and not _told_of_it(talk))):
        thing = clause.said_as("for_it")
    return thing, place, is_of_it


def _values(
    clause: Clause, talk: Talk, who: tuple[str, ...] | None, place: str | None, *, is_errand: bool, is_new: bool
) -> dict[str, Any]:
    """Return what the clause says of the task, by column. `is_new`: it is named here, so that nothing was told of it."""
    is_watched, told = "watched" in clause.roles, _told_of_it(talk)
    opens, closes = _window(clause, is_errand=is_errand)
    is_quick = is_errand and (is_new or "minutes" not in told)
    minutes = 0 if clause.minutes is None and is_quick else clause.minutes
    minutes = _between(clause) if minutes is None and place and is_new else minutes
    is_home = any(SAYS.at_home.fullmatch(each.name) for each in clause.passage.values(Spot))
    if (is_watched and (clause.kind == "somebody" or "place" in told)) or (clause.kind == "it" and is_home and "place" in told):
        place = None  # `she is home until 5`
    if (minutes or is_errand) and not told and (not is_new or _takes_somebody(clause)):
        place = place or talk.made_at  # `I make the salad at home, about 40 minutes`
    if is_watched and clause.passage.has(SAYS.somebody):
        who = ()  # `I do the roast, and somebody has to stay with it`
    elif who is None and not (is_new or told):
        who = talk.made_by
    values = {"place": place, "minutes": minutes, "opens": opens, "closes": closes}
    return values | {"who": who, "watched": is_watched or None}


def _window(clause: Clause, *, is_errand: bool) -> tuple[When | None, When | None]:
    """Return from when on it can be done, and until when."""
    roles = clause.roles
    at = ("at", "around", "about")
    opens = clause.at("after", "from", "since", "not before", *((*at, "by") if "opens" in roles else ()))
    if is_errand and opens is None and "closes" not in roles and (moment := clause.at(*at)):
        opens = replace(moment, how="from")
    if opens is None and "not_before" in roles and (moment := clause.at(*UP_TO)):
        return replace(moment, how="from"), None  # `not ready before 3`
    closes = clause.at(*(each for each in UP_TO if opens is None or each != opens.how), *(at if "closes" in roles else ()))
    if opens and clause.passage.has(SAYS.is_ready):
        opens = replace(opens, how="from")  # `the pizza is ready at 7` is not said of a shop
    return opens, closes


def _between(clause: Clause) -> int | None:
    """Return the minutes between two times: `is in the oven from 3:30 until 5:30`."""
    begins, ends = clause.at("from"), clause.at("until", "till")
    return (ends.minutes - begins.minutes) % (DAY // 2) if begins and ends and "opens" not in clause.roles else None


def _is_fetched_there(clause: Clause, thing: str, place: str | None, talk: Talk) -> bool:
    """Tell whether a thing that is somewhere is to be fetched there, though nobody says so."""
    has_food = bool(SAYS.FOOD.search(thing) or SAYS.shop.fullmatch(place or ""))
    is_food = bool(clause.spot("from")) and (has_food or SAYS.shop.fullmatch(place or "") is not None)
    is_next = is_food or talk.is_of_shop or bool(talk.facts and talk.facts[-1].table == "tasks")
    is_there = clause.passage.has(SAYS.is_there) or (is_next and clause.passage.whole(SAYS.from_there))
    is_thing = SAYS.determined.match(thing) or "'s " in thing or thing.endswith("s") or has_food or talk.is_of_shop
    return bool(place and is_there and is_thing and (not clause.when or "opens" in clause.roles or is_food or has_food))


def _is_of_somebody(clause: Clause, thing: str | None, place: str | None, talk: Talk, *, is_errand: bool) -> bool:
    """Tell whether it may be said of somebody, who has to be somewhere, or is called as things are."""
    is_bidden = "must" in clause.roles and bool(clause.when) and clause.minutes is None
    is_done_there = bool(place) and clause.passage.has(SAYS.passive) and SAYS.determined.match(thing or "")
    if is_bidden and not is_done_there and not {"fetch", "fetched", "makes", "watched"} & clause.roles:
        return True
    is_name = clause.passage.text[:1].isupper() and " " not in (thing or " ")
    is_one = is_name and not clause.passage.has(SAYS.SEVERAL) and not SAYS.shop.fullmatch(place or "")
    is_said = talk.is_of_shop or SAYS.FOOD.fullmatch(thing or "") or "bought" in clause.passage.text
    is_in_need = clause.minutes is not None and clause.passage.text.split()[1:-1] == ["needs"]  # `James needs 2 hours`
    return bool(is_one and (is_errand or is_in_need) and not is_said)


def _may_be_a_verb(thing: str, clause: Clause) -> bool:
    """Tell whether it may be no thing: `the van is there and waits at the pool`."""
    is_joined = clause.joint in ("and", "so", "but") and clause.kind == "thing"
    is_bare = is_joined and " " not in thing and clause.passage.text.startswith(thing.lower())
    return is_bare and not SAYS.FOOD.fullmatch(thing)


def _named_so(thing: str, talk: Talk) -> set[str]:
    """Return the tasks that are called so: `pick up the robes; Rob does the robes`."""
    names = {each.name for each in talk.facts if each.table == "tasks"}
    return {each for each in names if plain(each).split()[-1] == plain(thing).split()[-1]}


def _told_of_it(talk: Talk) -> set[str]:
    """Return the columns of the last task that are known."""
    return {key for each in talk.facts if each.table == "tasks" and each.name == talk.thing for key in each.values}


def _is_where_it_is(thing: str, talk: Talk) -> bool:
    """Tell whether it is the shop where the last task, an errand, is done."""
    told = _told_of_it(talk)
    return SAYS.shop.fullmatch(thing) is not None and "is_errand" in told and "place" not in told


def _is_of_its_place(thing: str, talk: Talk) -> bool:
    """Tell whether it is where the last task is done, or who lets people in there."""
    place = next(iter(talk.told("tasks", "place")[-1:]), "")
    noun = thing.split()[-1].casefold()
    return bool(place) and (noun in place.casefold() or SAYS.keeper.fullmatch(noun) is not None)
