"""A context that was given out once can be given out again, from the journal alone."""

from __future__ import annotations

import pytest

from benchmarks.context.histories import LAST, SAGA, history
from sagagraph import Engine, Verdict
from sagagraph.context.manager import ContextManager
from sagagraph.context.selector import Need, context_of
from sagagraph.errors import ContextMismatchError
from sagagraph.saga.core import events as e
from sagagraph.saga.engine.calling.validation import source_at
from sagagraph.validators.registry import facts_of, slice_for
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import OperationSpec
from tests.saga.service import Service

pytestmark = pytest.mark.quick

NEED = Need(wishes=("budget",))


def test_a_context_is_restored_at_every_version_with_the_hash_that_it_had() -> None:
    entries = history("tangle", 12)
    first = ContextManager(source_at(SAGA, entries))
    for version in range(10, len(entries) + 1):
        operation = f"book-{(version - 10) // 3}"
        given = first.issue(f"agent {version}", operation, NEED, version)
        (issued,) = [each for each in first.issued if each.agent == f"agent {version}"]
        again = ContextManager(source_at(SAGA, entries)).restore(issued)
        assert (again, again.hash, again.tokens) == (given, issued.hash, issued.tokens)


def test_what_happened_since_does_not_get_into_a_context_that_is_restored() -> None:
    entries = history("chain", 6)
    manager = ContextManager(source_at(SAGA, entries))
    before = manager.issue("validator", "book-3", NEED, 12)
    after = manager.issue("validator", "book-3", NEED, len(entries))
    assert "output of book-2" in before.facts
    assert before == after
    assert [each.version for each in manager.issued] == [len(entries)]


def test_a_journal_that_says_something_else_now_is_noticed() -> None:
    entries = history("fan-in", 4)
    manager = ContextManager(source_at(SAGA, entries))
    manager.issue("validator", LAST, NEED, 14)
    (issued,) = manager.issued
    forged = tuple(
        e.Entry(each.version, each.epoch, each.at, e.OperationSucceeded("book-1", {"price": 1})) if each.version == 7 else each
        for each in entries
    )
    with pytest.raises(ContextMismatchError, match="the context of validator at version 14"):
        ContextManager(source_at(SAGA, forged)).restore(issued)


class Reader:
    """Declares what it reads of the request."""

    name, version = "reader", 1
    reads = ("budget",)

    def __init__(self) -> None:
        self.seen: list[dict[str, object]] = []

    def validate(self, artifact: object, context: object) -> object:
        self.seen.append(context.facts)  # type: ignore[attr-defined]
        return Verdict.of([])


async def test_a_validator_of_an_action_is_shown_what_it_declares_and_its_ancestors(memory_engine: Engine) -> None:
    service, reader = Service(), Reader()
    async with memory_engine.saga("trip") as saga:
        first = await saga.run(service.action("check"))
        second = await saga.run(service.action("flight"), after=[first])
        await saga.run(service.action("hotel", validators=[reader]), {"nights": 3}, after=[second])
    (facts,) = reader.seen
    assert set(facts) == {"inputs", "output of check-1", "output of flight-1"}
    replayed = await memory_engine.replay("trip")
    assert (replayed.validators, replayed.differences) == (1, ())


def test_declared_facts_are_told_apart_by_name() -> None:
    assert slice_for(Reader(), facts_of({"budget": 1, "secret": 2})).facts == {"budget": 1}  # type: ignore[arg-type]


def test_what_a_planner_thought_is_in_nobody_s_context() -> None:
    spec = OperationSpec(
        "T2",
        "pay",
        ActionKind.READ_ONLY,
        {"amount": 5},
        ("T1",),
        reasoning="SECRET",
        justification="SECRET",
        alternatives=("SECRET",),
    )
    before = OperationSpec("T1", "book", ActionKind.READ_ONLY, {}, reasoning="SECRET")
    entries = [
        e.SagaBegun(e.Driver.WORKFLOW, "travel", {"budget": 9}),
        e.PlanProposed("h", {"note": "SECRET"}, {}, ("SECRET",), ("SECRET",)),
        e.PlanJudged("h", {"verdict": "VALID"}, "SECRET"),
        e.PlanApproved("h", "ann"),
        e.PlanAccepted(1, (before, spec)),
        e.AttemptStarted("T1", 1, 1, "k", 9.0),
        e.OperationSucceeded("T1", {"number": 1}),
    ]
    source = source_at("s", [e.Entry(version, 1, 0.0, event) for version, event in enumerate(entries, 1)])(len(entries))
    context = context_of(source, "T2", Need(wishes=("budget", "reasoning", "messages", "reasons")))
    assert context.facts == {"inputs": {"amount": 5}, "budget": 9, "output of T1": {"number": 1}}
