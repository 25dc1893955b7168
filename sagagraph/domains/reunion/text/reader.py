"""Reader: cuts what people say of a reunion into clauses, and gives the values in each to the nearest field that holds them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from sagagraph.domains.reunion.text import values
from sagagraph.domains.reunion.text.facts import EVERYBODY, HERE, RENTAL, TELLER, Fact, car_of, fact, road
from sagagraph.domains.reunion.text.places import is_our_home, names_venue
from sagagraph.domains.reunion.text.values import UP_TO, Event, People, Seats, Spot, When, Who, names_in, tagged
from sagagraph.language.clock import Lasting
from sagagraph.language.forms import Forms
from sagagraph.language.numbers import Number
from sagagraph.language.passage import Found, Passage

_SAYS: Final = Forms(__file__, "clauses")
_ROLES: Final = Forms(__file__, "roles")
_WAYS: Final = Forms(__file__, "clauses.ways")
_SUBJECTS: Final = ("somebody", "everybody", "group", "hosting", "own", "person", "event", "it", "pronoun", "thing")
_DENIED: Final = ("no_drive", "alone", "watched", "not_before", "remember")
"""Roles of which a denial is a part."""
_SINCE: Final = ("until", "till", "from", "after", "since", "at", "around", "about", *UP_TO)
_OURS: Final = ("us", "ours", "here")
"""Words for where all meet, as in `ten minutes from us`."""
_A_FEW: Final = 3
"""Words that may lead to what is going on (`we meet for`) and say nothing else."""


def read(text: str, known: Iterable[str] = ()) -> tuple[list[Fact], list[str]]:
    """Return what a text says, and what means nothing here, as it was written. `known`: people on the board."""
    said = values.sentences(text)
    people = values.people_in(said)
    reading = _Reading(people, frozenset(known), is_long=len(said) > 1)
    for each in said:
        reading.read(each)
    put = (value for each in reading.facts for key, value in each.values.items() if key != "event")
    held = " ".join([*(each.name for each in reading.facts), *map(str, put)]).casefold()
    left = [*reading.named, *people.known, *(values.strays_in(said) if reading.facts else ())]
    for name in dict.fromkeys(left):
        if name.casefold() not in held and not any(name in each for each in reading.unread):
            reading.unread.append(name)
    return reading.facts, reading.unread


class _Part:
    """A clause. `kind` and `subject`: what it is about."""

    def __init__(self, words: str, known: Passage) -> None:
        self.passage = Passage(_SAYS.lead.sub("", words.strip(), count=1), known)
        begun = next(self._subjects(), None)
        self.kind: str = begun[0] if begun else ""
        self.subject: Found | None = begun[1] if begun else None
        self.roles = frozenset(name for name in _ROLES if self.passage.has(_ROLES[name]))
        self.when = self.passage.values(When)

    def _subjects(self) -> Iterator[tuple[str, Found]]:
        text = self.passage.text
        opening = _SAYS.opening.match(text)
        for kind in _SUBJECTS:
            match = _SAYS[kind].match(text, opening.end() if opening else 0)
            if match:
                yield kind, Found(self.passage, match)

    @property
    def said(self) -> str:
        return self.passage.said().strip(" ,.")

    @property
    def is_clear(self) -> bool:
        """Tell whether nothing in it is denied or said twice that cannot be."""
        text = self.passage.text
        for name in _DENIED:
            text = _ROLES[name].sub(" ", text)
        return not _ROLES["not"].search(text) and len({each.how for each in self.when}) == len(self.when)

    @property
    def minutes(self) -> int | None:
        return next((round(each.minutes) for each in self.passage.values(Lasting)), None)

    @property
    def seats(self) -> int | None:
        return next((each.count for each in self.passage.values(Seats)), None)

    @property
    def others(self) -> tuple[str, ...]:
        """Return whom it names beside its subject."""
        end = self.subject.end if self.subject and self.kind == "person" else 0
        text = _SAYS.owner.sub(" ", self.passage.text[end:])
        return tuple(name for each in self.passage.values(Who, text) for name in each.names)

    def said_as(self, hole: str) -> str | None:
        """Return the words of what is fetched or made."""
        found = self.passage.first(_SAYS[hole])
        return (found["thing"] or found["chore"]) if found else None

    def at(self, *how: str) -> When | None:
        """Return the time that was said with the first of these words."""
        return next((each for word in how for each in self.when if each.how == word), None)

    def spot(self, *how: str) -> str | None:
        said = self.passage.values(Spot)
        return next((each.name for word in how for each in reversed(said) if each.how == word), None)


class _Reading:
    def __init__(self, people: People, known: frozenset[str], *, is_long: bool) -> None:
        self._is_long = is_long
        self._of = people
        self.facts: list[Fact] = []
        self.unread: list[str] = []
        self.named: list[str] = []
        """Who is only named in a clause."""
        self._mentioned: list[tuple[str, ...]] = []
        """Who was spoken of together, or alone."""
        self._known = known | people.known | {TELLER}
        self._people: tuple[str, ...] = ()
        """Whom the last clause about people was about."""
        self._table = self._was = ""
        """What the last clause of this sentence, and the last sentence, was about."""
        self._thing = self._spot = self._last = ""
        self._beside: list[str] = []
        """Who is with them, in the same sentence."""
        self._moment: When | None = None
        """The last time that was said."""
        self._where: dict[str, Any] = {}
        """Where they are, and from when on."""
        self._way = ""
        """Where the last way ended."""
        self._is_due = False
        """What is said of where all meet is when they have to be there, and not when something begins there."""

    def read(self, sentence: str) -> None:
        passage = values.valued(sentence, self._known)
        self._was = self._table
        self._table = self._way = self._spot = self._last = ""
        self._beside = []
        self._has_place = bool(passage.values(Spot))
        is_told = self._has_place and bool(passage.values(Lasting))
        self._is_of_shop = is_told or any(passage.has(_ROLES[name]) for name in ("opens", "closes"))
        joints = [each.span() for each in _SAYS.joint.finditer(passage.text) if not self._is_of_two(passage.text, each)]
        ends = [0, 0, *(at for joint in joints for at in joint), len(passage.text)]
        part = None
        for joint, begin, end in zip(ends[::2], ends[1::2], ends[2::2], strict=False):
            named = part.others[-1:] if part and _SAYS.is_of_them.search(passage.text, joint, begin) else ()
            if named:  # `with her sister Zara, who has a Clio`
                self._people, self._table = named, "people"
            noun: re.Match[str] | None = _SAYS.noun.fullmatch(part.passage.text.strip()) if part else None
            if noun and _SAYS.is_of_it.search(passage.text, joint, begin):  # `the present, which is at the jeweller's`
                self._thing, self._table = noun["thing"], "tasks"
            part = _Part(passage.text[begin:end], passage)
            thing = self._thing
            is_of_another = self._table == "people" and part.kind in ("", "thing") and part.passage.text[:1].isupper()
            facts = self._facts(part) if part.is_clear and not is_of_another else []
            self.facts += facts
            if part.passage.whole(_SAYS.retracts):
                self.facts = [each for each in self.facts if each.name != self._thing]
            if facts and self._is_left(part, facts):
                self.unread.append(part.said)
            self.named += part.others if facts else ()
            if not facts and not part.kind and not self._table:
                self._people, self._mentioned = (), []  # it is about somebody else, of whom nothing is known
            if not facts and (len(part.others) > 1 or (part.passage.text[:3].lower() == "we " and self._table == "people")):
                self._table = ""  # it is not clear of whom the next clause tells
            if not facts and part.kind and not self._is_only_named(part) and self._thing == thing:
                self._thing = ""
            if not facts and part.said and not self._is_only_named(part):
                self.unread.append(part.said)
            elif not facts and part.kind == "person":
                self.named += self._people
            self._moment = part.when[-1] if part.when else self._moment
            said = [each.name for each in part.passage.values(Spot)]
            places = [each.values["place"] for each in facts if each.table == "people" and "place" in each.values]
            self._last = [self._last, *said][-1]
            self._spot = [self._spot, *said, *places][-1]
        self._table = self._table or ("goals" if passage.values(Event) else "")

    @staticmethod
    def _is_left(part: _Part, facts: list[Fact]) -> bool:
        """Tell whether a value of a clause is in none of its facts: a time, a duration, seats, or somebody."""
        moments = {value.minutes for fact in facts for value in fact.values.values() if isinstance(value, When)}
        said = {"minutes": None if part.passage.has(_SAYS.reckoned) else part.minutes, "seats": part.seats}
        left = (key for key, value in said.items() if value is not None and all(fact.values.get(key) is None for fact in facts))
        is_alone = "takes_along" in part.roles and not part.others and not {"car", "drives"} & part.roles and part.seats is None
        is_with = is_alone and part.passage.has(_SAYS.with_somebody)  # `with our lass kelly`
        return is_with or any(left) or any(each.minutes not in moments for each in part.when)

    def _is_of_two(self, text: str, joint: re.Match[str]) -> bool:
        """Tell whether `and` joins two things, not two clauses."""
        before = text[max(text.rfind(mark, 0, joint.start()) for mark in ",:;") + 1 : joint.start()].strip()
        return joint[0].strip() == "and" and _SAYS.bare.fullmatch(before) is not None

    def _is_only_named(self, part: _Part) -> bool:
        """Tell whether it only says whom the next clause is about."""
        text = part.passage.text.strip()
        is_named = part.kind == "person" and part.subject is not None and part.subject.end == len(text)
        return is_named or any(_SAYS[each].fullmatch(text) for each in ("noun", "filler"))

    def _facts(self, part: _Part) -> list[Fact]:
        """Return what the first reader makes of the clause that can make anything of it."""
        roads = self._roads(part)
        if roads is not None:
            return roads
        self._turn_to(part)
        readers = (self._company, self._passengers, self._goal, self._task, self._person)
        return next((facts for each in readers if (facts := list(each(part)))), [])

    def _turn_to(self, part: _Part) -> None:
        """Notice what the clause is about; without a subject, it is about the same as the one before."""
        if part.kind == "group":
            part.kind, part.subject = ("", None) if self._table == "people" else ("everybody", part.subject)
        found = part.subject
        is_food = part.kind == "thing" and part.subject is not None and _SAYS.FOOD.search(part.subject["thing"])
        if part.kind in ("thing", "event") and "there_all" in part.roles and not is_food:
            part.kind = "everybody"  # `the singers have to be there at 5`
        is_bare = part.kind == "thing" and not {"fetched", "fetch", "must"} & part.roles and part.minutes is None
        is_verb = is_bare and found and not _SAYS.determined.match(found.said)  # `waits at the library`, `and be here at 10`
        is_bidden = part.kind == "everybody" and _SAYS.of_the_same.match(part.passage.text) and self._people != (TELLER,)
        if self._table == "people" and (is_verb or is_bidden):
            part.kind, found = "", None
        if part.kind == "pronoun" and found and found["whose"][:4] in ("they", "both") and self._table in ("tasks", "goals"):
            part.kind = "it" if self._table == "tasks" else "everybody" if "there_all" in part.roles else part.kind
        is_of_somebody = part.passage.values(Spot) or any("who" in each.values for each in self.facts[-1:])
        is_of_shop = self._thing and self._table == "tasks" and part.when and not is_of_somebody
        if part.kind == "pronoun" and found and found["whose"] in ("he", "she") and is_of_shop:
            part.kind = "it"  # `the cake is at Ann's, she is up by 8`
        if found is None:
            return
        who, whose = found.get("who", Who), found["whose"]
        if who is not None:
            self._where = self._where if who.names == self._people else {}
            if re.search(rf"(?i)(?:'s|^his|^her|^their) {re.escape(who.names[-1])}$", found.said):
                self.named.append(found.said)  # `Tess's mum`, of whom the board says only that she is somebody's
                is_unseen = "no_drive" in part.roles and not part.passage.values(Spot)
                who = replace(who, names=()) if is_unseen else who
            self._people = who.names
            self._mentioned += [who.names, *([(*who.names, *part.others)] if part.others else [])]
        elif whose:
            self._people = self._meant_by(whose)
        is_errand = {"fetched", "closes", "opens"} & part.roles
        is_place = part.kind == "thing" and not part.roles and names_venue(found["thing"])
        is_begun = self._table == "goals" and (part.when or is_place) and part.minutes is None and not is_errand
        is_alone = self._table == "goals" and len(self._people) == 1 and self._is_only_named(part)
        self._table = {
            "person": "goals" if is_alone else "people",
            "everybody": "goals",
            "hosting": "goals",
            "event": "goals",
            "somebody": "tasks" if {"fetch", "makes", "watched"} & part.roles or part.passage.has(_SAYS.them) else "",
            "it": self._table or ("goals" if self._was == "goals" and part.minutes is None else ""),
            "thing": "goals" if is_begun else "tasks",
        }.get(part.kind, "people")

    def _meant_by(self, pronoun: str) -> tuple[str, ...]:
        """Return whom a pronoun means: the last of those who were spoken of whom it fits."""
        last = self._mentioned[::-1]
        fits: Iterator[tuple[str, ...]]
        if pronoun in ("he", "she", "his", "her"):
            own = {"his": "he", "her": "she"}.get(pronoun, pronoun)
            fits = (each for each in last if len(each) == 1 and TELLER not in each and self._of.pronouns.get(each[0], own) == own)
        elif pronoun in ("my", "our", "we"):
            fits = (each for each in [*last[:1], (TELLER,)] if TELLER in each and (pronoun != "my" or len(each) == 1))
        elif pronoun.startswith("both"):
            fits = iter([tuple(dict.fromkeys(name for group in self._mentioned for name in group))[-2:]])
        else:
            fits = (each for each in last if len(each) > 1 and {*self._people} <= {*each})
        if (one := next(fits, None)) is None and pronoun in ("he", "she", "his", "her"):
            both = [name for name in (last[0] if last else ()) if self._of.pronouns.get(name) == own]
            return tuple(both) if len(both) == 1 else ()
        return one or (self._people if pronoun in ("they", "their") and len(self._people) > 1 else ())

    def _told(self, table: str, key: str) -> list[Any]:
        """Return what was told of a column until now; of goals, of that of everybody."""
        own = (each for each in self.facts if each.table == table and (table != "goals" or not each.name))
        return [each.values[key] for each in own if key in each.values]

    # -- readers -------------------------------------------------------------------------------------------------------

    def _roads(self, part: _Part) -> list[Fact] | None:
        """Read how long one drives; empty if one end is not known, None if it is about something else. A number without a unit is
        minutes, as in the way before it.
        """
        plain = tagged(part.said)
        for name in _WAYS:
            found = plain.whole(_WAYS[name])
            lasting, number = (found.get("lasting", Lasting), found.get("minutes", Number)) if found else (None, None)
            minutes = lasting.minutes if lasting else float(number.value) if number and number.value else None
            if found is None or minutes is None or (lasting is None and name != "between" and not self._way):
                continue
            ends = (plain.said(found.match.groupdict().get(end) or "").strip() for end in ("here", "there"))
            here, there = (self._way if end == "there" else end for end in ends)
            there = there or self._way or (self._last if name == "from" else "")
            if here in _OURS and there:
                return [road(there, "", minutes)]
            if here and not there and name == "from":
                return [road(here, "", minutes)] if part.kind == "it" and here not in _OURS else []
            if here and there:
                self._way = here if name == "away" else there
                return [road(here, there, minutes)]
        return [] if part.minutes is not None and part.spot("from") and part.spot("to") else None

    def _company(self, part: _Part) -> Iterator[Fact]:
        names = self._people if part.kind in ("person", "pronoun") else (EVERYBODY,) if part.passage.has(_SAYS.all) else ()
        if "alone" in part.roles and "watched" not in part.roles:
            yield from (fact("people", name, never_alone=True) for name in names)

    def _passengers(self, part: _Part) -> Iterator[Fact]:
        """Read whom somebody fetches: they do not drive, and would rather ride with whoever is named."""
        is_along = "brings" in part.roles and (part.kind == "person" or (not part.kind and bool(self._people)))
        if is_along or not {"fetch", "ride"} & part.roles or ("ride" in part.roles and part.kind != "somebody"):
            return
        is_of_things = self._table == "tasks" or (self.facts and self.facts[-1].table == "tasks")
        if is_of_things and part.passage.has(_SAYS.of_it):
            return  # `the balls are in the hall, somebody must fetch them`
        by = next(iter(self._people), None) if part.kind in ("person", "pronoun") else None
        them = part.others or (self._people if by is None and part.passage.has(_SAYS.them) else ())
        place = self._place(part, "at", "in", "on", "from", "near")
        if by and them:
            yield fact("people", by, drives=True)
            yield fact("vehicles", car_of(by), drivers=(by,))
        for name in them:
            values = {"place": place, "from": part.at("after", "at", "from"), "drives": False, "fetched": True}
            yield fact("people", name, prefers=by, **values)
        if them:
            self._people, self._table = them, "people"
            self._mentioned.append(them)

    def _goal(self, part: _Part) -> Iterator[Fact]:
        """Read where all meet, and by when. When something begins is what counts as long as nobody says when to be there."""
        is_theirs = self._table == "people" and not part.passage.text.lower().startswith("we ")
        is_open = not any(each.table != "goals" or "place" in each.values for each in self.facts)
        is_general = part.kind in ("pronoun", "thing", "somebody", "it", "")
        is_of_all = is_general and not {"fetch", "makes"} & part.roles and not is_theirs
        is_begun = any(each.table != "goals" for each in self.facts)
        is_headed = not is_begun and not part.roles and part.passage.whole(_SAYS.heading) is not None
        is_early = not any(each.table == "people" for each in self.facts)
        is_venue = part.passage.whole(_SAYS.bare) is not None and names_venue(part.said)
        is_first = self._is_long and is_open and is_of_all and (part.when or is_headed or is_venue) and is_early
        is_alone = part.kind == "person" and self._is_only_named(part) and len(self._people) == 1
        if not is_first and (self._table != "goals" or (part.kind in ("person", "pronoun", "own") and not is_alone)):
            return
        event = next(iter(part.passage.values(Event)), None)
        led = _SAYS.event_led.sub("", part.passage.text).split() if part.kind == "event" else []
        if len(led) > _A_FEW:
            self.unread.append(part.passage.said(" ".join(led)))
        self._mentioned += [part.others] if event and part.others else []
        if event and event.whose:
            self._people = event.whose
            self.named += event.whose
        before = {key for each in self.facts if each.table == "goals" for key in each.values}
        is_due = self._is_due and part.kind in ("", "person") and not part.passage.has(_SAYS.begins)
        is_place = part.kind == "thing" and part.subject is not None and names_venue(part.subject["thing"])
        is_asked = part.kind == "everybody" and not (before and part.passage.has(_SAYS.begins))  # `we start at 10`
        self._is_due = is_due or "there_all" in part.roles or is_asked
        place = self._place(part, "at", "in", "on", "inside", "to", "near")
        by = part.at(*UP_TO, "at", "around", "about", "from") or self._reckoned(part)
        is_bare = not (place or part.when or part.kind or self._has_place)
        if (is_bare and (is_venue or part.passage.text[:1].isupper())) or (place and is_place and not part.when):
            place = part.said  # `chapel in Whitby`
        if is_headed and part.passage.whole(_SAYS.named):
            place = part.said  # `The Swan in Ludlow`
        if is_first and not place and part.kind == "thing" and part.subject and part.subject.said.endswith("'s"):
            place = part.subject.said  # `Luigi's at 6pm`
        if before - {"event"} == {"place"} and place and by and part.kind != "":
            before = set()  # `the wedding in Kinsale: the ceremony is at St Mary's at 2`
        if "place" in before and place == part.spot("on"):
            place = None  # `a match at Thornbury Park, everybody on the pitch by 10`
        if before and not self._is_due:
            place, by = (None if "place" in before else place), (None if "by" in before else by)
        self._table = "goals"
        is_told = part.kind in ("event", "hosting")
        if place or by or (event and is_told and not {"fetch", "fetched"} & part.roles):
            is_sure = is_headed or event or is_told or part.kind == "everybody" or before
            yield fact("goals", "", place=place, by=by, event=event.name if event else None, guessed=None if is_sure else True)
        host = _SAYS.host.fullmatch(place or "")
        if host and (host["house"] or host["kin"] or host["who"] in self._known):
            yield fact("people", names_in(host["who"])[0], place=place)

    def _reckoned(self, part: _Part) -> When | None:
        """Return when they have to be there, where it is told from another time: `by then`, `20 minutes earlier`."""
        found = part.passage.first(_SAYS.reckoned)
        if found is None or found["then"]:
            return self._moment if found else None
        begins = self._told("goals", "by")[-1:]
        return next((replace(each, minutes=each.minutes - (part.minutes or 0)) for each in begins), None)

    def _task(self, part: _Part) -> Iterator[Fact]:
        """Read what has to be done: what is only fetched takes no time, unless somebody says it."""
        roles, is_of_it = part.roles, part.kind in ("", "it") or "watched" in part.roles or part.passage.has(_SAYS.of_it)
        place = self._place(part, "at", "in", "on", "inside", "from", "near", "to")
        if {"rents", "car"} & roles or part.seats is not None:
            return
        is_theirs = part.kind in ("person", "pronoun", "own") or (not part.kind and self._table == "people")
        is_unclear = part.kind == "pronoun" and len(self._people) == 1 and part.passage.text[:5].lower() == "they "
        who = self._people if is_theirs and not is_unclear and part.passage.text[:3].lower() != "we " else None
        thing = part.subject["thing"] if part.kind == "thing" and part.subject else None
        is_errand = bool({"fetch", "fetched"} & roles)
        if thing and ({"opens", "closes"} & roles or part.passage.has(_SAYS.there)) and self._is_of_its_place(thing):
            thing, is_of_it = None, True  # `the tents are in the gym, the gym opens at 9`
        if "fetch" in roles and "fetched" not in roles:
            thing = part.said_as("fetches") or thing
        if not thing and (is_errand or "makes" in roles):
            thing = part.said_as("fetches" if is_errand else "made")
        if thing and self._thing and _SAYS.handling.fullmatch(thing):
            thing, is_of_it = None, True  # `the stands must be fetched, loading takes ten minutes`
        if not thing and who and part.minutes is not None:
            thing = part.said_as("for_it")
        if thing and part.kind == "thing" and not is_errand and part.minutes is None and "must" not in roles:
            is_errand = self._is_fetched_there(part, thing, place)
            thing = thing if is_errand else None
        if "brings" in roles and who and not (place or part.when or part.minutes):
            self._thing, self._table = thing or "", "tasks"
            return  # it comes along with whoever brings it
        if part.kind == "thing" and self._is_of_somebody(part, thing, place, is_errand=is_errand):
            return
        if thing:
            self._thing, self._table = thing, "tasks"
        elif not (is_of_it and self._thing and (self._table == "tasks" or part.kind == "it" or "watched" in roles)):
            return
        at = ("at", "around", "about")
        opens = part.at("after", "from", "since", "not before", *((*at, "by") if "opens" in roles else ()))
        if is_errand and opens is None and "closes" not in roles and (moment := part.at(*at)):
            opens = replace(moment, how="from")
        closes = part.at(*(each for each in UP_TO if opens is None or each != opens.how), *(at if "closes" in roles else ()))
        if opens and part.passage.has(_SAYS.is_ready):
            opens = replace(opens, how="from")  # `the pizza is ready at 7` is not said of a shop
        minutes = part.minutes if part.minutes is not None or not is_errand else 0
        place = None if "watched" in roles and part.kind == "somebody" else place
        values: dict[str, Any] = {"place": place, "minutes": minutes, "opens": opens, "closes": closes}
        values |= {"who": who, "watched": "watched" in roles or None}
        if any(each is not None for key, each in values.items() if key not in ("who", "place")) or (
            place and ("makes" not in roles or part.kind == "thing")
        ):
            if part.when and opens is None and closes is None:
                self.unread.append(part.said)
            of = [each.name for each in self.facts if each.table == "tasks"] if part.passage.has(_SAYS.of_several) else []
            for name in dict.fromkeys([*of[-2:], self._thing]):
                yield fact("tasks", name, is_errand=is_errand or None, **values)

    def _is_fetched_there(self, part: _Part, thing: str, place: str | None) -> bool:
        """Tell whether a thing that is somewhere is to be fetched there, though nobody says so."""
        has_food = bool(_SAYS.FOOD.search(thing))
        is_food = bool(part.spot("from")) and (has_food or _SAYS.shop.fullmatch(place or "") is not None)
        is_next = is_food or self._is_of_shop or bool(self.facts and self.facts[-1].table == "tasks")
        is_there = part.passage.has(_SAYS.is_there) or (is_next and part.passage.whole(_SAYS.from_there))
        is_thing = _SAYS.determined.match(thing) or thing.endswith("s") or has_food or self._is_of_shop
        return bool(place and is_there and is_thing and (not part.when or "opens" in part.roles or is_food or has_food))

    def _is_of_somebody(self, part: _Part, thing: str | None, place: str | None, *, is_errand: bool) -> bool:
        """Tell whether it may be said of somebody, who has to be somewhere, or is called as things are."""
        is_bidden = "must" in part.roles and bool(part.when) and part.minutes is None
        if is_bidden and not {"fetch", "fetched", "makes", "watched"} & part.roles:
            return True
        is_name = part.passage.text[:1].isupper() and " " not in (thing or " ")
        is_one = is_name and not part.passage.has(_SAYS.SEVERAL) and not _SAYS.shop.fullmatch(place or "")
        is_said = self._is_of_shop or _SAYS.FOOD.fullmatch(thing or "")
        return bool(is_one and (is_errand or part.passage.whole(_SAYS.needs)) and not is_said)

    def _is_of_its_place(self, thing: str) -> bool:
        """Tell whether it is where the last task is done, or who lets people in there."""
        place = next(iter(self._told("tasks", "place")[-1:]), "")
        noun = thing.split()[-1].casefold()
        return bool(place) and (noun in place.casefold() or _SAYS.keeper.fullmatch(noun) is not None)

    def _person(self, part: _Part) -> Iterator[Fact]:
        """Read who is where, from when on, and who drives what."""
        roles = part.roles
        if not self._people or not self._is_about_people(part):
            return
        last = self.facts[-1] if self.facts and self.facts[-1].table == "vehicles" else None
        is_theirs = last is not None and last.name in (RENTAL, *map(car_of, self._people))
        if last is not None and is_theirs and part.kind in ("", "it") and part.seats is not None:
            yield fact("vehicles", last.name, seats=part.seats)
            return
        if self._where.get("place") and part.passage.whole(_SAYS.only_there):
            return  # `at her house in Rome, in Trastevere`
        since, drives = part.at(*_SINCE), self._drives(part)
        place = self._whereabouts(part, is_driving=drives is True or "drives" in roles)
        if "no_drive" in roles and self._where.get("place"):
            place = None  # `they do not drive in Italy`
        is_of_them = place or part.passage.has(_SAYS.moves) or (not part.kind and part.passage.whole(_SAYS.only_then))
        if since is not None and since.how in ("at", "by", "around", "about") and not is_of_them:
            since = None  # `I would like to serve at 2`
        is_of_one = len(self._people) == 1 and _SAYS.of_several.match(part.passage.text)
        if is_of_one or (since is not None and since.how == "at" and "busy" in roles):
            return  # it is of somebody else, too; or nobody says when it ends
        whose = part.subject.said.partition("'s ") if part.subject and part.kind == "person" else ("", "", "")
        them = names_in(whose[0], self._known) if whose[1] and part.passage.has(_SAYS.them) else ()
        others = tuple(each for each in (*them, *part.others) if each not in self._people)  # `Ann's mum brings her`
        if "no_drive" in roles and part.others:
            yield from (fact("people", name, drives=False) for name in part.others)
        elif "must" in roles and place and since and since.how not in ("until", "till"):
            yield from (fact("goals", name, place=place, by=since) for name in self._people)
        elif any((place, since, drives is not None, {"lands", "ride"} & roles)):
            is_car = bool(part.subject and part.subject["car"])
            self._where = {"place": None if is_car else place or self._where.get("place"), "from": since}
            said = {"lands": "lands" in roles or None, "fetched": "ride" in roles or None, "drives": drives}
            values = {"place": None if is_car else place, "from": since, **said}
            values["own_home"] = bool(place and _SAYS.own_home.fullmatch(place)) or None
            drivers = self._drivers(part) if drives else self._people
            for name in self._people:
                yield fact("people", name, **values if name in drivers else {**values, "drives": None})
            yield from self._car(part, place, drivers) if drives else ()
        elif part.passage.has(_SAYS.joins):
            yield from (fact("people", name) for name in self._people)
        theirs = tuple(each for each in others if re.search(rf"\b(?:his|her|their) {each}\b", part.said, re.IGNORECASE))
        along = [name for name in others if "takes_along" in roles and name not in theirs]
        yield from (fact("people", name, **self._where) for name in along)
        if not part.kind and (since or place):
            yield from (fact("people", name, place=place, **{"from": since}) for name in self._beside)
        self._beside = along or self._beside
        if part.passage.has(_SAYS.with_me) and self._where.get("place"):
            yield fact("people", TELLER, **self._where)

    def _is_about_people(self, part: _Part) -> bool:
        roles = part.roles
        is_of_all = part.kind == "person" and part.passage.has(_SAYS.everyone)  # `I ask everybody to come at noon`
        return self._table == "people" and not (is_of_all or part.kind in ("thing", "somebody") or {"opens", "closes"} & roles)

    def _whereabouts(self, part: _Part, *, is_driving: bool) -> str | None:
        """Return where they are: where they land or are, or where they come from."""
        at = ("at", "in", "inside", "into", "on", "near")
        is_there = "busy" in part.roles or ({"lands", "rides_along"} & part.roles and not is_driving)
        ways = ("from", *at) if is_driving else (*at, "from", "to")  # `drives from Bristol in a Ford`
        place = self._place(part, *((*at, "to") if is_there else ways))  # `has the van from the pool`
        if place is None and _SAYS.gapped.fullmatch(part.passage.text.strip()):
            return self._spot or None
        return place

    def _drives(self, part: _Part) -> bool | None:
        if {"no_drive", "ride"} & part.roles:
            return False
        if part.kind == "own" and self.facts and self.facts[-1].values.get("drives") is False:
            return None  # `I need a lift, my car is in the garage`
        return bool({"drives", "car", "rents"} & part.roles or part.seats or (part.subject and part.subject["car"])) or None

    def _drivers(self, part: _Part) -> tuple[str, ...]:
        """Return who drives: whose car it is, or one or two who have it; of more it is not known who."""
        owner = part.passage.first(_SAYS.whose_car)
        who = owner.get("who", Who) if owner else None
        names = who.names if who else self._people
        adults = tuple(name for name in names if name.split()[-1] not in self._of.children or self._people == (name,))
        return adults if len(adults) < _A_FEW else ()

    def _car(self, part: _Part, place: str | None, drivers: tuple[str, ...]) -> Iterator[Fact]:
        if "rents" in part.roles:
            yield fact("vehicles", RENTAL, place=place, seats=part.seats, drivers=self._people)
            return
        is_named = bool(part.roles & {"car"} or part.seats or part.kind == "own" or (part.subject and part.subject["car"]))
        yield fact("vehicles", car_of((drivers or self._people)[0]), seats=part.seats, drivers=drivers, named=is_named or None)

    def _place(self, part: _Part, *how: str) -> str | None:
        """Return the place that was said with the first of these words; `her house` is `Ann's house`."""
        said = part.spot(*how)
        if said and (of_kin := _SAYS.of_kin.fullmatch(said)):
            said = of_kin["whose"]  # `my sister Ann's in Rome`
        if said and said.startswith("the same "):
            noun = said.removeprefix("the same ")
            last = [each for each in self._told("people", "place")[-1:] if noun in ("place", *each.split())]
            said = last[0] if last else None if noun == "place" else f"the {noun}"
        own = _SAYS.own_place.fullmatch(said) if said else None
        if own and self._people:
            return f"{self._people[0 if own['whose'].lower() == 'their' else -1]}'s {own['what']}"
        if said is None and part.passage.has(_SAYS.here):
            return HERE
        is_theirs = bool(self._people) and not {TELLER, *self._of.household} & {*self._people, *part.others}
        if is_theirs and said and _SAYS.at_home.fullmatch(said) and not is_our_home(said):
            meeting = self._told("goals", "place")
            is_other = " in " in said and not any(said.split(" in ")[-1] in each for each in meeting)
            is_ours = not is_other and any(_SAYS.at_home.match(each) for each in meeting)
            hosts = (each for each in meeting if each.startswith(tuple(f"{name}'s" for name in self._people)))
            return next(hosts, said if is_ours or not meeting else f"{self._people[0]}'s {said}")
        if said is None and part.passage.has(_SAYS.there):
            told = (each for each in self.facts[::-1] if self._table == each.table == "people" and "place" in each.values)
            theirs = (each.values["place"] for each in told if part.passage.has(_SAYS.them) or each.name in self._people)
            return self._spot or next(theirs, HERE)
        return said
