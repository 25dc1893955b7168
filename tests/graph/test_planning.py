"""The planning graph over restarts, decisions and lost checkpoints: the journal decides, the graph follows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest

from sagagraph.domains.travel.provider.receipts import Ledger
from sagagraph.errors import BusyError, ConflictError, NotAllowedError, ProviderError, StoreError, UnknownSagaError
from sagagraph.graph.planning_graph import MAX_PROPOSALS, PlanningGraph
from sagagraph.planning.domain import Infeasible, Proposal, Revision
from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.state import Saga
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.coordinator import Coordinator
from sagagraph.saga.engine.views.view import Account, Cost
from sagagraph.validators.verdict import Verdict, Violation
from sagagraph.workflow.operation import OperationSpec
from tests.graph.conftest import OpenWorker
from tests.support.today import TODAY
from tests.support.trips import REQUEST

pytestmark = pytest.mark.quick

ReadLedger = Callable[[], Any]


def standing(ledger: Ledger) -> tuple[int, int]:
    confirmed = sum(row.state == "confirmed" for row in ledger.reservations)
    return confirmed, sum(row.state == "captured" for row in ledger.payments)


# -- approval ------------------------------------------------------------------------------------------------------------


async def test_a_plan_waits_for_approval_over_a_restart(open_worker: OpenWorker, ledger: ReadLedger) -> None:
    async with open_worker() as first:
        shown = await first.graph.start("trip", REQUEST)
        assert shown.status == "awaiting_approval"
        assert standing(await ledger()) == (0, 0)
    async with open_worker() as second:
        assert await second.engine.status("trip") == shown
        approved = await second.graph.decide("trip", approved=True, by="ann", plan_hash=shown.plan_hash)
        assert (approved.status, approved.plan_hash) == ("committed", shown.plan_hash)
        assert (await second.events("trip")).count("PlanProposed") == 1
    assert standing(await ledger()) == (5, 1)


async def test_the_interrupt_shows_the_plan_by_its_hash_and_cost(open_worker: OpenWorker) -> None:
    async with open_worker() as worker:
        shown = await worker.graph.start("trip", REQUEST)
        state = await worker.graph.compiled.aget_state({"configurable": {"thread_id": "trip"}})
        assert state.next == ("approve",)
        (asked,) = state.interrupts
        assert asked.value["saga_id"] == "trip"
        assert asked.value["plan_hash"] == shown.plan_hash
        assert asked.value["cost"]["total"] == shown.cost.total
        await worker.graph.decide("trip", approved=True, by="ann")
        state = await worker.graph.compiled.aget_state({"configurable": {"thread_id": "trip"}})
        assert (state.next, state.interrupts, state.values["status"]) == ((), (), "committed")


async def test_resuming_does_not_approve(open_worker: OpenWorker, ledger: ReadLedger) -> None:
    async with open_worker() as first:
        shown = await first.graph.start("trip", REQUEST)
        assert await first.graph.resume("trip") == shown
    async with open_worker() as second:
        assert await second.graph.resume("trip") == shown
        assert await second.graph.start("trip", REQUEST) == shown
    assert standing(await ledger()) == (0, 0)


async def test_a_rejected_plan_stays_rejected(open_worker: OpenWorker, ledger: ReadLedger) -> None:
    async with open_worker() as first:
        await first.graph.start("trip", REQUEST)
    async with open_worker() as second:
        rejected = await second.graph.decide("trip", approved=False, by="ann")
        assert (rejected.status, rejected.reason) == ("rejected", "rejected by ann")
        with pytest.raises(NotAllowedError):
            await second.graph.decide("trip", approved=True, by="bob")
        assert (await second.graph.resume("trip")).status == "rejected"
        assert (await second.graph.start("trip", REQUEST, approved_by="bob")).status == "rejected"
    assert standing(await ledger()) == (0, 0)


@pytest.mark.parametrize("checkpoints", [True, False], ids=["with checkpoints", "without"])
@pytest.mark.parametrize(("approved", "status"), [(True, "committed"), (False, "rejected")])
async def test_approval_is_bound_to_the_plan_that_is_shown(
    open_worker: OpenWorker, checkpoints: bool, approved: bool, status: str
) -> None:
    async with open_worker(checkpoints=checkpoints) as worker:
        shown = await worker.graph.start("trip", REQUEST)
        for wrong in (True, False):
            with pytest.raises(ConflictError, match="shows plan"):
                await worker.graph.decide("trip", approved=wrong, by="eve", plan_hash="0123456789abcdef")
        assert await worker.engine.status("trip") == shown
        decided = await worker.graph.decide("trip", approved=approved, by="ann", plan_hash=shown.plan_hash)
        assert decided.status == status


async def test_a_decision_that_was_not_journalled_is_not_taken_up_later(
    open_worker: OpenWorker, ledger: ReadLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An approval that the store lost must not come out of the checkpoint when somebody rejects the plan."""
    tell = Coordinator.tell

    async def failing(self: Coordinator, command: c.Command) -> None:
        if isinstance(command, c.ApprovePlan):
            raise StoreError("the disk is full")
        await tell(self, command)

    async with open_worker() as first:
        await first.graph.start("trip", REQUEST)
        with monkeypatch.context() as patch, pytest.raises(StoreError):
            patch.setattr(Coordinator, "tell", failing)
            await first.graph.decide("trip", approved=True, by="ann")
        assert (await first.engine.status("trip")).status == "awaiting_approval"
    async with open_worker() as second:
        assert (await second.graph.decide("trip", approved=False, by="bob")).status == "rejected"
    assert standing(await ledger()) == (0, 0)


async def test_approving_twice_changes_nothing(open_worker: OpenWorker, ledger: ReadLedger) -> None:
    async with open_worker() as worker:
        await worker.graph.start("trip", REQUEST)
        first = await worker.graph.decide("trip", approved=True, by="ann")
        assert await worker.graph.decide("trip", approved=True, by="bob") == first
        with pytest.raises(NotAllowedError):
            await worker.graph.decide("trip", approved=False, by="bob")
        assert (await worker.events("trip")).count("PlanApproved") == 1
    assert standing(await ledger()) == (5, 1)


async def test_approval_in_advance_survives_a_restart(open_worker: OpenWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_worker() as first:
        with monkeypatch.context() as patch, pytest.raises(ProviderError):
            patch.setattr(first.domain, "validate", _unreachable)
            await first.graph.start("trip", REQUEST, approved_by="ann")
        assert (await first.engine.status("trip")).status == "planning"
    async with open_worker() as second:
        assert (await second.graph.resume("trip")).status == "committed"


async def _unreachable(*_: Any) -> Any:
    raise ProviderError("the reservation service cannot be reached")


# -- identity --------------------------------------------------------------------------------------------------------


async def test_the_same_id_with_another_request_is_a_conflict(open_worker: OpenWorker) -> None:
    async with open_worker() as worker:
        shown = await worker.graph.start("trip", REQUEST)
        with pytest.raises(ConflictError, match="exists with another request"):
            await worker.graph.start("trip", {**REQUEST, "budget": 4000})
        assert await worker.engine.status("trip") == shown


async def test_an_unknown_saga_is_not_begun_by_deciding_or_resuming(open_worker: OpenWorker) -> None:
    async with open_worker() as worker:
        with pytest.raises(UnknownSagaError):
            await worker.graph.decide("nobody", approved=True, by="ann")
        with pytest.raises(UnknownSagaError):
            await worker.graph.resume("nobody")
        assert await worker.engine.sagas() == ()


async def test_a_saga_that_another_worker_holds_is_busy(open_worker: OpenWorker, ledger: ReadLedger) -> None:
    async with open_worker() as first, open_worker() as second:
        await first.graph.start("trip", REQUEST)
        async with first.engine.hold("trip"):
            with pytest.raises(BusyError):
                await second.graph.resume("trip", wait=False)
        assert (await second.graph.decide("trip", approved=True, by="ann")).status == "committed"
        assert (await first.graph.resume("trip")).status == "committed"
    assert standing(await ledger()) == (5, 1)


# -- checkpoints -----------------------------------------------------------------------------------------------------


def forget_checkpoints(store_file: Path) -> None:
    with closing(sqlite3.connect(store_file)) as store:
        store.execute("DROP TABLE checkpoints")
        store.execute("DROP TABLE writes")
        store.commit()


async def test_the_journal_alone_carries_a_saga_on(open_worker: OpenWorker, store_file: Path, ledger: ReadLedger) -> None:
    async with open_worker() as first:
        shown = await first.graph.start("trip", REQUEST)
    forget_checkpoints(store_file)
    async with open_worker() as second:
        decided = await second.graph.decide("trip", approved=True, by="ann", plan_hash=shown.plan_hash)
        assert decided.status == "committed"
        assert (await second.events("trip")).count("PlanProposed") == 1
    forget_checkpoints(store_file)
    async with open_worker() as third:
        assert await third.graph.resume("trip") == decided
    assert standing(await ledger()) == (5, 1)


async def test_a_graph_without_checkpoints_asks_and_goes_on(open_worker: OpenWorker, ledger: ReadLedger) -> None:
    async with open_worker(checkpoints=False) as first:
        assert (await first.graph.start("trip", REQUEST)).status == "awaiting_approval"
    async with open_worker(checkpoints=False) as second:
        assert (await second.graph.decide("trip", approved=True, by="ann")).status == "committed"
    assert standing(await ledger()) == (5, 1)


async def test_a_checkpoint_that_lags_behind_the_journal_is_overruled(open_worker: OpenWorker, ledger: ReadLedger) -> None:
    """The saga was cancelled while the graph still waits at its interrupt."""
    async with open_worker() as worker:
        await worker.graph.start("trip", REQUEST)
        await worker.engine.cancel("trip", by="ann")
        with pytest.raises(NotAllowedError):
            await worker.graph.decide("trip", approved=True, by="ann")
        assert (await worker.graph.resume("trip")).status == "compensated"
    assert standing(await ledger()) == (0, 0)


async def test_checkpoints_hold_small_references_only(open_worker: OpenWorker, store_file: Path) -> None:
    async with open_worker() as worker:
        await worker.graph.start("trip", REQUEST)
        await worker.graph.decide("trip", approved=True, by="ann")
        history = [each async for each in worker.graph.compiled.aget_state_history({"configurable": {"thread_id": "trip"}})]
        assert len(history) > 5
        assert all(set(each.values) <= {"saga_id", "plan_hash", "status"} for each in history)
        plan = (await worker.engine.load("trip")).plan.content
    names = [leg["offer"]["offer_id"] for leg in plan["legs"]] + [leg["offer"].get("name", "offer_id") for leg in plan["legs"]]
    with closing(sqlite3.connect(store_file)) as store:
        tables = {"checkpoints": "checkpoint", "writes": "value"}
        blobs = [row[0] for table, column in tables.items() for row in store.execute(f"SELECT {column} FROM {table}")]
    assert blobs
    for blob in blobs:
        assert not [name for name in names if name.encode() in blob]
        assert len(blob) < 3000 < len(json.dumps(plan))


# -- loop guards and judgement ---------------------------------------------------------------------------------------


class Stub:
    """A domain whose planner always finds something, and whose validator says what it is told to."""

    name = "stub"
    actions: tuple[Action, ...] = ()

    def __init__(self, verdict: Verdict, *, endless: bool = True) -> None:
        self.verdict = verdict
        self.asked = 0
        self.judged: list[str] = []
        self._endless = endless

    async def propose(self, _request: Any) -> tuple[Proposal, ...] | Infeasible:
        self.asked += 1
        number = self.asked if self._endless else 1
        return (Proposal({"number": number}, f"hash-{number}", f"plan {number}", Cost(1, "USD")),)

    async def repair(self, _saga: Saga) -> Proposal | Infeasible:
        raise AssertionError("nothing was booked")

    async def evidence(self, _saga: Saga) -> Any:
        return None

    def needs_approval(self, _saga: Saga) -> bool:
        return True

    def revision(self, _saga: Saga) -> Revision:
        raise AssertionError("nothing was booked")

    async def validate(self, _request: Any, plan: Any, _shown: Any) -> Verdict:
        self.judged.append(f"hash-{plan['number']}")
        return self.verdict

    def title(self, plan: Any) -> str:
        return f"plan {plan['number']}"

    def workflow(self, _plan: Any) -> tuple[OperationSpec, ...]:
        raise AssertionError("nothing was approved")

    def account(self, _saga: Saga) -> Account:
        return Account()


INVALID = Verdict.of([Violation(code="TOO_DEAR", message="it costs too much")])


async def test_plans_that_are_never_valid_end_infeasible(open_worker: OpenWorker) -> None:
    domain = Stub(INVALID)
    async with open_worker(domain) as worker:
        view = await worker.graph.start("loop", {}, approved_by="ann")
        assert view.status == "infeasible"
        assert "it costs too much" in view.reason
        assert domain.judged == [f"hash-{n}" for n in range(1, MAX_PROPOSALS + 1)]
        assert "PlanApproved" not in await worker.events("loop")


async def test_a_plan_that_was_found_invalid_is_not_judged_again(open_worker: OpenWorker) -> None:
    domain = Stub(INVALID, endless=False)
    async with open_worker(domain) as worker:
        assert (await worker.graph.start("loop", {}, approved_by="ann")).status == "infeasible"
        assert domain.judged == ["hash-1"]


async def test_a_request_that_nothing_meets_ends_infeasible_with_its_reasons(open_worker: OpenWorker) -> None:
    async with open_worker() as worker:
        view = await worker.graph.start("poor", {**REQUEST, "budget": 100}, approved_by="ann")
        assert view.status == "infeasible"
        assert "budget of $100" in view.reason
        assert await worker.graph.resume("poor") == view


async def test_a_validator_that_cannot_judge_approves_nothing(open_worker: OpenWorker) -> None:
    domain = Stub(Verdict.unknown("the validator did not answer"))
    async with open_worker(domain) as worker:
        view = await worker.graph.start("dark", {}, approved_by="ann")
        assert view.status == "infeasible"
        assert "the validator did not answer" in view.reason
        assert len(domain.judged) == MAX_PROPOSALS
        assert "PlanApproved" not in await worker.events("dark")


async def test_an_outage_while_planning_leaves_the_saga_to_resume(
    open_worker: OpenWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_worker() as worker:
        for broken in ("propose", "validate"):
            with monkeypatch.context() as patch, pytest.raises(ProviderError):
                patch.setattr(worker.domain, broken, _unreachable)
                await worker.graph.start("trip", REQUEST)
            assert (await worker.engine.status("trip")).status == "planning"
        assert (await worker.graph.resume("trip")).status == "awaiting_approval"


# -- prices ----------------------------------------------------------------------------------------------------------


async def test_a_price_that_changed_since_the_approval_is_asked_about_again(
    open_worker: OpenWorker, url: str, tmp_path: Path, ledger: ReadLedger
) -> None:
    async with open_worker() as worker:
        shown = await worker.graph.start("trip", REQUEST)
        saga = await worker.engine.load("trip")
        hotel = next(leg["offer"] for leg in saga.plan.content["legs"] if leg["offer"]["kind"] == "hotel")
        raise_price(tmp_path / "sandbox.db", hotel, url)
        view = await worker.graph.decide("trip", approved=True, by="ann", plan_hash=shown.plan_hash)
        assert view.status == "awaiting_approval"
        assert view.plan_hash != shown.plan_hash
        check = view.operations[0]
        assert (check.id, check.status, check.error and check.error["code"]) == ("check", "failed", "price_changed")
        assert {each.attempts for each in view.operations[1:]} == {0}
        saga = await worker.engine.load("trip")
        assert saga.plan.disruption.startswith(f"check: offer {hotel['offer_id']} costs")
        with pytest.raises(ConflictError, match="shows plan"):
            await worker.graph.decide("trip", approved=True, by="ann", plan_hash=shown.plan_hash)
    assert standing(await ledger()) == (0, 0)
    assert not (await ledger()).reservations


def raise_price(database: Path, offer: dict[str, Any], url: str) -> None:
    """By searching again on a second service over the same world, whose next search for hotels raises the prices."""
    from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings

    faults = database.with_name("faults.json")
    faults.write_text(json.dumps([{"kind": "hotel", "call": "search", "fault": "price_up"}]))
    question = {"city": offer["city"], "check_in": offer["check_in"], "check_out": offer["check_out"], "rooms": offer["rooms"]}
    with EmbeddedSandbox(SandboxSettings(database, faults, TODAY)) as other:
        httpx2.get(f"{other.url}/offers/hotels", timeout=60, params=question).raise_for_status()
    assert httpx2.get(f"{url}/offers/{offer['offer_id']}", timeout=60).json()["price"] > offer["price"]


async def test_an_offer_that_is_sold_out_since_the_approval_is_replaced_once_that_is_approved(
    open_worker: OpenWorker, url: str, ledger: ReadLedger
) -> None:
    async with open_worker() as worker:
        await worker.graph.start("trip", REQUEST)
        saga = await worker.engine.load("trip")
        hotel = next(leg["offer"] for leg in saga.plan.content["legs"] if leg["offer"]["kind"] == "hotel")
        async with httpx2.AsyncClient(base_url=url) as others:
            for _ in range(hotel["left"]):
                body = {"kind": "hotel", "offer_id": hotel["offer_id"], "quantity": 1}
                (await others.post("/reservations", json=body)).raise_for_status()
        view = await worker.graph.decide("trip", approved=True, by="ann")
        assert view.status == "awaiting_approval"
        assert [row for row in (await ledger()).reservations if row.saga_id == "trip"] == []
        view = await worker.graph.decide("trip", approved=True, by="ann", plan_hash=view.plan_hash)
        assert (view.status, view.plan_version) == ("committed", 2)
    mine = [row for row in (await ledger()).reservations if row.saga_id == "trip"]
    assert [row.state for row in mine] == ["confirmed"] * 5


async def test_a_second_choice_after_a_refusal_needs_no_new_approval_where_it_costs_no_more(
    open_worker: OpenWorker, url: str, ledger: ReadLedger
) -> None:
    async with open_worker() as worker:
        await worker.graph.start("trip", REQUEST)
        dear = max((await worker.engine.load("trip")).plan.alternatives, key=lambda each: float(each["cost"]["total"]))
        await worker.graph.choose("trip", dear["plan_hash"])
        hotel = next(leg["offer"] for leg in dear["plan"]["legs"] if leg["offer"]["kind"] == "hotel")
        async with httpx2.AsyncClient(base_url=url) as others:
            body = {"kind": "hotel", "offer_id": hotel["offer_id"], "quantity": hotel["left"]}
            (await others.post("/reservations", json=body)).raise_for_status()
        view = await worker.graph.decide("trip", approved=True, by="ann", plan_hash=dear["plan_hash"])
        approved = [each.event.by for each in await worker.engine.journal("trip") if isinstance(each.event, e.PlanApproved)]
        legs = {leg["offer"]["offer_id"] for leg in (await worker.engine.load("trip")).plan.content["legs"]}
        assert (view.status, view.plan_version) == ("committed", 2)
    assert approved == ["ann", "nobody new: it costs no more, and no times change"]
    assert view.cost.total < dear["cost"]["total"]
    mine = [row for row in (await ledger()).reservations if row.saga_id == "trip"]
    assert hotel["offer_id"] not in legs
    assert [row.state for row in mine] == ["confirmed"] * 5


def test_the_graph_can_be_drawn() -> None:
    from sagagraph.graph.planning_graph import _build

    drawn = _build().compile().get_graph()
    assert {"intake", "plan", "repair", "validate", "approve", "execute", "compensate", "finish"} <= set(drawn.nodes)
    assert PlanningGraph.__doc__


# -- choosing ------------------------------------------------------------------------------------------------------------


async def test_an_alternative_that_is_chosen_is_judged_approved_and_booked(open_worker: OpenWorker, ledger: ReadLedger) -> None:
    async with open_worker() as worker:
        shown = await worker.graph.start("trip", REQUEST)
        offered = (await worker.engine.load("trip")).plan.alternatives
        cheaper = min(offered, key=lambda each: each["cost"]["total"])
        chosen = await worker.graph.choose("trip", cheaper["plan_hash"])
        assert (chosen.status, chosen.plan_hash) == ("awaiting_approval", cheaper["plan_hash"])
        others = (await worker.engine.load("trip")).plan.alternatives
        assert {each["plan_hash"] for each in others} == {shown.plan_hash} | {
            each["plan_hash"] for each in offered if each is not cheaper
        }
        assert all(each["title"] for each in others)
        with pytest.raises(ConflictError):
            await worker.graph.decide("trip", approved=True, by="ann", plan_hash=shown.plan_hash)
        booked = await worker.graph.decide("trip", approved=True, by="ann", plan_hash=cheaper["plan_hash"])
        assert (booked.status, booked.cost.total) == ("committed", cheaper["cost"]["total"])
    assert standing(await ledger()) == (5, 1)


async def test_only_a_plan_that_is_offered_can_be_chosen_and_only_while_it_is_asked_about(open_worker: OpenWorker) -> None:
    async with open_worker() as worker:
        shown = await worker.graph.start("trip", REQUEST)
        with pytest.raises(ConflictError, match="offers no plan"):
            await worker.graph.choose("trip", "0123456789abcdef")
        await worker.graph.choose("trip", str(shown.plan_hash))
        assert (await worker.events("trip")).count("PlanProposed") == 1
        await worker.graph.decide("trip", approved=False, by="ann")
        with pytest.raises(NotAllowedError, match="rejected"):
            await worker.graph.choose("trip", str(shown.plan_hash))
