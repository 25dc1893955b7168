"""Never alone: whether somebody is there wherever people wait who must never wait alone."""

from __future__ import annotations

from collections.abc import Iterator

from sagagraph.domains.reunion.request import PersonGoal
from sagagraph.domains.reunion.rules.facts.case import Case, clock
from sagagraph.domains.reunion.rules.facts.simulation import Subject
from sagagraph.validators.verdict import Violation


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


def waits(case: Case, name: str, at: int) -> bool:
    """Tell whether they are in no task; somebody there from the beginning waits only after their first action."""
    course, actions = case.simulation.courses[Subject(name)], case.simulation.actions
    works = [actions[n] for n in course.works if not case.simulation.is_watched(actions[n])]
    if any(work.start <= at < work.end for work in works):
        return False
    has_come = case.world.available_from(name, at) is not None
    return has_come or any(act.start <= at for act in (*works, *(actions[n] for n in course.journeys)))
