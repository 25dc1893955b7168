"""What is said of a trip that is planned already, on the page's own functions."""

from __future__ import annotations

import pytest
import pytest_asyncio
from msgspec import structs

from sagagraph.domains.travel.page.wishes import unread_and_preferred
from sagagraph.domains.travel.plan import Itinerary
from sagagraph.domains.travel.request import Stop
from sagagraph.errors import InvalidInputError
from sagagraph.planning.page import ALONE, Draft, Page
from sagagraph.saga.core.state import Saga
from sagagraph.ui.service import Service
from sagagraph.ui.visitors import guest
from tests.domains.travel.world import flight, hotel, trip

pytestmark = pytest.mark.asyncio(loop_scope="module")

TRIP = "From Boston to Lisbon for 3 nights in May 2025, 2 people, at most $5,000"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def planned(service: Service) -> Saga:
    """A trip that waits for approval."""
    visitor = guest("a token that nobody guesses, of somebody with wishes")
    draft = await service.pages["travel"].read(TRIP, None)
    saga_id = await service.begin(visitor, "travel", draft.request)
    while service.is_busy(saga_id):
        await service.moved(saga_id)
    return await service.saga(visitor, saga_id)


@pytest.fixture(scope="module")
def page(service: Service) -> Page:
    return service.pages["travel"]


async def said(page: Page, *turns: str) -> Draft:
    draft = await page.read(TRIP, None)
    for turn in turns:
        draft = await page.read(turn, draft.known)
    return draft


@pytest.mark.parametrize(
    "words",
    [
        "a nicer hotel please and not on a monday",
        "add Porto for 2 nights and make it cheaper",
        "make it 2 nights cheaper and 4 stars",
        "cheaper but at least 4 stars",
        "$500 cheaper",
        "not the cheapest, please",
    ],
)
async def test_a_preference_that_says_more_chooses_nothing(page: Page, planned: Saga, words: str) -> None:
    assert await page.preferred(words, planned) is None


async def test_a_preference_beside_a_wish_is_named_as_not_yet_applied(page: Page) -> None:
    draft = await said(page, "cheaper but at least 4 stars")
    assert draft.request["stars"] == [4, 5]
    assert draft.not_understood == ()
    assert draft.request["prefer"] == "cheapest"
    assert "prefer" not in (await said(page, "at least 4 stars")).request


@pytest.mark.parametrize("words", ["make it cheaper", "cheaper please", "can you make it a bit cheaper?", "the cheapest one"])
async def test_a_preference_alone_is_one(page: Page, planned: Saga, words: str) -> None:
    found = await page.preferred(words, planned)
    assert found is not None
    assert "the cheapest" in found.said


async def test_what_a_preference_leaves_unread_is_named(page: Page, planned: Saga) -> None:
    found = await page.preferred("cheaper, with a swimming pool", planned)
    assert found is not None
    assert "I did not understand: swimming pool" in found.said


async def test_nothing_is_the_cheapest_where_nothing_was_compared(page: Page, planned: Saga) -> None:
    alone = structs.replace(planned, plan=structs.replace(planned.plan, alternatives=()))
    found = await page.preferred("cheaper", alone)
    assert found is not None
    assert (found.plan_hash, found.said) == (None, ALONE)


@pytest.mark.parametrize(
    ("field", "value"),
    [("stops[0].city", "Xyzzy"), ("stops[0].nights", "x"), ("origin", "Xyzzy"), ("first", "whenever"), ("travellers", "some"),
     ("budget", "little"), ("moon", "full")],
)  # fmt: skip
async def test_a_field_takes_no_nonsense(page: Page, field: str, value: str) -> None:
    with pytest.raises(InvalidInputError):
        await page.with_field((await said(page)).known, field, value)


@pytest.mark.parametrize(
    ("field", "value", "name", "meant"),
    [
        ("travellers", "3", "travellers", 3),
        ("rooms", "2", "rooms", 2),
        ("budget", "4000", "budget", 4000),
        ("origin", "New York", "origin", "New York"),
        ("return_to", "New York", "return_to", "New York"),
        ("stops[0].city", "Porto", "stops", [{"city": "Porto", "nights": 3}]),
        ("budget", "", "budget", None),
        ("stars", "4-4", "stars", [4, 4]),
        ("prefer", "cheapest", "prefer", "cheapest"),
        ("parts", "journeys", "hotels", False),
        ("parts", "hotel", "origin", "Lisbon"),
    ],
)
async def test_a_field_is_changed(page: Page, field: str, value: str, name: str, meant: object) -> None:
    request = (await page.with_field((await said(page)).known, field, value)).request
    assert request[name] == meant


async def test_only_a_hotel_is_booked_where_the_trip_stays_and_journeys_come_back_at_a_click(page: Page) -> None:
    stay = await page.with_field((await said(page)).known, "parts", "hotel")
    assert (stay.request["origin"], stay.request["return_to"]) == ("Lisbon", None)
    again = page.draft_of(stay.request)
    assert again.request == stay.request
    assert "only a hotel" in [wish.text for wish in again.wishes]
    assert (await page.with_field(again.known, "parts", "")).missing == ("origin",)


async def test_a_party_is_listed_with_its_rooms_though_nobody_spoke_of_rooms(page: Page) -> None:
    draft = await said(page)
    listed = {wish.key: wish.text for wish in draft.wishes}
    assert (listed["travellers"], listed["rooms"]) == ("2 travellers", "1 room")
    assert "rooms" not in {wish.key for wish in (await page.read("Boston to Lisbon, 3 nights, May", None)).wishes}


async def test_the_price_of_a_plan_says_for_how_many_it_is(planned: Saga) -> None:
    assert " for 2 travellers, " in planned.plan.reasons[0]


async def test_a_hotel_that_cancels_before_anything_is_booked_is_no_wish(page: Page, planned: Saga) -> None:
    with pytest.raises(InvalidInputError, match="Nothing of this trip is booked yet"):
        page.disruption_in("our hotel cancelled on us", planned)
    assert page.disruption_in("a cheaper hotel", planned) is None


async def test_any_order_holds_when_a_trip_is_taken_up_from_its_request(page: Page) -> None:
    draft = await page.read("Boston to Lisbon and Porto in any order, 2 nights each, May", None)
    again = page.draft_of(draft.request)
    assert again.request == draft.request
    assert "in any order" in [wish.text for wish in again.wishes]


async def test_a_plan_says_where_one_lands_in_the_night_hours_before_check_in(page: Page) -> None:
    stay, back = hotel("London", "06-11", 3, 100), flight("London", "Boston", "06-14 12:00", 480, 400)
    whens = []
    for leaves in ("06-10 12:20", "06-10 18:20", "06-10 23:20"):
        wish = trip(origin="Boston", stops=(Stop(city="London", nights=3),), return_to="Boston")
        plan = Itinerary.of(wish, [flight("Boston", "London", leaves, 420, 400), stay, back])
        whens.append([line.when.partition("; ")[2] for line in page.view(plan.model_dump(mode="json")).lines])
    late = "lands at 00:20: no bed in London before check-in at 15:00"
    assert whens == [[late, "", ""], ["", "", ""], ["", "", ""]]


@pytest.mark.parametrize("said", ["comfortable", "the most comfortable one", "travel comfortably"])
def test_comfort_is_an_order_of_plans(said: str) -> None:
    assert unread_and_preferred((said,))[1] == ("the most comfortable",)
