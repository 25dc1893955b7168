"""Changing a committed saga by an amendment: the pure core (docs/protocol.md rules 2, 4, 5, 8, 9, 10; ADR-0011)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from sagagraph.errors import ConflictError, NotAllowedError, SagaGraphError
from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.amendments import amendment_of, amendment_request, next_amendment_id, outcome_for_parent
from sagagraph.saga.core.decide.decide import decide
from sagagraph.saga.core.evolve.evolve import begin, evolve, fold
from sagagraph.saga.core.evolve.index import index_of
from sagagraph.saga.core.reversals import REVERSING
from sagagraph.saga.core.state import Saga, Stage, operation_key
from sagagraph.saga.core.status import OperationStatus
from sagagraph.saga.engine.actions import action
from sagagraph.saga.engine.reversal import plan_reversal, undoing_specs
from sagagraph.workflow.kind import ActionKind

from .story import spec

pytestmark = pytest.mark.quick

PIVOT, RETRIABLE, READ_ONLY = ActionKind.PIVOT, ActionKind.RETRIABLE, ActionKind.READ_ONLY


class Journal:
    """A saga of the core with all that was appended to it."""

    def __init__(self, saga_id: str, request: Any) -> None:
        self.entries = [e.Entry(1, 1, 100.0, e.SagaBegun(e.Driver.WORKFLOW, "test", request))]
        self.saga = begin(saga_id, self.entries[0])

    def append(self, *events: e.Event) -> None:
        for event in events:
            entry = e.Entry(self.saga.version + 1, 1, 100.0, event)
            self.saga = evolve(self.saga, entry)
            self.entries.append(entry)

    def tell(self, command: c.Command) -> tuple[e.Event, ...]:
        events = decide(self.saga, command, 100.0)
        self.append(*events)
        return events

    def do(self, *names: str) -> None:
        for name in names:
            operation = self.saga.operations[name]
            self.append(e.AttemptStarted(name, 1, 1, operation_key(self.saga.id, operation), 200.0))
            self.tell(c.ActionReplied(name, {"booked": name}))


def paid() -> Journal:
    """flight ← hotel; both paid, and the papers sent."""
    trip = Journal("trip", "wish")
    trip.append(e.PlanProposed("p1", "flight, hotel", 10))
    specs = (spec("flight"), spec("hotel", ActionKind.COMPENSATABLE, "flight"), spec("pay", PIVOT, "flight", "hotel"))
    trip.append(e.PlanAccepted(1, (*specs, spec("send", RETRIABLE, "pay"))))
    trip.do("flight", "hotel", "pay", "send")
    trip.append(e.SagaCommitted())
    return trip


def beginning(saga: Saga, wish: Any = "other wish", lost: tuple[str, ...] = ()) -> c.BeginAmendment:
    return c.BeginAmendment(next_amendment_id(saga), amendment_request(saga, wish, lost, 0.0), "ann")


def another_flight(trip: Journal, number: int = 2) -> Journal:
    """The amendment that books another flight, looks at the hotel, pays anew, and undoes the old flight and payment."""
    amending = trip.saga.amending
    assert amending is not None
    child = Journal(amending.saga, amending.request)
    amendment = amendment_of(child.saga)
    assert amendment is not None
    old = next(each.id for each in amendment.stands if each.id.startswith("flight"))
    old_payment = next(each.id for each in amendment.stands if each.id.startswith("pay"))
    new, pay, undo = f"flight.{number}", f"pay.{number}", f"undo.{number}"
    child.append(e.PlanProposed(f"p{number}", f"{new}, hotel", 12))
    kept = spec("hotel", READ_ONLY, new)
    undoing = undoing_specs(amendment, (old, old_payment), undo, pay, ACTIONS)
    specs = (spec(f"spare.{number}"), spec(new), kept, spec(pay, PIVOT, new, "hotel"), *undoing)
    child.append(e.PlanAccepted(1, specs))
    child.do(f"spare.{number}", new, "hotel")
    child.append(e.PlanAccepted(2, (), removed=(f"spare.{number}",)))
    child.append(e.CompensationStarted(f"spare.{number}", 1, 1, "k", 200.0))
    child.append(e.OperationCompensated(f"spare.{number}", {"fee": 3}))
    child.do(pay, f"{undo} {old_payment}", f"{undo} {old}")
    child.append(e.SagaCommitted())
    return child


async def _undo(_request: Any, _result: Any, _call: Any) -> None: ...


def _action(name: str, kind: ActionKind = ActionKind.COMPENSATABLE) -> Any:
    async def do(_request: Any, _call: Any) -> None: ...

    undo = {"reverse": _undo} if kind is PIVOT else {"compensate": _undo}
    return action(do, kind=kind, name=name, **undo)  # type: ignore[call-overload]


ACTIONS = {
    f"book {name}": _action(f"book {name}", PIVOT if name.startswith("pay") else ActionKind.COMPENSATABLE)
    for base in ("flight", "pay", "hotel", "spare", "send")
    for name in (base, *(f"{base}.{number}" for number in (2, 3)))
}


def amended(trip: Journal, number: int = 2) -> Journal:
    trip.tell(beginning(trip.saga))
    trip.tell(outcome_for_parent(another_flight(trip, number).saga))
    return trip


def test_rule_8_the_parent_gets_a_new_plan_version_and_forgets_nothing() -> None:
    trip = amended(paid())
    saga = trip.saga
    assert (saga.stage, saga.plan.version, saga.plan.hash, saga.request) == (Stage.COMMITTED, 2, "p2", "other wish")
    status = {each.id: each.status for each in saga.in_order()}
    assert status["flight"] is status["pay"] is status["spare.2"] is OperationStatus.COMPENSATED
    assert status["flight.2"] is status["pay.2"] is status["hotel"] is OperationStatus.SUCCEEDED
    assert saga.operations["spare.2"].undo_output == {"fee": 3}, "what its own repair has cost counts too"
    assert saga.pivot == "pay.2"


def test_rule_2_what_an_amendment_brought_keeps_its_keys_there() -> None:
    saga = amended(paid()).saga
    keys = {each.id: operation_key(saga.id, each) for each in saga.in_order()}
    assert keys["flight.2"] == "trip~amendment-1/flight.2/1"
    assert keys["hotel"] == "trip/hotel/1"


def test_rule_4_what_stays_comes_after_what_came_instead() -> None:
    saga = amended(paid()).saga
    assert saga.operations["hotel"].spec.depends_on == ("flight.2",)
    assert "hotel" in saga.dependents["flight.2"]
    assert "hotel" not in saga.dependents["flight"]
    plan = plan_reversal(saga, lambda name, _version: ACTIONS[name])
    order = [each.id for each in plan.operations]
    assert order.index("undo hotel") < order.index("undo flight.2")
    by_id = {each.id: each for each in plan.operations}
    assert "undo hotel" in by_id["undo flight.2"].depends_on


def test_rule_4_a_reversal_undoes_what_stands_now_by_its_own_keys_and_nothing_else() -> None:
    plan = plan_reversal(amended(paid()).saga, lambda name, _version: ACTIONS[name])
    keys = {each.id: each.inputs["key"] for each in plan.operations if not each.id.endswith("send")}
    assert keys == {
        "undo hotel": "trip/hotel/1",
        "undo flight.2": "trip~amendment-1/flight.2/1",
        "undo pay.2": "trip~amendment-1/pay.2/1",
    }


def test_rule_4_an_amendment_undoes_dependents_first_by_the_keys_of_whoever_booked() -> None:
    trip = amended(paid())
    trip.tell(beginning(trip.saga))
    child = another_flight(trip, 3).saga
    undoing = {each.id: each.spec for each in child.in_order() if each.spec.action.endswith(REVERSING)}
    assert undoing["undo.3 flight.2"].inputs["key"] == "trip~amendment-1/flight.2/1"
    assert "undo.3 pay.2" in undoing["undo.3 flight.2"].depends_on
    assert all("pay.3" in each.depends_on for each in undoing.values()), "nothing is undone before the new payment (rule 5)"


def test_a_second_amendment_stands_on_the_first() -> None:
    trip = amended(amended(paid()), 3)
    saga = trip.saga
    assert (saga.plan.version, saga.amendments) == (3, ("trip~amendment-1", "trip~amendment-2"))
    live = {each.id for each in saga.in_order() if each.succeeded and not each.removed}
    assert live == {"flight.3", "hotel", "pay.3", "send"}
    assert operation_key(saga.id, saga.operations["flight.3"]) == "trip~amendment-2/flight.3/1"


def test_rule_9_an_amendment_that_did_not_commit_leaves_the_parent_as_it_was() -> None:
    trip = paid()
    before = trip.saga
    trip.tell(beginning(trip.saga))
    assert trip.saga.amending is not None
    child = Journal(trip.saga.amending.saga, trip.saga.amending.request)
    child.append(e.PlanFoundInfeasible(("nothing is left",)))
    trip.tell(outcome_for_parent(child.saga))
    after = trip.saga
    assert (after.stage, after.plan, after.operations, after.request) == (
        Stage.COMMITTED, before.plan, before.operations, before.request,
    )  # fmt: skip
    assert after.amendment_note == "the change ended infeasible: nothing is left"


def test_what_an_amendment_was_made_for_must_still_be_the_plan() -> None:
    trip = paid()
    stale = beginning(trip.saga)
    amended(trip)
    with pytest.raises(ConflictError, match="changed meanwhile"):
        trip.tell(replace(stale, saga="trip~amendment-2"))


def test_beginning_the_same_amendment_again_changes_nothing() -> None:
    trip = paid()
    command = beginning(trip.saga)
    assert len(trip.tell(command)) == 1
    assert trip.tell(command) == ()


def test_an_amendment_is_not_amended_itself() -> None:
    trip = paid()
    trip.tell(beginning(trip.saga))
    child = another_flight(trip)
    with pytest.raises(NotAllowedError, match="change that one"):
        child.tell(c.BeginAmendment("x", child.saga.request, "ann"))


# -- every order of what people and workers may do ---------------------------------------------------------------------

DEPTH = 6


def _moves(trip: Journal, ended: list[c.Command]) -> Iterator[c.Command]:
    saga = trip.saga
    yield beginning(saga)
    yield c.Cancel("bob", request=saga.last_request + 1)
    yield from ended
    if saga.amending:
        yield outcome_for_parent(another_flight(trip, len(saga.amendments) + 1).saga)
        yield c.EndAmendment(saga.amending.saga, "infeasible")
    if saga.cancel_by or saga.stage is Stage.REVERSING:
        yield c.BeginReversal("trip~reversal")
        live = [each.id for each in saga.in_order() if each.succeeded and not each.removed]
        yield c.EndReversal(dict.fromkeys(live))


def _explored(trip: Journal, ended: list[c.Command], depth: int) -> Iterator[Journal]:
    yield trip
    for move in _moves(trip, ended) if depth else ():
        after = Journal("trip", "wish")
        after.entries, after.saga = list(trip.entries), trip.saga
        try:
            told = after.tell(move)
        except SagaGraphError:
            continue
        if told:
            late = [*ended, move] if isinstance(move, c.AmendSaga | c.EndAmendment) else ended
            yield from _explored(after, late[-2:], depth - 1)


def _faults(trip: Journal) -> Iterator[str]:
    saga = trip.saga
    kinds = [type(each.event) for each in trip.entries]
    if saga.plan.version != 1 + kinds.count(e.SagaAmended):
        yield "the plan version does not count the amendments that committed"
    if kinds.count(e.AmendmentBegun) - kinds.count(e.SagaAmended) - kinds.count(e.AmendmentEnded) != bool(saga.amending):
        yield "more than one amendment is open, or one was told twice"
    if saga.amending and (saga.cancel_by or saga.reversal):
        yield "it is amended and cancelled at once"
    if fold("trip", trip.entries) != saga or index_of(saga) != saga.index:
        yield "it does not fold to the same state (rule 10)"
    yield from _undone_twice(trip)


def _undone_twice(trip: Journal) -> Iterator[str]:
    undone: list[str] = []
    for each in trip.entries:
        if isinstance(each.event, e.SagaAmended | e.SagaReversed):
            undone += each.event.outputs
    if len(undone) != len(set(undone)):
        yield "something was undone twice (I3)"


def test_rule_5_a_change_and_a_cancel_exclude_each_other_in_every_order() -> None:
    seen = [*_explored(paid(), [], DEPTH)]
    assert [fault for each in seen for fault in _faults(each)] == []
    stages = {(each.saga.stage, each.saga.plan.version) for each in seen}
    assert {(Stage.COMMITTED, 3), (Stage.COMPENSATED, 1), (Stage.COMPENSATED, 2), (Stage.AMENDING, 2)} <= stages
    assert len(seen) > 50
