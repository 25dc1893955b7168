"""The effectful loop around the pure core: one saga, one lease, one writer.

A turn of the loop takes all commands that have arrived, decides, adds what is due, appends everything in one commit, and only
then starts effects (PROTOCOL rule 1). So parallel outcomes share commits, and an outcome shares one with the intent of what it
makes ready; nothing that is ready waits for that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Container
from contextlib import suppress
from typing import Protocol

from sagagraph.errors import NotAllowedError, SagaGraphError, StoreError, SupersededError, UnknownActionError
from sagagraph.saga import commands as c
from sagagraph.saga import events as e
from sagagraph.saga.action import Action
from sagagraph.saga.agenda import is_quiet, next_steps
from sagagraph.saga.decide import decide, intent
from sagagraph.saga.effects import Effects
from sagagraph.saga.evolve import evolve
from sagagraph.saga.model import Operation, Saga, UndoCall, operation_key, undo_key
from sagagraph.saga.ports import Lease, Note, RequestKind, SagaStore
from sagagraph.saga.step import CallAction, CallCompensation, CallProbe, CallVoid, EffectStep, Record, Reverse, Verify, Wait

HEARTBEAT_S = 0.5
"""How often a holder looks for requests of people."""
_STILL = 60.0


class Observer(Protocol):
    """Told of every batch after it is durable; must not raise and must not wait."""

    def __call__(self, saga: Saga, entries: tuple[e.Entry, ...], /) -> None: ...


class Coordinator:
    """`reverse` undoes the saga by another one and returns when that has ended (PROTOCOL rule 5)."""

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
        observers: tuple[Observer, ...] = (),
    ) -> None:
        self.saga = saga
        self._lease = lease
        self._store = store
        self._effects = effects
        self._find = find
        self._given: dict[str, Action] = {}
        self._clock = clock
        self._ttl_s = lease_ttl_s
        self._reverse = reverse
        self._observers = observers
        self.asked: Container[str] | None = None
        """While a body runs: what it has asked for so far. The action of anything else may still be to come."""
        self._heard = saga.last_request
        self._inbox: list[tuple[c.Command, asyncio.Future[None] | None]] = []
        self._answering: list[asyncio.Future[None]] = []
        """Whoever waits for what this turn decides and commits."""
        self._calls: dict[EffectStep, asyncio.Task[c.Command]] = {}
        self._woken = asyncio.Event()
        self._changed = asyncio.Condition()
        self._loop_task: asyncio.Task[None] | None = None
        self._failure: SagaGraphError | None = None

    # -- from outside ------------------------------------------------------------------------------------------------

    def start(self) -> None:
        self._loop_task = asyncio.create_task(self._run(), name=f"saga {self.saga.id}")

    def give(self, operation: str, action: Action) -> None:
        """Perform `operation` with this very action: two that a function made may share a name, and differ in what they call."""
        self._given[operation] = action

    async def tell(self, command: c.Command) -> None:
        """Returns when the command's events are durable; raises what the core says against it."""
        self._check_running()
        accepted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._inbox.append((command, accepted))
        self._woken.set()
        await accepted

    async def until(self, is_reached: Callable[[Saga], bool]) -> Saga:
        """Returns the first state, from now on, for which `is_reached`. Raises what ended the loop, if that comes first."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._failure is not None or is_reached(self.saga))
        if self._failure is not None and not is_reached(self.saga):
            raise self._failure
        return self.saga

    async def until_quiet(self) -> Saga:
        return await self.until(lambda _saga: self.is_idle)

    @property
    def is_idle(self) -> bool:
        """Nothing has arrived, nothing is out, and nothing is due, now or later."""
        return not self._inbox and not self._calls and is_quiet(self.saga)

    async def stop(self) -> None:
        """Leave the saga as it is and give the lease back: calls under way are abandoned and will be in doubt.

        If it was superseded, there is no lease to give back, and what its calls still answer is written down first.
        """
        if self._loop_task is not None:
            if not isinstance(self._failure, SupersededError):
                self._loop_task.cancel()
            with suppress(asyncio.CancelledError):
                await self._loop_task
        await self._end(self._let_go())
        with suppress(StoreError):
            await self._store.release(self._lease)

    def _let_go(self) -> NotAllowedError:
        return NotAllowedError(f"saga {self.saga.id!r} is not held any more: enter it again", saga_id=self.saga.id)

    def _check_running(self) -> None:
        if self._failure is not None:
            raise self._failure

    # -- the loop ----------------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        heart = asyncio.create_task(self._beat())
        try:
            await self._adopt_evidence()
            await self._hear_requests()
            while True:
                wake_at = await self._turn()
                await self._sleep_until(wake_at)
        except SagaGraphError as exc:
            await self._fail(exc)
        except Exception as exc:
            await self._fail(SagaGraphError(f"saga {self.saga.id!r} stopped: {exc!r}; resume it", saga_id=self.saga.id))
            raise
        finally:
            await self._end(self._let_go())  # also when something cancelled the loop itself: nobody must wait for it
            heart.cancel()
            for call in self._calls.values():
                call.cancel()
            await asyncio.gather(heart, *self._calls.values(), return_exceptions=True)

    async def _turn(self) -> float:
        """One commit and the effects that it allows. Returns when to look again if nothing happens."""
        self._woken.clear()
        inbox, self._inbox = self._inbox, []
        batch = _Batch(self.saga, self._lease.epoch, self._clock())
        self._answering = [waiter for _command, waiter in inbox if waiter]
        accepted = [waiter for command, waiter in inbox if batch.take(command, waiter) and waiter]
        starts, wake_at = self._plan_effects(batch)
        try:
            if batch.entries:
                events = [entry.event for entry in batch.entries]
                await self._store.append(self._lease, self.saga.version, events, at=batch.now, stage=batch.saga.stage)
        except SagaGraphError:
            await self._keep_evidence([command for command, _waiter in inbox])
            raise
        self.saga = batch.saga
        for waiter in accepted:
            if not waiter.done():
                waiter.set_result(None)
        for step in starts:
            self._start(step)
        await self._announce(tuple(batch.entries))
        return wake_at

    def _plan_effects(self, batch: _Batch) -> tuple[list[EffectStep], float]:
        """Append what needs no effect until only effects are left, then the intents of those that are due."""
        starts: list[EffectStep] = []
        wake_at = batch.now + _STILL
        while records := [step for step in next_steps(batch.saga, batch.now) if isinstance(step, Record)]:
            for record in records:
                batch.append(record.event)
        for step in next_steps(batch.saga, batch.now):
            if isinstance(step, Wait):
                wake_at = min(wake_at, step.until)
            elif isinstance(step, Record) or step in self._calls:
                continue
            elif missing := self._missing(batch.saga, step):
                if self.asked is None or missing.operation in self.asked:
                    batch.take(missing, None)
                    wake_at = batch.now
            else:
                if isinstance(step, CallAction | CallVoid | CallCompensation):
                    batch.append(intent(batch.saga, step, batch.now))
                starts.append(step)
        return starts, wake_at

    def _missing(self, saga: Saga, step: EffectStep) -> c.ActionMissing | None:
        if isinstance(step, Verify | Reverse):
            return None
        operation = saga.operations[step.operation]
        try:
            self._action_of(operation)
        except UnknownActionError as exc:
            return c.ActionMissing(operation.id, str(exc))
        return None

    def _start(self, step: EffectStep) -> None:
        task = asyncio.create_task(self._perform(step))
        self._calls[step] = task
        task.add_done_callback(lambda _done: self._woken.set())

    async def _perform(self, step: EffectStep) -> c.Command:
        saga = self.saga
        if isinstance(step, Reverse):
            return await self._reverse(saga)
        if isinstance(step, Verify):
            return await self._effects.verify(saga, step, self._action_or_none)
        operation = saga.operations[step.operation]
        action = self._action_of(operation)
        match step:
            case CallAction():
                return await self._effects.run_action(saga, operation, action)
            case CallProbe():
                return await self._effects.run_probe(saga, operation, action)
            case CallVoid() | CallCompensation():
                deadline = saga.last_at + operation.spec.policy.compensation.timeout_s
                return await self._effects.run_undo(saga, operation, action, deadline)

    def _action_of(self, operation: Operation) -> Action:
        wanted = (operation.spec.action, operation.spec.action_version)
        given = self._given.get(operation.id)
        return given if given is not None and (given.name, given.version) == wanted else self._find(*wanted)

    def _action_or_none(self, operation: Operation) -> Action | None:
        try:
            return self._action_of(operation)
        except UnknownActionError:
            return None

    async def _sleep_until(self, wake_at: float) -> None:
        """Until a command or the answer of a call is there; those that are become commands of the next turn."""
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, wake_at - self._clock())):
                await self._woken.wait()
        for step, task in list(self._calls.items()):
            if task.done():
                del self._calls[step]
                self._inbox.append((task.result(), None))

    # -- what others did, and what is told to others -----------------------------------------------------------------

    async def _adopt_evidence(self) -> None:
        for note in await self._store.notes(self.saga.id):
            self._inbox.append((c.EvidenceFound(note.operation, note.call, note.key, note.output), None))

    async def _hear_requests(self) -> None:
        """Pick up what people have asked for since we last looked; before the first effect, and then with every beat."""
        for request in await self._store.requests(self.saga.id, after=self._heard):
            self._heard = request.number
            self._inbox.append((_command_of(request.kind, request.by, request.data, request.number), None))
            self._woken.set()

    async def _beat(self) -> None:
        """Keep the lease, and listen."""
        renew_at = self._clock() + self._ttl_s / 3
        try:
            while True:
                await asyncio.sleep(HEARTBEAT_S)
                await self._hear_requests()
                if self._clock() >= renew_at:
                    renew_at = self._clock() + self._ttl_s / 3
                    if not await self._store.renew(self._lease, self._ttl_s):
                        return
        except StoreError:
            return  # the next append will say so, with more to tell

    async def _announce(self, entries: tuple[e.Entry, ...]) -> None:
        for observer in self._observers if entries else ():
            observer(self.saga, entries)
        async with self._changed:
            self._changed.notify_all()

    async def _fail(self, exc: SagaGraphError) -> None:
        """Superseded, or the store is gone: start nothing, let what is out end, and write down what it says."""
        await self._end(exc)
        if isinstance(exc, SupersededError) and self._calls:
            ended = await asyncio.gather(*self._calls.values(), return_exceptions=True)
            await self._keep_evidence([each for each in ended if not isinstance(each, BaseException)])

    async def _end(self, exc: SagaGraphError) -> None:
        """Nobody waits for this coordinator any more; the first reason stands."""
        self._failure = self._failure or exc
        _fail_all([*self._answering, *(waiter for _command, waiter in self._inbox if waiter)], self._failure)
        async with self._changed:
            self._changed.notify_all()

    async def _keep_evidence(self, commands: list[c.Command]) -> None:
        """Acknowledgements that can not be journalled any more are left for the new holder (PROTOCOL rule 6)."""
        for command in commands:
            note = _note_of(self.saga, command)
            if note is not None:
                with suppress(StoreError):
                    await self._store.note(self.saga.id, note)


class _Batch:
    """The events of one commit, each decided on the state that the ones before it make."""

    def __init__(self, saga: Saga, epoch: int, now: float) -> None:
        self.saga = saga
        self.now = max(now, saga.last_at)
        self.entries: list[e.Entry] = []
        self._epoch = epoch

    def append(self, event: e.Event) -> None:
        entry = e.Entry(self.saga.version + 1, self._epoch, self.now, event)
        self.saga = evolve(self.saga, entry)
        self.entries.append(entry)

    def take(self, command: c.Command, waiter: asyncio.Future[None] | None) -> bool:
        """False if the core refused the command; whoever waits for it is told why."""
        try:
            events = decide(self.saga, command, self.now)
        except SagaGraphError as exc:
            _fail_all([waiter] if waiter else [], exc)
            return False
        for event in events:
            self.append(event)
        return True


def _fail_all(waiters: list[asyncio.Future[None]], exc: SagaGraphError) -> None:
    for waiter in waiters:
        if not waiter.done():
            waiter.set_exception(exc)


def _command_of(kind: RequestKind, by: str, data: object, number: int) -> c.Command:
    if kind is RequestKind.CANCEL:
        return c.Cancel(by, number)
    if not isinstance(data, dict):
        raise StoreError(f"request {number} is damaged")
    return c.Resolve(str(data["operation"]), e.Resolution(data["resolution"]), by, data.get("output"), number)


def _note_of(saga: Saga, command: c.Command) -> Note | None:
    match command:
        case c.ActionReplied(name, output):
            operation = saga.operations[name]
            return Note(name, c.CallKind.ACTION, operation_key(saga.id, operation), output)
        case c.UndoReplied(name, output):
            operation = saga.operations[name]
            if operation.undo is None or operation.undo.call is UndoCall.VOID:
                return Note(name, c.CallKind.VOID, operation_key(saga.id, operation), output)
            return Note(name, c.CallKind.COMPENSATION, undo_key(saga.id, operation, operation.undo.generation), output)
        case _:
            return None
