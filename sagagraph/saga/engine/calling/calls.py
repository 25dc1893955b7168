"""Calls: run an action, probe, void or compensation, and report to the core how it ended.

However a call ends, it ends as a command: a reply, a refusal, or lost. Nothing is retried here (docs/protocol.md rule 3a).
"""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from functools import partial
from random import Random
from typing import Any

from sagagraph.context.slice import ContextSlice
from sagagraph.errors import InvalidInputError, ProviderError, Refused, SagaGraphError, UnknownActionError, words_of
from sagagraph.saga.core import commands as c
from sagagraph.saga.core.call import Call, Purpose
from sagagraph.saga.core.doubt.settling import sender_of
from sagagraph.saga.core.events import Fault, ProbeAnswer
from sagagraph.saga.core.state import Operation, Saga, UndoCall, operation_key, undo_key, void_key
from sagagraph.saga.core.steps import ReadAgain, Verify
from sagagraph.saga.engine.actions import Action, to_json
from sagagraph.saga.engine.call import Paused, Probe, enter_call
from sagagraph.saga.engine.calling.threads import in_thread
from sagagraph.saga.engine.calling.under_way import UnderWay, is_under_way
from sagagraph.saga.engine.calling.validation import augmented_output
from sagagraph.saga.engine.exceptions import FailsOn, refusal_in
from sagagraph.saga.engine.turn.stepping import Stepped
from sagagraph.saga.telemetry.holding import Telemetry
from sagagraph.validators.protocol import Validator, judge
from sagagraph.validators.verdict import Verdict
from sagagraph.workflow.operation import resolve
from sagagraph.workflow.values import Json

AroundCall = Callable[[Call], AbstractAsyncContextManager[None]]
"""Entered around every call of an action, compensation, void or probe: for tracing, and for breaking things in tests."""


class Effects:
    """Performs the calls of one engine, whose leases have this `owner`.

    `check_held` raises `SupersededError` if this worker no longer holds the saga with that id.
    """

    def __init__(
        self,
        owner: str,
        random: Random,
        clock: Callable[[], float],
        around_call: AroundCall,
        check_held: Callable[[str], Awaitable[None]],
        telemetry: Telemetry,
    ) -> None:
        self._owner = owner
        self._check_held = check_held
        self._telemetry = telemetry
        self._around_call = around_call
        self._random = random
        self._clock = clock

    async def run_action(self, saga: Saga, operation: Operation, action: Action, *, is_stoppable: bool = False) -> c.Command:
        """Run an action. `is_stoppable`: in the running task, since whoever waits for it may as well wait for its end."""
        called = self._called_here if is_stoppable else self._called
        call = _call(saga, operation, operation_key(saga.id, operation), operation.attempts, operation.deadline)
        try:
            request = action.request_from_json(resolve(operation.spec.inputs, saga.outputs))
        except InvalidInputError as exc:
            return c.ActionRefused(operation.id, Fault("invalid_input", words_of(exc)))
        try:
            with self._telemetry.call(operation, call):
                left_s, execute, fails_on = self._left(operation.deadline), action.execute, action.fails_on
                output = to_json(await called(call, left_s, execute, request, call, fails_on=fails_on))
        except Refused as exc:
            fault = Fault(exc.code, words_of(exc))
            return c.ActionRefused(operation.id, fault, exc.transient, self._random.random(), _after_s(exc))
        except Paused as exc:
            return c.ActionPaused(operation.id, words_of(exc))
        except Exception as exc:  # noqa: BLE001 - any other ending is in doubt, whatever it was
            return c.ActionLost(operation.id, _fault_of(exc), self._random.random(), _after_s(exc), self._sender(saga, operation))
        output, verdicts = await self._judged_output(saga, operation, action, output)
        return c.ActionReplied(operation.id, output, verdicts)

    async def run_probe(self, saga: Saga, operation: Operation, action: Action) -> c.ProbeAnswered:
        asked_at = max(self._clock(), saga.last_at)
        said, output, after_s = await self._probed(saga, operation, action)
        judged = operation.undo is None and said.answer is ProbeAnswer.LANDED
        output, verdicts = await self._judged_output(saga, operation, action, output) if judged else (output, ())
        draw = self._random.random()
        return c.ProbeAnswered(operation.id, said.answer, output, said.detail, verdicts, draw, asked_at, after_s)

    async def run_undo(self, saga: Saga, operation: Operation, action: Action, deadline: float) -> c.Command:
        if operation.undo is None:
            raise AssertionError(f"{operation.id} is undone without an intent")
        void = action.guarantees.void
        is_void = operation.undo.call is UndoCall.VOID and callable(void)
        key = void_key(saga.id, operation) if is_void else undo_key(saga.id, operation, operation.undo.generation)
        purpose = Purpose.VOID if is_void else Purpose.COMPENSATION
        call = _call(saga, operation, key, operation.undo.attempts, deadline, purpose)
        try:
            request = action.request_from_json(resolve(operation.spec.inputs, saga.outputs))
            function = void if is_void and callable(void) else action.compensate
            done = () if is_void else (action.result_from_json(operation.output),)
            with self._telemetry.call(operation, call):
                result = await self._called(call, self._left(deadline), function, request, *done, call)
                output = to_json(result)
        except Refused as exc:
            fault = Fault(exc.code, words_of(exc))
            return c.UndoRefused(operation.id, fault, exc.transient, self._random.random(), _after_s(exc))
        except Exception as exc:  # noqa: BLE001 - any other ending is in doubt, whatever it was
            return c.UndoLost(operation.id, _fault_of(exc), self._random.random(), _after_s(exc), self._sender(saga, operation))
        return c.UndoReplied(operation.id, output)

    async def verify(self, saga: Saga, step: Verify, find: Callable[[Operation], Action | None]) -> c.Verified:
        """Probe all of these operations at once; an operation that cannot be probed is UNKNOWN."""

        async def one(name: str) -> tuple[str, ProbeAnswer]:
            operation = saga.operations[name]
            action = find(operation)
            if action is None:
                return name, ProbeAnswer.UNKNOWN
            said, _output, _after_s = await self._probed(saga, operation, action)
            return name, said.answer

        answers = dict(await asyncio.gather(*(one(name) for name in step.operations)))
        return c.Verified(step.committing, answers, step.unverified)

    async def read_again(self, saga: Saga, step: ReadAgain, find: Callable[[Operation], Action | None]) -> c.ReadAgain:
        """Read all of these again, at once."""
        read = dict(await asyncio.gather(*(self._read_again(saga, saga.operations[name], find) for name in step.operations)))
        faults = {name: said for name, said in read.items() if isinstance(said, Fault)}
        return c.ReadAgain({name: said for name, said in read.items() if name not in faults}, faults)

    async def _read_again(
        self, saga: Saga, operation: Operation, find: Callable[[Operation], Action | None]
    ) -> tuple[str, Json | Fault]:
        """Return what it says now; after as many failures as its policy allows, why nothing."""
        policy = operation.spec.policy
        for attempt in range(1, policy.retry.max_attempts + 1):
            key = operation_key(saga.id, operation)
            call = _call(saga, operation, key, attempt, self._clock() + policy.timeout_s, Purpose.PROBE)
            try:
                if (action := find(operation)) is None:
                    raise UnknownActionError(f"action {operation.spec.action!r} is not registered in this process")
                request = action.request_from_json(resolve(operation.spec.inputs, saga.outputs))
                with self._telemetry.call(operation, call):
                    output = to_json(await self._called(call, policy.timeout_s, action.execute, request, call))
                return operation.id, (await self._judged_output(saga, operation, action, output))[0]
            except Exception as exc:  # noqa: BLE001 - whatever it was, what it would say is not known
                fault = _fault_of(exc)
            await asyncio.sleep(policy.backoff.delay_s(attempt, self._random.random()))
        return operation.id, fault

    # -- one call ----------------------------------------------------------------------------------------------------

    async def _probed(self, saga: Saga, operation: Operation, action: Action) -> tuple[Probe, Json, float]:
        """Ask what became of it. Returns also how long the provider wants to be left alone before it is asked again."""
        timeout_s = operation.spec.policy.timeout_s
        key = operation_key(saga.id, operation)
        call = _call(saga, operation, key, operation.attempts, self._clock() + timeout_s, Purpose.PROBE)
        try:
            request = action.request_from_json(resolve(operation.spec.inputs, saga.outputs))
            with self._telemetry.call(operation, call) as asked:
                said = await self._called(call, timeout_s, action.probe, request, call)
                if not isinstance(said, Probe):
                    raise TypeError(f"the probe returned a {type(said).__name__}, not a Probe")
                asked.answered(said.answer.value)
                return said, to_json(said.result), 0.0
        except Exception as exc:  # noqa: BLE001 - a probe that fails knows nothing
            fault = _fault_of(exc)
            return Probe.unknown(f"{fault.code}: {fault.message}"), None, _after_s(exc)

    async def _called(
        self,
        call: Call,
        timeout_s: float,
        function: Callable[..., Any] | None,
        *arguments: object,
        fails_on: FailsOn = (),
    ) -> Any:
        """Call within `timeout_s`. A function that is not a coroutine cannot be interrupted, and a coroutine may refuse to be: it
        is abandoned, and may still land after the time-out.

        Raises `Refused` for what the function itself raises when nothing happened.
        """
        if function is None:
            raise TypeError("this action has no such function")
        _begin(call, timeout_s)
        running = asyncio.create_task(self._under_way(call, function, arguments), name=f"call {call.idempotency_key}")
        try:
            await asyncio.sleep(0)  # most calls that wait for nobody have ended by then, and need no timer
            if not running.done():
                await asyncio.wait({running}, timeout=timeout_s)
        except asyncio.CancelledError:
            await _stopped(running)
            raise
        if not running.done() and not await _stopped(running):
            raise TimeoutError("no answer in time, and it does not stop")
        if running.cancelled():
            raise TimeoutError if running.cancelling() else RuntimeError("it ended with CancelledError")
        failure = running.exception()
        if isinstance(failure, Exception) and (said := refusal_in(failure, fails_on)) is not None:
            raise said from failure
        if failure is None or isinstance(failure, (Exception, KeyboardInterrupt, SystemExit)):
            return running.result()
        raise RuntimeError(f"it ended with {type(failure).__name__}") from failure

    async def _called_here(
        self, call: Call, timeout_s: float, function: Callable[..., Any], *arguments: object, fails_on: FailsOn = ()
    ) -> Any:
        """Call in the running task: nobody abandons the function if it refuses to be interrupted."""
        _begin(call, timeout_s)
        try:
            running = Stepped(self._under_way(call, function, arguments))
            if running.step():  # most calls that wait for nobody need no timer
                return running.result
            async with asyncio.timeout(timeout_s):
                return await running.rest()
        except asyncio.CancelledError as exc:
            if (task := asyncio.current_task()) is not None and task.cancelling():
                raise
            raise RuntimeError("it ended with CancelledError") from exc
        except Exception as exc:
            if (said := refusal_in(exc, fails_on)) is not None:
                raise said from exc
            raise

    async def _under_way(self, call: Call, function: Callable[..., Any], arguments: tuple[object, ...]) -> Any:
        async with self._around_call(call):
            if call.purpose is not Purpose.PROBE:
                await self._check_held(call.saga_id)
            with UnderWay(call):
                if inspect.iscoroutinefunction(function):
                    return await function(*arguments)
                return await _awaited(await in_thread(function, *arguments))

    def _left(self, deadline: float) -> float:
        return deadline - self._clock()

    def _sender(self, saga: Saga, operation: Operation) -> str:
        """Return this worker's name if the function of a call that nobody waits for any more did not stop."""
        return sender_of(saga.epoch, self._owner) if is_under_way(saga.id, operation.id) else ""

    async def _judged_output(
        self, saga: Saga, operation: Operation, action: Action, output: Json
    ) -> tuple[Json, tuple[Verdict, ...]]:
        return await augmented_output(saga, operation, action, output, partial(self._judged, saga, operation))

    async def _judged(
        self, saga: Saga, operation: Operation, validator: Validator, output: Json, context: ContextSlice
    ) -> Verdict:
        with self._telemetry.judging(saga, operation, validator) as judging:
            verdict = await judge(validator, output, context, within_s=operation.spec.policy.timeout_s)
            judging.answered(verdict.verdict.value)
        return verdict


def _begin(call: Call, timeout_s: float) -> None:
    if timeout_s <= 0:  # this process was frozen after the intent: others may rely on its deadline by now
        raise Refused("its time was over before it could start", code="too_late", transient=True)
    enter_call(call)


_GRACE_S = 1.0
"""A call that is told to stop may clean up for so long; then nobody waits for it any more."""
_ABANDONED: set[asyncio.Task[Any]] = set()


async def _stopped(running: asyncio.Task[Any]) -> bool:
    """Cancel a call, and tell whether it has ended. One that goes on nevertheless keeps neither its saga nor the process."""
    running.cancel()
    try:
        await asyncio.wait({running}, timeout=_GRACE_S)
    finally:  # also when whoever waits here is told to stop once more
        if not running.done():
            _ABANDONED.add(running)
            running.add_done_callback(_forgotten)
            asyncio._unregister_task(running)  # or the end of the event loop would wait for it
    return running.done()


def _forgotten(abandoned: asyncio.Task[Any]) -> None:
    _ABANDONED.discard(abandoned)
    if not abandoned.cancelled():
        abandoned.exception()  # looked at: it is in doubt already, whatever it was


async def _awaited(answer: object) -> Any:
    """Await the value if it is a coroutine, as what a callable object or a partial returns may be."""
    return await answer if isinstance(answer, Awaitable) else answer


def _call(saga: Saga, operation: Operation, key: str, attempt: int, deadline: float, purpose: Purpose = Purpose.ACTION) -> Call:
    return Call(
        saga_id=saga.id,
        operation_id=operation.id,
        attempt=attempt,
        generation=operation.generation,
        idempotency_key=key,
        operation_key=operation_key(saga.id, operation) if purpose is Purpose.COMPENSATION else key,
        deadline=datetime.fromtimestamp(deadline, UTC),
        purpose=purpose,
    )


def _after_s(exc: Exception) -> float:
    """Return how long the provider asks to be left alone, in seconds."""
    asked = exc.retry_after_s if isinstance(exc, Refused | ProviderError) else None
    return asked if asked is not None and math.isfinite(asked) and asked > 0 else 0.0


def _fault_of(exc: Exception) -> Fault:
    message = words_of(exc) or ("no answer in time" if isinstance(exc, TimeoutError) else "")
    code = exc.code if isinstance(exc, Refused) else type(exc).__name__
    return Fault(code, message if isinstance(exc, SagaGraphError) else f"{type(exc).__name__}: {message}")
