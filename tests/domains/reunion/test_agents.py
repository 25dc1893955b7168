"""Agents of reunions: what each is shown and says, and the day that is made of it, which the validators judge like any other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from sagagraph.context.slice import tokens_of
from sagagraph.domains.reunion.day import DayPlan
from sagagraph.domains.reunion.domain import Reunion
from sagagraph.domains.reunion.plan import Journey, ReunionPlan
from sagagraph.domains.reunion.planning.solver import Solver
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.graph.planning_graph import planning_graph
from sagagraph.planning.agents.team import Agent
from sagagraph.saga.core.state import Saga
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.urls import open_store
from tests.domains.reunion.plans import Json, judged, shipped, task, travel
from tests.domains.reunion.published import BOTH_ERRANDS_BY_CHRIS
from tests.domains.reunion.scripted import outbox_in
from tests.domains.reunion.solving import read_plan

LIMIT = 1000


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    opened = Engine(await open_store("memory:"))
    yield opened
    await opened.close()


ALL_BY_PAT = {
    "actions": [
        travel("Pat's car", "Pat", "W-G", "12:00", "12:25"),
        task("gift", "Pat", "12:25", "12:30"),
        travel("Pat's car", "Pat", "G-T", "12:30", "12:50"),
        task("clothes", "Pat", "12:50", "12:55"),
        travel("Pat's car", "Pat", "T-B", "12:55", "13:25"),
        travel("Pat's car", "Pat", "B-W", "13:25", "14:05", "Alex", "Jamie"),
    ]
}


class Known(Solver):
    """Knows two days of the wedding, and so spares the tests the search; it finishes as it does anywhere."""

    def plan(self, problem: ReunionProblem, _tell: object = None) -> tuple[ReunionPlan, ...]:
        return tuple(read_plan(problem, each) for each in (BOTH_ERRANDS_BY_CHRIS, ALL_BY_PAT))


async def planned(engine: Engine, folder: Path, agents: Mapping[str, Agent] | None = None) -> Saga:
    saga_id = "alone" if agents is None else "together"
    graph = planning_graph(domain=Reunion(Known(), outbox_in(folder, engine.store)), engine=engine, agents=agents)
    await graph.start(saga_id, {"problem": shipped("wedding"), "day": "2026-11-26"})
    saga = await engine.load(saga_id)
    assert judged(shipped("wedding"), (saga.plan.content or {})["plan"]).is_valid
    return saga


def journeys_of(saga: Saga) -> list[tuple[int, str, str]]:
    plan = DayPlan.model_validate(saga.plan.content).plan
    return [(act.start, act.driver or "", act.to) for act in plan.in_time if isinstance(act, Journey)]


def said_of(saga: Saga) -> dict[str, Json]:
    return {each["agent"]: each for each in saga.plan.agents}


async def test_without_a_model_each_agent_is_its_part_of_the_search(engine: Engine, tmp_path: Path) -> None:
    saga = await planned(engine, tmp_path)
    said = said_of(saga)
    assert list(said) == ["transport", "tasks", "people"]
    assert set(said["transport"]["inputs"]) == {"Pat", "Chris", "Alex", "Jamie"}
    assert set(said["tasks"]["inputs"]) == {"clothes", "gift"}
    for each in said.values():
        assert each["slice_tokens"] <= LIMIT
        for part, some in each["candidates"].items():
            assert some[0]["choose"] == f"{part} 1"
            assert all(one["reason"] and 0 <= one["confidence"] <= 1 for one in some)
    assert saga.plan.proposed_by == "solver"
    assert (said["tasks"]["candidates"]["gift"][1]["reason"]).startswith("over 35 minutes earlier, ")


async def test_what_agents_choose_is_in_a_day_that_holds(engine: Engine, tmp_path: Path) -> None:
    """Pat goes first to the gift, as in the other day, and the rest of it follows from that."""
    shown: list[Mapping[str, Any]] = []

    def last(facts: Mapping[str, Any]) -> Json:
        shown.append(facts)
        return {part: [_choice(options[-1]["id"])] for part, options in facts["inputs"].items()}

    def first(facts: Mapping[str, Any]) -> Json:
        shown.append(facts)
        return {part: [_choice(options[0]["id"])] for part, options in facts["inputs"].items()}

    saga = await planned(engine, tmp_path, {"transport": last, "tasks": last, "people": first})
    assert saga.plan.proposed_by == "last, first"
    assert journeys_of(saga) == [(720, "Pat", "G"), (750, "Pat", "T"), (775, "Pat", "B"), (805, "Pat", "W")]
    assert all(tokens_of(facts) <= LIMIT for facts in shown)
    assert "output of transport" in shown[-1]


async def test_agents_that_do_not_agree_get_the_day_that_keeps_most(engine: Engine, tmp_path: Path) -> None:
    """Pat is to fetch the guests at 12:40 and the gift at 12:25: one of the two is left out."""

    def gift(facts: Mapping[str, Any]) -> Json:
        return {part: [_choice(options[-1]["id"])] for part, options in facts["inputs"].items()}

    saga = await planned(engine, tmp_path, {"tasks": gift})
    assert saga.plan.proposed_by == "gift"


async def test_an_answer_that_was_not_shown_leaves_the_part_to_the_search(engine: Engine, tmp_path: Path) -> None:
    def invented(facts: Mapping[str, Any]) -> Json:
        return {part: [_choice("a helicopter")] for part in facts["inputs"]}

    saga = await planned(engine, tmp_path, {"transport": invented})
    assert saga.plan.proposed_by == "solver"
    assert said_of(saga)["transport"]["reason"] == "invented proposed nothing valid in 3 rounds: planned without it"


def _choice(name: str) -> Json:
    return {"choose": name, "reason": "it is the one", "confidence": 0.9}
