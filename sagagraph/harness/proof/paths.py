"""Paths: parts of rules by their places, what is true of them in a box, and which rules a certificate rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from sagagraph.harness.language.formulas import And, Below, Formula, Or
from sagagraph.harness.proof.intervals import Interval
from sagagraph.harness.proof.terms import bounds_of

Tree = Mapping[str, Any]
"""A certificate's node, ready for JSON (docs/harness.md says how it is read)."""
Parts = list[tuple[str, Formula]]
"""What must hold in a box and does not all over it, each by its path in the rules."""
_NONE: Final[Mapping[str, int]] = {}


def rules_of(tree: Tree) -> Iterator[str]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        waiting += [*node.get("parts", ()), *([node["then"]] if "then" in node else [])]
        said = [node.get("rule"), node.get("cases"), *(each["rule"] for each in node.get("cuts", ()))]
        said += [each for product in node.get("sum", ()) for each in product["of"]]
        yield from (rule_of(each) for each in said if each is not None)


def rule_of(path: str) -> str:
    """Return the rule that a path begins with."""
    head, *_ = path.removeprefix("\t").split("\t")
    return f"\t{head}" if path.startswith("\t") else head


def truth(formula: Formula, floats: Mapping[str, Interval], path: str = "", assumed: Mapping[str, int] = _NONE) -> bool | None:
    """Tell whether a formula holds all over the box, nowhere in it, or neither is known. `assumed`: cases, by their paths."""
    if isinstance(formula, Below):
        low, high = bounds_of(formula.term, floats)
        if low > high or low > 0 or (formula.strict and low >= 0):
            return False
        return True if high < 0 or (high <= 0 and not formula.strict) else None
    chosen = [assumed[path]] if path in assumed else range(len(formula.parts))
    found = [truth(formula.parts[number], floats, f"{path}\t{number}", assumed) for number in chosen]
    if isinstance(formula, And):
        return False if False in found else None if None in found else True
    return True if True in found else None if None in found else False


def implied(
    formula: Formula, path: str, floats: Mapping[str, Interval], assumed: Mapping[str, int]
) -> Iterator[tuple[str, Formula]]:
    """Yield what a formula comes down to in the box, each part by its path: all of an `and`, the one case that is left of an
    `or`.
    """
    if isinstance(formula, And):
        for number, each in enumerate(formula.parts):
            yield from implied(each, f"{path}\t{number}", floats, assumed)
    elif isinstance(formula, Or):
        left = [assumed[path]] if path in assumed else [
            number for number, each in enumerate(formula.parts) if truth(each, floats, f"{path}\t{number}", assumed) is not False
        ]  # fmt: skip
        if len(left) == 1:
            yield from implied(formula.parts[left[0]], f"{path}\t{left[0]}", floats, assumed)
        else:
            yield path, formula
    else:
        yield path, formula
