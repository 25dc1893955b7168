"""Wishes for a trip, as phrases that the reader understands one by one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Final

from sagagraph.domains.travel.money import money_text
from sagagraph.domains.travel.offers import HotelOffer
from sagagraph.domains.travel.partial import PartialRequest
from sagagraph.domains.travel.plan import Itinerary
from sagagraph.domains.travel.request import FEWEST_STARS, MOST_STARS, By, Direct, Hours, Order, rooms_for
from sagagraph.domains.travel.text.reader import left_unread
from sagagraph.domains.travel.wording import count_text, day_text, listed, party_text, train_if_text
from sagagraph.planning.page import ALONE, Preference, Wish, better_offer
from sagagraph.saga.core.state import Saga


def wishes_of(said: PartialRequest) -> Iterator[Wish]:
    if said.stay_only:
        yield Wish("stay_only", "Only", "only a hotel")
    elif said.origin:
        yield Wish("origin", "From", f"from {said.origin}")
    for number, stop in enumerate(said.stops):
        nights = "" if stop.nights is None else f"{count_text(stop.nights, 'night')} in "
        yield Wish(f"stops[{number}]", "Stay", f"{nights}{stop.city or stop.said}")
    if said.one_way and not said.stay_only:
        yield Wish("return_to", "Back", "one way")
    elif said.return_to:
        yield Wish("return_to", "Back", f"back to {said.return_to}")
    yield from _dates(said)
    yield from _party(said)
    yield from _comfort(said)


def _dates(said: PartialRequest) -> Iterator[Wish]:
    if said.first and said.last:
        yield Wish("window", "When", f"between {day_text(said.first)} and {day_text(said.last)}")
    elif said.first or said.last:
        bound = f"not before {day_text(said.first)}" if said.first else f"by {day_text(said.last)}" if said.last else ""
        yield Wish("window", "When", bound)
    if said.depart:
        yield Wish("depart", "Leave", f"leaving on {day_text(said.depart)}")
    if said.not_on:
        yield Wish("not_on", "Not on", f"not on {' or '.join(each.capitalize() for each in said.not_on)}")
    if said.order is Order.ANY:
        yield Wish("order", "Order", "in any order")


def _party(said: PartialRequest) -> Iterator[Wish]:
    if said.travellers:
        yield Wish("travellers", "Who", party_text(said.travellers, said.children or 0))
    travellers = said.travellers or 1
    if said.rooms or travellers > 1:
        rooms = said.rooms or rooms_for(travellers, said.children or 0)
        yield Wish("rooms", "Rooms", count_text(rooms, "room"))
    amount = said.budget or said.budget_each
    if amount:
        each = " each" if said.budget_each else ""
        yield Wish("budget", "Budget", f"at most {money_text(amount, said.currency or 'USD')}{each}")


def _comfort(said: PartialRequest) -> Iterator[Wish]:
    if said.stars and said.stars != (1, 5):
        yield Wish("stars", "Hotels", _star_hotels(*said.stars))
    for number, stop in enumerate(said.stops):
        if stop.stars is not None:
            yield Wish(f"stars[{number}]", "Hotel", f"{_star_hotels(*stop.stars)} in {stop.city} only")
    if said.direct is Direct.REQUIRED:
        yield Wish("direct", "Flights", "direct flights only")
    elif said.direct is Direct.PREFERRED:
        yield Wish("direct", "Flights", "direct flights when possible")
    if said.by and said.by is not By.ANY:
        yield Wish("by", "Travel", f"by {said.by} only")
    if said.prefer:
        yield Wish("prefer", "Plans", f"the {said.prefer}")
    if said.insured:
        yield Wish("insured", "Insurance", "insure the fares")
    if said.train_if:
        yield Wish("train_if", "Train", train_if_text(said.train_if))
    if said.hours and (limits := [*_limits("leave", said.hours.depart), *_limits("arrive", said.hours.arrive)]):
        yield Wish("hours", "Hours", listed(limits))


def _star_hotels(fewest: int, most: int) -> str:
    return f"{fewest} star hotels" if fewest == most else f"{fewest}-{most} star hotels"


def _limits(verb: str, hours: Hours) -> Iterator[str]:
    if hours.earliest:
        yield f"{verb} after {hours.earliest:%H:%M}"
    if hours.latest:
        yield f"{verb} before {hours.latest:%H:%M}"


def with_stars(said: PartialRequest, city: str, stars: tuple[int, int] | None) -> PartialRequest:
    """Return the request with other hotel stars in one city."""
    stops = tuple(stop.model_copy(update={"stars": stars}) if stop.city == city else stop for stop in said.stops)
    return said.model_copy(update={"stops": stops, "unread": ()})


@dataclass(frozen=True, slots=True)
class Aim:
    """Aim of a preference: less of `quantity` is better."""

    words: re.Pattern[str]
    quantity: Callable[[Itinerary], int]
    best: str


def _any_of(text: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{text})\b", re.IGNORECASE)


_COMFORTABLE: Final = "the most comfortable"
_HOTEL: Final = _any_of(r"hotels?|place to stay|rooms?|stay|one|place")
_AIMS: Final = (
    Aim(
        _any_of(r"cheap(?:er|est)?|less expensive|too (?:expensive|dear|pricey)|costs? less|save money"),
        lambda trip: int(trip.total * 100),
        "the cheapest",
    ),
    Aim(_any_of(r"fast(?:er|est)|quick(?:er|est)|short(?:er|est) journeys?"), lambda trip: trip.minutes_under_way, "the fastest"),
    Aim(
        _any_of(r"(?:(?:more|most) )?comfortabl[ey]|nice(?:r|st)|fancier|better|more luxur\w+"),
        lambda trip: -sum(stay.stars * stay.nights for stay in trip.stays),
        _COMFORTABLE,
    ),
)
_DENIED: Final = re.compile(r"(?:\b(?:not|no|never|nothing|without)|n't)\s+(?:[\w']+\s+){0,3}$", re.IGNORECASE)
_AS_IT_IS: Final = re.compile(
    r"\b(?:the |a )?(?:one |hotel |room |stay |rest )?(?:(?:in|at) )?\w[\w.-]*(?: (?!and\b|but\b|the\b)\w[\w.-]*)?? "
    r"(?:(?:is|was|looks|seems) (?:\w+ )?"
    r"(?:fine|ok(?:ay)?|good|great|perfect|all right)|(?:can )?stays?\b|as it is)"
    r"|\b(?:keep|leave|not)(?:ing)? (?:the )?(?:one|hotel|room|stay) (?:in|at) \w+",
    re.IGNORECASE,
)
"""For a stop at which nothing is to change."""
_DEGREE: Final = re.compile(r"\b(?:much|even|little|slightly|possible|way|lot|significantly)\b", re.IGNORECASE)


def aim_of(text: str) -> Aim | None:
    for aim in _AIMS:
        found = aim.words.search(text)
        if found is not None and not _DENIED.search(text[: found.start()]):
            return aim
    return None


def stay_meant(text: str, saga: Saga) -> HotelOffer | None:
    """Return the stay for which another hotel is wanted: `a nicer hotel in Cologne`."""
    if not _HOTEL.search(text):
        return None
    meant = _AS_IT_IS.sub(" ", text).casefold()
    stays = [stay for stay in Itinerary.model_validate(saga.plan.content).stays if stay.city.casefold() in meant]
    return stays[0] if len(stays) == 1 else None


def other_stars(aim: Aim, stay: HotelOffer, saga: Saga) -> tuple[int, int] | str:
    """Return the stars that a nicer or cheaper hotel has; if there is none, what to say."""
    if aim.best == _COMFORTABLE:
        most = f"{stay.name} has {MOST_STARS} stars, the most that there are."
        return (stay.stars + 1, MOST_STARS) if stay.stars < MOST_STARS else most
    (leg,) = [each for each in Itinerary.model_validate(saga.plan.content).legs if each.offer == stay]
    cheaper = any(each.price < stay.price for each in (leg.choice.alternatives if leg.choice else ()))
    if cheaper and stay.stars > FEWEST_STARS:
        return FEWEST_STARS, stay.stars - 1
    return f"{stay.name} is the cheapest hotel in {stay.city} that I have found for your wishes."


_EARLIER: Final = _any_of(r"earlier|later|sooner|back|forward|postpone|delay|push|move|shift")


def from_shown_days(text: str, saga: Saga, known: PartialRequest) -> PartialRequest | None:
    """Return the request with the days of the plan that is shown, for `a day earlier`."""
    if known.depart is not None or not _EARLIER.search(text):
        return None
    begins = Itinerary.model_validate(saga.plan.content).legs[0].begins
    return known.model_copy(update={"depart": begins, "first": None, "last": None})


def unread_and_preferred(unread: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what nobody understood, and which plan is preferred by it: the best in what."""
    left: list[str] = []
    preferred: list[str] = []
    for each in unread:
        aim = aim_of(each)
        if aim is None:
            left.append(each)
            continue
        preferred.append(aim.best)
        rest = _DEGREE.sub(" ", reduce(lambda text, other: other.words.sub(" ", text), _AIMS, each))
        left += left_unread(rest)
    return tuple(left), tuple(preferred)


def chosen(aim: Aim, saga: Saga, not_understood: tuple[str, ...]) -> Preference:
    unread = f" I did not understand: {', '.join(not_understood)}." if not_understood else ""
    if not saga.plan.alternatives:
        return Preference(said=f"{ALONE}{unread}")
    better = better_offer(saga, lambda plan: aim.quantity(Itinerary.model_validate(plan)))
    if better is None:
        return Preference(said=f"This is {aim.best} of the trips that I have found for your wishes; change one of them.{unread}")
    return Preference(better[0], said=f"This one is {aim.best} of those that keep your wishes.{unread}")
