"""Harnesses over REST and on their page: judged, explained, a limit signed for; and what is refused, bounded and escaped."""

from __future__ import annotations

import html
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
import pytest_asyncio

from sagagraph.access.login import Known
from sagagraph.access.roles import Role
from sagagraph.planning.background import in_processes
from sagagraph.ui.html.harness_sheets import harness_sheets
from sagagraph.ui.html.templates import rounded
from sagagraph.ui.server.app import create_app
from sagagraph.ui.server.options import ServerOptions
from sagagraph.ui.server.routes import harnesses
from sagagraph.ui.service import Service
from tests.ui.page import PATIENCE_MS
from tests.ui.server import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser

EXAMPLES = Path(__file__).parents[2] / "sagagraph/harness/examples"
RAIN, CLOUD = ((EXAMPLES / f"{name}.yaml").read_text() for name in ("ad_degradation", "cloud_sla"))
SPEED = "vehicle_speed_kmph_t5"
API = "/api/v1/harness"
in_loop = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def ann(service: Service) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(app=create_app(service, ServerOptions()))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as browser:
        yield browser


@in_loop
@pytest.mark.quick
async def test_an_artifact_is_judged_and_a_file_by_its_own_tests(ann: httpx2.AsyncClient) -> None:
    judged = (await ann.post(f"{API}/check", json={"harness": RAIN, "artifact": {SPEED: 83.999}})).json()
    assert [each["verdict"] for each in judged["rules"]] == ["FAIL", "FAIL"]
    assert (await ann.post(f"{API}/check", json={"harness": RAIN})).json()["verdict"] == "PASS"


@in_loop
@pytest.mark.quick
async def test_a_paradox_is_explained_and_overridden_once_by_whoever_signs(ann: httpx2.AsyncClient) -> None:
    said = (await ann.post(f"{API}/explain", json={"harness": RAIN})).json()
    assert (said["status"], len(said["conflicts"]), said["menu"][0]["option"]) == ("paradox", 1, "A")
    asked = {"harness": RAIN, "report": said["report"], "parameter": "max_deceleration_limit", "to": "3.62", "by": "Bob"}
    refused = [
        ({"reason": "comfort", "report": "0" * 64}, 409, "not the hash"),
        ({"reason": "comfort", "parameter": "road_friction_mu"}, 409, "not a negotiable parameter"),
        ({"reason": "comfort", "to": "3.5"}, 422, "does not resolve"),
        ({"reason": "comfort", "to": "much"}, 422, "not a decimal number"),
        ({"reason": "comfort", "by": "agent:planner"}, 409, "takes a person"),
        ({}, 422, "Field required"),
    ]
    for changed, status, words in refused:
        answer = await ann.post(f"{API}/override", json={**asked, **changed})
        assert (answer.status_code, words in answer.text) == (status, True), answer.text
    signed = (await ann.post(f"{API}/override", json={**asked, "reason": "comfort"})).json()
    assert (signed["by"], signed["before"], signed["to"]) == ("Bob", "2", "3.62")
    again = await ann.post(f"{API}/override", json={**asked, "reason": "comfort", "to": "3.7"})
    assert (again.status_code, "answered by Bob" in again.text) == (409, True)


@in_loop
async def test_a_run_ends_in_a_paradox_and_after_an_override_in_success(ann: httpx2.AsyncClient) -> None:
    first = (await ann.post(f"{API}/run", json={"harness": CLOUD})).json()
    assert (first["end"], first["artifact"]) == ("FAILED_PARADOX", {})
    signed = {"report": first["report"], "parameter": "budget", "to": "2300", "by": "Bob", "reason": "it sells"}
    assert (await ann.post(f"{API}/override", json={"harness": CLOUD, **signed})).status_code == 200
    after = (await ann.post(f"{API}/run", json={"harness": CLOUD, "run": first["saga_id"]})).json()
    assert (after["end"], after["saga_id"]) == ("SUCCESS", first["saga_id"])
    strange = await ann.post(f"{API}/run", json={"harness": CLOUD, "run": "somebody-else"})
    assert strange.status_code == 404


@in_loop
async def test_a_run_that_takes_too_long_is_broken_off_and_says_how_it_goes_on(
    ann: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = CLOUD.replace("harness: cloud_sla", "harness: slow_cloud")
    with in_processes():
        monkeypatch.setattr(harnesses, "_MOST_SECONDS", -9.7)
        late = await ann.post(f"{API}/run", json={"harness": other})
        named = re.search(r'send it again with "run": "(\S+-harness-\S+)"', late.json()["error"]["message"])
        assert (late.status_code, named is not None) == (422, True), late.text
        monkeypatch.undo()
        again = await ann.post(f"{API}/run", json={"harness": other, "run": named and named[1]})
    assert again.json().get("end") == "FAILED_PARADOX", again.text


@in_loop
async def test_whoever_has_logged_in_signs_with_that_name_only(service: Service) -> None:
    transport = httpx2.ASGITransport(app=create_app(service, ServerOptions(users={"grace": Known("hopper", Role.PLANNER)})))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", auth=("grace", "hopper")) as grace:
        sent = {"harness": RAIN.replace("harness: ad_degradation", "harness: signing"), "by": "Ada", "reason": "rain"}
        frozen = (await grace.post(f"{API}/freeze", json=sent)).json()
        assert frozen["by"] == "grace"


@in_loop
async def test_a_version_is_frozen_and_changed_by_two_people(ann: httpx2.AsyncClient) -> None:
    async def done(verb: str, by: str, text: str = RAIN) -> tuple[int, dict[str, Any]]:
        answer = await ann.post(f"{API}/{verb}", json={"harness": text, "by": by, "reason": "rain"})
        return answer.status_code, answer.json()

    assert (await done("freeze", "agent:planner"))[0] == 409
    code, frozen = await done("freeze", "Ada")
    assert (code, frozen["by"], frozen["mutation_score"]) == (200, "Ada", 1.0)
    later = re.sub(r"^version: .*$", "version: 9", RAIN, flags=re.MULTILINE)
    assert later != RAIN
    assert (await done("freeze", "Ada", later))[0] == 409
    assert (await done("propose", "Ada", later))[0] == 200
    assert (await done("approve", "Ada", later))[0] == 409
    assert (await done("approve", "Bob", later))[0] == 200
    assert (await done("freeze", "Ada", later))[0] == 200
    told = (await ann.get(f"{API}/ad_degradation/audit")).json()
    assert ([each["version"] for each in told["frozen"]][-1], told["broken_links"]) == (9, [])


@in_loop
async def test_certificates_are_checked_by_other_code(ann: httpx2.AsyncClient) -> None:
    said = (await ann.post(f"{API}/explain", json={"harness": CLOUD})).json()
    proof = said["certificates"]
    checked = (await ann.post(f"{API}/replay", json={"harness": CLOUD, "certificates": proof})).json()
    assert checked["accepted"]
    other = (await ann.post(f"{API}/replay", json={"harness": RAIN, "certificates": proof})).json()
    assert not other["accepted"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"harness": "rules: ["}, "cannot be read as YAML"),
        ({"harness": "rules: [{id: A, assertion: __import__('os')}]"}, "no function of the assertion language"),
        ({"harness": "x" * 100_001}, "at most 100000"),
        ({"harness": RAIN, "seconds": 31}, "30"),
        ({"harness": RAIN, "rules": []}, "Extra inputs"),
        ({}, "Field required"),
    ],
)
@in_loop
@pytest.mark.quick
async def test_what_cannot_be_read_or_is_too_much_is_answered_with_422(
    ann: httpx2.AsyncClient, body: dict[str, Any], words: str
) -> None:
    answer = await ann.post(f"{API}/explain", json=body)
    assert (answer.status_code, words in answer.text) == (422, True), answer.text


@in_loop
@pytest.mark.quick
async def test_the_page_shows_what_a_file_says_as_text(ann: httpx2.AsyncClient) -> None:
    hostile = CLOUD.replace("BUDGET", '"<script>alert(1)</script>"')
    for file, status in ((hostile, 200), (hostile.replace("replicas", "<b>"), 422)):
        answer = await ann.post("/harness", data={"harness": file})
        assert (answer.status_code, "&lt;script&gt;" in answer.text) == (status, True), answer.text
        assert (await ann.post("/harness", content=b"a=1&" * 100)).status_code == 422
        assert not {"<script>", "<b>"} & set(re.findall("<[a-z]+>", answer.text))


@in_loop
@pytest.mark.quick
async def test_an_example_is_explained_at_a_click_and_its_sheet_changes_the_file(ann: httpx2.AsyncClient) -> None:
    shown = await ann.get("/harness", params={"example": "cloud_sla"})
    assert (shown.status_code, "Nothing can pass: that is proven" in shown.text) == (200, True)
    entries = dict(re.findall(r'<input [^>]*name="([^"]+)"[^>]* value="([^"]+)"', shown.text))
    entries = {name: html.unescape(value) for name, value in entries.items()}
    entries |= dict(re.findall(r'<select name="([^"]+)"[^>]*>.*?<option selected>([^<]+)</option>', shown.text))
    assert (entries["variable-3-value"], entries["rule-1-severity"]) == ("1200", "CRITICAL")
    same = await ann.post("/harness", data={"harness": CLOUD, **entries})
    assert "# Availability of a service" in same.text, "what is not changed is left as it was written"
    dearer = await ann.post("/harness", data={"harness": CLOUD, **entries, "variable-3-value": "2300"})
    assert ("It can be done" in dearer.text, "value: 2300" in dearer.text) == (True, True), dearer.text
    tried = await ann.post("/harness", data={"harness": CLOUD, "try": "replicas_needed=2;"})
    assert "It can be done" in tried.text
    more = {"rule-2-name": "ODD", "rule-2-what must hold": "replicas >= 3", "rule-2-severity": "CRITICAL", "rule-0-name": ""}
    changed = await ann.post("/harness", data={"harness": CLOUD, **entries, **more, "variable-3-value": "9000"})
    assert ("id: ODD" in changed.text, "id: AVAILABILITY" in changed.text) == (True, False)


@pytest.mark.parametrize(
    ("cell", "typed", "why"),
    [
        ("rule-1-what must hold", "replicas * cheese <= ", "ends where more is expected"),
        ("rule-1-what must hold", "replicas * cheese <= 3", "cheese is neither a variable nor derived"),
        ("variable-0-from", "[", "must be a number"),
    ],
)
@in_loop
@pytest.mark.quick
async def test_a_cell_that_cannot_be_read_says_why_and_stays(ann: httpx2.AsyncClient, cell: str, typed: str, why: str) -> None:
    entries = {each.name: each.value for sheet in harness_sheets(CLOUD) for _, cells in sheet.rows for (each,) in cells}
    answer = await ann.post("/harness", data={"harness": CLOUD, **entries, cell: typed})
    marked = re.findall(r'name="([^"]+)"[^>]*aria-invalid="true">.*?<small[^>]*>([^<]*)</small>', answer.text, re.DOTALL)
    assert (answer.status_code, [(name, why in told) for name, told in marked]) == (422, [(cell, True)]), marked
    assert "No way out moves the limit of a FATAL rule" in answer.text


@in_loop
@pytest.mark.quick
async def test_formulas_of_derived_quantities_stand_under_a_heading_of_their_own(ann: httpx2.AsyncClient) -> None:
    columns = {each.title: each.columns for each in harness_sheets(RAIN)}
    assert (columns["Derived"], columns["Rules"]) == (("name", "formula"), ("name", "what must hold", "severity"))
    entries = {each.name: each.value for sheet in harness_sheets(RAIN) for _, cells in sheet.rows for (each,) in cells}
    more = {"derived-2-name": "twice", "derived-2-formula": "2 * vehicle_speed_kmph_t5"}
    added = await ann.post("/harness", data={"harness": RAIN, **entries, **more})
    assert (added.status_code, "twice: 2 * vehicle_speed_kmph_t5" in added.text) == (200, True), added.text
    wrong = await ann.post("/harness", data={"harness": RAIN, **entries, "derived-1-formula": "cheese"})
    marked = re.findall(r'name="([^"]+)"[^>]*aria-invalid="true"', wrong.text)
    assert (wrong.status_code, marked) == (422, ["derived-1-formula"]), wrong.text


@in_loop
@pytest.mark.quick
async def test_a_way_says_by_what_share_a_limit_gives_way_and_that_its_cost_is_relative(ann: httpx2.AsyncClient) -> None:
    shown = (await ann.get("/harness", params={"example": "cloud_sla"})).text
    cells = re.findall(r"from 1200 to 2250</td>\n<td>([^<]*)<small[^>]*>([^<]*)</small>", shown)
    assert cells == [("87.5&nbsp;% ", "relative cost: money 0.875")], shown
    assert "no sum of money" in shown
    from_nothing = (await ann.post("/harness", data={"harness": CLOUD.replace("value: 1200", "value: 0")})).text
    assert re.search(r"from 0 to 2250</td>\n<td> <small", from_nothing), "a share of nothing is none"


@pytest.mark.parametrize(
    ("value", "away_from", "text"),
    [
        (69.4444449, 30, "69.5"),
        (2.666667, 5, "2.66"),
        (-1.23456, 0, "-1.24"),
        (2302.5, 1200, "2303"),
        (2250, 1200, "2250"),
        (3.59942036, 2, "3.6"),
        (0.00012345, 0, "0.000124"),
        (0.0, 0, "0"),
        (1e300, 0, "1e+300"),
        (float("inf"), 0, "inf"),
        (True, False, "True"),
        (2.5, "1/1000", "2.5"),
    ],
)
@pytest.mark.quick
def test_a_number_is_shown_with_few_digits_on_the_side_that_suffices(value: Any, away_from: Any, text: str) -> None:
    assert rounded(value, away_from) == text


@in_loop
@pytest.mark.quick
async def test_a_way_is_shown_with_few_digits_and_tried_with_all(ann: httpx2.AsyncClient) -> None:
    shown = (await ann.get("/harness", params={"example": "ad_degradation"})).text
    told, tried = shown.replace("<wbr>", ""), "perception_range_limit=69.4444449;"
    assert ("perception_range_limit from 30 to 69.5<" in told, f'value="{tried}"' in told) == (True, True), shown


@pytest.mark.parametrize(
    ("domain", "rule", "allowed"),
    [
        ("[1, 20]", "replicas * price <= budget", [(1, 2)]),
        ("[1, 20]", "replicas < 3", [(1, 2)]),
        ("[0.5, 20.5]", "replicas > 2.5", [(3, 20)]),
        ("[1, 20]", "replicas <= 3 or replicas > 17.3", [(1, 3), (18, 20)]),
        ("[0.2, 0.8]", "replicas * price <= budget", []),
        ("[0, 1000000]", "replicas <= 123456.5", [(0, 123456)]),
    ],
)
@pytest.mark.quick
def test_a_rule_over_an_integer_holds_from_a_whole_number_to_one(domain: str, rule: str, allowed: list[tuple[int, int]]) -> None:
    text = (
        re.sub("unit: [^,]+", 'unit: "1"', CLOUD)
        .replace("[1, 20]", domain)
        .replace("replicas * price <= budget", rule)
        .split("tests:")[0]
    )
    assert harnesses.explained(text, 20, drawn=True)["region"]["allowed"]["BUDGET"] == allowed


def test_beaten_ways_are_folded_away_and_no_word_of_a_way_is_broken_on_a_phone(server: Server, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{server.url}/harness?example=ad_degradation")
    tries = page.get_by_role("button", name="Try way")
    page.get_by_role("button", name="Try way B").wait_for()
    assert [tries.nth(n).inner_text() for n in range(tries.count())] == ["Try it"] * 2
    page.get_by_text("Ways that another option beats: 4").click()
    assert tries.count() == 6
    assert page.evaluate(BROKEN) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.close()


BROKEN = """() => [...document.querySelectorAll('[aria-label^="Ways"] td')].flatMap(cell => {
  const found = [], texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) for (const word of texts.currentNode.data.matchAll(/[a-zA-Z]+/g)) {
    const range = document.createRange()
    range.setStart(texts.currentNode, word.index)
    range.setEnd(texts.currentNode, word.index + word[0].length)
    if (new Set([...range.getClientRects()].map(each => each.top)).size > 1) found.push(word[0])
  }
  return found
})"""
"""Words within a cell that go on in the next line."""


def test_a_visitor_sees_the_number_line_the_conflict_and_the_menu_tries_a_way_out_and_signs(
    browser: Browser, server: Server
) -> None:
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{server.url}/harness")
    page.click("text=As a file, in YAML")
    page.fill("#harness", RAIN.replace("version: 1", "version: 7"))
    clicked = "button => { button.click(); return button.getAttribute('aria-busy') }"
    assert page.get_by_text("Explain this file").evaluate(clicked) == "true"
    line = page.locator("svg.number-line")
    line.wait_for(timeout=PATIENCE_MS)
    assert line.locator("rect").count() == 2
    assert {"0 to 55.2", "84 to 130"} <= set(re.findall(r": ([0-9.]+ to [0-9.]+)", page.inner_text("section ul")))
    assert "FORWARD_COLLISION" in page.inner_text(".conflict")
    assert "another option beats" in page.inner_text("section summary")
    page.click("text=Sign for another value")
    page.select_option("select[name=parameter]", "max_deceleration_limit")
    for name, value in (("to", "3.62"), ("by", "Bob"), ("reason", "comfort")):
        page.fill(f"input[name={name}]", value)
    page.get_by_role("button", name="Sign").click()
    assert "Bob moved max_deceleration_limit from 2 to 3.62 for one run" in page.inner_text("[role=status]")
    page.get_by_role("button", name="Try way B").click()
    page.get_by_text("It can be done").wait_for()
    page.close()
