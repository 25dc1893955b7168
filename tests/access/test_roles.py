"""Every route of the app, asked for by everybody: what a role may do is said here once more, in other words than in the rules."""

from __future__ import annotations

import base64
from collections.abc import Iterator

import httpx2
import pytest
from starlette.routing import BaseRoute

from sagagraph.access.login import Known
from sagagraph.access.roles import ACTS, RULES, SAFE, Role, may
from sagagraph.ui.server.app import create_app
from sagagraph.ui.server.auth import Auth
from sagagraph.ui.server.late_pages import LatePages
from sagagraph.ui.server.options import ServerOptions
from sagagraph.ui.service import Service
from tests.ui.conftest import service as service

pytestmark = pytest.mark.asyncio(loop_scope="module")

USERS = {each.value: Known(f"{each.value}'s secret", each) for each in Role if each is not Role.GUEST}
FOR_EVERYBODY = {"/healthz", "/readyz", "/login", "/login/provider", "/login/back", "/shared/x", "/task/x"}
FOR_OVERSEERS = {"/metrics", "/operate", "/operate/x", "/operate/x/x", "/api/v1/overview"}
FOR_OPERATORS = {"/api/v1/sagas/x/yield", "/api/v1/sagas/x/redact"}
FOR_ALL_WHO_LOG_IN = {"/logout", "/docs", "/openapi.json", "/api/v1/harness/x/audit"}
CLOSED = {"/monitoring", "/monitoring/summary", "/monitoring/x", "/login/", "/config/"}
"""Routes of Gradio that nobody needs: who watches its queues, and its own login."""


def expected(role: str, method: str, path: str) -> bool:
    if path in CLOSED or (path == "/logout" and method in SAFE):
        return path == "/nothing"
    if path in FOR_EVERYBODY:
        return True
    if not role:
        return False
    if path in FOR_OVERSEERS:
        return role == "operator" or (role == "reader" and method in SAFE)
    if path in FOR_OPERATORS:
        return role == "operator"
    if path in FOR_ALL_WHO_LOG_IN:
        return True
    if role == "reader":
        return method in SAFE and path.startswith(("/api/v1/sagas", "/api/v1/missions", "/missions"))
    return True


def routes(found: list[BaseRoute], before: str = "") -> Iterator[tuple[str, str]]:
    """Every method and path that the application answers to, with `x` for what varies."""
    for each in found:
        path = before + getattr(each, "path", "")
        inner = getattr(each, "original_router", None) or (None if getattr(each, "methods", None) else each)
        if nested := getattr(inner, "routes", None):
            yield from routes(nested, path.rstrip("/"))
        for method in getattr(each, "methods", None) or ():
            yield method, "/".join("x" if part.startswith("{") else part for part in path.split("/"))


@pytest.fixture
async def app(service: Service) -> Auth:
    pages = LatePages(service)
    await pages.made()
    return create_app(service, ServerOptions("0.0.0.0", users=USERS), pages)


async def test_each_role_may_ask_for_what_it_is_for_and_for_nothing_else(app: Auth) -> None:
    known = sorted(set(routes(app._app.routes)))  # type: ignore[attr-defined]
    assert len(known) > 90
    wrong = [
        (role, method, path)
        for method, path in known
        for role in ("", *USERS)
        if may(Role(role) if role else None, method, path) is not expected(role, method, path)
    ]
    assert wrong == []


async def test_what_a_role_may_not_do_is_refused_at_every_route(app: Auth) -> None:
    """Nothing happens, as nobody may do what they ask for; the application itself would refuse with another number."""
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://x") as client:
        for method, path in sorted(set(routes(app._app.routes))):  # type: ignore[attr-defined]
            for role in ("", *USERS):
                if expected(role, method, path) or (role == "reader" and path == "/"):
                    continue
                credentials = base64.b64encode(f"{role}:{role}'s secret".encode()).decode()
                headers = {"authorization": f"Basic {credentials}"} if role else {}
                answer = await client.request(method, path, headers=headers)
                assert answer.status_code in ((401,) if not role else (403, 404)), (role, method, path, answer.status_code)


async def test_a_path_that_no_rule_names_is_refused_whoever_asks() -> None:
    assert not any(may(role, method, "/new/page") for role in (None, *Role) for method in SAFE | ACTS)


async def test_every_rule_is_for_a_path_that_exists(app: Auth) -> None:
    """A rule for a page that is gone would let in whatever comes there next."""
    known = set(routes(app._app.routes))  # type: ignore[attr-defined]
    unused = [rule.path for rule in RULES if not any(rule.fits(method, path) for method, path in known)]
    assert unused == []


async def test_what_a_planner_may_not_see_looks_as_if_it_were_not_there(app: Auth) -> None:
    credentials = base64.b64encode(b"planner:planner's secret").decode()
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://x") as client:
        answer = await client.get("/api/v1/sagas/somebody-elses", headers={"authorization": f"Basic {credentials}"})
    assert answer.status_code == 404
