"""Auth: whose a request is, and whether it is let in. Plain ASGI, so that streams pass unbuffered.

Starlette's own middleware does not fit: its sessions need a secret that survives restarts, and tell whoever holds the cookie what
is in them; its trusted hosts know nothing of other sites' requests, which are refused in the same place here.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sagagraph.ui.visitors import Visitor, guest, user

COOKIE: Final = "sagagraph_visitor"
_COOKIE_AGE_S: Final = 365 * 86400
_TOKEN_LENGTHS: Final = range(20, 101)
"""Shorter tokens were not issued here, and could be guessed."""
_LONGEST_BODY: Final = 1_000_000
"""In bytes; the longest legitimate request, with hundreds of people in it, is a fraction of that."""
_SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class Login:
    """Names and passwords; if empty, everybody is let in and recognised by their browser's cookie."""

    passwords: Mapping[str, str] = field(repr=False)

    def name_of(self, authorization: str) -> str | None:
        """The name, if the HTTP Basic credentials are right."""
        kind, _, encoded = authorization.partition(" ")
        if kind.lower() != "basic":
            return None
        try:
            name, _, password = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            return None
        expected = self.passwords.get(name)
        is_right = hmac.compare_digest(password.encode(), (expected or "").encode())
        return name if expected and is_right else None


class Auth:
    """`hosts`: the names by which the server may be called, against DNS rebinding; None: any."""

    def __init__(self, app: ASGIApp, *, login: Login, hosts: Iterable[str] | None, new_token: Callable[[], str]) -> None:
        self._app = app
        self._login = login
        self._hosts = None if hosts is None else frozenset(hosts)
        self._new_token = new_token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        asked = HTTPConnection(scope)
        token = _token_of(asked)
        fresh = "" if token or self._login.passwords else self._new_token()
        visitor = self._visitor(asked, token or fresh)
        if refusal := self._refusal(asked, visitor):
            await refusal(scope, receive, send)
        else:
            await self._app({**scope, "user": visitor}, receive, _setting_cookie(send, fresh) if fresh else send)

    def _visitor(self, asked: HTTPConnection, token: str) -> Visitor | None:
        if not self._login.passwords:
            return guest(token)
        name = self._login.name_of(asked.headers.get("authorization", ""))
        return None if name is None else user(name)

    def _refusal(self, asked: HTTPConnection, visitor: Visitor | None) -> PlainTextResponse | None:
        host, origin = asked.headers.get("host", ""), asked.headers.get("origin")
        if self._hosts is not None and _name_in(host) not in self._hosts:
            return PlainTextResponse("this server does not go by that name", 421)
        if asked.scope.get("method") not in _SAFE_METHODS and origin and urlsplit(origin).netloc != host:
            return PlainTextResponse("this request comes from another site", 403)
        if too_long := _too_long(asked):
            return too_long
        if visitor is None:
            words = "log in with your name and password"
            return PlainTextResponse(words, 401, {"www-authenticate": 'Basic realm="SagaGraph"'})
        return None


def _too_long(asked: HTTPConnection) -> PlainTextResponse | None:
    """Checks the declared length; the server itself enforces that a body is no longer than declared."""
    if "transfer-encoding" in asked.headers:
        return PlainTextResponse("say how long the request is, with Content-Length", 411)
    length = asked.headers.get("content-length", "")
    if length.isdigit() and int(length) > _LONGEST_BODY:
        return PlainTextResponse(f"this request has {length} bytes, and at most {_LONGEST_BODY} are read", 413)
    return None


def _token_of(asked: HTTPConnection) -> str:
    token = asked.cookies.get(COOKIE, "")
    return token if token.isascii() and len(token) in _TOKEN_LENGTHS else ""


def _name_in(host: str) -> str:
    return urlsplit(f"//{host}").hostname or ""


def _setting_cookie(send: Send, token: str) -> Send:
    cookie = f"{COOKIE}={token}; Path=/; Max-Age={_COOKIE_AGE_S}; HttpOnly; SameSite=Lax"

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).append("set-cookie", cookie)
        await send(message)

    return sending
