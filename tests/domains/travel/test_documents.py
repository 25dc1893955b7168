from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from icalendar import Calendar

from sagagraph.domains.travel.actions.documents import itinerary_ics, itinerary_text
from sagagraph.domains.travel.offers import Cancellation
from sagagraph.domains.travel.plan import Itinerary

from .world import NOW, flight, hotel, sample_itinerary, sample_offers, trip

pytestmark = pytest.mark.quick

RESERVATIONS = {f"T{n}": f"res-{n}" for n in range(1, 6)}


def test_every_leg_is_an_event_in_utc() -> None:
    calendar = Calendar.from_ical(itinerary_ics(sample_itinerary(), RESERVATIONS, created=NOW))
    events = calendar.walk("VEVENT")
    assert [event["uid"] for event in events] == [f"res-{n}@sagagraph" for n in range(1, 6)]
    flight_event, stay = events[:2]
    assert flight_event.decoded("dtstart") == datetime(2025, 6, 11, 3, 25, tzinfo=UTC)
    assert flight_event.decoded("dtend") == datetime(2025, 6, 11, 15, 0, tzinfo=UTC)
    assert flight_event.decoded("dtstamp") == NOW
    assert (stay.decoded("dtstart"), stay.decoded("dtend")) == (date(2025, 6, 11), date(2025, 6, 15))
    assert str(stay["summary"]) == "Garden Court Berlin, Berlin"


def test_the_same_trip_gives_the_same_bytes() -> None:
    first = itinerary_ics(sample_itinerary(), RESERVATIONS, created=NOW)
    assert first == itinerary_ics(sample_itinerary(), dict(reversed(RESERVATIONS.items())), created=NOW)
    assert b"\r\n" in first


def test_a_leg_without_a_reservation_is_told_apart_by_the_plan() -> None:
    events = Calendar.from_ical(itinerary_ics(sample_itinerary(), {}, created=NOW)).walk("VEVENT")
    assert len({event["uid"] for event in events}) == 5


def test_names_that_look_like_calendar_lines_stay_names() -> None:
    offers = sample_offers()
    offers[1] = hotel("Berlin", "06-11", 4, 123, name="Inn; END:VEVENT\r\nBEGIN:VALARM")
    ics = itinerary_ics(Itinerary.of(trip(), offers), RESERVATIONS, created=NOW)
    assert len(Calendar.from_ical(ics).walk("VEVENT")) == 5
    assert Calendar.from_ical(ics).walk("VALARM") == []


def test_the_text_tells_all_that_is_booked() -> None:
    text = itinerary_text(sample_itinerary(), {"T1": "res-1"})
    assert text.startswith("San Francisco → Berlin → Cologne → San Francisco\n10 June 2025 to 17 June 2025\n\n")
    assert (
        "Flight Meridian MD1: SFO → BER\n"
        "    leaves San Francisco 10 June 2025 20:25 (UTC-07:00)\n"
        "    arrives Berlin 11 June 2025 17:00 (UTC+02:00)\n"
        "    11 h 35 min\n"
        "    $653\n"
        "    cancelling costs $25\n"
        "    Reservation res-1\n"
    ) in text
    assert (
        "Hotel Garden Court Cologne, Cologne\n"
        "    3 stars, 1 room, 2 nights\n"
        "    check in 15 June 2025 from 15:00\n"
        "    check out 17 June 2025 until 11:00\n"
        "    $221\n"
    ) in text
    assert "14 h 10 min, via AMS" in text
    assert text.endswith("\n\nTotal: $1,969 USD\n")


def test_the_text_says_until_when_cancelling_is_free() -> None:
    terms = Cancellation(free_until=datetime(2025, 6, 9, 13, 0, tzinfo=UTC), fee=Decimal("12.50"))
    offer = flight("San Francisco", "Berlin", "06-10 20:25", 695, 653, cancellation=terms)
    text = itinerary_text(Itinerary.of(trip(), [offer]), {})
    assert "cancelling costs $12.50 after 9 June 2025 13:00 (UTC+00:00), nothing before" in text


def test_the_text_names_the_fees_of_a_change_and_no_label_of_a_leg() -> None:
    itinerary = sample_itinerary()
    legs = [leg.model_copy(update={"label": f"{leg.label}.2"}) for leg in itinerary.legs]
    text = itinerary_text(itinerary.with_legs(legs).model_copy(update={"fees": Decimal("29.80")}), {"T1.2": "res-6"})
    assert text.endswith("\n\nTotal: $1,969 + $29.80 cancellation fees = $1,998.80 USD\n")
    assert ("Reservation res-6" in text, "T1" in text) == (True, False)
