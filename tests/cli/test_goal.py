"""`sagagraph goal`: the library of docs/goals.md, by template and by a model over the wire: repair, errors, cancellation."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.cli.commands import CommandLine
from tests.support.models import ModelServer, Say

DOCUMENT = Path(__file__).parents[2] / "docs" / "goals.md"
ROOM = {"id": "r", "action": "book_room", "kind": "compensatable", "inputs": {"hotel": "Post"}, "cost": 90}


@pytest.fixture(scope="module")
def errands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The module of the documentation, where it can be imported."""
    folder = tmp_path_factory.mktemp("errands")
    source = re.search(r"```python\n(# errands\.py.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert source
    (folder / "errands.py").write_text(source[1])
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setenv("SAGAGRAPH_GOALS", "errands:LIBRARY")
        yield


@pytest.mark.quick
def test_a_template_is_planned_repaired_and_can_be_cancelled(command: CommandLine, errands: None) -> None:
    request = command.folder / "room.json"
    request.write_text(json.dumps({"type": "room", "hotel": "Adler", "budget": 100}))
    told = command("goal", "--request", str(request), "--saga-id", "g", "--json")
    assert (told.code, told.json["status"]) == (0, "awaiting_approval")
    told = command("approve", "g", "--json")
    assert told.json["status"] == "awaiting_approval"  # the other way is another plan
    assert command("approve", "g", "--json").json["status"] == "committed"
    (booked,) = [each["data"] for each in command.journal("g") if each["type"] == "OperationSucceeded"]
    assert booked["output"] == "a room at Post"
    assert command("cancel", "g", "--json").json["status"] == "compensated"


@pytest.mark.skipif(find_spec("langchain_openai") is None, reason="the optional extra 'llm' is not installed")
def test_a_goal_in_words_is_planned_by_the_model_within_its_budget(
    command: CommandLine, errands: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    dear = {"steps": [ROOM | {"cost": 101}]}
    with ModelServer([Say(dear), Say({"steps": [ROOM]})]) as server:
        for name, value in {**server.environment(), "SAGAGRAPH_MODEL": "openai:m", "SAGAGRAPH_MODEL_SECONDS": "60"}.items():
            monkeypatch.setenv(name, value)
        told = command("goal", "a room at the Post, for at most $100", "--yes", "--saga-id", "g", "--json")
    assert (told.code, told.json["status"]) == (0, "committed")
    assert "the budget is 100" in server.asked[1].user
    assert told.json["models"][0]["questions"] == 2


@pytest.mark.parametrize(
    ("goals", "said"),
    [
        ("", "name the library with your actions as package.module:NAME"),
        ("errands", "name the library"),
        ("nowhere:LIBRARY", "cannot be loaded: No module named 'nowhere'"),
        ("errands:GoalLibrary", "is a type, not a GoalLibrary"),
    ],
)
def test_a_library_that_is_not_there_is_said_and_nothing_is_begun(
    command: CommandLine, errands: None, monkeypatch: pytest.MonkeyPatch, goals: str, said: str
) -> None:
    monkeypatch.setenv("SAGAGRAPH_GOALS", goals)
    ended = command("goal", "a room", "--yes")
    assert ended.code == 2
    assert ended.complaint.startswith("SAGAGRAPH_GOALS: ")
    assert said in ended.complaint


def test_without_a_model_a_goal_in_words_ends_with_the_reason(command: CommandLine, errands: None) -> None:
    told = command("goal", "a room at the Post", "--yes", "--json")
    assert (told.code, told.json["status"]) == (1, "infeasible")
    assert "no model is available" in told.json["reason"]
