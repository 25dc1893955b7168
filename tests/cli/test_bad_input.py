"""What cannot be done is said in one line, with the right exit code, and changes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sagagraph.sandbox.server import EmbeddedSandbox
from tests.cli.commands import CommandLine, ended, spawned

SENTENCES = {
    "a city that does not exist": ("from Berlim to Cologne on 2025-06-04, 2 nights", "origin:", "did you mean Berlin?"),
    "a city that is like no other": ("from Xqzzy to Cologne on 2025-06-04, 2 nights", "origin:", "Xqzzy"),
    "dates that run backwards": (
        "From San Francisco to Berlin for 4 nights from 10 June 2025 to 4 June 2025",
        "window:",
        "runs backwards",
    ),
    "no dates": ("From San Francisco to Berlin for 4 nights", "window:", "When do you want to travel"),
    "no nights": ("From San Francisco to Berlin in June 2025", "stops[0].nights:", "How many nights in Berlin?"),
    "nothing at all": ("I want to go somewhere nice", "origin:", "Not understood: somewhere."),
    "an empty sentence": (" ", "TEXT:", "Where do you want to go"),
}

REQUESTS: dict[str, tuple[dict[str, Any], str, str]] = {
    "a city that does not exist": ({"origin": "San Fransisco"}, "origin:", "did you mean San Francisco?"),
    "a stop that does not exist": ({"stops": [{"city": "Berlim", "nights": 2}]}, "stops[0].city:", "Berlin"),
    "dates that run backwards": (
        {"depart": None, "window": {"first": "2025-06-10", "last": "2025-06-04"}},
        "window:",
        "dates run backwards",
    ),
    "a day in the past": ({"depart": "2024-06-04"}, "depart:", "is in the past"),
    "a day that there is not": ({"depart": "2025-06-31"}, "depart:", "2025-06-31"),
    "a window too short": ({"window": {"first": "2025-06-04", "last": "2025-06-06"}}, "window:", "room for 2 nights"),
    "no stop": ({"stops": []}, "stops:", "is empty"),
    "no nights": ({"stops": [{"city": "Berlin", "nights": -1}]}, "stops[0].nights:", "greater than or equal to 0"),
    "a budget below nothing": ({"budget": -1}, "budget:", "must be greater than 0"),
    "a budget in words": ({"budget": "lots"}, "budget:", "must be a number"),
    "another currency": ({"currency": "XAU"}, "currency:", "not supported"),
    "stars that run backwards": ({"stars": [4, 3]}, "stars:", "runs backwards"),
    "nobody": ({"travellers": 0}, "travellers:", "greater than or equal to 1"),
    "an unknown field": ({"budjet": 5000}, "budjet:", "is not a known field"),
}

FILES = {
    "cut off": ('{"origin": ', "--request:", "is not JSON"),
    "a list": ("[]", "request:", "must be a JSON object"),
    "empty": ("", "--request:", "is not JSON"),
    "an empty object": ("{}", "origin:", "is missing"),
}


def assert_nothing_was_begun(command: CommandLine) -> None:
    if not command.store_file.exists():
        return
    assert command("status", "--json").json == {"sagas": []}


@pytest.mark.parametrize("case", SENTENCES)
def test_a_sentence_that_is_not_enough_is_answered_with_what_to_change(command: CommandLine, case: str) -> None:
    sentence, field, hint = SENTENCES[case]
    told = command("trip", sentence, "--yes")
    assert told.code == 2
    assert told.complaint.startswith(field)
    assert hint in told.complaint
    assert told.out == ""
    assert_nothing_was_begun(command)


@pytest.mark.parametrize("case", REQUESTS)
def test_a_request_that_is_wrong_is_answered_with_its_field(command: CommandLine, case: str) -> None:
    changes, field, hint = REQUESTS[case]
    told = command("trip", "--request", command.request_file(**changes), "--yes")
    assert told.code == 2
    assert told.complaint.startswith(field)
    assert hint in told.complaint
    assert_nothing_was_begun(command)


@pytest.mark.parametrize("case", FILES)
def test_a_request_file_that_is_broken_is_named(command: CommandLine, tmp_path: Path, case: str) -> None:
    content, field, hint = FILES[case]
    (tmp_path / "broken.json").write_text(content)
    told = command("trip", "--request", tmp_path / "broken.json")
    assert told.code == 2
    assert told.complaint.startswith(field)
    assert hint in told.complaint
    assert_nothing_was_begun(command)


def test_a_request_file_that_cannot_be_read_is_named(command: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    for file, hint in (
        (tmp_path / "nowhere.json", "No such file"),
        (tmp_path, "Is a directory"),
        (tmp_path / "binary.json", "is not JSON"),
    ):
        told = command("trip", "--request", file)
        assert (told.code, told.complaint.startswith("--request:")) == (2, True)
        assert hint in told.complaint


def test_an_address_where_a_file_belongs_shows_no_password(command: CommandLine) -> None:
    told = command("validate", "reunion", "postgresql://u:secret@127.0.0.1:1/x", "plan.json", "--json")
    assert (told.code, "secret" in told.complaint, "secret" in told.out) == (2, False, False)


def test_with_json_the_complaint_is_a_document_too(command: CommandLine) -> None:
    told = command("trip", SENTENCES["a city that does not exist"][0], "--json")
    error = told.json["error"]
    assert error == {"message": told.complaint, "field": "origin", "exit_code": 2}


def test_a_budget_that_nothing_fits_ends_infeasible_with_reasons(command: CommandLine) -> None:
    told = command("trip", "--request", command.request_file(budget=100), "--saga-id", "poor", "--yes", "--json")
    assert told.code == 1
    assert told.json["status"] == "infeasible"
    assert "more than the budget of $100" in told.json["reason"]
    assert told.json["operations"] == []
    assert told.json["cost"]["total"] == 0
    assert command("trip", "--saga-id", "poor").code == 1
    assert command.ledger().landed == 0
    said = command("status", "poor")
    assert (said.code, "more than the budget of $100" in said.out) == (0, True)


def test_a_budget_that_nothing_fits_has_no_plans(command: CommandLine) -> None:
    told = command("trip", "--request", command.request_file(budget=100), "--plan-only", "--json")
    assert told.code == 1
    assert told.json["plans"] == []
    assert any("budget" in reason for reason in told.json["reasons"])
    assert (told.json["verdict"], told.json["conflict"]) == ("INVALID", ["budget 100 USD"])
    (relaxation,) = told.json["relaxations"]
    assert relaxation["needs"] == f"budget {relaxation['change']['budget']} USD"
    enough = command("trip", "--request", command.request_file(**relaxation["change"]), "--plan-only", "--json")
    assert enough.code == 0
    assert_nothing_was_begun(command)


@pytest.mark.parametrize(
    "words",
    [
        ("status", "nobody"),
        ("log", "nobody"),
        ("graph", "nobody"),
        ("resume", "nobody"),
        ("cancel", "nobody"),
        ("cancel", "nobody", "--preview"),
        ("approve", "nobody"),
        ("reject", "nobody"),
        ("resolve", "nobody", "T1", "--as", "landed"),
        ("trip", "--saga-id", "nobody"),
    ],
    ids=" ".join,
)
def test_an_unknown_saga_is_named(command: CommandLine, words: tuple[str, ...]) -> None:
    assert command("db", "upgrade").code == 0
    told = command(*words)
    assert told.code == 2
    assert told.complaint == "there is no saga 'nobody'"
    assert_nothing_was_begun(command)


@pytest.mark.parametrize("url", ["foo", "mysql://localhost/x", "sqlite:///", "sqlite://"])
@pytest.mark.parametrize("words", [("status",), ("db", "upgrade"), ("trip", "--request", "FILE")], ids=" ".join)
def test_an_unknown_kind_of_store_is_bad_input(command: CommandLine, url: str, words: tuple[str, ...]) -> None:
    file = str(command.request_file())
    told = command(*(file if word == "FILE" else word for word in words), "--store", url)
    assert told.code == 2
    assert told.complaint.startswith("--store:")


def test_planning_without_a_store_file_is_bad_input(command: CommandLine) -> None:
    told = command("trip", "--request", command.request_file(), "--plan-only", "--store", "sqlite:///")
    assert (told.code, told.complaint.startswith("--store:")) == (2, True)


@pytest.mark.parametrize("words", [("status",), ("db", "upgrade"), ("trip", "--request", "FILE")], ids=" ".join)
def test_a_store_that_cannot_be_opened_is_an_outside_part_that_failed(
    command: CommandLine, tmp_path: Path, words: tuple[str, ...]
) -> None:
    file = tmp_path / "not-a-database"
    file.write_text("Dear diary, " * 1000)
    request = str(command.request_file())
    for place in (tmp_path, file, file / "below.db"):
        told = command(*(request if word == "FILE" else word for word in words), "--store", f"sqlite:///{place}")
        assert told.code == 3
        assert f"the store {place} cannot be opened" in told.complaint
    assert file.read_text().startswith("Dear diary, ")


@pytest.mark.parametrize("url", ["ftp://example.org", "localhost:8000", "http://", "http://a b", "http://127.0.0.1:99999"])
def test_an_address_that_is_none_is_bad_input(command: CommandLine, url: str) -> None:
    told = command("trip", "--request", command.request_file(), "--provider", url)
    assert told.code == 2
    assert "provider:" in told.complaint
    assert_nothing_was_begun(command)


def test_a_provider_that_cannot_be_reached_loses_nothing(command: CommandLine, service: EmbeddedSandbox) -> None:
    command.provider = service.url
    shown = command.trip("kept")
    for words in (
        ("trip", "--request", str(command.request_file()), "--saga-id", "other", "--yes"),
        ("approve", "kept"),
        ("cancel", "kept"),
        ("resume", "kept"),
    ):
        told = command(*words, "--provider", "http://127.0.0.1:9")
        assert told.code == 3
        assert told.complaint.startswith("the reservation service at http://127.0.0.1:9 cannot be reached")
    assert command("status", "kept", "--json").json == shown
    assert command("approve", "kept").code == 0
    assert command.ledger().standing == (5, 1)


def test_one_id_with_two_requests_is_a_conflict(command: CommandLine) -> None:
    shown = command.trip("twice")
    told = command("trip", "--request", command.request_file(budget=4000), "--saga-id", "twice", "--yes")
    assert told.code == 2
    assert told.complaint == "saga 'twice' exists with another request; use another id"
    assert command("status", "twice", "--json").json == shown
    command.trip("twice", "--yes")
    told = command("trip", "--request", command.request_file(budget=4000), "--saga-id", "twice", "--yes")
    assert told.code == 2
    assert command.ledger().standing == (5, 1)


@pytest.mark.parametrize("saga_id", ["", " ", " a", "a\nb", "x" * 201])
def test_an_id_that_cannot_be_one_is_bad_input(command: CommandLine, saga_id: str) -> None:
    told = command("trip", "--request", command.request_file(), "--saga-id", saga_id, "--yes")
    assert (told.code, told.complaint.startswith("--saga-id:")) == (2, True)
    assert_nothing_was_begun(command)


@pytest.mark.parametrize("saga_id", ["a/b", "..", "é", "~", "-x", "€" * 200])
def test_an_odd_id_is_an_id(command: CommandLine, saga_id: str) -> None:
    assert command.trip(saga_id, "--yes")["status"] == "committed"
    sent = list(command.folder.rglob("itinerary.ics"))
    assert [each.parent.parent for each in sent] == [command.store_file.with_name("saga.db.outbox")]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("frobnicate",), "frobnicate"),
        (("trip", "x", "--yess"), "--yess"),
        (("trip",), "TEXT:"),
        (("trip", "x", "--request", "y.json"), "TEXT:"),
        (("approve",), "SAGA"),
        (("cancel",), "SAGA"),
        (("resume", "x", "--all"), "SAGA:"),
        (("resolve", "x", "T1"), "--as"),
        (("resolve", "x", "T1", "--as", "sunk"), "--as"),
        (("resolve", "x", "T1", "--as", "landed", "--output", "{"), "--output:"),
        (("graph", "x", "--format", "dot"), "--format"),
        (("db", "downgrade"), "downgrade"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_command_that_is_wrong_is_told_so_in_one_line(command: CommandLine, words: tuple[str, ...], hint: str) -> None:
    told = command(*words)
    assert told.code == 2
    assert hint in told.complaint


BROKEN_FAULTS = {
    "cut off": ("[{", "--faults:"),
    "an object": ('{"kind": "hotel"}', "--faults:"),
    "an unknown fault": ('[{"kind": "hotel", "call": "book", "fault": "explode"}]', "entry 1, fault:"),
    "an unknown kind": ('[{"kind": "boat", "call": "book", "fault": "refuse"}]', "entry 1, kind:"),
    "an unknown call": ('[{"kind": "hotel", "call": "paint", "fault": "refuse"}]', "entry 1, call:"),
    "a missing call": ('[{"kind": "hotel", "fault": "refuse"}]', "entry 1, call:"),
    "the zeroth call": ('[{"kind": "hotel", "call": "book", "nth": 0, "fault": "refuse"}]', "entry 1, nth:"),
    "a second entry": (
        '[{"kind": "hotel", "call": "book", "fault": "refuse"}, {"kind": "hotel", "call": "book", "fault": 404}]',
        "entry 2, fault:",
    ),
    "seconds below nothing": ('[{"kind": "*", "call": "book", "fault": "late", "seconds": -1}]', "entry 1, seconds:"),
}


@pytest.mark.parametrize("case", BROKEN_FAULTS)
def test_a_faults_file_that_is_broken_starts_no_service(
    command: CommandLine, tmp_path: Path, case: str, sandbox: Callable[..., Any]
) -> None:
    content, hint = BROKEN_FAULTS[case]
    (tmp_path / "faults.json").write_text(content)
    told = sandbox("--faults", tmp_path / "faults.json")
    assert told.code == 2
    assert told.complaint.startswith("--faults:")
    assert hint in told.complaint


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--faults", "nowhere.json"), "--faults:"),
        (("--without", "manners"), "--without:"),
        (("--key-retention", "0"), "--key-retention:"),
        (("--today", "tomorrow"), "--today"),
        (("--today", "1999-01-01"), "--today:"),
        (("--port", "99999"), "--port:"),
        (("--port", "http"), "--port"),
        (("--db", "/proc/nowhere/x.db"), "--db"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_service_that_cannot_be_run_says_which_option(words: tuple[str, ...], hint: str, sandbox: Callable[..., Any]) -> None:
    told = sandbox(*words)
    assert told.code == 2
    assert hint in told.complaint


@pytest.fixture
def sandbox(command: CommandLine, tmp_path: Path) -> Callable[..., Any]:
    """Calls `sagagraph sandbox` in this process: for those that do not start."""

    def call(*words: str | Path) -> Any:
        database = [] if "--db" in words else ["--db", tmp_path / "service.db"]
        port = [] if "--port" in words else ["--port", "0"]
        return command.bare("sandbox", *port, *database, *words)

    return call


def test_bad_input_is_no_traceback_in_a_process_of_its_own_either(command: CommandLine) -> None:
    told = ended(spawned("trip", "--request", command.request_file(origin="Berlim"), "--store", command.store, "--json"))
    assert told.code == 2
    assert "did you mean Berlin?" in told.complaint
    assert json.loads(told.out)["error"]["field"] == "origin"
