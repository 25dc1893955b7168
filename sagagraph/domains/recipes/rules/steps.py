"""Steps: every row can be read and names a step, and every step is done once, whole, and in one go unless it may be split."""

from __future__ import annotations

from collections.abc import Iterator

from sagagraph.domains.recipes.rules.case import Case, Piece, violation
from sagagraph.validators.verdict import Violation


def check_readable(case: Case) -> Iterator[Violation]:
    if case.plan.fault:
        yield Violation(code="MALFORMED", message=case.plan.fault, scope={"field": "plan"})
    for each in case.plan.illegible:
        yield Violation(code="MALFORMED", message=f"row {each.index} cannot be read: {each.fault}", scope={"row": each.index})


def check_names(case: Case) -> Iterator[Violation]:
    for index, row in case.plan.rows.items():
        scope = {"row": index, "recipe": row.recipe, "step": row.step}
        if row.recipe not in case.meal.recipes:
            yield Violation(code="UNKNOWN_RECIPE", message=f"row {index}: there is no recipe {row.recipe!r}", scope=scope)
        elif case.meal.step(row.recipe, row.step) is None:
            last = len(case.meal.recipes[row.recipe]) - 1
            message = f"row {index}: {row.recipe} has no step {row.step}; it has 0 to {last}"
            yield Violation(code="UNKNOWN_STEP", message=message, scope=scope)


def check_whole(case: Case) -> Iterator[Violation]:
    """Check that the pieces of each step add up to it. What is done when nothing is left of it is done again."""
    for pieces in case.of.values():
        left = pieces[0].step.duration
        for piece in pieces:
            takes = piece.row.duration
            if left == 0 and takes > 0:
                yield violation("REPEATED", piece, "has been done already", left_s=0)
            elif not 0 < takes <= left:
                yield violation("DURATION", piece, f"takes {takes} s, and {left} s of it are left", left_s=left)
                break
            elif takes < left and not piece.step.is_interruptible:
                message = f"is done in one go, {piece.step.duration} s"
                yield violation("NOT_INTERRUPTIBLE", piece, message, needed_s=piece.step.duration)
                break
            else:
                left -= takes
        else:
            yield from _rest(pieces[-1], left)


def _rest(last: Piece, left: int) -> Iterator[Violation]:
    if left:
        yield violation("DURATION", last, f"is its last piece, and {left} s are missing", left_s=left)


def check_missing(case: Case) -> Iterator[Violation]:
    for key, step in case.meal.steps.items():
        if key not in case.of:
            scope = {"recipe": step.recipe, "step": step.number}
            yield Violation(code="MISSING_STEP", message=f"{step} ({step.text}) is not in the plan", scope=scope)
