"""Slack: what plans with room for delays survive beside those of least driving, and what that costs."""

from __future__ import annotations

from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Any

from benchmarks.markdown import prose, table
from benchmarks.reunions.generator import generate
from sagagraph.domains.reunion.planning.measure import measure
from sagagraph.domains.reunion.planning.planner import plan
from sagagraph.domains.reunion.planning.solving import Solved
from sagagraph.domains.reunion.request import AS_PEOPLE_PLAN, Objective, ReunionProblem
from sagagraph.domains.reunion.rules.robustness import disturbances, not_survived
from sagagraph.domains.reunion.rules.validator import validate_plan
from sagagraph.domains.reunion.shipped import SHIPPED, shipped
from sagagraph.planning.budget import Budget

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Case = dict[str, Any]
_ARMS = {"least driving": (Objective.DRIVING_MINUTES,), "as people plan": AS_PEOPLE_PLAN}
GENERATED = 50


def problems(generated: int, seconds: float) -> Iterable[tuple[str, ReunionProblem]]:
    """The shipped ones, and others with 4 to 6 people and up to 50 minutes more than what drives least takes."""
    yield from ((name, shipped(name)) for name in SHIPPED)
    for seed in range(generated):
        random = Random(seed)  # noqa: S311 - no secret: the same problems every time
        people, spare = random.randint(4, 6), random.randrange(0, 55, 5)
        least = plan(generate(people, seed), Budget.of(seconds))
        if not isinstance(least, Solved):
            continue
        starts, ends = min(each.start for each in least.plan.actions), max(each.end for each in least.plan.actions)
        yield f"generated {seed}", generate(people, seed, room=ends - starts + spare)


def compared(name: str, problem: ReunionProblem, seconds: float) -> Case:
    return {"name": name, "arms": {arm: _arm(problem, aims, seconds) for arm, aims in _ARMS.items()}}


def _arm(problem: ReunionProblem, objectives: tuple[Objective, ...], seconds: float) -> Case:
    wanted = problem.model_copy(update={"objectives": objectives})
    began = monotonic()
    answer = plan(wanted, Budget.of(seconds))
    took = round(monotonic() - began, 2)
    if not isinstance(answer, Solved):
        return {"seconds": took, "verdict": "none found"}
    return {
        "seconds": took,
        "verdict": validate_plan(problem, answer.plan.model_dump(mode="json")).verdict.value,
        "disturbances": sum(1 for _ in disturbances(problem)),
        "broken": len(not_survived(problem, answer.plan)),
        "driven": measure(problem, answer.plan, Objective.DRIVING_MINUTES),
        "waited": measure(problem, answer.plan, Objective.WAITING),
    }


def slack_parts(cases: Sequence[Case]) -> list[str]:
    groups = [(case["name"], [case]) for case in cases if not case["name"].startswith("generated")]
    generated = [case for case in cases if case["name"].startswith("generated")]
    return [
        "## Slack",
        prose(
            "Plans of least driving beside those that people would make. *Survived*: single disturbances (each person 30 minutes",
            "late, each road half as long again) after which all goals are met, everybody doing the same in the same order.",
        ),
        table(
            [
                "reunion",
                "plans",
                "survive all: least",
                "slack",
                "disturbances survived: least",
                "slack",
                "minutes driven: least",
                "slack",
                "s: least",
                "slack",
            ],
            [_row(name, some) for name, some in (*groups, (f"{len(generated)} generated", generated)) if some],
        ),
    ]


def _row(name: str, cases: Sequence[Case]) -> list[str]:
    arms = [[case["arms"][arm] for case in cases if "broken" in case["arms"][arm]] for arm in _ARMS]
    whole = [f"{sum(not each['broken'] for each in arm)} of {len(cases)}" for arm in arms]
    share = [f"{1 - sum(each['broken'] for each in arm) / sum(each['disturbances'] for each in arm):.0%}" for arm in arms]
    driven = [f"{sum(each['driven'] for each in arm):g}" for arm in arms]
    took = [f"{sum(each['seconds'] for each in arm) / len(arm):.1f}" for arm in arms]
    return [name, str(len(cases)), *whole, *share, *driven, *took]
