"""The request as fields: a trip and a reunion planned, changed, repaired and booked without typing a sentence."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from sagagraph.sandbox.server import EmbeddedSandbox
from tests.ui.books import order
from tests.ui.conftest import OpenVisit
from tests.ui.page import DESKTOP, Visit
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


WITHOUT_A_CHANGE = """box => {
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(box, "Ann")
  box.dispatchEvent(new InputEvent("input", { bubbles: true }))
}"""
"""As in a field that was drawn anew while somebody typed in it: once it is left, the browser tells of no change."""


def test_what_is_typed_is_sent_also_where_the_browser_tells_of_no_change(server: Server, visit: OpenVisit) -> None:
    person = visit(server.url, reduced_motion="reduce")
    person.click("empty-reunion")
    name = person.field("people[0].name")
    name.focus()
    name.evaluate(WITHOUT_A_CHANGE)
    person.page.keyboard.press("Tab")
    person.field("people[0].place").wait_for()


ROME = "From Boston to Rome for 3 nights in May 2025, at most $1,340"


def test_what_cannot_be_typed_stays_in_its_field_and_says_why_until_it_is_corrected(server: Server, visit: OpenVisit) -> None:
    person = visit(server.url, reduced_motion="reduce")
    person.say(ROME.replace("1,340", "9,000"))
    person.until_asked()
    city, why = person.field("stops[0].city"), person.page.locator("#request .sg-is-refused [role=alert]")
    person.fill("stops[0].city", "Atlantis")
    why.wait_for()
    assert (city.input_value(), city.get_attribute("aria-invalid")) == ("Atlantis", "true")
    assert why.inner_text().startswith("No city called 'Atlantis' is known; did you mean ")
    assert city.get_attribute("aria-describedby") == why.get_attribute("id")
    assert ("Atlantis" in person.chat, serious(person)) == (False, [])
    person.page.get_by_role("button", name="Travellers: one more").click()
    person.until_said("Now: Travellers: 1 → 2")
    assert (city.input_value(), why.is_visible()) == ("Atlantis", True)
    person.fill("stops[0].city", "Rome")
    why.wait_for(state="hidden")
    assert (city.input_value(), city.get_attribute("aria-invalid")) == ("Rome", None)
    assert person.faults == []


def test_a_day_that_is_none_is_said_so_and_changes_nothing_until_it_is_corrected(server: Server, visit: OpenVisit) -> None:
    person = visit(server.url)
    press, page, last = person.page.keyboard.press, person.page, person.field("last")
    person.say(ROME)
    first = person.until_asked()
    why = page.locator("#request .sg-is-refused [role=alert]")
    last.focus()
    page.keyboard.type("02312025")
    press("Escape")
    person.field("depart").focus()
    why.wait_for()
    assert (why.inner_text(), last.get_attribute("aria-invalid")) == ("That is no day of the calendar.", "true")
    assert last.evaluate("box => box.validity.badInput"), "what was typed is still there"
    assert (person.plan_hash, "Now: " in person.chat) == (first, False)
    last.focus()
    page.keyboard.type("05292025")
    person.field("depart").focus()
    person.until_said("Now: Back by: 31 May 2025 → 29 May 2025")
    why.wait_for(state="hidden")
    person.field("depart").focus()
    page.keyboard.type("02312025")
    last.focus()
    why.wait_for()
    person.field("depart").focus()
    for _ in range(3):
        press("Backspace")
        press("ArrowRight")
    last.focus()
    why.wait_for(state="hidden")
    assert person.faults == []


def test_quick_clicks_are_one_change_and_what_cannot_be_had_is_refused_at_its_field(server: Server, visit: OpenVisit) -> None:
    person = visit(server.url)
    person.say(ROME)
    first = person.until_asked()
    nights, more = person.field("stops[0].nights"), person.page.get_by_role("button", name="nights: one more")
    why = person.page.locator("#request .sg-is-refused [role=alert]")
    for _ in range(5):
        more.click()
    why.wait_for()
    assert why.inner_text().startswith("“8” cannot be had: ")
    assert (nights.input_value(), nights.get_attribute("aria-invalid"), person.plan_hash) == ("3", "true", first)
    person.until_said("Your plan stays as it was.")
    for _ in range(3):
        more.click()
    person.until_other_plan(first)
    assert (nights.input_value(), why.count(), person.chat.count("Now: "), "3 → 6" in person.chat) == ("6", 0, 1, True)


def test_no_change_is_lost_that_is_made_while_another_is_waited_for_or_planned(server: Server, visit: OpenVisit) -> None:
    person = visit(server.url)
    person.say(ROME.replace("1,340", "9,000"))
    person.until_asked()
    page, more = person.page, person.page.get_by_role("button", name="nights: one more")
    more.click()
    person.fill("budget", "8000")
    more.click()
    page.get_by_role("button", name="Travellers: one more").click()
    more.click()
    more.click()
    page.locator("#status [data-status=planning]").wait_for(state="attached")
    more.click()
    page.locator("#request [name='stops[0].stars']").select_option("4-5")
    person.until_filled({"stops[0].nights": "8", "budget": "8000", "travellers": "2", "stops[0].stars": "4-5"})
    person.until("awaiting_approval")
    asked = person.told()["request"]
    assert (asked["stops"][0]["nights"], asked["stops"][0]["stars"], asked["travellers"]) == (8, [4, 5], 2)
    assert asked["budget"] == 8000


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_every_column_of_a_board_is_in_sight(server: Server, visit: OpenVisit, viewport: dict[str, int]) -> None:
    person = visit(server.url, viewport=viewport, reduced_motion="reduce")
    person.click("example-reunion")
    person.until_asked()
    sheets = person.page.locator("#request .sg-sheet")
    widths = sheets.evaluate_all("sheets => sheets.map(each => [each.ariaLabel, each.scrollWidth - each.clientWidth])")
    assert ("What has to be done" in dict(widths), [name for name, over in widths if over]) == (True, [])
    labels = "box => getComputedStyle(box.closest('td'), '::before').content.split(' / ')[0]"
    assert person.field("tasks[1].watched").evaluate(labels) == '"watched"'
    assert serious(person) == []


def test_the_button_to_change_something_shows_where_to_say_what(server: Server, visit: OpenVisit) -> None:
    person = visit(server.url, viewport=PHONE, reduced_motion="reduce")
    person.say(ROME)
    person.until_asked()
    person.page.evaluate("scrollTo(0, document.body.scrollHeight)")
    box = person.page.locator("#say textarea, #say input").first
    person.click("change")
    assert box.get_attribute("placeholder") == "Say what should be different …"
    place = box.evaluate("box => box.getBoundingClientRect().y")
    assert 0 < place < PHONE["height"] * 0.8
    ring = box.evaluate(
        "box => box === document.activeElement && getComputedStyle(box)['outline'] + getComputedStyle(box).outlineOffset"
    )
    assert ("solid" in ring, ring.endswith("-2px")) == (True, True), "inside the box, whose surroundings cut off the rest"


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
