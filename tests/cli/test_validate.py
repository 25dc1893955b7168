"""`validate` and `reunion where`: verdicts with their exit codes, and bad input in one line that names the field."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import CommandLine
from tests.domains.reunion.plans import Json, plan_of, shipped
from tests.domains.reunion.published import ALAS_TABLE_21, SAGALLM_TABLE_5
from tests.support.models import Asked, ModelServer, Say

pytestmark = pytest.mark.quick


class Folder:
    """Writes what commands read; returns the paths."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, name: str, value: Any) -> Path:
        file = self.path / f"{name}.json"
        file.write_text(value if isinstance(value, str) else json.dumps(value))
        return file


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


@pytest.fixture
def wedding(folder: Folder) -> Path:
    return folder("problem", shipped("wedding"))


def test_a_plan_that_is_wrong_is_invalid_with_exit_code_1(command: CommandLine, wedding: Path, folder: Folder) -> None:
    plan = folder("plan", SAGALLM_TABLE_5)
    told = command("validate", "reunion", wedding, plan, "--json")
    assert (told.code, told.json["verdict"]) == (1, "INVALID")
    (fault,) = told.json["violations"]
    assert fault.keys() == {"code", "message", "scope", "evidence"}
    assert (fault["code"], fault["scope"]["action"]) == ("WINDOW", 4)
    assert told.json["certificate"]["validator"] == "reunion"
    told = command("validate", "reunion", wedding, plan)
    assert told.out == "WINDOW: 'clothes' at 14:10: ends at 14:25, 25 minutes after 14:00\nINVALID\n"


def test_a_plan_that_is_right_is_valid_with_exit_code_0(command: CommandLine, folder: Folder) -> None:
    problem, plan = folder("problem", shipped("thanksgiving")), folder("plan", ALAS_TABLE_21)
    told = command("validate", "reunion", problem, plan, "--json")
    assert (told.code, told.json["verdict"], told.json["violations"]) == (0, "VALID", [])
    assert command("validate", "reunion", problem, plan).out == "VALID\n"


def test_events_and_the_past_are_judged_too(command: CommandLine, folder: Folder) -> None:
    problem, old = folder("problem", shipped("thanksgiving")), folder("old", ALAS_TABLE_21)
    new = folder("new", {"problem": "thanksgiving", "actions": ALAS_TABLE_21["actions"][:-1]})
    delay = folder("delay", {"at": "13:00", "event": "delayed", "person": "James", "from": "13:10"})
    closed = folder("closed", [{"at": "14:00", "event": "road_closed", "from": "HOME", "to": "GRANDMA", "until": "15:30"}])
    told = command("validate", "reunion", problem, old, "--event", delay, "--event", closed, "--json")
    assert [(each["code"], each["scope"]["action"]) for each in told.json["violations"]] == [
        ("NOT_YET_AVAILABLE", 0),
        ("NO_ROUTE", 4),
    ]
    told = command("validate", "reunion", problem, new, "--executed-until", "16:01", "--against", old, "--json")
    assert [(each["code"], each["scope"]["action"]) for each in told.json["violations"]] == [("PAST_REWRITTEN", 6)]


def test_an_unreadable_plan_is_a_verdict_and_an_unreadable_file_is_not(
    command: CommandLine, wedding: Path, folder: Folder
) -> None:
    told = command("validate", "reunion", wedding, folder("plan", ["nothing"]), "--json")
    assert (told.code, told.json["violations"][0]["code"]) == (1, "MALFORMED")
    told = command("validate", "reunion", wedding, folder("plan", "{"))
    assert (told.code, told.complaint[:5]) == (2, "PLAN:")


PROBLEMS: dict[str, tuple[Callable[[Json], Any], str, str]] = {
    "not an object": (lambda p: [p], "problem:", "must be a JSON object"),
    "no name": (lambda p: p.pop("name"), "name:", "is missing"),
    "two people of one name": (lambda p: p["people"][1].update(name="Alex"), "people[1].name:", "there twice"),
    "two tasks of one name": (lambda p: p["tasks"][1].update(name="gift"), "tasks[1].name:", "there twice"),
    "nobody": (lambda p: p.update(people=[]), "people:", "is empty"),
    "a place nobody named": (lambda p: p["people"][0].update(place="Q"), "people[0].place:", "no place is called 'Q'"),
    "a task at a place nobody named": (lambda p: p["tasks"][0].update(place="Q"), "tasks[0].place:", "'Q'"),
    "a road to a place nobody named": (lambda p: p["travel_minutes"].append(["B", "Q", 3]), "travel_minutes[6]:", "'Q'"),
    "a hole in the matrix": (lambda p: p.update(travel_minutes=[["B", "G", 45]]), "goals[0]:", "no way from B"),
    "a row too short": (lambda p: p["travel_minutes"].append(["B", "G"]), "travel_minutes[6]:", "a row is"),
    "a time that is none": (lambda p: p["travel_minutes"].append(["B", "G", "long"]), "travel_minutes[6].amount:", "number"),
    "a time below nothing": (lambda p: p["travel_minutes"].append(["B", "G", -1]), "travel_minutes[6].amount:", "0"),
    "a time without end": (lambda p: p["travel_minutes"].append(["B", "G", 1e999]), "travel_minutes[6].amount:", "finite"),
    "two times for one way": (lambda p: p["travel_minutes"].append(["G", "B", 46]), "travel_minutes[6]:", "45 in another"),
    "a window that runs backwards": (lambda p: p["tasks"][0].update(window=["14:00", "13:00"]), "tasks[0].window:", "13:00"),
    "a goal that runs backwards": (lambda p: p["goals"][0].update(not_before="16:00"), "goals[0]:", "16:00"),
    "an hour that there is not": (lambda p: p["people"][0].update({"from": "25:00"}), "people[0].from:", "25:00"),
    "an hour as a number": (lambda p: p["people"][0].update({"from": 11}), "people[0].from:", "HH:MM"),
    "dates and none": (lambda p: p["people"][0].update({"from": "2025-06-01T11:00+00:00"}), "people[1].from:", "has no date"),
    "a day too far away": (lambda p: p["people"][0].update({"from": "9999-12-31T23:00-05:00"}), "people[0].from:", "far away"),
    "nobody of that name is to be there": (lambda p: p["goals"][0].update(people=["Al"]), "goals[0].people:", "'Al'"),
    "a goal of a word": (lambda p: p["goals"][0].update(people="everybody"), "goals[0].people:", "'all'"),
    "a driver whom nobody knows": (lambda p: p["vehicles"][0].update(drivers=["Al"]), "vehicles[0].drivers:", "'Al'"),
    "no seat": (lambda p: p["vehicles"][0].update(seats=0), "vehicles[0].seats:", "1"),
    "tasks in a circle": (
        lambda p: (p["tasks"][0].update(after=["clothes"]), p["tasks"][1].update(after=["gift"])),
        "tasks.after:",
        "none of them can be first",
    ),
    "an objective that there is not": (lambda p: p.update(objectives=["fun"]), "objectives[0]:", "distance"),
    "an unknown field": (lambda p: p["people"][0].update(drive=True), "people[0].drive:", "is not a known field"),
    "an attention that there is not": (lambda p: p["tasks"][0].update(attention="some"), "tasks[0].attention:", "watched"),
    "half a character": (lambda p: p.update(name="\ud800"), "PROBLEM:", "is not JSON"),
}


@pytest.mark.parametrize("case", PROBLEMS)
def test_a_problem_that_is_wrong_is_answered_with_its_field(command: CommandLine, folder: Folder, case: str) -> None:
    change, field, hint = PROBLEMS[case]
    problem = copy.deepcopy(shipped("wedding"))
    changed = change(problem)
    file = folder("problem", changed if isinstance(changed, list) else problem)
    told = command("validate", "reunion", file, folder("plan", SAGALLM_TABLE_5))
    assert (told.code, told.out) == (2, "")
    assert told.complaint.startswith(field)
    assert hint in told.complaint


EVENTS: dict[str, tuple[Any, str, str]] = {
    "nothing that happens": ({"at": "13:00"}, "events[0]:", "event"),
    "something else": ({"at": "13:00", "event": "rain"}, "events[0]:", "rain"),
    "at no time": ({"event": "cancelled", "person": "Pat"}, "events[0].at:", "is missing"),
    "to nobody": ([{"at": "13:00", "event": "cancelled", "person": "Al"}], "events[0].person:", "'Al'"),
    "to a vehicle nobody has": ({"at": "13:00", "event": "vehicle_down", "vehicle": "bus"}, "events[0].vehicle:", "'bus'"),
    "at a place nobody named": ({"at": "13:00", "event": "travel_factor", "place": "Q", "factor": 3}, "events[0].place:", "'Q'"),
    "by no factor": ({"at": "13:00", "event": "travel_factor", "place": "B", "factor": 0}, "events[0].factor:", "greater"),
    "until before it began": (
        {"at": "13:00", "event": "road_closed", "from": "B", "to": "G", "until": "12:00"},
        "events[0].until:",
        "12:00 is before 13:00",
    ),
    "with a date": ({"at": "2025-06-01T13:00+00:00", "event": "cancelled", "person": "Pat"}, "events[0].at:", "has a date"),
    "somebody is added twice": (
        {"at": "13:00", "event": "added", "person": {"name": "Pat", "place": "B"}},
        "events[0].person.name:",
        "there already",
    ),
    "the second one is wrong": (
        [{"at": "13:00", "event": "cancelled", "person": "Pat"}, {"at": "12:00", "event": "delayed", "person": "Pat"}],
        "events[1].from:",
        "is missing",
    ),
    "not even an event": (3, "events[0]:", "3"),
}


@pytest.mark.parametrize("case", EVENTS)
def test_an_event_that_is_wrong_is_answered_with_its_field(
    command: CommandLine, wedding: Path, folder: Folder, case: str
) -> None:
    event, field, hint = EVENTS[case]
    told = command("validate", "reunion", wedding, folder("plan", plan_of()), "--event", folder("event", event))
    assert told.code == 2
    assert told.complaint.startswith(field)
    assert hint in told.complaint


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (("--executed-until", "noon"), "--executed-until:"),
        (("--executed-until", "13:00"), "--executed-until:"),
        (("--against", "PLAN"), "--against:"),
        (("--against", "PROBLEM", "--executed-until", "13:00"), "--against:"),
        (("--against", "nowhere", "--executed-until", "13:00"), "--against:"),
        (("--event", "nowhere"), "--event:"),
    ],
    ids=str,
)
def test_options_that_do_not_fit_are_named(
    command: CommandLine, wedding: Path, folder: Folder, options: tuple[str, ...], field: str
) -> None:
    plan = folder("plan", plan_of())
    words = [{"PLAN": str(plan), "PROBLEM": str(wedding)}.get(word, word) for word in options]
    told = command("validate", "reunion", wedding, plan, *words)
    assert (told.code, told.complaint.startswith(field)) == (2, True), told.complaint


def test_a_domain_that_there_is_not_and_files_that_are_missing_are_named(command: CommandLine, wedding: Path) -> None:
    told = command("validate", "chess", wedding, wedding)
    assert (told.code, "chess" in told.complaint) == (2, True)
    for words, field in (
        ((wedding, "nowhere"), "PLAN:"),
        (("nowhere", wedding), "PROBLEM:"),
        ((wedding.parent, wedding), "PROBLEM:"),
    ):
        told = command("validate", "reunion", *words)
        assert (told.code, told.complaint.startswith(field)) == (2, True)


# -- trips -----------------------------------------------------------------------------------------------------------


def test_a_trip_as_it_was_planned_is_valid_and_one_that_was_changed_is_not(command: CommandLine, folder: Folder) -> None:
    request = command.request_file()
    (first, *_) = command("trip", "--request", request, "--plan-only", "--json").json["plans"]
    for plan in (first, first["plan"]):
        told = command("validate", "travel", request, folder("plan", plan), "--json")
        assert (told.code, told.json["verdict"]) == (0, "VALID")
    told = command("validate", "travel", command.request_file(budget=100), folder("plan", first["plan"]), "--json")
    assert (told.code, [each["code"] for each in told.json["violations"]]) == (1, ["BUDGET"])


def test_what_is_no_trip_is_malformed_or_bad_input_and_a_provider_that_is_down_is_neither(
    command: CommandLine, folder: Folder
) -> None:
    request, plan = command.request_file(), folder("plan", {"legs": "none"})
    told = command("validate", "travel", request, plan, "--json")
    assert (told.code, told.json["violations"][0]["code"]) == (1, "MALFORMED")
    told = command("validate", "travel", plan, plan)
    assert (told.code, told.complaint.startswith("origin:")) == (2, True)
    told = command("validate", "travel", request, plan, "--executed-until", "13:00")
    assert (told.code, "reunions" in told.complaint) == (2, True)
    assert command("validate", "travel", request, plan, "--provider", "http://127.0.0.1:9").code == 3


# -- where -----------------------------------------------------------------------------------------------------------


def test_where_everybody_is_half_way_along_a_road(command: CommandLine, wedding: Path, folder: Folder) -> None:
    plan = folder("plan", SAGALLM_TABLE_5)
    told = command("reunion", "where", wedding, plan, "--at", "13:00", "--json").json
    assert told["at"] == "13:00"
    alex = {each["name"]: each for each in told["people"]}["Alex"]
    assert alex == {
        "name": "Alex",
        "place": None,
        "places": [],
        "between": ["B", "G"],
        "elapsed": 10,
        "minutes": 45,
        "vehicle": "Pat's car",
        "tasks": [],
        "available": True,
    }
    assert [each["place"] for each in told["vehicles"]] == [None, "W"]
    assert "Alex is between B and G, 10 of 45 minutes\n" in command("reunion", "where", wedding, plan, "--at", "13:00").out


def test_where_cannot_be_asked_of_what_is_no_plan_or_no_time(command: CommandLine, wedding: Path, folder: Folder) -> None:
    told = command("reunion", "where", wedding, folder("plan", {}), "--at", "13:00")
    assert (told.code, told.complaint) == (2, "PLAN: actions: is missing")
    told = command("reunion", "where", wedding, folder("plan", plan_of()), "--at", "1pm")
    assert (told.code, told.complaint.startswith("--at:")) == (2, True)
    told = command("reunion", "where", wedding, folder("plan", {"actions": [{}]}), "--at", "13:00")
    assert (told.code, told.err) == (0, "action 0 is left out: it cannot be read\n")


@pytest.mark.skipif(find_spec("langchain_openai") is None, reason="the optional extra 'llm' is not installed")
@pytest.mark.parametrize(
    ("says", "found", "code", "verdict"),
    [("VALID", [], 0, "VALID"), ("INVALID", ["RUDE"], 1, "INVALID"), ("UNKNOWN", [], 1, "UNKNOWN")],
)
def test_a_model_judges_by_a_criterion_besides(
    command: CommandLine, folder: Folder, monkeypatch: pytest.MonkeyPatch, says: str, found: list[str], code: int, verdict: str
) -> None:
    problem = folder("shop", "1 1\n0 3\n")
    plan = folder("plan", [{"job": 1, "step": 1, "machine": 0, "start": 0, "end": 3}])

    def opinion(asked: Asked) -> Say:
        nonce = asked.user.split()[1].rstrip(">")
        return Say({"nonce": nonce, "verdict": says, "findings": [{"code": each, "message": "it is"} for each in found]})

    ask = ("validate", "jobshop", problem, plan, "--criterion", "Nobody is hurried.", "--json")
    with ModelServer([opinion]) as server:
        for name, value in {**server.environment(), "SAGAGRAPH_MODEL": "openai:m"}.items():
            monkeypatch.setenv(name, value)
        told = command(*ask)
        assert (told.code, told.json["verdict"]) == (code, verdict)
        assert [each["code"] for each in told.json["violations"]] == found
        assert [each["validator"] for each in told.json["certificates"]][-1] == "criterion"
    monkeypatch.delenv("SAGAGRAPH_MODEL")
    told = command(*ask)
    assert (told.code, "SAGAGRAPH_MODEL" in told.err) == (2, True)
