"""Who comes in, as whom, and from where."""

from __future__ import annotations

import asyncio
import base64
import time
from typing import Any

import httpx2
import pytest
from starlette.requests import Request

from sagagraph.access.keys import Keys
from sagagraph.access.login import Failures, Known, Login
from sagagraph.access.roles import Role
from sagagraph.errors import InvalidInputError, UnknownSagaError
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.ui.server.auth import COOKIE, Auth
from sagagraph.ui.server.options import LOOPBACK_NAMES, ServerOptions
from sagagraph.ui.server.shutdown import Shutdown
from sagagraph.ui.visitors import guest, user, visitor_of

pytestmark = pytest.mark.quick

TOKEN = "t" * 32


async def says_who(scope: Any, _receive: Any, send: Any) -> None:
    visitor = visitor_of(Request(scope))
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": f"{visitor.tag}|{visitor.name}".encode()})


def gate(app: Any, login: Login | None = None, hosts: Any = None) -> Auth:
    keys = Keys(MemorySagaStore(), time.time)
    return Auth(app, login=login or Login({}), failures=Failures(), keys=keys, hosts=hosts, new_token=lambda: TOKEN)


def client(login: Login | None = None, hosts: Any = None) -> httpx2.AsyncClient:
    auth = gate(says_who, login, hosts)
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app=auth), base_url="http://localhost")


def basic(name: str, password: str) -> dict[str, str]:
    return {"authorization": "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()}


async def test_a_browser_is_given_a_token_once_and_is_the_same_visitor_from_then_on() -> None:
    async with client() as browser:
        first = await browser.get("/")
        assert f"{COOKIE}={TOKEN}" in first.headers["set-cookie"]
        assert "HttpOnly" in first.headers["set-cookie"]
        assert "SameSite=Lax" in first.headers["set-cookie"]
        again = await browser.get("/")
        assert "set-cookie" not in again.headers
        assert first.text == again.text == f"{guest(TOKEN).tag}|{guest(TOKEN).name}"
        assert TOKEN not in first.text


async def test_nobody_can_say_who_they_are_by_a_header() -> None:
    async with client() as browser:
        for name in ("user", "remote-user", "x-forwarded-user", "x-sagagraph-visitor", "x-user"):
            answer = await browser.get("/", headers={name: f"{user('ann').tag} user ann"})
            assert answer.text.startswith(guest(TOKEN).tag)


async def test_whoever_has_a_link_needs_no_login_to_look_and_can_do_nothing_else() -> None:
    async def says(scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": repr(scope["user"]).encode()})

    auth = gate(says, Login({"ann": Known("secret", Role.PLANNER)}))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=auth), base_url="http://localhost") as browser:
        answer = await browser.get(f"/shared/{TOKEN}")
        assert (answer.status_code, answer.text) == (200, "None")
        for path in ("/shared", "/shared/", f"/shared/{TOKEN}/x", f"/shared/{TOKEN}%2f..%2fconfig", "/sharedx", "/"):
            assert (await browser.get(path)).status_code == 401, path
        assert (await browser.post(f"/shared/{TOKEN}")).status_code == 401


async def test_a_token_that_could_be_guessed_is_replaced() -> None:
    async with client() as browser:
        answer = await browser.get("/", headers={"cookie": f"{COOKIE}=x"})
        assert f"{COOKIE}={TOKEN}" in answer.headers["set-cookie"]


@pytest.mark.parametrize(
    "headers", [{}, basic("ann", "wrong"), basic("bob", "secret"), basic("", ""), {"authorization": "Basic ?"}]
)
async def test_where_a_password_is_set_nobody_comes_in_without_it(headers: dict[str, str]) -> None:
    async with client(Login({"ann": Known("secret", Role.PLANNER)})) as browser:
        answer = await browser.get("/", headers=headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Basic")
        assert "secret" not in answer.text


async def test_who_logs_in_is_the_same_person_from_any_browser_and_no_guest() -> None:
    for _browser in range(2):
        async with client(Login({"ann": Known("secret", Role.PLANNER)})) as browser:
            answer = await browser.get("/", headers=basic("ann", "secret"))
            assert answer.text == f"{user('ann').tag}|user ann"
            assert "set-cookie" not in answer.headers
    assert user("ann").tag != guest("ann").tag


async def test_a_loopback_server_answers_to_no_other_name() -> None:
    async with client(hosts=LOOPBACK_NAMES) as browser:
        assert (await browser.get("/", headers={"host": "evil.example:7860"})).status_code == 421
        assert (await browser.get("/", headers={"host": "127.0.0.1:7860"})).status_code == 200


async def test_another_site_cannot_act_through_a_visitors_browser() -> None:
    async with client() as browser:
        assert (await browser.post("/harness", headers={"origin": "http://evil.example"})).status_code == 403
        assert (await browser.post("/harness", headers={"origin": "http://localhost"})).status_code == 200
        assert (await browser.get("/", headers={"origin": "http://evil.example"})).status_code == 200


def test_a_host_that_others_can_reach_needs_a_password() -> None:
    with pytest.raises(InvalidInputError, match="--user"):
        ServerOptions("0.0.0.0")
    assert not ServerOptions("0.0.0.0", users={"ann": Known("secret", Role.PLANNER)}).is_loopback
    assert "secret" not in repr(ServerOptions(users={"ann": Known("secret", Role.PLANNER)}))


def test_a_visitor_owns_what_begins_with_their_tag_and_nothing_else() -> None:
    ann, bob = guest("a" * 32), guest("b" * 32)
    saga = ann.new_id("travel", "1")
    assert ann.owns(saga)
    assert ann.owns(f"{saga}~reversal")
    assert not bob.owns(saga)
    with pytest.raises(UnknownSagaError):
        bob.check_sees(saga)
    assert not ann.owns(ann.tag)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content-length": "1000000"}, 200),
        ({"content-length": "1000001"}, 413),
        ({"transfer-encoding": "chunked"}, 411),
    ],
)
async def test_a_request_that_is_too_long_or_does_not_say_how_long_is_not_read(headers: dict[str, str], status: int) -> None:
    async with client() as browser:
        assert (await browser.post("/harness", headers=headers)).status_code == status


@pytest.mark.parametrize(("has_begun", "status", "words"), [(False, 503, "this server is stopping"), (True, 200, "so far")])
async def test_an_answer_that_a_stopping_server_cannot_wait_for_is_ended_in_order(
    has_begun: bool, status: int, words: str
) -> None:
    async def slow(_scope: Any, _receive: Any, send: Any) -> None:
        if has_begun:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"so far", "more_body": True})
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(60)

    app = Shutdown(gate(slow))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://localhost") as browser:
        answer = await browser.get("/")
        assert (answer.status_code, words in answer.text) == (status, True)


async def test_passwords_cannot_be_tried_one_after_another() -> None:
    async with client(Login({"ann": Known("secret", Role.PLANNER)})) as browser:
        tried = [(await browser.get("/", headers=basic("ann", f"guess {number}"))).status_code for number in range(12)]
        assert tried == [401] * 9 + [429] * 3
        assert (await browser.get("/", headers=basic("ann", "secret"))).status_code == 429
        assert (await browser.get("/", headers=basic("bob", "secret"))).status_code == 401


def test_wrong_passwords_are_forgiven_after_a_minute() -> None:
    now = [0.0]
    failures, who = Failures(lambda: now[0]), ("127.0.0.1", "ann")
    for _ in range(10):
        failures.add(who)
    assert failures.wait_s(who) == 60
    now[0] = 61
    assert failures.wait_s(who) == 0
    failures.add(who)
    assert failures.wait_s(who) == 0


async def test_every_answer_says_what_a_browser_may_do_with_it() -> None:
    async with client(Login({"ann": Known("secret", Role.PLANNER)})) as browser:
        for answer in (await browser.get("/"), await browser.get("/", headers=basic("ann", "secret"))):
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
