"""Health and meters: whether the process turns, whether what it needs answers, and figures for Prometheus."""

from __future__ import annotations

import asyncio
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from sagagraph.errors import SagaGraphError
from sagagraph.planning.page import Page
from sagagraph.ui.service import Service

_PATIENCE_S: Final = 2.0
router = APIRouter()


@router.get("/healthz", include_in_schema=False)
async def healthz() -> PlainTextResponse:
    return PlainTextResponse("ok")


@router.get("/readyz", include_in_schema=False)
async def readyz(request: Request) -> JSONResponse:
    """Say what does not answer, by name and kind of error; addresses and messages stay out."""
    service: Service = request.app.state.service
    found = {"store": await service.oversight.is_ready()}
    answers = await asyncio.gather(*(_why_not(page) for page in service.pages.values()))
    found |= dict(zip(service.pages, answers, strict=True))
    is_ready = not any(found.values())
    return JSONResponse(
        {"ready": is_ready, "parts": {name: why or "ok" for name, why in found.items()}}, 200 if is_ready else 503
    )


@router.get("/metrics", include_in_schema=False)
async def metrics(request: Request) -> Response:
    oversight = request.app.state.service.oversight
    await oversight.overview()
    return Response(generate_latest(oversight.meters.registry), media_type=CONTENT_TYPE_LATEST)


async def _why_not(page: Page) -> str:
    """Ask for the day, which the provider of the domain knows, if it has one."""
    try:
        async with asyncio.timeout(_PATIENCE_S):
            await page.today()
    except TimeoutError:
        return "TimeoutError"
    except SagaGraphError as exc:
        return type(exc).__name__
    return ""
