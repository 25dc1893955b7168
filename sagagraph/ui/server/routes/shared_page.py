"""The page of a shared plan: to look at and to print, for whoever has its link. It has no button, and no identifier."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from sagagraph.errors import SagaGraphError
from sagagraph.saga.core.next_steps import status_of
from sagagraph.ui.html.cards import badge, plan_card
from sagagraph.ui.html.front import page_alone
from sagagraph.ui.pictures.lanes import lanes
from sagagraph.ui.pictures.route import route_map
from sagagraph.ui.sharing import SHARED_PATH

_PRIVATE = {"cache-control": "no-store", "x-robots-tag": "noindex"}
router = APIRouter()


@router.get(f"{SHARED_PATH}{{token}}", include_in_schema=False)
async def shared(token: str, request: Request) -> HTMLResponse:
    service, told = request.app.state.service, dict[str, Any]()
    try:
        saga = await service.shared(token)
    except SagaGraphError as exc:
        answer = page_alone(request, "shared", status_code=404, problem=str(exc), heading="No plan here")
    else:
        page = service.pages[saga.domain]
        view = page.view(saga.plan.content)
        told |= {
            "heading": page.title,
            "sentence": page.sentence(saga.request).rstrip("."),
            "badge": badge(status_of(saga)),
            "problem": "",
        }
        told |= {"card": plan_card(saga, page, is_shared=True), "lanes": lanes(view), "route": route_map(view)}
        answer = page_alone(request, "shared", **told)
    answer.headers.update(_PRIVATE)
    return answer
