"""Tasks: when they are done, for how long, after what, and by whom."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from sagagraph.domains.reunion.rules.days import VERSION
from sagagraph.domains.reunion.rules.facts.case import Case, clock, listed
from sagagraph.domains.reunion.times import whole_minutes
from sagagraph.validators.concern import each_row
from sagagraph.validators.kinds import Kind
from sagagraph.validators.verdict import Violation
from sagagraph.workflow.values import Json


class Doing(Struct, frozen=True, array_like=True):
    """Doing of a task by an action, and what the problem says about it."""

    action: int
    task: str
    start: int
    end: int
    who: tuple[str, ...]
    present: tuple[str, ...]
    """Those of the workers who take part at its start."""
    site: str | None
    """Where it is done, as far as that can be said."""
    misplaced: str | None
    """A known place that it states although the task has another."""
    opens: int | None
    closes: int | None
    minutes: int
    people: int
    """The fewest who must do it."""
    allowed: tuple[str, ...] | None
    """None: anybody may do it."""
    after: tuple[tuple[str, int], ...]
    """When its prerequisite is first completed. What is never done is missing or optional: nothing has to wait for it."""

    def __str__(self) -> str:
        return f"task {self.task!r}, action {self.action}"

    def breaks(self, code: str, why: str, evidence: dict[str, Json], *people: str) -> Violation:
        """Return a violation of those people, or of all who do it."""
        return Violation(
            code=code,
            message=f"{self.task!r} at {clock(self.start)[0]}: {why}",
            scope={
                "people": list(people or self.who),
                "task": self.task,
                **({"place": self.site} if self.site else {}),
                "action": self.action,
            },
            evidence=evidence,
        )


def _doings(case: Case) -> Iterator[Doing]:
    for index, work in case.works:
        task, ends = case.world.tasks[work.task], case.first_ends
        is_misplaced = task.place not in (None, work.place) and work.place in case.problem.places
        yield Doing(
            index,
            work.task,
            work.start,
            work.end,
            work.who,
            tuple(name for name in work.who if case.world.takes_part(name, work.start)),
            case.simulation.sites.get(index),
            work.place if is_misplaced else None,
            task.window.opens,
            task.window.closes,
            whole_minutes(task.minutes),
            task.people,
            task.who,
            tuple((name, ends[name]) for name in task.after if name in ends),
        )


def _check(done: Doing) -> Iterator[Violation]:
    if done.misplaced is not None:
        why = f"{done.task!r} is done at {done.site}, not at {done.misplaced}"
        yield Violation(
            code="CONTINUITY",
            message=f"{listed(done.who)} at {clock(done.start)[0]}: {why}",
            scope={"people": list(done.who), "task": done.task, "place": done.misplaced, "action": done.action},
            evidence={"place": done.site, "stated": done.misplaced},
        )
    yield from _check_window(done)
    stated = done.end - done.start
    if stated < done.minutes:
        few = done.minutes - stated
        evidence = {"stated": stated, "needed": done.minutes, "short_by": few}
        yield done.breaks("DURATION", f"{stated} minutes for {done.minutes}, {few} too few", evidence)
    for before, end in done.after:
        if end > done.start:
            why = f"begins at {clock(done.start)[0]}, and {before!r}, which comes first, ends at {clock(end)[0]}"
            yield done.breaks("ORDER", why, {"after": before, "early_by": end - done.start})
    yield from _check_workers(done)


def _check_window(done: Doing) -> Iterator[Violation]:
    """Check the window: one report for each time that a task is done, even if it begins too early and ends too late."""
    early = 0 if done.opens is None else max(0, done.opens - done.start)
    late = 0 if done.closes is None else max(0, done.end - done.closes)
    faults = []
    if done.opens is not None and early:
        faults.append(f"begins at {clock(done.start)[0]}, {early} minutes before {clock(done.opens)[0]}")
    if done.closes is not None and late:
        faults.append(f"ends at {clock(done.end)[0]}, {late} minutes after {clock(done.closes)[0]}")
    if faults:
        yield done.breaks("WINDOW", " and ".join(faults), {"early_by": early, "late_by": late})


def _check_workers(done: Doing) -> Iterator[Violation]:
    """Check the workers: one report for each person who may not do it, and one if they are too few."""
    workers, allowed = list(dict.fromkeys(done.who)), done.allowed
    for name in workers:
        if allowed is not None and name not in allowed and name in done.present:
            yield done.breaks("NOT_ALLOWED", f"{name} is none of {listed(allowed)}", {"who": list(allowed)}, name)
    if len(workers) < done.people:
        why = f"{len(workers)} people for {done.people}"
        yield done.breaks("NOT_ALLOWED", why, {"people": len(workers), "needed": done.people})


TASKS = each_row("task", Kind.CONSTRAINT, Doing, _doings, _check, VERSION)
