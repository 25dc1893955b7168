"""What uses real services is killed at its boundaries; the servers' own data are the ledger.

Bounded here, and at every boundary in `make proof`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from sagagraph.domains.reunion.actions.delivery import open_delivery
from sagagraph.domains.travel.actions.actions import POLICY
from sagagraph.domains.travel.actions.payer import Payer, payer_of
from sagagraph.errors import InvalidInputError
from sagagraph.settings import Settings
from tests.services.servers import Server, StripeServer
from tests.support.swept import faults_in, swept

WHOLE = pytest.param("0", marks=[pytest.mark.proof, pytest.mark.timeout(3000)])


@pytest.mark.parametrize("sample", ["2", WHOLE])
def test_an_order_that_is_killed_leaves_what_it_says(
    calendars: Server, mails: Server, mail_folder: Path, stripe: StripeServer, sample: str
) -> None:
    calendars.make_calendar("shop", "deliveries")
    cases = swept(
        "tests.services.order:ORDER",
        *("--sample", sample),
        ORDER_CALENDAR=f"http://127.0.0.1:{calendars.port}/shop/deliveries/",
        ORDER_MAIL=f"smtp://127.0.0.1:{mails.port}",
        ORDER_MAILS=str(mail_folder / "mail"),
        ORDER_STRIPE=stripe.url,
    )
    assert faults_in(cases) == []
    assert len(cases) >= 2 * 2 - 1
    assert "compensated" in {each["judgement"]["outcome"] for each in cases}


@pytest.mark.parametrize("sample", ["3", WHOLE])
def test_a_day_that_is_killed_has_told_everybody_once(calendars: Server, mails: Server, mail_folder: Path, sample: str) -> None:
    cases = swept(
        "tests.services.delivered_day:DAYS",
        *("--sample", sample),
        DAY_CALENDARS=f"http://ann@127.0.0.1:{calendars.port}/ann/",
        DAY_MAIL=f"smtp://127.0.0.1:{mails.port}",
        DAY_MAILS=str(mail_folder / "mail"),
    )
    assert faults_in(cases) == []
    assert len(cases) >= 3 * 3 - 1  # the last boundary of a scenario is not there in each run
    assert {each["judgement"]["outcome"] for each in cases} >= {"running", "compensated"}


@pytest.mark.parametrize("sample", ["2", WHOLE])
def test_a_trip_that_is_killed_is_paid_once_or_not_at_all(sample: str) -> None:
    cases = swept("tests.services.paid_trip:TRIPS", "--sample", sample)
    assert faults_in(cases) == []
    assert len(cases) >= 6 * 2 - 1
    assert {each["judgement"]["outcome"] for each in cases} >= {"committed", "compensated"}


@pytest.mark.parametrize(
    ("planted", "place", "fault"),
    [
        ("HOLD_WITHOUT_KEY", "after the action of hold", "is still held"),
        ("REFUND_WITHOUT_KEY", "after the action of undo payment", "the saga ended stuck"),
    ],
)
def test_the_judge_finds_a_planted_mistake(planted: str, place: str, fault: str) -> None:
    (case,) = swept(f"tests.services.paid_trip:{planted}", "--place", place)
    assert fault in str(faults_in([case]))


@pytest.mark.quick
async def test_nothing_goes_out_from_a_practice_world() -> None:
    mail = {"url": "smtp://127.0.0.1:9", "sender": "host@example.org"}
    payments = {"secret": "sk_test_1", "payment_method": "pm_card_visa"}
    practice = TypeAdapter(Settings).validate_python({"mail": mail, "payments": payments})
    async with open_delivery(practice) as delivery:
        assert delivery.actions == ()
    assert payer_of(practice, POLICY) == Payer()
    real = replace(practice, provider_url="http://127.0.0.1:9")
    async with open_delivery(real) as delivery:
        assert [each.name for each in delivery.actions] == ["invite"]
    assert [each.name for each in payer_of(real, POLICY).actions] == ["stripe_authorise", "capture_at_stripe"]


def test_no_real_money_is_taken() -> None:
    live = {"secret": "sk_live_1", "payment_method": "pm_1"}
    settings = TypeAdapter(Settings).validate_python({"provider_url": "http://127.0.0.1:9", "payments": live})
    with pytest.raises(InvalidInputError, match=r"test mode.*sk_test_"):
        payer_of(settings, POLICY)
