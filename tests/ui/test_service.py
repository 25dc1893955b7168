"""Work that outlives its callers: given up, failed, and asked for twice."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from sagagraph.errors import ConflictError, NotAllowedError, ProviderError, ProviderMismatchError
from sagagraph.planning.models.llm import ChatModel
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Saga
from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings
from sagagraph.settings import Settings
from sagagraph.ui.jobs import Bell
from sagagraph.ui.service import Service, open_service
from sagagraph.ui.visitors import Visitor, guest
from tests.support.today import TODAY
from tests.ui.books import books_of

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.quick]

VISITOR: Visitor = guest("a token that nobody guesses")


async def request_of(service: Service) -> Any:
    return (await service.pages["travel"].read("From Boston to Lisbon for 5 nights in May 2025", None)).request


async def quiet(service: Service, saga_id: str) -> Saga:
    while service.is_busy(saga_id):
        await service.moved(saga_id)
    return await service.saga(VISITOR, saga_id)


async def begun(service: Service) -> str:
    return await service.begin(VISITOR, "travel", await request_of(service))


async def planned(service: Service) -> Saga:
    return await quiet(service, await begun(service))


async def test_planning_that_is_cancelled_is_given_up_at_once(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(_request: Any) -> Any:
        await asyncio.Event().wait()

    monkeypatch.setattr(service.pages["travel"].domain, "propose", never)
    saga_id = await begun(service)
    assert service.is_busy(saga_id)
    await service.cancel(VISITOR, saga_id)
    saga = await quiet(service, saga_id)
    assert status_of(saga).is_final
    assert len(saga.operations) == 0


async def test_two_clicks_and_a_third_after_it_is_done_approve_once(service: Service) -> None:
    saga = await planned(service)
    plan_hash = str(saga.plan.hash)
    for _click in range(2):
        await service.decide(VISITOR, saga.id, plan_hash, approved=True)
    booked = await quiet(service, saga.id)
    await service.decide(VISITOR, saga.id, plan_hash, approved=True)
    assert not service.is_busy(saga.id)
    assert status_of(booked).value == "committed"
    assert {each.total_attempts for each in booked.in_order()} == {1}
    with pytest.raises(NotAllowedError):
        await service.decide(VISITOR, saga.id, plan_hash, approved=False)


async def test_another_hash_than_the_shown_one_decides_nothing(service: Service) -> None:
    saga = await planned(service)
    with pytest.raises(ConflictError, match=str(saga.plan.hash)):
        await service.decide(VISITOR, saga.id, "0123456789abcdef", approved=True)
    assert status_of(await quiet(service, saga.id)).value == "awaiting_approval"


async def test_a_provider_that_fails_is_told_and_the_saga_can_go_on(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as failing:

        async def unreachable(_request: Any) -> Any:
            raise ProviderError("the reservation service cannot be reached")

        failing.setattr(service.pages["travel"].domain, "propose", unreachable)
        saga_id = await begun(service)
        await quiet(service, saga_id)
        assert service.problem(saga_id) == "the reservation service cannot be reached"
    await service.resume(VISITOR, saga_id)
    assert status_of(await quiet(service, saga_id)).value == "awaiting_approval"
    assert service.problem(saga_id) == ""


async def test_a_fault_of_the_program_is_logged_and_its_words_are_not_shown(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(_request: Any) -> Any:
        raise RuntimeError("inner workings")

    monkeypatch.setattr(service.pages["travel"].domain, "propose", broken)
    with caplog.at_level(logging.ERROR):
        saga_id = await begun(service)
        await quiet(service, saga_id)
    assert "inner workings" in caplog.text
    assert "inner workings" not in service.problem(saga_id)
    assert "log" in service.problem(saga_id)


async def test_open_sagas_are_picked_up_and_one_that_waits_for_a_person_goes_on_waiting(service: Service) -> None:
    saga = await planned(service)
    assert saga.id in await service.pick_up()
    assert status_of(await quiet(service, saga.id)).value == "awaiting_approval"


async def test_the_client_of_a_model_is_opened_before_anybody_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(ChatModel, "open", lambda model: opened.append(model.name))
    async with open_service(Settings(store=f"sqlite:///{tmp_path / 'saga.db'}", model="openai:m")):
        assert opened == ["openai:m"]


async def test_rule_2a_a_saga_of_another_provider_is_left_alone_and_it_is_said_why(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'saga.db'}"
    with (
        EmbeddedSandbox(SandboxSettings(tmp_path / "a.db", today=TODAY)) as a,
        EmbeddedSandbox(SandboxSettings(tmp_path / "b.db", today=TODAY)) as b,
    ):
        async with open_service(Settings(store=store, provider_url=a.url)) as there:
            saga = await planned(there)
        async with open_service(Settings(store=store, provider_url=b.url)) as elsewhere:
            assert saga.id in await elsewhere.pick_up()
            await quiet(elsewhere, saga.id)
            assert a.url in elsewhere.problem(saga.id)
            assert b.url in elsewhere.problem(saga.id)
            with pytest.raises(ProviderMismatchError):
                await elsewhere.decide(VISITOR, saga.id, str(saga.plan.hash), approved=True)
        async with open_service(Settings(store=store, provider_url=a.url)) as again:
            await again.decide(VISITOR, saga.id, str(saga.plan.hash), approved=True)
            assert status_of(await quiet(again, saga.id)).value == "committed"
        assert (books_of(a.url, saga.id).captured, books_of(b.url, saga.id).confirmed) == (1, 0)


async def test_a_replay_finds_no_difference(service: Service) -> None:
    saga = await planned(service)
    replayed = await service.replay(VISITOR, saga.id)
    assert replayed.differences == ()
    assert replayed.validators > 1


async def test_many_followers_share_each_read_of_the_journal(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = []
    read = service._engine.store.read

    async def counted(saga_id: str) -> Any:
        reads.append(saga_id)
        return await read(saga_id)

    saga_id = await begun(service)
    await quiet(service, saga_id)
    journal = await service.journal(VISITOR, saga_id)
    monkeypatch.setattr(service._engine.store, "read", counted)

    async def followed(after: int) -> list[int]:
        return [entry.version async for entry in service.events(VISITOR, saga_id, after)]

    heard = await asyncio.gather(*(followed(number % len(journal)) for number in range(100)))
    assert heard == [list(range(number % len(journal) + 1, len(journal) + 1)) for number in range(100)]
    assert len(reads) == 1


async def test_what_happens_while_somebody_looks_is_not_waited_for() -> None:
    bell = Bell()
    since = bell.rings
    bell.ring("a")
    await asyncio.wait_for(bell.wait("a", since, timeout_s=600), 60)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(bell.wait("b", since, timeout_s=600), 0.05)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(bell.wait("a", bell.rings, timeout_s=600), 0.05)


async def test_of_many_sagas_the_latest_are_remembered() -> None:
    bell = Bell()
    since = bell.rings
    for number in range(20_000):
        bell.ring(str(number))
    await asyncio.wait_for(bell.wait("19999", since, timeout_s=600), 60)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(bell.wait("1", since, timeout_s=600), 0.05)
