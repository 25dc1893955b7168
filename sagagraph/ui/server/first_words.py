"""First words: what the app is, in the page itself, so that it can be read before its scripts have arrived."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_BEFORE: Final = b"<gradio-app"


class FirstWords:
    """Middleware that puts `words` before the app in the page; `style.css` hides them once the app shows them itself."""

    def __init__(self, app: ASGIApp, words: Markup) -> None:
        self._app = app
        self._words = f'<div class="sg-first" id="first-words">{words}</div>'.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_page = scope["type"] == "http" and scope["path"] == "/" and scope["method"] == "GET"
        await self._app(scope, receive, _adding(self._words, send) if is_page else send)


def _adding(words: bytes, send: Send) -> Send:
    """Hold the head back until the page, which comes in one piece, is there."""
    head: list[Message] = []

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            head.append(message)
            return
        if head and _BEFORE in message.get("body", b""):
            message["body"] = message["body"].replace(_BEFORE, words + _BEFORE, 1)
            MutableHeaders(scope=head[0])["content-length"] = str(len(message["body"]))
        for each in (*head, message):
            await send(each)
        head.clear()

    return sending
