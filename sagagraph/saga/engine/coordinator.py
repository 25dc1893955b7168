"""Coordinator: the effectful loop around the pure core, for one saga, under one lease, as its only writer.

A turn of the loop takes all commands that have arrived, decides, adds what is due, appends everything in one commit, and only
then starts effects (docs/protocol.md rule 1). So parallel outcomes share commits, and an outcome shares one with the intents that
it makes ready; nothing that is ready waits for a commit of others. Where a body says what comes next, an outcome that would
settle itself if it were lost is shown to the body first. It is written with what the body asks for then, or a few milliseconds
later (ADR-0007).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Container, Iterable
from contextlib import suppress
from contextvars import Context, copy_context
from typing import Protocol

from sagagraph.errors import (
    DrainedError,
    LockedError,
    NotAllowedError,
    ParkedError,
    SagaGraphError,
    StoreError,
    SupersededError,
    UnknownActionError,
)
from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.decide.decide import intent
from sagagraph.saga.core.decide.providers import is_elsewhere, why_elsewhere
from sagagraph.saga.core.doubt.in_doubt import paused, would_be_made_again
from sagagraph.saga.core.doubt.settling import sender_of
from sagagraph.saga.core.locks import lock_change
from sagagraph.saga.core.next_steps import is_quiet, next_steps
from sagagraph.saga.core.state import Operation, Saga, Stage
from sagagraph.saga.core.steps import (
    CallAction,
    CallCompensation,
    CallProbe,
    CallVoid,
    EffectStep,
    ReadAgain,
    Record,
    Reverse,
    Verify,
    Wait,
)
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.calling.calls import Effects
from sagagraph.saga.engine.turn.arrivals import Arrival, Batch, command_of, fail_all
from sagagraph.saga.engine.turn.locking import LockQueue
from sagagraph.saga.engine.turn.notes import note_of, told_by
from sagagraph.saga.engine.turn.stepping import Stepped, StoppedBy, run_in
from sagagraph.saga.engine.turn.waiting import IsReached, Waiters, anything
from sagagraph.saga.stores.port import Lease, Request, SagaStore

_STILL = float("inf")
_UNWRITTEN_S = 0.005
"""What is unwritten waits so long for something that it can be written with."""


class Observer(Protocol):
    """Called with every batch once it is durable; must neither raise nor block."""

    def __call__(self, saga: Saga, entries: tuple[e.Entry, ...], /) -> None: ...


class Coordinator:
    """Coordinator of one saga. `reverse` undoes the saga by another one and returns when that one has ended
    (docs/protocol.md rule 5). `first`: commands that are decided before the first effect. It ends with a `ParkedError` once
    nothing is out and nothing is due within `parks_after_s`, though something is later.
    """

    def __init__(
        self,
        saga: Saga,
        lease: Lease,
        *,
        store: SagaStore,
        effects: Effects,
        find: Callable[[str, int], Action],
        clock: Callable[[], float],
        lease_ttl_s: float,
        reverse: Callable[[Saga], Awaitable[c.Command]],
        first: tuple[c.Command, ...] = (),
        observers: tuple[Observer, ...] = (),
        on_failure: Callable[[SagaGraphError], None] = lambda _exc: None,
        parks_after_s: float = _STILL,
    ) -> None:
        self.saga = saga
        self.lease = lease
        self._store = store
        self._effects = effects
        self._find = find
        self._given: dict[str, Action] = {}
        self._clock = clock
        self._ttl_s = lease_ttl_s
        self._lasts_until = clock() + lease_ttl_s
        self._reverse = reverse
        self._observers = observers
        self._on_failure = on_failure
        self._parks_after_s = parks_after_s
        self.asked: Container[str] | None = None
        """While a body runs: what it has asked for so far. The action of anything else may still be to come."""
        self.heard = saga.last_request
        """The highest number of a request that has come to our ears."""
        self._inbox: list[Arrival] = [Arrival(each) for each in first]
        self._locks = LockQueue()
        self._unwritten: list[e.Entry] = []
        """Part of `saga` already, and of the journal with the next commit."""
        self._unwritten_of: list[c.Command] = []
        self._answering: list[asyncio.Future[Saga]] = []
        """Whoever waits for what this turn decides and commits."""
        self._calls: dict[EffectStep, asyncio.Task[c.Command] | None] = {}
        """What is out. One that has only just begun needs no task yet."""
        self._asker_runs: str | None = None
        """The operation whose action the running task will call itself, if its call begins now."""
        self._left_to_asker: CallAction | None = None
        self._context: Context
        self._left: Stepped[float] | None = None
        """A turn that had to wait, for the loop to end."""
        self._woken = asyncio.Event()
        self._is_asleep = False
        self._watch: asyncio.Handle | None = None
        self._must_write = False
        self._waiters = Waiters()
        self._is_draining = False
        self._loop_task: asyncio.Task[None] | None = None
        self._failure: SagaGraphError | None = None
        self._has_learned = lease.first is not None and store.epoch == 1
        """Whether it knows what others have left for it: nobody can, if it begins here, in a store that was never restored."""
        self._is_turning = False

    # -- from outside ------------------------------------------------------------------------------------------------

    def start(self) -> None:
        self._context = copy_context()
        self._loop_task = asyncio.create_task(self._run(), name=f"saga {self.saga.id}", context=self._context)

    def give(self, operation: str, action: Action) -> None:
        """Perform `operation` with exactly this action: two actions made by one function may share a name and differ in what they
        call.
        """
        self._given[operation] = action

    async def tell(self, command: c.Command) -> None:
        """Give a command to the core and return when its events are durable; raises the core's objection."""
        await self.ask(command)

    async def tell_until(self, command: c.Command, is_reached: IsReached, *, operation: str, is_alone: bool = False) -> Saga:
        """Give a command to the core and return the first later state for which `is_reached` holds; see `until`.

        `is_alone`: nothing else is about to arrive, with which it could share a turn.
        """
        answer = self.ask(command, is_reached, operation=operation, is_alone=is_alone)
        if answer.done():  # a body that runs again would otherwise keep everybody else waiting
            await asyncio.sleep(0)
        return await answer

    async def tell_and_perform(self, command: c.Command, is_reached: IsReached, *, operation: str) -> Saga:
        """Do the same for an operation without effect, and call its action in the running task, if it can be called at once.

        Whoever cancels the task stops the call: only its body can run the operation again then.
        """
        answer = self._expect(command, is_reached, operation)
        self._asker_runs = operation
        self._wake(is_alone=True)
        step, self._left_to_asker, self._asker_runs = self._left_to_asker, None, None
        if step is not None:
            try:
                await self._perform_here(step, answer)
            except BaseException:
                answer.cancel()
                raise
        return await answer

    def ask(
        self, command: c.Command | None, is_reached: IsReached = anything, *, operation: str | None = None, is_alone: bool = False
    ) -> asyncio.Future[Saga]:
        """Give a command to the core and return the future of the state for which `is_reached` holds; see `tell_until`."""
        answer = self._expect(command, is_reached, operation)
        self._wake(is_alone=is_alone)
        return answer

    async def flush(self) -> None:
        """Return when everything that `saga` shows is durable."""
        if self._unwritten:
            await self.ask(None, is_alone=True)

    def _expect(self, command: c.Command | None, is_reached: IsReached, operation: str | None) -> asyncio.Future[Saga]:
        self._check_running()
        answer: asyncio.Future[Saga] = asyncio.get_running_loop().create_future()
        self._inbox.append(Arrival(command, answer, is_reached, operation))
        return answer

    def hear(self, request: Request) -> None:
        """Take in a person's request."""
        if request.number > self.heard:
            self.heard = request.number
            self._inbox.append(Arrival(command_of(request)))
            self._woken.set()

    def renewed(self, at: float) -> None:
        """Note that the lease was renewed by a request sent at `at`."""
        self._lasts_until = at + self._ttl_s

    async def check_still_held(self) -> None:
        """Check the lease before a call goes out: a worker frozen for longer than its lease must ask whether it still has it.

        Raises `SupersededError`. No check can happen at the very moment of the call: rules 3 to 5 cover what slips through.
        """
        now = self._clock()
        if now < self._lasts_until:
            return
        if self.lease not in await self._store.renew([self.lease], self._ttl_s):
            raise SupersededError(f"saga {self.saga.id!r} was taken over by another worker", saga_id=self.saga.id)
        self.renewed(now)

    async def until(self, is_reached: IsReached, *, operation: str | None = None) -> Saga:
        """Return the first state, from now on, for which `is_reached` holds. Raises what ended the loop, if that comes first.

        `operation`: what `is_reached` looks at, beside the saga's stage; None means anything.
        """
        if is_reached(self.saga):
            return self.saga
        self._check_running()
        return await self._waiters.wait(is_reached, operation)

    async def until_quiet(self) -> Saga:
        return await self.until(lambda _saga: self.is_idle)

    @property
    def is_idle(self) -> bool:
        """Whether nothing has arrived (not even before this worker came), nothing is out, and nothing is due, now or later."""
        under_way = self._is_turning or self._inbox or self._unwritten or self._calls or self._locks.waiting
        return self._has_learned and not under_way and is_quiet(self.saga)

    async def drain(self, within_s: float) -> None:
        """Start no further effects, let those that are out end (for at most this long), then end with `DrainedError`."""
        self._is_draining = True
        with suppress(TimeoutError, SagaGraphError):
            async with asyncio.timeout(within_s):
                await self.until(lambda _saga: not (self._is_turning or self._calls))
                await self.flush()
        await self._end(DrainedError(f"saga {self.saga.id!r}: this worker was told to stop; resume it", saga_id=self.saga.id))

    async def stop(self) -> None:
        """Leave the saga as it is and release the lease: calls under way are abandoned and will be in doubt.

        If the worker was superseded, there is no lease to release, and late answers to its calls are written down first.
        """
        if self._loop_task is not None:
            if not isinstance(self._failure, SupersededError):
                with suppress(SagaGraphError):
                    await self.flush()
                self._loop_task.cancel()
            with suppress(asyncio.CancelledError):
                await self._loop_task
        await self._end(self._let_go())
        with suppress(StoreError):
            await self._store.release(self.lease)

    def _let_go(self) -> NotAllowedError:
        return NotAllowedError(f"saga {self.saga.id!r} is not held any more: enter it again", saga_id=self.saga.id)

    def _check_running(self) -> None:
        if self._failure is not None:
            raise self._failure

    # -- the loop ----------------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        try:
            await self._learn()
            while True:
                wake_at = await self._next_turn()
                self._park(wake_at)
                await self._sleep_until(wake_at)
        except ParkedError as exc:
            await self._end(exc)
        except SagaGraphError as exc:
            await self._fail(exc)
        except Exception as exc:
            await self._fail(SagaGraphError(f"saga {self.saga.id!r} stopped: {exc!r}; resume it", saga_id=self.saga.id))
            raise
        finally:
            await self._end(self._let_go())  # even when the loop itself was cancelled: nobody must be left waiting
            if self._watch is not None:
                self._watch.cancel()
            for call in await self._under_way():
                call.cancel()
            await asyncio.gather(*await self._under_way(), return_exceptions=True)

    def _park(self, wake_at: float) -> None:
        """Raise `ParkedError` if it would only sleep, and for long."""
        is_busy = self._inbox or self._unwritten or self._calls or self._locks.waiting
        if not is_busy and self._clock() + self._parks_after_s < wake_at < _STILL:
            raise ParkedError(f"saga {self.saga.id!r} waits: nothing is due now", saga_id=self.saga.id, until=wake_at)

    def _wake(self, *, is_alone: bool = False) -> None:
        """Have a turn made: here and now if nothing else could join it, or in the next turn of the event loop."""
        if not is_alone or not self._is_asleep or self._woken.is_set():
            self._woken.set()
            return
        self._is_asleep = False
        turn = Stepped(self._turn(), self._context)
        self._left = None if turn.step() else turn
        if self._left is not None or turn.result < _STILL:
            self._woken.set()
        self._is_asleep = True

    async def _next_turn(self) -> float:
        if self._left is None:
            return await self._turn()
        self._woken.clear()
        turn, self._left = self._left, None
        wake_at = await turn.rest()
        if self._inbox:
            self._woken.set()
        return wake_at

    async def _turn(self) -> float:
        """Make one commit and start the effects that it allows. Returns when to look again if nothing happens."""
        self._woken.clear()
        self._is_turning = True  # what has arrived is in neither the inbox nor the state until it is written
        batch = Batch(self.saga, self.lease.epoch, self._clock())
        inbox, self._inbox = self._locks.admitted(self._inbox, batch.now)
        self._answering = [each.waiter for each in inbox if each.waiter]
        accepted = [each for each in inbox if batch.take(each) and each.waiter]
        starts, wake_at = self._plan_effects(batch)
        commands = [each.command for each in inbox if each.command]
        if not self._may_wait(batch, inbox, starts):
            try:
                await self._write(batch.saga, batch.entries, commands)
            except LockedError as exc:
                self._is_turning = False
                self._inbox = [*self._locks.set_aside(self.saga, inbox, exc, batch.now), *self._inbox]
                return batch.now
        else:
            self._unwritten += batch.entries
            self._unwritten_of += commands
        before, self.saga = self.saga, batch.saga
        self._is_turning = False
        for arrival in accepted:
            self._waiters.add(arrival.is_reached, arrival.waiter, arrival.operation, self.saga)
        for step in starts:
            self._start(step)
        wake_at = min(wake_at, self._locks.next_at, batch.now if self._inbox else _STILL)
        if before.stage is batch.saga.stage:
            self._show(batch.entries)
        else:
            self._waiters.show_all(batch.saga)
        if self._unwritten and self._watch is None:
            self._watch = asyncio.get_running_loop().call_later(_UNWRITTEN_S, self._look)
        return wake_at

    def _may_wait(self, batch: Batch, inbox: list[Arrival], starts: list[EffectStep]) -> bool:
        """Apply rule 1: wait only where a body will say what comes next, nobody asked for what is durable, and whatever a crash
        would lose would be made again without harm.
        """
        must_write, self._must_write = self._must_write, False
        is_told = batch.saga.driver is e.Driver.BODY and not batch.saga.body_completed and batch.saga.stage is Stage.RUNNING
        if must_write or not is_told:
            return False
        first = self._unwritten[0].at if self._unwritten else batch.now
        return (
            batch.now - first < _UNWRITTEN_S
            and all(each.waiter is None or each.operation is not None for each in inbox)
            and all(isinstance(step, CallAction) and not batch.saga.operations[step.operation].has_effect for step in starts)
            and all(would_be_made_again(batch.saga, entry.event, batch.now) for entry in batch.entries)
        )

    def _look(self) -> None:
        """Have what is unwritten written once it has waited long enough for company."""
        self._watch = None
        if not self._unwritten:
            return
        left_s = self._unwritten[0].at + _UNWRITTEN_S - self._clock()
        if left_s > 0.0:  # somebody else has written what was there when the time began
            self._watch = asyncio.get_running_loop().call_later(left_s, self._look)
        else:
            self._must_write = True
            self._woken.set()

    async def _write(self, saga: Saga, entries: list[e.Entry], commands: list[c.Command]) -> None:
        """Append what was unwritten and then `entries`, which make `saga`.

        Raises what the store raises; acknowledgements among `commands` are then kept as evidence.
        """
        if self._unwritten:
            entries, commands = [*self._unwritten, *entries], [*self._unwritten_of, *commands]
        if not entries:
            return
        try:
            change = lock_change(self.saga, saga)
            locks = {} if change is None else {"locks": change}
            await self._store.append(self.lease, entries, stage=saga.headline_stage, **locks)
        except LockedError:
            raise
        except SagaGraphError:
            await self._keep_evidence(commands)
            raise
        self._unwritten, self._unwritten_of = [], []
        for observer in self._observers:
            observer(saga, tuple(entries))

    def _plan_effects(self, batch: Batch) -> tuple[list[EffectStep], float]:
        """Append what needs no effect until only effects are left, then the intents of those that are due."""
        starts: list[EffectStep] = []
        wake_at = _STILL
        due = self._locks.withheld(next_steps(batch.saga, batch.now), batch.now)
        while records := [step for step in due if isinstance(step, Record)]:
            for record in records:
                batch.append(record.event)
            due = self._locks.withheld(next_steps(batch.saga, batch.now), batch.now)
        for step in due if not self._is_draining else ():
            if isinstance(step, Wait):
                wake_at = min(wake_at, step.until)
            elif isinstance(step, Record) or step in self._calls:
                continue
            elif missing := self._missing(batch.saga, step):
                if self.asked is None or missing.operation in self.asked:
                    batch.take(Arrival(missing))
                    wake_at = batch.now
            else:
                if isinstance(step, CallAction | CallVoid | CallCompensation):
                    batch.append(intent(batch.saga, step, batch.now))
                starts.append(step)
        return starts, wake_at

    def _missing(self, saga: Saga, step: EffectStep) -> c.ActionMissing | None:
        if isinstance(step, Verify | ReadAgain | Reverse):
            return None
        operation = saga.operations[step.operation]
        try:
            action = self._action_of(operation)
        except UnknownActionError as exc:
            return c.ActionMissing(operation.id, str(exc))
        if is_elsewhere(saga, operation, action.provider):
            return c.ActionMissing(operation.id, why_elsewhere(operation, action.provider))
        only_by_body = isinstance(step, CallAction) and not step.claim and (action.needs_body or paused(operation))
        if only_by_body and operation.id not in self._given:
            return c.ActionMissing(operation.id, "only its body can run it again: run that")
        return None

    def _start(self, step: EffectStep) -> None:
        if isinstance(step, CallAction) and step.operation == self._asker_runs:
            self._calls[step] = None
            self._left_to_asker = step
        elif isinstance(step, CallAction) and not self._action_of(self.saga.operations[step.operation]).validators:
            self._calls[step] = None
            call = Stepped(self._perform(step), self._context.copy())
            if call.step():
                self._answered(step, call.result)
            else:
                asyncio.get_running_loop().call_soon(self._go_on, step, call)
        else:
            self._calls[step] = asyncio.create_task(self._performed(step, self._perform(step)), context=self._context.copy())

    def _go_on(self, step: EffectStep, call: Stepped[c.Command]) -> None:
        """Go on with a call whose function has begun: one that has ended needs no task but that of the function."""
        if self._failure is None and call.step():
            self._answered(step, call.result)
        else:
            self._calls[step] = asyncio.create_task(self._performed(step, call.rest()), context=self._context.copy())

    async def _perform_here(self, step: CallAction, answer: asyncio.Future[Saga]) -> None:
        """Make a call in the running task, and stop it once the saga has gone on without it."""
        with StoppedBy(answer):
            command: c.Command = c.ActionPaused(step.operation, "its task was cancelled")
            try:
                command = await run_in(self._context.copy(), self._perform(step, is_stoppable=True))
            finally:
                if self._failure is None:
                    self._answered(step, command)

    async def _performed(self, step: EffectStep, performing: Awaitable[c.Command]) -> c.Command:
        try:
            command = await performing
        except BaseException:
            self._woken.set()  # by the time at which the loop wakes up, this task is done
            raise
        if self._failure is None:
            self._answered(step, command)
        return command

    def _answered(self, step: EffectStep, command: c.Command) -> None:
        del self._calls[step]
        self._inbox.append(Arrival(command))
        self._wake(is_alone=not self._calls)

    async def _under_way(self) -> list[asyncio.Task[c.Command]]:
        if None in self._calls.values():
            await asyncio.sleep(0)  # until the function has begun
        return [each for each in self._calls.values() if each is not None]

    async def _perform(self, step: EffectStep, *, is_stoppable: bool = False) -> c.Command:
        saga = self.saga
        if isinstance(step, Reverse):
            return await self._reverse(saga)
        if isinstance(step, Verify):
            return await self._effects.verify(saga, step, self._action_or_none)
        if isinstance(step, ReadAgain):
            return await self._effects.read_again(saga, step, self._action_or_none)
        operation = saga.operations[step.operation]
        action = self._action_of(operation)
        match step:
            case CallAction():
                return await self._effects.run_action(saga, operation, action, is_stoppable=is_stoppable)
            case CallProbe():
                return await self._effects.run_probe(saga, operation, action)
            case CallVoid() | CallCompensation():
                deadline = saga.last_at + operation.spec.policy.compensation.timeout_s
                return await self._effects.run_undo(saga, operation, action, deadline)

    def _action_of(self, operation: Operation) -> Action:
        spec = operation.spec
        given = self._given.get(spec.id)
        if given is not None and given.is_known_as(spec.action, spec.action_version):
            return given
        return self._find(spec.action, spec.action_version)

    def _action_or_none(self, operation: Operation) -> Action | None:
        try:
            action = self._action_of(operation)
        except UnknownActionError:
            return None
        return None if is_elsewhere(self.saga, operation, action.provider) else action

    async def _sleep_until(self, wake_at: float) -> None:
        """Sleep until a command or the answer to a call arrives that no other turn has taken."""
        self._is_asleep = True
        if wake_at == _STILL:
            await self._woken.wait()
        else:
            with suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, wake_at - self._clock())):
                    await self._woken.wait()
        self._is_asleep = False
        for call in self._calls.values():
            if call is not None and call.done():
                call.result()  # raises: whatever was answered has arrived

    # -- what others did, and what others are told -------------------------------------------------------------------

    async def _learn(self) -> None:
        """Read what superseded workers and people have left for this worker, before its first effect."""
        if self._has_learned:
            return
        for note in await self._store.notes(self.saga.id):
            self._inbox.append(Arrival(told_by(note)))
        for request in await self._store.requests({self.saga.id: self.heard}):
            self.hear(request)
        self._has_learned = True

    def _show(self, entries: Iterable[e.Entry]) -> None:
        changed = dict.fromkeys(name for each in entries if (name := _operation_of(each.event)))  # in the order of the journal
        self._waiters.show(self.saga, changed)

    async def _fail(self, exc: SagaGraphError) -> None:
        """Handle a lost lease or store: start nothing, let calls under way end, and write down their answers."""
        self._on_failure(exc)
        await self._end(exc)
        if isinstance(exc, SupersededError):
            ended = await asyncio.gather(*await self._under_way(), return_exceptions=True)
            answers = [each for each in ended if not isinstance(each, BaseException)]
            await self._keep_evidence([*(each.command for each in self._inbox if each.command), *answers])

    async def _end(self, exc: SagaGraphError) -> None:
        """Release everybody who waits for this coordinator; the first reason counts."""
        self._failure = self._failure or exc
        arrived = (*self._inbox, *self._locks.waiting)
        fail_all([*self._answering, *(each.waiter for each in arrived if each.waiter)], self._failure)
        self._waiters.fail(self.saga, self._failure)

    async def _keep_evidence(self, commands: list[c.Command]) -> None:
        """Leave acknowledgements that can no longer be journalled for the new holder (docs/protocol.md rule 6)."""
        for command in commands:
            note = note_of(self.saga, command, sender_of(self.lease.epoch, self.lease.owner))
            if note is not None:
                with suppress(StoreError):
                    await self._store.note(self.saga.id, note)


def _operation_of(event: e.Event) -> str | None:
    if isinstance(event, e.OperationPlanned):
        return event.operation.id
    return getattr(event, "operation", None)
