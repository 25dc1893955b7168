"""Check of a service: its actions in sagas that commit, turn back and are cancelled, with each fault at each exchange."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Final

from sagagraph.errors import ProviderError, SagaGraphError
from sagagraph.saga.core.call import Call, Purpose
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.engine.views.view import OperationView
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.services.contract.line import LATE_S, STREAM_FAULTS, Fault, Line, Place, can_be_carried, try_to_reach
from sagagraph.services.service import Account, Opened, Service, declared

_AT_ONCE: Final = 8
_RESTARTS: Final = 4
"""So many restarts, spread over what is run; for the other exchanges only the line is down."""
_AFTER_EXPIRY: Final = timedelta(hours=2)
_PATIENCE_S: Final = 60.0
"""A worker that has not ended a saga by then gives it to the next one."""
_RETURNS: Final = 3
"""How often a worker comes back to a saga that is held."""


class Way(StrEnum):
    COMMITS = "commits"
    TURNS_BACK = "turns back before its pivot"
    IS_CANCELLED = "is cancelled after it has committed"


@dataclass(frozen=True)
class Bench:
    """Bench: the account to try, and what a test server can do that nobody else's can.

    `restart` restarts it; `forget` makes it forget the keys of a saga, as time does.
    """

    account: Account
    restart: Callable[[], Awaitable[None]] | None = None
    forget: Callable[[str], Awaitable[None]] | None = None


@dataclass
class Report:
    """Report: how many sagas were run, what was broken and how, what was held as documented, and what could not be asked."""

    sagas: int = 0
    broken: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    not_asked: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Case:
    name: str
    way: Way
    fault: Fault | None = None
    at: Place | None = None

    def __str__(self) -> str:
        where = f" at {self.at}" if self.at else ""
        return f"a saga that {self.way.value}, with {self.fault.value}{where}" if self.fault else f"a saga that {self.way.value}"


async def check(service: Service, bench: Bench, name: str, *, sample: int = 0, most: int = 20) -> Report:
    """Run the contract. `name`: unlike any used on this account before; `sample`: at most so many exchanges for each fault.

    It ends once `most` faults were found, or if something does not even hold without any.

    Raises `ProviderError` if the account cannot be reached, or does not let this secret in.
    """
    report = Report()
    try:
        await _check(service, bench, name, report, sample=sample, most=most)
    except SagaGraphError:
        raise
    except Exception as exc:  # noqa: BLE001 - of whatever client it is; its words may repeat what is secret
        raise ProviderError(f"{service.name} at {bench.account.address} cannot be tried: {type(exc).__name__}") from None
    report.broken.sort()
    return report


async def _check(service: Service, bench: Bench, name: str, report: Report, *, sample: int, most: int) -> None:
    if can_be_carried(bench.account.url):
        await try_to_reach(bench.account.url)
    async with service.open(bench.account) as judge, judge.trial.around():
        report.broken += _undescribed(service, judge)
        contract = _Contract(service, bench, judge, report, most)
        if judge.trial.standing is None:
            report.not_asked.append("what has landed: the service shows nobody its records; name them with --ledger")
        elif (found := await judge.trial.standing(f"{name}-nobody")) != judge.trial.undone:
            report.broken.append(f"before anything was done, the records say {found!r}")
        plain = [_Case(f"{name}-{number}", way) for number, way in enumerate(contract.ways)]
        places = await asyncio.gather(*map(contract.carry_out, plain))
        if not can_be_carried(bench.account.url):
            report.not_asked.append("a failing line: only what is reached by a network has one")
        cases = [] if report.broken else contract.cases(plain, places, sample)
        downs = [each for each in cases if each.fault is Fault.DOWN and bench.restart is not None]
        alone = downs[:: -(-len(downs) // _RESTARTS) or 1]
        await asyncio.gather(*(contract.carry_out(each) for each in cases if each not in alone))
        for each in alone:  # the others must not meet it
            await contract.carry_out(each, bench.restart)


def _undescribed(service: Service, opened: Opened) -> Iterator[str]:
    """Yield where an action is not what its sheet says."""
    actions = {each.name: each for each in opened.actions}
    for sheet in opened.sheets or service.sheets:
        action = actions.pop(sheet.action, None)
        if action is None:
            yield f"{sheet.action} is described, and there is no such action"
            continue
        said = frozenset(each.term for each in sheet.promises)
        if action.kind is not sheet.kind:
            yield f"{sheet.action} is described as {sheet.kind.value}, and is {action.kind.value}"
        if not declared(action) <= said:
            yield f"{sheet.action} declares {', '.join(sorted(declared(action) - said))}, which no source is named for"
        if bool(action.compensate or action.reverse) is not bool(sheet.undo) or bool(action.probe) is not bool(sheet.probe):
            yield f"{sheet.action} is not undone, or not asked for, as it is described"
    yield from (f"{name} is not described" for name in actions)


class _Contract:
    def __init__(self, service: Service, bench: Bench, judge: Opened, report: Report, most: int) -> None:
        self._service, self._bench, self._judge, self._report, self._most = service, bench, judge, report, most
        self._turn = asyncio.Semaphore(_AT_ONCE)

    @property
    def ways(self) -> tuple[Way, ...]:
        trial = self._judge.trial
        cancelled = (Way.IS_CANCELLED,) if trial.can_be_cancelled else ()
        return (Way.COMMITS, Way.TURNS_BACK, *cancelled)

    def cases(self, plain: list[_Case], places: list[tuple[Place, ...]], sample: int) -> list[_Case]:
        faults = list(dict.fromkeys((*STREAM_FAULTS, *(Fault(each) for each in sorted(self._service.faults)))))
        if self._bench.forget is None and Fault.EXPIRED in faults:
            faults.remove(Fault.EXPIRED)
            self._report.not_asked.append("keys that have expired: only a test server can be told to forget them")
        for fault in self._judge.trial.unasked.intersection(faults):
            faults.remove(Fault(fault))
            self._report.not_asked.append(f"{fault}: nothing is promised about it")
        found: list[_Case] = []
        for case, there in zip(plain, places, strict=True):
            step = max(1, -(-len(there) // sample)) if sample else 1
            for number, fault in enumerate(faults):  # of a sample, each fault has other places
                chosen = there[number % step :: step]
                found += [_Case(f"{case.name}-{fault.value}-{str(at).replace(' ', '-')}", case.way, fault, at) for at in chosen]
        return found

    async def carry_out(self, case: _Case, restart: Callable[[], Awaitable[None]] | None = None) -> tuple[Place, ...]:
        """Run one saga and judge it. Returns the places where something can fail."""
        async with self._turn:
            if len(self._report.broken) >= self._most:
                return ()
            self._report.sagas += 1
            account = self._bench.account
            if not can_be_carried(account.url):
                return await self._carry_out(case, account, None)
            relies_on_time = any(each.guarantees.settles is not None for each in self._judge.actions)
            late_s = LATE_S if relies_on_time else _PATIENCE_S
            async with Line(account.url, case.fault, case.at, restart, late_s).opened() as line:
                return await self._carry_out(case, account.at(line.url), line)

    async def _carry_out(self, case: _Case, account: Account, line: Line | None) -> tuple[Place, ...]:
        async with self._service.open(account) as subject:
            calls = _Calls(case)
            status, why = await _Run(case, subject, calls, line, self._bench).until_settled()
            if line is not None:
                await line.settle()
            await self._judged(case, status, why)
            return line.places if line is not None else tuple(map(Place, range(1, calls.count + 1)))

    async def _judged(self, case: _Case, status: SagaStatus, why: str) -> None:
        trial, report = self._judge.trial, self._report
        if case.fault is None and case.way is Way.COMMITS and status is SagaStatus.COMPENSATED:
            raise ProviderError(f"{case} is {status.value} ({why}): is the account reached, and its secret right?")
        if status in (SagaStatus.HELD, SagaStatus.STUCK):
            told = report.held if case.fault in trial.may_hold else report.broken
            told.append(f"{case} is left to a person ({status.value}: {why})")
        elif status not in (SagaStatus.COMMITTED, SagaStatus.COMPENSATED):
            report.broken.append(f"{case} has not ended: it is {status.value} ({why})")
        if trial.standing is None:
            return
        back = (trial.cancelled or trial.undone, trial.undone) if case.way is Way.IS_CANCELLED else (trial.undone,)
        due = {SagaStatus.COMMITTED: (trial.done,), SagaStatus.COMPENSATED: back}.get(status, ())
        standing = await trial.standing(case.name)
        if due and standing not in due:
            report.broken.append(f"{case} is {status.value}, and the records say {standing!r}, where {due[0]!r} is due")


class _TurnedBackError(Exception):
    pass


class _Calls:
    """Calls of one run, for what has no line: the fault happens to a whole call."""

    def __init__(self, case: _Case) -> None:
        self._case = case
        self.count = 0

    @asynccontextmanager
    async def around(self, call: Call) -> AsyncIterator[None]:
        if call.purpose is Purpose.PROBE:
            yield
            return
        self.count += 1
        strikes = self._case.at == Place(self.count)
        if strikes and self._case.fault in (Fault.CUT, Fault.DOWN):
            raise ConnectionError("it was cut")
        yield
        if strikes:
            raise ConnectionError("its answer was lost")


class _Run:
    """Run of one saga, by a worker that dies, comes back, and comes back again until it is settled."""

    def __init__(self, case: _Case, subject: Opened, calls: _Calls, line: Line | None, bench: Bench) -> None:
        self._case, self._subject, self._line, self._bench = case, subject, line, bench
        self._around: Callable[[Call], AbstractAsyncContextManager[None]] = (
            calls.around if line is None else lambda _call: nullcontext()
        )
        self._ahead_s = 0.0
        self._store = MemorySagaStore(self._now)

    def _now(self) -> float:
        return time.time() + self._ahead_s

    async def until_settled(self) -> tuple[SagaStatus, str]:
        expires = self._case.fault is Fault.EXPIRED
        status, why = await self._worked(1.0 if expires else _PATIENCE_S)
        if expires and self._line is not None and self._line.has_failed and self._bench.forget is not None:
            await self._bench.forget(self._case.name)
            remembered = [each.guarantees.dedup for each in self._subject.actions if each.guarantees.dedup is not None]
            self._ahead_s = (min(remembered, default=timedelta()) + _AFTER_EXPIRY).total_seconds()
            self._line.end_outage()
        for _again in range(_RETURNS):
            if status in (SagaStatus.COMMITTED, SagaStatus.COMPENSATED):
                break
            status, why = await self._worked(_PATIENCE_S)
        return status, why

    async def _worked(self, patience_s: float) -> tuple[SagaStatus, str]:
        engine = Engine(self._store, actions=self._subject.actions, clock=self._now, around_call=self._around)
        name = self._case.name
        try:
            with suppress(Exception):  # the records tell what came of it
                async with asyncio.timeout(patience_s):
                    await self._body(engine)
            with suppress(SagaGraphError, TimeoutError):
                async with asyncio.timeout(patience_s):
                    await self._go_on(engine)
            view = await engine.status(name)
            undoing = () if view.reversal is None else (await engine.status(view.reversal)).operations
            return view.status, "; ".join(_why(each) for each in (*view.operations, *undoing) if each.note or each.error)
        finally:
            await engine.close()

    async def _go_on(self, engine: Engine) -> None:
        """Resume what was held, as a worker does that comes back later."""
        view = await engine.status(self._case.name)
        if view.status not in (SagaStatus.COMMITTED, SagaStatus.COMPENSATED):
            await engine.resume(view.reversal or self._case.name)

    async def _body(self, engine: Engine) -> None:
        trial, name = self._subject.trial, self._case.name
        async with engine.saga(name) as saga:
            if trial.book is not None:
                await trial.book(saga, name)
            if self._case.way is Way.TURNS_BACK:
                raise _TurnedBackError
            if trial.finish is not None:
                await trial.finish(saga, name)
        if self._case.way is Way.IS_CANCELLED:
            await engine.cancel(name)


def _why(operation: OperationView) -> str:
    return f"{operation.id}: {operation.note or (operation.error or {}).get('message', '')}"
