"""Page of a task: shown to whoever has its link, and answered there once. Looking answers nothing: mail scanners follow links."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs

from sagagraph.extras import needing
from sagagraph.services.person import Asked, Said, Tasks

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

_LONGEST: Final = 4000
_PRIVATE: Final = {"cache-control": "no-store", "x-robots-tag": "noindex", "referrer-policy": "no-referrer"}
_FORM: Final = """<p><textarea name="text" rows="6" cols="60" maxlength="{longest}" aria-label="Your answer"></textarea></p>
<p><button name="said" value="answered">Answer</button> <button name="said" value="refused">Refuse</button></p>"""
_PAGE: Final = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><h1>{title}</h1><p style="white-space: pre-wrap">{text}</p><form method="post">{form}</form></html>"""


def task_route(tasks: Callable[[Request], Tasks]) -> Route:
    """Return the route of the page, `/task/…`, for any Starlette or FastAPI application."""
    with needing("ui"):
        from starlette.responses import HTMLResponse
        from starlette.routing import Route

    async def page(request: Request) -> Response:
        kept, link = tasks(request), request.path_params["link"]
        asked, problem, status = await kept.behind(link), "", 200
        if asked is None or asked.outcome is not None:
            status = 404 if asked is None else 410
        elif request.method == "POST":
            told = parse_qs((await request.body()).decode(errors="replace"))
            said, text = told.get("said", [""])[0], told.get("text", [""])[0].strip()
            if said in (Said.ANSWERED, Said.REFUSED) and len(text) <= _LONGEST:
                await kept.end(asked, Said(said), text)
                asked = await kept.behind(link)
            else:
                problem, status = f"Answer or refuse, in {_LONGEST:,} characters at most.", 400
        return HTMLResponse(_page(asked, problem), status, _PRIVATE)

    return Route("/task/{link}", page, methods=["GET", "POST"])


def _page(asked: Asked | None, problem: str = "") -> str:
    if asked is None or asked.outcome is not None:
        gone = "There is no such task, or its link is incomplete." if asked is None else f"This is {asked.said}. Thank you."
        return _PAGE.format(title="Task", text=gone, form="")
    text = "\n\n".join(filter(None, (problem, asked.task.text, f"Until {asked.until:%-d %B %Y %H:%M} UTC.")))
    return _PAGE.format(title=escape(asked.task.subject), text=escape(text), form=_FORM.format(longest=_LONGEST))
