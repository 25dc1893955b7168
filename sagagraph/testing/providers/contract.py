"""Contract of a provider as a pytest suite: the only SagaGraph module that imports pytest."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Final

import pytest

from sagagraph.testing.providers.bench import Bench
from sagagraph.testing.providers.bookings import BOOKINGS
from sagagraph.testing.providers.cancelling import CANCELLATIONS
from sagagraph.testing.providers.check import Check, carry_out
from sagagraph.testing.providers.payments import PAYMENTS
from sagagraph.testing.providers.promises import PROMISES
from sagagraph.testing.providers.reads import READS
from sagagraph.testing.providers.trial import ContractBrokenError
from sagagraph.testing.providers.trouble import TROUBLE

Connect = Callable[[], AbstractAsyncContextManager[Bench]]
CHECKS: Final[tuple[Check, ...]] = (*READS, *BOOKINGS, *CANCELLATIONS, *PAYMENTS, *PROMISES, *TROUBLE)


class ProviderContract:
    """Suite to subclass as `Test…` with a fixture `connect`: a function that opens a `Bench`, called once for each test.

    It needs no plugin: every test runs its own event loop, and connects in it. Its bookings are real: point it at a test
    environment.
    """

    @pytest.fixture
    def connect(self) -> Connect:
        raise NotImplementedError(f"{type(self).__name__} needs a fixture `connect` that returns a function which opens a Bench")

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
    def test_contract(self, check: Check, connect: Connect) -> None:
        try:
            not_asked = asyncio.run(_carried_out(check, connect))
        except ContractBrokenError as broken:
            pytest.fail(f"{check.name}: {broken}")
        if not_asked is not None:
            pytest.skip(not_asked)


async def _carried_out(check: Check, connect: Connect) -> str | None:
    async with connect() as bench:
        return await carry_out(check, bench, f"contract-{uuid.uuid4().hex}")
