"""PRD-102's acceptance points 1 to 8, 15 and 16, by their numbers (section 14 of the requirements)."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from sagagraph import Call, action
from sagagraph.coordination.agents import Brief, Turn, agent
from sagagraph.coordination.coordinator import Coordinator
from sagagraph.coordination.core.budget import Priced
from sagagraph.coordination.core.deciding import Bench
from sagagraph.coordination.core.facts import Fact, Kind
from sagagraph.coordination.core.matching import Profile, Tier
from sagagraph.coordination.core.mission import Mission, evolved
from sagagraph.coordination.core.people import rework_of
from sagagraph.coordination.core.plan import plan_json, read_plan
from sagagraph.coordination.core.tick import tick
from sagagraph.coordination.outcomes import Reply
from sagagraph.errors import ConflictError, NotAllowedError, Refused
from sagagraph.saga.engine.engine import Engine
from tests.coordination.world import DIAMOND, MUST, Script, World, chain, fine, plan, scored, spender, spends, states, task

ONE_TASK = [
    *("task_queued", "task_assigned", "task_started", "task_output_submitted"),
    *("verification_started", "verification_completed", "task_completed"),
]


@pytest.mark.quick
def test_point_1_three_tasks_one_after_the_other() -> None:
    world = World(chain(3))
    begun = world.begin(autonomy_mode="approve")
    assert (begun.state, begun.plan_version, states(begun)) == ("awaiting_approval", 1, ["pending"] * 3)
    assert world.calls == []
    done = world.say("approve", plan=begun.plan.hash)
    assert (done.state, states(done)) == ("awaiting_review", ["completed"] * 3)
    for order in (1, 2, 3):
        assert world.kinds(order) == ONE_TASK
    assert world.kinds() == ["run_started", "planning_started", "plan_ready", "human_approved", "review_requested"]
    at = {each["at"] for each in world.events() if each["type"] == "task_assigned"}
    assert len([each for each in world.events() if each["type"] == "task_assigned"]) == 3
    assert at
    assert world.say("review", decision="accept").state == "completed"
    assert world.run(world.engine.status("m")).status == "committed"
    assert world.run(world.coordinator.save_routine("m")).name == "Routine: go"


def test_point_1_approval_is_bound_to_the_plan() -> None:
    world = World(chain(1))
    world.begin(autonomy_mode="approve")
    with pytest.raises(ConflictError, match="look at it again"):
        world.say("approve", plan="another")
    assert world.say("reject", reason="no").state == "failed"
    assert world.calls == []


@pytest.mark.quick
@pytest.mark.parametrize(("slots", "together"), [(2, True), (1, False)])
def test_point_2_a_diamond(slots: int, together: bool) -> None:
    running, most, order = 0, 0, []

    async def slow(brief: Brief, turn: Turn) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        order.append(brief.title)
        await asyncio.sleep(5)
        running -= 1
        return brief.title

    world = World(DIAMOND, {"ann": slow})
    assert world.begin(max_concurrent_tasks=slots).state == "completed"
    assert most == (2 if together else 1)
    assert order == ["T1", "T2", "T3", "T4"]
    last = next(each for each in world.briefs if each.title == "T4")
    assert last.inputs == {"task-2": "T2", "task-3": "T3"}


@pytest.mark.quick
def test_point_3_rejected_output_is_done_again_with_the_reasons() -> None:
    judge = [scored(2, "missing 3 of 5 sections"), scored(4, "fine")]
    world = World(plan([task(1, criteria=[MUST])]), judge=judge)
    done = world.begin()
    assert done.state == "completed"
    retried = next(each for each in world.events() if each["type"] == "task_retrying")
    again = [each for each in world.events() if each["type"] == "task_assigned"][1]
    assert again["at"] - retried["at"] == pytest.approx(10.0, abs=0.01)
    assert [each.attempt for each in world.briefs] == [1, 2]
    assert "missing 3 of 5 sections" in world.briefs[1].prompt
    assert "attempt 2 of 3" in world.briefs[1].prompt
    assert "missing" not in world.briefs[0].prompt
    assert done.tasks[1].score == 0.75


def test_point_3_feedback_of_one_task_reaches_no_other() -> None:
    judge = [scored(1, "SECRET REASON"), scored(5), scored(5)]
    world = World(chain(2, criteria=[MUST]), judge=judge)
    world.begin()
    assert all("SECRET" not in each.prompt for each in world.briefs if each.title == "T2")


@pytest.mark.quick
def test_point_4_a_person_sends_the_last_task_back() -> None:
    world = World(chain(3))
    world.begin(autonomy_mode="approve")
    world.say("approve")
    assert rework_of(world.run(world.coordinator.status("m")), [3]) == (3,)
    again = world.say("review", decision="reject", tasks=[{"task_id": 3, "reason": "too surface level"}])
    assert (again.state, states(again)) == ("awaiting_review", ["completed"] * 3)
    assert [each[1] for each in world.calls] == ["T1", "T2", "T3", "T3"]
    assert "too surface level" in world.briefs[-1].prompt
    assert again.tasks[3].generation == 2
    assert world.say("review", decision="accept").state == "completed"


def test_point_4_what_was_built_upon_it_is_done_again() -> None:
    world = World(chain(3))
    world.begin(autonomy_mode="approve")
    world.say("approve")
    assert rework_of(world.run(world.coordinator.status("m")), [1]) == (1, 2, 3)
    world.say("review", decision="reject", tasks=[{"task_id": 1, "reason": "wrong"}])
    assert [each[1] for each in world.calls] == ["T1", "T2", "T3"] * 2
    assert world.say("review", decision="reject_all").state == "failed"


NEW = {"tasks": [task(3)], "edges": [{"from": 3, "to": 1}], "removed": []}


def test_point_5_trigger_task_failed() -> None:
    def broken(brief: Brief, turn: Turn) -> str:
        if brief.title == "T2":
            raise RuntimeError("it crashed")
        return "ok"

    instead = {"tasks": [task(3)], "edges": [{"from": 3, "to": 1}], "removed": [2]}
    world = World(chain(2), {"ann": broken}, planner=[instead])
    done = world.begin()
    assert (done.state, done.plan_version) == ("completed", 2)
    assert states(done) == ["completed", "cancelled", "completed"]
    assert [each["data"]["level"] for each in world.events() if each["type"] == "task_escalated"] == [3]


def test_point_5_trigger_instructions() -> None:
    async def slow(brief: Brief, turn: Turn) -> str:
        await asyncio.sleep(2)
        return "ok"

    world = World(chain(2), {"ann": slow}, planner=[NEW])

    async def both() -> Any:
        going = asyncio.ensure_future(world.coordinator.begin("go", _auto(), mission_id="m"))
        await asyncio.sleep(1)
        await world.coordinator.say("m", "tell", {"text": "in French too"})
        return await going

    done = world.run(both())
    assert (done.state, done.plan_version, states(done)) == ("completed", 2, ["completed"] * 3)
    assert "in French too" in world.briefs[-1].prompt
    assert any("in French too" in each.data.text for each in world.planner.asked)


def test_point_5_trigger_found() -> None:
    def finds(brief: Brief, turn: Turn) -> Reply:
        return Reply("ok", found="there is an annex" if brief.title == "T1" else "")

    world = World(chain(2), {"ann": finds}, planner=[NEW])
    done = world.begin()
    assert (done.state, done.plan_version, len(done.tasks)) == ("completed", 2, 3)


def test_point_5_trigger_task_wrong() -> None:
    redesigned = {"tasks": [task(1, title="T1 anew", criteria=[MUST])], "edges": [], "removed": []}
    judge = [scored(1, "no", wrong="it cannot be met"), scored(5)]
    world = World(plan([task(1, criteria=[MUST])]), judge=judge, planner=[redesigned])
    done = world.begin()
    assert (done.state, done.plan_version, done.tasks[1].spec.title) == ("completed", 2, "T1 anew")


def test_point_5_trigger_budget() -> None:
    model = spender(dollars=0.45)
    agents = [agent("ann", spends, skills=("writing",), model=model)]
    tasks = plan([task(1), task(2), task(3, optional=True)], [(2, 1), (3, 2)])
    world = World(tasks, agents)
    done = world.begin(max_cost_usd="1", replan_at=0.4)
    assert (done.state, done.plan_version, states(done)) == ("completed", 2, ["completed", "completed", "cancelled"])


@pytest.mark.quick
@pytest.mark.parametrize("trespass", [{"tasks": [task(1)]}, {"tasks": [], "removed": [1]}, {"tasks": [task(9)]}])
def test_point_5_what_is_done_is_immutable(trespass: dict[str, Any]) -> None:
    def finds(brief: Brief, turn: Turn) -> Reply:
        return Reply("ok", found="more" if brief.title == "T1" else "")

    world = World(chain(2), {"ann": finds}, planner=[trespass])
    done = world.begin()
    assert (done.state, done.plan_version, states(done)) == ("completed", 1, ["completed"] * 2)
    assert len(world.planner.asked) == 3
    refused = next(each for each in world.events() if each["type"] == "revision_refused")
    assert "immutable" in str(refused) or "numbers from 3 on" in str(refused)


def _auto(**config: Any) -> Any:
    from tests.coordination.world import configured

    return configured(**config)


def _team_that_spends(dollars: float = 0.30, **models: Any) -> World:
    model = spender(dollars=dollars)
    return World(chain(4), [agent("ann", spends, skills=("writing",), model=model)], **models)


@pytest.mark.quick
def test_point_6_the_budget_ends_and_is_raised() -> None:
    world = _team_that_spends()
    stopped = world.begin(autonomy_mode="autonomous", max_cost_usd="1")
    assert stopped.state == "budget_exceeded"
    assert stopped.spent == Decimal("0.90")
    assert [each["data"]["share"] for each in world.events() if each["type"] == "budget_warning"] == [0.5, 0.8]
    with pytest.raises(NotAllowedError):
        world.say("approve")
    done = world.say("budget", max_cost_usd="2")
    assert (done.state, done.spent) == ("completed", Decimal("1.20"))
    assert done.tasks[4].used == 0  # what ran into the budget counts as no attempt


def test_point_6_cheaper_models_go_on() -> None:
    cheap = Priced(Script("own:cheap", {"Work": ["done"]}), Tier.CHEAP, spender(dollars=0.05).prices, "own")
    world = _team_that_spends(models={Tier.CHEAP: cheap})
    world.begin(autonomy_mode="autonomous", max_cost_usd="1")
    done = world.say("budget", downgrade=True)
    assert (done.state, done.spent) == ("completed", Decimal("0.95"))


def test_point_6_by_itself_where_that_is_allowed_or_not_at_all() -> None:
    cheap = Priced(Script("own:cheap", {"Work": ["done"]}), Tier.CHEAP, spender(dollars=0.05).prices, "own")
    assert _team_that_spends(models={Tier.CHEAP: cheap}).begin(max_cost_usd="1", may_downgrade=True).state == "completed"
    world = _team_that_spends()
    failed = world.begin(max_cost_usd="1")
    assert failed.state == "failed"
    assert "budget" in failed.error


def test_point_6_finish_what_runs() -> None:
    world = _team_that_spends()
    world.begin(autonomy_mode="autonomous", max_cost_usd="1")
    done = world.say("budget", complete_current=True)
    assert (done.state, states(done)) == ("completed", ["completed"] * 3 + ["cancelled"])


def _levels(world: World) -> list[int]:
    return [each["data"]["level"] for each in world.events() if each["type"] == "task_escalated"]


def _crashes(brief: Brief, turn: Turn) -> str:
    raise RuntimeError("it crashed")


@pytest.mark.quick
def test_point_7_an_agent_that_always_crashes() -> None:
    world = World(chain(1), {"ann": _crashes, "bob": _crashes})
    asked = world.begin(autonomy_mode="autonomous")
    assert _levels(world) == [1, 4]
    assert (asked.state, states(asked)) == ("running", ["awaiting_human"])
    assert [(name, attempt) for name, _title, attempt in world.calls] == [("ann", 1), ("ann", 2), ("ann", 3), ("bob", 4)]
    waits = [each["data"]["not_before"] - each["at"] for each in world.events() if each["type"] == "task_retrying"]
    assert waits == [10.0, 20.0, 0.0]
    assert world.say("skip", task_id=1).state == "failed"


def test_point_7_without_a_person_the_mission_fails() -> None:
    world = World(chain(2), {"ann": _crashes, "bob": _crashes})
    failed = world.begin()
    assert _levels(world) == [1, 5]
    assert (failed.state, states(failed)) == ("failed", ["failed", "cancelled"])
    assert world.run(world.engine.status("m")).status == "compensated"


def test_point_7_rubbish_climbs_to_a_higher_tier() -> None:
    own = Script("own:worker", {"Work": ["rubbish"]})
    models = {each: Priced(own, each, family="own") for each in Tier}
    agents = [agent("ann", spends, skills=("writing",), model=models[Tier.MID])]
    world = World(plan([task(1, criteria=[MUST])]), agents, judge=[scored(1, "rubbish")], models=models)
    asked = world.begin(autonomy_mode="autonomous")
    assert _levels(world) == [2, 4]
    assert states(asked) == ["awaiting_human"]
    accepted = world.say("accept", task_id=1)
    assert accepted.state == "completed"


def test_point_7_a_tool_that_is_gone_is_not_tried_again() -> None:
    world = World(plan([task(1, tools=["telescope"])]), ())
    world.staff(world.agent("ann", fine, tools=["telescope"]))
    world.begin(autonomy_mode="approve")
    world.staff(world.agent("ann", fine))
    asked = world.say("approve")
    assert _levels(world) == [4]
    assert world.calls == []
    assert "telescope" in asked.tasks[1].error


def test_point_7_a_refused_key_is_not_tried_again() -> None:
    def locked(brief: Brief, turn: Turn) -> str:
        raise Refused("the key was refused", code="auth")

    world = World(chain(1), {"ann": locked})
    world.begin(autonomy_mode="autonomous")
    assert _levels(world) == [4]
    assert len(world.calls) == 1


@pytest.mark.quick
def test_point_8_a_silent_agent_is_stalled_and_one_that_tells_is_not() -> None:
    async def silent(brief: Brief, turn: Turn) -> str:
        if brief.attempt == 1:
            await asyncio.sleep(5000)
        return "ok"

    async def telling(brief: Brief, turn: Turn) -> str:
        for _each in range(20):
            await asyncio.sleep(100)
            await turn.progress("still at it")
        return "ok"

    world = World(chain(1), {"ann": silent})
    assert world.begin().state == "completed"
    started, stalled = (next(e["at"] for e in world.events() if e["type"] == each) for each in ("task_started", "task_stalled"))
    assert 300 < stalled - started <= 300 + 2 * 5
    world = World(chain(1), {"ann": telling})
    assert world.begin().state == "completed"
    assert "task_stalled" not in world.kinds(1)
    assert len(world.calls) == 1


STALLED = {
    "assigned": (30, ["task_queued"], "queued"),
    "running": (300, ["task_retrying"], "awaiting_retry"),
    "continuing": (10, ["task_resumed"], "running"),
    "verifying": (180, ["human_review_requested"], "awaiting_human"),
}


@pytest.mark.quick
@pytest.mark.parametrize("state", STALLED)
def test_point_8_a_stall_in_each_state_is_found_within_two_ticks(state: str) -> None:
    limit, then, ends = STALLED[state]
    ways = {
        "assigned": [Fact(Kind.TASK_QUEUED, 0.0, 1), Fact(Kind.TASK_ASSIGNED, 0.0, 1, {"agent": "ann"})],
        "running": [Fact(Kind.TASK_STARTED, 0.0, 1)],
        "continuing": [Fact(Kind.TASK_CONTINUING, 0.0, 1, {"not_before": 0.0})],
        "verifying": [Fact(Kind.TASK_SUBMITTED, 0.0, 1, {"output": "x"})],
    }
    made = read_plan(chain(1))
    begun = {"goal": "go", "config": {"autonomy_mode": "autonomous"}, "by": "Pat"}
    facts = [Fact(Kind.RUN_STARTED, 0.0, None, begun), Fact(Kind.PLANNING_STARTED, 0.0)]
    facts += [Fact(Kind.PLAN_READY, 0.0, None, {"plan": plan_json(made), "state": "running"}), *ways["assigned"]]
    facts += ways["running"] if state != "assigned" else []
    facts += ways[state] if state in ("continuing", "verifying") else []
    before = evolved(Mission("m"), facts)
    assert before.tasks[1].state == state
    bench = Bench((Profile("ann", ("writing",)),))
    early = [each.type for each in tick(before, limit - 0.5, bench)]
    assert "task_stalled" not in early
    late = tick(before, limit + 2 * 5.0, bench)
    told = [each.type.value for each in late]
    if state == "continuing":  # it is dispatched again, as any that is due
        assert told[0] == "task_resumed"
    else:
        assert told[:2] == ["task_stalled", *then]
    assert evolved(before, late).tasks[1].state == ends


def test_point_8_whoever_stalled_is_not_asked_first_again() -> None:
    made = read_plan(chain(1))
    begun = {"goal": "go", "config": {}, "by": "Pat"}
    facts = [Fact(Kind.RUN_STARTED, 0.0, None, begun), Fact(Kind.PLANNING_STARTED, 0.0)]
    facts += [Fact(Kind.PLAN_READY, 0.0, None, {"plan": plan_json(made), "state": "running"})]
    facts += [Fact(Kind.TASK_QUEUED, 0.0, 1), Fact(Kind.TASK_ASSIGNED, 0.0, 1, {"agent": "ann"})]
    bench = Bench((Profile("ann", ("writing",)), Profile("bob", ("writing",))))
    mission = evolved(Mission("m"), facts)
    mission = evolved(mission, tick(mission, 31.0, bench))
    mission = evolved(mission, tick(mission, 36.0, bench))
    assert (mission.tasks[1].state, mission.tasks[1].agent) == ("assigned", "bob")


def test_continuation_is_no_retry() -> None:
    def in_turns(brief: Brief, turn: Turn) -> Reply:
        assert brief.so_far == (None if brief.turn == 1 else brief.turn - 1)
        return Reply(brief.turn, done=brief.turn == 3)

    world = World(chain(1, criteria=[{**MUST, "check": {"equals": 3}}]), {"ann": in_turns})
    done = world.begin()
    assert (done.state, done.tasks[1].attempt, done.tasks[1].turn) == ("completed", 1, 3)
    told = world.events()
    begun, resumed = (next(e["at"] for e in told if e["type"] == each) for each in ("task_continuing", "task_resumed"))
    assert resumed - begun == pytest.approx(1.0, abs=0.01)


def test_an_agent_that_never_ends_uses_its_turns_up() -> None:
    world = World(chain(1), {"ann": lambda brief, turn: Reply("more", done=False)})
    assert world.begin().state == "failed"
    assert len(world.calls) == 3 * 10


@pytest.mark.quick
@pytest.mark.parametrize("mode", ["approve", "autonomous", "full_auto"])
@pytest.mark.parametrize("threshold", ["0.10", "2"])
def test_point_15_autonomy(mode: str, threshold: str) -> None:
    world = World(chain(1))
    begun = world.begin(autonomy_mode=mode, auto_approve_threshold=threshold)
    asks = mode == "approve" or (mode == "autonomous" and threshold == "0.10")
    assert begun.state == ("awaiting_approval" if asks else "completed")


def test_point_16_a_failed_mission_is_undone_dependents_first() -> None:
    ledger: list[str] = []

    def booking(name: str) -> Any:
        async def undo(request: Any, result: Any, call: Call) -> None:
            ledger.append(f"undo {name}")

        @action(name=f"book {name}", compensate=undo, provider="here")
        async def book(request: Any, call: Call) -> str:
            ledger.append(name)
            return f"{name} is booked"

        return agent(name, book, skills=("writing",))

    names = ["flight", "hotel", "dinner"]
    tasks = [task(n, agent=name) for n, name in enumerate(names, 1)]
    ann = agent("ann", _crashes, skills=("writing",), tools=["pen"])
    steps = plan([*tasks, task(4, tools=["pen"])], [(2, 1), (3, 2), (4, 3)])
    world = World(steps, [*map(booking, names), ann])
    asked = world.begin(autonomy_mode="autonomous")
    assert states(asked) == ["completed"] * 3 + ["awaiting_human"]
    shown: Any = world.run(world.engine.cancel("m", preview=True))
    assert [each.id for each in shown.undo] == ["task-3/1", "task-2/1", "task-1/1"]
    assert world.say("cancel").state == "cancelled"
    assert ledger == ["flight", "hotel", "dinner", "undo dinner", "undo hotel", "undo flight"]


def test_point_16_a_mission_that_fails_by_itself_is_undone_too() -> None:
    ledger: list[str] = []

    async def undo(request: Any, result: Any, call: Call) -> None:
        ledger.append("undo")

    @action(name="pay a bill", compensate=undo, provider="here")
    async def pay(request: Any, call: Call) -> str:
        ledger.append("pay")
        return "paid"

    ann = agent("ann", _crashes, skills=("writing",), tools=["pen"])
    world = World(plan([task(1, agent="payer"), task(2, tools=["pen"])], [(2, 1)]), [agent("payer", pay), ann])
    assert world.begin().state == "failed"
    assert ledger == ["pay", "undo"]
    assert world.run(world.engine.status("m")).status == "compensated"


@pytest.mark.parametrize("pivot", [False, True])
def test_a_failed_mission_leaves_nothing_that_the_preview_did_not_name(pivot: bool) -> None:
    live: list[str] = []

    async def undo(request: Any, result: Any, call: Call) -> None:
        live.remove(call.operation_id)

    def booking(name: str, **about: Any) -> Any:
        @action(name=name, provider="here", **about)
        async def book(request: Any, call: Call) -> str:
            live.append(call.operation_id)
            return name

        return agent(name, book)

    kind: dict[str, Any] = {"kind": "pivot"} if pivot else {"compensate": undo}
    tries: list[str] = []

    def crashes(brief: Brief, turn: Turn) -> str:
        tries.append(brief.title)
        raise RuntimeError("it crashed")

    last = agent("last", crashes, tools=["pen"])
    steps = plan([task(1, agent="book"), task(2, agent="send"), task(3, tools=["pen"])], [(2, 1), (3, 2)])
    world = World(steps, [booking("book", compensate=undo), booking("send", **kind), last])
    world.begin(autonomy_mode="autonomous")
    assert len(tries) == 3  # after a pivot, too: what only reads is tried again
    shown: Any = world.run(world.engine.cancel("m", preview=True))
    named = {each.partition(":")[0] for each in shown.residue}
    assert (shown.possible, named) == ((False, {"task-2/1"}) if pivot else (True, set()))
    if shown.possible:
        assert world.say("cancel").state == "cancelled"
        assert set(live) == named
    else:
        assert world.say("skip", task_id=3).state == "completed"  # there is no way back: a person does without the rest
        assert world.run(world.engine.status("m")).status == "committed"


def test_a_rejected_attempt_with_an_effect_is_undone_before_the_next() -> None:
    ledger: list[str] = []

    async def undo(request: Any, result: Any, call: Call) -> None:
        ledger.append(f"undo {result}")

    @action(name="book a table", compensate=undo, provider="here")
    async def book(request: Any, call: Call) -> int:
        ledger.append("book")
        return len(ledger)

    judge = [scored(1, "no"), scored(5)]
    world = World(plan([task(1, criteria=[MUST], agent="ann")]), [agent("ann", book)], judge=judge)
    assert world.begin().state == "completed"
    assert ledger == ["book", "undo 1", "book"]


def test_trigger_rules_and_optional_tasks() -> None:
    def first_fails(brief: Brief, turn: Turn) -> str:
        if brief.title == "T1":
            raise RuntimeError("no")
        return "ok"

    ends = {"all_success": "skipped", "all_done": "completed", "none_failed": "skipped", "always": "completed"}
    for rule, second in ends.items():
        world = World(plan([task(1, optional=True), task(2), task(3)], [(2, 1)], trigger_rule=rule), {"ann": first_fails})
        done = world.begin()
        assert (done.state, states(done)) == ("completed", ["failed", second, "completed"]), rule


def test_a_paused_mission_begins_nothing() -> None:
    world = World(chain(2))

    async def slow(brief: Brief, turn: Turn) -> str:
        await asyncio.sleep(2)
        return "ok"

    world = World(chain(2), {"ann": slow})

    async def paused() -> Any:
        going = asyncio.ensure_future(world.coordinator.begin("go", _auto(), mission_id="m"))
        await asyncio.sleep(1)
        await world.coordinator.say("m", "pause")
        return await going

    mission = world.run(paused())
    assert (mission.state, len(world.calls)) == ("paused", 1)
    assert world.say("resume").state == "completed"
    assert len(world.calls) == 2


def test_a_person_has_another_agent_do_it() -> None:
    world = World(chain(1), {"ann": fine, "bob": fine})
    world.begin(autonomy_mode="approve")
    world.say("approve", reassign=[{"task_id": 1, "agent": "bob"}])
    assert [each[0] for each in world.calls] == ["bob"]
    told = next(each for each in world.events() if each["type"] == "task_reassigned")
    assert told["data"]["by"] == "Pat"


def test_time_in_which_a_person_is_waited_for_does_not_count() -> None:
    world = World(chain(1))
    world.begin(autonomy_mode="approve", max_seconds=100)
    world.run(asyncio.sleep(5000))
    assert world.say("approve").state == "awaiting_review"

    async def slow(brief: Brief, turn: Turn) -> str:
        for _number in range(3):
            await asyncio.sleep(50)
            await turn.progress("at it")
        return "ok"

    world = World(chain(1), {"ann": slow})
    assert world.begin(autonomy_mode="autonomous", max_seconds=100).state == "budget_exceeded"
    assert world.say("budget", max_cost_usd="6").state == "completed"


def test_a_mission_that_is_cancelled_as_a_saga_is_cancelled() -> None:
    async def slow(brief: Brief, turn: Turn) -> str:
        await asyncio.sleep(50)
        return "ok"

    world = World(chain(2), {"ann": slow})

    async def cancelled() -> Any:
        going = asyncio.ensure_future(world.coordinator.begin("go", _auto(), mission_id="m"))
        await asyncio.sleep(10)
        await world.engine.cancel("m")
        return await going

    assert world.run(cancelled()).state == "cancelled"
    assert world.run(world.engine.status("m")).status == "compensated"


def test_two_coordinators_and_nothing_is_begun_twice() -> None:
    async def slow(brief: Brief, turn: Turn) -> str:
        await asyncio.sleep(1)
        return "ok"

    world = World(DIAMOND, {"ann": slow})
    other = world.another(Engine(world.store, clock=world.loop.time))

    async def both() -> Any:
        begun = world.coordinator.begin("go", _auto(), mission_id="m")
        return await asyncio.gather(begun, other.begin("go", _auto(), mission_id="m"), return_exceptions=True)

    ended = world.run(both())
    assert [each.state for each in ended if not isinstance(each, Exception)][-1] == "completed"
    assert len(world.calls) == 4
    assert world.run(other.status("m")).state == "completed"
    world.run(other.engine.close())


def test_a_coordinator_with_another_team_leaves_a_mission_alone() -> None:
    world = World(chain(2))
    world.begin(autonomy_mode="approve")
    engine = Engine(world.store, clock=world.loop.time)
    other = Coordinator(engine, world.team, clock=world.loop.time, source=["errands:TEAM"])
    assert world.run(other.open_missions()) == ()
    with pytest.raises(NotAllowedError, match="began with the default team"):
        world.run(other.drive("m"))
    world.run(world.coordinator.wish("m", "approve", {}, by="Pat"))
    assert world.run(world.coordinator.drive("m")).state == "awaiting_review"
    world.run(engine.close())


def test_a_slow_call_does_not_stop_what_would_still_fit() -> None:
    model = spender(dollars=0.30)  # reckoned with at 0.21 a call, and three at once do not fit into 0.95 otherwise
    world = World(plan([task(n, cost="0") for n in (1, 2, 3)]), [agent("ann", spends, skills=("writing",), model=model, limit=3)])
    done = world.begin(autonomy_mode="autonomous", max_cost_usd="0.95")
    assert (done.state, done.spent) == ("completed", Decimal("0.90"))
