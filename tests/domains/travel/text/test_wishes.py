from __future__ import annotations

import pytest

from sagagraph.domains.travel.request import Direct
from sagagraph.domains.travel.text.slots import read_stars

from .atlas import ATLAS
from .slots import NOTHING, said
from .test_reader import read


@pytest.mark.parametrize(
    ("text", "stars"),
    [
        ("moderately priced (3-4 star) hotels", (3, 4)),
        ("3-4 stars", (3, 4)),
        ("3 to 4 star", (3, 4)),
        ("3 or 4 stars", (3, 4)),
        ("3 star or 4 star hotels", (3, 4)),
        ("between 3 and 4 stars", (3, 4)),
        ("three- or four-star hotels", (3, 4)),
        ("5 star", (5, 5)),
        ("a four-star hotel", (4, 4)),
        ("4* hotels", (4, 4)),
        ("3-4*", (3, 4)),
        ("4+ stars", (4, 5)),
        ("at least 4 stars", (4, 5)),
        ("minimum of 3 stars", (3, 5)),
        ("4 stars or better", (4, 5)),
        ("up to 3 stars", (1, 3)),
        ("3 stars at most", (1, 3)),
        ("starting in Boston", None),
        ("4 nights", None),
    ],
)
def test_stars_are_understood(text: str, stars: tuple[int, int] | None) -> None:
    understood = said(text, read_stars, NOTHING)[0]
    assert (understood.fields.get("stars"), understood.doubts) == (stars, [])


@pytest.mark.parametrize("text", ["6 star hotel", "0 stars", "3.5 stars", "4-3 stars", "3 stars in Berlin, 5 stars in Cologne"])
def test_stars_that_no_hotel_has_are_asked_about(text: str) -> None:
    understood = said(text, read_stars, NOTHING)[0]
    assert "stars" not in understood.fields
    assert [doubt.field for doubt in understood.doubts] == ["stars"]


@pytest.mark.parametrize(
    ("text", "direct"),
    [
        ("direct flights when possible", Direct.PREFERRED),
        ("nonstop if possible", Direct.PREFERRED),
        ("preferably direct", Direct.PREFERRED),
        ("I prefer non-stop flights", Direct.PREFERRED),
        ("ideally no layovers", Direct.PREFERRED),
        ("direct flights", Direct.PREFERRED),
        ("direct only", Direct.REQUIRED),
        ("only direct flights", Direct.REQUIRED),
        ("must be nonstop", Direct.REQUIRED),
        ("no stops", Direct.REQUIRED),
        ("without changing planes", Direct.REQUIRED),
        ("stops are fine", Direct.ANY),
        ("flights may have stops", Direct.ANY),
        ("layovers are allowed", Direct.ANY),
        ("I don't mind layovers", Direct.ANY),
        ("stop in Berlin", None),
        ("", None),
    ],
)
def test_the_wish_for_direct_flights_is_understood(text: str, direct: Direct | None) -> None:
    assert said(text, read_stars, NOTHING)[0].fields.get("direct") == direct


BERLIN_AND_COLOGNE = (
    "From Boston to Berlin for 4 nights and Cologne for 2 nights and back, in June 2025, at most $5,000, 3-4 star hotels"
)


@pytest.mark.parametrize(
    ("later", "stops"),
    [
        ("take a night off Berlin", [("Berlin", 3), ("Cologne", 2)]),
        ("Berlin for 3 nights first, then Cologne for 1", [("Berlin", 3), ("Cologne", 1)]),
        ("make it Berlin, Paris and Cologne, two nights each", [("Berlin", 2), ("Paris", 2), ("Cologne", 2)]),
        ("5 nights in Berlin and nowhere else", [("Berlin", 5)]),
        ("cancel Cologne only", [("Berlin", 4)]),
        ("we have decided against Cologne", [("Berlin", 4)]),
        ("make Berlin shorter by one night", [("Berlin", 3), ("Cologne", 2)]),
        ("Cologne longer by two nights", [("Berlin", 4), ("Cologne", 4)]),
    ],
)
def test_nights_and_order_are_changed_by_what_was_said_before(later: str, stops: list[tuple[str, int]]) -> None:
    changed = read(ATLAS, BERLIN_AND_COLOGNE, later)
    assert [(stop.city, stop.nights) for stop in changed.stops] == stops
    assert (changed.origin, changed.unread, changed.missing()) == ("Boston", (), ())


@pytest.mark.parametrize("between", ["at most $4000", "for 2 people in 2 rooms", "6 nights in Berlin"])
def test_a_number_alone_means_nothing_where_there_are_several(between: str) -> None:
    before, after = (read(ATLAS, BERLIN_AND_COLOGNE, "5 nights in Berlin", between, *more) for more in ((), ("make it 6",)))
    assert after.unread == ("6",)
    assert after.model_copy(update={"unread": ()}) == before


def test_stars_that_are_fine_in_one_city_hold_there_alone() -> None:
    changed = read(ATLAS, BERLIN_AND_COLOGNE, "3 star is fine in Cologne")
    assert ([stop.stars for stop in changed.stops], changed.stars, changed.unread) == ([None, (3, 3)], (3, 4), ())


def test_who_wishes_something_of_a_known_trip_does_not_travel_alone() -> None:
    changed = read(ATLAS, BERLIN_AND_COLOGNE, "for 3 people", "my wife wants to go to Cologne, 3 nights")
    assert (changed.travellers, changed.stops[1].nights, changed.missing()) == (3, 3, ())


@pytest.mark.parametrize("said", ["start in Cologne and end in Berlin", "Cologne first", "Lyon before Berlin"])
def test_an_order_is_put_on_the_board_and_named_here(said: str) -> None:
    before = read(ATLAS, BERLIN_AND_COLOGNE)
    changed = read(ATLAS, BERLIN_AND_COLOGNE, said)
    assert (changed.stops, changed.origin, changed.return_to) == (before.stops, before.origin, before.return_to)
    assert changed.unread


def test_stars_beside_each_city_are_of_that_city() -> None:
    changed = read(ATLAS, BERLIN_AND_COLOGNE, "4 stars in Berlin, 3 in Cologne")
    assert [(stop.nights, stop.stars) for stop in changed.stops] == [(4, (4, 4)), (2, (3, 3))]
    assert (changed.stars, changed.unread, changed.missing()) == ((3, 4), (), ())


@pytest.mark.parametrize("said", ["we don't need to go back", "no need for us to fly back", "we don't need a return flight"])
def test_nobody_who_does_not_need_to_is_brought_back(said: str) -> None:
    changed = read(ATLAS, BERLIN_AND_COLOGNE, said)
    assert (changed.one_way, changed.unread) == (True, ())


@pytest.mark.parametrize(
    "said",
    [
        "somewhere to stay in Berlin, 3 nights from 5 May, I'm driving so no flight",
        "3 nights in Berlin from 5 May, we come by car",
        "a room in Berlin for 3 nights from 5 May, trains already booked",
    ],
)
def test_whoever_has_a_way_there_gets_a_hotel_alone(said: str) -> None:
    known = read(ATLAS, said)
    assert (known.stay_only, known.by, known.unread) == (True, None, ())


def test_cities_with_days_of_their_own_are_stayed_in_for_these() -> None:
    known = read(ATLAS, "From Boston. Berlin Mon 19 to Wed 21 May, Cologne Wed to Fri 23")
    assert [(stop.city, stop.nights) for stop in known.stops] == [("Berlin", 2), ("Cologne", 2)]
    assert (str(known.first), str(known.last)) == ("2025-05-19", "2025-05-23")


def test_one_person_less_is_counted_from_those_who_were_to_travel() -> None:
    assert read(ATLAS, BERLIN_AND_COLOGNE, "for 3 people", "minus one person").travellers == 2


@pytest.mark.parametrize("answer", ["ok", "most", "of", "man"])
def test_a_word_that_is_a_city_somewhere_answers_nothing(answer: str) -> None:
    found = read(ATLAS, "somewhere in France, from London, 5 nights, early May", answer)
    assert [stop.city for stop in found.stops] == [None]


def test_nights_that_are_asked_for_are_those_of_the_city_that_was_added() -> None:
    found = read(ATLAS, BERLIN_AND_COLOGNE, "add Paris then", "2 nights")
    assert [(stop.city, stop.nights) for stop in found.stops] == [("Berlin", 4), ("Cologne", 2), ("Paris", 2)]
    assert found.missing() == ()


def test_a_trip_that_is_shortened_is_not_moved() -> None:
    asked = read(ATLAS, BERLIN_AND_COLOGNE, "leaving on 12 June", "shorten it by a day").missing()[0]
    assert (asked.field, len(asked.candidates)) == ("stops", 2)


@pytest.mark.parametrize("said", ["bump the budget up to $6,000", "drop the budget limit", "I'd like to spend less, around 6000"])
def test_a_budget_is_moved_or_dropped(said: str) -> None:
    changed = read(ATLAS, BERLIN_AND_COLOGNE, said)
    assert (changed.budget, changed.unread) == (6000 if "6" in said else None, ())


ROUTE = "From Rome to Paris for 2 nights and Cologne for 3 nights, leaving on 12 June"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (
            "take the train only if the flight lands before noon, otherwise stay in Paris that night",
            "only if the flight lands before noon",
        ),
        ("take the train only if the flight lands before 9 o'clock", "only if the flight lands before 9 o'clock"),
        ("take the train only if it lands before 3 pm", "only if it lands before 3 pm"),
        ("the train only if our plane touches down in Paris before half past three", "only if our plane touches down"),
        ("take the train only if it rains", "rains"),
    ],
)
def test_a_condition_that_cannot_be_taken_is_named_whole(text: str, named: str) -> None:
    found = read(ATLAS, ROUTE, text)
    assert (found.train_if, found.hours) == (None, None)
    assert any(named in each for each in found.unread)
    assert [(stop.city, stop.nights) for stop in found.stops] == [("Paris", 2), ("Cologne", 3)]


@pytest.mark.parametrize(
    ("later", "named"),
    [
        ("move one night from Berlin to Cologne", "from Berlin to Cologne"),
        ("swap Berlin and Cologne", "Berlin and Cologne"),
        ("give me the 2 nights in Berlin", "the 2 nights in Berlin"),
        ("no early flights", "early"),
        ("come back a day later", "later"),
    ],
)
def test_what_is_not_taken_any_more_is_named_and_changes_nothing(later: str, named: str) -> None:
    before, after = read(ATLAS, BERLIN_AND_COLOGNE), read(ATLAS, BERLIN_AND_COLOGNE, later)
    assert named in after.unread
    assert (after.stops, after.hours, after.depart, after.origin) == (before.stops, None, None, "Boston")


def test_not_to_change_planes_is_a_wish_for_direct_flights_and_a_hotel_is_no_plane() -> None:
    wished = read(ATLAS, "Boston to Berlin, 3 nights, 5 May, I would prefer not to change planes")
    assert (wished.direct, wished.unread) == (Direct.PREFERRED, ())
    assert read(ATLAS, "Boston to Berlin, 3 nights, 5 May, I'd like not to change the hotel").direct is None
