"""Courses: where one person or vehicle is, step by step, by a plan's stated times, and which steps they cannot join."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct

ALWAYS = -(10**9)
"""Before every moment."""


class Subject(Struct, frozen=True, omit_defaults=True):
    """Subject: a person or a vehicle, which may share a name. `since`: from when on; None: from the beginning."""

    name: str
    place: str
    is_vehicle: bool = False
    since: int | None = None
    delays: tuple[tuple[int, int], ...] = ()
    """(when it became known, from when on), in this order."""
    added: int | None = None
    cancelled: int | None = None

    def takes_part(self, at: int) -> bool:
        """Tell whether they are known then, and have not cancelled."""
        return (self.added is None or self.added <= at) and (self.cancelled is None or at < self.cancelled)

    def available_from(self, at: int) -> int | None:
        """Return when they become available, as known at `at`; None: from the beginning."""
        return next((since for known, since in reversed(self.delays) if known <= at), self.since)

    def is_available(self, at: int) -> bool:
        """Tell whether it is available; for vehicles, only what can be said without the rest of the plan."""
        since = self.available_from(at)
        return self.takes_part(at) and (since is None or since <= at)


class Step(Struct, frozen=True, array_like=True):
    """Step: an action as everybody in it sees it. `what`: the task, or where the journey begins."""

    index: int
    start: int
    end: int
    what: str
    to: str | None
    """Where a journey ends; None: it is a task."""
    place: str | None
    """Where they have to be; None: wherever they are."""
    stands: tuple[str, ...] = ()
    """Where those in a task are, or may be."""
    is_watched: bool = False
    """The task is only watched, or unknown and so possibly watched: its people may do something else meanwhile."""

    @property
    def doing(self) -> str:
        return f"at work on {self.what!r}" if self.to is None else f"on the way {self.what} to {self.to}"


class Excuse(Struct, frozen=True, array_like=True):
    """Excuse: a journey that they may have made, by an action that cannot be judged. None stands for what is unknown."""

    is_named: bool
    """Otherwise it may mean them if they were at `origin`."""
    origin: str | None
    to: str | None
    start: int | None
    is_restated: bool = False
    """Whether they had made it, and the plan states it otherwise: goals are judged by what the plan states."""

    def may_have_moved(self, places: frozenset[str], to: str, by: int) -> bool:
        """Tell whether it may have brought them to `to` by `by`, from one of `places`."""
        if (self.start is not None and self.start > by) or self.to not in (None, to):
            return False
        return self.is_named or self.origin is None or self.origin in places


class Obstacle(StrEnum):
    """Obstacle: why somebody cannot take part in an action; the first that applies counts, in this order."""

    NOT_YET_AVAILABLE = "NOT_YET_AVAILABLE"
    OVERLAP = "OVERLAP"
    CONTINUITY = "CONTINUITY"


class Hindrance(NamedTuple):
    """Hindrance: an obstacle in one step. `places`: where they are; empty: travelling. `other`: the step in which they are at
    that time.
    """

    obstacle: Obstacle
    step: Step
    places: frozenset[str]
    other: Step | None = None


@dataclass(slots=True)
class Course:
    """Course of one subject. After a fault it continues from where the plan says that it then is, or may be."""

    who: Subject
    excuses: tuple[Excuse, ...] = ()
    """Each stands for one journey, and moves nobody twice."""
    stays: list[tuple[int, frozenset[str]]] = field(default_factory=list)
    """From when on, where; one of several places if the plan contradicts itself."""
    steps: list[Step] = field(default_factory=list)
    hindrances: list[Hindrance] = field(default_factory=list)
    _busy: Step | None = None
    """The step that ends last, of those so far."""
    _acts_from: int | None = None
    """When the plan has it act before it is available: from then on it counts as available."""
    _used: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.stays.append((ALWAYS, frozenset((self.who.place,))))

    def take_all(self, steps: Iterable[Step]) -> Course:
        for each in steps:
            self.take(each)
        return self

    def take(self, step: Step) -> None:
        """Take a step; steps come in the order of their starts."""
        self._meet(step)
        busy, here = self._busy, self.places
        if step.to is not None:
            is_inside = busy is not None and busy.end > step.end
            arrived = frozenset((step.to,))
            self.stays.append((step.end, arrived | here if is_inside else arrived))
        elif not here.issuperset(step.stands):
            self.stays.append((step.start, here.union(step.stands)))
        self.steps.append(step)
        if not step.is_watched and (busy is None or step.end >= busy.end):
            self._busy = step

    @property
    def places(self) -> frozenset[str]:
        return self.stays[-1][1]

    def places_at(self, at: int) -> frozenset[str]:
        """Return where it was last, even if it is travelling now."""
        return next(places for since, places in reversed(self.stays) if since <= at)

    def journey_at(self, at: int) -> Step | None:
        """Return the journey it is on, from its start until just before its end."""
        return next((each for each in self.steps if each.start <= at < each.end and each.to is not None), None)

    def leg_at(self, at: int) -> Step | None:
        """Return the same, counting those who are to leave at that exact minute as still there."""
        return next((each for each in self.steps if each.start < at < each.end and each.to is not None), None)

    def is_ready(self, at: int) -> bool:
        """Tell whether it is available then, or acts as if it were."""
        if self.who.is_available(at):
            return True
        return self._acts_from is not None and self._acts_from <= at and self.who.takes_part(at)

    def may_be_at(self, place: str, at: int) -> bool:
        """Tell whether it is there, available and not travelling, or may have been brought by an unjudged action."""
        return self.may_stand_at(place, at) and self.is_ready(at) and self.journey_at(at) is None

    def may_stand_at(self, place: str, at: int) -> bool:
        here = self.places_at(at)
        return place in here or any(each.may_have_moved(here, place, at) for each in self.excuses)

    def _meet(self, step: Step) -> None:
        """Note at most one obstacle."""
        busy = self._busy
        in_another = busy is not None and busy.start < step.end and step.start < busy.end
        if not self.who.is_available(step.start):
            self._acts_from = step.start if self._acts_from is None else min(self._acts_from, step.start)
            self.hindrances.append(Hindrance(Obstacle.NOT_YET_AVAILABLE, step, self.places))
        elif in_another and not step.is_watched:
            self.hindrances.append(Hindrance(Obstacle.OVERLAP, step, self.places, busy))
        elif step.is_watched and self.leg_at(step.start) is not None:
            self.hindrances.append(Hindrance(Obstacle.CONTINUITY, step, frozenset(), busy))
        elif step.place is not None and step.place not in self.places and not self._is_excused(step.place, step.start):
            self.hindrances.append(Hindrance(Obstacle.CONTINUITY, step, self.places))

    def _is_excused(self, place: str, at: int) -> bool:
        for number, each in enumerate(self.excuses):
            if number not in self._used and each.may_have_moved(self.places, place, at):
                self._used.add(number)
                return True
        return False
