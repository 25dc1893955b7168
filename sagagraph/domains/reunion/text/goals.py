"""Goals: where all meet, and by when."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from sagagraph.domains.reunion.text.clause import SAYS, Clause
from sagagraph.domains.reunion.text.facts import Fact, fact
from sagagraph.domains.reunion.text.places import names_venue
from sagagraph.domains.reunion.text.talk import Talk
from sagagraph.domains.reunion.text.values import UP_TO, Event, When, names_in

_MOST_THAT_LEAD: Final = 3
"""Words that may lead to what is going on (`we meet for`) and say nothing else."""


def read_goal(clause: Clause, talk: Talk) -> Iterator[Fact]:
    """Read where all meet, and by when. When something begins is what counts as long as nobody says when to be there."""
    is_theirs = talk.table == "people" and not clause.passage.text.lower().startswith("we ")
    is_open = not any(each.table != "goals" or "place" in each.values for each in talk.facts)
    is_general = clause.kind in ("pronoun", "thing", "somebody", "it", "")
    is_of_all = is_general and not {"fetch", "fetched", "makes"} & clause.roles and not is_theirs
    is_begun = any(each.table != "goals" for each in talk.facts)
    is_headed = not is_begun and not clause.roles and clause.passage.whole(SAYS.heading) is not None
    is_early = not any(each.table == "people" for each in talk.facts)
    is_venue = clause.passage.whole(SAYS.bare) is not None and names_venue(clause.said)
    is_first = talk.is_long and is_open and is_of_all and (clause.when or is_headed or is_venue) and is_early
    is_alone = clause.kind == "person" and clause.is_only_named and len(talk.who) == 1
    if not is_first and (talk.table != "goals" or (clause.kind in ("person", "pronoun", "own") and not is_alone)):
        return
    if clause.kind == "everybody" and clause.at("until", "till") and talk.told("goals", "by"):
        return  # `the kids are at school until 3`
    event = next(iter(clause.passage.values(Event)), None)
    led = SAYS.event_led.sub("", clause.passage.text).split() if clause.kind == "event" else []
    if len(led) > _MOST_THAT_LEAD:
        talk.unread.append(clause.passage.said(" ".join(led)))
    talk.mentioned += [clause.others] if event and clause.others else []
    if event and event.whose:
        talk.who = event.whose
        talk.named += event.whose
    before = {key for each in talk.facts if each.table == "goals" for key in each.values}
    is_due = talk.is_due and clause.kind in ("", "person") and not clause.passage.has(SAYS.begins)
    is_place = clause.kind == "thing" and clause.subject is not None and names_venue(clause.subject["thing"])
    is_asked = clause.kind == "everybody" and not (before and clause.passage.has(SAYS.begins))  # `we start at 10`
    talk.is_due = is_due or "there_all" in clause.roles or is_asked
    place = talk.place(clause, "at", "in", "on", "inside", "to", "near")
    if place and SAYS.room.fullmatch(place) and talk.told("goals", "place"):
        place = None  # `a party at Ann's, all in the garden by 6`
    by = clause.at(*UP_TO, "at", "around", "about", "from") or _reckoned(clause, talk)
    is_bare = not (place or clause.when or clause.kind or talk.has_place)
    if (is_bare and (is_venue or clause.passage.text[:1].isupper())) or (
        place and is_place and not clause.when and not clause.passage.has(SAYS.is_there)
    ):
        place = clause.said  # `chapel in Whitby`
    if is_headed and clause.passage.whole(SAYS.named):
        place = clause.said  # `The Swan in Ludlow`
    if is_first and not place and clause.kind == "thing" and clause.subject and clause.subject.said.endswith("'s"):
        place = clause.subject.said  # `Luigi's at 6pm`
    if before - {"event"} == {"place"} and place and by and clause.kind != "":
        before = set()  # `the wedding in Kinsale: the ceremony is at St Mary's at 2`
    if "place" in before and place == clause.spot("on"):
        place = None  # `a match at Thornbury Park, everybody on the pitch by 10`
    if before and not talk.is_due:
        place, by = (None if "place" in before else place), (None if "by" in before else by)
    talk.table = "goals"
    is_told = clause.kind in ("event", "hosting")
    if place or by or (event and is_told and not {"fetch", "fetched"} & clause.roles):
        is_sure = is_headed or event or is_told or clause.kind == "everybody" or before
        yield fact("goals", "", place=place, by=by, event=event.name if event else None, guessed=None if is_sure else True)
    host = SAYS.host.fullmatch(place or "")
    if host and (host["house"] or host["kin"] or host["who"] in talk.known):
        yield from (fact("people", name, place=place, hosts=True) for name in names_in(host["who"]))


def _reckoned(clause: Clause, talk: Talk) -> When | None:
    """Return when they have to be there, where it is told from another time: `by then`, `20 minutes earlier`."""
    found = clause.passage.first(SAYS.reckoned)
    if found is None or found["then"]:
        return talk.moment if found else None
    begins = talk.told("goals", "by")[-1:]
    return next((replace(each, minutes=each.minutes - (clause.minutes or 0)) for each in begins), None)
