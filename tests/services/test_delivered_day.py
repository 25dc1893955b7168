"""A day sent by mail and into calendars: killed, changed and called off, by the servers' own data; and what is not sent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sagagraph.domains.reunion.actions.delivery import open_delivery
from sagagraph.settings import Settings
from tests.services.servers import Server


@pytest.mark.parametrize("sample", [3, pytest.param(0, marks=[pytest.mark.proof, pytest.mark.timeout(3000)])])
def test_a_day_that_is_killed_has_told_everybody_once(calendars: Server, mails: Server, mail_folder: Path, sample: int) -> None:
    surroundings = {
        "DAY_CALENDARS": f"http://ann@127.0.0.1:{calendars.port}/ann/",
        "DAY_MAIL": f"smtp://127.0.0.1:{mails.port}",
        "DAY_MAILS": str(mail_folder / "mail"),
    }
    said = subprocess.run(
        [sys.executable, "-m", "sagagraph.testing", "tests.services.delivered_day:DAYS", "--sample", str(sample), "--json"],
        env=os.environ | surroundings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0, said.stdout + said.stderr
    cases = json.loads(said.stdout)
    assert len([each for each in cases if each["place"]]) >= 3 * sample
    assert {each["judgement"]["outcome"] for each in cases} >= {"running", "compensated"}


@pytest.mark.quick
async def test_nothing_is_sent_from_a_practice_world() -> None:
    account = {"url": "smtp://127.0.0.1:9", "sender": "host@example.org"}
    async with open_delivery(Settings.model_validate({"mail": account})) as delivery:
        assert delivery.actions == ()
    async with open_delivery(Settings.model_validate({"mail": account, "provider_url": "http://127.0.0.1:9"})) as delivery:
        assert [each.name for each in delivery.actions] == ["invite"]
