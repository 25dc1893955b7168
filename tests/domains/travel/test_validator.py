from __future__ import annotations

import json
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from sagagraph.domains.travel.money import Converted
from sagagraph.domains.travel.plan import Itinerary, OnlyIf
from sagagraph.domains.travel.request import (
    ANY_HOURS,
    By,
    Direct,
    Hours,
    JourneyHours,
    Stop,
    TrainIf,
    Weekday,
    Window,
    parse_request,
)
from sagagraph.domains.travel.rules.validator import parsed_itinerary, validate_itinerary
from sagagraph.errors import InvalidInputError
from sagagraph.validators.verdict import Verdict, VerdictStatus

from .world import GAZETTEER, NOW, RATES, day, flight, hotel, sample_itinerary, sample_offers, train, trip

pytestmark = pytest.mark.quick

if TYPE_CHECKING:
    from sagagraph.domains.travel.offers import Offer
    from sagagraph.domains.travel.request import TripRequest


def judge(itinerary: Itinerary, request: TripRequest | None = None, *, now: datetime = NOW) -> Verdict:
    """As if the world still offered exactly what the itinerary says."""
    request = request or itinerary.request
    return validate_itinerary(itinerary, request, quotes_of(itinerary), now=now, cities=GAZETTEER, rates=RATES)


def quotes_of(itinerary: Itinerary) -> dict[str, Offer]:
    return {leg.offer.offer_id: leg.offer for leg in itinerary.legs}


def codes(verdict: Verdict) -> set[str]:
    return {violation.code for violation in verdict.violations}


def with_offer(label: str, itinerary: Itinerary | None = None, **facts: Any) -> Itinerary:
    """The sample with one offer changed, unchecked, and the total added up again."""
    itinerary = itinerary or sample_itinerary()
    legs = tuple(
        leg.model_copy(update={"offer": leg.offer.model_copy(update=facts)}) if leg.label == label else leg
        for leg in itinerary.legs
    )
    return itinerary.model_copy(update={"legs": legs, "total": sum((leg.offer.price for leg in legs), Decimal(0))})


def made_of(*offers: Offer, **changes: Any) -> Itinerary:
    return Itinerary.of(trip(**changes), offers)


A = sample_offers()
ONE_STOP: dict[str, Any] = {"stops": (Stop(city="Berlin", nights=4),)}
HOME = flight("Berlin", "San Francisco", "06-15 14:40", 850, 526)
TO_PARIS: dict[str, Any] = {"origin": "Amsterdam", "stops": (Stop(city="Paris", nights=1),), "return_to": "London"}


def in_euros(total: str, **changes: Any) -> Itinerary:
    """The sample for $1,969, which are 1891.27 euros and a bit."""
    shown = Converted(total=Decimal(total), currency="EUR", on=RATES.on, source=RATES.source)
    return sample_itinerary(currency="EUR", **changes).model_copy(update={"converted": shown})


def under_condition(lands_before: str, **changes: Any) -> Itinerary:
    """The sample, whose first flight lands in Berlin at 17:00, with a condition on the train."""
    plan = sample_itinerary(**changes)
    before = datetime.fromisoformat(f"2025-{lands_before}").replace(tzinfo=plan.transports[0].arrives.tzinfo)
    legs = [leg.model_copy(update={"only_if": OnlyIf(lands_before=before)} if leg.label == "T3" else {}) for leg in plan.legs]
    return plan.model_copy(update={"legs": tuple(legs)})


def at_hours(depart: Hours = ANY_HOURS, arrive: Hours = ANY_HOURS) -> Itinerary:
    """The sample leaves between 10:00 and 20:25 and arrives between 14:16 and 19:50."""
    return sample_itinerary(hours=JourneyHours(depart=depart, arrive=arrive))


valid_plans = {
    "a budget in another currency, kept to the cent": in_euros("1891.27", budget=Decimal("1891.27")),
    "hours that are just kept": at_hours(
        Hours(earliest=time(10), latest=time(20, 25)), Hours(earliest=time(14, 16), latest=time(19, 50))
    ),
    "weekdays that are kept": sample_itinerary(not_on=(Weekday.MONDAY, Weekday.THURSDAY, Weekday.FRIDAY, Weekday.SATURDAY)),
    "the sample trip": sample_itinerary(),
    "one way": made_of(*A[:4], return_to=None),
    "open jaw": made_of(*A[:4], flight("Cologne", "Boston", "06-17 14:40", 600, 526), return_to="Boston"),
    "a single stop": made_of(A[0], A[1], HOME, **ONE_STOP),
    "exactly the budget": sample_itinerary(budget=Decimal(1969)),
    "no budget": sample_itinerary(budget=None),
    "an exact day of departure": sample_itinerary(depart=day("06-10"), window=None),
    "just inside the window": sample_itinerary(window=Window(first=day("06-10"), last=day("06-17"))),
    "two hotels in one city": made_of(A[0], hotel("Berlin", "06-11", 1, 90), hotel("Berlin", "06-12", 3, 90), HOME, **ONE_STOP),
    "a change of trains on the way": made_of(
        flight("San Francisco", "Munich", "06-10 20:25", 695, 600),
        train("Munich", "Berlin", "06-11 18:30", 240, 60),
        A[1],
        HOME,
        **ONE_STOP,
    ),
    "a party with rooms": Itinerary.of(
        trip(travellers=3, rooms=2, **ONE_STOP),
        [
            flight("San Francisco", "Berlin", "06-10 20:25", 695, 653, travellers=3),
            hotel("Berlin", "06-11", 4, 123, rooms=2),
            flight("Berlin", "San Francisco", "06-15 14:40", 850, 526, travellers=3),
        ],
    ),
    "over the night in which the clocks change": made_of(
        flight("Boston", "Berlin", "10-25 18:00", 480, 500),
        hotel("Berlin", "10-26", 1, 90),
        flight("Berlin", "Boston", "10-27 10:00", 540, 500),
        origin="Boston",
        stops=(Stop(city="Berlin", nights=1),),
        window=Window(first=day("10-01"), last=day("10-31")),
    ),
    "over the date line, to the day before": made_of(
        flight("Auckland", "Honolulu", "06-10 20:00", 520, 500),
        hotel("Honolulu", "06-10", 2, 90),
        flight("Honolulu", "Auckland", "06-12 14:00", 540, 500),
        origin="Auckland",
        stops=(Stop(city="Honolulu", nights=2),),
    ),
    "exactly enough time to change": made_of(
        train("Amsterdam", "Paris", "06-10 20:30", 205, 80),
        hotel("Paris", "06-10", 1, 90),
        flight("Paris", "London", "06-11 00:55", 80, 90),
        **TO_PARIS,
    ),
    "stops where direct flights are only preferred": with_offer("T1", stops=1, via=("FRA",)),
}


@pytest.mark.parametrize("itinerary", valid_plans.values(), ids=valid_plans.keys())
def test_a_sound_trip_is_valid(itinerary: Itinerary) -> None:
    verdict = judge(itinerary)
    assert verdict.violations == ()
    assert verdict.verdict is VerdictStatus.VALID


invalid_plans: dict[str, tuple[str, str | None, Itinerary]] = {
    "a total that is a cent too small": (
        "PRICE",
        None,
        sample_itinerary().model_copy(update={"total": Decimal("1968.99")}),
    ),
    "a train after a flight that lands too late": ("CONDITION", "T3", sample_itinerary(train_if=TrainIf(landed_before=time(17)))),
    "a train under a condition that nobody wished": ("CONDITION", "T3", under_condition("06-11 17:01")),
    "a total that is no number": ("PRICE", None, sample_itinerary().model_copy(update={"total": Decimal("NaN")})),
    "a price that is no number": ("PRICE", "T2", with_offer("T2", price=Decimal("NaN"))),
    "an infinite price": ("PRICE", "T2", with_offer("T2", price=Decimal("Infinity"))),
    "a negative price": ("PRICE", "T2", with_offer("T2", price=Decimal(-1))),
    "a price in another currency": ("PRICE", "T2", with_offer("T2", currency="EUR")),
    "a total in another currency": ("PRICE", None, sample_itinerary().model_copy(update={"currency": "EUR"})),
    "a cent over the budget": ("BUDGET", None, sample_itinerary(budget=Decimal("1968.99"))),
    "a budget that is no number": (
        "BUDGET",
        None,
        sample_itinerary().model_copy(update={"request": trip().model_copy(update={"budget": Decimal("NaN")})}),
    ),
    "a seat for one of two": (
        "PARTY",
        "T1",
        Itinerary.of(
            trip(travellers=2, **ONE_STOP),
            [A[0], A[1], flight("Berlin", "San Francisco", "06-15 14:40", 850, 526, travellers=2)],
        ),
    ),
    "a room too few": (
        "PARTY",
        "T2",
        Itinerary.of(
            trip(travellers=3, **ONE_STOP),
            [
                flight("San Francisco", "Berlin", "06-10 20:25", 695, 653, travellers=3),
                A[1],
                flight("Berlin", "San Francisco", "06-15 14:40", 850, 526, travellers=3),
            ],
        ),
    ),
    "another city than asked for": (
        "ROUTE",
        None,
        made_of(
            flight("San Francisco", "Munich", "06-10 20:25", 695, 653), hotel("Munich", "06-11", 4, 123),
            flight("Munich", "San Francisco", "06-15 14:40", 850, 526), **ONE_STOP,
        ),
    ),
    "the stops in another order": (
        "ROUTE",
        None,
        sample_itinerary(stops=(Stop(city="Cologne", nights=2), Stop(city="Berlin", nights=4))),
    ),
    "another end than asked for": (
        "ROUTE", None, made_of(*A[:4], flight("Cologne", "Boston", "06-17 14:40", 600, 526)),
    ),
    "no way home": ("ROUTE", None, made_of(*A[:2], **ONE_STOP)),
    "a way home that nobody asked for": ("ROUTE", None, made_of(*A, return_to=None)),
    "a start elsewhere": (
        "ROUTE", "T1", made_of(flight("Los Angeles", "Berlin", "06-10 20:25", 695, 653), A[1], HOME, **ONE_STOP),
    ),
    "a train from where the traveller is not": ("ROUTE", "T3", with_offer("T3", origin_city="Munich", origin="Munich")),
    "a hotel in another city": ("ROUTE", "T2", with_offer("T2", city="Munich")),
    "a night more than asked for": (
        "NIGHTS",
        "T1",
        made_of(A[0], hotel("Berlin", "06-11", 5, 90), flight("Berlin", "San Francisco", "06-16 14:40", 850, 526), **ONE_STOP),
    ),
    "nights that are not those of the dates": ("NIGHTS", "T2", with_offer("T2", nights=5)),
    "no hotel at all": ("DATE_GAP", "T1", made_of(A[0], HOME, **ONE_STOP)),
    "no hotel at the end of a one-way trip": ("DATE_GAP", "T3", made_of(*A[:3], return_to=None)),
    "a first night without a bed": ("DATE_GAP", "T2", with_offer("T2", check_in=day("06-12"), nights=3)),
    "a last night without a bed": ("DATE_GAP", "T2", with_offer("T2", check_out=day("06-14"), nights=3)),
    "a night between two hotels": (
        "DATE_GAP",
        "T3",
        made_of(A[0], hotel("Berlin", "06-11", 1, 90), hotel("Berlin", "06-13", 2, 90), HOME, **ONE_STOP),
    ),
    "a bed for the night on the plane": ("DATE_OVERLAP", "T2", with_offer("T2", check_in=day("06-10"), nights=5)),
    "a bed at home, after the trip": ("DATE_OVERLAP", "T6", made_of(*A, hotel("San Francisco", "06-17", 1, 90))),
    "a bed before the trip": ("ROUTE", "T1", made_of(hotel("Berlin", "06-10", 1, 90), *A)),
    "a bed at home, before the trip": ("ROUTE", "T1", made_of(hotel("San Francisco", "06-09", 1, 90), *A)),
    "a bed after leaving": ("DATE_OVERLAP", "T2", with_offer("T2", check_out=day("06-16"), nights=5)),
    "two beds in one night": (
        "DATE_OVERLAP",
        "T3",
        made_of(A[0], hotel("Berlin", "06-11", 2, 90), hotel("Berlin", "06-12", 3, 90), HOME, **ONE_STOP),
    ),
    "a minute too little to change": (
        "CONNECTION",
        "T3",
        made_of(
            train("Amsterdam", "Paris", "06-10 20:30", 205, 80),
            hotel("Paris", "06-10", 1, 90),
            flight("Paris", "London", "06-11 00:54", 80, 90),
            **TO_PARIS,
        ),
    ),
    "too little time after a flight": (
        "CONNECTION",
        "T2",
        made_of(
            flight("San Francisco", "Munich", "06-10 20:25", 695, 600),
            train("Munich", "Berlin", "06-11 18:29", 240, 60),
            A[1],
            HOME,
            **ONE_STOP,
        ),
    ),
    "a train that leaves before the flight lands": (
        "CONNECTION",
        "T2",
        made_of(
            flight("San Francisco", "Munich", "06-10 20:25", 695, 600),
            train("Munich", "Berlin", "06-11 12:00", 240, 60),
            A[1],
            HOME,
            **ONE_STOP,
        ),
    ),
    "the offset of winter in summer": (
        "TIMEZONE",
        "T3",
        with_offer("T3", departs=datetime.fromisoformat("2025-06-15T10:00+01:00"), duration_minutes=196),
    ),
    "the offset of another continent": (
        "TIMEZONE",
        "T1",
        with_offer("T1", arrives=datetime.fromisoformat("2025-06-11T08:00-07:00")),
    ),
    "a duration that its times deny": ("TIMEZONE", "T1", with_offer("T1", duration_minutes=694)),
    "a place without a known zone": (
        "TIMEZONE",
        "T1",
        made_of(
            flight("San Francisco", "Munich", "06-10 20:25", 695, 600).model_copy(update={"destination_city": "Nowhere"}),
            train("Munich", "Berlin", "06-11 18:30", 240, 60).model_copy(update={"origin_city": "Nowhere"}),
            A[1],
            HOME,
            **ONE_STOP,
        ),
    ),
    "the first day that a datetime can hold": (
        "TIMEZONE",
        "T1",
        with_offer("T1", departs=datetime.fromisoformat("0001-01-01T00:00+14:00")),
    ),
    "a start before the window": ("WINDOW", "T1", sample_itinerary(window=Window(first=day("06-11"), last=day("06-30")))),
    "an end after the window": ("WINDOW", "T5", sample_itinerary(window=Window(first=day("06-01"), last=day("06-16")))),
    "another day of departure": ("WINDOW", "T1", sample_itinerary(depart=day("06-09"))),
    "a departure a minute too early": ("HOURS", "T3", at_hours(Hours(earliest=time(10, 1)))),
    "a departure a minute too late": ("HOURS", "T1", at_hours(Hours(latest=time(20, 24)))),
    "an arrival a minute too early": ("HOURS", "T3", at_hours(arrive=Hours(earliest=time(14, 17)))),
    "an arrival a minute too late": ("HOURS", "T5", at_hours(arrive=Hours(latest=time(19, 49)))),
    "a departure on a day when none is wanted": ("WEEKDAY", "T3", sample_itinerary(not_on=(Weekday.SUNDAY,))),
    "a cent above a budget in euros": ("BUDGET", None, in_euros("1891.27", budget=Decimal("1891.26"))),
    "a total in euros that is rounded down": ("PRICE", None, in_euros("1891.26")),
    "a total in euros that is not shown": ("PRICE", None, sample_itinerary(currency="EUR")),
    "a total in euros where nobody asked for euros": (
        "PRICE",
        None,
        sample_itinerary().model_copy(update={"converted": in_euros("1891.27").converted}),
    ),
    "a budget in a currency without a rate": ("BUDGET", None, sample_itinerary(currency="THB")),
    "a star too few": ("STARS", "T2", sample_itinerary(stars=(4, 4)).model_copy(update={"legs": with_offer("T4", stars=4).legs})),
    "a star too many": ("STARS", "T4", with_offer("T4", stars=5)),
    "a stop where flights have to be direct": ("NOT_DIRECT", "T5", sample_itinerary(direct=Direct.REQUIRED)),
    "a train where only flights are wanted": ("WAY", "T3", sample_itinerary(by=By.FLIGHT)),
    "a stop that is only admitted by its airport": (
        "NOT_DIRECT",
        "T1",
        with_offer("T1", made_of(A[0], A[1], HOME, direct=Direct.REQUIRED, **ONE_STOP), via=("FRA",)),
    ),
}  # fmt: skip

BREAKS_MORE = {"the first day that a datetime can hold": {"DATE_PAST", "WINDOW"}}
"""What else cannot be right, when that is wrong."""


@pytest.mark.parametrize("name", invalid_plans)
def test_a_broken_rule_is_found_and_no_other(name: str) -> None:
    code, label, itinerary = invalid_plans[name]
    verdict = judge(itinerary)
    assert verdict.verdict is VerdictStatus.INVALID
    assert codes(verdict) == {code} | BREAKS_MORE.get(name, set())
    found = next(violation for violation in verdict.violations if violation.code == code)
    assert found.scope.get("leg") == label
    json.dumps(found.evidence)


@pytest.mark.parametrize(("arrives", "is_late"), [("23:59", False), ("00:00", True), ("03:59", True), ("04:00", False)])
def test_the_small_hours_are_later_than_any_evening(arrives: str, is_late: bool) -> None:
    home = flight("Cologne", "Berlin", f"06-17 {arrives}", 60, 90)
    plan = made_of(*A[:4], home, return_to="Berlin", hours=JourneyHours(depart=Hours(latest=time(23, 59))))
    assert ("HOURS" in codes(judge(plan))) == is_late


def test_without_rates_a_budget_in_another_currency_is_not_kept() -> None:
    plan = in_euros("1891.27")
    verdict = validate_itinerary(plan, plan.request, None, now=NOW, cities=GAZETTEER)
    assert codes(verdict) == {"BUDGET", "PRICE"}


def test_a_trip_in_the_past_is_found() -> None:
    verdict = judge(sample_itinerary(), now=datetime(2025, 6, 16, 12, tzinfo=UTC))
    assert [(violation.code, violation.scope["leg"]) for violation in verdict.violations] == [
        ("DATE_PAST", "T1"),
        ("DATE_PAST", "T3"),
        ("DATE_PAST", "T2"),
        ("DATE_PAST", "T4"),
    ]


def test_a_hotel_begins_by_the_day_of_its_city() -> None:
    honolulu = made_of(
        flight("Los Angeles", "Honolulu", "06-10 20:30", 320, 500),
        hotel("Honolulu", "06-10", 2, 90),
        origin="Los Angeles",
        stops=(Stop(city="Honolulu", nights=2),),
        return_to=None,
    )
    the_eleventh_only_in_utc = datetime(2025, 6, 11, 3, tzinfo=UTC)
    assert judge(honolulu, now=the_eleventh_only_in_utc).is_valid


# -- quotes --------------------------------------------------------------------------------------------------------------------


def judge_with(**changed: Offer | None) -> Verdict:
    """The sample, of which the world now offers these legs otherwise, or not at all."""
    itinerary = sample_itinerary()
    quotes = quotes_of(itinerary)
    for leg in itinerary.legs:
        if leg.label in changed:
            quote = changed[leg.label]
            del quotes[leg.offer.offer_id]
            if quote is not None:
                quotes[leg.offer.offer_id] = quote
    return validate_itinerary(itinerary, itinerary.request, quotes, now=NOW, cities=GAZETTEER)


def test_a_price_that_has_risen_is_found() -> None:
    verdict = judge_with(T2=A[1].model_copy(update={"price": Decimal("492.01")}))
    assert [(violation.code, violation.scope, violation.evidence) for violation in verdict.violations] == [
        ("PRICE", {"leg": "T2"}, {"planned": "492", "quoted": "492.01"})
    ]


def test_a_price_that_has_fallen_is_found_too() -> None:
    assert codes(judge_with(T5=A[4].model_copy(update={"price": Decimal(500)}))) == {"PRICE"}


@pytest.mark.parametrize(
    "quote",
    [
        pytest.param(None, id="gone"),
        pytest.param(A[2].model_copy(update={"left": 0}), id="sold out"),
        pytest.param(A[2].model_copy(update={"departs": A[2].departs + timedelta(hours=1)}), id="at another time"),
        pytest.param(hotel("Berlin", "06-11", 4, 77), id="something else"),
    ],
)
def test_what_cannot_be_had_any_more_is_found(quote: Offer | None) -> None:
    verdict = judge_with(T3=quote)
    assert [(violation.code, violation.scope) for violation in verdict.violations] == [("UNAVAILABLE", {"leg": "T3"})]


def test_without_quotes_neither_price_nor_availability_is_judged() -> None:
    itinerary = sample_itinerary()
    assert validate_itinerary(itinerary, itinerary.request, None, now=NOW, cities=GAZETTEER).is_valid


def test_new_terms_of_cancellation_do_not_make_another_offer() -> None:
    terms = A[0].cancellation.model_copy(update={"fee": Decimal(99)})
    assert judge_with(T1=A[0].model_copy(update={"cancellation": terms})).is_valid


def test_the_request_judges_and_not_its_echo_in_the_itinerary() -> None:
    itinerary = sample_itinerary(budget=None)
    assert codes(judge(itinerary, trip(budget=Decimal(100)))) == {"BUDGET"}


# -- raw json ------------------------------------------------------------------------------------------------------------------


def judge_raw(plan: object, request: object = None) -> Verdict:
    asked = parse_request(trip().model_dump(mode="json") if request is None else request, cities=GAZETTEER, today=NOW.date())
    itinerary = parsed_itinerary(plan)
    return itinerary if isinstance(itinerary, Verdict) else validate_itinerary(itinerary, asked, None, now=NOW, cities=GAZETTEER)


def test_a_sound_plan_is_valid_as_text_and_parsed() -> None:
    itinerary = sample_itinerary()
    assert judge_raw(itinerary.model_dump_json()).is_valid
    assert judge_raw(itinerary.model_dump_json().encode()).is_valid
    assert judge_raw(itinerary.model_dump(mode="json")).is_valid


def damaged(**changes: Any) -> dict[str, Any]:
    return {**sample_itinerary().model_dump(mode="json"), **changes}


@pytest.mark.parametrize(
    ("plan", "field"),
    [
        ("", ""),
        ("{", ""),
        ("[" * 100_000, ""),
        ("null", ""),
        ([], ""),
        (None, ""),
        ({}, "request"),
        (damaged(legs=[]), "legs"),
        (damaged(total="much"), "total"),
        (damaged(total=float("nan")), "total"),
        (damaged(note="hello"), "note"),
        (damaged(legs=[{"label": "T1", "offer": {"kind": "boat"}}]), "legs[0].offer"),
    ],
)
def test_what_is_no_plan_is_malformed(plan: object, field: str) -> None:
    verdict = judge_raw(plan)
    assert codes(verdict) == {"MALFORMED"}
    assert verdict.violations[0].scope == {"field": field}


def test_a_local_time_without_an_offset_is_malformed() -> None:
    document = sample_itinerary().model_dump(mode="json")
    document["legs"][0]["offer"]["departs"] = "2025-06-10T20:25:00"
    assert judge_raw(document).violations[0].scope == {"field": "legs[0].offer.flight.departs"}


@pytest.mark.parametrize("request_json", ["{", {"origin": "SF"}, []])
def test_an_unusable_request_is_the_callers_fault(request_json: object) -> None:
    with pytest.raises(InvalidInputError):
        judge_raw(sample_itinerary().model_dump_json(), request_json)


OVER_THE_DATE_LINE = (
    flight("Tokyo", "San Francisco", "06-10 00:30", 570, 700),
    hotel("San Francisco", "06-09", 2, 150),
    flight("San Francisco", "Tokyo", "06-11 12:00", 660, 700),
)
THERE_AND_BACK: dict[str, Any] = {
    "origin": "Tokyo",
    "stops": (Stop(city="San Francisco", nights=2),),
    "return_to": "Tokyo",
    "direct": Direct.ANY,
}


@pytest.mark.parametrize(
    "when", [{"window": Window(first=day("06-10"), last=day("06-20"))}, {"window": None, "depart": day("06-10")}]
)
def test_a_trip_begins_with_its_first_leg_whatever_the_calendar_says_over_the_date_line(when: dict[str, Any]) -> None:
    itinerary = made_of(*OVER_THE_DATE_LINE, **THERE_AND_BACK, **when)
    assert [leg.begins for leg in itinerary.legs][:2] == [day("06-10"), day("06-09")]
    assert judge(itinerary).violations == ()
    too_early = {**when, "window": Window(first=day("06-11"), last=day("06-20")), "depart": None}
    assert codes(judge(made_of(*OVER_THE_DATE_LINE, **THERE_AND_BACK, **too_early))) == {"WINDOW"}


def under_way(itinerary: Itinerary, *, now: datetime) -> Verdict:
    """As booked; what has left or been moved into by `now` has begun."""
    begun = {leg.label: leg for leg in sample_itinerary().legs if leg.label in ("T1", "T2")}
    return validate_itinerary(itinerary, itinerary.request, quotes_of(itinerary), now=now, cities=GAZETTEER, begun=begun)


def test_what_has_begun_is_no_matter_of_the_past_and_stays_in_the_plan() -> None:
    now = datetime(2025, 6, 13, 12, tzinfo=UTC)
    sample = sample_itinerary()
    assert codes(judge(sample, now=now)) == {"DATE_PAST"}
    assert under_way(sample, now=now).violations == ()
    another = under_way(with_offer("T2", offer_id="another bed"), now=now)
    assert (codes(another), [each.scope["leg"] for each in another.violations]) == ({"PAST_REWRITTEN"}, ["T2"])
    gone = with_offer("T3", departs=now - timedelta(days=1))
    assert "DATE_PAST" in codes(under_way(gone, now=now)), "what has not begun by itself must not lie in the past"
