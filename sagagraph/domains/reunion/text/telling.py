"""Telling: what somebody says is put on the board of a reunion; what means nothing here, or fits nothing there, is named."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import TypeAdapter
from rapidfuzz.distance import OSA

from sagagraph.domains.reunion.completion import EVERYBODY, Completed, Row, completed
from sagagraph.domains.reunion.text.facts import EVERYBODY as ALL
from sagagraph.domains.reunion.text.facts import HERE, RENTAL, ROADS, TELLER, Fact, car_of
from sagagraph.domains.reunion.text.places import Places, is_our_home, is_terminal, plain, shorter
from sagagraph.domains.reunion.text.reader import Reading, read
from sagagraph.domains.reunion.text.values import When, names_in
from sagagraph.domains.reunion.times import Moment, text_of
from sagagraph.domains.reunion.transcript import IN_PART, WHOSE, Filled
from sagagraph.errors import InvalidInputError
from sagagraph.language.clock import DAY
from sagagraph.language.forms import Forms

LONGEST_TEXT: Final = 5_000
MOST_CLAUSES: Final = 1_000
_FOOD: Final = re.compile(rf"\b(?:{Forms(__file__, 'values').text('FOOD')}|meal|dinner|lunch)\b")
_IN_THE_EVENING: Final = re.compile(
    r"\b(?:dinner|supper|party|concert|(?<!good )evening(?! before)|(?:to|poker |game )night|film|movie|opera)\b", re.IGNORECASE
)
_IN_THE_MORNING: Final = re.compile(r"\b(?:morning|breakfast|a\.?m)\b|\dam\b", re.IGNORECASE)
_OF_TELLER: Final = re.compile(r"\b(?:I|[Mm]e|[Mm]y|[Ww]e)\b(?! (?:own )?(?:house|home|place|flat|apartment|garden)\b)")
"""Words of somebody who takes part, and not only has a house."""
_OPEN, _EIGHT, _SHUT, _MORNING_ENDS, _NOON = 5 * 60, 8 * 60, 9 * 60, 11 * 60, 12 * 60
_CLAUSE_END: Final = re.compile(r"[,:;]|[.!?\n]+")
_RENTING: Final = "rent a car"
_LONG: Final = 4
"""Letters: shorter names are alike by chance."""
_LEADING: Final = re.compile(r"^(?:at|in|on|to|by|before|around|about)\s+", re.IGNORECASE)
_MOMENT: Final = TypeAdapter[int](Moment)


@dataclass(frozen=True, slots=True)
class Told:
    """A board on which something was told. `unread`: what means nothing here."""

    filled: Filled
    unread: tuple[str, ...] = ()


def told(before: Filled, text: str) -> Told:
    """Put what `text` says on the board. A sentence that means nothing alone may answer the first open question.

    Raises:
        InvalidInputError: it is far too long, or names nearly somebody who is known.
    """
    if len(text) > LONGEST_TEXT:
        raise InvalidInputError(f"has {len(text)} characters, and at most {LONGEST_TEXT} are read", field="text")
    if len(_CLAUSE_END.findall(text)) > MOST_CLAUSES:
        raise InvalidInputError(f"has more than {MOST_CLAUSES} clauses", field="text")
    reading = read(text, (row["name"] for row in before.problem["people"]))
    if not reading.facts:
        reading = _answer(completed(before), text) or reading
    if not reading.facts:
        return Told(before, reading.unread)
    board = _Board(before, reading, text)
    return Told(board.filled, (*reading.unread, *board.unread))


def _answer(known: Completed, said: str) -> Reading | None:
    """Return what a bare answer says, where something is missing."""
    if not known.problem["people"] or (not names_in(said) and len(said.split()) > _LONG):
        return None
    names = [row["name"] for row in known.problem["people"]]
    templates = [question.answer for question in known.questions[:1] if question.answer]
    found = [read(each.format(_LEADING.sub("", said.strip(" .!"))), names) for each in templates]
    return next((each for each in found if each.facts and not each.unread), None)


class _Board:
    """A board while facts are put on it. Places may be named before or after they are known, so that people come last."""

    def __init__(self, before: Filled, reading: Reading, text: str) -> None:
        self._text, said = text, reading.facts
        self.unread: list[str] = []
        """Ways of which one end is not known."""
        self._told: Row = deepcopy(before.problem)
        self._assumed = dict(before.assumed)
        self._known = [row["name"] for row in self._told["people"]]
        everybody = dict.fromkeys((*self._known, *(each.name for each in said if each.table == "people" and each.name != ALL)))
        whole = shorter(each for each in everybody if " " in each)
        said = tuple(replace(each, name=name) for each in said for name in (everybody if each.name == ALL else (each.name,)))
        said = tuple(self._renamed(each, whole) for each in said)
        self._people = [each for each in said if each.table == "people"]
        self._openings = [each.values["opens"] for each in said if each.table == "tasks" and "opens" in each.values]
        named = [*(each.name for each in self._people), *self._workers(said)]
        self._places = Places([*self._known, *named], self._told["places"])
        places = [each.values.get("place") for each in said if each.table == "goals" and not each.name]
        own = [each.values["place"] for each in self._people if each.name == TELLER and each.values.get("place")]
        met = [each for each in places if each not in (None, HERE)] or (own if HERE in places else [])
        self._places.meeting = met[-1] if met else self._shared()["place"] or ""
        for name in named:
            self._person(name)
        for table, put in (
            ("goals", self._put_goal),
            (ROADS, self._put_road),
            ("people", self._put_person),
            ("vehicles", self._put_car),
            ("tasks", self._put_task),
        ):
            for each in (each for each in said if each.table == table):
                put(each)
            if table == "goals":
                self._share_own_goal()
        for number, row in enumerate(self._told["people"]):
            if row["name"] == TELLER and row["place"] is None and "Home" in self._places.described():
                self._assume("people", number, "where you live", place="Home")
        is_ours = is_our_home(self._places.meeting) and any(each.table == "goals" for each in said)
        if is_ours and _OF_TELLER.search(text) and not any(row["name"] == TELLER for row in self._told["people"]):
            self._person(TELLER)
            self._assume("people", len(self._told["people"]) - 1, "all meet at your home", place=self._key(HERE))
        self._told["places"] = self._places.described()
        for table, name in sorted(reading.doubted):
            self._doubt(table, whole.get(name.casefold(), name) if table == "people" else name)

    @staticmethod
    def _renamed(fact: Fact, whole: Mapping[str, str]) -> Fact:
        """Return a fact of somebody by their whole name, where only a part of it is said: `Babcia` is `Babcia Halina`."""
        names = {
            key: tuple(whole.get(name.casefold(), name) for name in fact.values[key])
            for key in ("who", "drivers")
            if key in fact.values
        }
        name = whole.get(fact.name.casefold(), fact.name) if fact.table == "people" else fact.name
        return replace(fact, name=name, values={**fact.values, **names})

    @property
    def filled(self) -> Filled:
        return Filled(problem=self._told, assumed=self._assumed)

    def _share_own_goal(self) -> None:
        """Take where whoever tells, or somebody there, has to be for where all meet, where nobody says when that is."""
        shared = self._shared()
        with_goal = (row for row in self._told["people"] if row.get("goals"))
        own = next((row for row in with_goal if row["name"] == TELLER or row["goals"][0]["place"] == shared["place"]), None)
        if own is not None and shared["by"] is None:
            (goal,) = own.pop("goals")
            who = "you have" if own["name"] == TELLER else f"{own['name']} has"
            self._assume("goals", self._told["goals"].index(shared), f"{who} to be there", **goal)

    def _workers(self, said: Iterable[Fact]) -> Iterator[str]:
        """Yield whoever has something to do, or a car to drive, or has to be somewhere: they take part, too."""
        for each in said:
            yield from (*each.values.get("who", ()), *each.values.get("drivers", ()))
            if each.table == "goals" and each.name:
                yield each.name

    def _shared(self) -> Row:
        """Return the goal of everybody."""
        for goal in self._told["goals"]:
            if goal["people"] == EVERYBODY:
                return goal  # type: ignore[no-any-return]
        self._told["goals"].append({"people": EVERYBODY, "place": None, "by": None})
        return self._told["goals"][-1]  # type: ignore[no-any-return]

    def _row(self, table: str, name: str) -> tuple[int, Row]:
        for number, row in enumerate(self._told[table]):
            if plain(row["name"]) == plain(name):
                return number, row
        self._told[table].append({"name": name})
        return len(self._told[table]) - 1, self._told[table][-1]

    def _set(self, table: str, number: int, **values: Any) -> None:
        """Set what was said. It is no assumption any more, and its row is marked no longer."""
        for key, value in values.items():
            if value is not None:
                self._told[table][number][key] = value
                for field in (key, WHOSE.get(table, "name")):
                    self._assumed.pop(f"{table}[{number}].{field}", None)

    def _assume(self, table: str, number: int, why: str, **values: Any) -> None:
        for key, value in values.items():
            self._told[table][number][key] = value
            self._assumed[f"{table}[{number}].{key}"] = why

    def _doubt(self, table: str, name: str) -> None:
        """Mark a row of which something was said that was not understood."""
        key = WHOSE.get(table, "name")
        for number, row in enumerate(self._told[table]):
            if plain(str(row.get(key))) == plain(name or EVERYBODY):
                self._assumed[f"{table}[{number}].{key}"] = IN_PART

    def _key(self, place: str | None) -> str | None:
        said = self._places.meeting or None if place == HERE else place
        return None if said is None else self._places.key(said)

    def _person(self, name: str) -> tuple[int, Row]:
        """Return the row. A name that differs from a known one by a single letter is asked about."""
        is_long = name.isalpha() and len(name) >= _LONG
        alike = [each for each in self._known if is_long and OSA.distance(each.casefold(), name.casefold()) == 1]
        if alike and name not in self._known:
            raise InvalidInputError(f"Do you mean {alike[0]}? Write the name as before.", field="text")
        number, row = self._row("people", name)
        row.setdefault("place", None)
        return number, row

    def _put_goal(self, fact: Fact) -> None:
        by = fact.values.get("by")
        place = self._key(fact.values.get("place"))
        if fact.name:
            number, row = self._person(fact.name)
            row["goals"] = [{"place": place, "by": self._moment(by)}]
            return
        shared = self._shared()
        number = self._told["goals"].index(shared)
        due = None if by is None else self._due(shared, by)
        is_guess = by is not None and due != by.minutes and shared["by"] is None
        self._set("goals", number, place=place, by=None if due is None else text_of(due))
        if fact.values.get("guessed"):
            said = {"place": place, "by": None if due is None else text_of(due)}
            self._assume("goals", number, "said first", **{key: value for key, value in said.items() if value})
        if is_guess and due is not None:
            self._assume("goals", number, "in the evening, as nobody says when", by=text_of(due))
        if event := fact.values.get("event"):
            self._told["name"] = event.lower()

    def _due(self, shared: Row, by: When) -> int:
        """Return when all have to be there: a bare hour is the one that is nearest to what was said before, or else likely."""
        was = None if shared["by"] is None else _MOMENT.validate_python(shared["by"])
        later = by.minutes + _NOON
        if not by.is_bare or later >= DAY:
            return by.minutes
        if was is not None:
            return min(by.minutes, later, key=lambda each: abs(each - was))
        since = [each.values["from"] for each in self._people if "from" in each.values]
        is_later = any(not each.is_bare and each.minutes > by.minutes for each in since)
        told = f"{self._told['name']} {self._text}"
        is_evening = by.minutes < _MORNING_ENDS and (is_later or _IN_THE_EVENING.search(told))
        is_early = any(_OPEN <= each.minutes % _NOON < by.minutes for each in self._openings)
        return later if is_evening or (by.minutes < _EIGHT and not (is_early or _IN_THE_MORNING.search(told))) else by.minutes

    def _moment(self, said: When | None, *, is_opening: bool = False, is_closing: bool = False) -> str | None:
        """Return a time of the day: `until 7` is before all meet, and shops open in the morning."""
        due = self._shared()["by"]
        if said is None:
            return None
        if is_opening and said.is_bare and said.minutes % _NOON >= _OPEN:
            return text_of(said.minutes % _NOON)
        if is_closing and said.is_bare and _OPEN <= said.minutes % _NOON < _SHUT:
            return text_of(said.minutes % _NOON + _NOON)
        return text_of(said.before(None if due is None else _MOMENT.validate_python(due)))

    def _put_road(self, fact: Fact) -> None:
        there = fact.values["there"] or self._places.meeting
        if not there:
            self.unread.append(f"{fact.values['minutes']:g} minutes from {fact.name}")
            return
        here, there = self._places.key(fact.name), self._places.key(there)
        if here != there:
            ends = {here, there}
            others = [row for row in self._told[ROADS] if {*row[:2]} != ends]
            self._told[ROADS] = [*others, [here, there, fact.values["minutes"]]]
            self._assumed = {field: why for field, why in self._assumed.items() if not field.startswith(ROADS)}

    def _put_person(self, fact: Fact) -> None:
        number, row = self._person(fact.name)
        values = fact.values
        place = self._key(values.get("place"))
        if values.get("lands") and place is not None:
            place = self._places.airport(values["place"])
        if values.get("hosts"):
            if row["place"] is None:
                self._assume("people", number, "all meet there", place=place)
            return
        told = {key: values.get(key) for key in ("drives", "prefers", "never_alone")}
        self._set("people", number, place=place, **told, **{"from": self._moment(values.get("from"))})
        if values.get("own_home"):
            self._assume("people", number, "their own home", place=place)
        if values.get("drives") is False:
            self._put_out_of_cars(row["name"])
        airports = [key for key, words in self._places.described().items() if is_terminal(f"{key} {words}")]
        if values.get("lands") and row["place"] is None and len(airports) == 1:
            self._assume("people", number, "the only airport", place=airports[0])
        elif values.get("fetched") and row["place"] is None:
            self._assume("people", number, "their own house", place=self._places.key(f"{row['name']}'s house"))

    def _put_out_of_cars(self, name: str) -> None:
        """Take somebody who does not drive from all drivers, and a car that nobody has spoken of but as theirs from the board."""
        for car in [each for each in self._told["vehicles"] if name in (each.get("drivers") or ())]:
            car["drivers"] = [each for each in car["drivers"] if each != name]
            if not car["drivers"] and "seats" not in car and car["name"] == car_of(name):
                self._told["vehicles"].remove(car)

    def _put_car(self, fact: Fact) -> None:
        rows = [self._person(name)[1] for name in fact.values.get("drivers", ())]
        drivers = [row["name"] for row in rows if row.get("drives") is not False]
        shared = [each for each in self._told["vehicles"] if len(drivers) == 1 and drivers[0] in (each.get("drivers") or ())]
        if shared and "named" not in fact.values:
            shared[0]["drivers"] = drivers  # `they have a car, he drives`
            return
        number, row = self._row("vehicles", fact.name)
        if fact.values.get("drivers") == () and "drivers" not in row:
            row["drivers"] = []
        place = self._key(fact.values.get("place"))
        self._set("vehicles", number, seats=fact.values.get("seats"), drivers=drivers or None)
        self._set("vehicles", number, place=place if fact.name == RENTAL else None)
        if fact.name == RENTAL and "unlocked_by" not in row:
            row["unlocked_by"] = _RENTING
            at = place or next((self._person(name)[1]["place"] for name in drivers), None)
            self._told["tasks"].append({"name": _RENTING, "place": at, "minutes": 0, "who": drivers or None})

    def _put_task(self, fact: Fact) -> None:
        number, row = self._row("tasks", plain(fact.name))
        values = fact.values
        who = [self._person(name)[1]["name"] for name in values.get("who", ())]
        self._set("tasks", number, place=self._key(values.get("place")), minutes=values.get("minutes"), who=who or None)
        if values.get("who") == ():
            row["who"] = None
        opens, closes = row.get("window") or (None, None)
        for side, moment in (("opens", values.get("opens")), ("closes", values.get("closes"))):
            if moment is not None:
                told = self._moment(
                    moment,
                    is_opening=side == "opens" and moment.how != "from",
                    is_closing=side == "closes" and moment.how == "at",
                )
                opens, closes = (told, closes) if side == "opens" else (opens, told)
        self._set("tasks", number, window=[opens, closes] if opens or closes else None)
        if opens and values.get("opens") and values["opens"].is_bare and opens != text_of(values["opens"].before(None)):
            self._assumed[f"tasks[{number}].opens"] = "in the morning, as shops do"
        if values.get("watched"):
            row["attention"] = "watched"
        if _FOOD.search(row["name"]) and row.get("minutes"):
            row["food"] = True
