"""Short ways to plan, to repair and to have the result judged."""

from __future__ import annotations

from typing import Any

from sagagraph.domains.reunion.events import Event
from sagagraph.domains.reunion.parsing import parse_events, parse_plan, parse_problem
from sagagraph.domains.reunion.plan import ReunionPlan
from sagagraph.domains.reunion.planning.planner import plan
from sagagraph.domains.reunion.planning.solving import Solved
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.rules.validator import validate_plan
from sagagraph.planning.budget import Budget
from tests.domains.reunion.plans import shipped


def budget(seconds: float = 60.0) -> Budget:
    return Budget.of(seconds)


def problem_of(name: str) -> ReunionProblem:
    return parse_problem(shipped(name))


def solved(problem: ReunionProblem, seconds: float = 60.0) -> Solved:
    answer = plan(problem, budget(seconds))
    assert isinstance(answer, Solved), answer
    return answer


def as_json(made: ReunionPlan) -> dict[str, Any]:
    return made.model_dump(mode="json", by_alias=True)


def read_plan(problem: ReunionProblem, said: Any) -> ReunionPlan:
    parsed = parse_plan(problem, said)
    assert not parsed.fault
    assert not parsed.broken
    return ReunionPlan.model_construct(problem=problem.name, actions=tuple(parsed.actions[n] for n in sorted(parsed.actions)))


def events_of(problem: ReunionProblem, *events: Any) -> tuple[Event, ...]:
    return parse_events(problem, list(events))


def faults(
    problem: ReunionProblem, made: ReunionPlan, events: tuple[Event, ...] = (), against: ReunionPlan | None = None
) -> list[str]:
    verdict = validate_plan(problem, as_json(made), events, against=None if against is None else as_json(against))
    return [f"{each.code}: {each.message}" for each in verdict.violations]
