"""`sagagraph reunion begin, event, day, messages, read, problems, realm`, with the real planner on a small problem."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import CommandLine
from tests.cli.contract import Saga
from tests.domains.reunion.scripted import DAY, PROBLEM

LATE = {"at": "11:45", "event": "delayed", "person": "Bob", "from": "14:00"}
TOO_LATE = {"at": "11:50", "event": "delayed", "person": "Bob", "from": "23:00"}
TOLD = "Dinner at 6 pm at home. Ann is at home with a car. Bob lands at the airport at noon. Home to airport 40 minutes."


@pytest.fixture
def problem(tmp_path: Path) -> Path:
    """As in the script, without the bicycle: Ann drives, whoever else is fetched."""
    small = {**PROBLEM, "people": PROBLEM["people"][:3], "vehicles": PROBLEM["vehicles"][:1]}
    return written(tmp_path / "problem.json", small)


def written(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value))
    return path


def begun(command: CommandLine, problem: Path, *more: str) -> Any:
    words = ("reunion", "begin", "--problem", problem, "--saga-id", "d1", "--day", DAY, *more)
    return command(*words, "--json")


def standing(command: CommandLine) -> dict[str, str]:
    rows = command("reunion", "messages", "d1", "--json").json["messages"]
    taken_back = {row["withdraws"] for row in rows}
    return {row["person"]: row["text"] for row in rows if row["kind"] == "invitation" and row["key"] not in taken_back}


def test_a_day_is_begun_approved_disrupted_and_closed(command: CommandLine, problem: Path, tmp_path: Path) -> None:
    waiting = begun(command, problem)
    assert (waiting.code, waiting.json["status"]) == (0, "awaiting_approval")
    assert command("reunion", "messages", "d1", "--json").json == {"messages": []}
    approved = command("approve", "d1", "--json")
    assert (approved.code, Saga.model_validate(approved.json).status) == (0, "running")
    assert set(standing(command)) == {"Ann", "Bob", "Cleo"}

    happened = command("reunion", "event", "d1", written(tmp_path / "late.json", LATE), "--yes", "--json")
    assert (happened.code, happened.json["plan_version"]) == (0, 2)
    assert "ride from Station to Home in car, with Ann" in standing(command)["Bob"]
    kept = {each["id"]: each["status"] for each in happened.json["operations"]}
    assert kept["assign Cleo"] == "succeeded"
    assert (kept["assign Bob"], kept["assign Bob.2"]) == ("compensated", "succeeded")

    noon = command("reunion", "day", "d1", "--at", "12:00", "--json").json
    assert noon["at"] == "12:00"
    assert [each["available"] for each in noon["people"] if each["name"] == "Bob"] == [False]
    over = command("reunion", "day", "d1", "--at", "18:00", "--json")
    assert (over.code, over.json["saga"]["status"]) == (0, "committed")
    assert "cannot be cancelled" in command("cancel", "d1").complaint
    refused = command("reunion", "event", "d1", tmp_path / "late.json")
    assert (refused.code, refused.complaint) == (2, "saga 'd1' is committed: that day is no longer open")


def test_an_event_that_no_plan_can_meet_is_answered_with_the_conflict(
    command: CommandLine, problem: Path, tmp_path: Path
) -> None:
    begun(command, problem, "--yes")
    before = standing(command)
    told = command("reunion", "event", "d1", written(tmp_path / "late.json", TOO_LATE), "--yes", "--json")
    assert (told.code, told.json["plan_version"]) == (1, 1)
    assert "Bob comes at 23:00; Bob is at H by 18:00" in told.json["reason"]
    assert standing(command) == before
    later = {**PROBLEM, "people": PROBLEM["people"][:3], "vehicles": PROBLEM["vehicles"][:1]}
    later["goals"] = [{"people": "all", "place": "H", "by": "23:30"}]
    wish = written(tmp_path / "later.json", later)
    again = command("reunion", "event", "d1", tmp_path / "late.json", "--problem", wish, "--yes", "--json")
    assert (again.code, again.json["plan_version"]) == (0, 2)


def test_the_clock_of_a_day_does_not_go_back(command: CommandLine, problem: Path, tmp_path: Path) -> None:
    begun(command, problem, "--yes")
    assert command("reunion", "day", "d1", "--at", "12:30").code == 0
    assert "12:30 already" in command("reunion", "day", "d1", "--at", "12:00").complaint
    late = command("reunion", "event", "d1", written(tmp_path / "late.json", LATE))
    assert (late.code, late.complaint) == (
        2,
        "EVENT.json: the day is at 12:30: nothing becomes known at 11:45 any more",
    )


def test_an_open_day_is_resumed_and_called_off(command: CommandLine, problem: Path) -> None:
    begun(command, problem, "--yes")
    resumed = command("resume", "--all", "--json")
    assert (resumed.code, [each["status"] for each in resumed.json]) == (0, ["running"])
    assert command("replay", "d1").code == 0
    assert command("cancel", "d1", "--json").json["status"] == "compensated"
    assert standing(command) == {}


def test_a_reunion_is_read_from_sentences_and_what_is_forgotten_is_proposed(command: CommandLine) -> None:
    told = command("reunion", "read", TOLD, "--json").json
    assert [each["id"] for each in told["suggestions"]] == ["kerb:Bob"]
    assert told["notes"] == ["Ann's car has 5 seats"]
    assert [person["exit_minutes"] for person in told["problem"]["people"]] == [0, 0]
    taken = command("reunion", "read", TOLD, "--common-sense", "all", "--json").json["problem"]["people"]
    assert [person["exit_minutes"] for person in taken] == [0, 30]


def test_begin_says_what_may_be_forgotten(command: CommandLine) -> None:
    told = command("reunion", "begin", TOLD, "--saga-id", "d2", "--day", DAY)
    assert told.code == 0
    assert "forgotten? Bob needs 30 minutes from landing to the kerb" in told.err
    assert "taken for granted: Ann's car has 5 seats" in told.err


def test_the_problems_that_come_with_it_are_listed_and_printed(command: CommandLine) -> None:
    listed = [each["name"] for each in command("reunion", "problems", "--json").json["problems"]]
    assert listed == ["wedding", "thanksgiving", "ride_sharing", "campus_tour", "campus_groups"]
    assert command("reunion", "problems", "wedding").json["name"] == "wedding"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("reunion", "begin"), "TEXT: give sentences, --problem FILE.json or --shipped NAME: one of them"),
        (("reunion", "begin", "Dinner", "--shipped", "wedding"), "TEXT: give sentences"),
        (("reunion", "begin", "--shipped", "easter"), "NAME: no problem is called 'easter'"),
        (("reunion", "begin", "--problem", "nowhere.json"), "--problem: nowhere.json cannot be read"),
        (
            ("reunion", "begin", "Dinner at home at 6 pm. Ann is at BOS."),
            "vehicles: Who has a car, or which vehicles are there?",
        ),
        (("reunion", "begin", "--shipped", "wedding", "--common-sense", "moon"), "common_sense: 'moon' is not proposed"),
        (("reunion", "event", "nobody", "e.json"), "EVENT.json: e.json cannot be read"),
        (("reunion", "day", "nobody"), "there is no store "),
        (("reunion", "messages", "nobody"), "there is no store "),
        (("reunion", "problems", "easter"), "NAME: no problem is called 'easter'"),
        (("reunion", "read", "The moon is made of cheese"), "people: Who takes part, and where are they?"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(command: CommandLine, words: tuple[str, ...], complaint: str) -> None:
    ended = command(*words)
    assert ended.code == 2
    assert ended.complaint.startswith(complaint)


def test_what_is_no_wish_of_a_day_changes_nothing(command: CommandLine, problem: Path) -> None:
    begun(command, problem, "--yes")
    told = command("change", "d1", "make it 4 stars")
    assert (told.code, told.complaint) == (2, "TEXT: Not understood: make it 4 stars.")
    assert command("status", "d1", "--json").json["plan_version"] == 1


def request_of(command: CommandLine, saga_id: str) -> Any:
    """As its journal has it now."""
    wishes = [each["data"] for each in command("log", saga_id, "--json").json["events"]]
    return next(each["request"] for each in reversed(wishes) if "request" in each)


def test_what_was_told_is_in_the_journal_and_the_same_in_other_words_goes_on(command: CommandLine, problem: Path) -> None:
    words = ("reunion", "begin", "--saga-id", "t1", "--day", DAY, "--json")
    first = command(*words, TOLD)
    assert (first.code, first.json["status"]) == (0, "awaiting_approval")
    board = request_of(command, "t1")["told"]["filled"]["problem"]
    assert [each["name"] for each in board["people"]] == ["Ann", "Bob"]
    same = command(*words, TOLD.replace("Ann is at home", "Ann stays at home"))
    assert (same.code, same.json["plan_hash"]) == (0, first.json["plan_hash"])
    other = command(*words, TOLD.replace("6 pm", "7 pm"))
    assert (other.code, "another request" in other.complaint) == (2, True)
    begun(command, problem)
    assert "told" not in request_of(command, "d1")


def test_rule_12_two_days_do_not_have_one_car_at_the_same_time(command: CommandLine, tmp_path: Path) -> None:
    car = {**PROBLEM["vehicles"][0], "plate": "BN-1"}
    shared = written(tmp_path / "problem.json", {**PROBLEM, "people": PROBLEM["people"][:3], "vehicles": [car]})
    assert begun(command, shared, "--yes").json["status"] == "running"
    kept = command("status", "d1", "--json").json["locks"]
    assert [(each["operation"], each["key"], each["mode"]) for each in kept] == [("assign Ann", "vehicle BN-1", "exclusive")]
    assert "keeps: vehicle BN-1 from" in command("status", "d1").out

    words = ("reunion", "begin", "--problem", shared, "--saga-id", "d2", "--yes", "--json")
    refused = command(*words, "--day", DAY)
    assert refused.code == 3
    assert "saga 'd2' took nothing: saga 'd1' keeps 'vehicle BN-1'" in refused.err
    waiting = command("status", "d2", "--json").json
    assert waiting["awaits"] == [{"key": "vehicle BN-1", "saga": "d1", "operation": "assign Ann"}]
    assert command("reunion", "messages", "d2", "--json").json == {"messages": []}

    yielded = command("yield", "d1", "--json")
    assert (yielded.code, yielded.json["locks"], yielded.json["yielded_by"]) == (0, [], "command line")
    assert "LocksYielded by=command line" in command("log", "d1").out
    assert command("resume", "d2", "--json").json["status"] == "running"
    assert command("yield", "nobody").code == 2
    assert command("cancel", "d2", "--json").json["status"] == "compensated"
    assert command("status", "d2", "--json").json["locks"] == []


def test_a_plan_says_who_is_sent_what_before_it_is_approved(
    command: CommandLine, problem: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no service of one's own is named, this is a practice world: nothing is sent, and nothing is said of it."""
    told = json.loads(problem.read_text())
    told["people"][0]["mail"] = "ann@example.org"
    written(problem, told)
    file = tmp_path / "config.toml"
    monkeypatch.setenv("SAGAGRAPH_CONFIG", str(file))
    mail = '[mail]\nurl = "smtp://127.0.0.1:9"\nsender = "host@example.org"\n'
    file.write_text(mail)
    assert "is sent" not in command("reunion", "begin", "--problem", problem, "--saga-id", "d0", "--day", DAY).out
    file.write_text(f'provider_url = "http://127.0.0.1:9"\n{mail}')
    shown = command("reunion", "begin", "--problem", problem, "--saga-id", "d1", "--day", DAY).out
    assert "what Ann should know is sent by mail once this is approved" in shown
    assert "ann@example.org" not in shown
