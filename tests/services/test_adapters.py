"""What the contract does not show: undoing what others have changed, evidence of webhooks, what is written down of a mail."""

from __future__ import annotations

import hashlib
import hmac
import json
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from sagagraph.errors import InvalidInputError, OperationHeldError
from sagagraph.saga.core.call import Call
from sagagraph.saga.engine.engine import Engine
from sagagraph.services.service import Account
from sagagraph.services.sql import Database, Insert, Update, row_actions
from sagagraph.services.stripe import Charge, Stripe, stripe_actions
from sagagraph.services.stripe_webhooks import evidence_in
from sagagraph.workflow.policy import Policy, Retry
from tests.services.servers import StripeServer

WEBHOOK_SECRET = "whsec_test"


# -- rows ----------------------------------------------------------------------------------------------------------------


async def test_a_row_that_others_have_changed_is_not_overwritten(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "shop.db") as shop:
        shop.execute("create table orders (id integer primary key, due date, price numeric(8,2), version integer)")
    database = Database(Account.of(f"sqlite:///{tmp_path / 'shop.db'}"))
    database.create_inbox()
    insert, update = row_actions(database)
    async with Engine.open("memory:") as engine:
        async with engine.saga("order") as saga:
            row = {"due": "2030-01-02", "price": "12.50", "version": 1}
            order = await saga.run(insert, Insert(table="orders", values=row))
            await saga.run(update, Update(table="orders", key=order.key, values={"price": "9.99"}))
        with sqlite3.connect(tmp_path / "shop.db") as shop:
            shop.execute("update orders set price = 11, version = version + 1")
        view: Any = await engine.cancel("order")
        assert view.status == "stuck"
    with sqlite3.connect(tmp_path / "shop.db") as shop:
        assert shop.execute("select due, price from orders").fetchall() == [("2030-01-02", 11)]


async def test_a_table_or_column_that_is_not_there_is_refused(tmp_path: Path) -> None:
    database = Database(Account.of(f"sqlite:///{tmp_path / 'shop.db'}"))
    database.create_inbox()
    insert, _update = row_actions(database)
    async with Engine.open("memory:") as engine:
        with pytest.raises(Exception, match="there is no table 'orders; drop table x'"):
            async with engine.saga("order") as saga:
                await saga.run(insert, Insert(table="orders; drop table x", values={}))
        assert (await engine.status("order")).status == "compensated"


# -- webhooks ------------------------------------------------------------------------------------------------------------


def signed(event: Any, *, secret: str = WEBHOOK_SECRET, at: float | None = None) -> tuple[bytes, str]:
    payload, moment = json.dumps(event).encode(), int(at or time.time())
    signature = hmac.new(secret.encode(), f"{moment}.".encode() + payload, hashlib.sha256).hexdigest()
    return payload, f"t={moment},v1={signature}"


def capturable(intent: Any) -> dict[str, Any]:
    return {"type": "payment_intent.amount_capturable_updated", "data": {"object": intent}}


async def test_an_event_of_a_webhook_settles_what_is_held(stripe: StripeServer) -> None:
    """The answer was lost and the key has expired; then Stripe tells."""
    account = Stripe(Account.of(stripe.url, "sk_test_webhooks"), lambda: None)  # type: ignore[arg-type, return-value]
    sent: list[Any] = []
    authorise, _capture = stripe_actions(account)

    def landed_unheard(request: Charge, call: Call) -> Any:
        marks = {"key": call.idempotency_key, "saga": call.saga_id, "operation": call.operation_id}
        sent.append({"id": "pi_1", "currency": "usd", "amount": request.amount, "metadata": marks})
        raise ConnectionError("the answer was lost")

    from dataclasses import replace
    from datetime import timedelta

    from sagagraph import Guarantees

    once = Policy(retry=Retry(max_attempts=1), unknown_probes=1)
    deaf = replace(authorise, execute=landed_unheard, probe=None, policy=once, guarantees=Guarantees(dedup=timedelta(0)))
    charge = Charge(amount=700, currency="usd", payment_method="pm_card_visa")

    async with Engine.open("memory:") as engine:
        with pytest.raises(OperationHeldError):
            async with engine.saga("order") as saga:
                await saga.run(deaf, charge)
        found = evidence_in(*signed(capturable(sent[0])), WEBHOOK_SECRET)
        assert found is not None
        saga_id, note = found
        assert saga_id == "order"
        for _twice in range(2):
            await engine.store.note(saga_id, note)
        async with engine.saga("order") as saga:
            assert (await saga.run(deaf, charge)).payment_intent == "pi_1"
        assert (await engine.status("order")).status == "committed"
    assert len(sent) == 1


@pytest.mark.parametrize(
    "signature",
    [
        signed(capturable({"id": "pi_1"}), secret="whsec_other"),
        signed(capturable({"id": "pi_1"}), at=time.time() - 3600),
        (b'{"type": "changed"}', signed(capturable({"id": "pi_1"}))[1]),
        (b"{}", ""),
    ],
    ids=["another secret", "an hour old", "another body", "none"],
)
def test_what_stripe_has_not_signed_is_no_evidence(signature: tuple[bytes, str]) -> None:
    with pytest.raises(InvalidInputError, match="no event that Stripe has signed"):
        evidence_in(*signature, WEBHOOK_SECRET)


def test_an_event_about_nothing_of_ours_is_no_evidence() -> None:
    assert evidence_in(*signed({"type": "customer.created", "data": {"object": {}}}), WEBHOOK_SECRET) is None
    assert evidence_in(*signed(capturable({"id": "pi_1"})), WEBHOOK_SECRET) is None
