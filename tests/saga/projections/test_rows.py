"""What the rows say of sagas that meet all sorts of things."""

from __future__ import annotations

from typing import Any

import pytest

from sagagraph import Engine, Refused
from sagagraph.errors import OperationFailedError
from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.stores.projections import Projection, project
from sagagraph.validators.verdict import Verdict, Violation
from sagagraph.workflow.condition import All, AnyOf, Comparison, Failed, Not, OutputIs, Succeeded
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import OperationSpec, reference
from tests.saga.service import Service, quick
from tests.saga.story import NO, Story, spec

pytestmark = pytest.mark.quick

COMPENSATABLE, PIVOT, READ_ONLY = ActionKind.COMPENSATABLE, ActionKind.PIVOT, ActionKind.READ_ONLY


class Told(Story):
    """A story that keeps its journal."""

    def __init__(self, *specs: OperationSpec) -> None:
        self.entries = [e.Entry(1, 1, 100.0, e.SagaBegun(e.Driver.WORKFLOW, "test", {"to": "Oslo"}))]
        super().__init__(*specs)

    def append(self, *events: e.Event, epoch: int | None = None) -> tuple[e.Event, ...]:
        for event in events:
            self.now += 1.0
            super().append(event, epoch=epoch)
            self.entries.append(e.Entry(self.saga.version, self.saga.epoch, self.now, event))
        return events

    @property
    def rows(self) -> Projection:
        return project("trip", self.entries)


def versions(rows: Projection, entity: str) -> list[tuple[str, int, int | None]]:
    return [(each.state, each.from_version, each.until_version) for each in rows.entity_versions if each.entity == entity]


# -- S_A -----------------------------------------------------------------------------------------------------------------


def test_every_state_of_a_thing_is_a_version_of_it() -> None:
    told = Told(spec("flight"))
    told.succeed("flight")
    told.append(e.SagaTurnedBack("enough"), e.CompensationStarted("flight", 1, 1, "k", 200.0))
    told.append(e.OperationCompensated("flight", {"fee": 3}), e.SagaCompensated())
    rows = told.rows
    assert versions(rows, "flight") == [("live", 4, 6), ("undoing", 6, 7), ("cancelled", 7, None)]
    (flight,) = [each for each in rows.application_state if each.entity == "flight"]
    assert (flight.state, flight.version, flight.data, flight.undo_data) == ("cancelled", 3, {"booked": "flight"}, {"fee": 3})
    assert (flight.created_at, flight.updated_at) == (told.entries[3].at, told.entries[6].at)
    assert versions(rows, "request") == [("given", 1, None)]
    taken = [(each.cause, each.status, len(each.entities)) for each in rows.state_snapshots]
    assert taken == [("plan accepted", "running", 1), ("turned back", "compensating", 2), ("compensated", "compensated", 2)]


def test_what_was_read_and_what_never_landed() -> None:
    told = Told(spec("look", READ_ONLY), spec("flight"))
    told.succeed("look")
    told.lose("flight")
    told.append(e.OperationGivenUp("flight", "enough"), e.VoidStarted("flight", 1, "k", 200.0), e.OperationVoided("flight", None))
    rows = told.rows
    assert versions(rows, "look") == [("read", 4, None)]
    assert versions(rows, "flight") == []


def test_a_plan_has_versions_too() -> None:
    told = Told()
    told.append(e.PlanProposed("h1", {"n": 1}, None), e.PlanJudged("h1", {"verdict": "INVALID"}))
    told.append(e.PlanProposed("h2", {"n": 2}, None), e.PlanJudged("h2", {"verdict": "VALID"}), e.ApprovalAsked("h2"))
    told.append(e.PlanApproved("h2", "Ada"), e.PlanAccepted(1, (spec("flight"),)))
    rows = told.rows
    assert [state for state, *_ in versions(rows, "plan")] == [
        "proposed",
        "invalid",
        "proposed",
        "valid",
        "approved",
        "accepted",
    ]
    assert [each.data for each in rows.application_state if each.entity == "plan"] == [{"n": 2}]


# -- S_O -----------------------------------------------------------------------------------------------------------------


def test_rule_2_every_call_is_a_row_with_its_key_and_its_end() -> None:
    told = Told(spec("flight"))
    told.lose("flight")
    told.take_over()
    told.call("flight")
    told.take_over()
    told.probe("flight", e.ProbeAnswer.UNKNOWN)
    told.probe("flight", e.ProbeAnswer.LANDED)
    rows = told.rows
    calls = [(each.call, each.attempt, each.epoch, each.idempotency_key, each.outcome) for each in rows.operation_attempts]
    assert calls[:2] == [
        ("action", 1, 1, "trip/flight/1", "lost"),
        ("action", 2, 2, "trip/flight/1", "abandoned"),
    ]
    assert [each[0] for each in calls[2:]] == ["probe", "probe"]
    assert [each.outcome for each in rows.operation_attempts[2:]] == ["unknown", "landed"]
    (flight,) = rows.operation_state
    assert (flight.attempts, flight.lost_attempts, flight.probes, flight.status) == (2, 2, 2, told["flight"].status)
    assert flight.took_s == told["flight"].ended_at - told["flight"].begun_at
    assert flight.calling_s == sum(each.duration_s or 0 for each in rows.operation_attempts[:2])


def test_rule_6_evidence_ends_the_call_that_it_acknowledges() -> None:
    told = Told(spec("flight", dedup_s=1e6))
    told.call("flight")
    told.take_over()
    told.tell(c.EvidenceFound("flight", c.CallKind.ACTION, "trip/flight/1", {"id": 7}))
    (call,) = told.rows.operation_attempts
    assert (call.outcome, call.via) == ("succeeded", "evidence")
    assert told.rows.operation_state[0].output == {"id": 7}


def test_a_refused_call_and_its_next_generation() -> None:
    told = Told(spec("flight"))
    told.call("flight")
    told.tell(c.ActionRefused("flight", NO, True, 0.0))
    told.succeed("flight")
    rows = told.rows
    assert [(each.generation, each.outcome, each.error_code) for each in rows.operation_attempts] == [
        (1, "refused", "sold_out"),
        (2, "succeeded", None),
    ]
    assert rows.operation_state[0].refused_attempts == 1


def test_rule_4_what_must_come_first_and_what_undoing_rests_on() -> None:
    told = Told(spec("a", dedup_s=60.0, void=True), spec("b", COMPENSATABLE, "a"), spec("c", COMPENSATABLE, "b"))
    told.succeed("a", "b")
    undo = {each.operation: each for each in told.rows.compensation_state}
    assert {name: each.state for name, each in undo.items()} == {"a": "blocked", "b": "possible", "c": "nothing"}
    assert (undo["a"].prerequisites, undo["a"].open_prerequisites) == (("b",), ("b",))
    assert (undo["b"].prerequisites, undo["b"].open_prerequisites) == (("c",), ())
    assert (undo["a"].inverse, undo["a"].has_void, undo["a"].has_probe) == ("compensation", True, True)
    assert undo["a"].key_remembered_until == told["a"].first_call_at + 60.0
    told.succeed("c")
    assert [each.state for each in told.rows.compensation_state] == ["blocked", "blocked", "possible"]


def test_rule_5_what_comes_after_the_pivot_is_undone_by_a_reversal() -> None:
    told = Told(spec("a"), spec("pay", PIVOT, "a"))
    told.succeed("a", "pay")
    assert [(each.inverse, each.state) for each in told.rows.compensation_state] == [
        ("compensation", "by_reversal"),
        ("reversal", "by_reversal"),
    ]


def test_why_an_operation_was_planned_is_kept() -> None:
    action = Service().action("flight")
    why = action.spec(
        "f", {"to": "Oslo"}, reasoning="first …", justification="the cheapest", alternatives=({"no": 1},), resources=("seat 1",)
    )
    (row,) = Told(why).rows.operation_state
    assert (row.reasoning, row.justification, row.alternatives) == ("first …", "the cheapest", ({"no": 1},))


def test_who_decided_is_told() -> None:
    told = Told(spec("flight", probe=False))
    told.lose("flight")
    told.append(e.OperationHeld("flight", "nobody knows"))
    told.tell(c.Resolve("flight", e.Resolution.LANDED, "Ada", {"id": 1}))
    told.append(e.CancelRequested("Bob"))
    assert [(each.subject, each.decision, each.decided_by, each.reasons) for each in told.rows.decisions][1:] == [
        ("flight", "held", "engine", ("nobody knows",)),
        ("flight", "resolved as landed", "Ada", ()),
        ("trip", "cancel asked for", "Bob", ()),
    ]


# -- S_D -----------------------------------------------------------------------------------------------------------------


def edges(rows: Projection) -> list[tuple[Any, ...]]:
    return [(each.operation, each.depends_on, each.kind, each.through, each.value, each.status) for each in rows.dependency_state]


def test_edges_are_causal_data_and_resource() -> None:
    action = Service().action("pay")
    hotel = action.spec("hotel", {"for": reference("flight", "seats", 0), "n": [reference("flight", "id")]}, ("flight",))
    told = Told(
        action.spec("flight", None, resources=("room",)), hotel, action.spec("spa", None, ("hotel",), resources=("room",))
    )
    told.call("flight")
    told.tell(c.ActionReplied("flight", {"id": 7, "seats": ["A", "B"]}))
    assert edges(told.rows) == [
        ("hotel", "flight", "causal", "", None, "open"),
        ("hotel", "flight", "data", "seats.0", None, "open"),
        ("hotel", "flight", "data", "id", None, "open"),
        ("spa", "hotel", "causal", "", None, "open"),
        ("spa", "flight", "resource", "room", None, "open"),
    ]
    told.call("hotel")
    assert edges(told.rows)[:3] == [
        ("hotel", "flight", "causal", "", None, "satisfied"),
        ("hotel", "flight", "data", "seats.0", "A", "satisfied"),
        ("hotel", "flight", "data", "id", 7, "satisfied"),
    ]
    assert [(each.operation, each.state) for each in told.rows.resource_allocations] == [("flight", "taken"), ("spa", "wanted")]
    assert told.rows.operation_state[1].sent_inputs == {"for": "A", "n": [7]}


def test_a_condition_is_kept_with_what_decided_it() -> None:
    condition = AnyOf(
        (
            All((Succeeded("a"), Not(OutputIs("a", ("booked",), Comparison.EQUAL, "a")))),
            Failed("b", ("late", "lost")),
        )
    )
    last = OperationSpec("last", "act", COMPENSATABLE, None, ("a", "b"), condition)
    told = Told(spec("a"), spec("b"), last)
    told.succeed("a")
    told.call("b")
    told.tell(c.ActionRefused("b", NO, False, 0.0))
    told.append(e.OperationSkipped("last", "its condition does not hold"))
    (evaluated,) = [each for each in told.rows.constraint_evaluations if each.kind == "condition"]
    assert evaluated.rule == '(succeeded(a) and not (a.booked == "a")) or failed(b: late, lost)'
    assert (evaluated.holds, evaluated.at, evaluated.subject) == (False, told.now, "last")
    assert evaluated.evidence == {
        "operations": {
            "a": {"status": "succeeded", "error_code": None},
            "b": {"status": "failed", "error_code": "sold_out"},
        },
        "values": {"a.booked": "a"},
    }
    assert {each.status for each in told.rows.dependency_state} == {"unsatisfied"}


class Judge:
    name = "judge"
    version = 3

    def __init__(self, verdict: Verdict) -> None:
        self._verdict = verdict

    def validate(self, artifact: Any, context: Any) -> Verdict:
        return self._verdict


BROKEN = Violation(code="TOO_DEAR", message="it costs too much", scope={"leg": 1}, evidence={"found": 9, "allowed": 5})


@pytest.mark.parametrize("kind", ["compensatable", "read-only", "pivot"])
async def test_a_verdict_and_each_violation_are_kept_whatever_follows(engine: Engine, service: Service, kind: str) -> None:
    flight = service.action("flight", undoable=kind == "compensatable", kind=kind, validators=[Judge(Verdict.of([BROKEN]))])
    with pytest.raises(Exception, match="it costs too much"):
        async with engine.saga("trip") as saga:
            await saga.run(flight)
    rows = await engine.project("trip")
    found = [each for each in rows.constraint_evaluations if each.subject == "flight-1" and each.kind in ("output", "violation")]
    assert [(each.kind, each.rule, each.holds) for each in found] == [
        ("output", "judge", False),
        ("violation", "TOO_DEAR", False),
    ]
    assert found[1].evidence == {"scope": {"leg": 1}, "evidence": {"found": 9, "allowed": 5}}
    assert found[1].certificate == found[0].certificate
    assert found[0].certificate is not None
    assert found[0].certificate["version"] == 3


async def test_an_outage_of_a_validator_is_kept_as_not_judged(engine: Engine, service: Service) -> None:
    answers = [Verdict.unknown("down"), Verdict.of([])]

    class Flaky(Judge):
        def validate(self, artifact: Any, context: Any) -> Verdict:
            return answers.pop(0)

    async with engine.saga("trip") as saga:
        await saga.run(service.action("flight", probe=True, validators=[Flaky(Verdict.of([]))], policy=quick()))
    rows = await engine.project("trip")
    judged = [(each.holds, each.message) for each in rows.constraint_evaluations if each.kind == "output"]
    assert judged == [(None, "down"), (True, "")]


async def test_a_body_is_projected_with_its_decisions(engine: Engine, service: Service) -> None:
    async def no(_land: Any) -> Any:
        raise Refused("sold out", code="sold_out")

    service.on("do hotel", no)
    with pytest.raises(OperationFailedError):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
            await saga.run(service.action("hotel"))
    rows = await engine.project("trip")
    assert (rows.saga.status, rows.saga.driver, rows.saga.operations) == ("compensated", "body", 2)
    assert [each.status for each in rows.operation_state] == ["compensated", "failed"]
    assert [each.decision for each in rows.decisions] == ["body failed", "turned back", "compensated"]
    final = rows.constraint_evaluations[-1]
    assert (final.kind, final.evidence) == ("final_check", {"unverified": ["flight-1", "hotel-1"]})


def test_rule_4_what_is_live_behind_a_closed_operation_blocks_too() -> None:
    handler = OperationSpec("c", "act", COMPENSATABLE, None, ("b",), Failed("b"))
    told = Told(spec("a"), spec("b", COMPENSATABLE, "a"), handler)
    told.succeed("a")
    told.call("b")
    told.append(e.OperationFailed("b", NO))
    told.succeed("c")
    undo = {each.operation: each for each in told.rows.compensation_state}
    assert (undo["a"].state, undo["a"].open_prerequisites) == ("blocked", ())


def test_rule_9_what_the_last_check_contradicts_is_in_doubt() -> None:
    told = Told(spec("flight"))
    told.succeed("flight")
    told.append(e.OperationHeld("flight", "the last check found it absent"))
    assert [state for state, *_ in versions(told.rows, "flight")] == ["live", "in_doubt"]
