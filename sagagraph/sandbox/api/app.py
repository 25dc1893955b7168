"""Application: reads a request over HTTP, passes it on, and writes the answer."""

from __future__ import annotations

import asyncio
import math
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from sagagraph.sandbox import clock
from sagagraph.sandbox.api import effects, questions
from sagagraph.sandbox.api.fault_injection import FaultInjection
from sagagraph.sandbox.books.answers import ServiceError, refusal
from sagagraph.sandbox.service import Service
from sagagraph.sandbox.settings import SandboxSettings


def create_app(settings: SandboxSettings, *, real_now: Callable[[], datetime] = clock.real_now) -> FastAPI:
    """The service as an ASGI application; late calls land from lifespan startup to shutdown.

    `real_now`: the time source of the service's clock.

    Raises:
        InvalidInputError: the faults file or the database is not usable.
    """
    service = Service(settings, real_now)
    faults = FaultInjection(service.effects)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        landing = asyncio.create_task(faults.land_late_calls())
        yield
        faults.close()
        await landing
        service.close()

    app = FastAPI(title="SagaGraph sandbox reservation service", lifespan=lifespan)
    app.state.service, app.state.fault_injection = service, faults
    app.include_router(questions.router)
    app.include_router(effects.router)
    app.add_exception_handler(ServiceError, _show_service_error)
    app.add_exception_handler(RequestValidationError, _show_invalid_input)
    app.add_exception_handler(HTTPException, _show_http_error)
    app.add_exception_handler(sqlite3.OperationalError, _show_busy_database)
    return app


# Starlette types a handler as taking any Exception, although it only passes on those that it was registered for.


async def _show_service_error(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ServiceError)  # noqa: S101 - tells the type checker what the registration says
    wait = error.retry_after_s
    headers = None if wait is None else {"Retry-After": str(math.ceil(wait))}
    return JSONResponse(error.answer.body, error.answer.status, headers)


async def _show_invalid_input(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - as above
    problem = error.errors()[0]
    where = ".".join(str(part) for part in problem["loc"] if part not in ("body", "query", "header"))
    what = problem["msg"].removeprefix("Value error, ")
    return await _show_service_error(request, refusal("invalid", f"{where or 'body'}: {what}"))


async def _show_http_error(request: Request, error: Exception) -> JSONResponse:
    """Answers for an unknown path or method."""
    assert isinstance(error, HTTPException)  # noqa: S101 - as above
    code = HTTPStatus(error.status_code).name.lower()
    return await _show_service_error(request, ServiceError(error.status_code, code, error.detail))


async def _show_busy_database(request: Request, error: Exception) -> JSONResponse:
    return await _show_service_error(request, ServiceError(503, "unavailable", f"the database did not take the call: {error}"))
