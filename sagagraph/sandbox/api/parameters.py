"""Parameters that calls share: the service behind them, an idempotency key."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Header, Request

from sagagraph.sandbox.api.fault_injection import FaultInjection
from sagagraph.sandbox.service import Service


async def _service_of(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


async def _faults_of(request: Request) -> FaultInjection:
    faults: FaultInjection = request.app.state.fault_injection
    return faults


TheService = Annotated[Service, Depends(_service_of)]
Faults = Annotated[FaultInjection, Depends(_faults_of)]
Key = Annotated[str | None, Header(alias="Idempotency-Key", min_length=1)]
