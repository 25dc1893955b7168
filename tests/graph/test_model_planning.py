"""Trips that agents plan with a model, by the real clients over HTTP: nothing counts before it is judged, and nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from sagagraph.context.model import Model, Prices
from sagagraph.planning.agents.speaking import LESSONS, OBJECTIONS, ROUNDS
from sagagraph.planning.models.llm import init_model
from sagagraph.saga.core import events as e
from sagagraph.saga.stores.projections.decisions import Decision
from tests.graph.conftest import OpenWorker, Worker
from tests.support.agents import Options, candidates, first, picking, ranked, role_of, shown_to
from tests.support.models import Asked, Hang, ModelServer, Refuse, Say, Status, Text
from tests.support.models.script import Move, Step
from tests.support.trips import REQUEST

pytestmark = pytest.mark.skipif(find_spec("langchain_openai") is None, reason="the optional extra 'llm' is not installed")

KEY = "sk-canary-1b7e4c02"
ROLES = ["itinerary", "flight", "hotel", "train", "budget"]


@contextmanager
def scripted(*script: Step, provider: str = "openai", time_limit_s: float = 20.0) -> Iterator[tuple[Model, ModelServer]]:
    import_module(f"langchain_{provider}")  # it takes seconds, which are not those of an answer
    with ModelServer(script, keys=[KEY]) as server:
        model = init_model(
            f"{provider}:m", environment=server.environment(KEY), time_limit_s=time_limit_s, prices=Prices(1.0, 10.0)
        )
        yield model, server


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


def preferred_last(role: str, part: str, options: Options) -> list[str]:
    return (first if role == "budget" else ranked)(role, part, options)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_what_agents_proposed_with_a_model_is_put_together_judged_and_booked(
    open_worker: OpenWorker, ledger: Callable[[], Any], provider: str
) -> None:
    with scripted(*[picking(preferred_last)] * 9, provider=provider) as (model, server):
        async with open_worker(model=model) as worker:
            view = await worker.graph.start("trip", REQUEST, approved_by="ann")
            assert view.status == "committed"
            (proposed,) = await of_kind(worker, e.PlanProposed)
            told = await of_kind(worker, e.ModelAsked)
            (accepted,) = await of_kind(worker, e.PlanAccepted)
            decisions = (await worker.engine.project("trip")).decisions
    assert sorted(map(role_of, server.asked)) == sorted(each.role for each in told) == sorted(ROLES)
    assert {each.outcome for each in told} == {"proposed"}
    assert (told[0].tokens_in, told[0].tokens_out, told[0].cost_usd) == (200, 40, pytest.approx(0.0006))
    assert proposed.proposed_by == f"{provider}:m"
    said = {each["agent"]: each for each in proposed.agents}
    legs = {leg["label"]: leg["offer"]["offer_id"] for leg in proposed.plan["legs"]}
    for agent, label in (("flight", "T1"), ("hotel", "T2"), ("train", "T3"), ("hotel", "T4"), ("flight", "T5")):
        assert legs[label] == said[agent]["candidates"][label][0]["choose"] == said[agent]["inputs"][label][-1]["id"]
    booked = {each.id: each for each in accepted.operations if each.id in legs}
    assert all(each.justification == "it suits best" and each.confidence == 0.8 and each.alternatives for each in booked.values())
    assert {each.reasoning for each in booked.values()} == {
        f"the {kind} agent ({provider}:m) chose it: it suits best" for kind in ("flight", "hotel", "train")
    }
    (proposing,) = [each for each in decisions if isinstance(each, Decision) and each.decision == "proposed"]
    assert [each["agent"] for each in proposing.detail["agents"]] == ROLES
    assert proposing.alternatives
    assert len([row for row in (await ledger()).reservations if row.state == "confirmed"]) == 5


async def test_each_agent_is_shown_its_slice_and_the_results_that_it_depends_on_and_nothing_else(open_worker: OpenWorker) -> None:
    with scripted(*[picking(ranked)] * 9) as (model, server):
        async with open_worker(model=model) as worker:
            await worker.graph.start("trip", REQUEST)
            (proposed,) = await of_kind(worker, e.PlanProposed)
    shown = {role_of(each): shown_to(each) for each in server.asked}
    tokens = {role: -(-len(json.dumps(each, separators=(",", ":"))) // 4) for role, each in shown.items()}
    assert max(tokens.values()) <= 1000, tokens
    assert max(each["slice_tokens"] for each in proposed.agents) <= 1000
    assert {role: {name for name in each if name.startswith("output of")} for role, each in shown.items()} == {
        "itinerary": set(),
        "flight": {"output of itinerary"},
        "hotel": {"output of itinerary"},
        "train": {"output of flight", "output of itinerary"},
        "budget": {"output of flight", "output of hotel", "output of train", "output of itinerary"},
    }
    wishes = {role: each.keys() & {"budget", "stars", "direct"} for role, each in shown.items()}
    assert wishes == {"itinerary": {"direct"}, "flight": {"direct"}, "hotel": {"stars"}, "train": set(), "budget": {"budget"}}


def too_dear(role: str, _part: str, options: Options) -> list[str]:
    """The dearest of everything: more than the budget."""
    return [max(options, key=lambda each: float(each.get("price") or each["total"]))["id"]]


TIGHT = {**REQUEST, "budget": 2000}


async def test_a_plan_that_breaks_a_rule_is_journalled_named_and_another_is_asked_for(open_worker: OpenWorker) -> None:
    def answer(asked: Asked) -> Move:
        wrong = "condition" in shown_to(asked)
        return picking(first if wrong else too_dear)(asked)

    with scripted(*[answer] * 20) as (model, server):
        async with open_worker(model=model) as worker:
            assert (await worker.graph.start("trip", TIGHT, approved_by="ann")).status == "committed"
            judged = await of_kind(worker, e.PlanJudged)
            await assert_only_valid_plans_were_accepted(worker)
    assert [each.verdict["verdict"] for each in judged] == ["INVALID", "VALID"]
    named = {each["validator"] for each in judged[0].verdict["certificates"] if each.get("found")}
    assert named == {"money"}
    objections = [shown_to(each)["condition"] for each in server.asked if "condition" in shown_to(each)]
    assert all(each == [judged[0].verdict["violations"][0]["message"]] for each in objections)
    assert objections


@pytest.mark.parametrize(
    "answer",
    [
        picking(too_dear),
        Say(candidates({"T1": ["flight.to.the.moon"], "T5": ["flight.to.the.moon"]})),
        Refuse(),
        Text("Sure!"),
        picking(first, "it costs $17.31 and leaves at 03:33"),
    ],
    ids=["always too dear", "invented", "refused", "prose", "claims"],
)
async def test_a_model_that_never_converges_leaves_the_trip_to_the_search(open_worker: OpenWorker, answer: Step) -> None:
    with scripted(*[answer] * 40) as (model, server):
        async with open_worker(model=model) as worker:
            assert (await worker.graph.start("trip", TIGHT)).status == "awaiting_approval"
            last = (await of_kind(worker, e.PlanProposed))[-1]
            assert (await of_kind(worker, e.PlanJudged))[-1].verdict["verdict"] == "VALID"
    asked = [role_of(each) for each in server.asked]
    nothing = f"openai:m proposed nothing valid in {ROUNDS} rounds: planned without it"
    again = "openai:m proposed again what was found INVALID: planned without it"
    assert (max(map(asked.count, ROLES)), last.reasons[-1]) in ((ROUNDS, nothing), (2, again))


@pytest.mark.parametrize("fault", [Status(429), Status(500), Hang(60), Refuse()], ids=["rate limit", "outage", "hang", "refusal"])
async def test_an_outage_of_the_model_in_the_middle_leaves_the_trip_to_the_search(
    open_worker: OpenWorker, store_file: Path, fault: Step
) -> None:
    with scripted(picking(too_dear), *[fault] * 30, time_limit_s=1.0) as (model, _server):
        async with open_worker(model=model) as worker:
            assert (await worker.graph.start("trip", TIGHT, approved_by="ann")).status == "committed"
            last = (await of_kind(worker, e.PlanProposed))[-1]
            assert last.reasons[-1].endswith(": planned without it")
            await assert_only_valid_plans_were_accepted(worker)
    for file in store_file.parent.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file


async def test_what_validators_objected_to_is_offered_to_the_agents_of_later_sagas(open_worker: OpenWorker) -> None:
    with scripted(*[picking(too_dear)] * 60) as (model, server):
        async with open_worker(model=model) as worker:
            await worker.graph.start("earlier", TIGHT)
            before = len(server.asked)
            await worker.graph.start("trip", TIGHT)
    assert OBJECTIONS not in shown_to(server.asked[before])
    assert any("a plan was rejected: BUDGET" in each for each in shown_to(server.asked[before])[LESSONS])


async def test_the_tables_of_a_trip_say_of_every_operation_who_chose_it_why_how_surely_and_instead_of_what(
    open_worker: OpenWorker,
) -> None:
    async with open_worker() as worker:
        assert (await worker.graph.start("trip", REQUEST, approved_by="ann")).status == "committed"
        tables = await worker.engine.project("trip")
        (proposed,) = await of_kind(worker, e.PlanProposed)
    assert [(each["agent"], each.get("by", "search")) for each in proposed.agents] == [(role, "search") for role in ROLES]
    for each in tables.operation_state:
        assert each.reasoning.startswith(("the flight agent", "the hotel agent", "the train agent", "the budget agent"))
        assert each.alternatives
        assert all(other["title"] and other["note"] for other in each.alternatives)
        assert each.confidence is not None
        assert 0 < each.confidence <= 1
    judged = {each.subject for each in tables.constraint_evaluations if each.holds}
    assert {each.operation for each in tables.operation_state} - judged == {"check"}  # nothing comes before it
    assert tables.application_state
    assert all(each.condition for each in tables.dependency_state if each.kind == "causal")
