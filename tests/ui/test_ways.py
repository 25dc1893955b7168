"""What a plan offers at a click: others, remedies, earlier versions, paper, a calendar, and a page for others to look at."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.ui.conftest import OpenVisit
from tests.ui.page import SAMPLE, Visit
from tests.ui.server import Server
from tests.ui.test_fields import serious
from tests.ui.test_looks import PHONE

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_TWO_LINES = 70
"""Pixels."""
PAGES = re.compile(rb"/Type\s*/Page\b(?!s)")


def test_nights_that_do_not_fit_the_dates_are_one_click_from_a_plan(server: Server, visit: OpenVisit) -> None:
    person = visit(server.url, viewport=PHONE, reduced_motion="reduce")
    person.say("From Boston to Paris for 6 nights and Rome for 2 nights, 3 to 8 April 2025")
    offered = person.page.locator("#ways [data-choose]")
    offered.get_by_text("3 nights in Paris").wait_for()
    assert offered.all_inner_texts() == ["until 11 April 2025", "3 nights in Paris"]
    assert serious(person) == []
    offered.last.click()
    person.until_asked()
    assert "3 nights in Paris" in person.chat


def test_what_cannot_be_had_is_repaired_at_a_click_and_so_is_going_back(server: Server, visit: OpenVisit) -> None:
    person = visit(server.url, viewport=PHONE, reduced_motion="reduce")
    person.say(SAMPLE)
    first = person.until_asked()
    person.fill("budget", "300")
    person.page.locator("#ways").get_by_text("Possible instead").wait_for()
    person.until_filled({"budget": "5000"})
    assert (person.plan_hash, serious(person)) == (first, [])
    person.page.locator("#ways [data-choose]").first.click()
    second = person.until_other_plan(first)
    person.until_filled({"budget": "1874"})
    assert "budget 1874 USD instead of budget 300 USD" in person.chat
    person.page.locator("#ways summary").click()
    back = person.page.locator("#ways [data-choose]")
    assert "$2,007; At most: 1874 → 5000" in back.inner_text()
    assert serious(person) == []
    back.click()
    assert person.until_other_plan(second) == first
    in_order = ("I proposed a plan for $2,007", "budget 1874 USD", "I proposed a plan for $1,874", "Back to: $2,007")
    places = [person.chat.index(each) for each in in_order]
    assert places == sorted(places), "clicks, and what was answered to them, can be read back"
    person.until_filled({"budget": "5000"})


def test_another_plan_is_chosen_by_its_dot_and_booked_in_the_currency_of_the_budget(server: Server, visit: OpenVisit) -> None:
    person = visit(server.url, viewport=PHONE, reduced_motion="reduce")
    person.say(SAMPLE.replace("$5,000", "5,000 EUR"))
    first = person.until_asked()
    dots = person.page.locator(".sg-scatter button")
    places = dots.evaluate_all("dots => dots.map(each => [each.getBoundingClientRect().y, each.ariaLabel])")
    _lowest, cheapest = max(places)
    assert "1,800.02 EUR" in cheapest
    person.page.get_by_label(cheapest).click()
    person.until_other_plan(first)
    assert person.page.locator("#plan .sg-price").inner_text().startswith("1,800.02 EUR")
    assert person.page.locator("#approve").inner_text() == "Book for 1,800.02 EUR"
    assert person.page.locator("#approve").bounding_box()["height"] < _TWO_LINES  # type: ignore[index]
    charged = [each for each in person.page.locator("#plan li").all_inner_texts() if "$" in each]
    assert len(charged) == 1
    assert charged[0].startswith("$1,874")
    person.click("approve")
    person.until("committed")
    person.until_said("everything is booked for 1,800.02 EUR")
    assert "Plan " in person.chat
    assert "$" not in person.chat.replace("$2,090", "").replace("$1,874", "").partition("EUR")[2], person.chat
    assert person.page.evaluate("document.querySelector('#chat').getBoundingClientRect().top") < PHONE["height"] / 2
    person.click("cancel")
    preview = person.page.locator("#preview")
    preview.get_by_text("the payment").wait_for()
    assert "the mail with the itinerary" in preview.inner_text()
    assert not re.search(r"[$]|capture payment", preview.inner_text())
    person.click("undo")
    person.until("compensated")
    person.page.locator("#plan").get_by_text("This plan is undone").wait_for()
    assert "Done: everything is booked for 1,800.02 EUR" in person.chat


def test_a_plan_is_shared_printed_and_taken_as_a_calendar_before_it_is_booked(
    server: Server, visit: OpenVisit, browser: Browser
) -> None:
    person = visit(server.url)
    person.say(SAMPLE)
    person.until_asked()
    assert len(PAGES.findall(person.page.pdf(format="A4"))) == 1
    link = person.page.locator("#take-along").get_by_text("trip.ics")
    calendar = person.page.request.get(server.url + str(link.get_attribute("href"))).text()
    assert (calendar.count("STATUS:TENTATIVE"), calendar.count("STATUS:CONFIRMED")) == (5, 0)
    person.page.get_by_role("button", name="Share a page to look at").click()
    path = str(person.page.locator("#shared-link").get_attribute("href"))
    with browser.new_context(java_script_enabled=False) as stranger:
        other = stranger.new_page()
        assert other.goto(server.url + path).ok  # type: ignore[union-attr]
        assert other.get_by_text("Garden Court Berlin").first.is_visible()
        assert other.locator("button, input, form, [data-choose]").count() == 0
        assert not re.search(r"[0-9a-f]{12}|\bu?v[0-9a-f]{6}|saga", other.locator("main").inner_html().replace("sagagraph", ""))
        assert len(PAGES.findall(other.pdf(format="A4"))) == 1
        assert other.request.get(f"{server.url}/api/v1/sagas/{person.saga_id}").status == 404
    with browser.new_context(viewport={"width": 390, "height": 844}) as stranger:
        looking = Visit(stranger.new_page(), server.url)
        looking.page.goto(server.url + path)
        assert (serious(looking), looking.page.evaluate("document.documentElement.scrollWidth")) == ([], PHONE["width"])
        person.page.get_by_role("button", name="Share no more").click()
        person.page.get_by_role("button", name="Share a page to look at").wait_for()
        assert not looking.page.goto(server.url + path).ok  # type: ignore[union-attr]
        assert looking.page.get_by_role("alert").inner_text().startswith("there is no such link")
    person.click("approve")
    person.until("committed")
    calendar = person.page.request.get(server.url + str(link.get_attribute("href"))).text()
    assert (calendar.count("STATUS:TENTATIVE"), calendar.count("STATUS:CONFIRMED")) == (0, 5)


def test_a_changed_trip_is_printed_with_its_plan_before_what_changed(server: Server, visit: OpenVisit) -> None:
    person = visit(server.url)
    person.say("Boston to Lisbon for 5 nights in May 2025")
    first = person.until_asked()
    person.click("approve")
    person.until("committed")
    person.say("6 nights in Lisbon")
    person.until_other_plan(first)
    person.click("approve")
    person.page.locator("#changes").get_by_text("What changed").wait_for()
    assert len(PAGES.findall(person.page.pdf(format="A4"))) == 1
    person.page.emulate_media(media="print")
    parts = "parts => parts.toSorted((a, b) => a.getBoundingClientRect().y - b.getBoundingClientRect().y).map(each => each.id)"
    assert person.page.locator("#plan article > *:visible").evaluate_all(parts)[-1] == "changes"


def test_the_first_screen_shows_every_kind_of_plan_with_an_example_and_an_empty_board(server: Server, visit: OpenVisit) -> None:
    person = visit(server.url, viewport=PHONE, reduced_motion="reduce")
    cards = person.page.locator("#front-door .sg-show")
    cards.first.wait_for()
    assert [each.split("\n")[0] for each in person.page.locator("#front-door h3").all_inner_texts()] == [
        "A trip", "A meal", "A reunion", "Job shops", "Rules over numbers",
    ]  # fmt: skip
    assert cards.locator("svg, .sg-track").count() >= cards.count() == 5
    assert (serious(person), person.page.evaluate("document.documentElement.scrollWidth")) == ([], PHONE["width"])
    person.click("empty-recipes")
    person.field("recipe Lentil-Soup").check()
    person.until_asked()
    person.click("anew")
    person.page.locator("#plan-0").get_by_text("Lentil Soup").wait_for()


def test_boards_beside_the_chat_have_its_head_examples_at_a_click_and_pictures(server: Server, visit: OpenVisit) -> None:
    person = visit(server.url, viewport=PHONE, reduced_motion="reduce")
    heads = set()
    for name, result in (("Job shops", ".sg-track i"), ("Rules over numbers", "svg rect")):
        person.open()
        heads.add(person.page.locator("#front nav").inner_text())
        person.page.get_by_role("link", name=f"{name}: run an example").click()
        person.page.locator(f"section {result}").first.wait_for()
        heads.add(person.page.locator(".sg-front nav").inner_text())
        assert (serious(person), person.page.evaluate("document.documentElement.scrollWidth")) == ([], PHONE["width"])
        assert person.page.locator(".sg-sheet input").count() > 10
    assert len(heads) == 1
