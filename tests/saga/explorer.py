"""Explicit-state exploration of the real core against the abstract world (docs/protocol.md, moves of the environment).

Every interleaving is visited, up to these reductions, none of which hides a violation:

- States that differ only in what no rule asks (`statekey`), or by a symmetry of the saga, are one state.
- What has no effect outside (`Record`) is appended at once unless `eager` is off: between two such events a crash changes
  nothing outside, and small sagas are explored with every append apart as well.
- A call in flight that vanishes is one that has not landed yet: it need not be taken out. Only where a rule or a person may count
  on silence (a deadline, a retention, a resolution) is it dropped.
- A state that was reached with more troubles to spare is not visited again with fewer: it can do everything that this one can.
- The core's answer is computed once per state of the core, whatever the providers' states are.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import permutations
from typing import NamedTuple

from sagagraph.errors import JournalError, SagaGraphError
from sagagraph.saga.core import commands, next_steps
from sagagraph.saga.core import events as e
from sagagraph.saga.core.decide import decide
from sagagraph.saga.core.dependencies import descendants
from sagagraph.saga.core.doubt import settling
from sagagraph.saga.core.doubt.in_doubt import settles_itself
from sagagraph.saga.core.evolve import evolve
from sagagraph.saga.core.state import Operation, Saga, Stage, UndoCall, operation_key, undo_key
from sagagraph.saga.core.status import OperationStatus, SagaStatus
from sagagraph.saga.core.steps import CallAction, CallCompensation, CallProbe, CallVoid, Record, Reverse, Step, Verify, Wait
from sagagraph.validators.verdict import Verdict, VerdictStatus
from sagagraph.workflow.kind import ActionKind
from tests.saga.cases import SKEW_S, TIMEOUT_S, Case, place
from tests.saga.invariants import GONE, NAMED, names_somebody, said, violations
from tests.saga.statekey import Key, SagaKey, reduced_key
from tests.saga.world import Provider

RETENTION_S = 10_000.0
MAX_CALLS = 2
"""Abandoned calls in flight per operation: two suffice for a duplicate of a duplicate."""
FAULT = e.Fault("fault", "fault")
INVALID = Verdict(verdict=VerdictStatus.INVALID)

TROUBLES = frozenset(
    {
        "crash",
        "timeout",
        "unknown",
        "multiple",
        "cancel",
        "forget",
        "replan",
        "resolve",
        "evidence",
        "transient",
        "cached 5xx",
        "invalid",
        "stale",
        "reorder",
        "stubborn",
    }
)
"""What is rationed: a run meets at most so many of these, in any mixture. Refusals and late landings are free.

"stubborn" is a call that does not stop when its time is over. "stale" is a probe that has not seen what landed before an undo
that is in doubt. Three more are never met unless they are asked for: "lie", an undo that is acknowledged and was not done, or a
call that landed and says that nothing happened; "restore", a journal that returns to an earlier state; "unwritten", a crash after
a body was shown an outcome that is not yet written.
"""
Judge = Callable[[Saga, Sequence[Provider]], Iterator[str]]


class Core:
    """The saga and its clock, up to `statekey`; `memo` holds what it does with each input."""

    __slots__ = ("frame", "in_flight", "is_open", "memo", "now", "operations", "parts", "records", "saga", "steps")

    def __init__(self, saga: Saga, now: float, frame: Key, parts: tuple[int, ...]) -> None:
        self.saga, self.now, self.frame, self.parts = saga, now, frame, parts
        steps = next_steps.next_steps(saga, now)
        self.records = tuple(step for step in steps if isinstance(step, Record))
        self.steps: tuple[Step, ...] = () if self.records else steps
        self.operations = tuple(saga.in_order())
        self.in_flight = tuple(each for each in self.operations if each.in_flight)
        self.is_open = saga.stage in (Stage.RUNNING, Stage.COMPENSATING)
        self.memo: dict[object, Core | None] = {}

    @property
    def is_quiet(self) -> bool:
        return not (self.in_flight or self.steps or self.records)


class Note(NamedTuple):
    """What a superseded worker wrote down: the acknowledgement of a call of its own."""

    index: int
    call: commands.CallKind
    key: int


class State(NamedTuple):
    core: Core
    providers: tuple[Provider, ...]
    troubles: int
    """How many more this run may meet."""
    losses: int | None
    """How many more answers may be lost; None: any number."""
    notes: frozenset[Note] = frozenset()
    backup: Core | None = None
    """What the store returns to when it is restored."""
    since_backup_s: float = 0.0
    written: Core | None = None
    """What the journal says, where a body has been shown more than that."""

    @property
    def saga(self) -> Saga:
        return self.core.saga


class Move(NamedTuple):
    label: str
    state: State
    is_late: bool = False
    """A landing that nobody waits for: no progress depends on it."""
    violates: str = ""


@dataclass(slots=True)
class Report:
    states: int = 0
    transitions: int = 0
    cut: bool = False
    violations: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By name, with the moves that led there."""
    endings: set[SagaStatus] = field(default_factory=set)
    projections: set[object] = field(default_factory=set)


class Explorer:
    """Two faults can be planted that are not the core's.

    `call_first`: calls go out before their intents are durable. `never_written`: they go out before the outcomes are that were
    shown before them.
    """

    def __init__(
        self,
        case: Case,
        troubles: int,
        *,
        losses: int | None = None,
        kinds: frozenset[str] = TROUBLES,
        limit: int = 400_000,
        eager: bool = True,
        key: SagaKey = reduced_key,
        symmetric: bool = True,
        call_first: bool = False,
        never_written: bool = False,
        begun: Saga | None = None,
        judge: Judge = violations,
    ) -> None:
        self.case, self.troubles, self.losses, self.kinds, self.limit = case, troubles, losses, kinds, limit
        self.eager, self.key, self.call_first, self.begun, self.judge = eager, key, call_first, begun, judge
        self.never_written = never_written
        self.symmetries = case.symmetries() if symmetric else [tuple(range(case.count))]
        self._cores: dict[object, Core] = {}
        self._numbers: dict[object, int] = {}

    # -- running -----------------------------------------------------------------------------------------------------

    def explore(self, *, after: tuple[str, ...] = (), first_only: bool = False) -> Report:
        """Everything that can happen `after` these moves."""
        with _uncollected():
            report = _Run(self, first_only=first_only).run(self.follow(after))
            self._forget()
        return report

    def _forget(self) -> None:
        """Break the cycles: the cores refer to each other."""
        for core in self._cores.values():
            core.memo.clear()

    def follow(self, labels: tuple[str, ...]) -> State:
        state = self.start()
        for label in labels:
            state = next(move.state for move in self.moves(state) if move.label == label)
        return state

    def start(self) -> State:
        case = self.case
        saga = self.begun or evolve.begin("s", e.Entry(1, 1, 0.0, e.SagaBegun(case.driver, "exploration", None)))
        if case.driver is not e.Driver.BODY:
            first_plan = case.count if case.alternative_of is None else case.count - 1
            plan = e.PlanAccepted(1, tuple(case.spec(i) for i in range(first_plan)), revisable=case.revisable)
            saga = _appended(saga, (plan,), 1.0)
        return State(self._core(saga, 1.0), (Provider(),) * case.count, self.troubles, self.losses)

    def identity(self, state: State) -> object:
        """Equal for states that need to be visited once; how many troubles are left is not part of it."""
        if not state.core.is_open:
            state = state._replace(notes=frozenset(), losses=None, written=None)
        if len(self.symmetries) == 1:
            return (state.core, state.providers, state.losses, state.notes, state.backup, state.since_backup_s, state.written)
        notes = [tuple(sorted(note[1:] for note in state.notes if note.index == i)) for i in range(self.case.count)]
        rows = [
            (part, self._number(provider), self._number(note))
            for part, provider, note in zip(state.core.parts, state.providers, notes, strict=True)
        ]
        least = min(tuple(rows[i] for i in order) for order in self.symmetries)
        return (state.core.frame, state.losses, state.backup, state.since_backup_s, state.written, least)

    def _number(self, value: object) -> int:
        return self._numbers.setdefault(value, len(self._numbers))

    def _core(self, saga: Saga, now: float) -> Core:
        if self.eager:
            saga = _with_records(saga, now)
        frame, parts = self.key(saga, now)
        found = self._cores.get((frame, parts))
        if found is None:
            numbers = tuple(self._number(part) for part in parts)
            found = self._cores[frame, parts] = Core(saga, now, frame, numbers)
        return found

    def _after(self, core: Core, tag: object, decided: Callable[[], tuple[e.Event, ...]]) -> Core | None:
        """The core after the events that `decided` gives; None where it refuses."""
        if tag not in core.memo:
            try:
                core.memo[tag] = self._core(_appended(core.saga, decided(), core.now), core.now)
            except JournalError:
                raise
            except SagaGraphError:
                core.memo[tag] = None
        return core.memo[tag]

    def _told(self, state: State, command: commands.Command, tag: object) -> State | None:
        core = self._after(state.core, tag, lambda: decide.decide(state.saga, command, state.core.now))
        return None if core is None else state._replace(core=core)

    def _tell(self, state: State, command: commands.Command, *, tag: object = None) -> State:
        told = self._told(state, command, tag or command)
        assert told is not None, f"{command} was refused"
        return told

    def _with(self, state: State, index: int, provider: Provider) -> State:
        return state._replace(providers=(*state.providers[:index], provider.pruned(), *state.providers[index + 1 :]))

    def _may(self, state: State, trouble: str) -> bool:
        return state.troubles > 0 and trouble in self.kinds

    # -- moves -------------------------------------------------------------------------------------------------------

    def moves(self, state: State) -> Iterator[Move]:
        if "unwritten" not in self.kinds:
            yield from self._moves(state)
            return
        for move in self._moves(state):
            yield move._replace(state=move.state._replace(written=self._written(state, move)))
        if state.written is not None and self._may(state, "crash"):
            lost = self._abandoned(_spend(state))._replace(core=self._taken_over(state.written), written=None)
            yield Move("CRASH, and what was shown is not written", lost)

    def _written(self, state: State, move: Move) -> Core | None:
        """What the journal says after this move: a body is shown an outcome before it is written, and anything else is not."""
        if move.is_late or (self.never_written and move.label.startswith(("CallAction", "the body asks"))):
            return state.written
        landed = [each for each in state.core.in_flight if move.label == f"call {place(each.id)} LANDS"]
        is_shown = state.saga.driver is e.Driver.BODY and state.saga.stage is Stage.RUNNING and not state.saga.body_completed
        if is_shown and all(settles_itself(move.state.saga.operations[each.id], state.core.now) for each in landed) and landed:
            return state.written or state.core
        return None

    def _moves(self, state: State) -> Iterator[Move]:
        yield from self._late_moves(state)
        yield from self._restoration_moves(state)
        if not state.core.is_open:
            return
        yield from self._record_moves(state)
        yield from self._time_moves(state)
        yield from self._crash_moves(state)
        yield from self._people_moves(state)
        yield from self._body_moves(state)
        for operation in state.core.in_flight:
            if operation.status is OperationStatus.STARTED:
                yield from self._action_answers(state, operation)
            else:
                yield from self._undo_answers(state, operation)
        for step in state.core.steps:
            yield from self._step_moves(state, step)

    def _late_moves(self, state: State) -> Iterator[Move]:
        for index, provider in enumerate(state.providers):
            if not provider.in_flight:
                continue
            profile = self.case.profiles[index]
            for key in sorted(set(provider.calls)):
                landed = self._with(state, index, provider.without_call(key).land(profile, key))
                yield from self._late(landed, f"late call {index}", Note(index, commands.CallKind.ACTION, key))
            for key in sorted(set(provider.undo_calls)):
                landed = self._with(state, index, provider.without_undo_call(key).undo(profile, key))
                yield from self._late(landed, f"late undo {index}", Note(index, commands.CallKind.COMPENSATION, key))
            for key in sorted(set(provider.void_calls)):
                landed = self._with(state, index, provider.without_void_call(key).voided(profile, key))
                yield from self._late(landed, f"late void {index}", Note(index, commands.CallKind.VOID, key))

    def _late(self, landed: State, what: str, note: Note) -> Iterator[Move]:
        yield Move(f"{what} LANDS", landed, is_late=True)
        if landed.core.is_open and self._may(landed, "evidence"):
            noted = _spend(landed)._replace(notes=landed.notes | {note})
            yield Move(f"{what} LANDS, its sender notes it", noted, is_late=True)

    def _record_moves(self, state: State) -> Iterator[Move]:
        for record in state.core.records:
            core = self._after(state.core, record.event, lambda event=record.event: (event,))
            assert core is not None
            yield Move(f"record {type(record.event).__name__}", state._replace(core=core))

    def _time_moves(self, state: State) -> Iterator[Move]:
        core = state.core
        waits = [step.until for step in core.steps if isinstance(step, Wait)]
        if waits:
            later = min(waits)
            providers = state.providers
            if later - core.now >= TIMEOUT_S + SKEW_S:
                pairs = zip(providers, self.case.profiles, strict=True)
                providers = tuple(p.after_deadlines() if profile.deadline else p for p, profile in pairs)
            pairs = zip(providers, self.case.profiles, strict=True)
            providers = tuple(p.older(profile, later - core.now) for p, profile in pairs)
            yield Move("time passes", _aged(state, later - core.now)._replace(core=self._later(core, later), providers=providers))
        if self._may(state, "forget") and not core.in_flight and any(p.remembered or p.undo_remembered for p in state.providers):
            forgotten = tuple(provider.after_retention() for provider in state.providers)
            later = self._later(core, core.now + RETENTION_S)
            yield Move("keys are forgotten", _aged(_spend(state), RETENTION_S)._replace(core=later, providers=forgotten))

    def _later(self, core: Core, now: float) -> Core:
        tag = ("time", now - core.now)
        found = core.memo.get(tag)
        if found is None:
            found = core.memo[tag] = self._core(core.saga, now)
        return found

    def _crash_moves(self, state: State) -> Iterator[Move]:
        if not self._may(state, "crash"):
            return
        crashed = self._abandoned(_spend(state))
        taken = self._taken_over(state.core)
        yield Move("CRASH, takeover", crashed._replace(core=taken))
        if any(each.spec.guarantees.settles_s is not None for each in taken.operations):
            dead = crashed._replace(core=self._known_dead(taken), providers=tuple(each.ended() for each in crashed.providers))
            yield Move("CRASH, takeover, its process is known to be dead", dead)
        for note in sorted(state.notes):
            known = self._told(crashed._replace(core=taken), self._evidence(taken, note), note)
            if known is not None and known.core is not taken:
                yield Move(f"CRASH, takeover, evidence of {note.call} {note.index}", known)
        yield from self._frozen_worker_moves(state.core, crashed._replace(core=taken))
        if self.call_first:
            yield from self._hasty_calls(crashed._replace(core=taken), state.core)

    def _abandoned(self, state: State) -> State:
        """The calls of a dead worker are in flight from now on."""
        for operation in state.core.in_flight:
            index = place(operation.id)
            state = self._with(state, index, self._flying(state, operation, is_loose=True))
        return state

    def _flying(self, state: State, operation: Operation, *, is_loose: bool = False) -> Provider:
        index = place(operation.id)
        profile = self.case.profiles[index]
        provider = state.providers[index].sent(profile, is_loose=is_loose)
        too_late = profile.deadline and state.core.now >= operation.deadline + SKEW_S
        if provider.in_flight >= MAX_CALLS or not operation.has_effect:
            return provider
        if operation.status is OperationStatus.STARTED:
            return provider if too_late else provider.with_call(operation.generation)
        assert operation.undo is not None
        if operation.undo.call is UndoCall.VOID:
            return provider.with_void_call(operation.generation)
        return provider.with_undo_call(operation.undo.generation)

    def _taken_over(self, core: Core) -> Core:
        found = core.memo.get("takeover")
        if found is None:
            found = core.memo["takeover"] = self._core(_with_new_epoch(core), core.now)
        return found

    def _known_dead(self, taken: Core) -> Core:
        found = taken.memo.get("dead")
        if found is None:
            senders = settling.senders_in(taken.saga).items()
            ended = tuple(e.CallsEnded(name, each) for name, each in senders)
            found = taken.memo["dead"] = self._core(_appended(taken.saga, ended, taken.now), taken.now)
        return found

    def _evidence(self, core: Core, note: Note) -> commands.EvidenceFound:
        operation = core.saga.operations[self.case.name(note.index)]
        if note.call is commands.CallKind.COMPENSATION:
            key = undo_key(core.saga.id, operation, note.key)
        else:
            key = operation_key(core.saga.id, operation, note.key)
        return commands.EvidenceFound(operation.id, note.call, key, output=said(note.key))

    def _frozen_worker_moves(self, old: Core, taken: State) -> Iterator[Move]:
        """A superseded worker goes on as if nothing had happened: whatever it appends must be refused (rule 6)."""
        if "refused" in old.memo:
            return
        old.memo["refused"] = None
        saga = _with_new_epoch(old)
        for step in old.steps:
            if isinstance(step, CallAction | CallVoid | CallCompensation):
                late = e.Entry(saga.version + 1, old.saga.epoch, old.now, decide.intent(old.saga, step, old.now))
                if (accepted := _accepted(saga, late)) is not None:
                    core = self._core(accepted, old.now)
                    yield Move(
                        "a superseded worker goes on", taken._replace(core=core), violates="I8 an intent after supersession"
                    )

    def _hasty_calls(self, taken: State, old: Core) -> Iterator[Move]:
        for step in old.steps:
            if isinstance(step, CallAction):
                operation = old.saga.operations[step.operation]
                index = place(operation.id)
                flying = taken.providers[index].with_call(operation.generation)
                yield Move(f"call {index} goes out before its intent, CRASH", self._with(taken, index, flying))

    def _restoration_moves(self, state: State) -> Iterator[Move]:
        """The journal returns to a prefix of itself, and the world does not (rule 11)."""
        if state.backup is None and self._may(state, "restore") and state.saga.store_epoch == 1 and state.core.is_open:
            yield Move("a backup is made", _spend(state)._replace(backup=state.core))
        if state.backup is not None:
            taken = e.LeaseTaken("next", store_epoch=2)
            epoch = max(state.saga.epoch, state.backup.saga.epoch) + 1  # which epoch it is tells no states apart
            now = state.backup.now + state.since_backup_s  # each core has a clock of its own: states that differ by it are one
            saga = _appended(state.backup.saga, (taken,), now, epoch=epoch)
            restored = self._abandoned(state)._replace(core=self._core(saga, now), backup=None, since_backup_s=0.0)
            yield Move("RESTORED, takeover", restored._replace(notes=frozenset()))

    # -- people --------------------------------------------------------------------------------------------------------

    def _people_moves(self, state: State) -> Iterator[Move]:
        saga = state.saga
        if self._may(state, "cancel") and not saga.cancel_by and saga.stage is Stage.RUNNING:
            yield Move("cancel", self._tell(_spend(state), commands.Cancel("anna")))
        if self._may(state, "replan") and self.case.alternative_of is not None and saga.stage is Stage.RUNNING:
            yield from self._replan_moves(state)
        if next_steps.is_ready_for_repair(saga):
            yield from self._repair_moves(state)
        if self._may(state, "resolve"):
            for operation in state.core.operations:
                yield from self._resolve_moves(state, operation)

    def _replan_moves(self, state: State) -> Iterator[Move]:
        """A replan at any time: the core itself must say when it may not be."""
        old, new = self.case.alternative_of, self.case.count - 1
        command = commands.AcceptPlan((self.case.spec(new),), (str(old),), self._replaced(state))
        replanned = self._told(_spend(state), command, "replan")
        if replanned is not None:
            yield Move("replan", replanned)

    def _repair_moves(self, state: State) -> Iterator[Move]:
        """What a disruption asks for: another plan without what failed, or to be given up."""
        yield Move("the repair is given up", self._tell(state, commands.GiveUpRepair(("no plan is left",))))
        new = self.case.count - 1
        if str(new) in state.saga.operations:
            return
        removed = {each.id for each in state.core.operations if each.status in GONE} | {str(self.case.alternative_of)}
        command = commands.AcceptPlan((self.case.spec(new),), tuple(sorted(removed)), self._replaced(state), revisable=True)
        repaired = self._told(state, command, "repair")
        if repaired is not None:
            yield Move("repair", repaired)

    def _replaced(self, state: State) -> dict[str, str]:
        """What is kept and depended on the operation that goes depends on the one that comes."""
        old = str(self.case.alternative_of)
        needed = any(not state.saga.operations[each].removed for each in state.saga.dependents.get(old, ()))
        return {old: str(self.case.count - 1)} if needed else {}

    def _resolve_moves(self, state: State, operation: Operation) -> Iterator[Move]:
        """A person says the truth about what is held; about anything else whatever they like, which must change nothing."""
        index = place(operation.id)
        held = operation.status in NAMED
        if held and self._may_be_undone_by_hand(state, operation):
            by_hand = state.providers[index].undo(self.case.profiles[index], 0).with_nothing_in_flight()
            resolve = commands.Resolve(operation.id, e.Resolution.COMPENSATED, "anna")
            resolved = self._tell(_spend(self._with(state, index, by_hand)), resolve)
            yield Move(f"{index} is undone by hand, and resolved so", resolved)
        for resolution in e.Resolution:
            if held and not _is_true(resolution, state.providers[index]):
                continue
            resolve = commands.Resolve(operation.id, resolution, "anna")
            resolved = self._told(_spend(state), resolve, resolve)
            if resolved is None:
                continue
            assert held, "a resolution was accepted for an operation that is not held"
            silent = state.providers[index].with_nothing_in_flight()
            yield Move(f"resolve {index} as {resolution}", self._with(resolved, index, silent))

    def _may_be_undone_by_hand(self, state: State, operation: Operation) -> bool:
        """A person keeps the order, too: what depends on it, and the pivot, is not in effect, and cannot take effect any more."""
        saga, providers = state.saga, state.providers
        above = (*descendants(saga, operation.id), *([saga.pivot] if saga.pivot else []))
        stands = any(providers[place(each)].live or providers[place(each)].calls for each in above)
        stands = stands or any(each.id in above for each in state.core.in_flight)
        return providers[place(operation.id)].live == 1 and operation.spec.kind is ActionKind.COMPENSATABLE and not stands

    def _body_moves(self, state: State) -> Iterator[Move]:
        """A body of code asks for the operations one by one, and raises when one fails."""
        saga, case = state.saga, self.case
        if case.driver is not e.Driver.BODY or saga.stage is not Stage.RUNNING or saga.body_completed or saga.body_fault:
            return
        if any(each.status in GONE for each in state.core.operations):
            yield Move("the body raises", self._tell(state, commands.RaiseBody(FAULT)))
            return
        for index in range(case.count):
            ready = all(str(each) in saga.operations and saga.operations[str(each)].succeeded for each in case.edges[index])
            asked = self._told(state, commands.PlanOperation(case.spec(index)), ("plan", index)) if ready else None
            if asked is not None and asked.core is not state.core:
                yield Move(f"the body asks for {index}", asked)
        if self._may(state, "reorder"):
            yield from self._reorder_moves(state)
        names = frozenset(saga.operations)
        if len(names) == case.count and all(each.succeeded for each in state.core.operations):
            yield Move("the body ends", self._tell(state, commands.CompleteBody(names)))
            for name in sorted(names) if self._may(state, "replan") else ():
                forgetful = commands.CompleteBody(names - {name})
                if (ended := self._told(_spend(state), forgetful, forgetful)) is not None:
                    yield Move(f"the body, run again, ends without {name}", ended)

    def _reorder_moves(self, state: State) -> Iterator[Move]:
        """The body was edited: an operation that it has asked for is to come after another one, which the core may refuse."""
        for each, other in permutations(sorted(state.saga.operations), 2):
            command = commands.PlanOperation(self.case.spec(place(each)), after=(other,), insists=True)
            reordered = self._told(_spend(state), command, ("reorder", each, other))
            if reordered is None:
                continue
            is_journalled = each in descendants(reordered.saga, other)
            violates = "" if is_journalled else "I5 the order that the body named is not journalled"
            if reordered.core is not state.core or violates:
                yield Move(f"the body, run again, wants {each} after {other}", reordered, violates=violates)

    # -- answers of the calls that this epoch waits for -----------------------------------------------------------------

    def _action_answers(self, state: State, operation: Operation) -> Iterator[Move]:
        index, key = place(operation.id), operation.generation
        profile, provider = self.case.profiles[index], state.providers[index]
        replied = commands.ActionReplied(operation.id, said(key) if operation.has_effect else None)
        lost = commands.ActionLost(operation.id, FAULT)
        refused = commands.ActionRefused(operation.id, FAULT)
        if not operation.has_effect:
            yield Move(f"read {index} ok", self._tell(state, replied))
            yield Move(f"read {index} refused", self._tell(state, refused))
            if _may_lose(state):
                yield Move(f"read {index} lost", self._tell(_lose(state), lost))
            return
        if key in provider.broken:
            yield Move(f"call {index}: the cached 5xx again", self._tell(state, lost))
            return
        if not provider.accepts(key):
            yield Move(f"call {index} refused for its key", self._tell(state, refused))
            return
        landed = self._with(state, index, provider.land(profile, key))
        yield Move(f"call {index} LANDS", self._tell(landed, replied))
        if self._may(state, "invalid"):
            invalid = commands.ActionReplied(operation.id, said(key), (INVALID,))
            yield Move(f"call {index} LANDS, its output is invalid", self._tell(_spend(landed), invalid, tag=("invalid", index)))
        if _may_lose(state):
            yield Move(f"call {index} LANDS, answer lost", self._tell(_lose(landed), lost))
            yield Move(f"call {index} lost before its effect (or 409)", self._tell(_lose(state), lost))
        if key not in provider.remembered:
            yield from self._refusals(state, operation, refused)
        if self._may(state, "timeout") and provider.in_flight < MAX_CALLS:
            flying = self._with(_spend(state), index, self._flying(state, operation))
            yield Move(f"call {index} times out, in flight", self._tell(flying, lost))
        if self._may(state, "stubborn") and profile.settles and provider.in_flight < MAX_CALLS:
            flying = self._with(_spend(state), index, self._flying(state, operation, is_loose=True))
            goes_on = commands.ActionLost(operation.id, FAULT, sender=settling.sender_of(state.saga.epoch, state.saga.holder))
            yield Move(f"call {index} times out, and does not stop", self._tell(flying, goes_on, tag=("stubborn", index)))
        if self._may(state, "lie"):
            yield Move(f"call {index} LANDS, and says that nothing happened", self._tell(_spend(landed), refused))

    def _refusals(self, state: State, operation: Operation, refused: commands.ActionRefused) -> Iterator[Move]:
        index, key = place(operation.id), operation.generation
        provider = state.providers[index]
        said_no = self._with(state, index, provider.refuse(self.case.profiles[index], key))
        yield Move(f"call {index} refused", self._tell(said_no, refused))
        if self._may(state, "transient"):
            transient = commands.ActionRefused(operation.id, FAULT, transient=True)
            yield Move(f"call {index} refused for now", self._tell(_spend(said_no), transient))
            if said_no.providers != state.providers:
                yield Move(f"call {index} refused for now, and not recorded", self._tell(_spend(state), transient))
        if self._may(state, "cached 5xx"):
            broken = self._with(_spend(state), index, provider._replace(broken=provider.broken | {key}))
            yield Move(f"call {index}: 5xx, cached for its key", self._tell(broken, commands.ActionLost(operation.id, FAULT)))

    def _undo_answers(self, state: State, operation: Operation) -> Iterator[Move]:
        assert operation.undo is not None
        index = place(operation.id)
        provider, profile = state.providers[index], self.case.profiles[index]
        lost = commands.UndoLost(operation.id, FAULT)
        if operation.undo.call is UndoCall.VOID:
            after = provider.voided(profile, operation.generation)
        else:
            after = provider.undo(profile, operation.undo.generation)
        landed = self._with(state, index, after)
        yield Move(f"undo {index} LANDS", self._tell(landed, commands.UndoReplied(operation.id, None)))
        if self._may(state, "lie"):
            lied = self._tell(_spend(state), commands.UndoReplied(operation.id, None))
            yield Move(f"undo {index} is acknowledged, but was not done", lied)
        if _may_lose(state):
            yield Move(f"undo {index} LANDS, answer lost", self._tell(_lose(landed), lost))
            yield Move(f"undo {index} lost before its effect", self._tell(_lose(state), lost))
        if operation.undo.generation not in provider.undo_remembered or operation.undo.call is UndoCall.VOID:
            yield Move(f"undo {index} refused", self._tell(state, commands.UndoRefused(operation.id, FAULT)))
            if self._may(state, "transient"):
                transient = commands.UndoRefused(operation.id, FAULT, transient=True)
                yield Move(f"undo {index} refused for now", self._tell(_spend(state), transient))
        if self._may(state, "timeout") and provider.in_flight < MAX_CALLS:
            flying = self._with(_spend(state), index, self._flying(state, operation))
            yield Move(f"undo {index} times out, in flight", self._tell(flying, lost))

    # -- steps ---------------------------------------------------------------------------------------------------------

    def _step_moves(self, state: State, step: Step) -> Iterator[Move]:
        match step:
            case CallAction(name) | CallVoid(name) | CallCompensation(name):
                core = self._after(state.core, step, lambda: (decide.intent(state.saga, step, state.core.now),))
                assert core is not None
                hasty = not isinstance(step, CallAction) and _is_calling_while_going_back(state.core)
                violates = "I5 compensation starts before the calls have settled" if hasty else ""
                backup = state.backup if _can_be_noticed(state, step) else None
                yield Move(f"{type(step).__name__} {name}", state._replace(core=core, backup=backup), violates=violates)
            case CallProbe(name):
                yield from self._probe_moves(state, name)
            case Verify():
                yield from self._verify_moves(state, step)
            case _:
                pass

    def _probe_moves(self, state: State, name: str) -> Iterator[Move]:
        provider = state.providers[place(name)]
        answer, landed = provider.answer(), max(provider.landed_as, default=None)
        output = said(landed) if answer is e.ProbeAnswer.LANDED and landed is not None else None
        yield Move(f"probe {name}: {answer}", self._tell(state, commands.ProbeAnswered(name, answer, output)))
        for useless in (e.ProbeAnswer.UNKNOWN, e.ProbeAnswer.MULTIPLE):
            if self._may(state, useless.value):
                heard = commands.ProbeAnswered(name, useless)
                yield Move(f"probe {name}: {useless}, it says", self._tell(_spend(state), heard))
        operation = state.saga.operations[name]
        settled = settling.settled_from(operation)
        may_be_stale = settled is None or state.core.now < settled  # afterwards a probe sees all there is: that is promised
        if self._may(state, "stale") and may_be_stale and operation.status is OperationStatus.COMPENSATING:
            stale = commands.ProbeAnswered(name, e.ProbeAnswer.ABSENT)
            yield Move(f"probe {name}: absent, it says", self._tell(_spend(state), stale))

    def _verify_moves(self, state: State, step: Verify) -> Iterator[Move]:
        answers = {name: state.providers[place(name)].answer() for name in step.operations}
        yield Move("last check", self._verified(state, step, answers))
        for useless in (e.ProbeAnswer.UNKNOWN, e.ProbeAnswer.MULTIPLE):
            if self._may(state, useless.value):
                for name in step.operations:
                    heard = self._verified(_spend(state), step, {**answers, name: useless})
                    yield Move(f"last check: {name} is {useless}, it says", heard)
                if len(step.operations) > 1:
                    heard = self._verified(_spend(state), step, dict.fromkeys(answers, useless))
                    yield Move(f"last check: everything is {useless}, it says", heard)

    def _verified(self, state: State, step: Verify, answers: dict[str, e.ProbeAnswer]) -> State:
        verified = commands.Verified(step.committing, answers, step.unverified)
        return self._tell(state, verified, tag=("verified", *answers.values()))


class _Run:
    """One breadth-first exploration, by troubles left: most first."""

    def __init__(self, explorer: Explorer, *, first_only: bool) -> None:
        self.explorer, self.first_only = explorer, first_only
        self.report = Report()
        self.numbers: dict[object, int] = {}
        self.came_from: list[tuple[int, str]] = []
        self.leads_back: list[list[int]] = []
        """Against the arrows of the moves that need no trouble and no late landing."""
        self.rests: list[int] = []
        self.waiting: dict[int, dict[object, tuple[State, int, str]]] = {}

    def run(self, start: State) -> Report:
        self.waiting[start.troubles] = {self.explorer.identity(start): (start, -1, "")}
        while self.waiting and not self._is_over():
            self._explore_level(self.waiting.pop(max(self.waiting)))
        if not self._is_over():
            self._check_progress()
        return self.report

    def _is_over(self) -> bool:
        return self.report.cut or (self.first_only and bool(self.report.violations))

    def _explore_level(self, level: dict[object, tuple[State, int, str]]) -> None:
        queue: list[tuple[State, int]] = []
        for identity, (state, parent, label) in level.items():
            if identity not in self.numbers:
                queue.append((state, self._number(identity, parent, label)))
        for state, number in queue:  # it grows meanwhile
            self._visit(state, number, queue)
            if len(self.numbers) > self.explorer.limit:
                self.report.cut = True
            if self._is_over():
                return

    def _number(self, identity: object, parent: int, label: str) -> int:
        number = self.numbers[identity] = len(self.numbers)
        self.came_from.append((parent, label))
        self.leads_back.append([])
        return number

    def _visit(self, state: State, number: int, queue: list[tuple[State, int]]) -> None:
        self.report.states += 1
        self._judge(state, number)
        moved = False
        for move in self.explorer.moves(state):
            self.report.transitions += 1
            if move.violates:
                self._violated(move.violates, number, move.label)
            moved |= not move.is_late and move.state.troubles == state.troubles
            self._follow(move, state, number, queue)
        if state.core.is_open and not moved and not _is_reversing(state.core) and not names_somebody(state.saga):
            self._violated("I7 quiet without naming an operation", number)

    def _follow(self, move: Move, state: State, number: int, queue: list[tuple[State, int]]) -> None:
        identity = self.explorer.identity(move.state)
        known = self.numbers.get(identity)
        if move.state.troubles < state.troubles:
            if known is None:
                level = self.waiting.setdefault(move.state.troubles, {})
                level.setdefault(identity, (move.state, number, move.label))
            return
        if known is None:
            known = self._number(identity, number, move.label)
            queue.append((move.state, known))
        if not move.is_late:
            self.leads_back[known].append(number)

    def _judge(self, state: State, number: int) -> None:
        core = state.core
        for name in self.explorer.judge(core.saga, state.providers):
            self._violated(name, number)
        if _is_reversing(core) and any(state.providers[place(each.id)].live and not each.succeeded for each in core.operations):
            self._violated("I5 it is reversed although something stands that it does not know of", number)
        if not core.is_open or core.is_quiet or _is_reversing(core):
            self.rests.append(number)
        if core.saga.stage in (Stage.COMMITTED, Stage.COMPENSATED):
            self.report.endings.add(SagaStatus(core.saga.stage.value))
        self.report.projections.add((core.saga.stage, tuple(each.status for each in core.operations), state.providers))

    def _check_progress(self) -> None:
        """From everywhere the saga can come to rest by itself: nothing is tried for ever."""
        reached, frontier = set(self.rests), list(self.rests)
        while frontier:
            for earlier in self.leads_back[frontier.pop()]:
                if earlier not in reached:
                    reached.add(earlier)
                    frontier.append(earlier)
        restless = next((number for number in range(len(self.numbers)) if number not in reached), None)
        if restless is not None:
            self._violated("I7 it never comes to rest", restless)

    def _violated(self, name: str, number: int, last: str = "") -> None:
        if name not in self.report.violations:
            self.report.violations[name] = (*self._trace(number), *((last,) if last else ()))

    def _trace(self, number: int) -> tuple[str, ...]:
        labels: list[str] = []
        while number >= 0:
            number, label = self.came_from[number]
            labels.append(label)
        return tuple(reversed(labels[:-1]))


@contextmanager
def _uncollected() -> Iterator[None]:
    """The garbage collector would look at millions of states, again and again, and find nothing: a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _can_be_noticed(state: State, step: CallAction | CallVoid | CallCompensation) -> bool:
    """Whether the backup can still be put back: what is noticed later are calls of what it plans, under keys that it knows."""
    if state.backup is None or not isinstance(step, CallAction):
        return False
    known = state.backup.saga.operations[step.operation]
    return known.generation == state.saga.operations[step.operation].generation


def _appended(saga: Saga, events: tuple[e.Event, ...], now: float, *, epoch: int | None = None) -> Saga:
    for event in events:
        saga = evolve.evolve(saga, e.Entry(saga.version + 1, epoch or saga.epoch, now, event))
    return saga


def _with_new_epoch(core: Core) -> Saga:
    return _appended(core.saga, (e.LeaseTaken("next"),), core.now, epoch=core.saga.epoch + 1)


def _with_records(saga: Saga, now: float) -> Saga:
    """What the coordinator appends at once, without any effect outside."""
    for _ in range(100):
        events = tuple(step.event for step in next_steps.next_steps(saga, now) if isinstance(step, Record))
        if not events:
            return saga
        saga = _appended(saga, events, now)
    raise AssertionError(f"the next steps never end: {events}")


def _accepted(saga: Saga, entry: e.Entry) -> Saga | None:
    try:
        return evolve.evolve(saga, entry)
    except JournalError:
        return None


def _aged(state: State, by_s: float) -> State:
    return state if state.backup is None else state._replace(since_backup_s=state.since_backup_s + by_s)


def _spend(state: State) -> State:
    return state._replace(troubles=state.troubles - 1)


def _may_lose(state: State) -> bool:
    return state.losses is None or state.losses > 0


def _lose(state: State) -> State:
    return state if state.losses is None else state._replace(losses=state.losses - 1)


def _is_calling_while_going_back(core: Core) -> bool:
    calling = any(each.status is OperationStatus.STARTED and not each.claiming for each in core.in_flight)
    return calling and core.saga.stage is Stage.COMPENSATING


def _is_reversing(core: Core) -> bool:
    return any(isinstance(step, Reverse) for step in core.steps)


def _is_true(resolution: e.Resolution, provider: Provider) -> bool:
    match resolution:
        case e.Resolution.LANDED:
            return provider.live == 1
        case e.Resolution.ABSENT:
            return provider.live == 0 and not provider.landings
        case _:
            return provider.live == 0
