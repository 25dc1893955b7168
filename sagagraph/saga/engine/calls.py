"""Calls: run an action, probe, void or compensation, and report to the core how it ended.

However a call ends, it ends as a command: a reply, a refusal, or lost. Nothing is retried here (docs/protocol.md rule 3a).
"""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from contextlib import AbstractAsyncContextManager
from contextvars import copy_context
from datetime import UTC, datetime
from functools import partial
from random import Random
from typing import Any

from sagagraph.context.slice import ContextSlice
from sagagraph.errors import InvalidInputError, ProviderError, Refused, SagaGraphError, words_of
from sagagraph.saga.core import commands as c
from sagagraph.saga.core.call import Call, Purpose
from sagagraph.saga.core.events import Fault, ProbeAnswer
from sagagraph.saga.core.state import Operation, Saga, UndoCall, operation_key, undo_key
from sagagraph.saga.core.steps import Verify
from sagagraph.saga.engine.actions import Action, to_json
from sagagraph.saga.engine.call import Paused, Probe, enter_call
from sagagraph.saga.engine.validation import augmented_output
from sagagraph.saga.telemetry.holding import Telemetry
from sagagraph.validators.protocol import Validator, judge
from sagagraph.validators.verdict import Verdict
from sagagraph.workflow.operation import resolve
from sagagraph.workflow.values import Json

AroundCall = Callable[[Call], AbstractAsyncContextManager[None]]
"""Entered around every call of an action, compensation, void or probe: for tracing, and for breaking things in tests."""


class Effects:
    """Performs the calls of one engine. `executor` runs functions that are not coroutines.

    `check_held` raises `SupersededError` if this worker no longer holds the saga with that id.
    """

    def __init__(
        self,
        executor: Executor,
        random: Random,
        clock: Callable[[], float],
        around_call: AroundCall,
        check_held: Callable[[str], Awaitable[None]],
        telemetry: Telemetry,
    ) -> None:
        self._executor = executor
        self._check_held = check_held
        self._telemetry = telemetry
        self._around_call = around_call
        self._random = random
        self._clock = clock

    async def run_action(self, saga: Saga, operation: Operation, action: Action) -> c.Command:
        call = _call(saga, operation, operation_key(saga.id, operation), operation.attempts, operation.deadline)
        try:
            request = action.request_from_json(resolve(operation.spec.inputs, saga.outputs))
        except InvalidInputError as exc:
            return c.ActionRefused(operation.id, Fault("invalid_input", words_of(exc)))
        try:
            with self._telemetry.call(operation, call):
                result = await self._called(call, self._left(operation.deadline), action.execute, request, call)
                output = to_json(result)
        except Refused as exc:
            fault = Fault(exc.code, words_of(exc))
            return c.ActionRefused(operation.id, fault, exc.transient, self._random.random(), _after_s(exc))
        except Paused as exc:
            return c.ActionPaused(operation.id, words_of(exc))
        except Exception as exc:  # noqa: BLE001 - any other ending is in doubt, whatever it was
            return c.ActionLost(operation.id, _fault_of(exc), self._random.random(), _after_s(exc))
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
        is_void = operation.undo.call is UndoCall.VOID
        key = operation_key(saga.id, operation) if is_void else undo_key(saga.id, operation, operation.undo.generation)
        purpose = Purpose.VOID if is_void else Purpose.COMPENSATION
        call = _call(saga, operation, key, operation.undo.attempts, deadline, purpose)
        try:
            request = action.request_from_json(resolve(operation.spec.inputs, saga.outputs))
            function = action.guarantees.void if is_void else action.compensate
            done = () if is_void else (action.result_from_json(operation.output),)
            with self._telemetry.call(operation, call):
                result = await self._called(call, self._left(deadline), function, request, *done, call)
                output = to_json(result)
        except Refused as exc:
            fault = Fault(exc.code, words_of(exc))
            return c.UndoRefused(operation.id, fault, exc.transient, self._random.random(), _after_s(exc))
        except Exception as exc:  # noqa: BLE001 - any other ending is in doubt, whatever it was
            return c.UndoLost(operation.id, _fault_of(exc), self._random.random(), _after_s(exc))
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

    async def _called(self, call: Call, timeout_s: float, function: Callable[..., Any] | None, *arguments: object) -> Any:
        """Call within `timeout_s`. A function that is not a coroutine cannot be interrupted: it may still land after the
        time-out.
        """
        if function is None:
            raise TypeError("this action has no such function")
        if timeout_s <= 0:  # this process was frozen after the intent: others may rely on its deadline by now
            raise TimeoutError("its time was over before it could start")
        enter_call(call)
        try:
            async with asyncio.timeout(timeout_s), self._around_call(call):
                if call.purpose is not Purpose.PROBE:
                    await self._check_held(call.saga_id)
                if inspect.iscoroutinefunction(function):
                    return await function(*arguments)
                loop = asyncio.get_running_loop()
                answer = await loop.run_in_executor(self._executor, copy_context().run, function, *arguments)
                return await _awaited(answer)
        except (Exception, KeyboardInterrupt, SystemExit):
            raise
        except BaseException as exc:
            if isinstance(exc, asyncio.CancelledError) and _is_cancelled_from_outside():
                raise
            raise RuntimeError(f"it ended with {type(exc).__name__}") from exc

    def _left(self, deadline: float) -> float:
        return deadline - self._clock()

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


def _is_cancelled_from_outside() -> bool:
    """Tell whether the cancellation came from outside, rather than from inside the call, which is no reason to stop."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


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
