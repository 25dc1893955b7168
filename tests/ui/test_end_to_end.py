"""The app in a real browser: what a person sees and clicks, and what is booked because of that."""

from __future__ import annotations

from sagagraph.sandbox.server import EmbeddedSandbox
from tests.ui.books import Books, books_of, order, until_confirmed
from tests.ui.conftest import OpenVisit, Serve
from tests.ui.page import SAMPLE, THANKSGIVING, Visit
from tests.ui.server import Server


def operations(visit: Visit) -> list[tuple[str, str, int]]:
    return [(each["id"], each["status"], each["attempts"]) for each in visit.told()["operations"]]


def test_the_sample_trip_is_planned_approved_and_booked_and_nothing_is_fetched_from_elsewhere(
    server: Server, visit: OpenVisit
) -> None:
    person = visit(server.url)
    person.say(SAMPLE)
    plan_hash = person.until_asked()
    person.until_filled({"stops[0].nights": "4", "stops[1].city": "Cologne", "budget": "5000", "stars": "3-4"})
    assert person.page.locator("#alternatives").is_visible()
    person.page.locator("#approve").dblclick()
    person.until("committed")
    person.until_said("everything is booked for $2,007")
    assert person.chat.count("Book for $2,007") == 1, "a click stays in the chat, and two in a row are one"
    assert [(status, attempts) for _id, status, attempts in operations(person)] == [("succeeded", 1)] * 8
    assert person.plan_hash == plan_hash
    for tab in ("Where", "When"):
        person.tab(tab)
        person.page.locator(".sg-picture:visible").first.wait_for()
    assert person.asked_outside == []
    assert person.faults == []


def test_what_is_missing_is_asked_for_and_what_was_said_is_kept_changed_and_removed(server: Server, visit: OpenVisit) -> None:
    person = visit(server.url)
    person.say("I want to go from Boston to Lisbon for 5 nights, at most $4,000")
    person.until_said("When do you want to travel")
    person.until_filled({"origin": "Boston", "stops[0].city": "Lisbon", "stops[0].nights": "5", "budget": "4000"})
    person.say("in May 2025")
    first = person.until_asked()
    person.say("make it more comfortable")
    nicer = person.until_other_plan(first)
    person.fill("stops[0].city", "porto")
    elsewhere = person.until_other_plan(nicer)
    person.until_filled({"stops[0].city": "Porto", "stops[0].nights": "5", "budget": "4000"})
    person.fill("budget", "")
    person.until_filled({"stops[0].city": "Porto", "budget": ""})
    person.say("4 star hotels")
    person.until_other_plan(elsewhere)
    person.until_filled({"stops[0].city": "Porto", "stars": "4-4", "budget": ""})


def test_two_browsers_at_once_do_not_mix(server: Server, visit: OpenVisit) -> None:
    ann, bob = visit(server.url), visit(server.url)
    ann.say("Boston to Lisbon for 5 nights in May 2025")
    bob.say("London to Rome for 3 nights in July 2025")
    ann.until_asked()
    bob.until_asked()
    assert ("Lisbon" in ann.chat, "Rome" in ann.chat) == (True, False)
    assert ("Lisbon" in bob.chat, "Rome" in bob.chat) == (False, True)
    own, theirs = f"{server.url}/api/v1/sagas/{bob.saga_id}", f"{server.url}/api/v1/sagas/{ann.saga_id}"
    assert bob.page.request.get(own).ok
    plan_hash = ann.until_asked()
    assert bob.page.request.get(theirs).status == 404
    assert bob.page.request.post(f"{theirs}/approve", data={"plan_hash": plan_hash}).status == 404
    listed = [each["saga_id"] for each in bob.page.request.get(f"{server.url}/api/v1/sagas").json()["sagas"]]
    assert listed == [bob.saga_id]
    bob.lift_the_hood()
    assert ann.saga_id not in bob.page.content()
    ann.click("approve")
    ann.until("committed")
    assert bob.page.request.get(own).json()["status"] == "awaiting_approval"


def test_a_server_that_was_killed_in_the_middle_of_booking_goes_on_where_it_was(
    serve: Serve, sandbox: EmbeddedSandbox, visit: OpenVisit
) -> None:
    first = serve("--provider", sandbox.url)
    person = visit(first.url)
    person.say(SAMPLE)
    plan_hash = person.until_asked()
    order(sandbox.url, person.saga_id, "hang", kind="hotel", call="book", seconds=8)
    person.click("approve")
    person.page.locator("#status").get_by_text("5 of 8 steps done").wait_for()
    first.kill()
    until_confirmed(sandbox.url, person.saga_id, 5)  # the dead server's call; before that it would be another hotel's turn
    second = serve("--provider", sandbox.url)
    again = Visit.to(second.url, person.page.context)  # cookies know no ports
    again.until("committed")
    assert again.plan_hash == plan_hash
    assert "4 days in Berlin" in again.chat  # their own words
    assert books_of(sandbox.url, again.saga_id) == Books(confirmed=5, cancelled=0, captured=1, refunded=0, repeated=())
    assert second.stop() == 0


def test_thanksgiving_is_planned_from_a_sentence_and_repaired_when_james_is_late(server: Server, visit: OpenVisit) -> None:
    person = visit(server.url, viewport={"width": 390, "height": 844})
    person.page.get_by_label("A reunion").check()
    person.until_said("Who comes together")
    person.say(THANKSGIVING)
    first = person.until_asked()
    person.until_filled({"people[0].name": "Sarah", "people[1].from": "13:00", "goals[0].by": "18:00"})
    person.click("approve")
    person.until_said("the day is open")
    person.say("James's flight is delayed until 4")
    repaired = person.until_other_plan(first)
    changed = person.page.locator("#changes table")
    changed.wait_for()
    assert {"James", "Emily", "Grandma"} == set(changed.locator("tbody td:first-child").all_inner_texts())
    person.click("approve")
    person.until_it_goes_on()
    assert person.plan_hash == repaired
    told = {name for name, status, _attempts in operations(person) if status == "succeeded"}
    assert {"assign James.2", "assign Sarah"} <= told
    assert person.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert person.asked_outside == []
    assert person.faults == []


def test_a_first_plan_is_there_at_once_and_can_be_taken_while_a_better_one_is_sought(server: Server, visit: OpenVisit) -> None:
    person = visit(server.url)
    person.page.get_by_label("A reunion").check()
    person.until_said("Who comes together")
    person.say("campus_tour")
    person.page.locator("#plan").get_by_text("a better one is being sought").wait_for()
    assert not person.page.locator("#approve").is_visible()
    person.page.locator("#timeline .sg-picture").wait_for()
    person.click("enough")
    assert person.until_asked()
    assert not person.page.locator("#enough").is_visible()
    person.page.locator("#plan").get_by_text("Checked by independent rules").wait_for()
    person.click("approve")
    person.until("running")
    assert person.faults == []


def test_text_of_people_and_providers_is_text_on_every_page(server: Server, visit: OpenVisit) -> None:
    evil = "<img src=x onerror=window.hacked=1>"
    person = visit(server.url)
    person.say(f"From {evil} to [click](javascript:window.hacked=1) for 3 nights")
    person.until_said("[click](javascript:window.hacked=1)")
    problem = {
        "name": f"dinner {evil}",
        "places": {"H": f"Home {evil}", "S": f"**S** {evil}"},
        "travel_minutes": [["H", "S", 10]],
        "people": [{"name": f"Ann {evil}", "place": "S", "drives": True}],
        "vehicles": [{"name": f"car {evil}", "seats": 2, "place": "S", "drivers": [f"Ann {evil}"]}],
        "goals": [{"people": "all", "place": "H", "by": "12:00"}],
    }
    begun = person.page.request.post(f"{server.url}/api/v1/sagas", data={"domain": "reunion", "request": problem})
    assert begun.status == 202, begun.text()
    person.lift_the_hood()
    person.page.locator("#pick input").click()
    person.page.locator("ul[role=listbox] [role=option]").first.click()
    person.page.locator("#files").get_by_text("log.json").wait_for()
    for tab in ("Journal", "State", "Verdicts"):
        person.tab(tab)
    person.click("open-in-chat")
    person.page.get_by_text("It is open in the chat now").wait_for()
    person.page.locator("#again").dispatch_event("click")
    person.until_asked()
    assert evil in person.chat
    for tab in ("Where", "When"):
        person.tab(tab)
        person.page.locator(".sg-picture:visible").first.wait_for()
    assert person.page.locator("img[src=x]").count() == 0
    assert person.page.locator("a[href^=javascript]").count() == 0
    assert person.page.evaluate("window.hacked") is None


def test_a_trip_that_is_booked_can_be_looked_at_as_it_was_taken_along_and_undone(server: Server, visit: OpenVisit) -> None:
    person = visit(server.url)
    person.say("Boston to Lisbon for 5 nights in May 2025")
    person.until_asked()
    person.say("yes")
    person.until("committed")
    person.open_record()
    version = person.page.locator("#version input[type=number]")
    version.fill("5")
    version.press("Enter")
    version.blur()
    person.page.locator("#at-version").get_by_text("waits for your approval").wait_for()
    person.tab("Verdicts")
    shown = person.page.locator("#verdicts tbody tr:first-child td:last-child pre").text_content()
    assert shown is not None
    assert "price" in shown  # what the validator of the plan was shown
    with person.page.expect_download() as downloading:
        person.page.locator("#files").get_by_text("trip.ics").click()
    assert downloading.value.path().read_text().startswith("BEGIN:VCALENDAR")
    person.click("cancel")
    person.page.locator("#preview").get_by_text("Cancelling now would undo").wait_for()
    person.click("undo")
    person.until("compensated")
