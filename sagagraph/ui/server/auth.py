"""Stands before every request: whose it is, and whether it may come in. Plain ASGI, so that streams pass unbuffered."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import urlsplit

from sagagraph.ui.visitors import Visitor, guest, user

COOKIE = "sagagraph_visitor"
VISITOR_HEADER = "x-sagagraph-visitor"
"""Set by the gate alone: what a client sends under this name is dropped."""
_COOKIE_AGE_S = 365 * 86400
_TOKEN_LENGTHS = range(20, 101)
"""Shorter ones were not made here, and could be guessed."""
_LONGEST_BODY = 1_000_000
"""Bytes; the longest request that anything here asks for, a reunion of hundreds, is a fraction of that."""
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Login:
    """Names and passwords; empty: everybody may come in, and is known by their browser's cookie."""

    passwords: Mapping[str, str] = field(repr=False)

    def name_of(self, authorization: str) -> str | None:
        """Of HTTP Basic credentials that are right."""
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


class Gate:
    """`hosts`: the names by which the server may be called, against DNS rebinding; None: any."""

    def __init__(self, app: App, *, login: Login, hosts: Iterable[str] | None, new_token: Callable[[], str]) -> None:
        self._app = app
        self._login = login
        self._hosts = None if hosts is None else frozenset(hosts)
        self._new_token = new_token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if refusal := self._refusal(scope, headers):
            await _answer(send, *refusal)
            return
        token = _token_in(headers.get("cookie", ""))
        fresh = "" if token or self._login.passwords else self._new_token()
        visitor = self._visitor(headers, token or fresh)
        if visitor is None:
            await _answer(send, 401, "log in with your name and password", {"www-authenticate": 'Basic realm="SagaGraph"'})
            return
        answering = _Answering(_setting_cookie(send, fresh) if fresh else send)
        try:
            await self._app(_with_visitor(scope, visitor), receive, answering)
        except asyncio.CancelledError:  # a server that is told to stop waits for answers, but not for ever
            await answering.break_off()

    def _refusal(self, scope: Scope, headers: Mapping[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if self._hosts is not None and _name_in(host) not in self._hosts:
            return 421, "this server does not go by that name"
        origin = headers.get("origin")
        if scope.get("method") not in _SAFE_METHODS and origin and urlsplit(origin).netloc != host:
            return 403, "this request comes from another site"
        return _too_long(headers)

    def _visitor(self, headers: Mapping[str, str], token: str) -> Visitor | None:
        if not self._login.passwords:
            return guest(token)
        name = self._login.name_of(headers.get("authorization", ""))
        return None if name is None else user(name)


def visitor_in(headers: Mapping[str, str]) -> Visitor:
    """Who the gate has said that it is."""
    tag, _, name = headers[VISITOR_HEADER].partition(" ")
    return Visitor(tag, name.encode("latin-1").decode())


class _Answering:
    """Passes an answer on, and knows whether it has begun."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._has_begun = False

    async def __call__(self, message: MutableMapping[str, Any]) -> None:
        self._has_begun = True
        await self._send(message)

    async def break_off(self) -> None:
        """End it in order: with an answer, where none has begun."""
        if self._has_begun:
            await self._send({"type": "http.response.body", "body": b""})
        else:
            await _answer(self._send, 503, "this server stops: look later whether it was done, then ask again")


def _with_visitor(scope: Scope, visitor: Visitor) -> Scope:
    said = f"{visitor.tag} {visitor.name}".encode()
    kept = [(name, value) for name, value in scope["headers"] if name.lower() != VISITOR_HEADER.encode()]
    return {**scope, "headers": [*kept, (VISITOR_HEADER.encode(), said)]}


def _setting_cookie(send: Send, token: str) -> Send:
    cookie = f"{COOKIE}={token}; Path=/; Max-Age={_COOKIE_AGE_S}; HttpOnly; SameSite=Lax"

    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), (b"set-cookie", cookie.encode())]}
        await send(message)

    return sending


def _too_long(headers: Mapping[str, str]) -> tuple[int, str] | None:
    """The server itself sees to it that a body is no longer than it says."""
    if "transfer-encoding" in headers:
        return 411, "say how long the request is, with Content-Length"
    length = headers.get("content-length", "")
    if length.isdigit() and int(length) > _LONGEST_BODY:
        return 413, f"this request has {length} bytes, and at most {_LONGEST_BODY} are read"
    return None


def _token_in(cookies: str) -> str:
    try:
        morsel = SimpleCookie(cookies).get(COOKIE)
    except CookieError:
        return ""
    token = "" if morsel is None else morsel.value
    return token if token.isascii() and len(token) in _TOKEN_LENGTHS else ""


def _name_in(host: str) -> str:
    return urlsplit(f"//{host}").hostname or ""


async def _answer(send: Send, status: int, words: str, headers: Mapping[str, str] | None = None) -> None:
    told = {"content-type": "text/plain; charset=utf-8", **(headers or {})}
    raw = [(name.encode(), value.encode()) for name, value in told.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": words.encode()})
