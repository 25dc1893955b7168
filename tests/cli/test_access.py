"""`config`, `token`, `audit`: settings with their sources, keys, and who did what; no secret is ever printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sagagraph.access.login import HASHED
from tests.cli.commands import CommandLine

CANARY = "canary-51c2"
FILE = f"""
model_seconds = 5
store = "postgresql://ann:{CANARY}@127.0.0.1/x"
provider_url = "https://ann:{CANARY}@book.example"
[users.ann]
password = "{CANARY}"
role = "operator"
[oidc]
issuer = "https://id.example"
client_id = "sagagraph"
client_secret = "{CANARY}"
roles = {{ops = "operator"}}
"""


def settings(command: CommandLine, monkeypatch: pytest.MonkeyPatch, text: str) -> Path:
    file = command.folder / "config.toml"
    file.write_text(text)
    monkeypatch.setenv("SAGAGRAPH_CONFIG", str(file))
    return file


def test_each_setting_is_printed_with_its_source_and_no_secret(command: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    file = settings(command, monkeypatch, FILE)
    monkeypatch.setenv("SAGAGRAPH_MODEL_SECONDS", "7")
    monkeypatch.setenv("SAGAGRAPH_UI_PASSWORD", CANARY)
    monkeypatch.setenv("SAGAGRAPH_PATIENCE", "1")
    told = command.bare("config", "--json")
    assert told.code == 0
    rows = {each["setting"]: (each["value"], each["source"]) for each in told.json["settings"]}
    assert rows["model_seconds"] == (7, "SAGAGRAPH_MODEL_SECONDS")
    assert rows["users"] == ({"ann": {"password": "(set)", "role": "operator"}}, str(file))
    assert rows["provider_url"] == ("https://book.example", str(file))
    assert rows["patience_s"] == (3600, "default")
    assert told.json["unknown"] == ["SAGAGRAPH_PATIENCE is no setting; did you mean SAGAGRAPH_PATIENCE_S?"]
    said = command.bare("config")
    assert CANARY not in told.out + told.err + said.out + said.err


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("modle = 'x'", "modle: there is no such setting; did you mean model?"),
        ("[users.ann]\npasword = 'x'", "users.ann.pasword: there is no such setting; did you mean password?"),
        (f"[users.ann]\npassword = '{CANARY}'\nrole = 'king'", "users.ann.role: Input should be"),
        (f"[oidc]\nissuer = 'x'\nclient_secret = ['{CANARY}']", "oidc."),
        (f"users = '{CANARY}'", "users: Input should be"),
        (f"= {CANARY}", "cannot be read as TOML"),
    ],
)
def test_what_is_wrong_in_the_file_is_named_without_its_value(
    command: CommandLine, monkeypatch: pytest.MonkeyPatch, text: str, complaint: str
) -> None:
    settings(command, monkeypatch, text)
    for words in (("config",), ("status",)):
        told = command.bare(*words)
        assert told.code == 2
        assert complaint in told.complaint
        assert CANARY not in told.complaint


def test_a_file_that_is_named_and_missing_is_an_error(command: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAGAGRAPH_CONFIG", str(command.folder / "none.toml"))
    assert "there is no file" in command.bare("config").complaint


def test_a_password_can_be_kept_as_a_hash(command: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO(f"{CANARY}\n"))
    told = command.bare("config", "--hash")
    assert told.out.startswith(HASHED)
    assert CANARY not in told.out


def test_tokens_are_made_listed_and_ended_and_all_of_it_is_on_record(command: CommandLine) -> None:
    made = command("token", "create", "deploy", "--role", "reader", "--days", "1", "--for", "a dashboard", "--json").json
    (listed,) = command("token", "list", "--json").json["keys"]
    assert (listed["id"], listed["about"], listed["ended_by"]) == (made["key"]["id"], "a dashboard", "")
    assert command("token", "end", made["key"]["id"]).code == 0
    assert command("token", "end", "nothing").code == 2
    acts = command("audit", "--json").json["acts"]
    assert [(each["what"], each["by"]) for each in acts] == [("token made", "deploy"), ("token ended", "command line")]
    everything = json.dumps(acts) + command("token", "list").out + command("audit").out
    assert made["token"] not in everything + command.store_file.read_bytes().decode(errors="replace")


def test_the_audit_says_who_approved_and_who_cancelled(command: CommandLine) -> None:
    command.trip("one", "--yes")
    command("cancel", "one")
    acts = {(each["what"], each["by"]) for each in command("audit", "--days", "1", "--json").json["acts"]}
    assert ("PlanApproved", "command line, --yes") in acts
    assert ("CancelRequested", "command line") in acts
    assert command("audit", "--days", "0").out == ""
