"""Learning: an artifact that passed and should not have becomes a test and a rule, for a person to propose.

The rule is the widest bound on one variable that keeps every golden case and excludes the surprise. It is a beginning: whoever
proposes it says what it means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from sagagraph.errors import InvalidInputError
from sagagraph.harness.judging.check import RuleVerdict, check, exact, run_tests
from sagagraph.harness.proof.rounding import significant
from sagagraph.harness.registry.harness import Harness
from sagagraph.harness.registry.loading import harness_of


@dataclass(frozen=True, slots=True)
class _Bound:
    variable: str
    sign: str
    at: fmpq
    room: fmpq
    """The distance to the nearest golden case, as a share of all that golden cases span with the surprise."""

    def stated(self, case: Mapping[str, Any], rule_id: str) -> Mapping[str, Any]:
        """Return a poisoned case that says exactly what it fails, with the new rule where it fails that too."""
        value = exact(case["artifact"].get(self.variable))
        is_kept = not isinstance(value, fmpq) or (value <= self.at if self.sign == "<=" else value >= self.at)
        return case if is_kept or case.get("fails") is None else {**case, "fails": [*case["fails"], rule_id]}


def learned(harness: Harness, artifact: Mapping[str, Any], name: str) -> Harness:
    """Return the next version of a harness, with the surprise as a poisoned case and a rule that it fails.

    Raises:
        InvalidInputError: the artifact does not pass now, or no bound on one variable tells it from the golden cases.
    """
    if check(harness, artifact).verdict is not RuleVerdict.PASS:
        raise InvalidInputError("does not pass: the harness knows it already", field="artifact")
    bound = max(_bounds(harness, artifact), key=lambda each: each.room, default=None)
    if bound is None:
        raise InvalidInputError("no bound on one variable tells it from the golden cases: write the rule", field="artifact")
    rule_id, limit = f"LEARNED_{name}", f"learned_{name}"
    document = dict(harness.document)
    tests = dict(document.get("tests") or {})
    case = {"name": name, "artifact": dict(artifact), "must_fail": [rule_id]}
    unit = harness.variables[bound.variable].unit
    changed = harness_of({
        **document,
        "version": fmpq(harness.version + 1),
        "variables": {**document["variables"], limit: {"unit": unit, "value": bound.at, "kind": "parameter"}},
        "rules": [*document["rules"], {"id": rule_id, "assertion": f"{bound.variable} {bound.sign} {limit}",
                                       "target_field": bound.variable, "severity": "CRITICAL", "source": f"learned from {name}"}],
        "tests": {**tests, "poisoned": [*(bound.stated(each, rule_id) for each in tests.get("poisoned") or ()), case]},
    })  # fmt: skip
    broken = [each.name for each in run_tests(changed).cases if not each.kept]
    if broken:
        raise InvalidInputError(f"cases would no longer be as stated: {', '.join(broken)}; write the rule", field="artifact")
    return changed


def _bounds(harness: Harness, artifact: Mapping[str, Any]) -> Iterator[_Bound]:
    """Yield a bound half way to the nearest golden case, for each variable on one side of which all of them lie."""
    for name, variable in harness.variables.items():
        value = exact(artifact.get(name))
        golden = [each for case in harness.golden if isinstance(each := exact(case.artifact.get(name)), fmpq)]
        if not variable.is_decided or not variable.is_number or not isinstance(value, fmpq) or not golden:
            continue
        for sign, nearest in (("<=", max(golden)), (">=", min(golden))):
            gap = value - nearest if sign == "<=" else nearest - value
            if gap > 0:
                whole = max(*golden, value) - min(*golden, value)
                yield _Bound(name, sign, significant((value + nearest) / 2, 6, upwards=sign == ">="), gap / whole)
