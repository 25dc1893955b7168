"""What follows from what was said of a trip, or is assumed, and what is still missing."""

from __future__ import annotations

from datetime import date

import pytest

from sagagraph.domains.travel.completion import completed
from sagagraph.domains.travel.page.fields import with_value
from sagagraph.domains.travel.partial import FROM_THE_DATES, PartialRequest
from sagagraph.domains.travel.text.reader import read_request
from tests.domains.travel.world import GAZETTEER, TODAY

pytestmark = pytest.mark.quick


def made_of(text: str, home: str | None = None) -> tuple[PartialRequest, dict[str, str]]:
    found, assumed = completed(read_request(text, cities=GAZETTEER, today=TODAY), TODAY, home=home)
    return found, dict(assumed)


def test_nights_follow_from_the_days_and_say_so() -> None:
    found, assumed = made_of("Boston to Paris, 3-5 June")
    assert found.complete().stops[0].nights == 2
    assert assumed == {
        "stops[0].nights": "from the dates",
        "travellers": "nobody else was mentioned",
        "return_to": "a round trip",
    }


@pytest.mark.parametrize(
    ("text", "nights"),
    [
        ("one way flight from Boston to Paris on June 3", [0]),
        ("Boston to Paris and Rome, 9 days in June", [5, 4]),
        ("Boston to Paris 3 nights and Rome, 9 days in total, in June", [3, 6]),
        ("Boston to Paris and Rome, 3 nights and 2 nights, in June", [3, 2]),
        ("Boston to Paris, leaving on June 3, back on June 9", [6]),
        ("Day trip Boston to Paris on 3 June", [0]),
    ],
)
def test_nights_are_derived(text: str, nights: list[int]) -> None:
    assert [stop.nights for stop in made_of(text)[0].complete().stops] == nights


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("Boston to Paris for 3 nights in summer", date(2025, 6, 1), date(2025, 8, 29)),
        ("Boston to Paris for 3 nights in May or June", date(2025, 5, 1), date(2025, 6, 30)),
        ("Boston to Paris for 3 nights by the end of March", TODAY, date(2025, 3, 31)),
        ("Boston to Paris for 3 nights from 3 June on", date(2025, 6, 3), None),
    ],
)
def test_days_are_a_window(text: str, first: date, last: date | None) -> None:
    found, _ = made_of(text)
    assert found.first == first or found.depart == first
    assert last is None or found.last == last


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Vienna to Paris for 3 nights, back on 9 June", date(2025, 6, 6)),
        ("Day trip from Vienna to Paris and back on 9 June", date(2025, 6, 9)),
        ("Boston to Paris for 3 nights, back on 9 June", date(2025, 6, 5)),  # a night is spent over the ocean, or at home
        ("Vienna to Paris for 3 nights, back by 9 June", TODAY),
    ],
)
def test_who_is_back_on_a_day_has_left_so_many_nights_before(text: str, first: date) -> None:
    said = read_request(text, cities=GAZETTEER, today=TODAY)
    found, assumed = completed(said, TODAY, is_far=lambda origin, _: origin == "Boston")
    assert (found.depart or found.first, found.last) == (first, date(2025, 6, 9))
    is_open = first == TODAY  # the day back was said: only the other end is assumed
    assert assumed.get("window.first" if is_open else "window") == ("from today on" if is_open else "from the day back")


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("Boston to Paris in June", ["stops[0].nights"]),
        ("to Paris for 3 nights in June", ["origin"]),
        ("Boston to Paris for 3 nights", ["window"]),
        ("We go from Boston to Paris for 3 nights in June", ["travellers"]),
        ("Boston to Paris for 3 nights in June, 2000 kr", ["currency"]),
    ],
)
def test_what_only_the_traveller_can_know_is_missing(text: str, missing: list[str]) -> None:
    assert [each.field for each in made_of(text)[0].missing()] == missing


def test_the_start_is_that_of_the_last_trip() -> None:
    found, assumed = made_of("to Paris for 3 nights in June", home="Boston")
    assert (found.complete().origin, assumed["origin"]) == ("Boston", "as on the last trip")


def test_what_is_said_later_takes_the_assumption_away() -> None:
    said = read_request("Boston to Paris, 3-5 June", cities=GAZETTEER, today=TODAY)
    request = completed(said, TODAY)[0].complete().model_copy(update={"assumed": dict(completed(said, TODAY)[1])})
    later = read_request("10-14 June instead", cities=GAZETTEER, today=TODAY, known=PartialRequest.of(request))
    found, assumed = completed(later, TODAY)
    assert (found.complete().stops[0].nights, assumed["stops[0].nights"]) == (4, "from the dates")
    for_three = read_request("for 3 people", cities=GAZETTEER, today=TODAY, known=PartialRequest.of(request))
    assert "travellers" not in completed(for_three, TODAY)[1]


@pytest.mark.parametrize("has_plan", [False, True])
@pytest.mark.parametrize(
    ("opening", "changes", "nights", "first", "last"),
    [
        ("Boston to Paris, leaving 1 June, back on 6 June", ["leave on 2 June"], 4, 2, 6),
        ("Boston to Paris, leaving 1 June, back on 6 June", ["back on 8 June"], 7, 1, 8),
        ("Boston to Paris, 17 to 21 June", ["back on 22 June", "leave on the 16th"], 6, 16, 22),
        ("Boston to Paris, Monday 9 June, Friday 13 June", ["back on 14 June instead"], 5, 9, 14),
        ("Boston to Paris, leaving 2 June, back on 6 June", ["leave on 1 June and come back on 6 June"], 5, 1, 6),
        ("Boston to Paris for 5 nights between 1 and 20 June", ["leave on 3 June"], 5, 1, 20),
    ],
)
def test_one_day_that_is_changed_leaves_the_other(
    opening: str, changes: list[str], nights: int, first: int, last: int, *, has_plan: bool
) -> None:
    known = read_request(opening, cities=GAZETTEER, today=TODAY)
    for change in changes:
        if has_plan:
            whole, assumed = completed(known, TODAY)
            known = PartialRequest.of(whole.complete().model_copy(update={"assumed": dict(assumed)}))
        known = read_request(change, cities=GAZETTEER, today=TODAY, known=known)
    found = completed(known, TODAY)[0].complete()
    assert found.window is not None
    assert (found.stops[0].nights, found.window.first, found.window.last) == (nights, date(2025, 6, first), date(2025, 6, last))


def test_a_day_in_a_month_says_nothing_of_nights() -> None:
    known = read_request("Boston to Paris in May", cities=GAZETTEER, today=TODAY)
    found, _ = completed(read_request("leave on 22 May", cities=GAZETTEER, today=TODAY, known=known), TODAY)
    assert [each.field for each in found.missing()] == ["stops[0].nights"]


def test_a_hotel_alone_is_understood() -> None:
    found = read_request("Hotel only: Paris, 3 nights from 4 May, 2 people, 1 room", cities=GAZETTEER, today=TODAY)
    assert (found.stay_only, found.rooms, found.unread) == (True, 1, ())
    trip = read_request("Boston to Paris for 3 nights from 4 May, hotel only", cities=GAZETTEER, today=TODAY)
    assert (trip.stay_only, trip.unread) == (None, ("hotel only",))


def test_rooms_that_were_asked_for_stay_asked_for_and_those_that_were_assumed_do_not() -> None:
    for text, rooms in (("Boston to Paris, 3-5 June, 4 people, 2 rooms", 2), ("Boston to Paris, 3-5 June, 4 people", None)):
        whole, assumed = made_of(text)
        request = whole.complete().model_copy(update={"assumed": assumed})
        assert (PartialRequest.of(request).rooms, request.rooms) == (rooms, 2)


def test_a_label_in_the_next_line_is_no_limit_of_the_stars() -> None:
    form = read_request("Boston to Paris, 3-5 June\nHotel: 3 stars\nMax price: $900", cities=GAZETTEER, today=TODAY)
    assert (form.stars, form.budget) == ((3, 3), 900)
    most = read_request("Boston to Paris, 3-5 June, 3 stars max", cities=GAZETTEER, today=TODAY)
    assert most.stars == (1, 3)


@pytest.mark.parametrize(
    ("later", "first", "last", "nights"),
    [
        ("one day longer", 17, 22, 5),
        ("make it one day shorter", 17, 20, 3),
        ("a week later", 24, 28, 4),
    ],
)
def test_moved_days_keep_the_other_one_and_count_the_nights_anew(later: str, first: int, last: int, nights: int) -> None:
    before, _ = made_of("Boston to Paris, 17 to 21 April")
    said = PartialRequest.of(before.complete())
    for known in (said.model_copy(update={"notes": (("stops[0].nights", FROM_THE_DATES),)}), said):
        now, _ = completed(read_request(later, cities=GAZETTEER, today=TODAY, known=known), TODAY)
        trip = now.complete()
        assert trip.window is not None
        assert (trip.window.first.day, trip.window.last.day, trip.nights) == (first, last, nights)


@pytest.mark.parametrize(("later", "first", "last"), [("leave one day earlier", 16, 21), ("be back two days later", 17, 23)])
def test_one_day_of_two_is_moved_and_the_nights_follow(later: str, first: int, last: int) -> None:
    known = read_request("Boston to Paris, 17 to 21 April", cities=GAZETTEER, today=TODAY)
    now, _ = completed(read_request(later, cities=GAZETTEER, today=TODAY, known=known), TODAY)
    trip = now.complete()
    assert trip.window is not None
    assert (trip.window.first.day, trip.window.last.day, trip.nights) == (first, last, last - first)


def test_what_has_been_answered_is_not_asked_again() -> None:
    known = read_request("Boston to Paris, 3 nights in June, for 4 people", cities=GAZETTEER, today=TODAY)
    now = read_request("the two kids are 7 and 11", cities=GAZETTEER, today=TODAY, known=known)
    assert (now.travellers, now.children, now.missing()) == (4, 2, ())


@pytest.mark.parametrize(
    "said", ["our flights are already booked", "flights are sorted", "I have my flights already", "we've got our train tickets"]
)
def test_whoever_has_their_journeys_wants_a_hotel_alone(said: str) -> None:
    found = read_request(f"Hotel in Paris, 3 nights from 4 May, 2 people, {said}", cities=GAZETTEER, today=TODAY)
    assert (found.stay_only, found.unread) == (True, ())
    trip = read_request(f"Boston to Paris for 3 nights from 4 May, {said}", cities=GAZETTEER, today=TODAY)
    assert trip.stay_only is None
    assert any(said.split()[-1] in each for each in trip.unread), "flights are planned, and that is not what they said"


@pytest.mark.parametrize("said", ["a day trip from Boston to Paris on 4 May", "I'd like a day return Boston to Paris, 4 May"])
def test_a_day_trip_has_no_night(said: str) -> None:
    assert made_of(said)[0].complete().stops[0].nights == 0


def test_who_flies_one_way_and_wants_no_hotel_flies_on_any_of_the_days() -> None:
    whole, assumed = made_of("Boston to Paris one way, any day between 10 and 17 May, no hotel")
    request = whole.complete()
    assert (request.stops[0].nights, assumed["stops[0].nights"]) == (0, "one way, no hotel")
    assert request.window is not None
    assert (request.window.first.day, request.window.last.day) == (10, 17)


@pytest.mark.parametrize(("said", "is_one_way"), [("only going, not return", True), ("not return before Sunday", None)])
def test_whoever_does_not_return_flies_one_way(said: str, is_one_way: bool | None) -> None:
    found = read_request(f"Boston to Paris on 4 May, {said}, 2 people", cities=GAZETTEER, today=TODAY)
    assert found.one_way is is_one_way


@pytest.mark.parametrize(
    ("said", "by"),
    [
        ("Berlin to Cologne by train, 3-5 June", "train"),
        ("Berlin to Cologne, 3-5 June, I don't want to fly", "train"),
        ("Berlin to Cologne, 3-5 June, no trains", "flight"),
        ("Berlin to Cologne, 3-5 June, no flights before 9am", "any"),
        ("fly from Boston to Berlin, 3 nights, then by train to Cologne, 2 nights, in June", "any"),
    ],
)
def test_the_way_to_go_is_that_of_the_whole_trip(said: str, by: str) -> None:
    request = made_of(said)[0].complete()
    assert request.by == by


WINDOW = "Boston to Paris for 3 nights between 1 and 18 June"


@pytest.mark.parametrize("is_planned", [False, True])
def test_nights_of_a_stop_that_joins_a_trip_within_a_window_are_asked(is_planned: bool) -> None:
    said = read_request(WINDOW, cities=GAZETTEER, today=TODAY)
    if is_planned:
        said = PartialRequest.of(completed(said, TODAY)[0].complete())
    added = with_value(said, "stops[1].city", "Rome", GAZETTEER)
    spoken = read_request("add Rome", cities=GAZETTEER, today=TODAY, known=said)
    for each in (added, spoken, with_value(added, "stops[0].nights", "4", GAZETTEER)):
        assert [one.field for one in completed(each, TODAY)[0].missing()] == ["stops[1].nights"]


def test_nights_from_the_dates_give_way_to_those_that_are_said_later() -> None:
    found, assumed = made_of("Boston to Paris for 3 nights and Rome, 1 to 18 June")
    planned = PartialRequest.of(found.complete().model_copy(update={"assumed": assumed}))
    filled = with_value(planned, "stops[0].nights", "4", GAZETTEER)
    spoken = read_request("4 nights in Paris", cities=GAZETTEER, today=TODAY, known=planned)
    for each in (filled, spoken):
        later, reasons = completed(each, TODAY)
        assert [stop.nights for stop in later.complete().stops] == [4, 13]
        assert reasons["stops[1].nights"] == FROM_THE_DATES


def test_what_nobody_has_said_of_a_planned_trip_stays_unsaid() -> None:
    found, assumed = made_of("Boston to Paris for 3 nights, 1 to 18 June")
    again = PartialRequest.of(found.complete().model_copy(update={"assumed": assumed}))
    assert (again.rooms, again.direct) == (None, None)
    more, reasons = completed(with_value(again, "travellers", "3", GAZETTEER), TODAY)
    assert (more.complete().rooms, reasons["rooms"]) == (2, "two in each room")


def test_one_room_for_a_family_of_three_is_assumed_and_says_why() -> None:
    found, assumed = made_of("2 adults and a child aged 5, Boston to Paris for 3 nights, 1 to 18 June")
    assert (found.complete().rooms, assumed["rooms"]) == (1, "two in each room, and a child beside them")
