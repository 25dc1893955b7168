"""Entries: every row can be read and names a step."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from sagagraph.domains.recipes.rules.case import Case
from sagagraph.validators.concern import Concern, windows
from sagagraph.validators.kinds import Kind
from sagagraph.validators.rows import readable_rows
from sagagraph.validators.verdict import Violation


class Entry(Struct, frozen=True, array_like=True):
    """A row as it stands there. `last`: the last step of its recipe; None: there is no such recipe."""

    index: int
    recipe: str
    step: int
    last: int | None


class EntriesView(Struct, frozen=True):
    entries: tuple[Entry, ...]


def _scopes(case: Case) -> Iterator[tuple[str, EntriesView]]:
    lasts = {name: len(steps) - 1 for name, steps in case.meal.recipes.items()}
    entries = (Entry(index, row.recipe, row.step, lasts.get(row.recipe)) for index, row in case.plan.rows.items())
    for window in windows(entries):
        yield f"rows {window[0].index} to {window[-1].index}", EntriesView(tuple(window))


def _check(view: EntriesView) -> Iterator[Violation]:
    for each in view.entries:
        scope = {"row": each.index, "recipe": each.recipe, "step": each.step}
        if each.last is None:
            yield Violation(code="UNKNOWN_RECIPE", message=f"row {each.index}: there is no recipe {each.recipe!r}", scope=scope)
        elif not 0 <= each.step <= each.last:
            message = f"row {each.index}: {each.recipe} has no step {each.step}; it has 0 to {each.last}"
            yield Violation(code="UNKNOWN_STEP", message=message, scope=scope)


UNREAD = readable_rows("plan")
ENTRIES = Concern("rows", Kind.CONTRACT, EntriesView, _scopes, _check)
