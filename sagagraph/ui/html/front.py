"""Front: the head that all pages share, and pages beside Gradio's."""

from __future__ import annotations

from datetime import date
from typing import Any, Final

from fastapi import Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from sagagraph.ui.html.templates import CSS, CSS_ALONE, render
from sagagraph.ui.service import Service

_HOME: Final = ("/", "Plans")
_HARNESS: Final = ("/harness", "Rules over numbers")


def front_words(service: Service, today: date | None = None, current: str = _HOME[0]) -> Markup:
    """Return what the app is, in the words that come first. `current`: the path of the page that they are on."""
    is_practice = any(each.desk is not None for each in service.pages.values())
    day = "" if today is None else f"{today:%A} {today.day} {today:%B %Y}"
    boards = [(f"/board/{name}", board.title) for name, board in service.boards.items()]
    return render("front", is_practice=is_practice, today=day, pages=[_HOME, *boards, _HARNESS], current=current)


def page_alone(request: Request, name: str, *, status_code: int = 200, **values: Any) -> HTMLResponse:
    """Render a page that needs no script, with the head of the app."""
    path = request.url.path
    front = front_words(request.app.state.service, current=path)
    page = render(name, front=front, css=f"{CSS}{CSS_ALONE}", path=path, **values)
    return HTMLResponse(page, status_code=status_code)
