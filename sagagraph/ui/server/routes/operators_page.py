"""The operators' page: all sagas by state, what waits for a person and why, and what a person can do about it.

It needs no script. Each act is shown once more before it is done, and is signed with the operator's name.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from sagagraph.access.roles import Role
from sagagraph.errors import InvalidInputError, SagaGraphError
from sagagraph.saga.core.events import Resolution
from sagagraph.saga.core.status import OperationStatus, SagaStatus
from sagagraph.saga.engine.views.document import log_line
from sagagraph.saga.engine.views.survey import NEEDS_PERSON
from sagagraph.ui.html.front import page_alone
from sagagraph.ui.oversight import Asked
from sagagraph.ui.server.bounds import form_of
from sagagraph.ui.service import Service
from sagagraph.ui.visitors import Visitor

_MOST_NEEDING: Final = 20
_MOST_EVENTS: Final = 200
_MOST_TOLD: Final = 100
_ANSWERS: Final = {each.value for each in Resolution}
_SAID: Final = {
    "resume": "Resume it: it goes on from where it is.",
    "cancel": "Cancel it: what it has done is undone, in the reverse order.",
    "resolve": "Settle what waits, as you have found it.",
    "yield": "Let other sagas have its locks: what it has done stays in place, unprotected.",
    "redact": "Make these values unreadable for good: it can be neither undone nor run again.",
}
"""What each act does, in the words in which it is confirmed."""
router = APIRouter()


@router.get("/operate", include_in_schema=False)
async def page(request: Request, status: str = "", domain: str = "", q: str = "", page: int = 1) -> HTMLResponse:
    oversight = _service(request).oversight
    asked = Asked(status, domain, q.strip()[:200], max(1, min(page, 1_000_000)))
    overview = await oversight.overview()
    sagas, has_more = await oversight.sagas(asked)
    by_status: dict[str, int] = {}
    for (_domain, each), number in overview.counts.items():
        by_status[each] = by_status.get(each, 0) + number
    order = [*sorted(NEEDS_PERSON), *(each.value for each in SagaStatus if each.value not in NEEDS_PERSON)]
    told: dict[str, Any] = {
        "asked": asked,
        "counts": [(each, by_status[each]) for each in (*order, "unreadable") if by_status.get(each)],
        "domains": sorted({domain for domain, _status in overview.counts if domain}),
        "needing": overview.needing_person[:_MOST_NEEDING],
        "more_needing": max(0, len(overview.needing_person) - _MOST_NEEDING),
        "sagas": sagas,
        "workers": sorted({(each.owner, each.lease_until > overview.at) for each in overview.open if each.owner}),
        "waits": [each for each in overview.open if each.waits_for],
        "next": _link(asked, asked.page + 1) if has_more else "",
        "before": _link(asked, asked.page - 1) if asked.page > 1 else "",
        "link": _link,
        "ago": lambda moment: ago(overview.at - moment),
    }
    return page_alone(request, "operate", **told)


@router.get("/operate/{saga_id:path}", include_in_schema=False)
async def saga(saga_id: str, request: Request) -> HTMLResponse:
    return await _shown(request, saga_id)


@router.post("/operate/{saga_id:path}/{act}", include_in_schema=False)
async def act(saga_id: str, act: str, request: Request) -> Response:
    """Show what would be done; with `confirmed`, do it."""
    form, asker = await form_of(request), request.user
    try:
        doing = _doing(_service(request), asker, saga_id, act, form)
        if "confirmed" not in form:
            preview = await _service(request).preview(asker, saga_id) if act == "cancel" else None
            told: dict[str, Any] = {"saga_id": saga_id, "act": act, "does": _SAID[act], "form": form, "preview": preview}
            return page_alone(request, "operate_confirm", **told)
        await doing()
    except SagaGraphError as exc:
        return await _shown(request, saga_id, str(exc), 422 if isinstance(exc, InvalidInputError) else 409)
    return RedirectResponse(f"/operate/{quote(saga_id, safe='')}?done={act}", 303)


def _doing(service: Service, by: Visitor, saga_id: str, act: str, form: dict[str, str]) -> Callable[[], Awaitable[None]]:
    """Return what the form asks for. Raises `InvalidInputError` for what cannot be done."""

    async def resume() -> None:
        await service.oversight.record(by, saga_id, "resume")
        await service.resume(by, saga_id)

    match act:
        case "resume":
            return resume
        case "cancel":
            return lambda: service.cancel(by, saga_id)
        case "yield":
            return lambda: service.oversight.yield_locks(by, saga_id)
        case "redact":
            fields = [each.strip() for each in form.get("fields", "").split(",") if each.strip()]
            if not fields:
                raise InvalidInputError("name the fields, with commas between them", field="fields")
            return lambda: service.oversight.redact(by, saga_id, fields)
        case "resolve":
            if form.get("answer") not in _ANSWERS:
                raise InvalidInputError("say what you have found", field="answer")
            said, output = Resolution(form["answer"]), _output(form)
            return lambda: service.resolve(by, saga_id, form.get("operation", ""), said, output, form.get("because", ""))
        case _:
            raise InvalidInputError(f"there are {', '.join(_SAID)}, not {act!r}", field="act")


def _output(form: dict[str, str]) -> Any:
    try:
        return json.loads(form["output"]) if form.get("output") else None
    except ValueError:
        raise InvalidInputError('this is not JSON: a text needs quotation marks, as in "R-17"', field="output") from None


async def _shown(request: Request, saga_id: str, problem: str = "", status_code: int = 200) -> HTMLResponse:
    service, asker = _service(request), request.user
    view = await service.status(asker, saga_id)
    entries = await service.journal(asker, saga_id)
    waiting = (OperationStatus.HELD, OperationStatus.COMPENSATION_FAILED, OperationStatus.IN_DOUBT)
    done = request.query_params.get("done", "")
    told = {
        "view": view,
        "waiting": [each for each in view.operations if each.status in waiting],
        "settled": [each for each in view.operations if each.status not in waiting],
        "lines": [log_line(each) for each in entries[-_MOST_EVENTS:]][::-1],
        "answers": _answers(view.operations),
        "may_act": asker.role is Role.OPERATOR,
        "problem": problem or service.problem(saga_id),
        "done": _SAID.get(done, "") and done,
        "is_final": view.status.is_final,
    }
    return page_alone(request, "operate_saga", status_code=status_code, **told)


def _answers(operations: Any) -> dict[str, dict[str, str]]:
    """Return what each answer would do, by operation; one that is stuck knows two of them."""
    stuck = {"compensated": "I have undone it by hand", "absent": "there is nothing to undo"}
    landed = {"landed": "it happened: the saga goes on with what it returned"}
    return {each.id: {**each.remedy.answers, **landed} if each.remedy else stuck for each in operations}


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


def _link(asked: Asked, page: int = 1, **changed: str) -> str:
    told = {"status": asked.status, "domain": asked.domain, "q": asked.within} | changed
    kept = {name: value for name, value in told.items() if value} | ({"page": str(page)} if page > 1 else {})
    return f"/operate?{urlencode(kept)}"


def ago(seconds: float) -> str:
    """Return a span in the largest unit of which it has two, or in seconds."""
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(0, seconds):.0f} s"


# -- over REST ---------------------------------------------------------------------------------------------------------


@router.get("/api/v1/overview", summary="All sagas: how many, by domain and status; what waits for a person; who holds locks")
async def overview(request: Request) -> dict[str, Any]:
    oversight = _service(request).oversight
    found = await oversight.overview()
    counts = [{"domain": domain, "status": status, "sagas": number} for (domain, status), number in sorted(found.counts.items())]
    locks = [{"saga_id": each.saga_id, "operation": each.operation, "key": each.lock.key} for each in await oversight.holdings()]
    at = datetime.fromtimestamp(found.at, UTC).isoformat(timespec="milliseconds")
    needing = found.needing_person
    shown = [asdict(each) for each in needing[:_MOST_TOLD]]
    return {"at": at, "counts": counts, "needing_person": shown, "more_needing_person": len(needing) - len(shown), "locks": locks}
