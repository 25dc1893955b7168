"""An approval means the plan that is shown, once, whatever happens to the page, the plan or the server meanwhile."""

from __future__ import annotations

from sagagraph.sandbox.server import EmbeddedSandbox
from tests.ui.books import Books, books_of, order, until_confirmed
from tests.ui.conftest import OpenVisit, Serve
from tests.ui.page import SAMPLE, Visit
from tests.ui.server import Server

BOOKED = Books(confirmed=5, cancelled=0, captured=1, refunded=0, repeated=())


def test_the_same_plan_approved_in_two_tabs_is_booked_once(server: Server, sandbox: EmbeddedSandbox, visit: OpenVisit) -> None:
    one = visit(server.url)
    one.say(SAMPLE)
    plan_hash = one.until_asked()
    two = Visit.to(server.url, one.page.context)
    assert two.until_asked() == plan_hash
    one.click("approve")
    two.click("approve")
    one.until("committed")
    two.until("committed")
    assert books_of(sandbox.url, one.saga_id) == BOOKED
    assert [each["type"] for each in one.told("/log")["events"]].count("PlanApproved") == 1


def test_a_plan_that_was_changed_in_another_tab_is_shown_and_not_booked(
    server: Server, sandbox: EmbeddedSandbox, visit: OpenVisit
) -> None:
    one = visit(server.url)
    one.say("Boston to Lisbon for 5 nights in May 2025")
    plan_hash = one.until_asked()
    two = Visit.to(server.url, one.page.context)
    assert two.until_asked() == plan_hash
    two.page.route("**/stamp", lambda route: route.abort())  # it cannot see by itself that it is out of date
    one.page.locator("#alternatives .sg-scatter [data-choose]").first.click()
    chosen = one.until_other_plan(plan_hash)
    two.click("approve")
    two.until_said("look at it again before you decide")
    assert two.until_asked() == chosen
    assert two.told()["status"] == "awaiting_approval"
    assert books_of(sandbox.url, two.saga_id).confirmed == 0
    two.click("approve")
    two.until("committed")
    assert two.plan_hash == chosen


def test_on_postgresql_a_page_from_before_a_restart_approves_and_what_was_killed_goes_on(
    serve: Serve, database: str, sandbox: EmbeddedSandbox, visit: OpenVisit
) -> None:
    first = serve("--provider", sandbox.url, database=database)
    person = visit(first.url)
    person.say(SAMPLE)
    plan_hash = person.until_asked()
    trip = person.saga_id
    assert first.stop() == 0
    second = serve("--provider", sandbox.url, database=database, port=first.port)
    order(sandbox.url, trip, "hang", kind="hotel", call="book", seconds=8)
    person.click("approve")
    person.page.locator("#status").get_by_text("5 of 8 steps done").wait_for()
    second.kill()
    until_confirmed(sandbox.url, trip, 5)
    third = serve("--provider", sandbox.url, database=database, port=first.port)
    person.open()
    person.until("committed")
    assert person.plan_hash == plan_hash
    assert books_of(sandbox.url, trip) == BOOKED
    assert third.stop() == 0
