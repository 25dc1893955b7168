"""Missions over REST and on their page: begun, approved, sent back, answered, accepted; each belongs to one visitor."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
import pytest_asyncio
from axe_playwright_python.sync_playwright import Axe

from sagagraph.ui.server.app import create_app
from sagagraph.ui.server.options import ServerOptions
from sagagraph.ui.service import Service
from tests.ui.page import PATIENCE_MS
from tests.ui.test_looks import GRAVE

if TYPE_CHECKING:
    from tests.ui.conftest import OpenVisit, Serve

API = "/api/v1/missions"
GOAL = "research EU AI Act compliance for our product"
in_loop = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def ann(service: Service) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(app=create_app(service, ServerOptions()))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as browser:
        yield browser


async def until(browser: httpx2.AsyncClient, mission_id: str, state: str) -> Any:
    for _number in range(500):
        told = (await browser.get(f"{API}/{mission_id}")).json()
        if told["state"] == state:
            return told
        await asyncio.sleep(0.02)
    raise AssertionError(f"it is {told['state']} ({told['error']}, {told['problem']}), and not {state}")


@in_loop
@pytest.mark.quick
async def test_a_mission_over_rest(ann: httpx2.AsyncClient) -> None:
    config = {"autonomy_mode": "approve", "max_cost_usd": 3, "max_concurrent_tasks": 2}
    created = await ann.post(API, json={"goal": GOAL, "config": config})
    begun = created.json()
    assert (created.status_code, begun["state"], begun["plan_version"], begun["tasks"]) == (201, "planning", 0, [])
    name = begun["mission_id"]
    shown = await until(ann, name, "awaiting_approval")
    assert (shown["plan_version"], len(shown["tasks"]), len(shown["edges"])) == (1, 4, 3)
    assert shown["estimate"]["cost_usd"] == pytest.approx(1.40 * 1.03 + 0.10)
    refused = await ann.post(f"{API}/{name}/approve", json={"plan": "another"})
    assert (refused.status_code, "look at it again" in refused.json()["error"]["message"]) == (409, True)
    agreed = {"plan": shown["plan_hash"], "reassign": [{"task_id": 2, "agent": "writer"}]}
    assert (await ann.post(f"{API}/{name}/approve", json=agreed)).status_code == 200
    done = await until(ann, name, "awaiting_review")
    assert [each["agent_id"] for each in done["tasks"]] == ["researcher", "writer", "writer", "reviewer"]
    assert {each["task_id"] for each in (await ann.get(f"{API}/{name}/tasks")).json()["tasks"]} == {1, 2, 3, 4}
    one = (await ann.get(f"{API}/{name}/tasks/3")).json()
    assert "Executive Summary" in one["output"]
    assert (await ann.get(f"{API}/{name}/tasks/9")).status_code == 404
    rejected = {"decision": "reject", "tasks": [{"task_id": 4, "reason": "too surface level"}]}
    assert (await ann.post(f"{API}/{name}/review", json=rejected)).status_code == 200
    again = await until(ann, name, "awaiting_review")
    assert (again["tasks"][3]["generation"], again["tasks"][3]["feedback"][0]["reason"]) == (2, "too surface level")
    assert (await ann.post(f"{API}/{name}/review", json={"decision": "accept"})).json()["state"] == "completed"
    assert (await ann.post(f"{API}/{name}/routine")).json()["routine"] == f"Routine: {GOAL}"
    second = (await ann.post(API, json={"goal": GOAL})).json()["mission_id"]
    assert (await until(ann, second, "awaiting_approval"))["template"] == f"Routine: {GOAL}"
    ann.cookies.clear()  # somebody else: a routine, with the words of a goal in it, is its owner's
    third = (await ann.post(API, json={"goal": GOAL})).json()["mission_id"]
    assert (await until(ann, third, "awaiting_approval"))["template"] == "research_and_report"


@in_loop
async def test_what_has_happened(ann: httpx2.AsyncClient) -> None:
    name = (await ann.post(API, json={"goal": GOAL, "config": {"autonomy_mode": "full_auto"}})).json()["mission_id"]
    await until(ann, name, "completed")
    kinds = [each["type"] for each in (await ann.get(f"{API}/{name}/events")).json()["events"]]
    assert kinds[0] == "run_started"
    assert kinds.count("task_completed") == 4
    assert name in [each["mission_id"] for each in (await ann.get(API)).json()["missions"]]
    assert (await ann.delete(f"{API}/{name}")).status_code == 409


@in_loop
async def test_the_other_verbs(ann: httpx2.AsyncClient) -> None:
    first = (await ann.post(API, json={"goal": GOAL})).json()["mission_id"]
    await until(ann, first, "awaiting_approval")
    assert (await ann.post(f"{API}/{first}/tasks/2/skip", json={})).status_code == 200
    assert (await ann.post(f"{API}/{first}/budget", json={"max_cost_usd": 1.5})).json()["budget"]["cap_usd"] == 1.5
    assert (await ann.post(f"{API}/{first}/pause", json={})).status_code == 409
    assert (await ann.post(f"{API}/{first}/reject", json={"reason": "no"})).json()["state"] == "failed"
    second = (await ann.post(API, json={"goal": GOAL})).json()["mission_id"]
    await until(ann, second, "awaiting_approval")
    assert (await ann.delete(f"{API}/{second}")).json()["state"] == "cancelled"
    before = (await ann.get(API)).json()
    novel = await ann.post(API, json={"goal": "paint the kitchen"})
    assert (novel.status_code, "no template fits" in novel.text, (await ann.get(API)).json()) == (422, True, before)


@in_loop
@pytest.mark.quick
async def test_what_is_wrong_is_named(ann: httpx2.AsyncClient) -> None:
    for body, field in [
        ({"goal": ""}, "goal"),
        ({"goal": GOAL, "config": {"autonomy_mode": "yolo"}}, "config.autonomy_mode"),
        ({"goal": GOAL, "config": {"max_cost_usd": -1}}, "config.max_cost_usd"),
        ({"goal": GOAL, "config": {"max_cost_usd": "NaN"}}, "config.max_cost_usd"),
        ({"goal": GOAL, "config": {"colour": "red"}}, "config"),
    ]:
        answer = await ann.post(API, json=body)
        assert (answer.status_code, answer.json()["error"]["field"]) == (422, field), body


@in_loop
async def test_odd_decisions_are_refused_and_change_nothing(ann: httpx2.AsyncClient) -> None:
    name = (await ann.post(API, json={"goal": GOAL})).json()["mission_id"]
    before = await until(ann, name, "awaiting_approval")
    for path, body, field in [
        ("approve", {"reassign": [{}]}, "reassign"),
        ("approve", {"reassign": [{"task_id": "x", "agent": "writer"}]}, "reassign"),
        ("approve", {"reassign": [{"task_id": 1, "agent": None}]}, "reassign"),
        ("approve", {"reassign": [{"task_id": [1], "agent": "writer"}]}, "reassign"),
        ("budget", {"max_cost_usd": -1}, "max_cost_usd"),
        ("budget", {"max_tokens": 0}, "max_tokens"),
        ("budget", {}, "budget"),
    ]:
        answer = await ann.post(f"{API}/{name}/{path}", json=body)
        assert (answer.status_code, field in answer.json()["error"]["field"]) == (422, True), (path, body, answer.text)
    for path, body in [
        ("approve", {"reassign": [{"task_id": 99, "agent": "writer"}]}),
        ("review", {"decision": "accept"}),
        ("resume", {}),
        ("tell", {"text": "faster"}),
        ("tasks/1/retry", {}),
        ("tasks/1/accept", {}),
        ("routine", {}),
    ]:
        assert (await ann.post(f"{API}/{name}/{path}", json=body)).status_code == 409, (path, body)
    for path in ("tasks/0/skip", f"tasks/{10**30}/skip", "tasks/-1/retry"):
        assert (await ann.post(f"{API}/{name}/{path}", json={})).status_code in (404, 422), path
    for path in ("tasks/x/skip", "fly"):
        assert (await ann.post(f"{API}/{name}/{path}", json={})).status_code in (404, 405, 422), path
    for config in (
        {"max_cost_usd": "1e400"},
        {"max_cost_usd": []},
        {"stall_s": {"running": "x"}},
        {"max_seconds": -1},
        {"max_turns": 0},
    ):
        answer = await ann.post(API, json={"goal": GOAL, "config": config})
        assert answer.status_code == 422, (config, answer.text)
    for raw in (b"", b"{", b"[]", b'{"goal": 7}', b"\xff"):
        assert (await ann.post(API, content=raw, headers={"content-type": "application/json"})).status_code in (400, 422), raw
    assert (await ann.get(f"{API}/{name}")).json() == before


@in_loop
async def test_somebody_elses_mission_does_not_exist(ann: httpx2.AsyncClient, service: Service) -> None:
    name = (await ann.post(API, json={"goal": GOAL})).json()["mission_id"]
    await until(ann, name, "awaiting_approval")
    transport = httpx2.ASGITransport(app=create_app(service, ServerOptions()))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as bob:
        assert (await bob.get(f"{API}/{name}")).status_code == 404
        assert (await bob.post(f"{API}/{name}/approve", json={})).status_code == 404
        assert (await bob.get(API)).json() == {"missions": []}


@in_loop
async def test_the_board(ann: httpx2.AsyncClient) -> None:
    page = await ann.get("/missions")
    assert (page.status_code, "What is to be reached" in page.text or "what is to be reached" in page.text) == (200, True)
    sent = await ann.post("/missions", data={"goal": "research <b>bold</b> claims", "max_cost_usd": "2"}, follow_redirects=False)
    assert sent.status_code == 303
    place = sent.headers["location"]
    await until(ann, place.rpartition("/")[2], "awaiting_approval")
    board = (await ann.get(place)).text
    assert "Approve the plan" in board
    assert "<b>bold</b>" not in board
    assert len(re.findall("<article", board)) == 4
    await ann.post(place, data={"verb": "approve"})
    await until(ann, place.rpartition("/")[2], "awaiting_review")
    back = await ann.post(place, data={"verb": "review", "decision": "reject", "task_id": "4", "reason": "again"})
    assert back.status_code == 303
    await until(ann, place.rpartition("/")[2], "awaiting_review")
    await ann.post(place, data={"verb": "review", "decision": "accept"})
    assert "Save as a routine" in (await ann.get(place)).text
    refused = await ann.post(place, data={"verb": "pause"})
    assert (refused.status_code, 'role="alert"' in refused.text) == (422, True)
    for goal, why in (("", "say what is to be reached"), ("Write a haiku about rain", "no template fits it")):
        answer = await ann.post("/missions", data={"goal": goal})
        marked = re.findall(r'value="([^"]*)" aria-invalid="true">\s*<small role="alert">([^<]*)', answer.text)
        assert (answer.status_code, [(typed, why in told) for typed, told in marked]) == (422, [(goal, True)]), answer.text


@in_loop
@pytest.mark.quick
async def test_the_first_page_says_what_can_be_asked_and_an_example_fills_its_form(ann: httpx2.AsyncClient) -> None:
    first = (await ann.get("/missions")).text
    assert ("compare options" in first, "assumed: change it" in first, 'class="sg-track"' in first) == (True, True, True)
    examples = re.findall(r'href="(\?goal=[^"]+)">([^<]+)<', first)
    assert len(examples) == 3
    for link, goal in examples:
        assert f'value="{goal}"' in (await ann.get(f"/missions{link}")).text


def test_a_mission_is_begun_in_the_chat_answered_and_sent_back_on_the_board(serve: Serve, visit: OpenVisit) -> None:
    server = serve(SAGAGRAPH_AGENTS="tests.support.missions:unsure_team")
    person = visit(server.url, reduced_motion="reduce")
    page, found, axe = person.page, {}, Axe()

    def look(at: str) -> None:
        rules = axe.run(page, options={"resultTypes": ["violations"]}).response["violations"]
        if serious := [(each["id"], each["nodes"][0]["html"][:200]) for each in rules if each["impact"] in GRAVE]:
            found[at] = serious

    person.say(GOAL)
    page.get_by_text("That is work for a team").wait_for()
    page.get_by_role("link", name="Missions").click()
    look("missions")
    page.get_by_role("link", name=GOAL).click()
    page.get_by_role("button", name="Approve the plan").wait_for()
    look("awaiting approval")
    page.get_by_role("button", name="Approve the plan").click()
    page.get_by_role("button", name="Try task 4 again").wait_for(timeout=PATIENCE_MS)
    look("waits for a person")
    assert "the verifier is not sure" in page.inner_text("[aria-label='Waits for you']")
    page.get_by_role("button", name="Try task 4 again").click()
    page.get_by_role("button", name="Accept the result").wait_for(timeout=PATIENCE_MS)
    look("awaiting review")
    page.get_by_text("Send task 3 back").first.click()
    page.locator("#task-3 input[name=reason]").fill("too surface level")
    page.locator("#task-3").get_by_role("button", name="Send task 3 back").click()
    page.get_by_role("button", name="Accept the result").wait_for(timeout=PATIENCE_MS)
    page.get_by_role("button", name="Accept the result").click()
    page.get_by_role("button", name="Save as a routine").wait_for(timeout=PATIENCE_MS)
    look("completed")
    assert page.locator("section[aria-label=done] article").count() == 4
    assert found == {}
    assert person.faults == []
