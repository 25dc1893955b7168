"""Entries: what a schedule's rows say of themselves: readable, of an existing step on its machine, and only once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from sagagraph.domains.job_shop.rules.case import Row
from sagagraph.validators.concern import Concern, windows
from sagagraph.validators.kinds import Kind
from sagagraph.validators.rows import readable_rows
from sagagraph.validators.verdict import Violation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sagagraph.domains.job_shop.plan import Slot
    from sagagraph.domains.job_shop.rules.case import Case


class Entry(Struct, frozen=True, array_like=True):
    """A row as it stands there. `needed`: the step's machine; None: there is no such step."""

    index: int
    job: int
    step: int
    machine: int
    needed: int | None
    first: Row | None = None
    """An earlier row of the same step."""


class EntriesView(Struct, frozen=True):
    machines: tuple[int, int]
    """The first and the last that there are."""
    entries: tuple[Entry, ...]


def _scopes(case: Case) -> Iterator[tuple[str, EntriesView]]:
    machines = case.problem.machines[0], case.problem.machines[-1]
    for window in windows(_entry(case, index, slot) for index, slot in case.plan.slots.items()):
        yield f"rows {window[0].index} to {window[-1].index}", EntriesView(machines, tuple(window))


def _entry(case: Case, index: int, slot: Slot) -> Entry:
    step = case.problem.step(slot.job, slot.step)
    first = case.rows.get((slot.job, slot.step))
    is_repeated = first is not None and first.index != index
    return Entry(index, slot.job, slot.step, slot.machine, None if step is None else step.machine, first if is_repeated else None)


def _check(view: EntriesView) -> Iterator[Violation]:
    for entry in view.entries:
        yield from _names(entry, view.machines)
    for entry in view.entries:
        if entry.first is not None:
            message = f"row {entry.index}: {entry.first} is there already, in row {entry.first.index}"
            yield Violation(code="REPEATED_TASK", message=message, scope={**entry.first.scope, "row": entry.index})


def _names(entry: Entry, machines: tuple[int, int]) -> Iterator[Violation]:
    scope = {"job": entry.job, "step": entry.step, "machine": entry.machine, "row": entry.index}
    if entry.needed is None:
        message = f"row {entry.index}: there is no job {entry.job} with a step {entry.step}"
        yield Violation(code="UNKNOWN_REFERENCE", message=message, scope=scope)
    elif not machines[0] <= entry.machine <= machines[1]:
        message = f"row {entry.index}: there is no machine {entry.machine}"
        yield Violation(code="UNKNOWN_REFERENCE", message=message, scope=scope)
    elif entry.machine != entry.needed:
        message = f"job {entry.job}, step {entry.step} is for machine {entry.needed}, not {entry.machine}"
        evidence = {"stated": entry.machine, "needed": entry.needed}
        yield Violation(code="NOT_ALLOWED", message=message, scope=scope, evidence=evidence)


UNREAD = readable_rows("schedule")
ENTRIES = Concern("rows", Kind.CONTRACT, EntriesView, _scopes, _check)
