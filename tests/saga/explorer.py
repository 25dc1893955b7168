"""Explicit-state exploration of the real core against the abstract world: every interleaving, breadth first (PROTOCOL, moves)."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from sagagraph.errors import SagaGraphError
from sagagraph.saga import agenda, commands, decide, evolve
from sagagraph.saga import events as e
from sagagraph.saga.agenda import status_of
from sagagraph.saga.dependency import descendants
from sagagraph.saga.model import Operation, Saga, Stage, UndoCall, operation_key
from sagagraph.saga.settle import CLOCK_MARGIN_S
from sagagraph.saga.status import OperationStatus, SagaStatus
from sagagraph.saga.step import CallAction, CallCompensation, CallProbe, CallVoid, Record, Reverse, Verify, Wait
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import GuaranteeTerms, OperationSpec
from sagagraph.workflow.policy import Backoff, CompensationPolicy, Policy, Retry
from tests.saga.world import Orphan, Profile, Provider

TIMEOUT = 1
DEDUP_S = 1000.0
DEADLINE_TICK = 10.0
RETENTION_TICK = 10_000.0
MAX_ORPHANS = 2
POLICY = Policy(
    retry=Retry(max_attempts=2),
    backoff=Backoff(base_s=0.0, cap_s=0.0, jitter=0.0),
    timeout_s=TIMEOUT,
    compensation=CompensationPolicy(max_attempts=2, timeout_s=TIMEOUT),
)


@dataclass(frozen=True)
class Case:
    """One saga to explore: kinds, edges and providers by position; `alternative_of` makes a replan possible."""

    kinds: tuple[ActionKind, ...]
    edges: tuple[tuple[int, ...], ...]
    profiles: tuple[Profile, ...]
    alternative_of: int | None = None
    """The last operation is not in the first plan; a replan may put it in the place of this one."""

    def __str__(self) -> str:
        return " | ".join(
            f"{kind.value}{list(edge) or ''}:{profile}"
            for kind, edge, profile in zip(self.kinds, self.edges, self.profiles, strict=True)
        )

    def spec(self, index: int) -> OperationSpec:
        profile = self.profiles[index]
        return OperationSpec(
            id=str(index),
            action=f"a{index}",
            kind=self.kinds[index],
            inputs=None,
            depends_on=tuple(str(each) for each in self.edges[index]),
            policy=POLICY,
            guarantees=GuaranteeTerms(DEDUP_S if profile.dedup else None, profile.void, profile.deadline, profile.refusals_final),
            has_probe=profile.probe,
        )


TROUBLES = frozenset({"crash", "timeout", "unknown", "cancel", "forget", "replan", "resolve", "evidence", "transient"})
"""What is rationed: a run meets at most so many of these, in any mixture. Lost answers, refusals and late landings are free."""


@dataclass(frozen=True, slots=True)
class State:
    saga: Saga
    providers: tuple[Provider, ...]
    now: float
    troubles: int
    """How many more this run may meet."""
    evidence: frozenset[tuple[str, commands.CallKind, str]] = frozenset()


@dataclass(slots=True)
class Report:
    states: int = 0
    transitions: int = 0
    cut: bool = False
    violations: dict[str, tuple[str, ...]] = field(default_factory=dict)
    endings: set[SagaStatus] = field(default_factory=set)


Successor = tuple[str, State]
FAULT = e.Fault("fault", "fault")


class Explorer:
    def __init__(self, case: Case, troubles: int, *, kinds: frozenset[str] = TROUBLES, limit: int = 400_000) -> None:
        self.case, self.troubles, self.kinds, self.limit = case, troubles, kinds, limit
        self.below = {i: self._descendants(i) for i in range(len(case.kinds))}

    def _descendants(self, index: int) -> set[int]:
        found: set[int] = set()
        for later in range(index + 1, len(self.case.kinds)):
            if found & set(self.case.edges[later]) or index in self.case.edges[later]:
                found.add(later)
        return found

    # -- running -----------------------------------------------------------------------------------------------------

    def explore(self) -> Report:
        report = Report()
        start = self._start()
        seen: dict[object, tuple[object, str] | None] = {_key(start): None}
        queue = collections.deque([start])
        while queue:
            state = queue.popleft()
            key = _key(state)
            successors = list(self.successors(state))
            report.states += 1
            report.transitions += len(successors)
            for name in self.violations(state, successors):
                report.violations.setdefault(name, _trace(seen, key))
            if state.saga.stage in (Stage.COMMITTED, Stage.COMPENSATED):
                report.endings.add(status_of(state.saga))
            for label, successor in successors:
                successor_key = _key(successor)
                if successor_key not in seen:
                    seen[successor_key] = (key, label)
                    queue.append(successor)
            if len(seen) > self.limit:
                report.cut = True
                break
        return report

    def _start(self) -> State:
        begun = e.SagaBegun(e.Driver.WORKFLOW, "exploration", None)
        saga = evolve.begin("s", e.Entry(1, 1, 0.0, begun))
        count = len(self.case.kinds)
        first_plan = count if self.case.alternative_of is None else count - 1
        plan = e.PlanAccepted(1, tuple(self.case.spec(i) for i in range(first_plan)))
        state = State(saga, (Provider(),) * count, 1.0, self.troubles)
        return self._apply(state, (plan,))

    def _apply(self, state: State, events: tuple[e.Event, ...], *, epoch: int | None = None) -> State:
        saga = state.saga
        for event in events:
            saga = evolve.evolve(saga, e.Entry(saga.version + 1, epoch or saga.epoch, state.now, event))
        return self._settle_records(replace(state, saga=saga))

    def _settle_records(self, state: State) -> State:
        """What the coordinator appends at once, without any effect."""
        saga = state.saga
        for _ in range(100):
            records = [step for step in agenda.next_steps(saga, state.now) if isinstance(step, Record)]
            if not records:
                return replace(state, saga=saga)
            for record in records:
                saga = evolve.evolve(saga, e.Entry(saga.version + 1, saga.epoch, state.now, record.event))
        raise AssertionError(f"the agenda never settles: {records}")

    def _command(self, state: State, command: commands.Command) -> State:
        return self._apply(state, decide.decide(state.saga, command, state.now))

    def _with_provider(self, state: State, index: int, provider: Provider) -> State:
        provider = provider.pruned(self.case.profiles[index], state.now)
        return replace(state, providers=(*state.providers[:index], provider, *state.providers[index + 1 :]))

    def _may(self, state: State, trouble: str) -> bool:
        return state.troubles > 0 and trouble in self.kinds

    def _spend(self, state: State) -> State:
        return replace(state, troubles=state.troubles - 1)

    # -- moves -------------------------------------------------------------------------------------------------------

    def successors(self, state: State) -> Iterator[Successor]:
        yield from self._orphan_moves(state)
        yield from self._time_moves(state)
        if state.saga.stage not in (Stage.RUNNING, Stage.COMPENSATING):
            return
        yield from self._crash_moves(state)
        yield from self._people_moves(state)
        for index in range(len(self.case.kinds)):
            operation = state.saga.operations.get(str(index))
            if operation is not None and operation.in_flight:
                yield from self._answer_moves(state, index, operation)
        yield from self._step_moves(state)

    def _orphan_moves(self, state: State) -> Iterator[Successor]:
        for index, provider in enumerate(state.providers):
            profile = self.case.profiles[index]
            for orphan in sorted(set(provider.orphans), key=str):
                gone = provider.without(orphan)
                yield f"call {index} vanishes", self._with_provider(state, index, gone)
                landed = self._with_provider(state, index, gone.land(profile, orphan.generation))
                yield f"late call {index} LANDS", landed
                if self._may(state, "evidence"):
                    yield f"late call {index} LANDS, its sender notes it", self._noted(landed, index, orphan.generation)
            for generation in sorted(set(provider.undo_orphans)):
                gone = provider.without_undo(generation)
                yield f"undo {index} vanishes", self._with_provider(state, index, gone)
                yield f"late undo {index} LANDS", self._with_provider(state, index, gone.undo(profile, generation))
            for generation in sorted(set(provider.void_orphans)):
                gone = provider.without_void(generation)
                yield f"void {index} vanishes", self._with_provider(state, index, gone)
                yield f"late void {index} LANDS", self._with_provider(state, index, gone.voided(generation))

    def _noted(self, state: State, index: int, generation: int) -> State:
        operation = state.saga.operations[str(index)]
        key = operation_key(state.saga.id, operation, generation)
        note = (operation.id, commands.CallKind.ACTION, key)
        return replace(self._spend(state), evidence=state.evidence | {note})

    def _time_moves(self, state: State) -> Iterator[Successor]:
        waits = [step for step in agenda.next_steps(state.saga, state.now) if isinstance(step, Wait)]
        if waits:
            now = state.now + DEADLINE_TICK
            pairs = zip(state.providers, self.case.profiles, strict=True)
            later = replace(state, now=now, providers=tuple(p.pruned(profile, now) for p, profile in pairs))
            yield "time passes", self._settle_records(later)
        nothing_in_flight = not any(p.orphans for p in state.providers) and not any(
            o.in_flight for o in state.saga.operations.values()
        )
        if self._may(state, "forget") and nothing_in_flight and any(p.remembered for p in state.providers):
            forgotten = tuple(replace(p, remembered=frozenset()) for p in state.providers)
            later = replace(self._spend(state), now=state.now + RETENTION_TICK, providers=forgotten)
            yield "keys are forgotten", self._settle_records(later)

    def _crash_moves(self, state: State) -> Iterator[Successor]:
        if not self._may(state, "crash"):
            return
        crashed = self._spend(state)
        for index, provider in enumerate(state.providers):
            operation = state.saga.operations.get(str(index))
            if operation is not None and operation.in_flight:
                crashed = self._with_provider(crashed, index, _orphaned(provider, operation))
        taken = self._apply(crashed, (e.LeaseTaken("next"),), epoch=state.saga.epoch + 1)
        yield "CRASH, takeover", taken
        for note in sorted(state.evidence):
            command = commands.EvidenceFound(*note, output=None)
            yield f"CRASH, takeover, evidence {note[0]}", self._command(taken, command)

    def _people_moves(self, state: State) -> Iterator[Successor]:
        if self._may(state, "cancel") and not state.saga.cancel_by and state.saga.stage is Stage.RUNNING:
            yield "cancel", self._command(self._spend(state), commands.Cancel("anna"))
        if self._may(state, "replan") and self.case.alternative_of is not None and state.saga.stage is Stage.RUNNING:
            yield from self._replan_moves(state)
        if self._may(state, "resolve"):
            yield from self._resolve_moves(state)

    def _replan_moves(self, state: State) -> Iterator[Successor]:
        """A replan at any time: the core itself must say when it may not be."""
        old, new = self.case.alternative_of, len(self.case.kinds) - 1
        command = commands.AcceptPlan((self.case.spec(new),), (str(old),))
        try:
            yield "replan", self._command(self._spend(state), command)
        except SagaGraphError:
            return

    def _resolve_moves(self, state: State) -> Iterator[Successor]:
        """A person says the truth about what is held; about anything else whatever they like, which must change nothing."""
        for index, provider in enumerate(state.providers):
            operation = state.saga.operations.get(str(index))
            if operation is None:
                continue
            held = operation.status in (OperationStatus.HELD, OperationStatus.COMPENSATION_FAILED)
            if held and (provider.orphans or provider.undo_orphans or provider.void_orphans):
                continue
            for resolution in e.Resolution:
                if held and not _is_true(resolution, provider):
                    continue
                try:
                    resolve = commands.Resolve(operation.id, resolution, "anna")
                    yield f"resolve {index} as {resolution}", self._command(self._spend(state), resolve)
                except SagaGraphError:
                    continue

    # -- answers of the calls that this epoch waits for -----------------------------------------------------------------

    def _answer_moves(self, state: State, index: int, operation: Operation) -> Iterator[Successor]:
        if operation.status is OperationStatus.STARTED:
            yield from self._action_answers(state, index, operation)
        elif operation.undo is not None:
            yield from self._undo_answers(state, index, operation)

    def _action_answers(self, state: State, index: int, operation: Operation) -> Iterator[Successor]:
        name, profile, provider = operation.id, self.case.profiles[index], state.providers[index]
        replied = commands.ActionReplied(name, None)
        lost = commands.ActionLost(name, FAULT)
        refused = commands.ActionRefused(name, FAULT)
        if not operation.has_effect:
            yield f"read {index} ok", self._command(state, replied)
            yield f"read {index} refused", self._command(state, refused)
            yield f"read {index} lost", self._command(state, lost)
            return
        generation = operation.generation
        if not provider.accepts(generation):
            yield f"call {index} refused for its key", self._command(state, refused)
            return
        landed = self._with_provider(state, index, provider.land(profile, generation))
        yield f"call {index} LANDS", self._command(landed, replied)
        yield f"call {index} LANDS, answer lost", self._command(landed, lost)
        yield f"call {index} lost before its effect (or 409)", self._command(state, lost)
        if not (profile.dedup and generation in provider.remembered):
            final = replace(provider, refused=provider.refused | {generation}) if profile.refusals_final else provider
            said_no = self._with_provider(state, index, final)
            yield f"call {index} refused", self._command(said_no, refused)
            if self._may(state, "transient"):
                transient = commands.ActionRefused(name, FAULT, transient=True)
                yield f"call {index} refused for now", self._command(self._spend(said_no), transient)
        if self._may(state, "timeout") and len(provider.orphans) < MAX_ORPHANS:
            flying = self._with_provider(state, index, provider.with_orphan(Orphan(generation, operation.deadline)))
            yield f"call {index} times out, in flight", self._command(self._spend(flying), lost)

    def _undo_answers(self, state: State, index: int, operation: Operation) -> Iterator[Successor]:
        assert operation.undo is not None
        provider = state.providers[index]
        replied = commands.UndoReplied(operation.id, None)
        lost = commands.UndoLost(operation.id, FAULT)
        is_void = operation.undo.call is UndoCall.VOID
        if is_void:
            after, flying = provider.voided(operation.generation), provider.with_void_orphan(operation.generation)
        else:
            generation = operation.undo.generation
            after, flying = provider.undo(self.case.profiles[index], generation), provider.with_undo_orphan(generation)
        landed = self._with_provider(state, index, after)
        yield f"undo {index} LANDS", self._command(landed, replied)
        yield f"undo {index} LANDS, answer lost", self._command(landed, lost)
        yield f"undo {index} lost before its effect", self._command(state, lost)
        yield f"undo {index} refused", self._command(state, commands.UndoRefused(operation.id, FAULT))
        if self._may(state, "transient"):
            transient = commands.UndoRefused(operation.id, FAULT, transient=True)
            yield f"undo {index} refused for now", self._command(self._spend(state), transient)
        if self._may(state, "timeout") and len(provider.undo_orphans) + len(provider.void_orphans) < MAX_ORPHANS:
            in_flight = self._with_provider(self._spend(state), index, flying)
            yield f"undo {index} times out, in flight", self._command(in_flight, lost)

    # -- steps ---------------------------------------------------------------------------------------------------------

    def _step_moves(self, state: State) -> Iterator[Successor]:
        for step in agenda.next_steps(state.saga, state.now):
            match step:
                case CallAction() | CallVoid() | CallCompensation():
                    event = decide.intent(state.saga, step, state.now)
                    yield f"start {type(event).__name__} {step.operation}", self._apply(state, (event,))
                case CallProbe(name):
                    yield from self._probe_moves(state, name)
                case Verify():
                    yield from self._verify_moves(state, step)
                case _:
                    pass

    def _probe_moves(self, state: State, name: str) -> Iterator[Successor]:
        answer = self._truth(state, name)
        said = commands.ProbeAnswered(name, answer)
        yield f"probe {name}: {answer}", self._command(state, said)
        if self._may(state, "unknown"):
            unknown = commands.ProbeAnswered(name, e.ProbeAnswer.UNKNOWN)
            yield f"probe {name}: unknown", self._command(self._spend(state), unknown)

    def _verify_moves(self, state: State, step: Verify) -> Iterator[Successor]:
        answers = {name: self._truth(state, name) for name in step.operations}
        verified = commands.Verified(step.committing, answers, step.unverified)
        yield "last check", self._command(state, verified)

    def _truth(self, state: State, name: str) -> e.ProbeAnswer:
        provider = state.providers[int(name)]
        if provider.live > 1:
            return e.ProbeAnswer.MULTIPLE
        if provider.live == 1:
            return e.ProbeAnswer.LANDED
        return e.ProbeAnswer.UNDONE if provider.landings else e.ProbeAnswer.ABSENT

    # -- invariants (PROTOCOL I1 to I8; I9 and I10 are judged over whole runs) ----------------------------------------------

    def violations(self, state: State, successors: list[Successor]) -> Iterator[str]:
        saga = state.saga
        for operation in saga.operations.values():
            if operation.has_effect:
                yield from self._operation_violations(state, operation)
        if saga.pivot and state.providers[int(saga.pivot)].live:
            others = (o for o in saga.operations.values() if o.id != saga.pivot and not o.removed)
            if any(state.providers[int(o.id)].undos for o in others if o.has_effect):
                yield "I6 undone although the pivot is live"
        status = status_of(saga)
        moving = [label for label, _ in successors if not label.startswith(("CRASH", "cancel", "replan", "resolve"))]
        reversing = any(isinstance(step, Reverse) for step in agenda.next_steps(saga, state.now))
        if not status.is_final and not reversing and not moving and not _names_somebody(saga):
            yield "I7 quiet without naming an operation"

    def _operation_violations(self, state: State, operation: Operation) -> Iterator[str]:
        saga, provider = state.saga, state.providers[int(operation.id)]
        if saga.stage is Stage.COMMITTED:
            if operation.succeeded and not operation.removed and provider.live != 1:
                yield "I1 committed, not landed exactly once"
            if (operation.removed or not operation.succeeded) and provider.live:
                yield "I1 committed, a removed or failed operation is live"
        if saga.stage is Stage.COMPENSATED and provider.live:
            yield "I2 compensated, something is live"
        if provider.undos > provider.landings:
            yield "I3 undone more often than landed"
        if operation.status in _GONE and provider.live:
            yield f"I4 {operation.status} but live"
        if operation.succeeded and provider.live > 1 and saga.stage is not Stage.COMPENSATING:
            yield "I1 a silent duplicate"
        if provider.undos and not provider.live:
            for name in descendants(saga, operation.id):
                later = saga.operations[name]
                if later.has_effect and state.providers[int(name)].live:
                    yield "I5 undone while a dependent is live"
        if provider.landings and not operation.total_attempts:
            yield "I8 an effect without an intent"


_GONE = frozenset({OperationStatus.FAILED, OperationStatus.VOIDED, OperationStatus.COMPENSATED, OperationStatus.SKIPPED})


def _names_somebody(saga: Saga) -> bool:
    named = (OperationStatus.HELD, OperationStatus.COMPENSATION_FAILED)
    return any(operation.status in named for operation in saga.operations.values())


def _is_true(resolution: e.Resolution, provider: Provider) -> bool:
    match resolution:
        case e.Resolution.LANDED:
            return provider.live == 1
        case e.Resolution.ABSENT:
            return provider.live == 0 and not provider.landings
        case _:
            return provider.live == 0


def _orphaned(provider: Provider, operation: Operation) -> Provider:
    if operation.status is OperationStatus.STARTED:
        if not operation.has_effect or len(provider.orphans) >= MAX_ORPHANS:
            return provider
        return provider.with_orphan(Orphan(operation.generation, operation.deadline))
    assert operation.undo is not None
    if operation.undo.call is UndoCall.VOID:
        return provider.with_void_orphan(operation.generation)
    return provider.with_undo_orphan(operation.undo.generation)


def _trace(seen: Mapping[object, tuple[object, str] | None], key: object) -> tuple[str, ...]:
    labels: list[str] = []
    while (step := seen[key]) is not None:
        key, label = step
        labels.append(label)
    return tuple(reversed(labels))


def _key(state: State) -> object:
    """What distinguishes two states for all that can follow: no version, no absolute time."""
    saga, now = state.saga, state.now
    operations = tuple(_operation_key(operation, now) for operation in saga.in_order())
    providers = tuple(_provider_key(provider, now) for provider in state.providers)
    if saga.stage not in (Stage.RUNNING, Stage.COMPENSATING):
        return (saga.stage, tuple((o.id, o.status, o.removed) for o in saga.in_order()), providers)
    return (saga.stage, saga.cancel_by is None, operations, providers, state.troubles, state.evidence)


def _operation_key(o: Operation, now: float) -> tuple[object, ...]:
    """Only what the rules can still ask about an operation in this status; counters only as far as they are compared."""
    lost = min(o.lost, 2)
    undo = o.undo and _undo_key(o.undo, now)
    match o.status:
        case _ if o.status in _GONE:
            return (o.id, o.status, o.removed, o.total_attempts > 0)
        case OperationStatus.COMPENSATION_FAILED:
            return (o.id, o.status, o.removed, lost, o.generation, o.undo and (o.undo.call, o.undo.generation, o.undo.lost > 0))
        case OperationStatus.COMPENSATING:
            return (o.id, o.status, o.removed, lost, o.generation, o.in_flight, o.probe, undo)
        case OperationStatus.SUCCEEDED:
            return (o.id, o.status, o.removed, lost, o.generation, o.rejected, o.undo and (o.undo.call, o.undo.generation))
        case OperationStatus.HELD:
            return (o.id, o.status, o.removed, lost, o.generation, o.given_up, o.attempts > 0, undo)
        case _:
            margin = o.deadline + CLOCK_MARGIN_S
            time = (now >= margin, o.probed_at >= margin, _dedup_is_over(o.first_call_at, now) if o.total_attempts else None)
            calls = (o.attempts > 0, o.total_attempts - o.allowed_from, lost, o.in_flight, o.claiming, o.claims)
            return (o.id, o.status, o.removed, o.generation, calls, o.probe, o.unknown_probes, o.given_up, undo, time)


def _undo_key(undo: Undo, now: float) -> tuple[object, ...]:
    used = undo.attempts - undo.allowed_from
    return (undo.call, undo.generation, used, undo.lost > 0, _dedup_is_over(undo.first_call_at, now))


def _dedup_is_over(first_call_at: float, now: float) -> bool:
    return now + TIMEOUT + CLOCK_MARGIN_S >= first_call_at + DEDUP_S


def _provider_key(p: Provider, now: float) -> tuple[object, ...]:
    orphans = tuple((orphan.generation, now > orphan.deadline) for orphan in p.orphans)
    memory = (p.remembered, p.landed_as, p.tombstones, p.refused, p.undo_remembered)
    return (p.live, p.landings, p.undos, memory, orphans, p.undo_orphans, p.void_orphans)


# -- cases -----------------------------------------------------------------------------------------------------------------


def shapes(count: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """All dependency graphs on `count` operations, numbered topologically."""
    pairs = [(a, b) for b in range(count) for a in range(b)]
    for mask in range(1 << len(pairs)):
        yield tuple(tuple(a for k, (a, b) in enumerate(pairs) if b == j and mask >> k & 1) for j in range(count))


def is_well_formed(kinds: tuple[ActionKind, ...], edges: tuple[tuple[int, ...], ...]) -> bool:
    """Rule 5, written down a second time so that the exploration does not trust `check_workflow`."""
    pivots = [i for i, kind in enumerate(kinds) if kind is ActionKind.PIVOT]
    if len(pivots) > 1:
        return False
    after: set[int] = set()
    for i in range(len(kinds)):
        if pivots and (pivots[0] in edges[i] or after & set(edges[i])):
            after.add(i)
    return all(
        (kind is not ActionKind.COMPENSATABLE or i not in after) and (kind is not ActionKind.RETRIABLE or i in after)
        for i, kind in enumerate(kinds)
    )


def sagas(count: int) -> Iterator[tuple[tuple[ActionKind, ...], tuple[tuple[int, ...], ...]]]:
    """Every well-formed choice of kinds and edges, one of each class of isomorphic ones."""
    seen: set[object] = set()
    for edges in shapes(count):
        for kinds in itertools.product(ActionKind, repeat=count):
            if is_well_formed(kinds, edges) and (form := _canonical(kinds, edges)) not in seen:
                seen.add(form)
                yield kinds, edges


def _canonical(kinds: tuple[ActionKind, ...], edges: tuple[tuple[int, ...], ...]) -> object:
    count = len(kinds)
    arcs = [(a, b) for b in range(count) for a in edges[b]]
    return min(
        (tuple(kinds[order.index(i)].value for i in range(count)), tuple(sorted((order[a], order[b]) for a, b in arcs)))
        for order in itertools.permutations(range(count))
    )
