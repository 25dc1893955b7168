from __future__ import annotations

from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import StructuredTool

from sagagraph import Call, action
from sagagraph.errors import ConflictError, InvalidInputError, OperationFailedError, Refused, SagaClosedError, WorkflowError
from sagagraph.factory.binding import bound
from sagagraph.factory.faults import read_faults, with_faults
from sagagraph.factory.roster import Roster
from sagagraph.factory.running import Assignment, differences, run_document
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.engine import Engine
from sagagraph.workflow.language.document import Document, read_document

pytestmark = pytest.mark.quick


class World:
    """What was done and undone, in order; what is in `refused` is refused, with its code."""

    def __init__(self, *names: str, refused: dict[str, str] | None = None) -> None:
        self.log: list[str] = []
        self.refused = refused or {}
        self.actions = {name: self._made(name) for name in names}

    def _made(self, name: str) -> Action:
        def execute(request: Any, call: Call) -> Any:
            self.log.append(f"{name} {request}" if request else name)
            if name in self.refused:
                raise Refused("no", code=self.refused[name])
            return {"by": name, "got": request}

        def undo(request: Any, result: Any, call: Call) -> None:
            self.log.append(f"undo {name}")

        return action(execute, name=name, compensate=undo)


def document(*nodes: Any, edges: list[tuple[Any, ...]] | None = None, **more: Any) -> Document:
    told = [{"id": each, "type": "task", "action": each} if isinstance(each, str) else each for each in nodes]
    ways = [{"from": source, "to": target, **(rest[0] if rest else {})} for source, target, *rest in edges or []]
    return read_document({"name": "w", "nodes": told, "edges": ways, **more})


async def test_a_failure_undoes_what_was_done_and_nothing_new_begins() -> None:
    world = World("a", "b", "c", refused={"b": "Full"})
    async with Engine.open("memory:") as engine:
        with pytest.raises(OperationFailedError, match="no"):
            await run_document(engine, "s", Assignment(document("a", "b", "c", edges=[("a", "b"), ("b", "c")])), world.actions)
        assert (await engine.status("s")).status is SagaStatus.COMPENSATED
        assert await differences(await engine.load("s"), world.actions) == ()
    assert world.log == ["a", "b", "undo a"]


@pytest.mark.parametrize(("code", "handled"), [("Full", True), ("Gone", False)])
async def test_a_handler_takes_the_errors_that_it_is_for(code: str, handled: bool) -> None:
    world = World("a", "b", "instead", "end", refused={"b": code})
    plan = document(
        "a",
        {"id": "b", "type": "task", "action": "b", "policyRef": "p"},
        "instead",
        "end",
        edges=[("a", "b"), ("b", "instead"), ("b", "end"), ("instead", "end")],
        policies={"p": {"catch": [{"errors": ["Full"], "handler": "instead"}]}},
    )
    async with Engine.open("memory:") as engine:
        if handled:
            assert set(await run_document(engine, "s", Assignment(plan), world.actions)) == {"a", "instead", "end"}
        else:
            with pytest.raises(OperationFailedError):
                await run_document(engine, "s", Assignment(plan), world.actions)
        assert await differences(await engine.load("s"), world.actions) == ()
    assert world.log == (["a", "b", "instead", "end"] if handled else ["a", "b", "undo a"])


@pytest.mark.parametrize(("given", "taken"), [({"n": 3}, "many"), ({"n": 1}, "few"), ({}, "few")])
async def test_a_choice_takes_the_first_branch_that_holds_or_the_default(given: Any, taken: str) -> None:
    world = World("many", "few")
    guard = {"kind": "output", "operation": "input", "path": ["n"], "comparison": ">", "value": 2}
    plan = document(
        {"id": "c", "type": "choice"},
        "many",
        "few",
        edges=[("c", "many", {"kind": "branch", "guard": guard}), ("c", "few", {"kind": "default"})],
    )
    async with Engine.open("memory:") as engine:
        outputs = await run_document(engine, "s", Assignment(plan, given), world.actions)
        assert outputs["c"] == {"chosen": taken}
        assert (await engine.load("s")).operations["c"].output == {"chosen": taken}
    assert world.log == [taken]


def mapped(most: int) -> Document:
    each = {
        "id": "a",
        "type": "task",
        "action": "a",
        "params": {"who": {"$from": "item", "path": []}, "n": {"$from": "index", "path": []}},
    }
    node = {"id": "m", "type": "map", "items": {"$from": "input", "path": ["who"]}, "body": {"nodes": [each]}, "policyRef": "m"}
    return document(node, policies={"m": {"loopGuards": {"maxIters": most}}})


async def test_a_map_does_its_body_for_each_member_up_to_its_guard() -> None:
    world, given = World("a"), {"who": ["x", "y"]}
    async with Engine.open("memory:") as engine:
        outputs = await run_document(engine, "s", Assignment(mapped(2), given), world.actions)
        assert [each["a"]["got"] for each in outputs["m"]] == [{"who": "x", "n": 0}, {"who": "y", "n": 1}]
        with pytest.raises(OperationFailedError, match="2 members, and 1 are allowed"):
            await run_document(engine, "t", Assignment(mapped(1), given), world.actions)
        with pytest.raises(OperationFailedError, match="no list of members"):
            await run_document(engine, "u", Assignment(mapped(1), {"who": "x"}), world.actions)


async def test_an_output_that_breaks_its_schema_undoes_everything() -> None:
    world = World("a", "b")
    plan = document(
        "a",
        {"id": "b", "type": "task", "action": "b", "io": {"output": {"type": "object", "required": ["seat"]}}},
        edges=[("a", "b")],
    )
    async with Engine.open("memory:") as engine:
        with pytest.raises(OperationFailedError, match="seat is missing"):
            await run_document(engine, "s", Assignment(plan), world.actions)
    assert world.log == ["a", "b", "undo b", "undo a"]


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        ({"fault": "failure"}, SagaStatus.COMPENSATED),
        ({"fault": "violation", "returns": {}}, SagaStatus.COMPENSATED),
        ({"fault": "timeout"}, SagaStatus.COMMITTED),  # it was done, the answer was lost, and the same key is sent again
    ],
)
async def test_faults_on_purpose(fault: dict[str, Any], outcome: SagaStatus) -> None:
    from datetime import timedelta

    from sagagraph import Guarantees

    done: set[str] = set()

    @action(name="a", compensate=lambda request, result, call: done.clear(), guarantees=Guarantees(dedup=timedelta(days=1)))
    def book(request: Any, call: Call) -> dict[str, str]:
        done.add(call.idempotency_key)
        return {"seat": "1A"}

    plan = document({"id": "a", "type": "task", "action": "a", "io": {"output": {"required": ["seat"]}}})
    actions = with_faults({"a": book}, read_faults([{"action": "a", **fault}]))
    async with Engine.open("memory:") as engine:
        try:
            await run_document(engine, "s", Assignment(plan), actions)
        except OperationFailedError:
            assert outcome is SagaStatus.COMPENSATED
        assert (await engine.status("s")).status is outcome
    assert len(done) == (1 if outcome is SagaStatus.COMMITTED else 0)


async def test_another_action_compensates_and_a_person_can() -> None:
    world = World("a", "b", refused={"b": "Full"})

    @action(name="sweep", kind="read-only")
    def sweep(request: Any, call: Call) -> None:
        world.log.append(f"sweep after {request['result']['by']}")

    terms = {"handler": "sweep", "safeReinvoke": True}
    plan = document(
        {"id": "a", "type": "task", "action": "a", "policyRef": "p"},
        "b",
        edges=[("a", "b")],
        policies={"p": {"compensation": terms}},
    )
    async with Engine.open("memory:") as engine:
        with pytest.raises(OperationFailedError):
            await run_document(engine, "s", Assignment(plan), {**world.actions, "sweep": sweep})
    assert world.log == ["a", "b", "sweep after a"]
    with pytest.raises(InvalidInputError, match="onCancel is for other engines"):
        bound(
            read_document({**_json(plan), "policies": {"p": {"compensation": {**terms, "trigger": "onCancel"}}}}),
            {**world.actions, "sweep": sweep},
        )


def _json(plan: Document) -> dict[str, Any]:
    from sagagraph.workflow.language.document import document_json

    return document_json(plan)


async def test_another_document_under_the_same_id_is_refused_and_a_cancelled_one_stays_undone() -> None:
    world = World("a", "b")
    async with Engine.open("memory:") as engine:
        await run_document(engine, "s", Assignment(document("a")), world.actions)
        with pytest.raises(ConflictError):
            await run_document(engine, "s", Assignment(document("b")), world.actions)
        await engine.cancel("s")
        with pytest.raises(SagaClosedError):
            await run_document(engine, "s", Assignment(document("a")), world.actions)
    assert world.log == ["a", "undo a"]


async def test_a_journal_that_is_not_what_the_document_asks_for_is_noticed() -> None:
    world = World("a", "b")
    async with Engine.open("memory:") as engine:
        await run_document(engine, "s", Assignment(document("a", "b", edges=[("a", "b")])), world.actions)
        saga = await engine.load("s")
        other = World("a")
        assert await differences(saga, world.actions) == ()
        with pytest.raises(WorkflowError, match="there is no action 'b'"):
            await differences(saga, other.actions)
        from msgspec.structs import replace

        from sagagraph.workflow.policy import Policy

        patient = {**world.actions, "b": _with_policy(world.actions["b"], replace(Policy(), timeout_s=9.0))}
        assert [each.partition(" is ")[0] for each in await differences(saga, patient)] == ["b: policy"]


def _with_policy(made: Action, policy: Any) -> Action:
    from dataclasses import replace

    return replace(made, policy=policy)


async def test_tools_and_runnables_carry_tasks_out() -> None:
    def shout(text: str) -> str:
        """Say it aloud."""
        return text.upper()

    tool = StructuredTool.from_function(shout)
    agent = RunnableLambda(lambda given: f"{given['said']}!").with_config(run_name="x")
    agent.name = "agent"  # type: ignore[attr-defined]
    roster = Roster.of([tool, agent])
    plan = document(
        {"id": "a", "type": "task", "action": "shout", "params": {"text": "hello"}},
        {"id": "b", "type": "task", "action": "agent", "params": {"said": {"$from": "a", "path": []}}},
        edges=[("a", "b")],
    )
    async with Engine.open("memory:") as engine:
        assert await run_document(engine, "s", Assignment(plan), roster.actions) == {"a": "HELLO", "b": "HELLO!"}
    with pytest.raises(InvalidInputError, match="neither an action nor a tool"):
        Roster.of([3])


async def test_what_a_person_undoes_waits_for_that_person() -> None:
    world = World("a", "b", refused={"b": "Full"})
    terms = {"handler": "a/undo", "safeReinvoke": True, "trigger": "manual"}
    plan = document(
        {"id": "a", "type": "task", "action": "a", "policyRef": "p"},
        "b",
        edges=[("a", "b")],
        policies={"p": {"compensation": terms}},
    )
    async with Engine.open("memory:") as engine:
        with pytest.raises(OperationFailedError):
            await run_document(engine, "s", Assignment(plan), world.actions)
        assert (await engine.status("s")).status is SagaStatus.STUCK
        assert (await engine.resolve("s", "a", "compensated")).status is SagaStatus.COMPENSATED
    assert world.log == ["a", "b"]
