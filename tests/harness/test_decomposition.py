"""Decomposition: what is refused, the order without a model, and canaries that no executor may see, over the real clients."""

from __future__ import annotations

import json
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from sagagraph.context.quoting import new_nonce
from sagagraph.harness.life.records import Records
from sagagraph.harness.loop.convergence import End
from sagagraph.harness.loop.decomposition import decompose, order_of, read_tasks
from sagagraph.harness.loop.executors import asking, decomposing
from sagagraph.harness.loop.running import Asking, run_harness
from sagagraph.harness.registry.harness import Harness
from sagagraph.harness.registry.loading import harness_of, load_harness
from sagagraph.planning.models.llm import init_model
from sagagraph.saga.engine.engine import Engine
from tests.support.models import ModelServer, Say

pytestmark = pytest.mark.quick

HEAT, TIME = "temperature_C", "residence_time_s"
REACTOR = Path(__file__).parents[2] / "sagagraph/harness/examples/pharma_flow_reactor_long.yaml"


def task(name: str, *produced: str, parents: tuple[str, ...] = (), sees: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"id": name, "parent_ids": [*parents], "description": f"CANARY-{name}", "context_keys": [*sees],
            "expected_schema": [*produced]}  # fmt: skip


GOOD = [task("time", TIME, parents=("heat",), sees=(HEAT,)), task("heat", HEAT)]


@pytest.mark.parametrize(
    ("said", "objection"),
    [
        ([{"nodes": GOOD}], "is a list"),
        ({}, "nodes"),
        ({"nodes": [{"id": "a"}]}, "expected_schema"),
        ({"nodes": [*GOOD, task("time")]}, "same id"),
        ({"nodes": [task("heat", HEAT, TIME, parents=("root",))]}, "unknown parents: root"),
        ({"nodes": [task("a", HEAT, parents=("b",)), task("b", TIME, parents=("a",))]}, "in a circle"),
        ({"nodes": [task("a", HEAT, TIME), task("b", TIME)]}, "produced twice"),
        ({"nodes": [task("a", HEAT)]}, f"nobody produces {TIME}"),
        ({"nodes": [task("a", HEAT, TIME, "A_factor")]}, "A_factor is not a variable to decide"),
        ({"nodes": [task("a", HEAT), task("b", TIME, sees=(HEAT,))]}, "none of its ancestors"),
        ({"nodes": [*GOOD], "verdict": "PASS"}, "verdict"),
        ("PASS", "the answer"),
        (None, "the answer"),
    ],
)
def test_what_makes_no_sense_is_objected_to(said: Any, objection: str) -> None:
    tasks, objections = read_tasks(load_harness(REACTOR), said)
    assert tasks == ()
    assert objection in " ".join(objections)


async def test_a_model_that_never_makes_sense_does_not_stop_a_run() -> None:
    harness = load_harness(REACTOR)
    rounds: list[Any] = []

    async def weak(asked: Any, number: str) -> Any:
        rounds.append((number, asked["objections"]))
        return [{"root": {}}]

    assert await decompose(harness, "make it", weak) == order_of(harness)
    assert [number for number, _ in rounds] == ["decompose-1", "decompose-2", "decompose-3"]
    assert "is a list" in rounds[-1][1][0]


def with_canaries() -> Harness:
    document = dict(load_harness(REACTOR).document)
    rules = [
        {**rule, "description": f"CANARY-{rule['id']}", "source": f"CANARY-source-{rule['id']}"} for rule in document["rules"]
    ]
    return harness_of({**document, "title": "CANARY-title", "rules": rules})


@pytest.mark.skipif(find_spec("langchain_openai") is None, reason="the optional extra 'llm' is not installed")
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_an_executor_sees_its_task_and_what_its_ancestors_decided_and_nothing_else(provider: str) -> None:
    harness = with_canaries()
    script = [Say([{"nodes": GOOD}]), Say({"nodes": GOOD}), Say({HEAT: 97, "verdict": "PASS"}), Say({HEAT: 97}), Say({TIME: 100}),
              Say({HEAT: 20, TIME: 175}), Say({TIME: 175})]  # fmt: skip
    with ModelServer(script) as server:
        model = init_model(f"{provider}:m", environment=server.environment("a-key"), time_limit_s=20.0)
        async with Engine.open("memory:") as engine:
            records = Records(engine.store, harness.id)
            wanted = Asking("CANARY-request: as pure as it can be", decomposing(model, new_nonce))
            run = await run_harness(engine, harness, "r", asking(model, new_nonce), records, date(2026, 11, 22), wanted)
    assert (run.end, run.artifact) == (End.SUCCESS, {HEAT: 97, TIME: 175})
    assert [each.verdict for each in run.attempts] == ["refused", "locked", "moved", "refused", "locked"]
    prompts = [json.dumps(asked.body) for asked in server.asked]
    assert all("CANARY-request" in each for each in prompts[:2])
    for number, prompt in enumerate(prompts[2:]):
        own, other = ("heat", "time") if number < 2 else ("time", "heat")
        assert prompt.count("CANARY-") == prompt.count(f"CANARY-{own}") > 0
        assert f"CANARY-{other}" not in prompt
        assert "72000" not in prompt
        assert len(prompt) < 4000  # at most 1,000 tokens
    assert "97" in prompts[-1]
    assert TIME not in prompts[2]
