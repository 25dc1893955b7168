"""The page as it is delivered: to whom, and what is not in it."""

from __future__ import annotations

import base64
from typing import Any

import httpx2
import pytest

from sagagraph.access.login import Known
from sagagraph.access.roles import Role
from sagagraph.ui.server.app import create_app
from sagagraph.ui.server.options import ServerOptions
from sagagraph.ui.service import Service

pytestmark = pytest.mark.asyncio(loop_scope="module")

PASSWORD, KEY = "canary-of-a-password", "canary-of-a-key"
LOGIN = {"authorization": "Basic " + base64.b64encode(f"ann:{PASSWORD}".encode()).decode()}


def browser_on(app: Any) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://localhost", timeout=30)


async def test_pages_need_the_password_and_hold_neither_it_nor_a_key(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    app = create_app(service, ServerOptions("0.0.0.0", users={"ann": Known(PASSWORD, Role.PLANNER)}))
    async with browser_on(app) as browser:
        for path in ("/", "/config", "/docs", "/openapi.json", "/api/v1/sagas", "/gradio_api/info"):
            assert (await browser.get(path)).status_code == 401, path
            answer = await browser.get(path, headers=LOGIN)
            assert answer.status_code in (200, 404), (path, answer.status_code)
            assert PASSWORD not in answer.text
            assert KEY not in answer.text


async def test_a_page_names_nothing_to_be_fetched_from_elsewhere(service: Service) -> None:
    async with browser_on(create_app(service, ServerOptions())) as browser:
        page = (await browser.get("/")).text
    assert "SagaGraph" in page
    for tag in ('<script src="http', '<link rel="stylesheet" href="http', "fonts.googleapis.com/css"):
        assert tag not in page


async def test_nothing_can_be_uploaded(service: Service) -> None:
    async with browser_on(create_app(service, ServerOptions())) as browser:
        answer = await browser.post("/gradio_api/upload", files={"files": ("a.txt", b"more than a byte")})
        assert answer.status_code in (400, 403, 404, 413)


async def test_handlers_of_the_page_are_no_public_interface(service: Service) -> None:
    async with browser_on(create_app(service, ServerOptions())) as browser:
        described = (await browser.get("/gradio_api/info")).json()
    assert described.get("named_endpoints", {}) == {}
