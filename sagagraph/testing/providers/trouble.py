"""Trouble: faults on the way, and what the ledger says, for adapters whose bench provides both."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Final

from sagagraph.domains.travel.provider.provider import ProviderAnswerLostError
from sagagraph.errors import ProviderError
from sagagraph.testing.providers.check import Checks
from sagagraph.testing.providers.trial import ContractBrokenError, Trial, expect

TROUBLE: Final = Checks()


@TROUBLE.add(aid="lose_next_answer")
async def a_lost_answer_is_told_as_lost(trial: Trial) -> None:
    offer = await trial.offer()
    await _lose_next_answer(trial)
    await _expect_error("a booking whose answer got lost", trial.book(offer, trial.key()), ProviderAnswerLostError)
    found = await trial.landed(trial.key())
    expect(len(found) == 1, f"a booking landed and its answer got lost: `find` shows {len(found)} under its key")


@TROUBLE.add(aid="lose_next_answer", promise="dedup")
async def a_lost_answer_is_given_again(trial: Trial) -> None:
    offer = await trial.offer()
    await _lose_next_answer(trial)
    await _expect_error("a booking whose answer got lost", trial.book(offer, trial.key()), ProviderAnswerLostError)
    again = await trial.book(offer, trial.key())
    await trial.expect_one(trial.key(), again.id)


@TROUBLE.add(aid="unreachable", of_each_kind=False)
async def who_cannot_be_reached_is_a_provider_error(trial: Trial) -> None:
    away = trial.bench.unreachable
    assert away is not None  # noqa: S101 - tells the type checker what the aid says
    offer = await trial.offer()
    await _expect_error("a read of an unreachable provider", away.offer(offer.offer_id), ProviderError)
    booking = away.book(
        offer.kind,
        offer.offer_id,
        trial.question.quantity,
        expected_price=offer.price,
        key=trial.key(),
        saga_id=trial.name,
        operation_id="T1",
        deadline=None,
    )
    await _expect_error("a booking at an unreachable provider", booking, ProviderError)


@TROUBLE.add(aid="ledger")
async def the_books_name_saga_and_key(trial: Trial) -> None:
    booked = await trial.book(await trial.offer(), trial.key())
    books = await trial.books()
    assert books is not None  # noqa: S101 - tells the type checker what the aid says
    rows = [row for row in books.reservations if row.id == booked.id]
    said = [(row.idempotency_key, row.saga_id, row.operation_id) for row in rows]
    due = [(trial.key(), trial.name, "T1")]
    expect(said == due, f"the books say {said} of {booked.id}, where {due} is due")


async def _lose_next_answer(trial: Trial) -> None:
    lose = trial.bench.lose_next_answer
    assert lose is not None  # noqa: S101 - tells the type checker what the aid says
    await lose()


async def _expect_error(what: str, call: Awaitable[object], due: type[ProviderError]) -> None:
    try:
        answer = await call
    except due:
        return
    except Exception as exc:
        raise ContractBrokenError(f"{what} raised {type(exc).__name__} ({exc}), where `{due.__name__}` is due") from exc
    raise ContractBrokenError(f"{what} was answered with {answer!r}, where `{due.__name__}` is due")
