"""With a language model: it understands and proposes; when it is down the rules go on; and its key is seen nowhere."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from sagagraph.sandbox.server import EmbeddedSandbox
from tests.cli.test_model import SLOTS
from tests.support.agents import first, picking
from tests.support.models import Asked, ModelServer, Say, Status
from tests.support.models.script import Move
from tests.ui.conftest import OpenVisit, Serve
from tests.ui.page import Visit
from tests.ui.server import Server

pytestmark = pytest.mark.skipif(find_spec("langchain_openai") is None, reason="the optional extra 'llm' is not installed")

KEY = "sk-canary-77bb02e4"
MUDDLED = "Berlin then Cologne, four nights and two, starting out in San Francisco, on 4 June 2025, no more than 5k!"


class Brain:
    """What the model says, as long as it is up."""

    is_down = False

    def __call__(self, asked: Asked) -> Move:
        if self.is_down:
            return Status(503)
        if "what somebody wrote" in asked.system + asked.user:
            return Say({"slots": SLOTS})
        return picking(first)(asked)


def assert_key_is_nowhere(person: Visit, server: Server, folder: Path) -> None:
    for path in ("/config", f"/api/v1/sagas/{person.saga_id}", f"/api/v1/sagas/{person.saga_id}/log"):
        assert KEY not in person.page.request.get(person.url + path).text(), path
    assert KEY not in person.page.content()
    assert KEY not in server.log
    for file in folder.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file


def test_a_model_understands_and_proposes_and_without_it_the_rules_go_on(
    store: Path, serve: Serve, sandbox: EmbeddedSandbox, visit: OpenVisit
) -> None:
    brain = Brain()
    with ModelServer([brain] * 50) as model:
        server = serve("--provider", sandbox.url, SAGAGRAPH_MODEL="openai:m", **model.environment(KEY))
        person = visit(server.url)
        person.say(MUDDLED)
        person.until_asked()
        person.until_filled({"origin": "San Francisco", "stops[0].nights": "4", "stops[1].nights": "2", "budget": "5000"})
        (proposed,) = [each for each in person.told("/log")["events"] if each["type"] == "PlanProposed"]
        assert proposed["data"]["proposed_by"] == "openai:m"
        person.say("yes")
        person.until("committed")
        person.open_record()
        assert_key_is_nowhere(person, server, store.parent)

        brain.is_down = True
        person.click("anew")
        person.page.locator('#status [data-status="none"]').wait_for(state="attached")
        person.say(MUDDLED)
        person.until_said("I went on without it")
        person.until_said("Where does the trip start?")
        person.click("anew")
        person.say("from San Francisco to Berlin for 4 nights and Cologne for 2 nights, leaving on 4 June 2025")
        person.until_asked()
        (proposed,) = [each for each in person.told("/log")["events"] if each["type"] == "PlanProposed"]
        assert proposed["data"]["proposed_by"] == "solver"
        assert "an outage; try again later (HTTP 503): planned without it" in proposed["data"]["reasons"][-1]
        assert_key_is_nowhere(person, server, store.parent)


TWO_READINGS = "Boston to Lisbon for 5 nights in May 2025 for 3 people, and room for 2 somehow, xyzzy"


def test_what_the_rules_have_read_differently_is_one_click_away(
    store: Path, serve: Serve, sandbox: EmbeddedSandbox, visit: OpenVisit
) -> None:
    def brain(asked: Asked) -> Move:
        if "what somebody wrote" in asked.system + asked.user:
            return Say({"slots": [{"field": "travellers", "value": "2", "quote": "and room for 2 somehow"}]})
        return picking(first)(asked)

    with ModelServer([brain] * 50) as model:
        person = visit(
            serve(
                "--provider", sandbox.url, SAGAGRAPH_MODEL="openai:m", SAGAGRAPH_MODEL_SECONDS="60", **model.environment(KEY)
            ).url
        )
        person.say(TWO_READINGS)
        person.until_filled({"travellers": "2", "origin": "Boston"})
        other = person.page.locator("#request .sg-other")
        assert (other.inner_text(), other.get_attribute("data-field")) == ("or 3", "travellers")
        before = person.until_asked()
        other.focus()
        person.page.keyboard.press("Enter")
        person.until_other_plan(before)
        person.until_filled({"travellers": "3"})
        assert other.count() == 0
        person.until_said("Now: Travellers: 2 → 3")
