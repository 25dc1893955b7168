"""Whatever happened to a saga, its rows say what the fold says, at every version."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import HealthCheck, given, settings

from sagagraph.saga.core import codec
from sagagraph.saga.core import events as e
from sagagraph.saga.core.dependencies import is_closed
from sagagraph.saga.core.evolve import evolve
from sagagraph.saga.core.evolve.evolve import fold
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.core.status import OperationStatus
from sagagraph.saga.stores.projections import Projection, project
from sagagraph.workflow.kind import ActionKind
from tests.saga.cases import Case
from tests.saga.explorer import Explorer
from tests.saga.test_index import all_cases, may_be_undone
from tests.saga.test_random_sagas import TROUBLES, Journal, apart, choices, walk

randomly = settings(max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


def journal_of(case: Case, picks: list[int]) -> list[e.Entry]:
    journal = Journal()
    with patch.object(evolve, "evolve", journal.evolve):
        state = walk(Explorer(case, TROUBLES, symmetric=False, key=apart), picks[:120])
    entries = [e.Entry(1, 1, 0.0, e.SagaBegun(case.driver, "exploration", None)), *(entry for _, entry in journal.of(state.saga))]
    return [e.Entry(each.version, each.epoch, each.at, codec.decode(codec.encode(each.event), each.at)) for each in entries]


@randomly
@given(all_cases(), choices)
def test_rows_say_what_the_fold_says(case: Case, picks: list[int]) -> None:
    entries = journal_of(case, picks)
    for version in {*range(1, len(entries), 7), len(entries)}:
        saga, rows = fold("s", entries[:version]), project("s", entries[:version])
        assert_operations(saga, rows)
        assert_attempts(saga, rows, entries[:version])
        assert_entities(saga, rows, version)
        assert_undoing(saga, rows)
        assert_dependencies(saga, rows)


def assert_operations(saga: Saga, rows: Projection) -> None:
    assert rows.saga.status == status_of(saga).value
    assert rows.saga.journal_version == saga.version
    found = [(each.operation, each.status, each.attempts, each.generation, each.output) for each in rows.operation_state]
    assert found == [(each.id, each.status.value, each.total_attempts, each.generation, each.output) for each in saga.in_order()]


def assert_attempts(saga: Saga, rows: Projection, entries: list[e.Entry]) -> None:
    started = [
        each.version for each in entries if isinstance(each.event, e.AttemptStarted | e.VoidStarted | e.CompensationStarted)
    ]
    calls = [each for each in rows.operation_attempts if each.call != "probe"]
    assert [each.journal_version for each in calls] == started
    out = {each.operation for each in calls if each.outcome is None}
    assert out == {each.id for each in saga.operations.values() if each.in_flight}
    for operation in saga.operations.values():
        mine = [each for each in calls if each.operation == operation.id]
        assert sum(each.call in ("action", "claim") for each in mine) == operation.total_attempts


def assert_entities(saga: Saga, rows: Projection, version: int) -> None:
    """What lives outside as far as the fold knows is what the rows call live; each version begins where the last one ends."""
    live = {each.entity for each in rows.application_state if each.state in ("live", "read", "rejected")}
    assert live == {each.id for each in saga.operations.values() if each.status is OperationStatus.SUCCEEDED}
    for entity in rows.application_state:
        mine = [each for each in rows.entity_versions if (each.entity_type, each.entity) == (entity.entity_type, entity.entity)]
        assert [each.version for each in mine] == list(range(1, entity.version + 1))
        assert [each.until_version for each in mine] == [*(each.from_version for each in mine[1:]), None]
        assert (mine[-1].state, mine[-1].data) == (entity.state, entity.data)
        assert mine[-1].from_version <= version


def assert_undoing(saga: Saga, rows: Projection) -> None:
    undo = {each.operation: each for each in rows.compensation_state}
    with_effect = {each.id: each for each in saga.operations.values() if each.has_effect}
    assert undo.keys() == with_effect.keys()
    for name, operation in with_effect.items():
        is_undoable = operation.spec.kind is ActionKind.COMPENSATABLE and not saga.pivot_has_landed
        if operation.status is OperationStatus.SUCCEEDED and is_undoable:
            assert undo[name].state == ("possible" if may_be_undone(saga, name) else "blocked")
        if undo[name].state in ("nothing", "done"):
            assert is_closed(operation)


def assert_dependencies(saga: Saga, rows: Projection) -> None:
    causal = [(each.operation, each.depends_on) for each in rows.dependency_state if each.kind == "causal"]
    assert causal == [(each.id, name) for each in saga.in_order() for name in each.spec.depends_on]
    for each in rows.dependency_state:
        called = saga.operations[each.operation].total_attempts > 0
        assert (each.status == "satisfied") == called
    for evaluated in rows.constraint_evaluations:
        if evaluated.kind == "condition":  # a call goes out where it holds, and nothing is skipped where it does
            skipped = saga.operations[evaluated.subject].status is OperationStatus.SKIPPED
            assert evaluated.holds or skipped
