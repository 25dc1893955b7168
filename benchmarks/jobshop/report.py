"""docs/benchmarks/jobshop.md from the figures."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING, Any

from benchmarks.markdown import prose, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    Case = dict[str, Any]


def written(cases: Sequence[Case], seconds: float, *, only: bool) -> str:
    parts = _parts(cases, seconds)
    if only:
        names = ", ".join(case["name"] for case in cases)
        parts.insert(2, f"This run measured a part of them: {names}.")
    return "\n\n".join(parts) + "\n"


def _parts(cases: Sequence[Case], seconds: float) -> list[str]:
    return [
        "# Job shops: how good after a few seconds, and what a repair changes",
        prose(
            f"`make bench-jobshop` schedules each instance within {seconds:g} s of one core's time, lets something happen, and",
            f"repairs the schedule beside scheduling all that has not begun anew, within {seconds:g} s each. The instances are",
            "those that ALAS evaluates, as far as `SAGAGRAPH_DATA` has them, and REALM-Bench's J3; without it, generated ones.",
            "Every schedule was judged by the independent validator; what it said stands in the tables.",
        ),
        "## Schedules",
        prose(
            "*Best known*: the least makespan that anybody has published. *Gap*: how far above that, in parts of it; where",
            "nothing is published, above our own bound. *Bound*: what no schedule goes below, by our own proof.",
        ),
        table(
            ["instance", "jobs x machines", "steps", "best known", "makespan", "bound", "gap", "seconds", "verdict"],
            [_scheduled(case) for case in cases],
        ),
        prose(*_gaps(cases)),
        "## Repair beside scheduling anew",
        prose(
            "What happens: REALM-Bench's own disruption where there is one (J2), otherwise a machine that is down for a while",
            "and a step that takes twice as long. *Waiting*: every machine keeps its order. *Changed*: steps whose start is",
            "another one; *moved*: by how much in all. What a repair weighs stands in [jobshop.md](../jobshop.md).",
        ),
        table(
            ["instance", "J2", "was", "waiting: makespan", "changed", "moved", "repair: makespan", "changed", "moved", "seconds",
             "anew: makespan", "changed", "moved", "verdicts"],
            [_repaired(case) for case in cases],
        ),
        prose(*_totals(cases)),
    ]  # fmt: skip


def _gap(case: Case) -> float:
    known = case["best_known"] or case["bound"]
    return float(100 * (case["makespan"] - known) / known)


def _scheduled(case: Case) -> list[str]:
    size = f"{case['jobs']} x {case['machines']}"
    known = "" if case["best_known"] is None else str(case["best_known"])
    figures = [str(case[name]) for name in ("makespan", "bound")]
    gap = f"{_gap(case):.1f} %"
    return [case["name"], size, str(case["steps"]), known, *figures, gap, str(case["seconds"]), case["verdict"]]


def _repaired(case: Case) -> list[str]:
    waiting, one, other = (
        [str(case[arm][name]) for name in ("makespan", "operations", "displacement")] for arm in ("waiting", "repair", "anew")
    )
    verdicts = f"{case['repair']['verdict']}/{case['anew']['verdict']}"
    is_realm = "yes" if case["is_realm"] else ""
    return [case["name"], is_realm, str(case["makespan"]), *waiting, *one, str(case["repair"]["seconds"]), *other, verdicts]


def _gaps(cases: Sequence[Case]) -> list[str]:
    known = [_gap(case) for case in cases if case["best_known"] is not None]
    if not known:
        return ["No best known bounds: `SAGAGRAPH_DATA` was not set."]
    least = sum(case["makespan"] == case["bound"] for case in cases)
    return [
        f"{len(known)} instances with published bounds: the mean gap is {mean(known):.1f} %, the largest {max(known):.1f} %.",
        f"{least} of {len(cases)} schedules are proven to be the shortest there is.",
    ]


def _totals(cases: Sequence[Case]) -> list[str]:
    def total(arm: str, name: str) -> int:
        return sum(int(case[arm][name]) for case in cases)

    arms = {"waiting": "waiting", "repair": "repair", "anew": "scheduling anew"}
    told = "; ".join(
        f"{words} changes {total(arm, 'operations')} steps, moves starts by {total(arm, 'displacement')} and ends at"
        f" {total(arm, 'makespan')}"
        for arm, words in arms.items()
    )
    fewer = sum(case["repair"]["operations"] < case["anew"]["operations"] for case in cases)
    later = sum(case["repair"]["makespan"] > case["waiting"]["makespan"] for case in cases)
    return [
        f"In all {len(cases)}: {told} (makespans added up; before, {sum(case['makespan'] for case in cases)}).",
        f"Repair changes fewer steps than scheduling anew in {fewer} of them, and ends later than waiting in {later}.",
    ]
