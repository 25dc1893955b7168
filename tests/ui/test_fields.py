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


def test_a_trip_is_planned_changed_repaired_and_booked_by_keyboard_alone(
    server: Server, sandbox: EmbeddedSandbox, visit: OpenVisit
) -> None:
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
    second = person.until_other_plan(first)
    order(sandbox.url, person.saga_id, "refuse", kind="hotel", call="book")
    person.page.locator("#approve").focus()
    press("Enter")
    person.until_other_plan(second)
    person.page.locator("#approve").focus()
    press("Enter")
    person.until("committed")


def test_a_field_in_which_somebody_types_is_rewritten_by_no_answer(server: Server, visit: OpenVisit) -> None:
    person = visit(server.url)
    fill_board(person, (("origin", "Boston"), ("stops[0].city", "Lisbon"), ("stops[0].nights", "3")))
    last = person.field("last")
    last.focus()
    person.page.keyboard.type("05")
    first = person.page.locator("#request [name=first]")
    first.evaluate("box => { box.value = '2025-05-01'; box.dispatchEvent(new Event('change', { bubbles: true })) }")
    person.until_asked()
    assert last.evaluate("box => box === document.activeElement && box.defaultValue !== ''")
    person.page.keyboard.type("312025")
    assert last.input_value() == "2025-05-31"
    person.page.keyboard.press("Escape")
    person.field("first").focus()
    person.until_said("→ 31 May")
    assert last.input_value() == "2025-05-31"


def fill_board(person: Visit, fields: tuple[tuple[str, str], ...]) -> None:
    """Fill in one field after the other, as soon as the board has it."""
    for name, value in fields:
        field = person.field(name)
        field.wait_for()
        if field.evaluate("box => box.tagName") == "SELECT":
            field.select_option(value)
        else:
            person.fill(name, value)
        person.until_filled({name: value})


DAY = (
    ("places[0].name", "Home"),
    ("places[1].name", "Airport"),
    ("goals[0].place", "Home"),
    ("goals[0].by", "18:00"),
    ("people[0].name", "Ann"),
    ("people[0].place", "Home"),
    ("people[1].name", "James"),
    ("people[1].place", "Airport"),
    ("people[1].from", "14:00"),
    ("vehicles[0].name", "Ann's car"),
    ("vehicles[0].drivers", "Ann"),
    ("travel_minutes[0]", "40"),
)


def test_a_reunion_is_planned_changed_repaired_and_told_from_an_empty_board_on_a_phone(server: Server, visit: OpenVisit) -> None:
    person = visit(server.url, viewport=PHONE, reduced_motion="reduce")
    person.click("empty-reunion")
    fill_board(person, DAY)
    shown = person.page.locator("#plan .sg-assumed").filter(has_text="Ann's car, where: Home (where its driver is)")
    shown.filter(has_not_text="estimated").wait_for()  # a plan for the estimated way may have come first
    first = person.until_asked()
    assert person.page.locator("#front-door").is_hidden()
    fill_board(person, (("tasks[0].name", "roast"), ("tasks[0].minutes", "120")))
    second = person.until_other_plan(first)
    person.page.locator('#request [name="tasks[0]"]').click()
    person.until_filled({"tasks[0].name": ""})
    third = person.until_other_plan(second)
    assert (serious(person), person.page.evaluate("document.documentElement.scrollWidth")) == ([], PHONE["width"])
    person.click("approve")
    person.until_said("the day is open")
    person.page.locator("#trouble > button").click()
    person.click("disrupt-0")
    person.until_other_plan(third)
    assert person.page.locator("#approve").inner_text().startswith("Tell everybody the change")
    person.click("approve")
    person.until_it_goes_on()
    assert person.faults == []


def test_a_reunion_is_planned_changed_repaired_and_told_by_keyboard_alone(server: Server, visit: OpenVisit) -> None:
    person = visit(server.url)
    press, page = person.page.keyboard.press, person.page

    def enter(selector: str) -> None:
        page.locator(selector).focus()
        press("Enter")

    enter("#empty-reunion")
    for name, value in DAY:
        field = person.field(name)
        field.wait_for()
        field.focus()
        hour = value.partition(":")
        if value.isdecimal():
            press("Control+a")
        page.keyboard.type(f"{int(hour[0]) - 12:02}{hour[2]}PM" if hour[1] else value)
        press("Tab")
        person.until_filled({name: value})
    first = person.until_asked()
    person.field("people[1].from").focus()
    page.keyboard.type("0300PM")
    press("Tab")
    second = person.until_other_plan(first)
    person.until_said("Now: James, from: 14:00 → 15:00")
    enter("#approve")
    person.until_said("the day is open")
    enter("#trouble > button")
    page.locator("#disrupt-0").wait_for()
    enter("#disrupt-0")
    person.until_other_plan(second)
    enter("#approve")
    person.until_it_goes_on()


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
    happened = person.page.locator("#disrupt-0").inner_text()
    person.click("disrupt-0")
    person.until_other_plan(second)
    assert happened in person.chat
    person.click("approve")
    person.until_it_goes_on()
    assert person.faults == []
