"""What cannot be met together, and what would help: against exhaustive search, which shares no code with the planner."""

from __future__ import annotations

from datetime import time, timedelta
from decimal import Decimal
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from sagagraph.domains.travel.planning.planner import choose, propose
from sagagraph.domains.travel.request import By, Direct, Hours, JourneyHours, TrainIf, TripRequest, Weekday, Window
from sagagraph.planning.domain import Infeasible
from sagagraph.planning.remedies import remedies_for

from .exhaustive import Trip, broken, every_trip, keeps_all, wishes
from .markets import FIRST, LAST, connected, market_of, problems
from .world import OfferBook, day, flight, hotel, sample_offers, train, trip

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sagagraph.domains.travel.offers import Offer
    from sagagraph.planning.domain import Relaxation

ALL_DAYS = tuple(day(f"06-{n}") for n in range(FIRST, LAST + 1))


def refused(request: TripRequest, offers: Iterable[Offer]) -> Infeasible:
    found = choose(request, market_of(request, offers, departure_days=ALL_DAYS))
    assert isinstance(found, Infeasible)
    return found


# -- examples ------------------------------------------------------------------------------------------------------------------


def test_stars_and_budget_that_cannot_be_met_together() -> None:
    palace = hotel("Berlin", "06-11", 4, 500, stars=5), hotel("Cologne", "06-15", 2, 400, stars=5)
    request = trip(stars=(5, 5), budget=Decimal(2000), direct=Direct.ANY, not_on=(Weekday.MONDAY,))
    found = refused(request, [*sample_offers(), *palace])
    assert found.conflict == ("5 stars", "budget 2000 USD")
    assert found.reasons == (
        "no trip keeps these wishes together: 5 stars; budget 2000 USD",
        "keeping all else, no trip has hotels with 5 stars everywhere: it needs 3 to 5 stars",
        "keeping all else, the cheapest trip costs $4,056, $2,056 more than the budget of $2,000",
    )
    stars, budget = found.relaxations
    assert (stars.wish, stars.needs, stars.change) == ("5 stars", "3 to 5 stars", {"stars": [3, 5]})
    assert (budget.wish, budget.needs, budget.change) == ("budget 2000 USD", "budget 4056 USD", {"budget": 4056})


def test_wishes_that_only_help_together_are_changed_together_and_make_one_remedy() -> None:
    request = trip(budget=Decimal(100), direct=Direct.REQUIRED)
    found = refused(request, sample_offers())
    assert found.conflict == ("direct flights only",)
    assert found.relaxations[0].change == {"direct": "preferred", "budget": 1969}
    assert found.relaxations[0].together == ("direct flights only", "budget 100 USD")
    assert found.reasons[1] == (
        "giving up 'direct flights only' alone does not help:"
        " 'direct flights only' and 'budget 100 USD' would have to go together"
    )
    (remedy,) = remedies_for(request.model_dump(mode="json"), found)
    assert remedy.label == (
        "a change of plane from Cologne to San Francisco and budget 1969 USD instead of direct flights only and budget 100 USD"
    )
    relaxed = TripRequest.model_validate(remedy.request)
    assert not isinstance(choose(relaxed, market_of(relaxed, sample_offers(), departure_days=ALL_DAYS)), Infeasible)


def test_what_cannot_be_had_at_all_is_no_conflict_of_wishes() -> None:
    found = refused(trip(), sample_offers()[1:])
    assert (found.conflict, found.relaxations) == ((), ())
    assert found.reasons


@pytest.mark.parametrize(
    ("wanted", "conflict", "needs", "change"),
    [
        pytest.param(
            {"hours": JourneyHours(depart=Hours(earliest=time(11)))},
            "leave at 11:00 or later", "leave at 10:00 or later",
            {"hours": {"depart": {"earliest": "10:00", "latest": None}, "arrive": {"earliest": None, "latest": None}}},
            id="too late an hour",
        ),
        pytest.param(
            {"hours": JourneyHours(arrive=Hours(latest=time(12)))}, "arrive at 12:00 or earlier", "arrive at 19:50 or earlier",
            {"hours": {"depart": {"earliest": None, "latest": None}, "arrive": {"earliest": None, "latest": "19:50"}}},
            id="too early an hour",
        ),
        pytest.param({"not_on": (Weekday.MONDAY, Weekday.SUNDAY)}, "not on sunday", "on sunday too", {"not_on": ["monday"]},
                     id="a weekday"),
        pytest.param({"train_if": TrainIf(landed_before=time(17), to="Cologne")},
                     "a train to Cologne only if the flight lands before 17:00", "any train", {"train_if": None}, id="a train"),
        pytest.param({"stars": (5, 5)}, "5 stars", "3 to 5 stars", {"stars": [3, 5]}, id="stars"),
        pytest.param({"direct": Direct.REQUIRED}, "direct flights only", "a change of plane from Cologne to San Francisco",
                     {"direct": "preferred"}, id="direct"),
        pytest.param({"by": By.TRAIN}, "by train only", "by train or flight", {"by": "any"}, id="way"),
        pytest.param({"window": Window(first=day("06-10"), last=day("06-16"))}, "between 2025-06-10 and 2025-06-16",
                     "between 2025-06-10 and 2025-06-17", {"window": {"first": "2025-06-10", "last": "2025-06-17"}}, id="dates"),
        pytest.param({"depart": day("06-12")}, "leave on 2025-06-12", "leave on 2025-06-10", {"depart": "2025-06-10"}, id="day"),
        pytest.param({"budget": Decimal("1968.99")}, "budget 1968.99 USD", "budget 1969 USD", {"budget": 1969}, id="budget"),
        pytest.param({"currency": "THB"}, "budget 5000 THB", "budget 1969 USD", {"budget": 1969, "currency": "USD"}, id="rate"),
    ],
)  # fmt: skip
def test_one_wish_alone_says_what_it_would_need(wanted: dict[str, Any], conflict: str, needs: str, change: Any) -> None:
    found = refused(trip(**wanted), sample_offers())
    assert found.conflict == (conflict,)
    assert [(each.wish, each.needs, each.change, each.together) for each in found.relaxations] == [(conflict, needs, change, ())]


def test_where_only_the_night_is_left_no_latest_hour_would_do() -> None:
    offers = sample_offers()
    offers[0] = flight("San Francisco", "Berlin", "06-10 07:00", 695, 653)
    offers[1] = hotel("Berlin", "06-11", 4, 123)
    found = refused(trip(hours=JourneyHours(arrive=Hours(latest=time(20)))), offers)
    assert [each.needs for each in found.relaxations] == ["arrive at any hour"]
    nothing = {"earliest": None, "latest": None}
    assert found.relaxations[0].change == {"hours": {"depart": nothing, "arrive": nothing}}


async def test_days_beyond_the_wishes_are_looked_at_where_there_is_no_trip() -> None:
    late = await propose(trip(window=Window(first=day("06-02"), last=day("06-10"))), OfferBook(sample_offers()))
    assert isinstance(late, Infeasible)
    assert late.relaxations[0].change == {"window": {"first": "2025-06-02", "last": "2025-06-17"}}
    on_a_day = await propose(trip(depart=day("06-08")), OfferBook(sample_offers()))
    assert isinstance(on_a_day, Infeasible)
    assert on_a_day.relaxations[0].change == {"depart": "2025-06-10"}


async def test_flights_are_looked_for_where_no_trip_can_be_had_by_a_good_train() -> None:
    offers = [*sample_offers(), flight("Berlin", "Cologne", "06-15 12:00", 70, 60)]
    offers[2] = train("Berlin", "Cologne", "06-15 10:00", 256, 3500)
    (itinerary,) = await propose(trip(), OfferBook(offers))
    assert itinerary.transports[1].kind == "flight"


# -- against exhaustive search -------------------------------------------------------------------------------------------------


@st.composite
def strict_problems(draw: st.DrawFn) -> tuple[TripRequest, list[Offer]]:
    """So many wishes that few trips keep them all."""
    request, offers = draw(problems())
    for _ in range(draw(st.integers(0, 3))):
        known = {offer.offer_id for offer in offers}
        offers += [offer for offer in draw(connected(request)) if offer.offer_id not in known]
    last = draw(st.integers(FIRST + request.nights, LAST))
    fields = {
        "window": Window(first=day(f"06-{FIRST}"), last=day(f"06-{last}")),
        "stars": draw(st.sampled_from([(1, 5), (3, 4), (4, 4), (4, 5), (1, 2)])),
        "direct": draw(st.sampled_from([Direct.REQUIRED, Direct.ANY])),
        "by": draw(st.sampled_from([*By, By.ANY])),
        "budget": draw(st.none() | st.integers(20, 400).map(Decimal)),
    }
    free = [n for n in range(FIRST, last - request.nights + 1) if Weekday.of(day(f"06-{n}")) not in request.not_on]
    if free and draw(st.booleans()):
        fields["depart"] = day(f"06-{draw(st.sampled_from(free))}")
    return TripRequest.model_validate({**request.model_dump(), **fields}), offers


def can_keep(kept: Iterable[str], trips: list[frozenset[str]]) -> bool:
    """`trips`: what each breaks."""
    return any(not breaks & set(kept) for breaks in trips)


def subsets(names: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """The smallest first."""
    names = list(names)
    return chain.from_iterable(combinations(names, size) for size in range(len(names) + 1))


EXHAUSTIVE = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


@EXHAUSTIVE
@given(strict_problems())
def test_the_conflict_is_a_smallest_set_that_cannot_be_kept(problem: tuple[TripRequest, list[Offer]]) -> None:
    request, offers = problem
    breaks = [broken(request, each) for each in every_trip(request, offers)]
    found = choose(request, market_of(request, offers, departure_days=ALL_DAYS))
    assert isinstance(found, Infeasible) is not can_keep(wishes(request), breaks)
    if not isinstance(found, Infeasible):
        return
    event(f"a conflict of {len(found.conflict)}")
    assert set(found.conflict) <= set(wishes(request))
    assert not can_keep(found.conflict, breaks)
    assert all(can_keep(part, breaks) for part in subsets(found.conflict) if len(part) < len(found.conflict))
    smaller = (part for part in subsets(wishes(request)) if len(part) < len(found.conflict))
    assert all(can_keep(part, breaks) for part in smaller)
    assert [each.wish for each in found.relaxations] == list(found.conflict)


@EXHAUSTIVE
@given(strict_problems())
def test_every_relaxation_helps_and_is_the_least(problem: tuple[TripRequest, list[Offer]]) -> None:
    request, offers = problem
    trips = every_trip(request, offers)
    assume(trips and not keeps_all(request, trips))
    for relaxation in refused(request, offers).relaxations:
        if relaxation.together:
            event("does not help alone")
            _gives_way_together(relaxation, request, trips)
        if relaxation.change is None:
            continue
        event(f"relaxes {', '.join(relaxation.change)}")
        relaxed = TripRequest.model_validate({**request.model_dump(mode="json"), **relaxation.change})
        assert keeps_all(relaxed, trips)
        assert not isinstance(choose(relaxed, market_of(relaxed, offers, departure_days=ALL_DAYS)), Infeasible)
        for nearer in () if relaxation.together else _nearer(request, relaxed):
            assert not keeps_all(nearer, trips)


def _gives_way_together(relaxation: Relaxation, request: TripRequest, trips: list[Trip]) -> None:
    breaks = [broken(request, each) for each in trips]
    names = wishes(request)

    def helps(given_up: Iterable[str]) -> bool:
        return can_keep(set(names) - set(given_up), breaks)

    def is_needed(given_up: tuple[str, ...]) -> bool:
        return helps(given_up) and not any(helps(set(given_up) - {name}) for name in given_up)

    assert not helps([relaxation.wish])
    assert is_needed(relaxation.together)
    needed = [part for part in subsets(names) if relaxation.wish in part and is_needed(part)]
    assert len(relaxation.together) == min(map(len, needed))


def _nearer(request: TripRequest, relaxed: TripRequest) -> Iterator[TripRequest]:
    """Requests between the two: they ask for more than `relaxed`."""
    if relaxed.budget != request.budget:
        yield relaxed.model_copy(update={"budget": (relaxed.budget or 0) - Decimal("0.01")})
    if relaxed.window != request.window:
        assert relaxed.window
        yield relaxed.model_copy(update={"window": Window(first=relaxed.window.first, last=relaxed.window.last - ONE_DAY)})
    if relaxed.depart != request.depart and relaxed.depart:  # any day at all is the answer over the date line
        assert request.depart
        distance = abs((relaxed.depart - request.depart).days)
        for nearer in ALL_DAYS:
            if abs((nearer - request.depart).days) < distance:
                yield request.model_copy(update={"depart": nearer})
    if relaxed.stars != request.stars:
        width = relaxed.stars[1] - relaxed.stars[0]
        for low in range(1, request.stars[0] + 1):
            for high in range(request.stars[1], 6):
                if high - low < width:
                    yield request.model_copy(update={"stars": (low, high)})
    if relaxed.hours != request.hours:
        yield relaxed.model_copy(update={"hours": _minute_nearer(request.hours, relaxed.hours)})


ONE_DAY = timedelta(days=1)


def _minute_nearer(asked: JourneyHours, relaxed: JourneyHours) -> JourneyHours:
    verb = "depart" if asked.depart != relaxed.depart else "arrive"
    before, after = getattr(asked, verb), getattr(relaxed, verb)
    if before.earliest != after.earliest:
        limits = {"earliest": _shifted(after.earliest, 1), "latest": after.latest}
    else:
        limits = {"earliest": after.earliest, "latest": _shifted(after.latest, -1) if after.latest else time(23, 59)}
    return relaxed.model_copy(update={verb: after.model_copy(update=limits)})


def _shifted(moment: time, minutes: int) -> time:
    total = moment.hour * 60 + moment.minute + minutes
    return time(total // 60, total % 60)
