"""PRD-102's points 6 and 15: admission before every call, accounts equal to the agents' own, no replan without a trigger."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sagagraph.context.metering import cost_of
from sagagraph.context.model import Answer, Prices, Question, Usage
from sagagraph.context.quoting import Quoted
from sagagraph.coordination.agents import Agent, Brief, Turn, agent, allowed_tools
from sagagraph.coordination.core.budget import Priced
from sagagraph.coordination.core.config import Config
from sagagraph.coordination.core.deciding import Bench
from sagagraph.coordination.core.facts import Fact, Kind
from sagagraph.coordination.core.matching import Profile, Tier
from sagagraph.coordination.core.mission import Mission, evolved
from sagagraph.coordination.core.plan import TaskSpec, plan_json, read_plan
from sagagraph.coordination.core.tick import tick
from tests.coordination.world import World, chain, plan, task

PRICES = Prices(0.0, 1000.0)
"""A thousandth of a dollar for a token out."""


class Spending:
    """A model that keeps its own ledger. `lengths`: how many tokens each answer takes, whatever was asked for."""

    name = "own:spending"

    def __init__(self, lengths: list[int]) -> None:
        self.lengths = lengths
        self.ledger: list[Decimal] = []
        self.tokens = 0
        self.under_way = 0
        self.most_under_way = Decimal(0)

    async def answer(self, question: Question) -> Answer:
        length = self.lengths.pop(0) if self.lengths else 10
        await asyncio.sleep(1 + length / 100)
        self.ledger.append(cost_of(PRICES, 7, length))
        self.tokens += 7 + length
        return Answer("ok", Usage(self.name, 7, length, 0.0))


def _asking(times: int) -> Any:
    async def asks(brief: Brief, turn: Turn) -> str:
        for _number in range(times):
            await turn.model.answer(Question("x", Quoted({}, "n"), {"title": "W"}, max_tokens=100))
        return "ok"

    return asks


def _team(lengths: list[int], times: int) -> tuple[Spending, list[Agent]]:
    model = Spending(lengths)
    priced = Priced(model, Tier.MID, PRICES)
    return model, [agent(name, _asking(times), skills=("writing",), model=priced, limit=3) for name in ("ann", "bob")]


@settings(max_examples=60, deadline=None)
@given(
    lengths=st.lists(st.integers(50, 150), min_size=20, max_size=24),
    cap=st.decimals("0.02", "0.9", places=3),
    times=st.integers(1, 4),
    slots=st.integers(1, 4),
)
def test_point_6_the_cap_is_never_exceeded_by_more_than_the_calls_in_flight(
    lengths: list[int], cap: Decimal, times: int, slots: int
) -> None:
    model, agents = _team(list(lengths), times)
    world = World(plan([task(n, cost="0") for n in range(1, 6)]), agents)
    done = world.begin(autonomy_mode="autonomous", max_cost_usd=str(cap), max_concurrent_tasks=slots, max_tokens=10**9)
    spent = sum(model.ledger, Decimal(0))
    assert done.spent == spent  # its account is the agents' own
    assert done.tokens == model.tokens
    assert not done.pending
    longest = cost_of(PRICES, 7, 150)
    assert spent <= cap + slots * longest
    over = [total for total in _running(model.ledger) if total > cap]
    assert len(over) <= slots
    world.close()


def _running(ledger: list[Decimal]) -> list[Decimal]:
    return [sum(ledger[: n + 1], Decimal(0)) for n in range(len(ledger))]


def test_no_call_goes_out_that_does_not_fit() -> None:
    model, agents = _team([], 1)
    world = World(chain(1, cost="0"), agents)
    stopped = world.begin(autonomy_mode="autonomous", max_cost_usd="0.069")  # 70 tokens are reckoned with
    assert (stopped.state, model.ledger) == ("budget_exceeded", [])
    assert world.say("budget", max_cost_usd="0.071").state == "completed"


@pytest.mark.quick
def test_point_15_a_thousand_ticks_and_no_replan() -> None:
    made = read_plan(chain(3))
    facts = [
        Fact(Kind.RUN_STARTED, 0.0, None, {"goal": "go", "config": {"max_seconds": 1e9}, "by": "Pat"}),
        Fact(Kind.PLANNING_STARTED, 0.0),
        Fact(Kind.PLAN_READY, 0.0, None, {"plan": plan_json(made), "state": "running"}),
    ]
    mission = evolved(Mission("m"), facts)
    bench = Bench((Profile("ann", ("writing",)),), can_replan=True)
    said = 0
    for number in range(1000):
        now = float(number)
        more = tick(mission, now, bench)
        said += len(more)
        assert tick(mission, now, bench) == more  # nothing but its arguments decides
        mission = evolved(mission, more)
        if number % 2:  # a healthy agent tells that it is at work
            busy = [each for each in mission.tasks.values() if each.state in ("assigned", "running")]
            for each in busy:
                kind = Kind.TASK_STARTED if each.state == "assigned" else Kind.TASK_PROGRESS
                mission = evolved(mission, [Fact(kind, now, each.spec.order)])
    assert (mission.plan_version, mission.replanned_for, mission.triggers) == (1, (), ())
    assert said == 2


@pytest.mark.quick
def test_tools_only_narrow_and_a_denial_wins() -> None:
    spec = TaskSpec(1, "t", tools=("search", "read"))
    has = frozenset({"search", "read", "write"})
    assert allowed_tools(Config(), spec, has) == {"search", "read"}
    assert allowed_tools(Config(allowed_tools=("read", "write")), spec, has) == {"read"}
    assert allowed_tools(Config(denied_tools=("read",)), spec, has) == {"search"}
    assert allowed_tools(Config(allowed_tools=("hammer",)), TaskSpec(1, "t"), has) == frozenset()


def test_an_agent_is_given_only_the_tools_that_it_may_use() -> None:
    def digs(brief: Brief, turn: Turn) -> str:
        assert turn.tools == {"search"}
        return "ok"

    world = World(chain(1, tools=["search"]), ())
    world.staff(world.agent("ann", digs, tools=["search", "write"]))
    assert world.begin(denied_tools=["write"]).state == "completed"
