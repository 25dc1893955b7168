"""Replay: does a journal still say what it said, and would the validators still judge as they did?

`refold` is pure: it checks every prefix of the journal, the keys that its intents were given, the codec and the head. `rejudge`
shows the validators what they were shown before. Neither writes anything (docs/protocol.md rule 10).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sagagraph.errors import SagaGraphError, UnknownActionError
from sagagraph.saga.core import events as e
from sagagraph.saga.core.codec import decode, encode
from sagagraph.saga.core.evolve.evolve import begin, evolve, fold
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.redaction import is_redacted
from sagagraph.saga.core.state import Operation, Saga, operation_key, undo_key, void_key
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.actions import Find
from sagagraph.saga.engine.calling.validation import judged_output
from sagagraph.saga.stores.port import Headline
from sagagraph.validators.verdict import Certificate, Verdict, VerdictStatus
from sagagraph.workflow.values import Json

JudgePlan = Callable[[Json, Json, Json], Awaitable[Verdict]]
"""A domain's judgement: by the request, of the plan, and by what its validators were shown of the world."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference: `what` differs at `version`, what the journal says, and what the replay says instead."""

    version: int
    what: str
    journal: Json
    replay: Json


@dataclass(frozen=True, slots=True)
class Replay:
    """Result of a replay. `validators` counts the repeated verdicts; `unchecked` says why others were not repeated."""

    saga_id: str
    versions: int
    status: SagaStatus
    validators: int
    differences: tuple[Difference, ...]
    unchecked: tuple[str, ...]


class Turn(NamedTuple):
    """One line of a journal, and the states before and after it."""

    before: Saga | None
    entry: e.Entry
    after: Saga


def turns(saga_id: str, entries: Sequence[e.Entry]) -> Iterator[Turn]:
    """Fold a journal one line at a time. Raises `JournalError` for a journal that cannot be folded."""
    saga: Saga | None = None
    for entry in entries:
        after = begin(saga_id, entry) if saga is None else evolve(saga, entry)
        yield Turn(saga, entry, after)
        saga = after


# -- pure: the fold, the keys, the codec, the head -------------------------------------------------------------------


def refold(saga_id: str, entries: Sequence[e.Entry], headline: Headline | None) -> tuple[Difference, ...]:
    """Return where the journal differs when it is folded again, with its events sent through the codec again."""
    found: list[Difference] = []
    for turn in turns(saga_id, entries):
        entry = turn.entry
        rewritten = decode(encode(entry.event), entry.at)
        if rewritten != entry.event:
            found.append(Difference(entry.version, "the event, written and read again", repr(entry.event), repr(rewritten)))
        reread = e.Entry(entry.version, entry.epoch, entry.at, rewritten)
        # Both start from the same state before: comparing two separate folds would mean comparing every state from there on.
        again = begin(saga_id, reread) if turn.before is None else evolve(turn.before, reread)
        if again != turn.after:
            found.append(Difference(entry.version, "the state, folded again", *_unlike(turn.after, again)))
        found += _wrong_keys(turn)
    return (*found, *_wrong_head(fold(saga_id, entries), headline))


def _unlike(one: Saga, other: Saga) -> tuple[Json, Json]:
    """Return the operations in which two states differ; the whole states if they differ elsewhere."""
    names = [each for each in {*one.operations, *other.operations} if one.operations.get(each) != other.operations.get(each)]
    if not names:
        return repr(one), repr(other)
    first, second = ({name: repr(saga.operations.get(name)) for name in sorted(names)} for saga in (one, other))
    return first, second


def _wrong_keys(turn: Turn) -> Iterator[Difference]:
    event, saga = turn.entry.event, turn.after
    match event:
        case e.AttemptStarted():
            expected = operation_key(saga.id, saga.operations[event.operation])
        case e.VoidStarted():
            expected = void_key(saga.id, saga.operations[event.operation])
        case e.CompensationStarted():
            expected = undo_key(saga.id, saga.operations[event.operation], event.generation)
        case _:
            return
    if event.key != expected:
        yield Difference(turn.entry.version, f"the key of {event.operation}", event.key, expected)


def _wrong_head(saga: Saga, headline: Headline | None) -> Iterator[Difference]:
    if headline is None:
        return
    for what, head, folded in (("stage", headline.stage, saga.headline_stage), ("version", headline.version, saga.version)):
        if head != folded:
            yield Difference(saga.version, f"the {what} at the head", head, folded)


# -- the validators --------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Judged:
    validators: int = 0
    differences: list[Difference] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)


async def replay(
    saga_id: str, entries: Sequence[e.Entry], headline: Headline | None, find: Find, judge_plan: JudgePlan | None = None
) -> Replay:
    """Replay a journal. Raises `JournalError` if it cannot be folded; the result holds every other difference."""
    differences = refold(saga_id, entries, headline)
    judged = _Judged()
    for turn in turns(saga_id, entries):
        match turn.entry.event:
            case e.OperationSucceeded() | e.OperationRejected():
                await _rejudge_output(turn, find, judged)
            case e.PlanJudged():
                await _rejudge_plan(turn, judge_plan, judged)
    saga = fold(saga_id, entries)
    return Replay(
        saga_id,
        saga.version,
        status_of(saga),
        judged.validators,
        (*differences, *judged.differences),
        tuple(dict.fromkeys(judged.unchecked)),
    )


async def _rejudge_output(turn: Turn, find: Find, judged: _Judged) -> None:
    event, saga = turn.entry.event, turn.before
    if saga is None or not isinstance(event, e.OperationSucceeded | e.OperationRejected):
        return
    operation = saga.operations[event.operation]
    where = f"{operation.id} (version {turn.entry.version})"
    recorded = [Verdict.model_validate(each) for each in event.verdicts]
    try:
        action = find(operation.spec.action, operation.spec.action_version)
    except UnknownActionError as exc:
        if recorded:
            judged.unchecked.append(f"{where}: {exc}")
        return
    if not recorded:
        if action.validators:
            judged.unchecked.append(f"{where}: it was adopted without a verdict ({event.via.value})")
        return
    if is_redacted((event.output, _inputs_of(saga, operation))):
        judged.unchecked.append(f"{where}: what its validators were shown is redacted")
        return
    await _compare_outputs(
        turn.entry.version, where, recorded, await judged_output(saga, operation, action, event.output), judged
    )


def _inputs_of(saga: Saga, operation: Operation) -> Json:
    return operation.spec.inputs, [saga.outputs.get(name) for name in operation.spec.depends_on]


async def _compare_outputs(
    version: int, where: str, recorded: Sequence[Verdict], again: Sequence[Verdict], judged: _Judged
) -> None:
    if [_name(each) for each in recorded] != [_name(each) for each in again]:
        then, now = (", ".join(map(_name, each)) or "nobody" for each in (recorded, again))
        judged.unchecked.append(f"{where}: it was judged by {then}, and would be by {now} in this release")
        return
    for old, new in zip(recorded, again, strict=True):
        _compare(version, f"the verdict of {_name(old)} on {where}", old, new, judged)


async def _rejudge_plan(turn: Turn, judge_plan: JudgePlan | None, judged: _Judged) -> None:
    event, saga = turn.entry.event, turn.before
    if saga is None or not isinstance(event, e.PlanJudged):
        return
    where = f"plan {event.plan_hash} (version {turn.entry.version})"
    if judge_plan is None:
        judged.unchecked.append(f"{where}: no validators of domain {saga.domain!r} are at hand")
        return
    if is_redacted((saga.request, saga.plan.content, event.shown)):
        judged.unchecked.append(f"{where}: what its validators were shown is redacted")
        return
    if event.shown is None:
        judged.unchecked.append(f"{where}: the release that judged it did not keep what its validators were shown")
        return
    try:
        again = await judge_plan(saga.request, saga.plan.content, event.shown)
    except SagaGraphError as exc:
        judged.unchecked.append(f"{where}: it could not be judged: {exc}")
        return
    recorded = Verdict.model_validate(event.verdict)
    _compare(turn.entry.version, f"the verdict on {where}", recorded, again, judged)
    _compare_slices(turn.entry.version, where, recorded.certificates, again.certificates, judged)


def _compare_slices(
    version: int, where: str, recorded: Sequence[Certificate], again: Sequence[Certificate], judged: _Judged
) -> None:
    """Compare each validator with itself, scope by scope."""
    found = {(each.validator, each.scope): each for each in again}
    for old in recorded:
        what = f"the verdict of {old.validator} on {old.scope} of {where}"
        new = found.get((old.validator, old.scope))
        if new is None or new.version != old.version:
            judged.unchecked.append(f"{what}: this release has no {old.validator} {old.version} for it")
            continue
        judged.validators += 1
        then, now = ({"slice": each.slice_hash, "violations": list(each.found)} for each in (old, new))
        if then != now:
            judged.differences.append(Difference(version, what, then, now))


def _compare(version: int, what: str, old: Verdict, new: Verdict, judged: _Judged) -> None:
    judged.validators += 1
    for when, verdict in (("then", old), ("now", new)):
        if verdict.verdict is VerdictStatus.UNKNOWN:  # an outage is neither a judgement nor a contradiction
            judged.unchecked.append(f"{what}: it could not be judged {when}: {verdict.reason}")
            return
    certified = _version(old) is not None and _version(old) == _version(new)  # earlier releases showed validators other slices
    then, now = _essence(old, certified=certified), _essence(new, certified=certified)
    if then != now:
        judged.differences.append(Difference(version, what, then, now))


def _essence(verdict: Verdict, *, certified: bool) -> dict[str, Json]:
    essence: dict[str, Json] = {"verdict": verdict.verdict.value, "violations": sorted(v.code for v in verdict.violations)}
    if certified and verdict.certificate is not None:
        essence |= {"artifact": verdict.certificate.artifact_hash, "slice": verdict.certificate.slice_hash}
    return essence


def _version(verdict: Verdict) -> int | None:
    return None if verdict.certificate is None else verdict.certificate.version


def _name(verdict: Verdict) -> str:
    certificate = verdict.certificate
    return f"{certificate.validator} {certificate.version}" if certificate else "nobody in particular"
