"""Company: somebody is at every place that is watched, and with everybody who must never wait alone; and nobody works alongside
those from whom they are kept apart.

All rules use summaries of everybody's day: who is where, from when until when.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from msgspec import Struct

from sagagraph.domains.reunion.plan import Work
from sagagraph.domains.reunion.rules.facts.case import Case, clock
from sagagraph.domains.reunion.rules.facts.course import Course
from sagagraph.validators.concern import Concern, windows
from sagagraph.validators.kinds import Kind
from sagagraph.validators.verdict import Violation


class Presence(Struct, frozen=True, array_like=True):
    """Presence of somebody in [since, until)."""

    name: str
    since: int
    until: int


class WatchView(Struct, frozen=True):
    task: str
    place: str
    action: int
    since: int
    """Until then it is known to be watched, or reported not to be."""
    present: tuple[Presence, ...]
    until: int | None
    """When the task ends; None: further watchers follow."""


class Waiting(Struct, frozen=True, array_like=True):
    """Waiting from a moment on: where they may be waiting (nowhere: they are not), and who is with them there, if anybody."""

    at: int
    places: tuple[str, ...]
    company: str | None


class AloneView(Struct, frozen=True):
    name: str
    refuge: str
    """Where their last goal is: from then on they may be alone."""
    begun: tuple[str, int] | None
    """Where and since when they have been alone at the beginning of these."""
    waiting: tuple[Waiting, ...]
    until: int | None
    """When their last goal is; None: more follows."""


class Shift(Struct, frozen=True, array_like=True):
    """Shift: what somebody does, from when until when. `is_active`: other than watching."""

    name: str
    action: int
    task: str
    place: str | None
    start: int
    end: int
    is_active: bool


class ApartView(Struct, frozen=True):
    """View of one thing that somebody does, and everything that somebody from whom they are kept apart does."""

    mine: Shift
    theirs: tuple[Shift, ...]


def _watched_scopes(case: Case) -> Iterator[tuple[str, WatchView]]:
    for index, work in case.works:
        place = case.simulation.sites.get(index)
        if case.world.tasks[work.task].is_watched and place is not None:
            since = work.start
            shared = list(windows(_watchers(case, place, work))) or [[]]
            for number, window in enumerate(shared, start=1):
                until = work.end if number == len(shared) else None
                yield f"{place}, action {index}, part {number}", WatchView(work.task, place, index, since, tuple(window), until)
                since = window[-1].until if window else since


def _watchers(case: Case, place: str, work: Work) -> Iterator[Presence]:
    """Return the watchers one after another, each for as long as they are there."""
    watcher: Course | None = None
    since = work.start
    for at in (at for at in case.changes if work.start <= at < work.end):
        if watcher is not None and watcher.may_be_at(place, at):
            continue
        if watcher is not None:
            yield Presence(watcher.who.name, since, at)
        watcher = next((each for each in case.simulation.people.values() if each.may_be_at(place, at)), None)
        since = at
    if watcher is not None:
        yield Presence(watcher.who.name, since, work.end)


def _check_watched(view: WatchView) -> Iterator[Violation]:
    """Report each time during which nobody is there."""
    covered = view.since
    for each in view.present:
        if each.since > covered:
            yield _unattended(view, covered, each.since)
        covered = max(covered, each.until)
    if view.until is not None and covered < view.until:
        yield _unattended(view, covered, view.until)


def _unattended(view: WatchView, begins: int, ends: int) -> Violation:
    start, end = clock(begins, ends)
    return Violation(
        code="UNATTENDED",
        message=f"{view.task!r}: nobody is at {view.place} from {start} to {end}, {ends - begins} minutes",
        scope={"task": view.task, "place": view.place, "action": view.action},
        evidence={"from": start, "to": end, "minutes": ends - begins},
    )


def _alone_scopes(case: Case) -> Iterator[tuple[str, AloneView]]:
    for name, person in case.world.people.items():
        goals = [goal for whose, goal in case.world.goals() if whose == name]
        if person.never_alone and goals:
            last = max(goals, key=lambda goal: goal.by)
            shared = list(windows(_waiting(case, name, last.by))) or [[]]
            begun: tuple[str, int] | None = None
            for number, window in enumerate(shared, start=1):
                until = last.by if number == len(shared) else None
                view = AloneView(name, last.place, begun, tuple(window), until)
                yield f"{name}, part {number}", view
                begun = _followed(view)[1]


def _waiting(case: Case, name: str, until: int) -> Iterator[Waiting]:
    mine = case.simulation.people[name]
    others = [each for each in case.simulation.people.values() if each is not mine]
    before: Waiting | None = None
    company: Course | None = None
    for at in (at for at in case.changes if at < until):
        places = tuple(each for each in case.problem.places if mine.may_be_at(each, at)) if waits(mine, at) else ()
        if company is None or not _is_at_any(company, places, at):
            company = next((each for each in others if _is_at_any(each, places, at)), None)
        now = Waiting(at, places, company.who.name if company else None)
        if before is None or (before.places, before.company) != (now.places, now.company):
            yield now
            before = now


def waits(course: Course, at: int) -> bool:
    """Tell whether they do no task; somebody there from the beginning waits only after their first action."""
    acts = [each for each in course.steps if not each.is_watched]
    if any(each.to is None and each.start <= at < each.end for each in acts):
        return False
    return course.who.available_from(at) is not None or any(each.start <= at for each in acts)


def _is_at_any(course: Course, places: tuple[str, ...], at: int) -> bool:
    return any(course.may_be_at(place, at) for place in places)


def _check_alone(view: AloneView) -> Iterator[Violation]:
    """Report each time and place once. If several places are possible, alone means at each of them."""
    times, open_ = _followed(view)
    if view.until is not None and open_ is not None:
        times = [*times, (*open_, view.until)]
    for place, begins, ends in times:
        start, end = clock(begins, ends)
        yield Violation(
            code="ALONE",
            message=f"{view.name} waits alone at {place} from {start} to {end}, {ends - begins} minutes",
            scope={"people": [view.name], "place": place},
            evidence={"from": start, "to": end, "minutes": ends - begins},
        )


def _followed(view: AloneView) -> tuple[list[tuple[str, int, int]], tuple[str, int] | None]:
    """Yield (place, from, until) of each time alone that has ended, joined if one follows another, and the one that has not."""
    times: list[tuple[str, int, int]] = []
    since = view.begun
    for each in view.waiting:
        is_alone = bool(each.places) and view.refuge not in each.places and each.company is None
        place = each.places[0] if is_alone else None
        if since is not None and since[0] != place:
            times.append((*since, each.at))
            since = None
        if place is not None and since is None:
            since = place, each.at
    return times, since


def _apart_scopes(case: Case) -> Iterator[tuple[str, ApartView]]:
    for one, other in (pair for names in case.problem.apart for pair in combinations(names, 2)):
        theirs = list(_shifts(case, other))
        for mine in _shifts(case, one):
            for number, window in enumerate(windows(theirs), start=1):
                yield f"{one} beside {other}, action {mine.action}, part {number}", ApartView(mine, tuple(window))


def _shifts(case: Case, name: str) -> Iterator[Shift]:
    for index, work in case.works:
        if name in work.who and case.world.takes_part(name, work.start):
            is_active = not case.world.tasks[work.task].is_watched
            yield Shift(name, index, work.task, case.simulation.sites.get(index), work.start, work.end, is_active)


def _check_apart(view: ApartView) -> Iterator[Violation]:
    mine = view.mine
    for each in view.theirs:
        is_beside = each.place == mine.place and mine.start < each.end and each.start < mine.end
        if each.action == mine.action or (is_beside and mine.is_active and each.is_active):
            since = clock(max(mine.start, each.start))[0]
            yield Violation(
                code="TOGETHER",
                message=f"{mine.name} ({mine.task!r}) and {each.name} ({each.task!r}) are to be kept apart, but work side by side"
                f" from {since}",
                scope={"people": [mine.name, each.name], "task": mine.task, "action": max(mine.action, each.action)},
                evidence={"from": since, "actions": sorted({mine.action, each.action})},
            )


WATCHED = Concern("watched place", Kind.AGREEMENT, WatchView, _watched_scopes, _check_watched)
ALONE = Concern("never alone", Kind.AGREEMENT, AloneView, _alone_scopes, _check_alone)
APART = Concern("kept apart", Kind.AGREEMENT, ApartView, _apart_scopes, _check_apart)
