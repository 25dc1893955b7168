"""The REST interface (described at /docs): the same functions that the pages use, and errors of our family as HTTP answers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, FastAPI, Query, Request, Response
from fastapi.exception_handlers import http_exception_handler
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, StreamingResponse
from pydantic import BaseModel, Field, model_validator
from starlette.exceptions import HTTPException

from sagagraph.errors import (
    BusyError,
    ConflictError,
    DrainedError,
    InvalidInputError,
    NotAllowedError,
    OperationFailedError,
    ProviderError,
    SagaGraphError,
    StoreError,
    UnknownOperationError,
    UnknownSagaError,
)
from sagagraph.language.utterance.decisions import Act
from sagagraph.language.utterance.utterances import news_in, utterances, wishes_in, with_corrections
from sagagraph.planning.page import Draft, Page
from sagagraph.saga.core.events import Entry, Resolution
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.engine.views.document import entry_json, plain
from sagagraph.ui.html.templates import render
from sagagraph.ui.service import CannotBeHadError, Service
from sagagraph.ui.versions import Version
from sagagraph.ui.visitors import Visitor, visitor_of
from sagagraph.validators.complaints import missing_in

PREFIX: Final = "/api/v1"

_STATUS_OF_ERROR: Final[tuple[tuple[type[SagaGraphError], int], ...]] = (
    (InvalidInputError, 422),
    (UnknownSagaError, 404),
    (UnknownOperationError, 404),
    (ConflictError, 409),
    (NotAllowedError, 409),
    (BusyError, 503),
    (DrainedError, 503),
    (ProviderError, 502),
    (OperationFailedError, 502),
    (StoreError, 503),
)
"""The first class that matches decides; any other error is a 500 with its message."""

Json = dict[str, Any]


class IncompleteError(InvalidInputError):
    """What was asked for leaves something open that cannot be assumed. `told`: what is known, and what is missing."""

    def __init__(self, message: str, told: Json, *, field: str | None = None) -> None:
        super().__init__(message, field=field)
        self.told = told

    @classmethod
    def of(cls, draft: Draft) -> IncompleteError:
        unread = [f"Not understood: {', '.join(draft.not_understood)}."] if draft.not_understood else []
        missing = tuple(dict.fromkeys(draft.missing or filter(None, (draft.field,))))
        request = draft.known if draft.partial is None and isinstance(draft.known, Mapping) else draft.partial
        known = {"request": request, "missing": missing, "assumed": draft.assumed}
        told = {**known, "not_understood": draft.not_understood, "remedies": [asdict(each) for each in draft.remedies]}
        return cls(" ".join([*draft.questions, *unread]), told, field="text")


class Body(BaseModel, frozen=True, extra="forbid"):
    @model_validator(mode="before")
    @classmethod
    def _is_text_throughout(cls, body: Any) -> Any:
        """Tell whether every text is valid Unicode: JSON can carry lone surrogates, which no journal and no answer can hold."""
        try:
            json.dumps(body, ensure_ascii=False, default=str).encode()
        except UnicodeEncodeError:
            raise ValueError("contains a lone surrogate") from None
        return body


class NewSaga(Body):
    """`text` or `request`, but not both. A sentence that leaves something open is answered with 422 and a question."""

    domain: str = ""
    """By default, the domain that the page opens on."""
    text: str | None = Field(None, max_length=4000)
    request: Json | None = None


class ChangedWishes(Body):
    """`lost`: operations whose reservations have fallen through since the saga committed."""

    text: str | None = Field(None, max_length=4000)
    request: Json | None = None
    lost: tuple[str, ...] = ()


class WhatHappened(Body):
    """One of the disruptions on offer, or one in plain words."""

    key: str | None = None
    text: str | None = Field(None, max_length=4000)


class WhatIsForeseen(Body):
    """News of a delay, as the saga's domain reads it; the plan is repaired only if it would break."""

    news: Json


class OrderedFault(Body):
    """Fault that the sandbox produces at the `nth` such call of this saga from now on; `seconds`: how long a hang lasts."""

    kind: str
    call: str
    fault: str
    nth: int = Field(1, ge=1, le=1000)
    seconds: float | None = Field(None, gt=0, le=3600)


class ThisPlan(Body):
    """Decision about exactly this plan; if another one is shown by now, it is refused with 409."""

    plan_hash: str = Field(min_length=1, max_length=200)


class ThatVersion(Body):
    """One of the `versions`, by its number."""

    version: int | None = Field(None, ge=1)


class RedactedFields(Body):
    fields: tuple[str, ...] = Field(min_length=1, max_length=100)


class SettledOperation(Body):
    operation: str
    resolution: Resolution
    output: Any = None
    because: str = Field("", max_length=1000)


@dataclass(frozen=True, slots=True)
class Caller:
    """Visitor who asks, and the service that is asked."""

    service: Service
    visitor: Visitor


@dataclass(frozen=True, slots=True)
class Own(Caller):
    """Saga that must belong to the caller."""

    saga_id: str

    async def saga(self) -> Saga:
        return await self.service.saga(self.visitor, self.saga_id)

    async def told(self, version: int | None = None) -> Json:
        """Return the saga's current state."""
        view = plain(await self.service.status(self.visitor, self.saga_id, version))
        saga = await self.saga()
        request = saga.request.get("request", saga.request) if isinstance(saga.request, Mapping) else saga.request
        assumed = request.get("assumed") if isinstance(request, Mapping) else None
        if assumed is None and saga.domain in self.service.pages:
            assumed = self.service.page(saga.domain).draft_of(saga.request).assumed
        remedies = [asdict(each) for each in await self.service.remedies(saga)]
        unread, monitor = await self.service.not_understood(self.saga_id), await self.service.foreseen(self.saga_id)
        told = {"request": request, "assumed": assumed or {}, "not_understood": unread, "remedies": remedies, "monitor": monitor}
        return {**view, **told, "is_busy": self.service.is_busy(self.saga_id), "problem": self.service.problem(self.saga_id)}


async def _caller(request: Request) -> Caller:
    return Caller(request.app.state.service, visitor_of(request))


async def _own(saga_id: str, request: Request) -> Own:
    return Own(request.app.state.service, visitor_of(request), saga_id)


TheCaller = Annotated[Caller, Depends(_caller)]
OwnSaga = Annotated[Own, Depends(_own)]
router = APIRouter(prefix=PREFIX)


def add_api(app: FastAPI, service: Service) -> None:
    app.state.service = service
    app.include_router(router)
    app.add_api_route("/docs", _reference, response_class=HTMLResponse, include_in_schema=False)
    app.add_exception_handler(SagaGraphError, _show_error)
    app.add_exception_handler(RequestValidationError, _show_what_is_wrong)
    app.add_exception_handler(HTTPException, _show_what_cannot_be_read)


@router.get("/sagas", summary="Your sagas, the latest first")
async def list_sagas(caller: TheCaller) -> Json:
    return {"sagas": [_row(saga) for saga in await caller.service.sagas(caller.visitor)]}


@router.post("/sagas", status_code=202, summary="Begin to plan")
async def create(body: NewSaga, caller: TheCaller) -> Json:
    service, visitor = caller.service, caller.visitor
    page = service.page(body.domain) if body.domain else service.first_page
    wanted = await _wanted(caller, page, body.text, body.request, None)
    own = Own(service, visitor, await service.begin(visitor, page.name, wanted.request, not_understood=wanted.not_understood))
    return {**await own.told(), **wanted.heard()}


@router.get("/sagas/{saga_id}", summary="A saga's state, now or at a version of its journal")
async def show(own: OwnSaga, version: Annotated[int | None, Query(ge=1)] = None) -> Json:
    return await own.told(version)


@router.get("/sagas/{saga_id}/plan", summary="The plan that is shown, and the alternatives to it")
async def plans(own: OwnSaga) -> Json:
    saga = await own.service.shown(await own.saga())
    plan = saga.plan
    shown = {"plan_hash": plan.hash, "plan": plan.content, "cost": plan.cost, "reasons": plan.reasons, "verdict": plan.verdict}
    told = {"saga_id": own.saga_id, "status": status_of(saga).value, "shown": shown, "alternatives": plan.alternatives}
    return {**told, "best_so_far": own.service.sketch(own.saga_id)}


@router.post("/sagas/{saga_id}/enough", status_code=202, summary="Search no longer: propose the best plan so far")
async def enough(own: OwnSaga) -> Json:
    own.service.take_sketch(own.visitor, own.saga_id)
    return await own.told()


@router.post("/sagas/{saga_id}/approve", status_code=202, summary="Approve exactly this plan; a repetition does nothing")
async def approve(body: ThisPlan, own: OwnSaga) -> Json:
    await own.service.decide(own.visitor, own.saga_id, body.plan_hash, approved=True)
    return await own.told()


@router.post("/sagas/{saga_id}/reject", status_code=202, summary="Reject exactly this plan")
async def reject(body: ThisPlan, own: OwnSaga) -> Json:
    await own.service.decide(own.visitor, own.saga_id, body.plan_hash, approved=False)
    return await own.told()


@router.post("/sagas/{saga_id}/choose", status_code=202, summary="Show one of the alternatives instead")
async def choose(body: ThisPlan, own: OwnSaga) -> Json:
    await own.service.choose(own.visitor, own.saga_id, body.plan_hash)
    return await own.told()


@router.post("/sagas/{saga_id}/change", status_code=202, summary="Change the request")
async def change(body: ChangedWishes, own: OwnSaga) -> Json:
    saga = await own.saga()
    if (said := utterances(body.text or "")) and all(each.act is Act.UNDO for each in said):
        return await go_back(ThatVersion(), own)
    wanted = _Wanted(saga.request)
    if not body.lost or body.text is not None or body.request is not None:
        wanted = await _wanted(own, own.service.page(saga.domain), body.text, body.request, saga)
    await own.service.change(own.visitor, own.saga_id, wanted.request, body.lost)
    return {**await own.told(), **wanted.heard(), "not_understood": wanted.not_understood}


@router.get("/sagas/{saga_id}/versions", summary="Every plan that it has shown, the first one first")
async def versions(own: OwnSaga) -> Json:
    saga = await own.saga()
    shown = await own.service.versions(own.visitor, saga.id)
    return {"saga_id": own.saga_id, "versions": [_told_of(each, saga) for each in shown]}


@router.post("/sagas/{saga_id}/back", status_code=202, summary="Go back to an earlier version; by default, to the one before")
async def go_back(body: ThatVersion, own: OwnSaga) -> Json:
    await own.service.go_back(own.visitor, own.saga_id, body.version)
    return await own.told()


@router.get("/sagas/{saga_id}/share", summary="Where others can look at its plan, if they can")
async def shared_at(own: OwnSaga) -> Json:
    return {"saga_id": own.saga_id, "path": await own.service.shared_at(own.visitor, own.saga_id) or None}


@router.post("/sagas/{saga_id}/share", summary="Let whoever has a link look at its plan; a repetition returns the same link")
async def share(own: OwnSaga) -> Json:
    return {"saga_id": own.saga_id, "path": await own.service.share(own.visitor, own.saga_id)}


@router.delete("/sagas/{saga_id}/share", summary="End that: the link leads nowhere any more")
async def share_no_more(own: OwnSaga) -> Json:
    await own.service.share_no_more(own.visitor, own.saga_id)
    return {"saga_id": own.saga_id, "path": None}


@router.get("/sagas/{saga_id}/disruptions", summary="Disruptions that can be triggered now")
async def disruptions(own: OwnSaga) -> Json:
    saga = await own.saga()
    offered = own.service.page(saga.domain).disruptions(saga)
    return {"saga_id": own.saga_id, "disruptions": [{"key": each.key, "words": each.words} for each in offered]}


@router.post("/sagas/{saga_id}/disruptions", status_code=202, summary="Trigger a disruption, and have the plan changed")
async def disrupt(body: WhatHappened, own: OwnSaga) -> Json:
    saga = await own.saga()
    page = own.service.page(saga.domain)
    offered = {each.key: each for each in page.disruptions(saga)}
    happened = offered.get(body.key) if body.key is not None else page.disruption_in(news_in(body.text or ""), saga)
    if happened is None:
        raise InvalidInputError(f"this saga has no such disruption; it offers {', '.join(offered) or 'none'}", field="key")
    await own.service.disrupt(own.visitor, own.saga_id, happened)
    return await own.told()


@router.post("/sagas/{saga_id}/foreseen", status_code=202, summary="Judge a delay that is foreseen; repair what would break")
async def foresee(body: WhatIsForeseen, own: OwnSaga) -> Json:
    await own.service.foresee(own.visitor, own.saga_id, body.news)
    return await own.told()


@router.post("/sagas/{saga_id}/faults", status_code=202, summary="Inject a fault of the sandbox into a call of this saga")
async def order_fault(body: OrderedFault, own: OwnSaga) -> Json:
    await own.service.order_fault(own.visitor, own.saga_id, **body.model_dump())
    return await own.told()


@router.get("/sagas/{saga_id}/cancel", summary="What cancelling now would undo, cost and leave; does nothing")
async def preview(own: OwnSaga) -> Json:
    return asdict(await own.service.preview(own.visitor, own.saga_id))


@router.post("/sagas/{saga_id}/cancel", status_code=202, summary="Undo it")
async def cancel(own: OwnSaga) -> Json:
    await own.service.cancel(own.visitor, own.saga_id)
    return await own.told()


@router.post("/sagas/{saga_id}/resume", status_code=202, summary="Resume it")
async def resume(own: OwnSaga) -> Json:
    await own.service.resume(own.visitor, own.saga_id)
    return await own.told()


@router.post("/sagas/{saga_id}/resolve", status_code=202, summary="Settle an operation that is held or stuck")
async def resolve(body: SettledOperation, own: OwnSaga) -> Json:
    await own.service.resolve(own.visitor, own.saga_id, body.operation, body.resolution, body.output, body.because)
    return await own.told()


@router.post("/sagas/{saga_id}/yield", status_code=202, summary="Operators: let other sagas have what it locks")
async def yield_locks(own: OwnSaga) -> Json:
    await own.service.oversight.yield_locks(own.visitor, own.saga_id)
    return await own.told()


@router.post("/sagas/{saga_id}/redact", status_code=202, summary="Operators: make values of an ended saga unreadable, for good")
async def redact(body: RedactedFields, own: OwnSaga) -> Json:
    await own.service.oversight.redact(own.visitor, own.saga_id, body.fields)
    return await own.told()


@router.get("/sagas/{saga_id}/log", summary="Its journal")
async def log(own: OwnSaga) -> Json:
    entries = await own.service.journal(own.visitor, own.saga_id)
    return {"saga_id": own.saga_id, "events": [entry_json(entry) for entry in entries]}


@router.get(
    "/sagas/{saga_id}/events",
    summary="Its journal as a stream of server-sent events, while work is running",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}}},
)
async def events(request: Request, own: OwnSaga, after: Annotated[int, Query(ge=0)] = 0) -> StreamingResponse:
    """Stream the journal. `id` is the event's version: a client that lost the connection resumes with `Last-Event-ID`, or
    `after`.
    """
    last = request.headers.get("last-event-id", "")
    seen = max(after, int(last) if last.isascii() and last.isdigit() else 0)
    await own.saga()
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    entries = own.service.events(own.visitor, own.saga_id, seen)
    return StreamingResponse(_stream(entries), media_type="text/event-stream", headers=headers)


async def _stream(entries: AsyncIterator[Entry]) -> AsyncIterator[str]:
    async for entry in entries:
        told = json.dumps(entry_json(entry), ensure_ascii=False)
        yield f"id: {entry.version}\nevent: {type(entry.event).__name__}\ndata: {told}\n\n"
    yield "event: end\ndata: {}\n\n"


@router.get("/sagas/{saga_id}/files/{name}", summary="A document that a saga has made, or its journal as JSON")
async def download(name: str, own: OwnSaga) -> Response:
    for each in await own.service.downloads(own.visitor, own.saga_id):
        if each.name == name:
            headers = {"content-disposition": f'attachment; filename="{each.name}"', "x-content-type-options": "nosniff"}
            return Response(each.content, media_type=each.media_type, headers=headers)
    raise UnknownSagaError(f"saga {own.saga_id!r} has no file {name!r}", saga_id=own.saga_id)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Request that somebody wants, merged with what was asked for before. `draft`: how their words were read."""

    request: Json
    draft: Draft | None = None

    @property
    def not_understood(self) -> tuple[str, ...]:
        return self.draft.not_understood if self.draft else ()

    def heard(self) -> Json:
        """Return what a model had to do with it: what was left out, and what the rules have read otherwise."""
        draft = self.draft
        return {"asides": draft.asides, "others": draft.others, "read_by": draft.by or "rules"} if draft else {}


async def _wanted(caller: Caller, page: Page, text: str | None, request: Json | None, saga: Saga | None) -> _Wanted:
    """Read what is wanted. Raises `InvalidInputError` with the question about what is missing."""
    if (text is None) is (request is None):
        raise InvalidInputError("give either a sentence or a request", field="text")
    if request is not None:
        return _Wanted(await _checked(page, request, saga))
    said = wishes_in(text or "") if saga else with_corrections(text or "")  # a first message may ask, and means a request
    draft = await page.hear(said, page.draft_of(saga.request).known if saga else None)
    if draft.questions and saga is None:
        draft = await caller.service.with_habits(caller.visitor, page, draft)
    if draft.questions:
        raise IncompleteError.of(draft)
    return _Wanted(page.on_top(draft.request, saga) if saga else draft.request, draft)


async def _checked(page: Page, request: Json, saga: Saga | None) -> Json:
    """Return the request as it is kept. All that is missing is named at once."""
    try:
        wanted: Json = await page.checked(request, None if saga is None else saga.request)
    except InvalidInputError as exc:
        missing = missing_in(exc)
        if not missing:
            raise
        first, *others = missing
        told = {"request": request, "missing": missing, "assumed": {}, "not_understood": (), "remedies": ()}
        too = f"; so are: {', '.join(others)}" if others else ""
        raise IncompleteError(f"is missing{too}", told, field=first) from exc
    return wanted


def _told_of(version: Version, saga: Saga) -> Json:
    told = {"version": version.number, "request": version.request, "is_shown": version.is_of(saga)}
    return {**told, "plan_hash": version.plan.hash, "plan": version.plan.content, "cost": version.plan.cost}


def _row(saga: Saga) -> Json:
    return {"saga_id": saga.id, "domain": saga.domain, "status": status_of(saga).value, "begun_at": saga.begun_at}


async def _reference(request: Request) -> HTMLResponse:
    """Serve the interface's description as a page to read: no script, and nothing loaded from elsewhere."""
    described = request.app.openapi()
    title = f"{described['info']['title']} {described['info']['version']}: REST interface"
    bodies = described.get("components", {}).get("schemas", {})
    schemas = {name: json.dumps(schema, indent=2, ensure_ascii=False) for name, schema in bodies.items()}
    return HTMLResponse(render("reference", title=title, paths=described["paths"], schemas=schemas))


async def _show_error(_request: Request, exc: Exception) -> JSONResponse:
    if isinstance(exc, IncompleteError):
        return JSONResponse({"error": {"message": str(exc), "field": exc.field}, **exc.told}, status_code=422)
    if isinstance(exc, CannotBeHadError):
        told = {"reasons": exc.reasons, "remedies": [asdict(each) for each in exc.remedies]}
        return JSONResponse({"error": {"message": str(exc), "field": exc.field}, **told}, status_code=422)
    status = next((status for kind, status in _STATUS_OF_ERROR if isinstance(exc, kind)), 500)
    return JSONResponse({"error": {"message": str(exc), "field": getattr(exc, "field", None)}}, status_code=status)


async def _show_what_is_wrong(_request: Request, exc: Exception) -> JSONResponse:
    """Report what is invalid without repeating what was sent, which FastAPI would do."""
    if not isinstance(exc, RequestValidationError):
        raise TypeError("FastAPI registers this handler for requests that do not validate")
    first = exc.errors()[0]
    field = ".".join(str(each) for each in first["loc"] if each != "body")
    return JSONResponse({"error": {"message": str(first["msg"]).removeprefix("Value error, "), "field": field or "body"}}, 422)


async def _show_what_cannot_be_read(request: Request, exc: Exception) -> Response:
    """Report a body that is no JSON, or a path that there is not, in the form of all errors of the interface."""
    if not isinstance(exc, HTTPException):
        raise TypeError("FastAPI registers this handler for errors of HTTP")
    if not request.url.path.startswith(PREFIX):
        return await http_exception_handler(request, exc)
    return JSONResponse({"error": {"message": str(exc.detail), "field": None}}, exc.status_code, headers=exc.headers)
