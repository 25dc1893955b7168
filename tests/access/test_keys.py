"""Tokens and sessions: whose they are, when they end, and that nobody can read them anywhere."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from starlette.requests import Request

from sagagraph.access.keys import SESSION, TOKEN, Keys
from sagagraph.access.login import Failures, Known, Login, hashed
from sagagraph.access.roles import Role
from sagagraph.errors import InvalidInputError, StoreError
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.saga.stores.port import Document
from sagagraph.ui.server.auth import SESSION_COOKIE, Auth

pytestmark = pytest.mark.quick

SECRET = "s" * 32


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


async def says_who(scope: Any, _receive: Any, send: Any) -> None:
    visitor = Request(scope).user
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": f"{visitor.name}, {visitor.role.value}".encode()})


def client(keys: Keys) -> httpx2.AsyncClient:
    login = Login({"ann": Known(hashed("secret"), Role.PLANNER)})
    gate = Auth(says_who, login=login, failures=Failures(), keys=keys, hosts=None, new_token=lambda: SECRET)
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app=gate), base_url="http://x")


async def test_a_token_lets_in_with_its_role_until_it_ends() -> None:
    clock = Clock()
    keys = Keys(MemorySagaStore(), clock)
    key = await keys.make(SECRET, TOKEN, "deploy", Role.READER, 60.0, "a dashboard")
    async with client(keys) as program:
        headers = {"authorization": f"Bearer {SECRET}"}
        assert (await program.get("/api/v1/overview", headers=headers)).text == "user deploy, reader"
        assert (await program.post("/api/v1/sagas", headers=headers)).status_code == 403
        assert (await program.get("/api/v1/overview", headers={"authorization": f"Bearer {SECRET}x"})).status_code == 401
        assert (await program.get("/api/v1/overview", headers={"cookie": f"{SESSION_COOKIE}={SECRET}"})).status_code == 401
        clock.now += 60
        assert (await program.get("/api/v1/overview", headers=headers)).status_code == 401
        clock.now -= 60
        await keys.end(key.id, "eve")
        await keys.end(key.id, "somebody else")
        assert (await program.get("/api/v1/overview", headers=headers)).status_code == 401
    (known,) = await keys.all()
    assert (known.ended_by, known.about) == ("eve", "a dashboard")


async def test_a_session_is_a_cookie_and_no_token() -> None:
    keys = Keys(MemorySagaStore(), Clock())
    await keys.make(SECRET, SESSION, "ann", Role.OPERATOR, 60.0, subject="https://id.example 42")
    async with client(keys) as browser:
        assert (await browser.get("/operate", headers={"cookie": f"{SESSION_COOKIE}={SECRET}"})).text == "user ann, operator"
        assert (await browser.get("/operate", headers={"authorization": f"Bearer {SECRET}"})).status_code == 401


async def test_while_the_store_is_away_nobody_is_let_in_and_the_answer_says_why() -> None:
    class Away(MemorySagaStore):
        async def documents(self, saga_id: str, *kinds: str) -> tuple[Document, ...]:
            raise StoreError(f"{saga_id} {kinds}")

    async with client(Keys(Away(), Clock())) as program:
        answer = await program.get("/api/v1/sagas", headers={"authorization": f"Bearer {SECRET}"})
        assert (answer.status_code, "does not answer" in answer.json()["error"]["message"]) == (503, True)


async def test_a_key_is_kept_as_a_digest_only() -> None:
    store = MemorySagaStore()
    await Keys(store, Clock()).make(SECRET, TOKEN, "ann", Role.READER, 60.0)
    assert SECRET not in repr(vars(store))


async def test_ending_a_key_that_never_was_is_an_error() -> None:
    with pytest.raises(InvalidInputError, match="no key"):
        await Keys(MemorySagaStore(), Clock()).end("x", "ann")


def test_a_hashed_password_is_as_good_as_the_password_and_cannot_be_used_itself() -> None:
    stored = hashed("secret")
    login = Login({"ann": Known(stored, Role.PLANNER), "bob": Known("plain", Role.READER)})
    assert [login.role_of("ann", each) for each in ("secret", "secret", "Secret", "", stored)] == [
        Role.PLANNER,
        Role.PLANNER,
        *[None] * 3,
    ]
    assert (login.role_of("bob", "plain"), login.role_of("eve", "plain")) == (Role.READER, None)
    assert hashed("secret") != stored
    assert "secret" not in stored
    assert "plain" not in repr(login) + repr(Known("plain", Role.READER))
