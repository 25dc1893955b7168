"""Answers about one day: where somebody is, who fetches whom and when, who waits, who is with the turkey, how far it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Final

from sagagraph.domains.reunion.completion import Completed, completed
from sagagraph.domains.reunion.day import DayPlan, as_json, parse_request
from sagagraph.domains.reunion.parts import in_words as act_in_words
from sagagraph.domains.reunion.plan import Act, Journey, Work
from sagagraph.domains.reunion.planning.measure import waits
from sagagraph.domains.reunion.rules.facts.case import Case
from sagagraph.domains.reunion.rules.facts.simulation import in_words, whereabouts
from sagagraph.domains.reunion.text.news import named_in, places_in
from sagagraph.domains.reunion.text.values import When, tagged
from sagagraph.domains.reunion.times import text_of
from sagagraph.saga.core.state import Saga


def _asks(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{words})\b", re.IGNORECASE)


_IF: Final = _asks("if")
_WHY: Final = re.compile(r"\W*(?:(?:and|but|so) )?(?:why|how come)\b", re.IGNORECASE)
_DRIVING: Final = _asks(r"how (?:long|many minutes|much)\b.*\bdriv\w+")
_GUESSED: Final = _asks(r"ma[dk]e up|invent\w*|assum\w+|guess\w*|estimat\w+|take(?:n)? for granted")
_HOW_FAR: Final = _asks(r"how (?:far|long|many minutes)\b.*\b(?:from|between|to|drive|away|trip)")
_WAITING: Final = _asks(r"waits?|waiting")
_RIDES: Final = _asks(
    r"who(?:'s| is| will be|se)?\b.*(?:pick\w*|fetch\w*|collect\w*|driv\w+|bring\w*|tak(?:es|ing)|gets?|rid\w+)"
    r"|whose car|with whom|(?:travel|rid|go)\w* with"
)
_WHERE: Final = _asks(
    r"where(?:'s|s)?|doing|going on|up to|landed|arrived|already (?:there|here|home)"
    r"|is (?:any|some|every)(?:body|one) (?:still |already )?(?:at |in )?\w+"
    r"|(?:there|here|home) (?:yet|already)"
)
_COMES: Final = _asks(
    r"get(?:s|ting)? (?:home|there|back|here|to)|arriv\w+|leav\w+|set(?:s|ting)? off|depart\w*|home|there|pick\w*|fetch\w*"
    r"|collect\w*"
)
_WHO_OR_WHEN: Final = _asks(r"when|what time|who|whose|how late|how early|at what")
_EVERYBODY: Final = _asks(r"every(?:body|one)|all of (?:us|them)|people|we all")
_WHAT_TO_DO: Final = _asks(r"what (?:do|does|must|should|has|have|will)\b.*\b(?:do|to do)")
_IS_IT: Final = _asks(r"how (?:late|far) (?:is it now|along)|is (?:everything|all|it) on (?:track|time|schedule)")


class Answers:
    """Answers from the plan that a saga shows. A question about anything else has no answer here."""

    def __init__(self, saga: Saga, now: int) -> None:
        self._request = parse_request(saga.request)
        self._problem = self._request.problem
        self._day = DayPlan.model_validate(saga.plan.content)
        self._acts = self._day.plan.in_time
        self._now = now

    def answer(self, asked: str) -> str | None:
        if _WHY.match(asked) or _IF.search(asked):
            return None
        people = named_in(asked, (each.name for each in self._problem.people))
        tasks = [each.name for each in self._problem.tasks if _shares_a_word(each.name, asked)]
        kinds: tuple[tuple[bool, Callable[[], Iterator[str]]], ...] = (
            (
                bool(_GUESSED.search(asked)),
                lambda: (f"– {each}" for each in (*self._known.notes, *self._known.guess)) if self._known else iter(()),
            ),
            (bool(_DRIVING.search(asked)), lambda: self._driving(people)),
            (bool(_HOW_FAR.search(asked)), lambda: self._roads(asked)),
            (bool(_WAITING.search(asked)), lambda: self._waits(people)),
            (bool(tasks) and not people, lambda: self._tasks(tasks)),
            (bool(_WHERE.search(asked)), lambda: self._whereabouts(asked, people)),
            (bool(_RIDES.search(asked)) and not tasks, lambda: self._rides(people)),
            (bool(tasks), lambda: self._tasks(tasks)),
            (bool(_WHAT_TO_DO.search(asked) and (people or _EVERYBODY.search(asked))), lambda: self._parts(people)),
            (bool(people and _WHO_OR_WHEN.search(asked) and _COMES.search(asked)), lambda: self._parts(people)),
            (bool(_IS_IT.search(asked)), lambda: self._whereabouts(asked, ())),
        )
        told = (list(tell()) for holds, tell in kinds if holds)
        return next(("\n".join(lines) for lines in told if lines), None)

    @cached_property
    def _case(self) -> Case:
        return Case.of(self._problem, as_json(self._day.plan), self._request.known)

    @cached_property
    def _known(self) -> Completed | None:
        told = self._request.told
        return completed(told.filled) if told and told.filled else None

    def _roads(self, asked: str) -> Iterator[str]:
        ends = places_in(asked, self._problem.places)
        estimated = self._known.estimates if self._known else ()
        guessed = {frozenset((each.here, each.there)) for each in estimated}
        home = {goal.place for goal in self._problem.goals}
        wanted = {*ends, *(home if len(ends) == 1 else ())}
        for road in self._problem.travel_minutes:
            if {road.here, road.there} <= wanted:
                names = [self._problem.places[each] for each in (road.here, road.there)]
                estimate = ", which I have estimated: say it if you know better" if {road.here, road.there} in guessed else ""
                yield f"{' to '.join(names)} takes {road.amount:g} minutes{estimate}."

    def _driving(self, people: Iterable[str]) -> Iterator[str]:
        minutes: dict[str, int] = {}
        for act in self._acts:
            if isinstance(act, Journey):
                who = act.driver or act.vehicle
                minutes[who] = minutes.get(who, 0) + act.end - act.start
        asked = set(people) or {*minutes}
        yield from (f"– {who} drives {minutes.get(who, 0)} minutes in all." for who in sorted(asked))

    def _waits(self, people: Iterable[str]) -> Iterator[str]:
        asked = set(people)
        for person in self._problem.people:
            minutes = [each for each in waits(self._problem, self._day.plan, person) if each]
            if minutes and (not asked or person.name in asked):
                times = f", the longest {max(minutes)}" if len(minutes) > 1 else ""
                yield f"– {person.name} waits {sum(minutes)} minutes in all{times}."
            elif person.name in asked:
                yield f"– {person.name} does not wait for a ride."
        if not asked and all(not any(waits(self._problem, self._day.plan, each)) for each in self._problem.people):
            yield "Nobody waits for a ride."

    def _whereabouts(self, asked: str, people: Iterable[str]) -> Iterator[str]:
        at = next((each.minutes for each in tagged(asked).values(When)), self._now)
        wanted = set(people) or {each.name for each in self._problem.people}
        yield f"At {text_of(at)}:"
        for found in whereabouts(self._case.simulation, at):
            if not found.is_vehicle and found.name in wanted:
                yield f"– {in_words(found)}"

    def _rides(self, people: Iterable[str]) -> Iterator[str]:
        asked = set(people)
        rides = [act for act in self._acts if isinstance(act, Journey)]
        yield from self._told(
            act for act in rides if not asked or asked & {*act.riders} or (asked & {*act.people} and not act.riders)
        )

    def _tasks(self, names: list[str]) -> Iterator[str]:
        for act in self._acts:
            if isinstance(act, Work) and act.task in names:
                yield from self._told([act])
                task = self._case.world.tasks[act.task]
                place = act.place or task.place
                if task.is_watched and place is not None:
                    times = [at for at in self._case.changes if act.start <= at < act.end]
                    people = self._case.simulation.people.items()
                    there = [name for name, course in people if any(course.may_be_at(place, at) for at in times)]
                    yield f"  Somebody is there all that time, in turn or together: {', '.join(there)}."

    def _parts(self, people: Iterable[str]) -> Iterator[str]:
        asked = set(people)
        yield from self._told(act for act in self._acts if not asked or asked & {*act.people})

    def _told(self, acts: Iterable[Act]) -> Iterator[str]:
        yield from (f"– {act_in_words(act, self._day.places)}" for act in acts)


def _shares_a_word(task: str, asked: str) -> bool:
    """Tell whether they share a word: `the turkey` is `turkey`, and `sides` are `side dishes`."""
    said = set(re.findall(r"\w{4,}", asked.casefold()))
    return any(word in said or f"{word}s" in said for word in re.findall(r"\w{4,}", task.casefold()))
