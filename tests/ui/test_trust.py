"""What made people distrust the app, each in a real browser: a person acts, and the reservation service's books are the judge."""

from __future__ import annotations

from sagagraph.sandbox.server import EmbeddedSandbox
from tests.ui.books import books_of
from tests.ui.conftest import OpenVisit
from tests.ui.page import Visit
from tests.ui.server import Server

TRIP = "From Boston to Paris for 3 nights and Amsterdam for 2 nights and back, in June 2025, at most $5,000"
DAY = (
    "Dinner at 6 pm at home in Boston. Sarah is at home. James lands at 1 pm at BOS and rents a car. Grandma needs a pick-up. "
    "Home-BOS 60 minutes, BOS-Grandma 60, Home-Grandma 30"
)
PHONE = {"width": 390, "height": 844}


def stays(person: Visit) -> list[str]:
    shown = person.told("/plan")["shown"]["plan"]["legs"]
    return [f"{leg['offer']['city']} {leg['offer']['stars']}" for leg in shown if leg["offer"]["kind"] == "hotel"]


def test_a_question_about_a_booked_trip_cancels_nothing_and_is_answered(
    server: Server, sandbox: EmbeddedSandbox, visit: OpenVisit
) -> None:
    person = visit(server.url)
    person.say(TRIP)
    person.until_asked()
    person.say("book it")
    person.until("committed")
    before = books_of(sandbox.url, person.saga_id)
    person.say("has the hotel in Paris been cancelled?")
    person.until_said("booked and confirmed")
    person.say("the hotel in Paris has been cancelled")
    person.until_said("did that happen, or are you asking?")
    person.say("no, I was only asking")
    person.until_said("Nothing is changed.")
    assert books_of(sandbox.url, person.saga_id) == before
    assert person.told()["status"] == "committed"


def test_on_a_phone_a_trip_is_booked_without_scrolling(server: Server, sandbox: EmbeddedSandbox, visit: OpenVisit) -> None:
    person = visit(server.url, viewport=PHONE)
    person.say(TRIP)
    person.until_asked()
    box = person.page.locator("#approve").bounding_box()
    assert box is not None
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= PHONE["height"]
    assert box["height"] >= 40
    assert person.page.locator("#approve").inner_text().startswith("Book for $")
    person.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    person.until("committed")
    assert books_of(sandbox.url, person.saga_id).captured == 1


def test_a_trip_is_booked_with_the_keyboard_alone(server: Server, sandbox: EmbeddedSandbox, visit: OpenVisit) -> None:
    person = visit(server.url)
    keys = person.page.keyboard
    person.page.locator("#say textarea, #say input").first.wait_for()
    for _ in range(30):
        if person.page.evaluate("document.activeElement.closest('#say') !== null"):
            break
        keys.press("Tab")
    keys.type(TRIP)
    keys.press("Enter")
    person.until_asked()
    for _ in range(30):
        if person.page.evaluate("document.activeElement.id === 'approve'"):
            break
        keys.press("Shift+Tab")
    keys.press("Enter")
    person.until("committed")
    assert books_of(sandbox.url, person.saga_id).captured == 1


def test_changes_keep_their_scope_and_can_be_undone(server: Server, visit: OpenVisit) -> None:
    person = visit(server.url)
    person.say(TRIP)
    first = person.until_asked()
    person.say("Brussels for Amsterdam")
    second = person.until_other_plan(first)
    person.until_filled({"stops[0].city": "Paris", "stops[1].city": "Brussels"})
    person.say("4 stars in Paris only")
    third = person.until_other_plan(second)
    assert stays(person)[0] == "Paris 4"
    person.until_filled({"stops[0].stars": "4-4"})
    person.say("undo that")
    assert person.until_other_plan(third) == second
    person.until_filled({"stops[1].city": "Brussels", "stops[0].stars": ""})


def test_an_open_question_does_not_trap_and_the_last_plan_stays_bookable(
    server: Server, sandbox: EmbeddedSandbox, visit: OpenVisit
) -> None:
    person = visit(server.url)
    person.say(TRIP)
    plan_hash = person.until_asked()
    person.say("and Lyon as well")
    person.until_said("How many nights")
    person.say("how much is it so far?")
    person.until_said("It costs")
    person.page.locator("#approve").get_by_text("Book as planned before").wait_for()
    person.click("approve")
    person.until("committed")
    assert person.plan_hash == plan_hash
    assert books_of(sandbox.url, person.saga_id).captured == 1


def test_the_day_is_not_over_while_a_repair_waits(server: Server, visit: OpenVisit) -> None:
    person = visit(server.url)
    person.page.get_by_label("A reunion").check()
    person.until_said("Who comes together")
    person.say(DAY)
    first = person.until_asked()
    person.click("approve")
    person.until_said("the day is open")
    person.say("James's flight is delayed until 2")
    person.until_other_plan(first)
    person.say("the day is over")
    person.until_said("waits for your decision")
    told = person.told()
    assert told["status"] == "awaiting_approval"
    assert [each["data"]["verdict"]["verdict"] for each in person.told("/log")["events"] if each["type"] == "PlanJudged"] == [
        "VALID"
    ] * 2
    person.click("approve")
    person.until_it_goes_on()
    person.say("the day is over")
    person.until("committed")
    assert {each["data"]["verdict"]["verdict"] for each in person.told("/log")["events"] if each["type"] == "PlanJudged"} == {
        "VALID"
    }
