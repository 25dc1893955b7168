"""The app as it is put together: by which name it may be called, which is what `Auth` alone cannot say."""

from __future__ import annotations

import httpx2
import pytest

from sagagraph.access.login import Known
from sagagraph.access.roles import Role
from sagagraph.ui.server.app import create_app
from sagagraph.ui.server.options import ServerOptions
from sagagraph.ui.service import Service

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    ("options", "status"),
    [
        (ServerOptions(), 421),
        (ServerOptions("::1"), 421),
        (ServerOptions("0.0.0.0", users={"ann": Known("secret", Role.PLANNER)}), 401),
    ],
)
async def test_only_an_app_that_others_may_reach_answers_to_other_names(
    service: Service, options: ServerOptions, status: int
) -> None:
    transport = httpx2.ASGITransport(app=create_app(service, options))
    async with httpx2.AsyncClient(transport=transport, base_url="http://evil.example", timeout=30) as browser:
        for path in ("/", "/config", "/api/v1/sagas", "/docs"):
            assert (await browser.get(path)).status_code == status, path
