"""An order that uses four services, to be killed at every boundary: a row, an event, a payment as the pivot, and a mail.

`python -m sagagraph.testing tests.services.order:ORDER` sweeps it. The servers are those of the environment, and their own data
are the ledger; what is one order's bears the name of its folder.
"""

from __future__ import annotations

import os
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2

from sagagraph.saga.engine.engine import Engine
from sagagraph.services import caldav, mail, sql, stripe
from sagagraph.services.event import Event, is_cancelled, read
from sagagraph.services.service import Account
from sagagraph.testing.scenario import BodyScenario, Judgement

DAY = datetime(2030, 5, 2, 12, tzinfo=UTC)


def _now() -> datetime:
    return datetime.now(UTC)


class Order(BodyScenario):
    name = "order"

    def __init__(self, *, turns_back: bool = False) -> None:
        self.name = "order that turns back" if turns_back else "order"
        self._turns_back = turns_back

    async def prepare(self, folder: Path) -> None:
        with sqlite3.connect(folder / "shop.db") as shop:
            shop.execute("create table orders (id integer primary key, item text, version integer)")
        sql.Database(_rows(folder)).create_inbox()

    async def body(self, engine: Engine, folder: Path) -> None:
        insert, _update = sql.row_actions(sql.Database(_rows(folder)))
        calendars = caldav.Calendars(Account.of(os.environ["ORDER_CALENDAR"]))
        put_event, _change = caldav.calendar_actions(calendars)
        authorise, capture = stripe.stripe_actions(_stripe())
        send_mail = mail.mail_action(mail.Mailer(Account.of(os.environ["ORDER_MAIL"], options={"sender": "a@example.org"}), _now))
        name = folder.name
        try:
            async with engine.saga(name) as saga:
                await saga.run(insert, sql.Insert(table="orders", values={"item": name, "version": 1}))
                delivery = Event(summary=name, begins=DAY, ends=DAY.replace(hour=13), said_at=DAY)
                await saga.run(put_event, caldav.NewEvent(event=delivery))
                charge = stripe.Charge(amount=1000, currency="usd", payment_method="pm_card_visa", description=name)
                held = await saga.run(authorise, charge)
                if self._turns_back:
                    raise _TurnedBackError
                await saga.run(capture, stripe.Capture(payment_intent=held.payment_intent, amount=1000))
                await saga.run(send_mail, mail.Mail(to=("b@example.org",), subject=name, text="It is on its way."))
        except _TurnedBackError:
            pass
        finally:
            await calendars.close()

    async def judge(self, folder: Path) -> Judgement:
        """A mail whose answer nobody heard is held, and may have been sent; nothing else may be."""
        with sqlite3.connect(folder / "shop.db") as shop:
            rows = shop.execute("select count(*) from orders").fetchone()[0]
        paid = stripe._standing(_stripe(), folder.name)
        found: dict[str, Any] = {
            "rows": rows,
            "events": await _events(folder.name),
            "authorised": paid["authorised"],
            "captured": paid["captured"],
        }
        mails = mail._arrived(os.environ["ORDER_MAILS"], folder.name)["mails"]
        committed = {"rows": 1, "events": 1, "authorised": 0, "captured": 1000}
        if found == committed and mails in (0, 1) and not self._turns_back:
            return Judgement("committed" if mails else "held or given to nobody")
        if found == dict.fromkeys(committed, 0) and mails == 0:
            return Judgement("compensated")
        return Judgement("wrong", (f"the records say {found} and {mails} mails",))


class _TurnedBackError(Exception):
    pass


def _rows(folder: Path) -> Account:
    return Account.of(f"sqlite:///{folder / 'shop.db'}")


def _stripe() -> stripe.Stripe:
    return stripe.Stripe(Account.of(os.environ["ORDER_STRIPE"], "sk_test_order"), _now)


async def _events(name: str) -> int:
    async with httpx2.AsyncClient() as client:
        answer = await client.request("REPORT", os.environ["ORDER_CALENDAR"], content=caldav._QUERY, headers={"Depth": "1"})
    found = [read(text) for text in caldav._objects(answer.raise_for_status().text)]
    return len([each for each in found if each and each["summary"] == name and not is_cancelled(each)])


ORDER = (Order(), Order(turns_back=True))
