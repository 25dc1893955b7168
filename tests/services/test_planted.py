"""The contract finds each mistake that such adapters are made with: a service like ours, except that it makes one of them."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from sagagraph.errors import ProviderError
from sagagraph.saga.core.call import Call
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.body import BodySaga
from sagagraph.saga.engine.call import Probe
from sagagraph.services import mail, sql
from sagagraph.services import stripe as payments
from sagagraph.services.catalogue import service_of, services
from sagagraph.services.contract.check import Bench, Report, check
from sagagraph.services.contract.line import Fault
from sagagraph.services.service import Account, Opened, Service
from sagagraph.workflow.kind import ActionKind
from tests.services.servers import Server, StripeServer

Break = Callable[[payments.Stripe, tuple[Action, ...]], tuple[Action, ...]]


async def found(service: Service, account: Account, *, faults: frozenset[str] | None = None, **aids: Any) -> list[str]:
    tried = service if faults is None else replace(service, faults=faults)
    report: Report = await check(tried, Bench(account, **aids), f"trial-{uuid.uuid4().hex[:8]}", most=1)
    return report.broken


# -- payments ------------------------------------------------------------------------------------------------------------


def broken_stripe(breaks: Break) -> Service:
    @asynccontextmanager
    async def opening(account: Account) -> AsyncIterator[Opened]:
        opened = payments.Stripe(account, lambda: datetime.now(UTC))
        yield Opened(actions := breaks(opened, payments.stripe_actions(opened)), payments.trial_of(opened, actions))

    return replace(service_of("stripe"), open=opening)


def without_key_on_the_refund(account: payments.Stripe, actions: tuple[Action, ...]) -> tuple[Action, ...]:
    authorise, capture = actions

    def refund(request: payments.Capture, captured: payments.Captured, call: Call) -> payments.Refunded:
        asked: Any = {
            "payment_intent": captured.payment_intent,
            "amount": captured.amount - request.kept,
            "metadata": {"of": call.operation_key},
        }
        made = account.refunds.create(asked)
        return payments.Refunded(refund=made.id, amount=made.amount)

    return authorise, replace(capture, reverse=refund)


def with_a_probe_by_what_was_asked(account: payments.Stripe, actions: tuple[Action, ...]) -> tuple[Action, ...]:
    authorise, capture = actions

    def find(request: payments.Charge, call: Call) -> Probe:
        for each in account.intents_since(datetime.fromtimestamp(0, UTC)):
            if each.amount == request.amount and each.status == "requires_capture":
                return Probe.landed(payments.Authorised(payment_intent=each.id, amount=each.amount, currency=each.currency))
        return Probe.absent()

    return replace(authorise, probe=find), capture


def with_a_probe_by_search(account: payments.Stripe, actions: tuple[Action, ...]) -> tuple[Action, ...]:
    authorise, capture = actions

    def find(_request: payments.Charge, call: Call) -> Probe:
        for each in account.intents.search({"query": f"metadata['key']:'{call.operation_key}'"}).data:
            if each.metadata.to_dict().get("key") == call.operation_key:
                return Probe.landed(payments.Authorised(payment_intent=each.id, amount=each.amount, currency=each.currency))
        return Probe.absent()

    return replace(authorise, probe=find), capture


def with_a_new_key_after_an_ambiguous_answer(account: payments.Stripe, actions: tuple[Action, ...]) -> tuple[Action, ...]:
    authorise, capture = actions

    def again(request: payments.Charge, call: Call) -> payments.Authorised:
        try:
            return authorise.execute(request, call)
        except ProviderError:
            return authorise.execute(request, replace(call, idempotency_key=f"{call.idempotency_key}-again"))

    return replace(authorise, execute=again), capture


@pytest.mark.parametrize(
    ("breaks", "fault", "says"),
    [
        (without_key_on_the_refund, Fault.LATE, "'refunded': 800"),
        (with_a_probe_by_what_was_asked, Fault.LATE, "stripe_authorise-1"),
        (with_a_probe_by_search, Fault.EXPIRED, "is left to a person"),
        (with_a_new_key_after_an_ambiguous_answer, Fault.AMBIGUOUS, "'authorised': 1000, 'captured': 1000"),
    ],
)
async def test_a_mistake_with_payments_is_found(stripe: StripeServer, breaks: Break, fault: Fault, says: str) -> None:
    account = Account.of(stripe.url, "sk_test_planted")
    broken = await found(broken_stripe(breaks), account, faults=frozenset({fault}), forget=stripe.forget)
    assert any(says in each for each in broken), broken


# -- mail ----------------------------------------------------------------------------------------------------------------


async def test_a_mail_before_the_pivot_is_found(mails: Server, mail_folder: Path) -> None:
    async def nothing(_request: mail.Mail, _sent: mail.Sent, _call: Call) -> None:
        """What would take a mail back?"""

    @asynccontextmanager
    async def opening(account: Account) -> AsyncIterator[Opened]:
        async with mail.open_account(account) as opened:
            sending = replace(opened.actions[0], kind=ActionKind.COMPENSATABLE, compensate=nothing)

            async def book(saga: BodySaga, name: str) -> None:
                await saga.run(sending, mail.Mail(to=("a@example.org",), subject=name, text="too early"))

            yield Opened((sending,), replace(opened.trial, book=book, finish=None))

    account = Account.of(
        f"smtp://127.0.0.1:{mails.port}", ledger=str(mail_folder / "mail"), options={"sender": "saga@example.org"}
    )
    broken = await found(replace(service_of("mail"), open=opening), account, faults=frozenset())
    assert "send_mail is described as retriable, and is compensatable" in broken


async def test_a_promise_that_a_server_does_not_keep_is_found(mails: Server, mail_folder: Path) -> None:
    """This one delivers a second mail with the same Message-ID."""
    options = {"sender": "saga@example.org", "drops_duplicates_days": "7"}
    account = Account.of(f"smtp://127.0.0.1:{mails.port}", ledger=str(mail_folder / "mail"), options=options)
    assert any("the records say {'mails': 2" in each for each in await found(service_of("mail"), account))


# -- rows ----------------------------------------------------------------------------------------------------------------


def with_the_key_in_a_transaction_of_its_own(database: sql.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    def once(key: str, do: sql.Do, request: Any) -> Any:
        with database.begin() as connection:
            result = do(connection, request)
        with database.begin() as connection:
            connection.execute(sa.insert(sql._INBOX).values(key=key, state="landed", result=result.model_dump_json()))
        return result

    monkeypatch.setattr(database, "_once", once)


async def test_a_key_that_is_not_in_the_transaction_of_its_effect_is_found(
    empty_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    @asynccontextmanager
    async def opening(account: Account) -> AsyncIterator[Opened]:
        database = sql.Database(account)
        with_the_key_in_a_transaction_of_its_own(database, monkeypatch)
        yield sql.opened(database, sql.row_actions(database))

    tried = replace(service_of("sql"), open=opening)
    broken = await found(tried, Account.of(empty_database))
    assert any("the records say" in each for each in broken), broken


async def test_an_undo_that_does_nothing_is_found(tmp_path: Path) -> None:
    @asynccontextmanager
    async def opening(account: Account) -> AsyncIterator[Opened]:
        database = sql.Database(account)
        made = (
            database.action("sql_insert", sql._insert, lambda _connection, _request, _result: None),
            database.action("sql_update", sql._update, sql._restore),
        )
        yield sql.opened(database, made)

    broken = await found(replace(service_of("sql"), open=opening), Account.of(f"sqlite:///{tmp_path / 'rows.db'}"))
    assert any("is compensated, and the records say [1], where [] is due" in each for each in broken)


def test_faults_have_names_that_services_use() -> None:
    for service in services():
        assert service.faults <= {each.value for each in Fault}
