"""The contract of a provider, kept by the reservation service: with all of its guarantees, and without each of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path
from typing import Any

import httpx2
import pytest

from sagagraph.domains.travel.provider import HttpReservationProvider
from sagagraph.sandbox.server import EmbeddedSandbox
from sagagraph.sandbox.settings import SandboxSettings
from sagagraph.testing.providers import Bench, Journey, Stay
from sagagraph.testing.providers.contract import CHECKS, Connect, ProviderContract

FLIGHT = Journey("San Francisco", "Berlin", date(2025, 6, 4), travellers=2)
TRAIN = Journey("Berlin", "Cologne", date(2025, 6, 8))
HOTEL = Stay("Cologne", date(2025, 6, 8), date(2025, 6, 10), rooms=2)
NOBODY = "http://127.0.0.1:9"


class AnswersLost(httpx2.AsyncBaseTransport):
    """Carries calls to the service, and on demand loses the answer to the next one that has an effect."""

    def __init__(self) -> None:
        self._wire = httpx2.AsyncHTTPTransport()
        self._loses_next = False

    async def lose_next(self) -> None:
        self._loses_next = True

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._wire.handle_async_request(request)
        if request.method == "POST" and self._loses_next:
            self._loses_next = False
            await response.aread()
            raise httpx2.ReadError("cut")
        return response

    async def aclose(self) -> None:
        await self._wire.aclose()


def connect_to(url: str) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncIterator[Bench]:
        wire = AnswersLost()
        async with HttpReservationProvider(url, transport=wire) as provider, HttpReservationProvider(NOBODY) as nobody:
            yield Bench(
                provider,
                flight=FLIGHT,
                train=TRAIN,
                hotel=HOTEL,
                ledger=provider.ledger,
                lose_next_answer=wire.lose_next,
                unreachable=nobody,
            )

    return connect


class TestTheSandbox(ProviderContract):
    @pytest.fixture(scope="class")
    def url(self, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
        with EmbeddedSandbox(SandboxSettings(tmp_path_factory.mktemp("sandbox") / "sandbox.db")) as sandbox:
            yield sandbox.url

    @pytest.fixture
    def connect(self, url: str) -> Connect:
        return connect_to(url)
