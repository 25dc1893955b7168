"""Other plans than the preferred one, and what is said of them."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from benchmarks.reunions.generator import generate
from sagagraph.domains.reunion.actions.outbox import Outbox
from sagagraph.domains.reunion.domain import Reunion
from sagagraph.domains.reunion.parsing import parse_problem
from sagagraph.domains.reunion.plan import ReunionPlan
from sagagraph.domains.reunion.planning.measure import Tradeoffs, reasons, tradeoffs
from sagagraph.domains.reunion.planning.planner import MOST_DRIVING, NOTICEABLE, choices
from sagagraph.domains.reunion.planning.solver import Solver
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.planning.budget import Budget
from sagagraph.planning.domain import Infeasible
from sagagraph.saga.stores.memory import MemorySagaStore
from tests.domains.reunion.plans import Json, plan_of, travel
from tests.domains.reunion.solving import budget, faults, problem_of, read_plan, solved

DINNER: Json = {
    "name": "dinner",
    "places": {"H": "home", "A": "airport", "S": "station"},
    "travel_minutes": [["H", "A", 40], ["H", "S", 30], ["A", "S", 20]],
    "people": [
        {"name": "Ann", "place": "H"},
        {"name": "Bob", "place": "H"},
        {"name": "Eve", "place": "A", "from": "15:00", "drives": False},
        {"name": "Guy", "place": "S", "from": "16:00", "drives": False},
    ],
    "vehicles": [
        {"name": f"{name}'s car", "seats": 4, "place": "H", "from": "14:00", "drivers": [name]} for name in ("Ann", "Bob")
    ],
    "goals": [{"people": "all", "place": "H", "by": "18:00", "not_before": "16:00"}],
}
ONE_ROUND = plan_of(
    travel("Ann's car", "Ann", "H-A", "14:20", "15:00"),
    travel("Ann's car", "Ann", "A-S", "15:00", "15:20", "Eve"),
    travel("Ann's car", "Ann", "S-H", "16:00", "16:30", "Eve", "Guy"),
)
TWO_ROUNDS = plan_of(
    travel("Ann's car", "Ann", "H-A", "14:20", "15:00"),
    travel("Ann's car", "Ann", "A-H", "15:00", "15:40", "Eve"),
    travel("Bob's car", "Bob", "H-S", "15:30", "16:00"),
    travel("Bob's car", "Bob", "S-H", "16:00", "16:30", "Guy"),
)


def dinner(**fields: Any) -> ReunionProblem:
    return parse_problem({**DINNER, **fields})


def figures(of: Tradeoffs) -> tuple[float, ...]:
    return of.driving_minutes, of.kilometres or 0, of.ends, of.spread, of.waiting


@pytest.mark.parametrize("problem", [dinner(), dinner(objectives=["makespan"]), problem_of("thanksgiving")])
def test_each_is_valid_and_noticeably_better_in_something_than_all_before_it(problem: ReunionProblem) -> None:
    preferred = solved(problem).plan
    others = choices(problem, preferred, 2, budget())
    assert 1 <= len(others) <= 2
    known = [tradeoffs(problem, preferred)]
    for each in others:
        assert faults(problem, each) == []
        mine = tradeoffs(problem, each)
        assert mine.driving_minutes <= MOST_DRIVING * known[0].driving_minutes
        for before in known:
            assert any(one <= other - NOTICEABLE for one, other in zip(figures(mine), figures(before), strict=True))
        known.append(mine)


def test_the_same_question_has_the_same_choices() -> None:
    problem = dinner()
    preferred = solved(problem).plan
    assert choices(problem, preferred, 2, budget()) == choices(problem, preferred, 2, budget())


def test_no_more_than_are_asked_for_and_none_without_time() -> None:
    problem = dinner()
    preferred = solved(problem).plan
    assert len(choices(problem, preferred, 1, budget())) == 1
    assert choices(problem, preferred, 2, Budget(0.0, lambda: 1.0)) == ()


def test_many_people_get_no_choice() -> None:
    many = generate(14, 1)
    assert choices(many, ReunionPlan(problem="none", actions=()), 2, budget()) == ()


def test_the_solver_gives_the_preferred_plan_first() -> None:
    """However many others the time allows."""
    problem = dinner()
    planned = Solver().plan(problem)
    assert not isinstance(planned, Infeasible)
    assert planned[0] == solved(problem).plan
    assert len(planned) <= 3


def test_what_is_better_is_told_before_what_is_worse() -> None:
    problem = dinner()
    one, two = read_plan(problem, ONE_ROUND), read_plan(problem, TWO_ROUNDS)
    assert reasons(problem, one) == (
        "90 minutes of driving",
        "all is over at 16:30",
        "80 minutes of waiting in all",
        "60 minutes between who has most to do and who has least",
    )
    assert reasons(problem, two, one) == (
        "80 minutes less waiting, work shared 10 minutes more evenly, 50 minutes more driving, "
        "Ann is there 20 minutes before 16:00, Eve is there 20 minutes before 16:00",
        "140 minutes of driving",
        "all is over at 16:30",
        "nobody waits for a ride",
        "50 minutes between who has most to do and who has least",
    )


def test_what_is_worse_in_nothing_says_so() -> None:
    problem = dinner()
    late = plan_of(*({**each, "end": "16:40"} if each["to"] == "H" else each for each in ONE_ROUND["actions"]))
    better = reasons(problem, read_plan(problem, ONE_ROUND), read_plan(problem, late))
    assert better[0].startswith("over 10 minutes earlier, 10 minutes less driving")
    assert better[0].endswith(", and nothing worse")


class Twice:
    """Always the same two plans."""

    def plan(self, problem: ReunionProblem, _tell: object = None) -> tuple[ReunionPlan, ...]:
        return read_plan(problem, ONE_ROUND), read_plan(problem, TWO_ROUNDS)

    def repair(self, *_: Any) -> Infeasible:
        return Infeasible(("not asked for",))


def test_proposals_say_what_speaks_for_them(tmp_path: Path) -> None:
    reunion = Reunion(Twice(), Outbox(MemorySagaStore(), tmp_path / "outbox", lambda: datetime(2025, 3, 1, tzinfo=UTC)))
    proposed = asyncio.run(reunion.propose({"problem": DINNER, "day": "2025-03-01"}))
    assert not isinstance(proposed, Infeasible)
    assert [each.reasons[0][:22] for each in proposed] == ["90 minutes of driving", "80 minutes less waitin"]
    assert len({each.plan_hash for each in proposed}) == 2
