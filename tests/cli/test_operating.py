"""`replay`, `status --at`, `redact`, `db retire`, `--version`: what operators do."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from sagagraph import __version__
from sagagraph.domains.travel import domain
from sagagraph.domains.travel.rules import validator
from sagagraph.domains.travel.rules.legs import LODGING, LodgingView
from sagagraph.errors import JournalError
from sagagraph.planning import checking
from sagagraph.saga.core.events import BodyCompleted, Driver, Entry, SagaBegun
from sagagraph.saga.core.state import Stage
from sagagraph.saga.stores.sqlite import SqliteSagaStore
from sagagraph.validators.verdict import Verdict, Violation
from tests.cli.commands import BOOKINGS, CommandLine
from tests.cli.conftest import OpenService
from tests.cli.contract import Saga
from tests.support.replaying import check_file


@pytest.fixture
def booked(command: CommandLine) -> CommandLine:
    command.trip("booked", "--yes")
    return command


# -- replay -------------------------------------------------------------------------------------------------------------


def test_a_journal_is_replayed_with_its_plan_judged_again(booked: CommandLine) -> None:
    (judged,) = [each["data"]["verdict"] for each in booked.journal("booked") if each["type"] == "PlanJudged"]
    assert {each["validator"] for each in judged["certificates"]} >= {"transport", "lodging", "money", "calendar", "the whole"}
    assert all(each["slice_tokens"] <= 1000 for each in judged["certificates"])
    answers = [verdict for each in booked.journal("booked") for verdict in each["data"].get("verdicts", ())]
    assert len(answers) == 7  # five bookings, the payment and the documents
    told = booked("replay", "booked", "--json")
    assert (told.code, told.json) == (
        0,
        {
            "saga_id": "booked",
            "versions": len(booked.journal("booked")),
            "status": "committed",
            "validators": 1 + len(judged["certificates"]) + len(answers),
            "differences": [],
            "unchecked": [],
        },
    )
    said = booked("replay", "booked")
    assert (said.code, said.out.endswith("no difference\n")) == (0, True)


def test_of_many_certificates_the_journal_holds_the_root_and_the_log_all(
    command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "MOST_CERTIFICATES", 5)
    command.trip("many", "--yes")
    with closing(sqlite3.connect(command.store_file)) as store:
        ((held,),) = store.execute("SELECT data FROM events WHERE type = 'PlanJudged'").fetchall()
    assert "certificates" not in json.loads(held)["verdict"]
    (judged,) = [each["data"]["verdict"] for each in command.journal("many") if each["type"] == "PlanJudged"]
    assert len(judged["certificates"]) == judged["certificate"]["slices"] > 5
    told = command("replay", "many", "--json").json
    assert (told["validators"], told["differences"]) == (1 + 7, [])


def test_a_replay_names_the_validator_that_says_otherwise_now(booked: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def finds(view: LodgingView) -> list[Violation]:
        return [Violation(code="DAMP", message="")] if view.label == "T4" else []

    damp = replace(LODGING, check=finds)
    monkeypatch.setattr(validator, "CONCERNS", tuple(damp if each is LODGING else each for each in validator.CONCERNS))
    told = booked("replay", "booked", "--json").json
    assert [each["what"].partition(" of plan")[0] for each in told["differences"][1:]] == ["the verdict of lodging on T4"]
    assert [each["replay"]["violations"] for each in told["differences"]] == [["DAMP"], ["DAMP"]]


def test_without_its_provider_a_plan_is_not_judged_again(booked: CommandLine) -> None:
    booked.provider = "http://127.0.0.1:9"
    unreached = booked("replay", "booked", "--json")
    assert (unreached.code, unreached.json["differences"]) == (0, [])
    assert "no validators of domain 'travel' are at hand" in unreached.json["unchecked"][0]
    assert "not judged again" in unreached.err


def test_a_plan_is_judged_by_what_its_validators_were_shown_then(booked: CommandLine, open_service: OpenService) -> None:
    """The plan's departures are over by then."""
    with open_service(today=date(2026, 1, 1)) as late:
        booked.provider = late.url
        told = booked("replay", "booked", "--json")
    assert (told.code, told.json["validators"] > 1, told.json["differences"]) == (0, True, [])


def test_a_plan_that_its_validators_judge_otherwise_now_is_a_difference(
    booked: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    strict = Verdict.of([Violation(code="STRICT", message="nothing is good enough")])
    monkeypatch.setattr(domain, "validate_itinerary", lambda *_arguments, **_options: strict)
    told = booked("replay", "booked", "--json")
    assert told.code == 1
    (difference,) = told.json["differences"]
    assert set(difference) == {"version", "what", "journal", "replay"}
    assert (difference["journal"]["verdict"], difference["replay"]["verdict"]) == ("VALID", "INVALID")


def test_a_damaged_journal_is_refused_in_one_line(command: CommandLine) -> None:
    command.trip("booked", "--yes")
    with closing(sqlite3.connect(command.store_file)) as store, store:
        flipped = "UPDATE events SET data = replace(data, 'T1', 'T9') WHERE type = 'AttemptStarted'"
        assert store.execute(flipped).rowcount > 1
    for words in (("replay", "booked"), ("status", "booked"), ("log", "booked")):
        told = command(*words)
        assert told.code == 3
        assert "was changed after it was written" in told.complaint
    command.store_file.unlink()  # the check of every journal would say the same


def test_a_damaged_journal_does_not_hide_the_other_sagas(command: CommandLine) -> None:
    for name in ("damaged", "sound"):
        command.trip(name)
    with closing(sqlite3.connect(command.store_file)) as store, store:
        store.execute("UPDATE events SET epoch = 7 WHERE saga_id = 'damaged' AND version = 2")
    told = command("status", "--json")
    command.store_file.unlink()  # the check of every journal would say the same
    assert (told.code, [each["saga_id"] for each in told.json["sagas"]]) == (3, ["sound"])
    assert "saga 'damaged'" in told.err


async def test_the_check_of_every_journal_sees_a_damaged_one(tmp_path: Path) -> None:
    path = tmp_path / "seen.db"

    def damage() -> None:
        with closing(sqlite3.connect(path)) as store, store:
            store.execute("DELETE FROM events WHERE version = 2")

    store = await SqliteSagaStore.open(path)
    lease = await store.create("trip", SagaBegun(Driver.BODY, "", None), stage=Stage.RUNNING, owner="nobody", ttl_s=0.0)
    await store.append(lease, [Entry(2, 1, 1.0, BodyCompleted())], stage=Stage.RUNNING)
    await store.close()
    await check_file(path)
    damage()
    with pytest.raises(JournalError):
        await check_file(path)


# -- looking ------------------------------------------------------------------------------------------------------------


def test_a_saga_is_shown_as_it_was(booked: CommandLine) -> None:
    proposed = next(each["version"] for each in booked.journal("booked") if each["type"] == "PlanAccepted")
    told = booked("status", "booked", "--at", str(proposed), "--json")
    assert (told.code, Saga.model_validate(told.json).status) == (0, "running")
    assert {each["status"] for each in told.json["operations"]} == {"planned"}
    assert "saga booked: planning" in booked("status", "booked", "--at", "1").out


@pytest.mark.parametrize("version", ["0", "-3", "999"])
def test_a_version_that_there_never_was_is_bad_input(booked: CommandLine, version: str) -> None:
    told = booked("status", "booked", "--at", version)
    assert told.code == 2
    assert "no version" in told.complaint
    assert booked("status", "--at", "3").code == 2


def test_a_line_of_the_log_says_when(booked: CommandLine) -> None:
    lines = booked("log", "booked").out.splitlines()
    for line in [each for each in lines if not each.startswith("      ")]:  # what agents said stands below their event
        assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00 +\d+ [A-Z]", line)


def test_a_reversal_stands_under_what_it_undoes(booked: CommandLine) -> None:
    booked.trip("waits")
    booked("cancel", "booked")
    said = booked("status").out.splitlines()
    assert said[said.index("booked: compensated") + 1] == "  booked~reversal: committed"
    assert len(said) == 3
    listed = {each["saga_id"]: each["reversal"] for each in booked("status", "--json").json["sagas"]}
    assert listed == {"booked": "booked~reversal", "booked~reversal": None, "waits": None}
    assert "booked~reversal" in booked("status", "booked").out


def test_the_release_is_told(command: CommandLine) -> None:
    told = command.bare("--version")
    assert (told.code, told.out) == (0, f"sagagraph {__version__}\n")


# -- redaction ----------------------------------------------------------------------------------------------------------


def test_fields_are_made_unreadable_and_the_saga_cannot_be_undone_then(booked: CommandLine) -> None:
    assert "San Francisco" in booked("log", "booked", "--json").out
    told = booked("redact", "booked", "--field", "origin", "--field", "price", "--json")
    assert (told.code, told.json["redacted"], told.json["status"]) == (0, ["origin", "price"], "committed")
    request = booked.journal("booked")[0]["data"]["request"]
    assert (request["origin"], request["stops"][0]["city"]) == ("[redacted]", "Berlin")
    assert booked("redact", "booked", "--field", "origin").out == "saga booked: what is called origin, price is unreadable now\n"
    for words in (("cancel", "booked"), ("cancel", "booked", "--preview")):
        refused = booked(*words)
        assert refused.code == 2
        assert "redacted (origin, price)" in refused.complaint
    assert booked.ledger().standing == (5, 1)
    assert booked("status", "booked").code == 0
    replayed = booked("replay", "booked", "--json")
    assert (replayed.code, replayed.json["differences"]) == (0, [])
    assert "redacted" in replayed.json["unchecked"][0]


def test_what_cannot_be_redacted_is_bad_input(booked: CommandLine) -> None:
    booked.trip("waits")
    for words, named in (
        (("booked", "--field", "operation"), "operation"),
        (("booked", "--field", "nothing"), "nothing"),
        (("waits", "--field", "origin"), "awaiting_approval"),
        (("unknown", "--field", "origin"), "unknown"),
    ):
        told = booked("redact", *words)
        assert told.code == 2
        assert named in told.complaint
    assert booked("redact", "booked").code == 2


# -- retention ----------------------------------------------------------------------------------------------------------


def test_finished_sagas_are_archived_and_open_ones_stay(booked: CommandLine, tmp_path: Path) -> None:
    booked.trip("waits")
    archive = tmp_path / "old.jsonl"
    planned = booked("db", "retire", "--older-than", "0", "--archive", archive, "--dry-run", "--json")
    assert (planned.code, planned.json) == (0, {"retired": ["booked"], "kept": [], "archive": str(archive), "dry_run": True})
    assert not archive.exists()
    assert booked("db", "retire", "--older-than", "1", "--drop").out == "no saga is that old and finished\n"
    events = booked.journal("booked")
    told = booked("db", "retire", "--older-than", "0", "--archive", archive)
    assert (told.code, told.out) == (0, f"booked: archived in {archive}\n")
    (line,) = map(json.loads, archive.read_text().splitlines())
    assert [each["type"] for each in line["events"]] == [each["type"] for each in events]
    assert set(BOOKINGS) <= {json.loads(each["data"]).get("operation") for each in line["events"]}
    for words in (("status", "booked"), ("log", "booked"), ("cancel", "booked"), ("replay", "booked"), ("resume", "booked")):
        refused = booked(*words)
        assert refused.code == 2
        assert "archived or dropped at" in refused.complaint
    again = booked("trip", "--request", booked.request_file(), "--saga-id", "booked", "--yes")
    assert again.code == 2
    assert "use another id" in again.complaint
    assert booked("status").out == "waits: awaiting_approval\n"
    assert booked.ledger().standing == (5, 1)


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--older-than", "1"],
        ["--older-than", "1", "--drop", "--archive", "x.jsonl"],
        ["--older-than", "-1", "--drop"],
        ["--older-than", "nan", "--drop"],
        ["--older-than", "1e300", "--drop"],
        ["--drop"],
    ],
)
def test_how_old_and_where_to_must_be_said(booked: CommandLine, options: list[str]) -> None:
    told = booked("db", "retire", *options)
    assert told.code == 2
    assert told.complaint
    assert booked("status").out == "booked: committed\n"


# -- a store that is not there ------------------------------------------------------------------------------------------

ASKING = [
    ("status",),
    ("status", "trip"),
    ("log", "trip"),
    ("graph", "trip"),
    ("replay", "trip"),
    ("resume",),
    ("resume", "trip"),
    ("cancel", "trip"),
    ("resolve", "trip", "T1", "--as", "absent"),
    ("approve", "trip"),
    ("reject", "trip"),
    ("change", "trip", "--lost", "T1"),
    ("redact", "trip", "--field", "email"),
    ("db", "project"),
    ("db", "restored"),
    ("db", "retire", "--older-than", "1", "--drop"),
    ("reunion", "day", "trip"),
    ("reunion", "messages", "trip"),
]


@pytest.mark.parametrize("verb", ASKING, ids=" ".join)
def test_a_missing_store_is_named_and_nothing_is_created(command: CommandLine, verb: tuple[str, ...]) -> None:
    before = list(command.folder.iterdir())
    told = command(*verb)
    assert (told.code, str(command.store_file) in told.complaint) == (2, True)
    assert list(command.folder.iterdir()) == before


def test_a_restored_store_asks_before_it_acts(command: CommandLine) -> None:
    command.trip("waits")
    told = command("db", "restored", "--json")
    assert (told.code, told.json) == (0, {"store": command.store, "epoch": 2, "open": ["waits"]})
    assert command("approve", "waits").code == 0
    assert {"OperationDoubted"} <= {each["type"] for each in command.journal("waits")}
    assert command.ledger().standing == (5, 1)


def test_db_upgrade_creates_a_store(command: CommandLine) -> None:
    assert command("db", "upgrade").code == 0
    assert command("status").code == 0


# -- copying ------------------------------------------------------------------------------------------------------------


def test_a_store_is_copied_and_one_in_memory_is_not(command: CommandLine, tmp_path: Path) -> None:
    command.trip("one", "--yes")
    target = f"sqlite:///{tmp_path / 'copy.db'}"
    told = command.bare("db", "copy", command.store, target, "--json")
    assert (told.code, told.json["sagas"] > 0) == (0, True)
    assert command.bare("db", "copy", command.store, "memory:").code == 2
    with closing(sqlite3.connect(tmp_path / "copy.db")) as copied:
        assert copied.execute("SELECT stage FROM sagas WHERE saga_id = 'one'").fetchone() == ("committed",)
