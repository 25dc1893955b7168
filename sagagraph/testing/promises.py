"""Promises of an action, each tried on its real provider: calls stopped, senders killed, undos of what never came.

`python -m sagagraph.testing.promises mypackage.rooms:book --request '{"room": 4}'` tries them. What lands is real, and is undone
where the action can undo it: point it at a test environment.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import multiprocessing
import sys
import time
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from random import Random
from typing import Annotated, Any

import typer

from sagagraph.errors import InvalidInputError, SagaGraphError
from sagagraph.extras import thing_at
from sagagraph.saga.core.call import Call, Purpose
from sagagraph.saga.core.events import ProbeAnswer
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.call import Probe
from sagagraph.saga.engine.calling.threads import in_thread
from sagagraph.saga.engine.exceptions import refusal_in
from sagagraph.workflow.values import Json

WATCH_S = 5.0
_GONE = (ProbeAnswer.ABSENT, ProbeAnswer.UNDONE)


@dataclass
class PromiseReport:
    """Report: what was kept (with how often it was tried), what was broken and how, and what could not be asked and why."""

    kept: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    not_asked: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        told = (("KEPT", self.kept), ("BROKEN", self.broken), ("not asked:", self.not_asked))
        return "\n".join(f"{how} {each}" for how, lines in told for each in lines)


async def try_promises(named: str, request: Json, *, times: int = 10, watch_s: float = WATCH_S, random: Random) -> PromiseReport:
    """Try what the action `named` (`package.module:name`) promises, with this request under ever new keys.

    `times`: calls that are stopped, and senders that are killed, at a moment that `random` draws from the time of one whole call.
    Senders are processes of their own, which import the module. `watch_s`: for so long after the time to settle, what was absent
    is looked for again; what lands still later is not found here.

    Raises `InvalidInputError` if there is no such action, and whatever its functions raise where they should answer.
    """
    bench = _Bench(_action_of(named), request, named, f"promises-{uuid.uuid4().hex}")
    report = PromiseReport()
    guarantees = bench.action.guarantees
    for promise, is_declared, check in (
        ("settles", guarantees.settles is not None, lambda: _settles(bench, times, watch_s, random)),
        ("void", bool(guarantees.void), lambda: _void(bench)),
        ("dedup", guarantees.dedup is not None, lambda: _dedup(bench)),
        ("deadline", guarantees.deadline, lambda: _deadline(bench)),
    ):
        if is_declared:
            await _tried(promise, check, bench, report)
    if guarantees.refusals_final:
        report.not_asked.append("refusals_final: only the provider can be made to refuse")
    return report


async def _tried(promise: str, check: Callable[[], Awaitable[str]], bench: _Bench, report: PromiseReport) -> None:
    if bench.action.probe is None:
        report.not_asked.append(f"{promise}: the action has no probe that would tell what has landed")
        return
    try:
        report.kept.append(f"{promise}: {await check()}")
    except _BrokenError as exc:
        report.broken.append(f"{promise}: {exc}")


class _BrokenError(Exception):
    pass


def _expect(holds: bool, said: str) -> None:
    if not holds:
        raise _BrokenError(said)


@dataclass(frozen=True)
class _Bench:
    action: Action
    request: Json
    named: str
    saga_id: str

    def call(self, operation: str, purpose: Purpose = Purpose.ACTION) -> Call:
        key = f"{self.saga_id}/{operation}/1"
        mine = f"{key}/undo/1" if purpose is Purpose.COMPENSATION else key
        deadline = datetime.now(UTC) + timedelta(seconds=self.action.policy.timeout_s)
        return Call(self.saga_id, operation, 1, 1, mine, key, deadline, purpose)

    async def act(self, call: Call) -> Any:
        return await self._called(self.action.execute, call)

    async def found(self, operation: str) -> Probe:
        probe = self.action.probe
        found = await self._called(probe, self.call(operation, Purpose.PROBE)) if probe is not None else None
        if not isinstance(found, Probe):
            raise InvalidInputError(f"the probe of {self.named!r} returns {found!r}, not a Probe", field="probe")
        return found

    async def undo(self, operation: str, result: object) -> None:
        """Undo as the engine would: by the void where there is one, else by the compensation."""
        void = self.action.guarantees.void
        if callable(void):
            await self._called(void, self.call(operation, Purpose.VOID))
        elif self.action.compensate is not None:
            await self._called(self.action.compensate, self.call(operation, Purpose.COMPENSATION), result)

    async def _called(self, function: Callable[..., Any], call: Call, *between: object) -> Any:
        arguments = (self.action.request_from_json(self.request), *between, call)
        if inspect.iscoroutinefunction(function):
            return await function(*arguments)
        answer = await in_thread(function, *arguments)
        return await answer if inspect.isawaitable(answer) else answer


async def _settles(bench: _Bench, times: int, watch_s: float, random: Random) -> str:
    """Stop calls and kill senders; what is absent when the time to settle is over must stay absent."""
    settles_s = bench.action.guarantees.terms.settles_s or 0.0
    begun = time.monotonic()
    await bench.act(bench.call("whole"))
    whole_s = time.monotonic() - begun
    senders = [_stopped(bench, f"stopped-{n}", random.uniform(0, whole_s)) for n in range(times)]
    senders += [_killed(bench, f"killed-{n}", random.uniform(0, whole_s)) for n in range(times)]
    operations = await asyncio.gather(*senders)
    await asyncio.sleep(settles_s)
    first = {each: (await bench.found(each)).answer for each in operations}
    await asyncio.sleep(watch_s)
    landed = 0
    for each in ("whole", *operations):
        found = await bench.found(each)
        was_absent = first.get(each) is ProbeAnswer.ABSENT
        _expect(
            not (was_absent and found.answer is not ProbeAnswer.ABSENT),
            f"{each} was absent after {settles_s:g} s, and landed later",
        )
        if found.answer is ProbeAnswer.LANDED:
            landed += 1
            await bench.undo(each, found.result)
    return f"{2 * times} calls, stopped or with killed senders, of which {landed - 1} had landed; none landed later"


async def _stopped(bench: _Bench, operation: str, after_s: float) -> str:
    with suppress(TimeoutError, Exception):  # only what lands matters
        await asyncio.wait_for(bench.act(bench.call(operation)), after_s)
    return operation


async def _killed(bench: _Bench, operation: str, after_s: float) -> str:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    sender = context.Process(target=_send, args=(bench.named, bench.request, bench.call(operation), there))
    sender.start()
    there.close()
    try:
        with suppress(EOFError):
            await asyncio.to_thread(here.recv)
        await asyncio.sleep(after_s)
    finally:
        sender.kill()
        await asyncio.to_thread(sender.join)
        here.close()
    return operation


def _send(named: str, request: Json, call: Call, ready: Connection) -> None:
    bench = _Bench(_action_of(named), request, named, call.saga_id)
    ready.send("ready")
    with suppress(Exception):
        asyncio.run(bench.act(call))


async def _void(bench: _Bench) -> str:
    """Undo what landed, twice, and what never came, after which it cannot come, unless everything settles."""
    result = await bench.act(bench.call("landed"))
    copes = bench.action.guarantees.void is True
    for what in ("what had landed", "what was undone"):
        await bench.undo("landed", None if copes else result)
        answer = (await bench.found("landed")).answer
        _expect(answer in _GONE, f"after undoing {what}, the probe says {answer.value}")
    await bench.undo("never-came", None)
    answer = (await bench.found("never-came")).answer
    _expect(answer in _GONE, f"after undoing what never came, the probe says {answer.value}")
    if bench.action.guarantees.settles is not None:
        return "undone without its result, twice, and where nothing had come"
    await _expect_refused(bench, bench.call("never-came"), "a call that comes after its undoing lands")
    return "undone without its result, twice, and where nothing had come, after which nothing can come"


async def _dedup(bench: _Bench) -> str:
    for _each in range(2):
        result = await bench.act(bench.call("repeated"))
    answer = (await bench.found("repeated")).answer
    _expect(answer is ProbeAnswer.LANDED, f"after two calls with one key, the probe says {answer.value}")
    await bench.undo("repeated", result)
    return "two calls with one key landed once (for how long it is remembered was not tried)"


async def _deadline(bench: _Bench) -> str:
    margin = bench.action.guarantees.clock_margin
    late = replace(bench.call("late"), deadline=datetime.now(UTC) - margin - timedelta(seconds=1))
    await _expect_refused(bench, late, "a call after its deadline lands")
    return "a call after its deadline was refused"


async def _expect_refused(bench: _Bench, call: Call, otherwise: str) -> None:
    try:
        await bench.act(call)
    except Exception as exc:
        if refusal_in(exc, bench.action.fails_on) is None:
            raise _BrokenError(f"{type(exc).__name__} does not say that nothing happened: {exc}") from exc
    answer = (await bench.found(call.operation_id)).answer
    _expect(answer in _GONE, otherwise)


def _action_of(named: str) -> Action:
    found = thing_at(named, "MODULE:ACTION")
    if not isinstance(found, Action):
        raise InvalidInputError(f"{named!r} is no action", field="MODULE:ACTION")
    return found


def main(
    named: Annotated[str, typer.Argument(metavar="MODULE:ACTION")],
    request: Annotated[str, typer.Option(help="The request, as JSON.")] = "null",
    times: Annotated[int, typer.Option(min=1, help="Calls to stop, and senders to kill.")] = 10,
    watch: Annotated[float, typer.Option(min=0, help="Seconds in which nothing may land after the time to settle.")] = WATCH_S,
    seed: Annotated[int, typer.Option(help="Draws the moments.")] = 0,
) -> None:
    """Try what an action promises on its real provider."""
    try:
        asked = json.loads(request)
    except ValueError as exc:
        raise InvalidInputError(str(exc), field="--request") from exc
    report = asyncio.run(try_promises(named, asked, times=times, watch_s=watch, random=Random(seed)))  # noqa: S311 - no secret
    sys.stdout.write(f"{report}\n")
    raise typer.Exit(1 if report.broken else 0)


if __name__ == "__main__":
    try:
        typer.run(main)
    except SagaGraphError as exc:
        sys.stderr.write(f"sagagraph.testing.promises: {exc}\n")
        sys.exit(exc.exit_code)
