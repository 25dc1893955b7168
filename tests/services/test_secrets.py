"""A secret of each service is in no journal, log, error, trace or listing, also when the service itself says it back."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import traceback
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from typer.testing import CliRunner

from sagagraph.cli.app import app
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.services.catalogue import service_of, services
from sagagraph.services.service import Account

CANARY = "canary-91f3-Zq"
FORMS = [CANARY, *(base64.b64encode(f"{before}{CANARY}".encode()).decode()[-12:] for before in ("", "alex:", "\0alex\0"))]

ROOMS = Path(__file__).parents[2] / "docs" / "services" / "examples" / "rooms.yaml"


@asynccontextmanager
async def echo(scheme: str) -> AsyncIterator[str]:
    """A service that refuses everything, and repeats all that it was told, the secret too."""

    async def http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        said = (await reader.readuntil(b"\r\n\r\n")).replace(b"\r\n", b" ")
        body = json.dumps({"error": {"message": said.decode(), "type": "invalid_request_error"}}).encode()
        writer.write(b"HTTP/1.1 401 No\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(body), body))
        writer.close()

    async def smtp(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 hello\r\n")
        while said := (await reader.readline()).strip():
            is_hello = said.upper().startswith(b"EHLO")
            writer.write(b"250-me\r\n250 AUTH PLAIN LOGIN\r\n" if is_hello else b"535 no: " + said + b"\r\n")
        writer.close()

    server = await asyncio.start_server(smtp if scheme == "smtp" else http, "127.0.0.1", 0)
    try:
        yield f"{scheme}://alex:{CANARY}@127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    finally:
        server.close()


@pytest.mark.parametrize("name", [each.name for each in services()])
async def test_a_secret_is_told_to_its_service_and_to_nobody_else(name: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    spans = InMemorySpanExporter()
    traces = TracerProvider()
    traces.add_span_processor(SimpleSpanProcessor(spans))
    told: list[str] = []
    async with echo("smtp" if name in ("mail", "person") else "http") as url:
        database = f"{url.replace('http://', 'postgresql://')}shop?connect_timeout=2"
        said = {"sql": database, "s3": f"{url}shop"}.get(name, url)
        account = Account.of(said, options={"sender": "a@example.org", "description": str(ROOMS)})
        assert account.secret == CANARY
        told += [repr(account), account.identity, account.url]
        async with service_of(name).open(account) as opened:
            store = MemorySagaStore()
            engine = Engine(store, tracer=traces.get_tracer("test"))
            trial, saga_id = opened.trial, uuid.uuid4().hex
            with suppress(TimeoutError):
                async with asyncio.timeout(5):
                    try:
                        async with engine.saga(saga_id) as saga:
                            for body in (trial.book, trial.finish):
                                if body is not None:
                                    await body(saga, saga_id)
                    except Exception as exc:
                        told += traceback.format_exception(exc)
            told += [json.dumps(await store.dump(saga_id), default=str), str(await engine.status(saga_id))]
            await engine.close()
    told += [f"{record.getMessage()} {record.exc_text}" for record in caplog.records]
    told += [each.to_json() for each in spans.get_finished_spans()]
    assert len(spans.get_finished_spans()) > 0
    assert [each for each in told for form in FORMS if form in each] == []


def test_a_secret_is_not_in_what_the_command_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAGAGRAPH_SECRET", CANARY)

    def run(*words: str) -> Any:
        return CliRunner().invoke(app, ["services", *words])

    said = [
        run("check", "sql", "--url", f"postgresql://alex:{CANARY}@127.0.0.1:1/shop"),
        run("check", "stripe", "--url", "ftp://x/"),
        run(),
    ]
    assert [each.output for each in said if CANARY in f"{each.output} {each.exception!r}"] == []


def test_the_search_for_a_canary_finds_one() -> None:
    said = f"Authorization: Basic {base64.b64encode(f'alex:{CANARY}'.encode()).decode()}"
    assert any(form in said for form in FORMS)
