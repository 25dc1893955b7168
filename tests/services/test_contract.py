"""Each service keeps the contract on a server of its true protocol: every action in sagas that commit, turn back and are
cancelled, with each fault at each exchange, and the server's records as the judge.
"""

from __future__ import annotations

import asyncio
import uuid
from pathlib import Path

import pytest

from sagagraph.services.catalogue import service_of
from sagagraph.services.contract.check import Bench, Report, check
from sagagraph.services.service import Account
from tests.services.servers import Server, StripeServer, make_bucket
from tests.support.postgres import PostgresServer

SECRET = "canary-7Q2"
SAMPLES = [2, pytest.param(0, marks=pytest.mark.proof)]
"""Exchanges for each fault; 0: all of them."""


async def kept(name: str, bench: Bench, *, sample: int = 0) -> Report:
    report = await check(service_of(name), bench, f"trial-{uuid.uuid4().hex[:8]}", sample=sample)
    assert report.broken == []
    return report


async def test_rows_of_sqlite(tmp_path: Path) -> None:
    report = await kept("sql", Bench(Account.of(f"sqlite:///{tmp_path / 'rows.db'}")))
    assert report.sagas > 30
    assert report.held == []


@pytest.mark.parametrize("sample", SAMPLES)
async def test_rows_of_postgresql(postgres: PostgresServer, empty_database: str, sample: int) -> None:
    async def restart() -> None:
        await asyncio.to_thread(postgres.stop)
        await asyncio.to_thread(postgres.start)

    assert (await kept("sql", Bench(Account.of(empty_database), restart), sample=sample)).held == []


async def test_mail(mails: Server, mail_folder: Path) -> None:
    """What was handed over and not answered is held, and nothing else is."""
    options = {"sender": "saga@example.org"}
    account = Account.of(f"smtp://127.0.0.1:{mails.port}", ledger=str(mail_folder / "mail"), options=options)
    report = await kept("mail", Bench(account, mails.restart))
    assert {each.partition(" is left")[0].rpartition(" at ")[2] for each in report.held} == {
        "exchange 11"
    }  # six of the invitation, and the fifth of the mail


@pytest.mark.parametrize("sample", SAMPLES)
async def test_a_person_who_is_asked_by_mail(mails: Server, mail_folder: Path, tmp_path: Path, sample: int) -> None:
    account = asking_by_mail(mails, mail_folder, tmp_path)
    assert (await kept("person", Bench(account, mails.restart), sample=sample)).held == []


def asking_by_mail(mails: Server, mail_folder: Path, tmp_path: Path) -> Account:
    told = {"sender": "saga@example.org", "page": "https://tasks.example", "looks_every_s": "0.2"}
    kept_in = {"store": f"sqlite:///{tmp_path / 'tasks.db'}"}
    return Account.of(f"smtp://127.0.0.1:{mails.port}", ledger=str(mail_folder / "mail"), options=told | kept_in)


@pytest.mark.parametrize("sample", SAMPLES)
async def test_events_in_calendars(calendars: Server, sample: int) -> None:
    account = Account.of(f"http://alex:{SECRET}@127.0.0.1:{calendars.port}/alex/")
    assert (await kept("caldav", Bench(account, calendars.restart), sample=sample)).held == []


@pytest.mark.parametrize("sample", SAMPLES)
async def test_payments_at_stripe(stripe: StripeServer, sample: int) -> None:
    bench = Bench(Account.of(stripe.url, f"sk_test_{SECRET}"), stripe.process.restart, stripe.forget)
    report = await kept("stripe", bench, sample=sample)
    assert report.held == []


@pytest.mark.parametrize("sample", [1, pytest.param(0, marks=pytest.mark.proof)])
async def test_objects_of_a_bucket(buckets: Server, sample: int) -> None:
    """The server is our own: what it has not carried out after a second and a half it never does."""
    make_bucket(buckets, "trials")
    account = Account.of(f"http://alex:{SECRET}@127.0.0.1:{buckets.port}/trials", options={"settles_s": "1.5"})
    assert (await kept("s3", Bench(account), sample=sample)).held == []
