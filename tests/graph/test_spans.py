"""The judgement of a plan is a span of its saga."""

from __future__ import annotations

from typing import Any

from sagagraph.graph.planning_graph import planning_graph
from sagagraph.planning.domain import Infeasible, Proposal, Revision
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.engine.views.view import Account, Cost
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.validators.verdict import Verdict
from sagagraph.workflow.operation import OperationSpec
from tests.saga.telemetry.conftest import Recorded


class Nothing:
    """A domain whose plan is to do nothing."""

    name = "nothing"
    actions = ()

    async def propose(self, request: Any) -> tuple[Proposal, ...]:
        return (Proposal({}, "hash", "nothing", Cost()),)

    async def repair(self, saga: Any) -> Infeasible:
        return Infeasible(())

    async def evidence(self, saga: Any) -> Any:
        return None

    def needs_approval(self, saga: Any) -> bool:
        return True

    def revision(self, saga: Any) -> Revision:
        return Revision(())

    async def validate(self, request: Any, plan: Any, shown: Any) -> Verdict:
        return Verdict.of([])

    def title(self, plan: Any) -> str:
        return "nothing"

    def workflow(self, plan: Any) -> tuple[OperationSpec, ...]:
        return ()

    def account(self, saga: Any) -> Account:
        return Account()


async def test_the_judgement_of_a_plan_is_a_child_of_its_saga() -> None:
    recorded = Recorded()
    engine = Engine(MemorySagaStore(), tracer=recorded.tracer)
    try:
        await planning_graph(domain=Nothing(), engine=engine).start("plan", {"secret": "sk-1"}, approved_by="ann")
    finally:
        await engine.close()
    assert recorded.tree() == [("saga", None, "committed", [("validator", None, "VALID", [])])]
    assert (recorded.one("saga").attributes or {})["saga.domain"] == "nothing"
    assert (recorded.one("validator").attributes or {})["validator.name"] == "nothing"
    assert "sk-1" not in recorded.text()
