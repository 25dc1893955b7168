"""Parts: what each participant is told to do: the unit of what is assigned, kept and withdrawn.

A part says what its owner has to know and no more, so it stays the same if only somebody else's day changes: a driver is told who
rides along, a rider is not told who else does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date

from pydantic import BaseModel

from sagagraph.domains.reunion.day import DayPlan
from sagagraph.domains.reunion.plan import Act, Journey, Work
from sagagraph.domains.reunion.times import Moment, text_of


class Step(BaseModel, extra="forbid", frozen=True):
    start: Moment
    end: Moment
    what: str
    place: str = ""
    """Where it begins; empty for a task that has no place."""


class Part(BaseModel, extra="forbid", frozen=True):
    """Part. `who` is a person, or a vehicle that brings its own driver. Steps are in order of time."""

    who: str
    reunion: str
    day: date
    steps: tuple[Step, ...]


def parts_of(plan: DayPlan) -> tuple[Part, ...]:
    """Return one part for everybody who does something, in the order of their first steps."""
    steps: dict[str, list[Step]] = {}
    for act in plan.plan.in_time:
        here = act.from_ if isinstance(act, Journey) else act.place or ""
        for who, what in _by_person(act, plan.places):
            step = Step.model_construct(start=act.start, end=act.end, what=what, place=plan.places.get(here, here))
            steps.setdefault(who, []).append(step)
    return tuple(Part(who=who, reunion=plan.plan.problem, day=plan.day, steps=tuple(done)) for who, done in steps.items())


def in_words(act: Act, places: dict[str, str]) -> str:
    """Return one action in words, for somebody who looks at the whole plan."""
    if isinstance(act, Journey):
        who, what = act.driver or act.vehicle, _drive(act, places)
    else:
        who, what = _listed(act.who), _work(act, places)
    return f"{text_of(act.start)} to {text_of(act.end)} {who}: {what}"


def sent_in_words(plan: DayPlan) -> Iterator[str]:
    """Yield who is sent something once the plan is approved, without addresses: the plan may be shared."""
    told = {each.who for each in parts_of(plan)}
    for way, names in (
        ("by mail", [name for name, each in plan.sent.items() if each.mail and name in told]),
        ("into their calendars", [name for name, each in plan.sent.items() if each.calendar and name in told]),
    ):
        if names:
            yield f"what {_listed(names)} should know is sent {way} once this is approved"


def _by_person(act: Act, places: dict[str, str]) -> Iterator[tuple[str, str]]:
    if isinstance(act, Journey):
        yield act.driver or act.vehicle, _drive(act, places)
        riding = f"ride {_way(act, places)} in {act.vehicle}{_with(filter(None, [act.driver]))}"
        yield from ((rider, riding) for rider in act.riders)
    else:
        yield from ((who, _work(act, places) + _with(each for each in act.who if each != who)) for who in act.who)


def _drive(act: Journey, places: dict[str, str]) -> str:
    return f"drive {act.vehicle} {_way(act, places)}{_with(act.riders)}"


def _way(act: Journey, places: dict[str, str]) -> str:
    return f"from {places.get(act.from_, act.from_)} to {places.get(act.to, act.to)}"


def _work(act: Work, places: dict[str, str]) -> str:
    return f"{act.task} at {places.get(act.place, act.place)}" if act.place else act.task


def _with(names: Iterable[str]) -> str:
    """Format `, with Alex and Jamie`; empty if there is nobody."""
    listed = _listed(names)
    return f", with {listed}" if listed else ""


def _listed(names: Iterable[str]) -> str:
    *others, last = sorted(names) or [""]
    return f"{', '.join(others)} and {last}" if others else last
