"""Talk: what was said of a day until now, and whom and what the next clause is about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sagagraph.domains.reunion.text.clause import SAYS, Clause
from sagagraph.domains.reunion.text.facts import HERE, TELLER, Fact
from sagagraph.domains.reunion.text.places import is_our_home, names_venue, owners
from sagagraph.domains.reunion.text.values import People, Spot, When, Who
from sagagraph.language.passage import Found

OF_A_WAY: Final = {"drives", "car", "ride", "no_drive", "rents", "lands"}
"""What is said of people of whom somebody has just told, and not of all, whatever else they have to do."""


def _is_certain(clause: Clause, thing: Found) -> bool:
    """Tell whether it is a thing and no verb: `the beer`, `beer is at the store`, `sun cream from the store`."""
    is_long = " " in thing.said and clause.passage.whole(SAYS.from_there) is not None
    is_there = SAYS.is_there.match(clause.passage.text[thing.end :].lstrip())
    return bool(is_long or is_there or SAYS.determined.match(thing.said))


@dataclass(frozen=True, slots=True)
class Heard:
    """What was made of a clause: its `facts`, and the parts of it that mean nothing here."""

    said: str
    facts: tuple[Fact, ...]
    unread: tuple[str, ...]


@dataclass(slots=True)
class Talk:
    """A talk, which clauses are told in turn."""

    persons: People
    known: frozenset[str]
    is_long: bool
    facts: list[Fact] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    heard: list[list[Heard]] = field(default_factory=list)
    """By sentence."""
    begun: dict[str, str] = field(default_factory=dict)
    """Clauses that only name what is made: once more is told of it, they are understood."""
    named: list[str] = field(default_factory=list)
    """Who is only named in a clause."""
    mentioned: list[tuple[str, ...]] = field(default_factory=list)
    """Who was spoken of together, or alone."""
    who: tuple[str, ...] = ()
    """Whom the last clause about people was about."""
    table: str = ""
    """What the last clause of this sentence was about."""
    last_table: str = ""
    """What the last sentence was about."""
    thing: str = ""
    made_at: str | None = None
    """Where whoever makes that thing is, as it was named."""
    made_by: tuple[str, ...] | None = None
    spot: str = ""
    last_spot: str = ""
    beside: list[str] = field(default_factory=list)
    """Who is with them, in the same sentence."""
    moment: When | None = None
    """The last time that was said."""
    where: dict[str, Any] = field(default_factory=dict)
    """Where they are, and from when on."""
    way: str = ""
    """Where the last way ended."""
    is_due: bool = False
    """What is said of where all meet is when they have to be there, and not when something begins there."""
    has_place: bool = False
    is_lost: bool = False
    """Since the last fact somebody told how long something takes, and it is not known what."""
    is_of_shop: bool = False

    def turn_to(self, clause: Clause) -> None:
        """Notice what the clause is about; without a subject, it is about the same as the one before."""
        if clause.kind == "group":
            is_of_all = self.table != "people" or ("must" in clause.roles and SAYS.determined.match(clause.passage.text))
            clause.kind, clause.subject = ("everybody", clause.subject) if is_of_all else ("", None)
        found = clause.subject
        is_food = clause.kind == "thing" and clause.subject is not None and SAYS.FOOD.search(clause.subject["thing"])
        if clause.kind in ("thing", "event") and "there_all" in clause.roles and not is_food:
            clause.kind = "everybody"  # `the singers have to be there at 5`
        is_of_nobody = not clause.kind and (self.table not in ("people", "tasks") or not self.who)
        if is_of_nobody and "there_all" in clause.roles and clause.when:
            clause.kind, self.table = "everybody", "goals"  # `we are four friends who must be there at 5`
        is_bare = clause.kind == "thing" and not {"fetched", "fetch", "must"} & clause.roles and clause.minutes is None
        is_verb = is_bare and found and not _is_certain(clause, found)  # `waits at the library`, `and be here at 10`
        is_bidden = clause.kind == "everybody" and SAYS.of_the_same.match(clause.passage.text) and self.who != (TELLER,)
        if (self.table == "people" and (is_verb or is_bidden)) or (self.table == "tasks" and is_verb and clause.joint == "and"):
            clause.kind, found = "", None
        if clause.kind == "everybody" and clause.passage.text[:2].lower() == "we" and self._is_of_a_few(clause):
            clause.kind, found, self.who, self.table = "", None, self.mentioned[-1], "people"
        if clause.kind == "pronoun" and found and found["whose"][:4] in ("they", "both") and self.table in ("tasks", "goals"):
            clause.kind = "it" if self.table == "tasks" else "everybody" if "there_all" in clause.roles else clause.kind
        is_theirs = any(SAYS.host.fullmatch(each) for each in self.told("tasks", "place")[-1:])
        spots = [each for each in clause.passage.values(Spot) if not (is_theirs and SAYS.at_home.fullmatch(each.name))]
        is_of_somebody = spots or any("who" in each.values for each in self.facts[-1:])
        is_of_shop = self.thing and self.table == "tasks" and clause.when and not is_of_somebody
        if clause.kind == "pronoun" and found and found["whose"] in ("he", "she") and is_of_shop:
            clause.kind = "it"  # `the cake is at Ann's, she is up by 8`, `she is home until 5`
        if self.table == "tasks" and not clause.kind and self.made_by and {"drives", "car", "no_drive", "rents"} & clause.roles:
            self.table, self.who = "people", self.made_by  # `Ann bakes a cake and drives`
        if found is None:
            return
        who, whose = found.get("who", Who), found["whose"]
        if who is not None:
            self.where = self.where if who.names == self.who else {}
            if re.search(rf"(?i)(?:'s|^his|^her|^their) {re.escape(who.names[-1])}$", found.said):
                self.named.append(found.said)  # `Tess's mum`, of whom the board says only that she is somebody's
                is_unseen = "no_drive" in clause.roles and not clause.passage.values(Spot)
                who = replace(who, names=()) if is_unseen else who
            self.who = who.names
            self.mentioned += [who.names, *([(*who.names, *clause.others)] if clause.others else [])]
        elif whose:
            self.who = self.meant_by(whose)
        is_errand = {"fetched", "closes", "opens"} & clause.roles
        is_place = clause.kind == "thing" and not clause.roles and names_venue(found["thing"])
        is_begun = self.table == "goals" and (clause.when or is_place) and clause.minutes is None and not is_errand
        is_alone = self.table == "goals" and len(self.who) == 1 and clause.is_only_named
        self.table = {
            "person": "goals" if is_alone else "people",
            "everybody": "goals",
            "hosting": "goals",
            "event": "goals",
            "somebody": "tasks" if {"fetch", "makes", "watched"} & clause.roles or clause.passage.has(SAYS.them) else "",
            "it": self.table or ("goals" if self.last_table == "goals" and clause.minutes is None else ""),
            "thing": "goals" if is_begun else "tasks",
        }.get(clause.kind, "people")

    def _is_of_a_few(self, clause: Clause) -> bool:
        """Tell whether `we` are those of whom the last clause told, not all: `I come with my wife, we will drive`."""
        last = {name for group in self.mentioned[-1:] for name in group}
        return bool(OF_A_WAY & clause.roles or clause.seats) and TELLER in last

    def meant_by(self, pronoun: str) -> tuple[str, ...]:
        """Return whom a pronoun means: the last of those who were spoken of whom it fits."""
        last = self.mentioned[::-1]
        fits: Iterator[tuple[str, ...]]
        if pronoun in ("he", "she", "his", "her"):
            own = {"his": "he", "her": "she"}.get(pronoun, pronoun)
            fits = (self._one_of(each, own) for each in last if self._fitting(each, own))
        elif pronoun in ("my", "our", "we"):
            fits = (each for each in [*last[:1], (TELLER,)] if TELLER in each and (pronoun != "my" or len(each) == 1))
        elif pronoun.startswith("both"):
            fits = iter([tuple(dict.fromkeys(name for group in last for name in group))[:2][::-1]])
        else:
            fits = (each for each in last if len(each) > 1 and {*self.who} <= {*each})
        is_several = pronoun in ("they", "their") and len(self.who) > 1
        return next(fits, self.who if is_several else ())

    def _fitting(self, names: tuple[str, ...], own: str) -> tuple[str, ...]:
        return tuple(name for name in names if name != TELLER and self.persons.pronouns.get(name, own) == own)

    def _one_of(self, names: tuple[str, ...], own: str) -> tuple[str, ...]:
        """Return whom of those who were spoken of together `he` or `she` means: of several, the only one of whom it is known."""
        fitting = self._fitting(names, own)
        known = tuple(name for name in fitting if name in self.persons.pronouns)
        return next((each for each in (fitting, known) if len(each) == 1), ())

    def told(self, table: str, key: str) -> list[Any]:
        """Return what was told of a column until now; of goals, of that of everybody."""
        own = (each for each in self.facts if each.table == table and (table != "goals" or not each.name))
        return [each.values[key] for each in own if key in each.values]

    def where_is(self, name: str) -> str | None:
        """Return where somebody is, as far as it was told."""
        theirs = (each.values for each in self.facts[::-1] if each.table == "people" and each.name == name)
        return next((each["place"] for each in theirs if "place" in each), None)

    def place(self, clause: Clause, *how: str, of: tuple[str, ...] = ()) -> str | None:
        """Return the place that was said with the first of these words; `her house` is `Ann's house`. `of`: those whose it is,
        if they are others than the clause is about.
        """
        them = of or self.who
        said = clause.spot(*how)
        if said and (of_kin := SAYS.of_kin.fullmatch(said)):
            said = of_kin["whose"]  # `my sister Ann's in Rome`
        if said and said.startswith("the same "):
            noun = said.removeprefix("the same ")
            last = [each for each in self.told("people", "place")[-1:] if noun in ("place", *each.split())]
            said = last[0] if last else None if noun == "place" else f"the {noun}"
        if said is None and them != (TELLER,) and clause.passage.has(SAYS.with_me):
            return self.where_is(TELLER)
        if said == "the house" and them == (TELLER,) and not any("house" in each for each in self.told("goals", "place")):
            said = "home"
        own = SAYS.own_place.fullmatch(said) if said else None
        owner = clause.passage.first(SAYS.owner) if own and clause.kind in ("thing", "somebody") else None
        who = owner.get("who", Who) if owner else None  # `Ann's dog has to be walked from her cottage`
        if own and said and them:
            return self.owned(said, who.names[-1:] if who else them)
        if said is None and clause.passage.has(SAYS.here):
            return (self.where_is(TELLER) if self.table != "goals" else None) or HERE
        is_of_household = bool({TELLER, *self.persons.household} & {*them, *clause.others})
        is_theirs = bool(them) and clause.kind != "thing" and not is_of_household
        if is_theirs and said and SAYS.at_home.fullmatch(said) and not is_our_home(said):
            meeting = self.told("goals", "place")
            is_other = " in " in said and not any(said.split(" in ")[-1] in each for each in meeting)
            is_ours = not is_other and any(SAYS.at_home.match(each) for each in meeting)
            hosts = (each for each in meeting if {*owners(each)} & {*them})
            return next(hosts, said if is_ours or not meeting else f"{them[0]}'s {said}")
        if said is None and clause.passage.has(SAYS.there):
            return self.spot or self._there(clause) or HERE
        return said

    def owned(self, said: str, whose: tuple[str, ...]) -> str:
        """Return a place with the name of its owner: `her flat` is `Ann's flat`. Other places stay as they were said."""
        own = SAYS.own_place.fullmatch(said)
        if own is None or not whose:
            return said
        what = "house" if own["what"] in ("kitchen", "living room") else own["what"]
        return f"{whose[0 if own['whose'].lower() == 'their' else -1]}'s {what}"

    def _there(self, clause: Clause) -> str | None:
        """Return where `there` is: of people, where they are; of all, where they meet; otherwise the place that was told last."""
        told = [each for each in self.facts[::-1] if "place" in each.values]
        if self.table == "goals" and self.told("goals", "place"):
            return None
        if self.table == "people":
            is_last = clause.passage.has(SAYS.them) or "from there" in clause.passage.text
            told = [each for each in told if each.table == "people" and (is_last or each.name in self.who)]
        return next((each.values["place"] for each in told), None)
