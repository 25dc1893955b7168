"""Running: the loop as a saga. Every question is an operation, so a run that was killed continues where it was.

A paradox leaves the saga open until a person overrides a limit; every other outcome except success compensates it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from sagagraph.errors import NotAllowedError, SagaGraphError, UnknownSagaError
from sagagraph.harness.judging.check import RuleVerdict
from sagagraph.harness.life.records import Override, Records, overlaid, report_hash
from sagagraph.harness.loop.convergence import End, Executor, Run, Slice, converge
from sagagraph.harness.loop.decomposition import SCHEMA, Decomposer, decompose
from sagagraph.harness.loop.executors import data_of
from sagagraph.harness.loop.external import Validators, ask
from sagagraph.harness.proof.explain import explanation_json, point_json
from sagagraph.harness.registry.harness import Harness
from sagagraph.saga.core.call import Call
from sagagraph.saga.core.state import Stage
from sagagraph.saga.engine.actions import Action, action
from sagagraph.saga.engine.body import BodySaga
from sagagraph.saga.engine.engine import Engine

Q = TypeVar("Q")
Shown = Mapping[str, Any]
_NOBODY: Final[Validators] = {}


class ParadoxError(NotAllowedError):
    """No artifact passes all rules: a person has to decide. The saga stays open; `report` is the hash to which an override is
    bound.
    """

    exit_code = 1

    def __init__(self, message: str, *, saga_id: str, report: str, run: Run) -> None:
        super().__init__(message, saga_id=saga_id)
        self.report = report
        self.run = run


class NotConvergedError(SagaGraphError):
    """The run ended in neither success nor a paradox; what it did is compensated."""

    exit_code = 1
    leaves_saga_open = False

    def __init__(self, message: str, *, saga_id: str, run: Run) -> None:
        super().__init__(message, saga_id=saga_id)
        self.run = run


class Begun(BaseModel):
    harness: str
    version: int
    hash: str


class Asked(BaseModel):
    attempt: str
    slice: dict[str, Any]
    answer_schema: dict[str, Any]


class Said(BaseModel):
    answer: Any = None


class Validated(BaseModel):
    rule: str
    artifact: dict[str, Any]


class Judged(BaseModel):
    verdict: RuleVerdict
    reason: str


class Consumed(BaseModel):
    report: str
    today: str


@dataclass(frozen=True, slots=True)
class Asking:
    """Request in words, and who decomposes it into tasks."""

    request: str
    decomposer: Decomposer


async def run_harness(
    engine: Engine,
    harness: Harness,
    saga_id: str,
    executor: Executor,
    records: Records,
    today: date,
    asking: Asking | None = None,
    allowed: Validators = _NOBODY,
) -> Run:
    """Run the loop for a harness as this saga, or resume it. Without `asking`, tasks follow the rules. `allowed`: external
    validators that may be asked, once for each rule; their answers are in the journal.

    Raises:
        ParadoxError: proven; override, then run the same id again.
        NotConvergedError: compensated.
        ConflictError: the id was begun with another harness, or the harness was changed after it was frozen.
    """
    await records.require_unchanged(harness)
    async with engine.saga(saga_id) as saga:
        await saga.run(_begin, Begun(harness=harness.id, version=harness.version, hash=harness.hash), id="begin")

        async def converged(turn: str, rules: Harness) -> Run:
            ask = _journalled(saga, "harness_ask", turn, executor, lambda seen: (data_of(seen), seen.schema))
            tasks = None
            if asking is not None:
                divide = _journalled(saga, "harness_decompose", turn, asking.decomposer, lambda question: (question, SCHEMA))
                tasks = partial(decompose, harness, asking.request, divide)
            return await converge(rules, ask, decomposed=tasks)

        found = await converged("ask", harness)
        if found.end is End.FAILED_PARADOX and found.explanation is not None:
            report = report_hash(harness, found.explanation)
            if await records.override_of(report) is None:
                raise ParadoxError(f"saga {saga_id!r}: no artifact passes all rules: override a limit of report {report}",
                                   saga_id=saga_id, report=report, run=found)  # fmt: skip
            consumed = Consumed(report=report, today=today.isoformat())
            given = await saga.run(_consuming(records, saga_id), consumed, id=f"override-{report[:16]}")
            found = await converged("after", overlaid(harness, given))
        if found.end is End.SUCCESS:
            found = await _judged_outside(saga, harness, found, allowed)
        if found.end is not End.SUCCESS:
            reason = found.reason or "not all rules pass"
            raise NotConvergedError(f"saga {saga_id!r}: {found.end}: {reason}", saga_id=saga_id, run=found)
    return found


async def _judged_outside(saga: BodySaga, harness: Harness, found: Run, allowed: Validators) -> Run:
    """Ask for each rule that an external validator judges; the run succeeds only if all pass."""
    for rule in (each for each in harness.rules if each.uses):

        async def validate(request: Validated, call: Call) -> Judged:  # noqa: ARG001 - actions take a call
            said = await ask(harness, harness.rule(request.rule), request.artifact, allowed)
            return Judged(verdict=said.verdict, reason=said.reason)

        asked = Validated(rule=rule.id, artifact=dict(found.artifact))
        said = await saga.run(action(kind="read-only", name="harness_validate")(validate), asked, id=f"outside-{rule.id}")
        if said.verdict is not RuleVerdict.PASS:
            end = End.UNDECIDED if said.verdict is RuleVerdict.UNKNOWN else End.NO_CONVERGENCE
            return replace(found, end=end, reason=f"{rule.id} is {said.verdict} outside: {said.reason}")
    return found


async def artifact_of(engine: Engine, harness: Harness, saga_id: str, records: Records, today: date) -> Mapping[str, Any]:
    """Return what a successful run decided, from its journal: nobody is asked. Raises `NotAllowedError` for any other run."""
    head = await engine.store.headline(saga_id)
    if head is None:
        raise UnknownSagaError(f"no run has the id {saga_id!r}", saga_id=saga_id)
    if head.stage is not Stage.COMMITTED:
        raise NotAllowedError(f"run {saga_id!r} has not succeeded", saga_id=saga_id)

    async def nobody(_seen: Slice, _attempt: str) -> Any:
        raise NotAllowedError(f"run {saga_id!r} was decided by another version of the rules", saga_id=saga_id)

    return (await run_harness(engine, harness, saga_id, nobody, records, today)).artifact


async def ended_json(harness: Harness, saga_id: str, running: Awaitable[Run]) -> dict[str, Any]:
    """Return the outcome of a run, for JSON, however it ends. `report`: of a paradox, the hash to which an override is bound."""
    report = ""
    try:
        found = await running
    except ParadoxError as exc:
        found, report = exc.run, exc.report
    except NotConvergedError as exc:
        found = exc.run
    explained = explanation_json(harness, found.explanation) if found.explanation else {}
    attempts = [{"variable": each.variable, "attempt": each.number, "proposed": each.proposed, "verdict": each.verdict,
                 "gradient": each.gradient.json() if each.gradient else None} for each in found.attempts]  # fmt: skip
    return {"saga_id": saga_id, "end": found.end.value, "artifact": dict(found.artifact), "attempts": attempts, "report": report,
            "conflicts": explained.get("conflicts", []), "relaxations": explained.get("relaxations", []),
            "witness": point_json(found.witness) if found.witness else None, "reason": found.reason}  # fmt: skip


@action(kind="read-only", name="harness_begin")
async def _begin(request: Begun, call: Call) -> Begun:  # noqa: ARG001 - actions take a call
    """Bind the saga's id to the harness: another one under the same id is a conflict."""
    return request


def _journalled(
    saga: BodySaga, name: str, turn: str, answer: Callable[[Q, str], Awaitable[Any]], shown: Callable[[Q], tuple[Shown, Shown]]
) -> Callable[[Q, str], Awaitable[Any]]:
    """Wrap whoever answers, so that each answer is an operation. `shown`: a question's data and the schema of its answer."""

    async def through(question: Q, attempt: str) -> Any:
        async def ask(request: Asked, call: Call) -> Said:  # noqa: ARG001 - actions take a call
            return Said(answer=await answer(question, request.attempt))

        data, schema = shown(question)
        asked = Asked(attempt=attempt, slice=dict(data), answer_schema=dict(schema))
        return (await saga.run(action(kind="read-only", name=name)(ask), asked, id=f"{turn}-{attempt}")).answer

    return through


def _consuming(records: Records, saga_id: str) -> Action:
    async def consume(request: Consumed, call: Call) -> Override:  # noqa: ARG001 - actions take a call
        given = await records.consume(request.report, saga_id, date.fromisoformat(request.today))
        if given is None:
            raise NotAllowedError("the override has expired, or another run has used it", saga_id=saga_id)
        return given

    return action(kind="read-only", name="harness_override")(consume)
