"""What can be read where: on a phone nothing sticks out, and texts stand out from their background, bright and dark."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from sagagraph.sandbox.server import EmbeddedSandbox
from tests.ui.books import order
from tests.ui.conftest import OpenVisit
from tests.ui.page import SAMPLE, THANKSGIVING, Visit
from tests.ui.server import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser

GRAVE = ("serious", "critical")
GRADIOS_OWN = {"scrollable-region-focusable": "the list of messages of its chatbot"}
"""Rules of axe that components of Gradio break by themselves, and where."""
PHONE = {"width": 390, "height": 844}
PICTURES = {"Where": "#route", "When": "#timeline"}
READABLE = 4.5
"""WCAG 2, level AA."""

FAINT_TEXTS = """(least) => {
  const numbers = text => (text.match(/[\\d.]+/g) || []).map(Number)
  const over = ([r, g, b, a = 1], under) => [r, g, b].map((c, n) => c * a + under[n] * (1 - a))
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map(c => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    return 0.2126 * x + 0.7152 * y + 0.0722 * z
  }
  const above = el => { const all = []; for (; el; el = el.parentElement) all.push(el); return all }
  const ground = el => above(el).reverse().reduce((c, each) => {
    const own = numbers(getComputedStyle(each).backgroundColor)
    return own.length === 4 && own[3] === 0 ? c : over(own, c)
  }, [255, 255, 255])
  const faint = []
  const texts = '.sg-picture *, .sg-card *, .sg-scroll *, .sg-muted, #chat .message *, [data-testid="block-info"]'
  for (const el of document.querySelectorAll(texts)) {
    const said = [...el.childNodes].filter(n => n.nodeType === 3).map(n => n.textContent).join('').trim()
    const words = el.tagName === 'text' ? el.textContent.trim() : said
    const box = el.getBoundingClientRect()
    if (!words || !box.width || !box.height) continue
    const style = getComputedStyle(el), under = ground(el)
    const ink = numbers(el instanceof SVGElement ? style.fill : style.color)
    const opacity = above(el).reduce((o, each) => o * Number(getComputedStyle(each).opacity), 1)
    const seen = over([...ink.slice(0, 3), (ink[3] ?? 1) * opacity], under)
    const [dark, bright] = [light(seen), light(under)].sort((a, b) => a - b)
    const contrast = (bright + 0.05) / (dark + 0.05)
    if (contrast < least) faint.push([words.slice(0, 30), Math.round(contrast * 100) / 100])
  }
  return faint
}"""

ON_TOP_OF_EACH_OTHER = """(where) => {
  const boxes = [...document.querySelectorAll(where + ' span, ' + where + ' li')]
    .map(el => [el.textContent.trim(), el.getBoundingClientRect()])
    .filter(([words, box]) => words && box.width)
  const common = (a, b, from, to) => Math.min(a[to], b[to]) - Math.max(a[from], b[from])
  const meet = (a, b) => common(a, b, 'left', 'right') > 2 && common(a, b, 'top', 'bottom') > 2
  return boxes.flatMap(([name, box], n) =>
    boxes.slice(n + 1).filter(([, other]) => meet(box, other)).map(([other]) => [name, other]))
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_every_tab_fits_and_can_be_read(server: Server, visit: OpenVisit, scheme: str) -> None:
    person = visit(server.url, viewport=PHONE, color_scheme=scheme, reduced_motion="reduce")
    person.page.get_by_label("A reunion").check()
    person.until_said("Who comes together")
    person.say(THANKSGIVING)
    person.until_asked()
    found: dict[str, Any] = {}

    def look(at: str) -> None:
        width = person.page.evaluate("document.documentElement.scrollWidth")
        faint = person.page.evaluate(FAINT_TEXTS, READABLE)
        if width > PHONE["width"] or faint:
            found[at] = (width, faint)

    for tab, picture in PICTURES.items():
        person.tab(tab)
        person.page.locator(f"{picture} .sg-picture").wait_for()
        look(tab)
        assert person.page.evaluate(ON_TOP_OF_EACH_OTHER, picture) == [], tab
    person.open_record()
    for tab in ("Steps", "Journal", "State", "Verdicts"):
        person.tab(tab)
        look(f"Under the hood, {tab}")
    assert found == {}
    assert person.faults == []


IDENTIFIERS = re.compile(r"\b(?:[0-9a-f]{12,}|[uv][0-9a-f]{6,}(?:-\w+)*|T\d(?:\.\d)?)\b|\bsaga\b|\bvisitor [0-9a-f]+")
"""Hashes, ids of sagas and operations, and words of the machinery."""
ABOVE_THE_HOOD = """() => [...document.body.querySelectorAll('.gradio-container *')]
  .filter(el => !el.closest('#hood') && !el.children.length && el.checkVisibility())
  .map(el => el.innerText || el.value || '').join('\\n')"""
SMALL = """() => [...document.querySelectorAll('button, a, summary, [role=tab]')]
  .map(el => [el.innerText || el.id, el.getBoundingClientRect(), el])
  .filter(([, box, el]) => box.width && !el.closest('#hood') && !el.closest('#chat') && box.height > 2 && box.height < 38)
  .map(([name, box]) => [name.slice(0, 30), Math.round(box.height)])"""
FIRST_LOAD_KB = 450


def test_from_the_front_door_to_the_booking_nothing_is_an_identifier_and_everything_has_a_name(
    server: Server, sandbox: EmbeddedSandbox, visit: OpenVisit
) -> None:
    axe = Axe()
    person = visit(server.url, reduced_motion="reduce")  # a colour that is about to change has no contrast of its own
    found: dict[str, object] = {}

    def look(at: str) -> None:
        said = person.page.evaluate(ABOVE_THE_HOOD)
        rules = axe.run(person.page, options={"resultTypes": ["violations"]}).response["violations"]
        serious = [(each["id"], [node["html"][:120] for node in each["nodes"]]) for each in rules if each["impact"] in GRAVE]
        ours = [each for each in serious if each[0] not in GRADIOS_OWN]
        if ours or IDENTIFIERS.findall(said) or person.page.evaluate(SMALL):
            found[at] = ours, IDENTIFIERS.findall(said), person.page.evaluate(SMALL)

    look("front door")
    person.say(SAMPLE)
    first = person.until_asked()
    person.tab("Where")
    look("proposal")
    order(sandbox.url, person.saga_id, "refuse", kind="hotel", call="book")
    person.click("approve")
    person.until_other_plan(first)
    look("repair")
    person.click("approve")
    person.until("committed")
    assert person.page.locator(".sg-reference").count() == 5
    person.page.locator("#take-along").get_by_text("Calendar file").wait_for()
    person.say("cancel the trip")
    person.click("cancel")
    person.page.locator("#preview").get_by_text("Cancelling now would undo").wait_for()
    look("booking")
    person.click("keep")
    person.click("anew")
    person.page.locator("#plan-0").get_by_text("Done for").wait_for()
    look("own plans")
    assert found == {}
    person.page.locator("#plan-0").click()
    person.until("committed")


def test_the_first_words_are_there_before_any_script_and_the_first_load_is_light(server: Server, browser: Browser) -> None:
    with browser.new_context(java_script_enabled=False) as without:
        page = without.new_page()
        page.goto(server.url)
        assert page.get_by_role("heading", name="SagaGraph").is_visible()
        assert page.get_by_text("nothing is really bought").is_visible()
    with browser.new_context() as fresh:
        page = fresh.new_page()
        sizes: list[float] = []
        tracing = fresh.new_cdp_session(page)
        tracing.send("Network.enable")
        tracing.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
        page.goto(server.url)
        page.locator("#front-door").wait_for()
        page.wait_for_timeout(500)
        painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        assert not page.locator("#first-words").is_visible()
    assert sum(sizes) / 1024 < FIRST_LOAD_KB
    assert painted < 5_000  # a second on an idle machine


def test_two_windows_show_the_same_and_each_domain_keeps_its_conversation(server: Server, visit: OpenVisit) -> None:
    one = visit(server.url)
    two = Visit.to(server.url, one.page.context)
    one.say("Boston to Lisbon for 5 nights in May 2025")
    first = one.until_asked()
    assert two.until_asked() == first
    one.page.get_by_label("A reunion").check()
    one.until_said("Who comes together")
    one.say("Dinner at 6 pm at home")
    one.page.get_by_label("A trip").check()
    assert one.until_asked() == first
    one.page.get_by_label("A reunion").check()
    one.until_said("Dinner at 6 pm at home")


HEAD = """() => { const all = [...document.querySelectorAll('.sg-front h1')].filter(each => each.checkVisibility())
  const box = all[0].getBoundingClientRect(); return [box.left, box.top, getComputedStyle(all[0]).fontSize] }"""


@pytest.mark.parametrize("viewport", [PHONE, {"width": 1280, "height": 800}], ids=["phone", "desktop"])
def test_the_head_stays_where_it_is_from_page_to_page_and_nothing_sticks_out(
    server: Server, visit: OpenVisit, viewport: dict[str, int]
) -> None:
    person = visit(server.url, viewport=viewport)
    first = person.page.evaluate(HEAD)
    for path in ("/harness", "/board/jobshop", "/missions"):
        person.page.goto(f"{server.url}{path}")
        assert person.page.evaluate(HEAD) == first, path
        assert person.page.evaluate("document.documentElement.scrollWidth") == viewport["width"], path
