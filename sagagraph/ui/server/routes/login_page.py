"""The page where people log in: by name and password, or by the identity provider; and where sessions begin and end."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from sagagraph.access.keys import SESSION, Keys
from sagagraph.access.login import Failures, Login
from sagagraph.access.roles import Role
from sagagraph.errors import NotAllowedError, ProviderError
from sagagraph.ui.html.templates import CSS, CSS_ALONE, render
from sagagraph.ui.server.auth import SESSION_COOKIE
from sagagraph.ui.server.bounds import form_of
from sagagraph.ui.visitors import TOKEN_BYTES

if TYPE_CHECKING:
    from sagagraph.access.oidc import IdentityProvider

SESSION_S: Final = 12 * 3600.0
_BEGUN: Final = "sagagraph_login"
_BEGUN_S: Final = 600
router = APIRouter()


@dataclass(frozen=True, slots=True)
class Door:
    """What the page needs; it is in the state of the application."""

    login: Login
    keys: Keys
    provider: IdentityProvider | None
    failures: Failures


@router.get("/login", include_in_schema=False)
async def page(request: Request) -> HTMLResponse:
    return _shown(_door(request))


@router.post("/login", include_in_schema=False)
async def by_password(request: Request) -> Response:
    door, form = _door(request), await form_of(request)
    name = form.get("name", "")
    who = (request.client.host if request.client else "", name)
    if door.failures.wait_s(who):
        return _shown(door, "Too many wrong passwords: try again later.", 429)
    role = door.login.role_of(name, form.get("password", ""))
    if role is None:
        door.failures.add(who)
        return _shown(door, "That name and password do not belong together.", 401)
    return await _entered(request, name, role)


@router.get("/login/provider", include_in_schema=False)
async def by_provider(request: Request) -> Response:
    door = _door(request)
    if door.provider is None:
        return _shown(door, "No identity provider is set up.", 404)
    secret = secrets.token_urlsafe(TOKEN_BYTES)
    try:
        answer = await door.provider.begin(request, secret, str(request.url_for("back")))
    except ProviderError as exc:
        return _shown(door, str(exc), 502)
    answer.set_cookie(_BEGUN, secret, max_age=_BEGUN_S, httponly=True, samesite="lax", path="/login")
    return answer


@router.get("/login/back", include_in_schema=False)
async def back(request: Request) -> Response:
    door = _door(request)
    try:
        if door.provider is None:
            raise NotAllowedError("no identity provider is set up")
        person = await door.provider.person(request, request.cookies.get(_BEGUN, ""))
    except NotAllowedError as exc:
        return _shown(door, str(exc), 403)
    except ProviderError as exc:
        return _shown(door, str(exc), 502)
    return await _entered(request, person.name, person.role, person.subject)


@router.post("/logout", include_in_schema=False)
async def logout(request: Request) -> Response:
    keys = _door(request).keys
    key = await keys.of(request.cookies.get(SESSION_COOKIE, ""))
    if key is not None and key.kind == SESSION:
        await keys.end(key.id, request.user.name)
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(SESSION_COOKIE)
    return answer


async def _entered(request: Request, name: str, role: Role, subject: str = "") -> Response:
    secret = secrets.token_urlsafe(TOKEN_BYTES)
    await _door(request).keys.make(secret, SESSION, name, role, SESSION_S, subject=subject)
    answer = RedirectResponse("/operate" if role is Role.READER else "/", 303)
    is_secure = request.url.scheme == "https"
    answer.set_cookie(SESSION_COOKIE, secret, max_age=int(SESSION_S), httponly=True, samesite="lax", secure=is_secure)
    return answer


def _door(request: Request) -> Door:
    door: Door = request.app.state.door
    return door


def _shown(door: Door, problem: str = "", status_code: int = 200) -> HTMLResponse:
    told = {"problem": problem, "has_passwords": bool(door.login), "has_provider": door.provider is not None}
    return HTMLResponse(render("login", css=f"{CSS}{CSS_ALONE}", front="", **told), status_code=status_code)
