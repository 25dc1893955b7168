"""A server that is told to stop while it has much to do; and planning that is given up, in a real one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx2
import psutil
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from sagagraph.domains.reunion.planning.solver import PLAN_S
from sagagraph.domains.reunion.shipped import shipped
from sagagraph.ui.server.shutdown import Shutdown
from tests.support.processes import is_alive
from tests.ui.conftest import Serve
from tests.ui.nursery import PATIENCE_S
from tests.ui.server import Server

API = "/api/v1"
_SETTLING_S = 1.0
_LOOK_S = 2.0
_WAKING_UP = 200


@pytest.fixture
def thinking(store: Path) -> Iterator[tuple[Server, httpx2.Client, str]]:
    """A server whose solver has begun with a day that it will not have proven best in its time; and who asked for it."""
    server = Server(store)
    with httpx2.Client(base_url=server.url + API, timeout=PATIENCE_S) as browser:
        browser.get("/sagas")
        body = {"domain": "reunion", "request": shipped("campus_tour").model_dump(mode="json")}
        saga_id = browser.post("/sagas", json=body).json()["saga_id"]
        while not thinkers_of(server):
            time.sleep(0.02)
        yield server, browser, saga_id
    server.kill()


def thinkers_of(server: Server) -> list[psutil.Process]:
    """They stand back; what serves does not."""
    here = psutil.Process(server.pid)
    return [each for each in here.children(recursive=True) if is_alive(each) and each.nice() > here.nice()]


def test_a_server_does_not_wait_for_its_solvers_nor_for_who_listens_and_goes_on_at_the_next_start(
    thinking: tuple[Server, httpx2.Client, str], store: Path
) -> None:
    server, browser, saga_id = thinking
    solver = thinkers_of(server)[0]
    told_at = time.monotonic()
    with browser.stream("GET", f"/sagas/{saga_id}/events"):
        assert server.stop() == 0
    assert time.monotonic() - told_at < PLAN_S / 2, "it has waited for the solver"
    assert not is_alive(solver)
    assert "Traceback" not in server.log
    again = Server(store)
    try:
        shown = httpx2.get(f"{again.url}{API}/sagas/{saga_id}", cookies=browser.cookies, timeout=PATIENCE_S).json()
        assert (shown["status"], shown["is_busy"], shown["problem"]) == ("planning", True, "")
    finally:
        again.kill()


def test_a_server_that_nobody_uses_stands_still(serve: Serve) -> None:
    server = serve()
    httpx2.get(server.url, timeout=PATIENCE_S).raise_for_status()  # its pages are made
    process = psutil.Process(server.pid)
    time.sleep(_SETTLING_S)
    before = process.num_ctx_switches().voluntary
    time.sleep(_LOOK_S)
    assert (process.num_ctx_switches().voluntary - before) / _LOOK_S < _WAKING_UP, "times a second; Gradio's queue alone: 900"


def test_a_solver_whose_saga_is_cancelled_gives_its_core_back(thinking: tuple[Server, httpx2.Client, str]) -> None:
    server, browser, saga_id = thinking
    told_at = time.monotonic()
    browser.post(f"/sagas/{saga_id}/cancel")
    while thinkers_of(server):
        time.sleep(0.02)
    assert time.monotonic() - told_at < PLAN_S / 2, "it has thought to the end"
    while (status := browser.get(f"/sagas/{saga_id}").json()["status"]) == "planning":
        assert time.monotonic() - told_at < PLAN_S
        time.sleep(0.02)
    assert status == "compensated"


def test_a_solver_that_dies_is_told_and_the_saga_can_be_resumed(thinking: tuple[Server, httpx2.Client, str]) -> None:
    server, browser, saga_id = thinking
    thinkers_of(server)[0].kill()
    while (shown := browser.get(f"/sagas/{saga_id}").json())["is_busy"]:
        time.sleep(0.02)
    assert "SIGKILL" in shown["problem"]
    assert shown["status"] == "planning"
    browser.post(f"/sagas/{saga_id}/resume")
    while not thinkers_of(server):
        time.sleep(0.02)
    assert browser.get(f"/sagas/{saga_id}").json()["problem"] == ""


def test_nothing_of_a_killed_server_goes_on_thinking(thinking: tuple[Server, httpx2.Client, str]) -> None:
    server, _browser, _saga_id = thinking
    left = psutil.Process(server.pid).children(recursive=True)
    server.kill()
    killed_at = time.monotonic()
    while any(map(is_alive, left)):
        assert time.monotonic() - killed_at < PLAN_S / 2
        time.sleep(0.02)


async def test_a_request_that_is_sent_while_the_server_stops_is_read_to_its_end() -> None:
    """It was answered with 400, as if the visitor had sent half of it."""

    async def echo(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse(await Request(scope, receive).body())(scope, receive, send)

    async def slowly() -> AsyncIterator[bytes]:
        for part in (b"who", b"le"):
            await asyncio.sleep(0.05)
            yield part

    stopping = Shutdown(echo)
    stopping.begin()
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=stopping), base_url="http://localhost") as visitor:
        assert (await visitor.post("/", content=slowly())).text == "whole"
