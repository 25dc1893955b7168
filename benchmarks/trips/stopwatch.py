"""How long proposing and judging take inside of a saga, and how many calls the provider gets."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import httpx2

from sagagraph.domains.travel.domain import Travel
from sagagraph.planning.domain import Infeasible, Proposal, Revision
from sagagraph.saga.core.state import Saga
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.views.view import Account
from sagagraph.validators.verdict import Verdict
from sagagraph.workflow.operation import OperationSpec


class CountedTransport(httpx2.AsyncBaseTransport):
    def __init__(self) -> None:
        self.calls = 0
        self._inner = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.calls += 1
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        await self._inner.aclose()


@dataclass(slots=True)
class Noted:
    """Of one saga. Seconds, and calls to the provider."""

    plan_s: float = 0.0
    judge_s: float = 0.0
    plan_calls: int = 0
    judge_calls: int = 0
    proposals: tuple[Proposal, ...] = ()
    verdicts: list[Verdict] = field(default_factory=list)


class TimedTravel:
    """Travel as it is; what it is asked is noted in `noted`, which is renewed for every saga."""

    def __init__(self, travel: Travel, transport: CountedTransport) -> None:
        self.name = travel.name
        self.noted = Noted()
        self._travel = travel
        self._transport = transport

    @property
    def actions(self) -> tuple[Action, ...]:
        return self._travel.actions

    async def propose(self, request: Any) -> tuple[Proposal, ...] | Infeasible:
        begun, calls = perf_counter(), self._transport.calls
        proposed = await self._travel.propose(request)
        self.noted.plan_s += perf_counter() - begun
        self.noted.plan_calls += self._transport.calls - calls
        self.noted.proposals = () if isinstance(proposed, Infeasible) else proposed
        return proposed

    async def evidence(self, saga: Saga) -> Any:
        begun, calls = perf_counter(), self._transport.calls
        shown = await self._travel.evidence(saga)
        self.noted.judge_s += perf_counter() - begun
        self.noted.judge_calls += self._transport.calls - calls
        return shown

    async def validate(self, request: Any, plan: Any, shown: Any) -> Verdict:
        begun = perf_counter()
        verdict = await self._travel.validate(request, plan, shown)
        self.noted.judge_s += perf_counter() - begun
        self.noted.verdicts.append(verdict)
        return verdict

    async def repair(self, saga: Saga) -> Proposal | Infeasible:
        return await self._travel.repair(saga)

    def needs_approval(self, saga: Saga) -> bool:
        return self._travel.needs_approval(saga)

    def revision(self, saga: Saga) -> Revision:
        return self._travel.revision(saga)

    def title(self, plan: Any) -> str:
        return self._travel.title(plan)

    def workflow(self, plan: Any) -> tuple[OperationSpec, ...]:
        return self._travel.workflow(plan)

    def account(self, saga: Saga) -> Account:
        return self._travel.account(saga)
