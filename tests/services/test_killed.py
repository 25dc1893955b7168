"""An order with a row, an event, a payment and a mail is killed at its boundaries; the servers' own data are the ledger."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.services.servers import Server, StripeServer


@pytest.mark.parametrize("sample", [2, pytest.param(0, marks=pytest.mark.proof)])
def test_an_order_that_is_killed_leaves_what_it_says(
    calendars: Server, mails: Server, mail_folder: Path, stripe: StripeServer, sample: int
) -> None:
    calendars.make_calendar("shop", "deliveries")
    surroundings = {
        "ORDER_CALENDAR": f"http://127.0.0.1:{calendars.port}/shop/deliveries/",
        "ORDER_MAIL": f"smtp://127.0.0.1:{mails.port}",
        "ORDER_MAILS": str(mail_folder / "mail"),
        "ORDER_STRIPE": stripe.url,
    }
    said = subprocess.run(
        [sys.executable, "-m", "sagagraph.testing", "tests.services.order:ORDER", "--sample", str(sample), "--json"],
        env=os.environ | surroundings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0, said.stdout + said.stderr
    cases = json.loads(said.stdout)
    assert len([each for each in cases if each["place"]]) >= 2 * 2
    assert "compensated" in {each["judgement"]["outcome"] for each in cases}
