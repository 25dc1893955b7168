"""Auth: who sent a request, and whether it is let in. Plain ASGI, so that streams pass unbuffered.

Starlette's own middleware does not fit: its sessions need a secret that survives restarts, and reveal their content to whoever
holds the cookie; its trusted hosts do not cover requests from other sites, which are refused here as well.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sagagraph.access.keys import SESSION, TOKEN, Keys
from sagagraph.access.login import Failures, Login
from sagagraph.access.roles import SAFE, Role, may, rule_for
from sagagraph.errors import StoreError
from sagagraph.ui.visitors import Visitor, guest, known_elsewhere, user

COOKIE: Final = "sagagraph_visitor"
SESSION_COOKIE: Final = "sagagraph_session"
_COOKIE_AGE_S: Final = 365 * 86400
_TOKEN_LENGTHS: Final = range(20, 101)
"""Shorter tokens were not issued here, and could be guessed."""
_LONGEST_BODY: Final = 1_000_000
"""In bytes; the longest legitimate request, with hundreds of people in it, is a fraction of that."""
_HEADERS: Final = {
    "content-security-policy": "default-src 'self' data: blob:; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; "
    "style-src 'self' 'unsafe-inline'; frame-ancestors 'none'; form-action 'self'; object-src 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
"""On every answer. Gradio's page has scripts and styles of its own in it, and builds templates while it runs."""


class Auth:
    """ASGI gate: nothing passes that no rule of `access.roles` names. `hosts`: the names by which the server may be called,
    against DNS rebinding; None: any. `has_provider`: whether people can log in elsewhere.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        login: Login,
        failures: Failures,
        keys: Keys,
        hosts: Iterable[str] | None,
        new_token: Callable[[], str],
        has_provider: bool = False,
    ) -> None:
        self._app = app
        self._login = login
        self._keys = keys
        self._hosts = None if hosts is None else frozenset(hosts)
        self._new_token = new_token
        self._has_provider = has_provider
        self._failures = failures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        asked = HTTPConnection(scope)
        token = _token_of(asked)
        fresh = "" if token or self._knows_users else self._new_token()
        visitor, refusal = None, None
        try:
            visitor = await self._visitor(asked, token or fresh)
        except StoreError:  # which knows the keys
            refusal = _refused("the store does not answer: try again later", 503, scope["path"])
        send = _adding(send, {**_HEADERS, **({"set-cookie": _cookie(fresh)} if fresh else {})})
        if refusal := refusal or self._refusal(asked, visitor):
            await refusal(scope, receive, send)
        else:
            await self._app({**scope, "user": visitor}, receive, send)

    @property
    def _knows_users(self) -> bool:
        return bool(self._login) or self._has_provider

    async def _visitor(self, asked: HTTPConnection, token: str) -> Visitor | None:
        given = asked.headers.get("authorization", "")
        kind, _, secret = given.partition(" ")
        if kind.lower() == "bearer":
            return await self._bearer(secret.strip(), TOKEN)
        if not self._knows_users:
            return guest(token)
        if not given:
            return await self._bearer(asked.cookies.get(SESSION_COOKIE, ""), SESSION)
        if self._failures.wait_s(who := _who(asked, given)):
            return None
        name, password = _credentials(given)
        role = self._login.role_of(name, password)
        if role is None:
            self._failures.add(who)
        return None if role is None else user(name, role)

    async def _bearer(self, secret: str, kind: str) -> Visitor | None:
        key = await self._keys.of(secret) if len(secret) in _TOKEN_LENGTHS else None
        if key is None or key.kind != kind:
            return None
        return known_elsewhere(key.subject, key.name, key.role) if key.subject else user(key.name, key.role)

    def _refusal(self, asked: HTTPConnection, visitor: Visitor | None) -> Response | None:
        host, origin = asked.headers.get("host", ""), asked.headers.get("origin")
        method, path = str(asked.scope.get("method")), asked.scope["path"]
        if self._hosts is not None and _name_in(host) not in self._hosts:
            return PlainTextResponse("this server is not known by that name", 421)
        if method not in SAFE and origin and urlsplit(origin).netloc != host:
            return PlainTextResponse("this request comes from another site", 403)
        if too_long := _too_long(asked):
            return too_long
        given = asked.headers.get("authorization", "")
        if visitor is None and given and (wait_s := self._failures.wait_s(_who(asked, given))):
            return PlainTextResponse("too many wrong passwords: try again later", 429, {"retry-after": str(wait_s)})
        role = None if visitor is None else visitor.role
        if may(role, method, path):
            return None
        if role is not None:
            return self._not_allowed(role, method, path)
        if self._has_provider and method in SAFE and "text/html" in asked.headers.get("accept", ""):
            return RedirectResponse("/login", 303)
        words = "log in with your name and password, or send a token"
        return PlainTextResponse(words, 401, {"www-authenticate": 'Basic realm="SagaGraph"'})

    def _not_allowed(self, role: Role, method: str, path: str) -> Response:
        if role is Role.READER and method in SAFE and path == "/":
            return RedirectResponse("/operate", 303)
        if may(Role.OPERATOR, method, path):
            start = "" if self._knows_users else ": start the server with --user and --password"
            return _refused(f"this needs the role operator{start}", 403, path)
        return _refused("there is nothing here that you may ask for", 403 if rule_for(method, path) else 404, path)


def _refused(words: str, status_code: int, path: str) -> Response:
    if path.startswith("/api/"):
        return JSONResponse({"error": {"message": words, "field": None}}, status_code)
    return PlainTextResponse(words, status_code)


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
