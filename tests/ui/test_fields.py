"""The request as fields: a trip and a reunion planned, changed, repaired and booked without typing a sentence."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe

from sagagraph.sandbox.server import EmbeddedSandbox
from tests.ui.books import order
from tests.ui.conftest import OpenVisit
from tests.ui.page import Visit
from tests.ui.server import Server
from tests.ui.test_looks import GRADIOS_OWN, GRAVE, PHONE


def serious(person: Visit) -> list[str]:
    rules = Axe().run(person.page, options={"resultTypes": ["violations"]}).response["violations"]
    return [each["id"] for each in rules if each["impact"] in GRAVE and each["id"] not in GRADIOS_OWN]


def test_a_trip_is_planned_changed_repaired_and_booked_in_fields(
    server: Server, sandbox: EmbeddedSandbox, visit: OpenVisit
) -> None:
    person = visit(server.url, viewport=PHONE, reduced_motion="reduce")
    person.field("origin").wait_for()
    for name, value in (("origin", "boston"), ("stops[0].city", "Lisbon"), ("first", "2025-05-01"), ("last", "2025-05-31")):
        person.fill(name, value)
        person.page.wait_for_timeout(300)
    person.page.locator("#request .sg-is-missing [name='stops[0].nights']").wait_for()
    person.fill("stops[0].nights", "5")
    first = person.until_asked()
    assert person.page.locator("#request .sg-is-assumed [name=travellers]").is_visible()
    person.page.get_by_role("button", name="Travellers: one more").click()
    second = person.until_other_plan(first)
    person.until_said("Now: Travellers: 1 → 2")
    person.page.locator("#alternatives li [data-choose]").first.click()
    third = person.until_other_plan(second)
    assert (serious(person), person.page.evaluate("document.documentElement.scrollWidth")) == ([], PHONE["width"])
    order(sandbox.url, person.saga_id, "refuse", kind="hotel", call="book")
    person.click("approve")
    person.until_other_plan(third)
    person.click("approve")
    person.until("committed")
    assert person.field("travellers").input_value() == "2"
    assert person.faults == []


def test_a_trip_is_planned_changed_and_booked_by_keyboard_alone(server: Server, visit: OpenVisit) -> None:
    person = visit(server.url)
    press, field = person.page.keyboard.press, person.field
    for name, text in (("origin", "Boston"), ("stops[0].city", "Lisbon")):
        field(name).focus()
        person.page.keyboard.type(text)
        press("Tab")
        person.until_filled({name: text})
    field("stops[0].nights").wait_for()
    field("stops[0].nights").focus()
    person.page.keyboard.type("5")
    press("Tab")
    field("depart").focus()
    person.page.keyboard.type("05072025")
    press("Tab")
    first = person.until_asked()
    person.page.get_by_role("button", name="nights: one less").focus()
    press("Enter")
    person.until_other_plan(first)
    person.page.locator("#approve").focus()
    press("Enter")
    person.until("committed")


def test_a_reunion_is_planned_from_its_example_changed_in_tables_repaired_and_told(server: Server, visit: OpenVisit) -> None:
    person = visit(server.url)
    person.click("example-reunion")
    first = person.until_asked()
    person.fill("people[2].from", "15:30")
    second = person.until_other_plan(first)
    person.until_said("Now: Emily, from: 14:30 → 15:30")
    assert serious(person) == []
    person.click("approve")
    person.until_said("the day is open")
    person.page.locator("#trouble > button").click()
    person.click("disrupt-0")
    person.until_other_plan(second)
    person.click("approve")
    person.until_said("the day is open")
    assert person.faults == []
