"""Tests of a harness: artifacts that must pass everything, and artifacts that must fail the rules they name."""

from __future__ import annotations

from dataclasses import dataclass

from sagagraph.harness.judging.check import check
from sagagraph.harness.registry.forms import Case
from sagagraph.harness.registry.harness import Harness


@dataclass(frozen=True, slots=True)
class Tested:
    """`fails`: the rules that the artifact does not pass. `reason`: what is other than stated."""

    name: str
    kept: bool
    fails: tuple[str, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TestedHarness:
    """`broken`: rules that some test finds other than stated."""

    cases: tuple[Tested, ...]
    broken: frozenset[str]

    @property
    def kept(self) -> bool:
        return all(each.kept for each in self.cases)


def run_tests(harness: Harness) -> TestedHarness:
    """Judge all golden and poisoned artifacts."""
    broken: set[str] = set()
    cases = [_run(harness, each, broken, is_golden=True) for each in harness.golden]
    cases += [_run(harness, each, broken, is_golden=False) for each in harness.poisoned]
    return TestedHarness(tuple(cases), frozenset(broken))


def _run(harness: Harness, case: Case, broken: set[str], *, is_golden: bool) -> Tested:
    checked = check(harness, case.artifact)
    fails, must = checked.failed, case.must_fail if case.fails is None else case.fails
    wrong = set(fails) ^ set(must) if is_golden or case.fails is not None else set(must) - set(fails)
    broken |= wrong
    unstated = not is_golden and not must and not fails
    if not wrong and not unstated and not (is_golden and checked.outside):
        return Tested(case.name, kept=True, fails=fails)
    wanted = ", ".join(must) or ("some rule" if unstated else "none")
    outside = f"; {', '.join(checked.outside)} outside the domain" if checked.outside else ""
    return Tested(case.name, kept=False, fails=fails, reason=f"must fail {wanted}, fails {', '.join(fails) or 'none'}{outside}")
