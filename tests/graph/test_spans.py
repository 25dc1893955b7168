"""The judgement of a plan is a span of its saga."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any, TypedDict

from langgraph.graph import START

from sagagraph import Refused, SagaGraph, current_saga
from sagagraph.errors import OperationFailedError
from sagagraph.graph.planning_graph import planning_graph
from sagagraph.planning.domain import Infeasible, Proposal, Revision
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.engine.views.view import Account, Cost
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.validators.verdict import Verdict
from sagagraph.workflow.operation import OperationSpec
from tests.graph.world import thread
from tests.saga.ledger import Ledger
from tests.saga.telemetry.conftest import Recorded


class State(TypedDict, total=False):
    log: list[str]


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


async def test_a_run_is_one_tree_in_which_what_undoes_is_below_what_it_undoes(tmp_path: Path) -> None:
    recorded, ledger = Recorded(), Ledger(tmp_path / "ledger.db")
    ledger.prepare()
    engine = Engine(MemorySagaStore(), tracer=recorded.tracer)
    flight = ledger.action("flight")

    async def books(state: State) -> State:
        await current_saga().run(flight, id="flight")
        return {}

    def refuses(state: State) -> State:
        raise Refused("sold out", code="sold_out")

    graph = SagaGraph(State).add_node("books", books).add_node("refuses", refuses)
    app = graph.add_edge(START, "books").add_edge("books", "refuses").compile(engine=engine)
    try:
        with recorded.tracer.start_as_current_span("run"), suppress(OperationFailedError):
            await app.ainvoke({}, thread("t"))
    finally:
        await engine.close()
    name = "1/books/flight"
    undone = ("operation", name, "compensated", [("compensation", name, "succeeded", [])])
    booked = ("operation", name, "succeeded", [("attempt", name, "succeeded", []), undone])
    ran = ("operation", "1/books", "succeeded", [("attempt", "1/books", "succeeded", []), booked])
    failed = ("operation", "2/refuses", "failed", [("attempt", "2/refuses", "refused", [])])
    assert recorded.tree() == [("run", None, None, [("saga", None, "compensated", [ran, failed, ("probe", name, "undone", [])])])]
    codes = {(span.attributes or {}).get("fault.code") for span in recorded.spans if not span.status.is_ok}
    assert "sold_out" in codes
