"""What goes wrong, as a person sees it and deals with it: faults, disruptions, cancelling, and what only they can settle."""

from __future__ import annotations

from pathlib import Path

import httpx2

from benchmarks.reunions.generator import generate
from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings
from tests.support.today import TODAY
from tests.ui.books import Books, books_of, order
from tests.ui.conftest import OpenVisit, Serve
from tests.ui.page import SAMPLE
from tests.ui.server import Server

BOOKED = Books(confirmed=5, cancelled=0, captured=1, refunded=0, repeated=())


def test_a_fault_that_is_ordered_on_the_page_is_repaired_and_the_repair_is_shown_and_approved(
    server: Server, sandbox: EmbeddedSandbox, visit: OpenVisit
) -> None:
    person = visit(server.url)
    person.say(SAMPLE)
    first = person.until_asked()
    person.lift_the_hood()
    person.page.locator("#faults > button").click()
    person.click("order-fault")
    person.page.locator("#trouble-told").get_by_text("Ordered").wait_for()
    ordered = httpx2.get(f"{sandbox.url}/faults", timeout=60).json()["orders"]
    assert [each["saga_id"] for each in ordered if each["fault"] == "refuse"] == [person.saga_id]  # nobody else is struck
    person.click("approve")
    person.until_other_plan(first)
    changed = person.page.locator("#changes tbody td:first-child")
    changed.first.wait_for()
    (what,) = changed.all_inner_texts()
    assert what in ("stay Berlin", "stay Cologne")
    person.page.locator("#timeline .sg-track .sg-was").first.wait_for(state="attached")
    person.click("approve")
    person.until("committed")
    assert books_of(sandbox.url, person.saga_id) == BOOKED
    assert [each["status"] for each in person.told()["operations"]].count("failed") == 1


def test_a_booking_that_falls_through_is_replaced_by_word_and_by_button(
    server: Server, sandbox: EmbeddedSandbox, visit: OpenVisit
) -> None:
    person = visit(server.url)
    person.say("Boston to Lisbon for 5 nights in May 2025")
    first = person.until_asked()
    person.say("yes")
    person.until("committed")
    trip = person.saga_id
    person.say("the hotel in Lisbon cancelled on us")
    person.until_said("did that happen, or are you asking?")
    person.say("yes")
    elsewhere = person.until_other_plan(first)
    person.page.locator("#changes").get_by_text("stay Lisbon").wait_for()
    assert books_of(sandbox.url, trip).confirmed == 2  # nothing is booked before it is approved
    person.click("approve")
    person.until("committed")
    assert books_of(sandbox.url, trip) == Books(confirmed=3, cancelled=1, captured=1, refunded=1, repeated=())
    assert person.plan_hash == elsewhere
    person.page.locator("#trouble button").first.click()
    person.page.locator("#trouble").get_by_role("button", name="The flight Boston → Lisbon").click()
    person.until_other_plan(elsewhere)
    in_order = ("Book the change", "Done: everything is booked", "The flight Boston → Lisbon", "replacement", "had to change")
    told = person.chat[person.chat.index(in_order[0]) :]
    places = [told.index(each) for each in in_order]
    assert places == sorted(places), "a disruption that was clicked, and what was said before, can be read back"
    person.click("reject")
    person.until("committed")
    assert books_of(sandbox.url, trip).confirmed == 2


def test_booking_is_cancelled_half_way_after_a_look_at_what_that_undoes(
    server: Server, sandbox: EmbeddedSandbox, visit: OpenVisit
) -> None:
    person = visit(server.url)
    person.say(SAMPLE)
    person.until_asked()
    trip = person.saga_id
    order(sandbox.url, trip, "hang", kind="hotel", call="book", seconds=6)
    person.click("approve")
    person.page.locator("#status").get_by_text("5 of 8 steps done").wait_for()
    person.click("cancel")
    preview = person.page.locator("#preview")
    preview.get_by_text("Cancelling now would undo").wait_for()
    assert preview.locator("tbody tr").count() == 5
    assert preview.get_by_text("in doubt").count() == 1
    assert person.told()["status"] == "running"
    person.click("keep")
    preview.wait_for(state="hidden")
    person.click("cancel")
    person.click("undo")
    person.until("compensated")
    assert books_of(sandbox.url, trip).confirmed == 0
    assert (books_of(sandbox.url, trip).captured, books_of(sandbox.url, trip).repeated) == (0, ())
    assert preview.is_hidden()


def test_what_cannot_be_undone_waits_for_a_person_who_settles_it_on_the_history_page(
    server: Server, sandbox: EmbeddedSandbox, visit: OpenVisit
) -> None:
    person = visit(server.url)
    person.say(SAMPLE)
    person.until_asked()
    trip = person.saga_id
    order(sandbox.url, trip, "refuse", kind="payment", call="capture")
    order(sandbox.url, trip, "refuse", kind="train", call="cancel")
    person.click("approve")
    person.until("stuck")
    person.until_said("Something needs a person")
    assert books_of(sandbox.url, trip).confirmed > 0
    person.open_record()
    person.page.get_by_role("radio", name="compensated").check()
    person.click("resolve")
    person.page.locator("#at-version [data-status=compensated]").wait_for()
    assert person.page.locator("#resolve-box").is_hidden()
    assert books_of(sandbox.url, trip).confirmed == 1  # the train, of which somebody said that it is undone
    assert person.told()["status"] == "compensated"


def test_a_booking_of_which_nobody_knows_is_held_until_a_person_says_what_they_found_out(
    store: Path, serve: Serve, visit: OpenVisit
) -> None:
    promises = frozenset({"dedup", "void", "deadline", "refusals"})
    with EmbeddedSandbox(SandboxSettings(store.with_name("sandbox.db"), today=TODAY, withheld=promises)) as sandbox:
        server = serve("--provider", sandbox.url)
        person = visit(server.url)
        person.say(SAMPLE)
        person.until_asked()
        trip = person.saga_id
        order(sandbox.url, trip, 500, kind="hotel", call="book")
        person.click("approve")
        person.until("held")
        (held,) = [each["id"] for each in person.told()["operations"] if each["status"] == "held"]
        person.open_record()
        person.page.get_by_role("radio", name="landed").check()
        person.click("resolve")
        person.page.locator("#told").get_by_text("output").wait_for()  # what landed has returned something
        assert person.told()["status"] == "held"
        person.page.get_by_role("radio", name="absent").check()
        person.click("resolve")
        person.page.locator("#at-version [data-status=committed]").wait_for()
        assert books_of(sandbox.url, trip) == BOOKED
        (said,) = [each for each in person.told("/log")["events"] if each["type"] == "OperationResolved"]
        assert (said["data"]["operation"], said["data"]["resolution"]) == (held, "absent")


def test_planning_that_takes_long_is_given_up_when_it_is_cancelled(server: Server, visit: OpenVisit) -> None:
    person = visit(server.url)
    problem = generate(60, 1).model_dump(mode="json", by_alias=True, exclude_defaults=True)
    begun = person.page.request.post(f"{server.url}/api/v1/sagas", data={"domain": "reunion", "request": problem})
    assert begun.status == 202, begun.text()
    person.open()
    person.until("planning")
    person.page.locator("#status progress").wait_for()
    assert person.told()["is_busy"]
    person.click("cancel")
    person.page.locator("#preview").get_by_text("there is nothing to undo").wait_for()
    person.click("undo")
    person.until("compensated")
    told = person.told()
    assert (told["operations"], told["is_busy"]) == ([], False)
