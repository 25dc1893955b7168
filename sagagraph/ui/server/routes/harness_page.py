"""The page of harnesses: rules and variables as sheets, what they allow as a picture, and ways out to try and to sign."""

from __future__ import annotations

import json
from functools import partial
from importlib.resources import files
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from sagagraph.errors import InvalidInputError, SagaGraphError
from sagagraph.planning.fields import Sheet
from sagagraph.ui.html.front import page_alone
from sagagraph.ui.html.harness_sheets import at_its_row, harness_sheets, with_entries
from sagagraph.ui.pictures.regions import picture
from sagagraph.ui.server.bounds import bounded, form_of
from sagagraph.ui.server.routes.api import Json
from sagagraph.ui.server.routes.harnesses import SignedOverride, explained, overridden
from sagagraph.ui.visitors import visitor_of

_SECONDS: Final = 20.0
_FIELD: Final = "harness"
_EXAMPLES: Final = {
    "cloud_sla": "A service within a budget",
    "ad_degradation": "Driving on in heavy rain",
    "ad_degradation_clear": "The same on a clear day",
    "pharma_flow_reactor": "A flow reactor",
}
_SAID: Final = {
    "paradox": "Nothing can pass: that is proven",
    "satisfiable": "It can be done",
    "undecided": "Not decided",
}
router = APIRouter()


@router.get("/harness", include_in_schema=False)
async def page(request: Request, example: str = "") -> HTMLResponse:
    """Show the first example, or explain the one of that name."""
    if example in _EXAMPLES:
        return await _shown(request, _example(example))
    return await _shown(request, _example(next(iter(_EXAMPLES))), explains=False)


@router.post("/harness", include_in_schema=False)
async def asked(request: Request) -> HTMLResponse:
    """Handle a form: a harness with the entries of its sheets or, with a name and a reason, an override of its report."""
    text, form = "", dict[str, str]()
    try:
        form = await form_of(request)
        text = form.get("harness", "")[:100_000]
        signed = None
        if "parameter" in form:
            body = {name: form.get(name) or None for name in SignedOverride.model_fields}
            signed = await overridden(_read(body), request.app.state.service, visitor_of(request))
        else:
            text = await bounded(partial(with_entries, text, form), _SECONDS, field=_FIELD)
    except SagaGraphError as exc:
        return await _shown(request, text, problem=str(exc), explains="parameter" in form)
    return await _shown(request, text, signed=signed)


def _example(name: str) -> str:
    return (files("sagagraph.harness.examples") / f"{name}.yaml").read_text(encoding="utf-8")


def _read(body: dict[str, Any]) -> SignedOverride:
    try:
        return SignedOverride.model_validate(body)
    except ValueError as exc:
        raise InvalidInputError("give your name and a reason, and choose one option of the menu", field="override") from exc


async def _shown(
    request: Request, text: str, problem: str = "", signed: Json | None = None, *, explains: bool = True
) -> HTMLResponse:
    sheets: tuple[Sheet, ...] = ()
    said = None
    try:
        sheets = await bounded(partial(harness_sheets, text), _SECONDS, field=_FIELD)
        said = await bounded(partial(explained, text, _SECONDS, drawn=True), _SECONDS, field=_FIELD) if explains else None
    except InvalidInputError as exc:
        sheets, why = at_its_row(sheets, exc)
        problem = problem or why
    except SagaGraphError as exc:
        problem = problem or str(exc)
    moves = [each["moves"][0] for each in said.get("menu", ()) if len(each["moves"]) == 1] if said else []
    values: dict[str, Any] = {
        "examples": _EXAMPLES,
        "sheets": sheets,
        "text": text,
        "said": said,
        "headline": _SAID[said["status"]] if said else "",
        "problem": problem,
        "signed": signed,
        "picture": picture(said["region"]) if said is not None and said["region"] else "",
        "parameters": dict.fromkeys(move["parameter"] for move in moves),
        "whole": json.dumps(said, indent=2, ensure_ascii=False) if said else "",
    }
    return page_alone(request, "harness", status_code=422 if problem else 200, **values)
