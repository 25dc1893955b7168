"""`SAGAGRAPH_MODEL` on the command line: what it does, and how each thing that can go wrong ends."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import pytest

from tests.cli.commands import CommandLine, Ended
from tests.planning.test_reading import REUNION as MUDDLED_REUNION
from tests.planning.test_reading import REUNION_SLOTS
from tests.support.agents import picking, ranked
from tests.support.models import Hang, ModelServer, Say, Status

pytestmark = pytest.mark.skipif(find_spec("langchain_openai") is None, reason="the optional extra 'llm' is not installed")

KEY = "sk-canary-55aa01f3"
MUDDLED = "Berlin then Cologne, four nights and two, starting out in San Francisco, on 4 June 2025, no more than 5k!"
SLOTS = [
    {"field": field, "value": value, "quote": quote}
    for field, value, quote in (
        ("origin", "San Francisco", "starting out in San Francisco"),
        ("stops[0].city", "Berlin", "Berlin then Cologne"),
        ("stops[0].nights", "4", "four nights and two"),
        ("stops[1].city", "Cologne", "Berlin then Cologne"),
        ("stops[1].nights", "2", "four nights and two"),
        ("depart", "2025-06-04", "on 4 June 2025"),
        ("budget", "5000 USD", "no more than 5k"),
    )
]
"""What the muddled sentence says, with the words that say it."""

Serve = Callable[..., ModelServer]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    running: list[ModelServer] = []

    def start(*script: Any, provider: str = "openai") -> ModelServer:
        server = ModelServer(script).__enter__()
        running.append(server)
        for name, value in {**server.environment(KEY), "SAGAGRAPH_MODEL": f"{provider}:m"}.items():
            monkeypatch.setenv(name, value)
        return server

    yield start
    for server in running:
        server.__exit__()


def test_a_sentence_in_a_muddle_is_put_in_order_and_a_trip_is_chosen_by_the_model(command: CommandLine, serve: Serve) -> None:
    server = serve(Say({"slots": SLOTS}), *[picking(ranked, "cheap")] * 5, provider="anthropic")
    told = command("trip", MUDDLED, "--saga-id", "trip", "--json")
    assert (told.code, told.json["status"]) == (0, "awaiting_approval")
    assert "read with the help of anthropic:m" in told.err
    assert (len(server.asked), server.left) == (6, 0)
    assert json.loads(server.asked[0].user.splitlines()[1])["text"] == MUDDLED
    (proposed,) = [each for each in command.journal("trip") if each["type"] == "PlanProposed"]
    assert proposed["data"]["proposed_by"] == "anthropic:m"
    assert proposed["data"]["reasoning"].startswith("itinerary, days: cheap flight, T1: cheap")
    asked = {each["data"]["role"]: each["data"] for each in command.journal("trip") if each["type"] == "ModelAsked"}
    used = {each["role"]: each for each in command("status", "trip", "--json").json["models"]}
    assert used.keys() == asked.keys() == {"itinerary", "flight", "hotel", "train", "budget"}
    assert all(each["questions"] == 1 and each["tokens_in"] == asked[role]["tokens_in"] > 0 for role, each in used.items())
    assert "hotel agent, anthropic:m, shown " in command("log", "trip").out


def test_a_reunion_in_a_muddle_is_put_in_order(command: CommandLine, serve: Serve) -> None:
    serve(Say({"slots": REUNION_SLOTS}))
    told = command("reunion", "read", MUDDLED_REUNION, "--json")
    assert (told.code, told.json["unread"]) == (0, [])
    assert "read with the help of openai:m" in told.err
    assert [each["name"] for each in told.json["problem"]["people"]] == ["Sarah", "Emily", "Michael"]


def test_a_reunion_whose_model_cannot_be_asked_is_exit_3_without_its_key(command: CommandLine, serve: Serve) -> None:
    serve(Status(401))
    told = command("reunion", "read", MUDDLED_REUNION, "--json")
    assert told.code == 3
    assert "the key in OPENAI_API_KEY is refused" in told.json["error"]["message"]
    assert_key_is_nowhere(command, told)


def test_a_model_that_makes_something_up_is_not_listened_to(command: CommandLine, serve: Serve) -> None:
    serve(Say({"slots": [each | {"quote": "from Boston"} for each in SLOTS]}))
    told = command("trip", MUDDLED)
    assert told.code == 2
    assert "Where does the trip start?" in told.err
    assert "your words do not say it: origin: San Francisco" in told.err


def test_a_model_that_cannot_be_asked_leaves_the_trip_to_the_solver_which_says_so(command: CommandLine, serve: Serve) -> None:
    serve(Status(401))
    told = command("trip", "--request", command.request_file(), "--saga-id", "trip")
    assert told.code == 0
    assert "openai:m: the key in OPENAI_API_KEY is refused" in told.out
    assert "planned without it" in told.out
    assert_key_is_nowhere(command, told)
    (proposed,) = [each for each in command.journal("trip") if each["type"] == "PlanProposed"]
    assert proposed["data"]["proposed_by"] == "solver"


def test_a_missing_key_leaves_the_trip_to_the_solver_which_says_so(
    command: CommandLine, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve()
    monkeypatch.delenv("OPENAI_API_KEY")
    told = command("trip", "--request", command.request_file(), "--saga-id", "trip", "--yes")
    assert told.code == 0
    assert "openai:m: no key is set: set OPENAI_API_KEY" in told.out


def test_a_model_that_hangs_is_left_after_its_seconds(command: CommandLine, serve: Serve) -> None:
    serve(Hang(60))
    told = command("trip", "--request", command.request_file(), "--saga-id", "trip", "--model-seconds", "0.5")
    assert told.code == 0
    assert re.search(r"openai:m: no (valid )?answer within 0\.5 s", told.out), told.out


def test_a_model_whose_cost_is_limited_is_asked_only_where_the_limit_holds(
    command: CommandLine, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(*[picking(ranked, "cheap")] * 5)
    request = command.request_file()
    told = command("trip", "--request", request, "--saga-id", "a", "--max-cost", "0.01")
    assert (told.code, told.complaint) == (2, "--max-cost: needs the model's prices: set SAGAGRAPH_MODEL_PRICES")
    monkeypatch.setenv("SAGAGRAPH_MODEL_PRICES", "1,4")
    told = command("trip", "--request", request, "--saga-id", "b", "--max-cost", "0.0001")
    assert (told.code, len(server.asked)) == (0, 0)
    assert "another question could exceed the $0.0001 that it may cost" in told.out
    told = command("trip", "--request", request, "--saga-id", "c", "--max-cost", "0.05")
    assert (told.code, len(server.asked)) == (0, 5)
    assert "proposed by openai:m: itinerary, days: cheap" in told.out


@pytest.mark.parametrize(
    ("name", "value", "field"),
    [
        ("SAGAGRAPH_MODEL", "gpt", "SAGAGRAPH_MODEL"),
        ("SAGAGRAPH_MODEL_PRICES", "cheap", "SAGAGRAPH_MODEL_PRICES"),
        ("SAGAGRAPH_MODEL_SECONDS", "0", "SAGAGRAPH_MODEL_SECONDS"),
    ],
)
def test_a_setting_that_cannot_be_is_exit_2_and_named(
    command: CommandLine, serve: Serve, monkeypatch: pytest.MonkeyPatch, name: str, value: str, field: str
) -> None:
    serve()
    monkeypatch.setenv(name, value)
    told = command("trip", "--request", command.request_file(), "--yes")
    assert told.code == 2
    assert told.complaint.startswith(f"{field}: ")


def assert_key_is_nowhere(command: CommandLine, told: Ended) -> None:
    assert KEY not in told.out + told.err
    for file in command.folder.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file
