"""Agents elsewhere, over A2A: found again by their keys, undone, paid for, and told no secret but their own."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from sagagraph.coordination.agents import agent
from sagagraph.coordination.coordinator import Coordinator, Team
from sagagraph.coordination.core.mission import Mission
from sagagraph.coordination.templates import Template
from sagagraph.factory.remote import RemoteAgent
from sagagraph.saga.engine.actions import Guarantees
from sagagraph.saga.engine.engine import Engine
from tests.coordination.remote import Elsewhere, serving
from tests.coordination.world import configured, plan, task

SECRET = "s3cret"


async def ran(
    url: str, tasks: dict[str, Any], *, token: str = SECRET, price: str = "0", config: dict[str, Any] | None = None, **about: Any
) -> Any:
    """Run a mission whose agent is at that address, and return it with what its journal holds."""
    far = agent("far", RemoteAgent(url, {"Authorization": f"Bearer {token}"}, **about), price=price)
    team = Team((far,), templates=(Template("go", "go", tasks, (("go",),)),))
    async with Engine.open("memory:") as engine:
        missions = Coordinator(engine, team)
        mission = await missions.begin("go", configured(backoff_s=0.01, **(config or {})), mission_id="m")
        return mission, str(await engine.journal("m"))


def asked(agent: Elsewhere) -> list[str]:
    return [text for _key, text in agent.asked]


async def test_it_does_a_task_is_paid_for_and_its_secret_is_written_nowhere() -> None:
    with serving(far := Elsewhere()) as url:
        mission, journal = await ran(url, plan([task(1, agent="far", request="look it up")]), price="0.25")
        assert (mission.state, mission.tasks[1].output) == ("completed", "done: look it up"), mission.error
        assert (asked(far), mission.calls, mission.spent) == (["look it up"], 1, Decimal("0.25"))
        assert SECRET not in journal
        assert "task_progress" in journal  # its events count as signs of life
        poor, _journal = await ran(url, plan([task(1, agent="far", cost="0")]), price="0.25", config={"max_cost_usd": "0.2"})
        assert (poor.state, "budget" in poor.error, len(far.asked)) == ("failed", True, 1)  # nothing went out


async def test_work_whose_answer_is_lost_is_found_by_its_key_and_undone_once() -> None:
    booking = plan([task(1, agent="far", request="book a table"), task(2, agent="far", request="fail")], [(2, 1)])
    about: dict[str, Any] = {"undo": "take that back", "guarantees": Guarantees(settles=timedelta(0))}
    with serving(far := Elsewhere(loses=1)) as url:
        done, _journal = await ran(url, booking, **about)
        assert (done.state, asked(far)) == ("completed", ["book a table", "fail"])
    with serving(far := Elsewhere(does=["", "reject", "", ""])) as url:
        failed, _journal = await ran(url, booking, config={"max_attempts": 1}, **about)
        assert failed.state == "failed"
        assert "rejected" in failed.error
        assert asked(far) == ["book a table", "fail", "take that back"]
        assert len({key for key, _text in far.asked}) == 3


@pytest.mark.parametrize(
    ("far", "token", "why"),
    [(Elsewhere(), "wrong", "does not show its card: 401"), (Elsewhere(lies=True), SECRET, "lies elsewhere")],
)
async def test_nobody_else_hears_the_secret_and_a_refused_one_is_not_tried_again(far: Elsewhere, token: str, why: str) -> None:
    with serving(far) as url:
        mission: Mission
        mission, journal = await ran(url, plan([task(1, agent="far")]), token=token)
        assert (mission.state, why in mission.error, far.asked) == ("failed", True, []), mission.error
        assert journal.count("'task_started'") == 1


async def test_what_fails_elsewhere_is_tried_again_under_another_key() -> None:
    with serving(far := Elsewhere(does=["failed"])) as url:
        mission, _journal = await ran(url, plan([task(1, agent="far", request="again")]))
        assert (mission.state, mission.tasks[1].attempt, asked(far)) == ("completed", 2, ["again"] * 2), mission.error
        assert len({key for key, _text in far.asked}) == 2
