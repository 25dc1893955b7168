"""Boards over HTTP: `/board/NAME` is the page of a domain whose plans are only drawn; another process does the planning."""

from __future__ import annotations

from functools import partial
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from sagagraph.errors import InvalidInputError, SagaGraphError
from sagagraph.planning.board import Board
from sagagraph.planning.fields import Form, Sheet
from sagagraph.ui.html.front import page_alone
from sagagraph.ui.pictures.lanes import lanes
from sagagraph.ui.server.bounds import bounded, form_of

_SECONDS: Final = 10.0
router = APIRouter()


@router.get("/board/{name}", include_in_schema=False)
async def page(name: str, request: Request, example: int = 0) -> HTMLResponse:
    """Show the first example, or plan the one of that number."""
    board = _board(name, request)
    if 1 <= example <= len(board.examples):
        return await _shown(board, request, list(board.examples.values())[example - 1])
    return await _shown(board, request, next(iter(board.examples.values())), plans=False)


@router.post("/board/{name}", include_in_schema=False)
async def planned(name: str, request: Request) -> HTMLResponse:
    board = _board(name, request)
    try:
        return await _shown(board, request, await form_of(request))
    except InvalidInputError as exc:
        return await _shown(board, request, {}, problem=str(exc), plans=False)


def _board(name: str, request: Request) -> Board:
    boards: dict[str, Board] = request.app.state.service.boards
    if name not in boards:
        raise InvalidInputError(f"there are {', '.join(boards)}, not {name!r}", field="board")
    return boards[name]


async def _shown(board: Board, request: Request, form: Form, problem: str = "", *, plans: bool = True) -> HTMLResponse:
    drawn, sheets, text = None, tuple[Sheet, ...](), form.get("problem", "")
    try:
        sheets = board.sheets(form)
        text = board.problem_in(form)
        drawn = await bounded(partial(board.drawn, form, _SECONDS), _SECONDS, field="problem") if plans else None
    except SagaGraphError as exc:
        problem = problem or str(exc)
    picture = "" if drawn is None else lanes(drawn.view, drawn.before)
    told = {"board": board, "sheets": sheets, "text": text, "problem": problem, "drawn": drawn, "picture": picture}
    return page_alone(request, "board", status_code=422 if problem else 200, **told)
