from __future__ import annotations

from contextlib import suppress
from datetime import date
from decimal import Decimal
from time import process_time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sagagraph.domains.travel.cities import Gazetteer
from sagagraph.domains.travel.completion import completed
from sagagraph.domains.travel.money import money_text
from sagagraph.domains.travel.partial import PartialRequest
from sagagraph.domains.travel.request import Direct
from sagagraph.domains.travel.text.reader import read_request
from sagagraph.errors import InvalidInputError

from .atlas import ATLAS

if TYPE_CHECKING:
    from sagagraph.domains.travel.request import TripRequest

TODAY = date(2025, 3, 1)


def read(cities: Gazetteer, *turns: str) -> PartialRequest:
    """What is known after all turns of a conversation."""
    known: PartialRequest | None = None
    for turn in turns:
        known = read_request(turn, cities=cities, today=TODAY, known=known)
    assert known is not None
    return known


def shown(request: TripRequest) -> str:
    """A request in one line; what nobody said is left out."""
    places = [request.origin, *(f"{stop.city} {stop.nights}" for stop in request.stops), request.return_to or "stay"]
    parts = [" → ".join(places)]
    if request.depart is not None:
        parts.append(f"leaves {request.depart}")
    if request.window is not None:
        parts.append(f"{request.window.first} to {request.window.last}")
    if request.travellers > 1:
        parts.append(f"{request.travellers} in {request.rooms}")
    if request.budget is not None:
        parts.append(money_text(request.budget))
    if request.stars != (1, 5):
        parts.append("{}-{} stars".format(*request.stars))
    if request.direct is not Direct.ANY:
        parts.append(f"direct {request.direct}")
    return ", ".join(parts)


SAMPLE = "San Francisco → Berlin 4 → Cologne 2 → San Francisco, 2025-06-01 to 2025-06-30, $5,000, 3-4 stars"

PHRASINGS = [
    (
        "Plan a trip from San Francisco to Berlin and Cologne and then back to San Francisco in June 2025 (flexible within the"
        " month), budget $5,000 total, moderately priced (3-4 star) hotels, direct flights when possible, 4 days in Berlin and 2"
        " in Cologne",
        f"{SAMPLE}, direct preferred",
    ),
    (
        "San Francisco → Berlin → Cologne → San Francisco, June 2025, $5000, 3-4 stars, 4 nights Berlin, 2 nights Cologne",
        SAMPLE,
    ),
    (
        "SFO-BER-CGN-SFO in June 2025, 4 nights in Berlin, 2 nights in Cologne, 3 to 4 star hotels, up to 5k",
        SAMPLE,
    ),
    (
        "i want to go from sf to berlin (4 nights) then cologne (2 nights) and back home in june, budget of five thousand"
        " dollars, between 3 and 4 stars",
        SAMPLE,
    ),
    (
        "Berlin for 4 nights, Cologne for 2 nights, from SF, June 2025, at most 5,000 dollars, three- or four-star hotels",
        SAMPLE,
    ),
    (
        "We are two, flying from Boston to Paris (3 nights) and then Amsterdam (2 nights), leaving on 5 May 2025, at most 3,500"
        " dollars",
        "Boston → Paris 3 → Amsterdam 2 → Boston, leaves 2025-05-05, 2 in 1, $3,500",
    ),
    ("From NYC to London for a week in October, one way", "New York → London 7 → stay, 2025-10-01 to 2025-10-31"),
    (
        "Fly me to Tokyo from SF 2025-09-10, five nights, direct only, 5 star, max $9k",
        "San Francisco → Tokyo 5 → San Francisco, leaves 2025-09-10, $9,000, 5-5 stars, direct required",
    ),
    (
        "Boston to Rome between 3 and 20 July, family of four, 6 nights, under 4000 USD",
        "Boston → Rome 6 → Boston, 2025-07-03 to 2025-07-20, 4 in 2, $4,000",
    ),
    (
        "from new york to madrid and lisbon, 3 nights each, june, 4k",
        "New York → Madrid 3 → Lisbon 3 → New York, 2025-06-01 to 2025-06-30, $4,000",
    ),
    (
        "Chicago - Vienna - Prague - Chicago, 10th of June, 2 nights Vienna, three nights Prague, no stops",
        "Chicago → Vienna 2 → Prague 3 → Chicago, leaves 2025-06-10, direct required",
    ),
    (
        "I'd like to visit Paris for a couple of nights in late August, starting in Seattle; two adults and one child, nonstop if"
        " possible",
        "Seattle → Paris 2 → Seattle, 2025-08-21 to 2025-08-31, 3 in 1, direct preferred",
    ),
    ("Boston to Paris on 13/06/2025 for 5 nights", "Boston → Paris 5 → Boston, leaves 2025-06-13"),
    (
        "Boston to Paris, June 5 to June 12, 5 nights, $2000 per person, 3 people",
        "Boston → Paris 5 → Boston, 2025-06-05 to 2025-06-12, 3 in 2, $6,000",
    ),
    ("a weekend in Nice from London, next month, nice hotels", "London → Nice 2 → London, 2025-04-01 to 2025-04-30"),
    (
        "my wife and I want to spend 5 days in London and 3 in Paris, from Chicago, leaving May 5th, 2025, back by May 20",
        "Chicago → London 5 → Paris 3 → Chicago, leaves 2025-05-05, 2025-05-05 to 2025-05-20, 2 in 1",
    ),
    ("2 weeks in Tokyo, from LAX, 1 to 20 April", "Los Angeles → Tokyo 14 → Los Angeles, 2025-04-01 to 2025-04-20"),
    (
        "Zürich to München to Köln, 2 nights München, 1 night Köln, 3 May 2025",
        "Zurich → Munich 2 → Cologne 1 → Zurich, leaves 2025-05-03",
    ),
    (
        "Leave Paris on June 10, Berlin 3 nights, Prague 2 nights, back in Paris by June 17",
        "Paris → Berlin 3 → Prague 2 → Paris, leaves 2025-06-10, 2025-06-10 to 2025-06-17",
    ),
    ("one way from Boston to Paris tomorrow, 4 nights", "Boston → Paris 4 → stay, leaves 2025-03-02"),
    (
        "WE ARE THREE PEOPLE GOING FROM BOSTON TO PARIS IN MAY FOR ONE WEEK",
        "Boston → Paris 7 → Boston, 2025-05-01 to 2025-05-31, 3 in 2",
    ),
    ("boston to paris, 5 nights, first week of june", "Boston → Paris 5 → Boston, 2025-06-01 to 2025-06-07"),
    (
        "From Boston to Paris, Nice and Rome, 2, 3 and 4 nights respectively, in May 2026",
        "Boston → Paris 2 → Nice 3 → Rome 4 → Boston, 2026-05-01 to 2026-05-31",
    ),
    (
        "I live in Seattle. I'd like 3 days in Tokyo starting 4 October. Max $2500.",
        "Seattle → Tokyo 3 → Seattle, leaves 2025-10-04, $2,500",
    ),
    (
        "4 nights in London, then 3 in Paris, then home to Boston. Start in Boston on 5 May",
        "Boston → London 4 → Paris 3 → Boston, leaves 2025-05-05",
    ),
    ("Berlin 4, Cologne 2, from SF, June", "San Francisco → Berlin 4 → Cologne 2 → San Francisco, 2025-06-01 to 2025-06-30"),
    ("San Francisco to Tokyo, 12 days, leave May 3rd", "San Francisco → Tokyo 12 → San Francisco, leaves 2025-05-03"),
    (
        "from London to Paris to Rome and back to London, 2 nights in Paris and 3 in Rome, 2 - 9 May, 2 rooms",
        "London → Paris 2 → Rome 3 → London, 2025-05-02 to 2025-05-09",
    ),
    (
        "Paris for 3 nights, from Madrid, may 12 2025, 4+ stars, stops are fine",
        "Madrid → Paris 3 → Madrid, leaves 2025-05-12, 4-5 stars",
    ),
    ("Vienna trip. 3 nights. June 3. From Berlin.", "Berlin → Vienna 3 → Berlin, leaves 2025-06-03"),
    (
        "flying from Boston to Paris on May 5 and returning on May 12, 7 nights",
        "Boston → Paris 7 → Boston, leaves 2025-05-05, 2025-05-05 to 2025-05-12",
    ),
    (
        "Munich to Prague by train, 2 nights, 5 june 2025, $500 each for 2 adults",
        "Munich → Prague 2 → Munich, leaves 2025-06-05, 2 in 1, $1,000",
    ),
    (
        "boston → london (4) → paris (3) → boston in july 2025",
        "Boston → London 4 → Paris 3 → Boston, 2025-07-01 to 2025-07-31",
    ),
    (
        "Honeymoon in Rome from New York, 9 nights in late September, five stars, $12 000",
        "New York → Rome 9 → New York, 2025-09-21 to 2025-09-30, 2 in 1, $12,000, 5-5 stars",
    ),
    (
        "a trip for 5 from Rome to Madrid, 3 nights, the 5th of May, budget of five thousand dollars",
        "Rome → Madrid 3 → Rome, leaves 2025-05-05, 5 in 3, $5,000",
    ),
    (
        "Boston to Paris, leaving the 5th, back by the 12th, June, 4 nights",
        "Boston → Paris 4 → Boston, leaves 2025-06-05, 2025-06-05 to 2025-06-12",
    ),
    ("Boston to Paris Friday 9 May 2025 for 3 nights", "Boston → Paris 3 → Boston, leaves 2025-05-09"),
    (
        "Boston to Paris from December 28 to January 4, 5 nights",
        "Boston → Paris 5 → Boston, 2025-12-28 to 2026-01-04",
    ),
    (
        "Boston to Paris after 10 June, before 25 June, 4 nights",
        "Boston → Paris 4 → Boston, 2025-06-11 to 2025-06-24",
    ),
    ("from Boston MA to Paris France in May for 3 nights", "Boston → Paris 3 → Boston, 2025-05-01 to 2025-05-31"),
    (
        "I want to leave San Francisco on the 10th of June, spend four nights in Berlin and a couple in Cologne, and be back by"
        " the 20th",
        "San Francisco → Berlin 4 → Cologne 2 → San Francisco, leaves 2025-06-10, 2025-06-10 to 2025-06-20",
    ),
    (
        "Hi! My husband and I would love to see Vienna (3n), Prague (2n) and Berlin (3n) in September. We live in Chicago. Our"
        " budget is around $6000 and we prefer 4 star hotels.",
        "Chicago → Vienna 3 → Prague 2 → Berlin 3 → Chicago, 2025-09-01 to 2025-09-30, 2 in 1, $6,000, 4-4 stars",
    ),
    (
        "From Boston: Paris 3, London 2, back. June. 2 ppl. 4k total.",
        "Boston → Paris 3 → London 2 → Boston, 2025-06-01 to 2025-06-30, 2 in 1, $4,000",
    ),
    ("Boston to Rome, 5 days and 4 nights, May", "Boston → Rome 4 → Boston, 2025-05-01 to 2025-05-31"),
    (
        "Boston to Rome, 4 nights, May, me and two friends, separate rooms",
        "Boston → Rome 4 → Boston, 2025-05-01 to 2025-05-31, 3 in 3",
    ),
    ("Boston to Rome, 4 nights, May, travelling alone", "Boston → Rome 4 → Boston, 2025-05-01 to 2025-05-31"),
    (
        "Boston → Paris (2 nights) → London (1 night) → Paris (1 night) → Boston, May",
        "Boston → Paris 2 → London 1 → Paris 1 → Boston, 2025-05-01 to 2025-05-31",
    ),
    (
        "from Boston to London, 3 nights, then on to Rome for 4 nights, flying home from Rome to Boston, May",
        "Boston → London 3 → Rome 4 → Boston, 2025-05-01 to 2025-05-31",
    ),
    (
        "Starting and ending in Lisbon: 2 nights Madrid, 3 nights Paris, September",
        "Lisbon → Madrid 2 → Paris 3 → Lisbon, 2025-09-01 to 2025-09-30",
    ),
    (
        "Boston to Berlin for 3 nights and return to New York, 1-15 May",
        "Boston → Berlin 3 → New York, 2025-05-01 to 2025-05-15",
    ),
    (
        "round trip Boston Paris, 4 nights in Paris, departing 2025-05-06, from Boston",
        "Boston → Paris 4 → Boston, leaves 2025-05-06",
    ),
    (
        "Could you find me flights and a 4 star hotel for a long weekend in Lisbon, from Madrid, some time in May?",
        "Madrid → Lisbon 3 → Madrid, 2025-05-01 to 2025-05-31, 4-4 stars",
    ),
    (
        "please: Prague 2 nights Vienna 3 nights, out of Amsterdam, 3 may, no more than 1200",
        "Amsterdam → Prague 2 → Vienna 3 → Amsterdam, leaves 2025-05-03, $1,200",
    ),
    (
        "Boston to Vienna for five nights and then on to Prague for three before flying home, May",
        "Boston → Vienna 5 → Prague 3 → Boston, 2025-05-01 to 2025-05-31",
    ),
    (
        "Boston to Paris, 4 nights there, Rome 2 nights, then 1 more night in Paris and fly home to Boston, May",
        "Boston → Paris 4 → Rome 2 → Paris 1 → Boston, 2025-05-01 to 2025-05-31",
    ),
    (
        "Two colleagues from our Madrid office go to Rome for 3 nights in May",
        "Madrid → Rome 3 → Madrid, 2025-05-01 to 2025-05-31, 2 in 1",
    ),
    (
        "from Berlin to Rome for 3 nights in May, and I want to break the journey in Vienna for 2 nights",
        "Berlin → Vienna 2 → Rome 3 → Berlin, 2025-05-01 to 2025-05-31",
    ),
]


@pytest.mark.parametrize(("text", "request_line"), PHRASINGS, ids=range(len(PHRASINGS)))
def test_a_sentence_is_understood(cities: Gazetteer, text: str, request_line: str) -> None:
    known = read(cities, text)
    assert known.missing() == ()
    assert shown(known.complete()) == request_line


QUESTIONS = [
    ("Plan me a trip", ["origin", "stops", "window"]),
    ("", ["origin", "stops", "window"]),
    ("?!", ["origin", "stops", "window"]),
    ("Boston to Paris in May", ["stops[0].nights"]),
    ("Boston to Paris and Rome in May, 3 nights in Rome", ["stops[0].nights"]),
    ("3 nights in Paris in May", ["origin"]),
    ("Boston to Paris for 3 nights", ["window"]),
    ("Boston to Paris for 3 nights after 5 May", ["window"]),
    ("from Atlantis to Berlin for 3 nights in May", ["origin"]),
    ("From Boston to Belrin for 3 nights in May", ["stops[0].city"]),
    ("From Boston to Paris for 3 nights in May, then back to Gotham", ["return_to"]),
    ("from Boston or New York to Paris, 3 nights, May", ["origin"]),
    ("Paris or Rome from Boston in May, 4 nights", ["stops[0].city"]),
    ("Berlin, Cologne, San Francisco in June", ["origin", "stops[0].nights", "stops[1].nights", "stops[2].nights"]),
    ("between Boston and Paris in May", ["origin", "stops[0].nights", "stops[1].nights"]),
    ("Berlin, Cologne and Munich in June, 2 nights each", ["origin"]),
    ("trip to Germany from Boston in June, 3 nights", ["stops[0].city"]),
    ("Boston to Paris in June or July for 5 nights", ["window"]),
    ("Boston to Paris on 06/07/2025 for 5 nights", ["depart"]),
    ("Boston to Paris 5 May 2024, 4 nights", ["depart"]),
    ("Boston to Paris June 31, 3 nights", ["depart"]),
    ("Boston to Paris from 20 June 2025 to 3 June 2025, 3 nights", ["window"]),
    ("Boston to Paris next Friday for 3 nights", ["depart"]),
    ("Boston to Paris, 3-5 nights, in May", ["stops[0].nights"]),
    ("Boston to Paris for a few days in May", ["stops[0].nights"]),
    ("from Boston, a 10-day trip to Paris and Rome in May", ["stops[0].nights", "stops[1].nights"]),
    ("Boston to Paris and London: 3 nights in Paris and 4 nights in Paris, 2 in London, May", ["stops[0].nights"]),
    ("We want to go from Boston to Paris for 3 nights in May", ["travellers"]),
    ("Boston to Paris for 3 nights in May, $500 per person", ["travellers"]),
    ("Boston to Paris for 3 nights in May, 4 people, 2 adults", ["travellers"]),
    ("Boston to Paris for 3 nights in May, 2000 kr", ["currency"]),
    ("Boston to Paris for 3 nights in May, 7 star hotels", ["stars"]),
]


@pytest.mark.parametrize(("text", "fields"), QUESTIONS)
def test_what_is_missing_or_ambiguous_is_asked_for_by_name(cities: Gazetteer, text: str, fields: list[str]) -> None:
    known = read(cities, text)
    assert [question.field for question in known.missing()] == fields
    with pytest.raises(InvalidInputError) as caught:
        known.complete()
    assert caught.value.field == fields[0]
    assert "\n" not in str(caught.value)


CONVERSATIONS = [
    (
        ("a trip in june", "from Boston", "Berlin and Cologne", "4 and 2", "budget 3000"),
        "Boston → Berlin 4 → Cologne 2 → Boston, 2025-06-01 to 2025-06-30, $3,000",
    ),
    (
        ("Plan me a trip", "San Francisco", "to Berlin and Cologne", "June", "4 nights in Berlin", "2"),
        "San Francisco → Berlin 4 → Cologne 2 → San Francisco, 2025-06-01 to 2025-06-30",
    ),
    (
        ("Boston to Atlantis and Paris, 3 nights each, May", "Rome"),
        "Boston → Rome 3 → Paris 3 → Boston, 2025-05-01 to 2025-05-31",
    ),
    (("Paris or Rome from Boston in May, 4 nights", "Rome"), "Boston → Rome 4 → Boston, 2025-05-01 to 2025-05-31"),
    (("from Atlantis to Paris, 4 nights, June 5", "Boston"), "Boston → Paris 4 → Boston, leaves 2025-06-05"),
    (("Boston to Paris in June or July for 5 nights", "July"), "Boston → Paris 5 → Boston, 2025-07-01 to 2025-07-31"),
    (("Boston to Paris for 3 nights on 06/07/2025", "6 July 2025"), "Boston → Paris 3 → Boston, leaves 2025-07-06"),
    (
        ("Boston to Paris in June for 5 nights", "leaving on 5 July instead", "make it 6 nights", "actually from New York"),
        "New York → Paris 6 → New York, leaves 2025-07-05",
    ),
    (
        ("Boston to Paris in June for 5 nights", "also London for 2 nights", "skip Paris", "direct only"),
        "Boston → London 2 → Boston, 2025-06-01 to 2025-06-30, direct required",
    ),
    (
        ("Boston to Paris on 5 June for 5 nights", "rather in July"),
        "Boston → Paris 5 → Boston, 2025-07-01 to 2025-07-31",
    ),
    (
        ("Boston to Paris on 5 June for 5 nights", "back by 20 June"),
        "Boston → Paris 5 → Boston, leaves 2025-06-05, 2025-06-05 to 2025-06-20",
    ),
    (
        ("We want to go to Paris from Boston for 3 nights in May, $500 per person", "three of us"),
        "Boston → Paris 3 → Boston, 2025-05-01 to 2025-05-31, 3 in 2, $1,500",
    ),
    (
        ("We want to go to Paris from Boston for 3 nights in May", "two"),
        "Boston → Paris 3 → Boston, 2025-05-01 to 2025-05-31, 2 in 1",
    ),
    (
        ("Boston to Paris, May, 4 nights, 5000 dollars per night", "5400"),
        "Boston → Paris 4 → Boston, 2025-05-01 to 2025-05-31, $5,400",
    ),
    (("Boston to Paris, May, 4 nights, 5000 euros", "no limit"), "Boston → Paris 4 → Boston, 2025-05-01 to 2025-05-31"),
    (("Boston to Paris, May, 4 nights, $3000", "unlimited budget"), "Boston → Paris 4 → Boston, 2025-05-01 to 2025-05-31"),
    (
        ("Boston to Paris, 10 to 20 June, 4 nights", "from 5 July", "back by 20 July"),
        "Boston → Paris 4 → Boston, 2025-07-05 to 2025-07-20",
    ),
    (
        ("one way Boston to Paris, 3 nights, May", "and then back to Boston"),
        "Boston → Paris 3 → Boston, 2025-05-01 to 2025-05-31",
    ),
    (("Boston to Paris, 3 nights, May", "one way"), "Boston → Paris 3 → stay, 2025-05-01 to 2025-05-31"),
    (
        ("Boston to Paris for 3 nights in May, $2000", "to Rome and Madrid, 2 nights each"),
        "Boston → Rome 2 → Madrid 2 → Boston, 2025-05-01 to 2025-05-31, $2,000",
    ),
    (
        ("Boston to Paris for 3 nights and Rome for 2 nights in May", "remove rome and give me the 2 nights in paris"),
        "Boston → Paris 3 → Boston, 2025-05-01 to 2025-05-31",
    ),
    (
        ("Boston to Paris for 3 nights and Rome for 2 nights in May", "paris only, 5 nights"),
        "Boston → Paris 5 → Boston, 2025-05-01 to 2025-05-31",
    ),
]


@pytest.mark.parametrize(("turns", "request_line"), CONVERSATIONS, ids=range(len(CONVERSATIONS)))
def test_what_was_said_before_is_kept(cities: Gazetteer, turns: tuple[str, ...], request_line: str) -> None:
    known = read(cities, *turns)
    assert known.missing() == ()
    assert shown(known.complete()) == request_line


def test_what_is_known_survives_json(cities: Gazetteer) -> None:
    known = read(cities, "from Atlantis to Paris, 4 nights, June or July, $500 per person")
    assert PartialRequest.model_validate_json(known.model_dump_json()) == known


def test_a_window_that_is_too_short_is_said_in_one_line(cities: Gazetteer) -> None:
    known = read(cities, "Boston to Rome, 12 nights in late September")
    with pytest.raises(InvalidInputError, match=r"^window: 2025-09-21 to 2025-09-30 has room for 9 nights; the stops need 12: "):
        known.complete()


@pytest.mark.parametrize("words", ["Paris ", "Paris to Rome, 3 nights, ", "at BOS at 3pm, ", "by train to Rome from Paris and "])
def test_the_time_to_read_grows_with_the_square_of_the_length_at_most(cities: Gazetteer, words: str) -> None:
    """A form with three stars in it took 64 times as long for four times the length: a minute."""

    def took(characters: int) -> float:
        begun = process_time()
        with suppress(InvalidInputError):
            read(cities, (words * characters)[:characters])
        return process_time() - begun

    assert took(3900) < 30 * max(took(975), took(975))


def test_a_text_without_end_is_refused(cities: Gazetteer) -> None:
    with pytest.raises(InvalidInputError, match=r"^text: is longer than 4000 characters$"):
        read(cities, "to Paris " * 1000)


@pytest.mark.parametrize(
    "text",
    ["${HOME} {{7*7}} $(rm -rf /)", "__import__('os').system('id')", "'; DROP TABLE sagas; --", "%s%s%n", "\x00\uffff" * 50],
)
def test_text_is_never_more_than_text(cities: Gazetteer, text: str) -> None:
    assert read(cities, f"Boston to Paris, 3 nights, May. {text}").stops


WORDS = st.sampled_from(
    [
        *(
            "not on",
            "Sundays",
            "weekends",
            "no flights",
            "before",
            "8am",
            "22:30",
            "noon",
            "arrive",
            "between",
            "red-eyes",
            "Portland",
        ),
        *(
            "€",
            "kr",
            "pounds",
            "£3k",
            "instead of",
            "change",
            "via",
            "evenly",
            "next Friday",
            "Easter",
            "the first",
            "never mind",
            "any",
        ),
        *(
            "make it",
            "0",
            "400",
            "2500",
            "Return",
            "into",
            "out of",
            "couples",
            "children",
            "Maine",
            "PEN",
            "somewhere",
            "10 days in",
        ),
        *("from", "to", "and", "or", "then", "back", "in", "each", "for", "between", "before", "after", "leaving", "by", "late"),
        *(
            "Boston",
            "Paris",
            "Berlin",
            "SFO",
            "Atlantis",
            "June",
            "May",
            "may",
            "2025",
            "06/07/2025",
            "5",
            "5th",
            "2025-05-06",
            "home from",
            "in two weeks",
            "from now",
            "999999999999",
            "999 fortnights",
            "from today",
        ),
        *("3", "4", "two", "nights", "days", "week", "a couple of", "people", "we", "per person", "one way", "total", "last"),
        *("$5000", "4k", "stars", "3-4", "direct", "only", ",", ";", "(", ")", "→", "-", "without", "also", "respectively"),
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(WORDS, max_size=25).map(" ".join), min_size=1, max_size=3))
def test_any_jumble_of_words_is_understood_or_asked_about(turns: list[str]) -> None:
    known = read(ATLAS, *turns)
    whole, _assumed = completed(known, TODAY, is_far=ATLAS.takes_a_night)
    for each in (known, whole):
        if not each.missing():
            with suppress(InvalidInputError):  # nights that do not fit the dates
                assert each.complete().stops


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_understood_or_asked_about(cities: Gazetteer, text: str) -> None:
    assert read(cities, text).missing()


def test_an_amount_for_each_follows_the_party(cities: Gazetteer) -> None:
    known = read(cities, "Boston to Paris, 3 nights, May, 2 people, $700 each", "make that 4 people")
    assert known.complete().budget == Decimal(2800)


@pytest.mark.parametrize(
    ("text", "currency", "why"),
    [
        ("From London to Rome for 3 nights in May, budget 900", "GBP", "as used in the United Kingdom"),
        ("From Boston to Rome for 3 nights in May, budget 900", "USD", "as used in the United States"),
        ("From London to Rome for 3 nights in May, budget 900 euros", "EUR", None),
        ("Rome for 3 nights in May, budget 900", None, None),
    ],
)
def test_an_amount_without_a_currency_is_in_the_one_at_home(text: str, currency: str | None, why: str | None) -> None:
    known = read(ATLAS, text)
    assert (known.currency, dict(known.notes).get("currency")) == (currency, why)


def test_who_says_their_name_says_nothing_about_the_trip() -> None:
    known = read(ATLAS, "My name is Olga. From London to Rome for 3 nights in May.")
    assert (known.origin, [stop.city for stop in known.stops], known.unread) == ("London", ["Rome"], ())
