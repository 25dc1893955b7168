"""Models that plan reunions, over the wire: what the papers' models got wrong is named by validators, and the end is VALID."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sagagraph.domains.reunion.day import parse_request
from sagagraph.domains.reunion.domain import Judge, Reunion
from sagagraph.domains.reunion.plan import ReunionPlan
from sagagraph.domains.reunion.planning.solver import Solver
from sagagraph.domains.reunion.proposals import assignment_of
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.rules.validator import validate_plan
from sagagraph.graph.planning_graph import planning_graph
from sagagraph.planning.models.limits import Limits
from sagagraph.planning.models.llm import init_model
from sagagraph.planning.models.model_planner import Assignment
from sagagraph.saga.core.events import ModelAsked
from sagagraph.saga.core.state import Saga, Stage
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.urls import open_store
from sagagraph.validators.verdict import Verdict
from tests.domains.reunion.plans import Json, judged, shipped
from tests.domains.reunion.published import ALAS_TABLE_21, ALAS_TABLE_24, BOTH_ERRANDS_BY_CHRIS, SAGALLM_TABLE_5
from tests.domains.reunion.scripted import DAY, PROBLEM, outbox_in
from tests.domains.reunion.solving import read_plan
from tests.support.models import ModelServer, Say

JAM: Json = {"at": "13:00", "event": "travel_factor", "place": "B", "factor": 3}


def _said(plan: Json) -> Say:
    return Say({"reasoning": "It fits.", "actions": plan["actions"]})


def _but(plan: Json, *, at: int = 0, **changed: Any) -> Json:
    told = copy.deepcopy(plan)
    told["actions"][at] |= changed
    return told


FETCHED_EARLY = _but(BOTH_ERRANDS_BY_CHRIS, at=1, start="12:10", end="12:50")
"""Jamie is fetched at 12:10, and lands at 12:30."""
FAULTS = [
    pytest.param(
        "openai", "wedding", SAGALLM_TABLE_5, "'clothes' at 14:10: ends at 14:25, 25 minutes after 14:00", id="gift shop closed"
    ),
    pytest.param(
        "anthropic", "wedding", FETCHED_EARLY, "Jamie is available 20 minutes later, at 12:30", id="fetched before they land"
    ),
    pytest.param("openai", "thanksgiving", ALAS_TABLE_24, "45 minutes for a way of 60, 15 too few", id="45 minutes for 60"),
]


@dataclass(frozen=True)
class Known(Solver):
    """Knows the plan of the papers, and so spares the tests the search; it finishes and repairs as it does anywhere."""

    known: Any = None

    def plan(self, problem: ReunionProblem, _tell: object = None) -> tuple[ReunionPlan, ...]:
        return (read_plan(problem, self.known),)


RIGHT = {"wedding": BOTH_ERRANDS_BY_CHRIS, "thanksgiving": ALAS_TABLE_21}


@dataclass
class Bench:
    """A saga that a scripted model plans."""

    engine: Engine
    folder: Path

    async def ran(self, name: str, provider: str, *script: Say, judge: Judge = validate_plan, events: Json | None = None) -> Saga:
        with ModelServer(script) as server:
            model = init_model(f"{provider}:m", environment=server.environment())
            domain = Reunion(Known(known=RIGHT[name]), outbox_in(self.folder, self.engine.store), judge)
            graph = planning_graph(domain=domain, engine=self.engine, model=model, limits=Limits(seconds=120))
            request = {"problem": shipped(name), "day": "2026-11-26"}
            await graph.start("s", request, approved_by="us")
            if events is not None:
                await graph.change("s", {**request, "events": [events]}, by="us", approved_by="us")
            assert server.left == 0
        return await self.engine.load("s")

    async def outcomes(self) -> list[str]:
        entries = await self.engine.store.read("s")
        return [each.event.outcome for each in entries if isinstance(each.event, ModelAsked)]


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    engine = Engine(await open_store("memory:"))
    yield Bench(engine, tmp_path)
    await engine.close()


@pytest.mark.parametrize(("provider", "name", "wrong", "named"), FAULTS)
async def test_what_a_model_gets_wrong_is_named_and_the_next_round_holds(
    bench: Bench, provider: str, name: str, wrong: Json, named: str
) -> None:
    saga = await bench.ran(name, provider, _said(wrong), _said(RIGHT[name]))
    first, second = await bench.outcomes()
    assert named in first
    assert second == "proposed"
    assert (saga.stage, saga.plan.proposed_by) == (Stage.RUNNING, f"{provider}:m")
    assert judged(shipped(name), (saga.plan.content or {})["plan"]).is_valid


@pytest.mark.parametrize(("provider", "name", "wrong", "named"), FAULTS)
async def test_without_validators_each_of_these_plans_would_have_been_told_to_everybody(
    bench: Bench, provider: str, name: str, wrong: Json, named: str
) -> None:
    saga = await bench.ran(name, provider, _said(wrong), judge=lambda *_given, **_more: Verdict.of([]))
    assert saga.stage is Stage.RUNNING
    told = judged(shipped(name), (saga.plan.content or {})["plan"])
    assert any(named in each.message for each in told.violations)


async def test_after_three_rounds_the_solver_goes_on_from_the_nearest(bench: Bench) -> None:
    """The clothes too late is one fault, and the rest of that plan is kept."""
    late = _but(BOTH_ERRANDS_BY_CHRIS, at=3, end="14:05")
    worse = [FETCHED_EARLY, {"actions": []}]
    saga = await bench.ran("wedding", "openai", *map(_said, [worse[0], late, worse[1]]))
    assert len(await bench.outcomes()) == 3
    plan = (saga.plan.content or {})["plan"]
    assert judged(shipped("wedding"), plan).is_valid
    kept = [
        each
        for each in BOTH_ERRANDS_BY_CHRIS["actions"]
        if {**each, "place": None} in [{**own, "place": None} for own in plan["actions"]]
    ]
    assert len(kept) >= 5
    assert "finished by the solver" in " ".join(saga.plan.reasons)


async def test_a_model_that_rewrites_the_past_is_told_so_and_the_day_goes_on(bench: Bench) -> None:
    """At 13:00 Pat is on the way from the airport: what is left of the road takes three times as long."""
    slowed = _but(BOTH_ERRANDS_BY_CHRIS, at=1, end="14:20")
    rewritten = _but(slowed, at=0, start="12:05", end="12:45")
    saga = await bench.ran("wedding", "anthropic", _said(BOTH_ERRANDS_BY_CHRIS), _said(rewritten), _said(slowed), events=JAM)
    _, named, mended = await bench.outcomes()
    assert "began before 13:00 and stands as it was" in named
    assert mended == "proposed"
    assert saga.stage is Stage.RUNNING
    assert judged(shipped("wedding"), (saga.plan.content or {})["plan"], JAM, against=BOTH_ERRANDS_BY_CHRIS).is_valid


@pytest.mark.quick
def test_a_model_is_told_nobodys_address() -> None:
    people = [{**each, "mail": "somebody@example.org"} for each in PROBLEM["people"]]
    wanted = parse_request({"problem": {**PROBLEM, "people": people}, "day": DAY})
    assignment = assignment_of(wanted, ())
    assert isinstance(assignment, Assignment)
    assert "somebody" not in str(assignment.facts)
    assert "somebody" in str(wanted.problem)
