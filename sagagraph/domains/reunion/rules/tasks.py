"""Tasks: when they are done, for how long, after what, by whom, and whether what must be watched is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sagagraph.domains.reunion.rules.facts.case import Case, clock, listed
from sagagraph.domains.reunion.rules.facts.part import (
    Part,
    at_its_site,
    checking,
    events_about,
    first_work,
    known_places,
    raw_people,
    raw_task,
)
from sagagraph.domains.reunion.times import whole_minutes
from sagagraph.validators.concern import Concern
from sagagraph.validators.kinds import Kind
from sagagraph.validators.verdict import Violation


def _scopes(case: Case) -> Iterator[tuple[str, Part]]:
    for index, work in case.works:
        task = case.world.tasks[work.task]
        before = {each: act for name in task.after for each, act in first_work(case, name).items()}
        yield (
            f"task {work.task!r}, action {index}",
            Part(
                about=(index,),
                actions={**before, str(index): at_its_site(case, index, work)},
                places=known_places(case, (task.place, work.place, case.simulation.sites.get(index))),
                people=raw_people(case, work.people),
                tasks=(*raw_task(case, work.task), *(each for name in task.after for each in raw_task(case, name, "attention"))),
                events=events_about(case, work.people),
            ),
        )


def check_misplaced(case: Case) -> Iterator[Violation]:
    for index, work in case.works:
        own = case.world.tasks[work.task].place
        if own not in (None, work.place) and work.place in case.problem.places:
            yield Violation(
                code="CONTINUITY",
                message=f"{listed(work.who)} at {clock(work.start)[0]}: {work.task!r} is done at {own}, not at {work.place}",
                scope={"people": list(work.who), "task": work.task, "place": work.place, "action": index},
                evidence={"place": own, "stated": work.place},
            )


def check_windows(case: Case) -> Iterator[Violation]:
    """Check windows, with one report for each time that a task is done, though it may begin too early and end too late."""
    for index, work in case.works:
        window = case.world.tasks[work.task].window
        early = 0 if window.opens is None else max(0, window.opens - work.start)
        late = 0 if window.closes is None else max(0, work.end - window.closes)
        faults = []
        if window.opens is not None and early:
            faults.append(f"begins at {clock(work.start)[0]}, {early} minutes before {clock(window.opens)[0]}")
        if window.closes is not None and late:
            faults.append(f"ends at {clock(work.end)[0]}, {late} minutes after {clock(window.closes)[0]}")
        if faults:
            evidence = {"early_by": early, "late_by": late}
            yield _at(case, index, "WINDOW", " and ".join(faults), evidence=evidence)


def check_durations(case: Case) -> Iterator[Violation]:
    for index, work in case.works:
        stated, needed = work.end - work.start, whole_minutes(case.world.tasks[work.task].minutes)
        if stated < needed:
            evidence = {"stated": stated, "needed": needed, "short_by": needed - stated}
            yield _at(case, index, "DURATION", f"{stated} minutes for {needed}, {needed - stated} too few", evidence=evidence)


def check_order(case: Case) -> Iterator[Violation]:
    """Check the order. A prerequisite that is never done is missing or optional: nothing has to wait for it."""
    for index, work in case.works:
        for before in case.world.tasks[work.task].after:
            done = case.first_end(before)
            if done is not None and done > work.start:
                why = f"begins at {clock(work.start)[0]}, and {before!r}, which comes first, ends at {clock(done)[0]}"
                yield _at(case, index, "ORDER", why, evidence={"after": before, "early_by": done - work.start})


def check_workers(case: Case) -> Iterator[Violation]:
    """Check workers, with one report for each person who may not do it, and one if they are too few."""
    for index, work in case.works:
        task, workers = case.world.tasks[work.task], list(dict.fromkeys(work.who))
        for name in workers:
            if task.who is not None and name not in task.who and case.world.takes_part(name, work.start):
                evidence = {"who": list(task.who)}
                yield _at(case, index, "NOT_ALLOWED", f"{name} is none of {listed(task.who)}", [name], evidence)
        if len(workers) < task.people:
            few = {"people": len(workers), "needed": task.people}
            yield _at(case, index, "NOT_ALLOWED", f"{len(workers)} people for {task.people}", evidence=few)


def _at(
    case: Case, index: int, code: str, why: str, people: list[str] | None = None, evidence: Mapping[str, object] | None = None
) -> Violation:
    work = dict(case.works)[index]
    place = case.simulation.sites.get(index)
    who = list(work.who) if people is None else people
    return Violation(
        code=code,
        message=f"{work.task!r} at {clock(work.start)[0]}: {why}",
        scope={"people": who, "task": work.task, **({"place": place} if place else {}), "action": index},
        evidence=dict(evidence or {}),
    )


TASKS = Concern(
    "task",
    Kind.CONSTRAINT,
    Part,
    _scopes,
    checking(check_misplaced, check_windows, check_durations, check_order, check_workers),
)
