"""`sagagraph services`: what it lists, what it refuses, and that it imports no client."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sagagraph.cli.app import app
from sagagraph.errors import InvalidInputError
from sagagraph.services.catalogue import services
from sagagraph.services.service import TERMS, Account

pytestmark = pytest.mark.quick


def test_it_lists_every_service_with_what_it_promises() -> None:
    said = json.loads(CliRunner().invoke(app, ["services", "--json"]).output)["services"]
    assert [each["name"] for each in said] == ["sql", "mail", "caldav", "stripe", "http", "s3", "person"]
    actions = [action for each in said for action in each["actions"]]
    assert all(action["does"] and action["lasting"] for action in actions)
    assert {promise["term"] for action in actions for promise in action["promises"]} <= set(TERMS)
    assert all(promise["source"] for action in actions for promise in action["promises"])
    text = CliRunner().invoke(app, ["services"]).output
    assert all(each["name"] in text for each in said)


def test_the_list_imports_no_client() -> None:
    asks = "from sagagraph.services.catalogue import services; services(); import sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", asks], capture_output=True, text=True, check=True).stdout.split()
    assert {"stripe", "boto3", "httpx2", "icalendar", "yaml", "psycopg", "smtplib"}.isdisjoint(loaded)


def test_each_service_has_an_extra_that_is_there() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert [each.name for each in services() if each.extra and f"\n{each.extra} = [" not in text] == []


def test_a_check_says_whether_it_holds(tmp_path: Path) -> None:
    said = CliRunner().invoke(
        app, ["services", "check", "sql", "--url", f"sqlite:///{tmp_path / 'rows.db'}", "--sample", "1", "--json"]
    )
    assert said.exit_code == 0, said.output
    assert json.loads(said.output)["broken"] == []


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nothing", "--url", "http://x"], "NAME: there are sql, mail"),
        (["sql", "--url", "shop.db"], "--url: say where the service is"),
        (["sql", "--url", "mysql://x/shop"], "--url"),
        (["mail", "--url", "smtp://127.0.0.1:25"], "nobody answers|sender"),
        (["http", "--url", "sqlite:///x"], "description"),
        (["sql", "--url", "sqlite:///x", "--option", "what"], "--option: write 'what' as NAME=VALUE"),
    ],
)
def test_what_cannot_be_tried_is_said_in_one_line(words: list[str], says: str) -> None:
    said = CliRunner().invoke(app, ["services", "check", *words])
    told = f"{said.output} {said.exception}"
    assert said.exit_code != 0
    assert any(each in told for each in says.split("|")), told


def test_a_password_in_a_url_is_taken_out_of_it() -> None:
    account = Account.of("smtp://alex%40example.org:pass%2Fword@mail.example.org:587/?x=1")
    assert (account.secret, account.user) == ("pass/word", "alex@example.org")
    assert "pass" not in f"{account!r} {account.url} {account.identity}"
    with pytest.raises(InvalidInputError):
        Account.of("http://[half")
