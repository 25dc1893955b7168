"""Auth: who sent a request, and whether it is let in. Plain ASGI, so that streams pass unbuffered.

Starlette's own middleware does not fit: its sessions need a secret that survives restarts, and reveal their content to whoever
holds the cookie; its trusted hosts do not cover requests from other sites, which are refused here as well.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import math
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sagagraph.ui.sharing import SHARED_PATH
from sagagraph.ui.visitors import Visitor, guest, user

COOKIE: Final = "sagagraph_visitor"
_COOKIE_AGE_S: Final = 365 * 86400
_TOKEN_LENGTHS: Final = range(20, 101)
"""Shorter tokens were not issued here, and could be guessed."""
_LONGEST_BODY: Final = 1_000_000
"""In bytes; the longest legitimate request, with hundreds of people in it, is a fraction of that."""
_MOST_FAILURES: Final = 10
_FORGIVEN_AFTER_S: Final = 60.0
_MOST_REMEMBERED: Final = 1000
_HEADERS: Final = {
    "content-security-policy": "default-src 'self' data: blob:; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; "
    "style-src 'self' 'unsafe-inline'; frame-ancestors 'none'; form-action 'self'; object-src 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
"""On every answer. Gradio's page has scripts and styles of its own in it, and builds templates while it runs."""
_LINK: Final = re.compile(rf"{SHARED_PATH}[\w-]+", re.ASCII)
_SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class Login:
    """Names and passwords; if empty, everybody is let in and recognised by their browser's cookie."""

    passwords: Mapping[str, str] = field(repr=False)

    def name_of(self, authorization: str) -> str | None:
        """Return the name, if the HTTP Basic credentials are right."""
        name, password = _credentials(authorization)
        expected = self.passwords.get(name)
        is_right = hmac.compare_digest(password.encode(), (expected or "").encode())
        return name if expected and is_right else None


class Failures:
    """Count of wrong passwords, which limits guessing: for one name, from one address, within a minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._counts: OrderedDict[tuple[str, str], tuple[int, float]] = OrderedDict()

    def wait_s(self, who: tuple[str, str]) -> int:
        """Return how many seconds further attempts are blocked; 0: an attempt is allowed."""
        count, until = self._counts.get(who, (0, 0.0))
        return max(0, math.ceil(until - self._clock())) if count >= _MOST_FAILURES else 0

    def add(self, who: tuple[str, str]) -> None:
        count, until = self._counts.pop(who, (0, 0.0))
        self._counts[who] = (count + 1 if self._clock() < until else 1, self._clock() + _FORGIVEN_AFTER_S)
        while len(self._counts) > _MOST_REMEMBERED:
            self._counts.popitem(last=False)


class Auth:
    """ASGI gate. `hosts`: the names by which the server may be called, against DNS rebinding; None: any."""

    def __init__(self, app: ASGIApp, *, login: Login, hosts: Iterable[str] | None, new_token: Callable[[], str]) -> None:
        self._app = app
        self._login = login
        self._hosts = None if hosts is None else frozenset(hosts)
        self._new_token = new_token
        self._failures = Failures()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        asked = HTTPConnection(scope)
        token = _token_of(asked)
        fresh = "" if token or self._login.passwords else self._new_token()
        visitor = self._visitor(asked, token or fresh)
        send = _adding(send, {**_HEADERS, **({"set-cookie": _cookie(fresh)} if fresh else {})})
        if refusal := self._refusal(asked, visitor):
            await refusal(scope, receive, send)
        else:
            await self._app({**scope, "user": visitor}, receive, send)

    def _visitor(self, asked: HTTPConnection, token: str) -> Visitor | None:
        if not self._login.passwords:
            return guest(token)
        given = asked.headers.get("authorization", "")
        if not given or self._failures.wait_s(who := _who(asked, given)):
            return None
        name = self._login.name_of(given)
        if name is None:
            self._failures.add(who)
        return None if name is None else user(name)

    def _refusal(self, asked: HTTPConnection, visitor: Visitor | None) -> PlainTextResponse | None:
        host, origin = asked.headers.get("host", ""), asked.headers.get("origin")
        if self._hosts is not None and _name_in(host) not in self._hosts:
            return PlainTextResponse("this server is not known by that name", 421)
        if asked.scope.get("method") not in _SAFE_METHODS and origin and urlsplit(origin).netloc != host:
            return PlainTextResponse("this request comes from another site", 403)
        if too_long := _too_long(asked):
            return too_long
        given = asked.headers.get("authorization", "")
        if visitor is None and given and (wait_s := self._failures.wait_s(_who(asked, given))):
            return PlainTextResponse("too many wrong passwords: try again later", 429, {"retry-after": str(wait_s)})
        is_shared = asked.scope.get("method") in _SAFE_METHODS and _LINK.fullmatch(asked.scope["path"])
        if visitor is None and not is_shared:  # whoever has a link needs no name
            words = "log in with your name and password"
            return PlainTextResponse(words, 401, {"www-authenticate": 'Basic realm="SagaGraph"'})
        return None


def _credentials(authorization: str) -> tuple[str, str]:
    """Return name and password; empty if they cannot be read."""
    kind, _, encoded = authorization.partition(" ")
    try:
        decoded = base64.b64decode(encoded.strip(), validate=True).decode() if kind.lower() == "basic" else ""
    except (binascii.Error, UnicodeDecodeError):
        decoded = ""
    name, _, password = decoded.partition(":")
    return name, password


def _who(asked: HTTPConnection, authorization: str) -> tuple[str, str]:
    return asked.client.host if asked.client else "", _credentials(authorization)[0]


def _too_long(asked: HTTPConnection) -> PlainTextResponse | None:
    """Check the declared length; the server itself enforces that a body is no longer than declared."""
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


def _cookie(token: str) -> str:
    return f"{COOKIE}={token}; Path=/; Max-Age={_COOKIE_AGE_S}; HttpOnly; SameSite=Lax"


def _adding(send: Send, headers: Mapping[str, str]) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = MutableHeaders(scope=message)
            for name, value in headers.items():
                own.append(name, value)
        await send(message)

    return sending
