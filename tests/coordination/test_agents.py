"""Agents of every kind: functions, actions, LangChain's tools and runnables, LangGraph's agents; contractors and judges."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph

from sagagraph import Call, action
from sagagraph.coordination.agents import Brief, Turn, agent, current_turn, reply_of, things_at
from sagagraph.coordination.core.budget import Priced
from sagagraph.coordination.core.matching import Tier
from sagagraph.coordination.core.plan import read_plan
from sagagraph.coordination.outcomes import Reply
from sagagraph.coordination.teams import scripted_team, team_from
from sagagraph.coordination.verification import CHECKS, Outcome, verified
from sagagraph.errors import InvalidInputError, NotAllowedError
from sagagraph.harness.designs import broken_rules
from sagagraph.settings import Settings
from sagagraph.workflow.policy import Policy, Retry
from tests.coordination.world import MUST, Script, World, chain, configured, fine, plan, scored, spends, states, task


@tool
def shout(text: str) -> str:
    """Say it loudly."""
    return text.upper()


def answering_graph() -> Any:
    def answer(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage(f"answered: {str(state['messages'][-1].content)[:12]}")]}

    graph = StateGraph(MessagesState)
    graph.add_node("answer", answer)
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    return graph.compile(name="answering")


@action
async def look(request: Any, call: Call) -> str:
    return f"looked at {request['place']}"


@pytest.mark.quick
def test_every_kind_of_agent_does_a_task() -> None:
    agents = [
        agent("function", fine),
        agent("action", look),
        agent("tool", shout, ask=lambda brief: {"text": brief.title}),
        agent("runnable", RunnableLambda(lambda prompt: f"{len(prompt)} characters", name="counts")),
        agent("graph", answering_graph()),
    ]
    tasks = [
        task(n, agent=each.id, request={"place": "Rome"} if each.id == "action" else None) for n, each in enumerate(agents, 1)
    ]
    world = World(plan(tasks), agents)
    done = world.begin()
    assert done.state == "completed", done.error
    outputs = [each.output for each in done.tasks.values()]
    assert outputs[:3] == ["T1 is done", "looked at Rome", "T3"]
    assert outputs[3].endswith("characters")
    assert outputs[4] == "answered: Goal: go\nYou"


def test_other_things_are_no_agents() -> None:
    with pytest.raises(InvalidInputError):
        agent("x", 7)
    with pytest.raises(InvalidInputError, match="cannot be loaded"):
        things_at("nowhere:TEAM")
    with pytest.raises(InvalidInputError, match="no Agent"):
        things_at("tests.coordination.world:MUST")
    with pytest.raises(NotAllowedError):
        current_turn()


@pytest.mark.quick
def test_a_contractor_does_what_nobody_can_and_hires_nobody() -> None:
    made: list[tuple[str, Tier]] = []

    def hires(name: str, tier: Tier) -> Any:
        made.append((name, tier))
        return agent(name, works)

    def works(brief: Brief, turn: Turn) -> str:
        assert turn.tools == {"telescope"}  # exactly what was asked for
        return "seen"

    world = World(plan([task(1, tools=["telescope"], type="coding")]), {"ann": fine}, hires=hires)
    done = world.begin()
    assert (done.state, done.tasks[1].agent_type, done.contractors) == ("completed", "contractor", 1)
    assert {each[1] for each in made} == {Tier.TOP}
    assert world.calls == []


def test_three_contractors_of_a_mission_at_once() -> None:
    import asyncio

    at_once = most = 0

    async def works(brief: Brief, turn: Turn) -> str:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(1)
        at_once -= 1
        return "done"

    tasks = [task(n, tools=["telescope"]) for n in range(1, 7)]
    world = World(plan(tasks), {"ann": fine}, hires=lambda name, tier: agent(name, works))
    assert world.begin(max_concurrent_tasks=6).state == "completed"
    assert most == 3


def test_nobody_judges_its_own_family() -> None:
    own, other = Script("own:model", {"Work": ["done"], "Scores": [scored(1)]}), Script("other:judge", {"Scores": [scored(5)]})
    agents = [agent("ann", spends, skills=("writing",), model=Priced(own))]
    world = World(plan([task(1, criteria=[MUST])]), agents)
    world.staff(*agents, judges=(Priced(own), Priced(other)))
    done = world.begin()
    assert (done.state, done.tasks[1].verified_by) == ("completed", "other:judge")
    assert [each.schema["title"] for each in own.asked] == ["Work"]


def test_a_judge_that_is_down_or_unsure_asks_a_person() -> None:
    for says in ([None], [scored(5, confidence=0.2)], [lambda question: {"nonce": "guessed", "scores": []}]):
        world = World(plan([task(1, criteria=[MUST])]), judge=says)
        asked = world.begin(autonomy_mode="autonomous")
        assert states(asked) == ["awaiting_human"]
        assert world.say("accept", task_id=1).state == "completed"


def test_a_person_has_it_tried_again_with_a_reason() -> None:
    world = World(plan([task(1, criteria=[MUST])]), judge=[scored(5, confidence=0.2), scored(5)])
    world.begin(autonomy_mode="autonomous")
    done = world.say("retry", task_id=1, reason="name the sources")
    assert done.state == "completed"
    assert "name the sources" in world.briefs[-1].prompt


@pytest.mark.quick
@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        ({"sections": ["A", "B"]}, "A and B", "A"),
        ({"keywords": ["sun"]}, "Sunny", "rain"),
        ({"words": {"min": 2, "max": 3}}, "a b", "a b c d"),
        ({"length": {"max": 3}}, "abc", "abcd"),
        ({"regex": "^x"}, "xy", "yx"),
        ({"urls": {"min": 1}}, "see https://example.org", "see it"),
        ({"schema": {"type": "object", "required": ["a"]}}, {"a": 1}, {"b": 1}),
        ({"equals": 3}, 3, 4),
        ({"harness": "ad_degradation_clear"}, {"vehicle_speed_kmph_t5": 90}, {"vehicle_speed_kmph_t5": 50}),
    ],
)
async def test_checks(check: dict[str, Any], good: Any, bad: Any) -> None:
    assert set(check) <= set(CHECKS)
    spec = read_plan(plan([task(1, criteria=[{**MUST, "check": check}])])).tasks[0]
    assert (await verified(spec, good, configured(), None)).outcome is Outcome.PASS
    failed = await verified(spec, bad, configured(), None)
    assert (failed.outcome, failed.score) == (Outcome.FAIL, 0.0)


async def test_the_mean_decides_between_pass_and_partial() -> None:
    criteria = [
        {"criterion": "a", "weight": 0.7, "check": {"keywords": ["a"]}},
        {"criterion": "b", "weight": 0.3, "check": {"keywords": ["b"]}},
    ]
    spec = read_plan(plan([task(1, criteria=criteria)])).tasks[0]
    assert (await verified(spec, "a", configured(), None)).outcome is Outcome.PASS
    assert (await verified(spec, "b", configured(), None)).outcome is Outcome.PARTIAL


def test_what_an_output_says() -> None:
    assert reply_of("x") == Reply("x")
    assert reply_of({"output": 1, "done": False, "found": "more"}) == Reply(1, False, "more")
    assert reply_of({"messages": [{"content": "hi"}]}) == Reply("hi")


def test_the_scripted_team_does_every_template() -> None:
    goals = {
        "research_and_report": "research heat pumps",
        "code_review": "review the pull request",
        "content_creation": "write a blog post on tea",
        "data_analysis": "analyse the csv of sales",
        "comparison": "compare two laptops",
        "post_mortem": "post-mortem of the outage",
    }
    team = scripted_team()
    for name, goal in goals.items():
        world = World(chain(1))
        world.staff(*team.agents, judges=team.judges, models=team.models, hires=team.hires, templates=None)
        done = world.begin(goal)
        assert (done.state, done.plan.template) == ("completed", name), done.error
        assert done.spent > 0


def test_a_design_must_pass_its_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    async def at_once(work: Any, *told: Any) -> Any:
        """A virtual clock does not wait for threads."""
        return work(*told)

    monkeypatch.setattr("asyncio.to_thread", at_once)
    world = World(chain(1))
    team = team_from((), Settings(), world.engine)
    world.staff(*team.agents, judges=team.judges, models=team.models, hires=team.hires, templates=None)
    done = world.begin("a design for driving on within its rules")
    assert (done.state, done.plan.template, done.tasks[1].attempt) == ("completed", "design_within_rules", 2), done.error
    assert "is broken, by" in str(done.tasks[1].feedback)
    assert not list(broken_rules(done.tasks[1].output, "ad_degradation_clear"))
    assert list(broken_rules({"vehicle_speed_kmph_t5": 50}, "ad_degradation_clear"))
    with pytest.raises(InvalidInputError):
        list(broken_rules({}, "../secrets"))


@pytest.mark.parametrize("mode", ["autonomous", "full_auto"])
def test_what_may_have_had_an_effect_is_not_done_again_before_a_person_has_looked(mode: str) -> None:
    landed: list[str] = []

    async def undo(request: Any, result: Any, call: Call) -> None:
        landed.append("undo")

    @action(name="pay blindly", compensate=undo, provider="here", policy=Policy(retry=Retry(1)))
    async def pay(request: Any, call: Call) -> str:
        landed.append("pay")
        raise TimeoutError("no answer")

    world = World(chain(1, agent="ann"), [agent("ann", pay)])
    asked = world.begin(autonomy_mode=mode)
    assert ("sagagraph resolve" in asked.tasks[1].error, landed) == (True, ["pay"])
    if mode == "full_auto":
        assert (asked.state, world.run(world.engine.status("m")).status) == ("failed", "stuck")
        return
    again = world.say("retry", task_id=1)
    assert (states(again), landed) == (["awaiting_human"], ["pay"])
    world.run(world.engine.resolve("m", "task-1/1", "failed"))
    world.run(world.coordinator.wish("m", "retry", {"task_id": 1}, by="Pat"))
    assert (states(world.run(world.coordinator.drive("m"))), landed) == (["awaiting_human"], ["pay", "pay"])
