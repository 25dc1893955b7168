"""Front: the head that all pages share, and pages beside Gradio's."""

from __future__ import annotations

from datetime import date
from typing import Any, Final

from fastapi import Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from sagagraph.ui.html.templates import CSS, CSS_ALONE, render
from sagagraph.ui.pictures.lanes import lanes
from sagagraph.ui.pictures.regions import picture
from sagagraph.ui.service import Service

_HOME: Final = ("/", "Plans")
_HARNESS: Final = ("/harness", "Rules over numbers")
_OPERATE: Final = ("/operate", "Operate")
_MISSIONS: Final = ("/missions", "Missions")
_PROMISE: Final = "What passes a set of rules, or a proof that nothing can, and what would have to give."
_REGION: Final = {
    "variables": [{"name": "replicas", "low": 1, "high": 20, "unit": "replica"}],
    "allowed": {"AVAILABILITY": [(5, 20)], "BUDGET": [(1, 2)]},
}
"""Something to look at: two rules that cannot hold together."""


def front_words(service: Service, today: date | None = None, current: str = _HOME[0], *, oversees: bool = False) -> Markup:
    """Return what the app is, in the words that come first. `current`: the path of the page that they are on; `oversees`: whether
    the visitor may see all sagas.
    """
    is_practice = any(each.desk is not None for each in service.pages.values())
    day = "" if today is None else f"{today:%A} {today.day} {today:%B %Y}"
    boards = [(f"/board/{name}", board.title) for name, board in service.boards.items()]
    return render(
        "front",
        is_practice=is_practice,
        today=day,
        pages=[_HOME, *boards, _HARNESS, _MISSIONS, *([_OPERATE] if oversees else [])],
        current=current,
    )


def boards_shown(service: Service) -> Markup:
    """Return a card for each page beside the chat, with an example that runs at a click."""
    boards = [
        (f"/board/{name}", "?example=1", board.title, board.opening, lanes(board.showcase))
        for name, board in service.boards.items()
    ]
    harness = (*_HARNESS[:1], "?example=cloud_sla", _HARNESS[1], _PROMISE, picture(_REGION))
    return render("boards", cards=[*boards, harness])


def page_alone(request: Request, name: str, *, status_code: int = 200, **values: Any) -> HTMLResponse:
    """Render a page that needs no script, with the head of the app."""
    path = request.url.path
    oversees = request.user is not None and request.user.role.sees_all
    front = front_words(request.app.state.service, current=path, oversees=oversees)
    page = render(name, front=front, css=f"{CSS}{CSS_ALONE}", path=path, **values)
    return HTMLResponse(page, status_code=status_code)
