"""Checks of the whole day, as release 0.3 had them, beside those that the scoped validators still use."""

from __future__ import annotations

from collections.abc import Iterator

from sagagraph.domains.reunion.plan import Work
from sagagraph.domains.reunion.request import Attention, PersonGoal
from sagagraph.domains.reunion.rules.company import waits
from sagagraph.domains.reunion.rules.facts.case import Case, clock
from sagagraph.domains.reunion.rules.presence import check_hindrances
from sagagraph.domains.reunion.rules.references import not_readable
from sagagraph.domains.reunion.rules.tasks import check_misplaced
from sagagraph.domains.reunion.rules.whole import dropped, inserted, rewritten
from sagagraph.validators.verdict import Violation


def check_readable(case: Case) -> Iterator[Violation]:
    """Once for each action that cannot be read."""
    if case.plan.fault:
        yield Violation(code="MALFORMED", message=case.plan.fault, scope={"field": "actions"})
    yield from map(not_readable, case.plan.broken)


def check_past(case: Case) -> Iterator[Violation]:
    """Report each past action that is told differently, left out, or made up."""
    history = case.history
    if history is None:
        return
    before, now, until = history.old.actions, history.new.actions, history.until
    for old, new in history.rewritten:
        yield rewritten(old, before[old], new, now[new], until)
    for old in history.dropped:
        yield from dropped(old, before[old], until)
    for new in history.inserted:
        yield from inserted(new, now[new], until)


def check_presence(case: Case) -> Iterator[Violation]:
    yield from check_hindrances(case)
    yield from check_misplaced(case)


def _missing(case: Case) -> tuple[str, ...]:
    """Tasks that should have been done and were not, apart from those that an unjudged action may have done."""
    done = {work.task for _, work in case.works} | {each.task for each in case.traces}
    missing = [task.name for task in case.problem.tasks if not task.optional and task.name not in done]
    return tuple(missing[sum(each.other_tasks for each in case.traces) :])


def check_missing(case: Case) -> Iterator[Violation]:
    for name in _missing(case):
        yield Violation(code="MISSING_TASK", message=f"{name!r} is not done by anybody", scope={"task": name})


def check_watched(case: Case) -> Iterator[Violation]:
    """Report each time during which nobody is there."""
    for index, work in case.works:
        place = case.simulation.sites.get(index)
        if case.world.tasks[work.task].attention is not Attention.WATCHED or place is None:
            continue
        for begins, ends in _gaps(case, place, work):
            start, end = clock(begins, ends)
            yield Violation(
                code="UNATTENDED",
                message=f"{work.task!r}: nobody is at {place} from {start} to {end}, {ends - begins} minutes",
                scope={"task": work.task, "place": place, "action": index},
                evidence={"from": start, "to": end, "minutes": ends - begins},
            )


def _gaps(case: Case, place: str, work: Work) -> Iterator[tuple[int, int]]:
    """Return the gaps within [start, end), joined where one follows another."""
    begins: int | None = None
    for at in (at for at in case.changes if work.start <= at < work.end):
        watched = any(case.simulation.may_be_at(name, place, at) for name in case.world.people)
        if watched and begins is not None:
            yield begins, at
        begins = None if watched else at if begins is None else begins
    if begins is not None:
        yield begins, work.end


def check_company(case: Case) -> Iterator[Violation]:
    """Report each time and place once. If several places are possible, alone means at each of them."""
    for name, person in case.world.people.items():
        goals = [goal for whose, goal in case.world.goals() if whose == name]
        if person.never_alone and goals:
            last = max(goals, key=lambda goal: goal.by)
            for place, begins, ends in _times_alone(case, name, last):
                start, end = clock(begins, ends)
                yield Violation(
                    code="ALONE",
                    message=f"{name} waits alone at {place} from {start} to {end}, {ends - begins} minutes",
                    scope={"people": [name], "place": place},
                    evidence={"from": start, "to": end, "minutes": ends - begins},
                )


def _times_alone(case: Case, name: str, last: PersonGoal) -> Iterator[tuple[str, int, int]]:
    """Return (place, from, until), joined where one follows another at the same place."""
    cuts = [at for at in case.changes if at < last.by]
    since: tuple[str, int] | None = None
    for at in cuts:
        place = _where_alone(case, name, last.place, at)
        if since is not None and since[0] != place:
            yield *since, at
            since = None
        if place is not None and since is None:
            since = place, at
    if since is not None:
        yield *since, last.by


def _where_alone(case: Case, name: str, refuge: str, at: int) -> str | None:
    """Return the place; None: they are not waiting, or not alone."""
    if not waits(case, name, at):
        return None
    places = [place for place in case.problem.places if case.simulation.may_be_at(name, place, at)]
    others = [each for each in case.world.people if each != name]
    is_alone = refuge not in places and not any(case.simulation.may_be_at(o, place, at) for place in places for o in others)
    return places[0] if places and is_alone else None
