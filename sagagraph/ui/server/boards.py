"""Boards over HTTP: `/board/NAME` is the page of a domain whose plans are only drawn; another process does the planning."""

from __future__ import annotations

from functools import partial
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from sagagraph.errors import InvalidInputError, SagaGraphError
from sagagraph.planning.board import Board, Drawn
from sagagraph.ui.html.templates import CSS, render
from sagagraph.ui.pictures.lanes import lanes
from sagagraph.ui.server.bounds import bounded, form_of

_SECONDS: Final = 10.0
router = APIRouter()


@router.get("/board/{name}", include_in_schema=False)
async def page(name: str, request: Request) -> HTMLResponse:
    return _shown(_board(name, request), {})


@router.post("/board/{name}", include_in_schema=False)
async def planned(name: str, request: Request) -> HTMLResponse:
    board, form = _board(name, request), {}
    try:
        form = await form_of(request)
        return _shown(board, form, drawn=await bounded(partial(board.drawn, form, _SECONDS), _SECONDS, field="problem"))
    except SagaGraphError as exc:
        return _shown(board, form, problem=str(exc))


def _board(name: str, request: Request) -> Board:
    boards: dict[str, Board] = request.app.state.service.boards
    if name not in boards:
        raise InvalidInputError(f"there are {', '.join(boards)}, not {name!r}", field="board")
    return boards[name]


def _shown(board: Board, form: dict[str, str], problem: str = "", drawn: Drawn | None = None) -> HTMLResponse:
    picture = "" if drawn is None else lanes(drawn.view, drawn.before)
    page = render("board", board=board, form=form, problem=problem, drawn=drawn, picture=picture, css=CSS)
    return HTMLResponse(page, status_code=422 if problem else 200)
