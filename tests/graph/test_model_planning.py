"""Trips that a model chooses, by the real clients over HTTP: nothing counts before it is judged, and nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from sagagraph.context.model import Model, Prices
from sagagraph.planning.models.llm import init_model
from sagagraph.planning.models.model_planner import ROUNDS
from sagagraph.saga.core import events as e
from sagagraph.saga.stores.projections.decisions import Decision
from tests.graph.conftest import OpenWorker, Worker
from tests.support.models import Asked, Hang, ModelServer, Refuse, Say, Status, Text
from tests.support.models.script import Step
from tests.support.trips import REQUEST

pytestmark = pytest.mark.skipif(find_spec("langchain_openai") is None, reason="the optional extra 'llm' is not installed")

KEY = "sk-canary-1b7e4c02"


@contextmanager
def scripted(*script: Step, provider: str = "openai", time_limit_s: float = 20.0) -> Iterator[tuple[Model, ModelServer]]:
    with ModelServer(script, keys=[KEY]) as server:
        model = init_model(
            f"{provider}:m", environment=server.environment(KEY), time_limit_s=time_limit_s, prices=Prices(1.0, 10.0)
        )
        yield model, server


def shown(asked: Asked) -> dict[str, Any]:
    """The data of a question."""
    data: dict[str, Any] = json.loads(asked.user.splitlines()[1])
    return data


def pick(trip: int, without: str = "nothing") -> Step:
    """One of the trips that it is shown; without the offers of a kind."""

    def choose(asked: Asked) -> Say:
        offers = [leg["id"] for leg in shown(asked)[f"trip {trip}"]["legs"] if not leg["id"].startswith(without)]
        return Say({"offers": offers, "reasoning": f"trip {trip} suits best", "considered": ["the cheapest one"]})

    return choose


async def of_kind(worker: Worker, kind: type[Any]) -> list[Any]:
    return [entry.event for entry in await worker.engine.journal("trip") if isinstance(entry.event, kind)]


async def assert_only_valid_plans_were_accepted(worker: Worker) -> None:
    verdicts: dict[str, str] = {}
    proposed = ""
    for entry in await worker.engine.journal("trip"):
        match entry.event:
            case e.PlanProposed(plan_hash=name):
                proposed = name
            case e.PlanJudged(plan_hash=name, verdict=verdict):
                verdicts[name] = verdict["verdict"]
            case e.PlanAccepted():
                assert verdicts[proposed] == "VALID"


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_a_trip_that_a_model_chose_is_judged_and_booked(
    open_worker: OpenWorker, ledger: Callable[[], Any], provider: str
) -> None:
    with scripted(pick(2), provider=provider) as (model, server):
        async with open_worker(model=model) as worker:
            view = await worker.graph.start("trip", REQUEST, approved_by="ann")
            assert view.status == "committed"
            (proposed,) = await of_kind(worker, e.PlanProposed)
            (told,) = await of_kind(worker, e.ModelAsked)
            (judged,) = await of_kind(worker, e.PlanJudged)
            (accepted,) = await of_kind(worker, e.PlanAccepted)
            decisions = (await worker.engine.project("trip")).decisions
    assert [offer["offer"]["offer_id"] for offer in proposed.plan["legs"]] == [
        leg["id"] for leg in shown(server.asked[0])["trip 2"]["legs"]
    ]
    assert (told.tokens_in, told.tokens_out, told.cost_usd) == (200, 40, pytest.approx(0.0006))
    assert told.seconds > 0
    assert (proposed.proposed_by, proposed.reasoning) == (f"{provider}:m", "trip 2 suits best")
    assert {each.reasoning for each in accepted.operations} == {"trip 2 suits best"}
    assert len(proposed.alternatives) >= 1
    assert judged.verdict["certificate"]["validator"] == "travel"
    assert_told(decisions)
    assert len([row for row in (await ledger()).reservations if row.state == "confirmed"]) == 5


def assert_told(decisions: Any) -> None:
    """S_O says who decided what, why, at what cost, and what else there was."""
    (proposed,) = [each for each in decisions if isinstance(each, Decision) and each.decision == "proposed"]
    assert "the model's reasoning: trip 2 suits best" in proposed.reasons
    assert proposed.decided_by.endswith(":m")
    assert proposed.alternatives
    (asked,) = [each for each in decisions if isinstance(each, Decision) and each.decision == "asked"]
    assert "200 tokens in, 40 out" in asked.reasons[1]


async def test_an_invalid_choice_is_journalled_and_objected_to_and_another_one_is_asked_for(
    open_worker: OpenWorker,
) -> None:
    with scripted(pick(1, without="hotel"), pick(1)) as (model, server):
        async with open_worker(model=model) as worker:
            view = await worker.graph.start("trip", REQUEST, approved_by="ann")
            assert view.status == "committed"
            judged = await of_kind(worker, e.PlanJudged)
            await assert_only_valid_plans_were_accepted(worker)
    assert [each.verdict["verdict"] for each in judged] == ["INVALID", "VALID"]
    objections = shown(server.asked[1])["what was wrong with your last choice"]
    assert objections == [each["message"] for each in judged[0].verdict["violations"]]
    assert "what was wrong with your last choice" not in shown(server.asked[0])


@pytest.mark.parametrize(
    "script",
    [
        [pick(1, without="hotel"), pick(2, without="hotel"), pick(1, without="train")],
        [Say({"offers": ["flight.to.the.moon"], "reasoning": "", "considered": []}), Refuse(), Text("Sure!")],
        [Text("Sure!"), pick(1, without="hotel"), pick(2, without="hotel")],
    ],
    ids=["always invalid", "invented, refused, prose", "prose, then invalid"],
)
async def test_a_model_that_never_converges_leaves_the_trip_to_the_solver(open_worker: OpenWorker, script: list[Step]) -> None:
    with scripted(*script, pick(1)) as (model, server):
        async with open_worker(model=model) as worker:
            view = await worker.graph.start("trip", REQUEST)
            assert (view.status, len(server.asked), server.left) == ("awaiting_approval", ROUNDS, 1)
            last = (await of_kind(worker, e.PlanProposed))[-1]
            assert f"openai:m proposed nothing that holds in {ROUNDS} rounds: planned without it" in last.reasons
            assert (await of_kind(worker, e.PlanJudged))[-1].verdict["verdict"] == "VALID"


@pytest.mark.parametrize("fault", [Status(429), Status(500), Hang(60), Refuse()], ids=["rate limit", "outage", "hang", "refusal"])
async def test_an_outage_of_the_model_in_the_middle_leaves_the_trip_to_the_solver(
    open_worker: OpenWorker, store_file: Path, fault: Step
) -> None:
    with scripted(pick(1, without="hotel"), fault, Status(500), time_limit_s=1.0) as (model, _server):
        async with open_worker(model=model) as worker:
            assert (await worker.graph.start("trip", REQUEST, approved_by="ann")).status == "committed"
            first, second = await of_kind(worker, e.PlanProposed)
            assert (first.proposed_by, second.proposed_by) == ("openai:m", "solver")
            assert second.reasons[-1].endswith(": planned without it")
            await assert_only_valid_plans_were_accepted(worker)
    for file in store_file.parent.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file


async def test_what_validators_objected_to_is_offered_to_the_proposals_of_later_sagas(open_worker: OpenWorker) -> None:
    with scripted(pick(1, without="hotel"), pick(1), pick(2)) as (model, server):
        async with open_worker(model=model) as worker:
            await worker.graph.start("earlier", REQUEST)
            await worker.graph.start("trip", REQUEST)
    assert "a plan was rejected: DATE_GAP (in 1 earlier run)" in shown(server.asked[2])["earlier objections"]
