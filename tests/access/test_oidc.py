"""Logging in by an identity provider that runs on this machine and speaks OpenID Connect."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
import pytest_asyncio

from sagagraph.access.roles import Role
from sagagraph.errors import NotAllowedError
from sagagraph.settings import OidcSettings, RoleName, Secret
from sagagraph.ui.server.app import create_app
from sagagraph.ui.server.options import ServerOptions
from sagagraph.ui.service import Service
from tests.ui.conftest import service as service

pytestmark = pytest.mark.asyncio(loop_scope="module")
provider_mock = pytest.importorskip("oidc_provider_mock", reason="the package oidc-provider-mock is not installed")

ROLES: dict[str, RoleName] = {"ops": "operator", "auditors": "reader"}


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    users = [
        provider_mock.User(sub="42", claims={"preferred_username": "ann", "groups": ["staff", "ops"]}),
        provider_mock.User(sub="43", claims={"preferred_username": "bob", "groups": ["guests"]}),
    ]
    with provider_mock.run_server_in_thread(user_claims=users) as server:
        yield f"http://127.0.0.1:{server.server_port}"


@pytest_asyncio.fixture(loop_scope="module")
async def browser(service: Service, issuer: str) -> AsyncIterator[httpx2.AsyncClient]:
    oidc = OidcSettings(issuer=issuer, client_id="sagagraph", client_secret=Secret("canary"), roles=ROLES)
    app = create_app(service, ServerOptions("0.0.0.0", oidc=oidc))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://app.example") as opened:
        yield opened


async def _back_from(issuer_page: str, sub: str) -> str:
    """What a person does at the provider: says who they are. Returns where the provider sends them."""
    async with httpx2.AsyncClient() as elsewhere:
        answer = await elsewhere.post(issuer_page, data={"sub": sub})
    assert answer.status_code in (302, 303), answer.text
    return str(answer.headers["location"])


async def test_somebody_logs_in_there_has_the_role_of_their_group_and_logs_out(browser: httpx2.AsyncClient) -> None:
    assert (await browser.get("/", headers={"accept": "text/html"})).headers["location"] == "/login"
    assert "your organisation" in (await browser.get("/login")).text
    begun = await browser.get("/login/provider")
    asked = parse_qs(urlsplit(begun.headers["location"]).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert {"state", "nonce", "code_challenge"} <= set(asked)
    entered = await browser.get(await _back_from(begun.headers["location"], "42"))
    assert (entered.status_code, entered.headers["location"]) == (303, "/")
    assert "HttpOnly" in entered.headers["set-cookie"]
    overview = await browser.get("/api/v1/overview")
    assert overview.status_code == 200
    assert "ann" in {each.name for each in await browser._transport.app._app.state.service.keys.all()}  # type: ignore[attr-defined]
    assert (await browser.post("/logout")).status_code == 303
    assert (await browser.get("/api/v1/overview")).status_code == 401


async def test_whoever_has_no_role_here_is_not_let_in(browser: httpx2.AsyncClient) -> None:
    begun = await browser.get("/login/provider")
    answer = await browser.get(await _back_from(begun.headers["location"], "43"))
    assert answer.status_code == 403
    assert "bob has no role here" in answer.text
    assert (await browser.get("/api/v1/sagas")).status_code == 401


async def test_an_answer_that_was_not_asked_for_lets_nobody_in(browser: httpx2.AsyncClient) -> None:
    begun = await browser.get("/login/provider")
    back = await _back_from(begun.headers["location"], "42")
    for path in (f"{back}x", back.replace("state=", "state=x"), "/login/back", "/login/back?error=access_denied"):
        answer = await browser.get(path)
        assert answer.status_code == 403, path
        assert "canary" not in answer.text
    browser.cookies.clear()
    assert (await browser.get(back)).status_code == 403  # another browser than the one that began


async def test_a_provider_that_does_not_answer_is_named_without_its_secrets(service: Service) -> None:
    oidc = OidcSettings(issuer="http://127.0.0.1:1", client_id="x", client_secret=Secret("canary"))
    app = create_app(service, ServerOptions("0.0.0.0", oidc=oidc))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://x") as browser:
        answer = await browser.get("/login/provider")
    assert answer.status_code == 502
    assert "does not answer" in answer.text
    assert "canary" not in answer.text


async def test_who_comes_first_in_the_settings_decides_between_two_roles() -> None:
    from sagagraph.access.oidc import person_of

    settings = OidcSettings(issuer="i", client_id="c", roles=ROLES)
    assert person_of({"sub": "1", "groups": ["auditors", "ops"]}, settings).role is Role.OPERATOR
    assert person_of({"sub": "1", "groups": "auditors", "email": "a@b"}, settings).name == "a@b"
    for claims in ({}, {"groups": ["ops"]}, {"sub": "1"}, {"sub": "1", "groups": []}):
        with pytest.raises(NotAllowedError):
            person_of(claims, settings)
