"""Doors: what people and programs reach from outside — the command line, the app's REST interface and chat, the sandbox's."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import sys
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from urllib.parse import quote

import httpx2
from hypothesis import strategies as st

from sagagraph import cli
from sagagraph.sandbox.api.app import create_app as sandbox_app
from sagagraph.sandbox.settings import SandboxSettings
from sagagraph.settings import Settings
from sagagraph.ui.server.app import create_app
from sagagraph.ui.server.options import ServerOptions
from sagagraph.ui.server.routes.api import PREFIX
from sagagraph.ui.service import open_service
from tests.fuzz import inputs
from tests.fuzz.samples import TRIP_TEXTS
from tests.support.today import TODAY
from tests.support.trips import REQUEST
from tests.ui.chat import Chat

# -- the command line ------------------------------------------------------------------------------------------------

_LINES = [
    ["status"], ["status", "s", "--json"], ["log", "s", "--version", "1"], ["replay", "s"], ["graph", "s", "--format", "json"],
    ["cancel", "s", "--dry-run"], ["resume", "s"], ["resolve", "s", "T1", "landed", "--output", "{}"], ["approve", "s",
    "--plan", "h"],
    ["reject", "s"], ["change", "s", "4 stars", "--lost", "T1"], ["redact", "s", "--field", "name"], ["db", "upgrade"],
    ["db", "retire", "--older-than", "3", "--drop", "--dry-run"], ["db", "project", "s"], ["db", "restored"],
    ["validate", "reunion", "FILE", "FILE", "--event", "FILE", "--executed-until", "12:00", "--against", "FILE"],
    ["validate", "jobshop", "FILE", "FILE"], ["validate", "recipes", "FILE", "FILE"], ["reunion", "where", "FILE", "FILE",
    "--at", "12:00"],
    ["harness", "check", "FILE", "--artifact", "FILE"], ["reunion", "read", "Ann is at home"], ["recipes", "pairs", "FILE"],
    ["reunion", "problems", "thanksgiving"], ["begin", "nothing", "a wish"], ["trip", "--request", "FILE", "--plan-only"],
]  # fmt: skip
_WORDS = st.sampled_from(
    ["--json", "--store", "memory:", "sqlite:///", "sqlite:////dev/null/x", "postgresql://u:secret@127.0.0.1:1/x", "ftp://x",
    "--today",
     "2025-02-30", "--provider", "http://u:secret@127.0.0.1:1", "--event", "FILE", "NONE", "-1", "nan", "1e999", "--", "-x",
     "", "s\ud800",
     "--verbose", "--log-level", "debug", "--help", "--version", "\0", "a\nb", "../..", "9" * 400]
)  # fmt: skip


@st.composite
def _lines(draw: st.DrawFn) -> list[str]:
    words = list(draw(st.sampled_from(_LINES)))
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(words)))
        match draw(st.integers(0, 3)):
            case 0 if words:
                del words[place - 1]
            case 1 if words and place:
                words[place - 1] = draw(_WORDS)
            case _:
                words.insert(place, draw(_WORDS | st.text(max_size=5)))
    return words


command_lines = st.tuples(_lines(), inputs.written([REQUEST, {}]))
_NEVER = frozenset({"sandbox", "ui"})
"""Commands that do not end by themselves."""


def command(said: tuple[list[str], bytes], folder: Path) -> None:
    words, content = said
    if _NEVER.intersection(words) or not words:
        return
    file = folder / "file"
    file.write_bytes(content)
    store = [] if "--store" in words else ["--store", f"sqlite:///{folder / 'saga.db'}"]
    argv = ["sagagraph", *(str(file) if each == "FILE" else each for each in words)]
    out, err = io.StringIO(), io.StringIO()
    code: object = None
    before = sys.argv, os.environ.get("SAGAGRAPH_STORE")
    sys.argv, os.environ["SAGAGRAPH_STORE"] = argv, store[-1] if store else ""
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), contextlib.chdir(folder):
            cli.main()
    except SystemExit as exc:
        code = exc.code
    finally:
        sys.argv = before[0]
        os.environ.pop("SAGAGRAPH_STORE")
    assert isinstance(code, int), code
    assert 0 <= code < 256
    assert "Traceback" not in err.getvalue()
    assert "secret" not in out.getvalue() + err.getvalue(), "a password is shown"
    if code and code != 143:
        assert "--help" in words or (out.getvalue() + err.getvalue()).strip(), f"it ends with {code}, and says nothing"


# -- over HTTP -------------------------------------------------------------------------------------------------------

_SAGA = {"text": TRIP_TEXTS[0], "domain": "travel"}
_BODIES: list[tuple[str, str, Any]] = [
    ("POST", "/sagas", {**_SAGA, "request": None}), ("POST", "/sagas", {"domain": "travel", "request": REQUEST}),
    ("POST", "/sagas", {"domain": "reunion", "text": "Ann is at home"}), ("GET", "/sagas", {}), ("GET", "/sagas/SAGA",
    {"version": 3}),
    ("GET", "/sagas/SAGA/plan", {}), ("GET", "/sagas/SAGA/log", {}), ("GET", "/sagas/SAGA/events", {"after": 99}),
    ("GET", "/sagas/SAGA/files/journal.json", {}), ("GET", "/sagas/SAGA/disruptions", {}), ("GET", "/sagas/SAGA/cancel", {}),
    ("POST", "/sagas/SAGA/approve", {"plan_hash": "0123"}), ("POST", "/sagas/SAGA/reject", {"plan_hash": "0123"}),
    ("POST", "/sagas/SAGA/choose", {"plan_hash": "0123"}), ("POST", "/sagas/SAGA/change", {"text": "4 stars", "lost": ["T1"]}),
    ("POST", "/sagas/SAGA/change", {"request": REQUEST}), ("POST", "/sagas/SAGA/disruptions", {"key": "x",
    "text": "the flight is cancelled"}),
    ("POST", "/sagas/SAGA/faults", {"kind": "flight", "call": "book", "fault": "refuse", "nth": 1, "seconds": 2.5}),
    ("POST", "/sagas/SAGA/resolve", {"operation": "T1", "resolution": "landed", "output": {}}),
]  # fmt: skip
_SANDBOX: list[tuple[str, str, Any]] = [
    ("POST", "/reservations", {"offer_id": "x", "saga_id": "s", "operation": "T1", "quantity": 1,
    "deadline": "2025-06-01T00:00:00Z"}),
    ("POST", "/reservations/r/cancel", {"saga_id": "s"}), ("POST", "/reservations/r/withdraw", {}),
    ("POST", "/payments", {"amount": "10.00", "currency": "USD", "reservations": [], "saga_id": "s"}),
    ("POST", "/payments/p/refund", {"amount": "10.00"}), ("POST", "/void", {"kind": "reservation", "key": "k"}),
    ("POST", "/clock/advance", {"seconds": 5}), ("POST", "/faults", {"kind": "flight", "call": "book", "fault": "refuse",
    "nth": 1}),
    ("GET", "/cities", {"q": "Berlin"}), ("GET", "/find", {"kind": "reservation", "key": "k"}), ("GET", "/ledger", {}),
    ("GET", "/offers/flights", {"origin": "Boston", "destination": "Paris", "date": "2025-06-04", "seats": 1}),
    ("GET", "/offers/trains", {"origin": "Berlin", "destination": "Paris", "date": "2025-06-04"}),
    ("GET", "/offers/hotels", {"city": "Berlin", "check_in": "2025-06-04", "check_out": "2025-06-06", "rooms": 1}), ("GET",
    "/offers/x", {}),
]  # fmt: skip


def _calls(known: list[tuple[str, str, Any]]) -> st.SearchStrategy[Any]:
    def one(each: tuple[str, str, Any]) -> st.SearchStrategy[Any]:
        paths = st.one_of(st.just(each[1]), st.just(each[1]), inputs.changed_texts([each[1]]))
        bodies = inputs.documents([each[2]]) if each[2] else st.just({}) | inputs.json_values
        return st.tuples(st.just(each[0]), paths, bodies, st.sampled_from([None, "k", "", "x" * 5000, "ä"]), st.booleans())

    return st.sampled_from(known).flatmap(one)


ui_calls, sandbox_calls = _calls(_BODIES), _calls(_SANDBOX)


class _Doors:
    """The app and the sandbox in this process, for as long as it lives."""

    def __init__(self) -> None:
        self.runner = asyncio.Runner()
        self.stack = AsyncExitStack()
        self.runner.run(self._open())

    async def _open(self) -> None:
        folder = Path(mkdtemp(prefix="fuzz-"))
        settings = Settings(store=f"sqlite:///{folder / 'saga.db'}", today=TODAY)
        self.service = await self.stack.enter_async_context(open_service(settings))
        app = create_app(self.service, ServerOptions())
        self.ui = await self._client(app, PREFIX)
        self.sandbox = await self._client(sandbox_app(SandboxSettings(folder / "books.db", today=TODAY)), "")
        self.saga = await _begun(self.ui)
        another = await self._client(app, PREFIX)
        self.theirs = await _begun(another)
        await another.get(f"/sagas/{self.theirs}/events")  # until it is planned
        self.told_of_theirs = await self.journal_of_theirs()

    async def _client(self, app: Any, prefix: str) -> httpx2.AsyncClient:
        transport = httpx2.ASGITransport(app=app)
        return await self.stack.enter_async_context(
            httpx2.AsyncClient(transport=transport, base_url=f"http://localhost{prefix}", timeout=60)
        )

    async def journal_of_theirs(self) -> int:
        return len(await self.service._engine.journal(self.theirs))

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(coroutine)


async def _begun(client: httpx2.AsyncClient) -> str:
    begun = await client.post("/sagas", json=_SAGA)
    assert begun.status_code == 202, begun.text
    return str(begun.json()["saga_id"])


@cache
def _doors() -> _Doors:
    return _Doors()


async def _called(client: httpx2.AsyncClient, said: tuple[str, str, Any, str | None, bool], saga: str) -> None:
    method, path, body, key, _is_meant_for_theirs = said
    path = "/" + quote(path.replace("SAGA", saga).lstrip("/").encode(errors="replace"), safe="/")
    headers = {} if key is None else {"Idempotency-Key": key.encode()}
    if method == "GET":
        query = {str(name): str(value) for name, value in body.items()} if isinstance(body, dict) else {"x": str(body)}
        query = {name.encode(errors="replace").decode(): value.encode(errors="replace").decode() for name, value in query.items()}
        response = await client.get(path, params=query, headers=headers)
    else:
        content = json.dumps(body).encode()
        response = await client.request(method, path, content=content, headers={**headers, "content-type": "application/json"})
    assert response.status_code < 500 or response.status_code in (502, 503), f"{response.status_code}: {response.text[:300]}"
    if response.status_code >= 400 and response.headers.get("content-type", "").startswith("application/json"):
        assert "error" in response.json() or "detail" in response.json()


def ui_call(said: Any, _folder: Path) -> None:
    doors = _doors()
    doors.run(_called(doors.ui, said, doors.theirs if said[-1] else doors.saga))
    assert doors.run(doors.journal_of_theirs()) == doors.told_of_theirs, "what belongs to another visitor has changed"


def sandbox_call(said: Any, _folder: Path) -> None:
    doors = _doors()
    doors.run(_called(doors.sandbox, said, "s"))


CHAT = [
    *TRIP_TEXTS, "how much is it?", "what if it rains?", "no", "undo that", "is it booked?",
    "the hotel in Paris has been cancelled",
    "4 stars in Paris only", "why this one?", "cancel it, or not", "Brussels instead of Amsterdam", "I do not want to book it",
]  # fmt: skip


@cache
def _chat() -> Chat:
    return Chat(_doors().service)


def chat(said: str, _folder: Path) -> None:
    doors = _doors()
    turn: Callable[[str], Coroutine[Any, Any, Any]] = _chat().say
    doors.run(turn(said))
