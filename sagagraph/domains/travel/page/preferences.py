"""Preferences: `cheaper`, `nicer`: which of the offered trips is meant. Only a sentence that says nothing else chooses one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from sagagraph.domains.travel.offers import HotelOffer
from sagagraph.domains.travel.plan import Itinerary
from sagagraph.domains.travel.text.partial import PartialRequest
from sagagraph.domains.travel.text.reader import left_unread
from sagagraph.domains.travel.text.slots import FEWEST_STARS, MOST_STARS
from sagagraph.planning.page import ALONE, Preference, better_offer
from sagagraph.saga.core.state import Saga


@dataclass(frozen=True, slots=True)
class Aim:
    """Less of `quantity` is better."""

    words: re.Pattern[str]
    quantity: Callable[[Itinerary], int]
    best: str


def _words(text: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{text})\b", re.IGNORECASE)


_COMFORTABLE: Final = "the most comfortable"
_HOTEL: Final = _words(r"hotels?|place to stay|rooms?|stay|one|place")
_AIMS: Final = (
    Aim(
        _words(r"cheap(?:er|est)?|less expensive|too (?:expensive|dear|pricey)|costs? less|save money"),
        lambda trip: int(trip.total * 100),
        "the cheapest",
    ),
    Aim(_words(r"fast(?:er|est)|quick(?:er|est)|short(?:er|est) journeys?"), lambda trip: trip.minutes_under_way, "the fastest"),
    Aim(
        _words(r"(?:more|most) comfortable|nice(?:r|st)|fancier|better|more luxur\w+"),
        lambda trip: -sum(stay.stars * stay.nights for stay in trip.stays),
        _COMFORTABLE,
    ),
)
_DENIED: Final = re.compile(r"(?:\b(?:not|no|never|nothing|without)|n't)\s+(?:[\w']+\s+){0,3}$", re.IGNORECASE)
_DEGREE: Final = re.compile(r"\b(?:much|even|little|slightly|possible|way|lot|significantly)\b", re.IGNORECASE)


def aim_of(text: str) -> Aim | None:
    for aim in _AIMS:
        found = aim.words.search(text)
        if found is not None and not _DENIED.search(text[: found.start()]):
            return aim
    return None


def stay_meant(text: str, saga: Saga) -> HotelOffer | None:
    """Return the stay of which another hotel is wished: `a nicer hotel in Cologne`."""
    if not _HOTEL.search(text):
        return None
    stays = [stay for stay in Itinerary.model_validate(saga.plan.content).stays if stay.city.casefold() in text.casefold()]
    return stays[0] if len(stays) == 1 else None


def other_stars(aim: Aim, stay: HotelOffer, saga: Saga) -> tuple[int, int] | str:
    """Return the stars that a nicer or cheaper hotel has; where there is none, what to say."""
    if aim.best == _COMFORTABLE:
        return (
            (stay.stars + 1, MOST_STARS)
            if stay.stars < MOST_STARS
            else f"{stay.name} has {MOST_STARS} stars, the most that there are."
        )
    (leg,) = [each for each in Itinerary.model_validate(saga.plan.content).legs if each.offer == stay]
    cheaper = any(each.price < stay.price for each in (leg.choice.alternatives if leg.choice else ()))
    if cheaper and stay.stars > FEWEST_STARS:
        return FEWEST_STARS, stay.stars - 1
    return f"{stay.name} is the cheapest hotel in {stay.city} that I have found for your wishes."


_EARLIER: Final = _words(r"earlier|later|sooner|back|forward|postpone|delay|push|move|shift")


def from_shown_days(text: str, saga: Saga, known: PartialRequest) -> PartialRequest | None:
    """Return the request with the days of the plan that is shown, for `a day earlier`."""
    if known.depart is not None or not _EARLIER.search(text):
        return None
    begins = Itinerary.model_validate(saga.plan.content).legs[0].begins
    return known.model_copy(update={"depart": begins, "first": None, "last": None})


def what_else(text: str) -> tuple[str, ...]:
    """Return what a text says besides preferences, as far as it means something."""
    for aim in _AIMS:
        text = aim.words.sub(" ", text)
    return left_unread(_DEGREE.sub(" ", text))


def unread_and_preferred(unread: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what nobody understood, and the preferences in it, in the writer's words."""
    left: list[str] = []
    preferred: list[str] = []
    for each in unread:
        aim = aim_of(each)
        found = aim.words.search(each) if aim is not None else None
        left += (each,) if found is None else what_else(each)
        preferred += () if found is None else (found[0].lower(),)
    return tuple(left), tuple(preferred)


def chosen(aim: Aim, saga: Saga, not_understood: tuple[str, ...]) -> Preference:
    unread = f" I did not understand: {', '.join(not_understood)}." if not_understood else ""
    if not saga.plan.alternatives:
        return Preference(said=f"{ALONE}{unread}")
    better = better_offer(saga, lambda plan: aim.quantity(Itinerary.model_validate(plan)))
    if better is None:
        return Preference(said=f"This is {aim.best} of the trips that I have found for your wishes; change one of them.{unread}")
    return Preference(better[0], said=f"This one is {aim.best} of those that keep your wishes.{unread}")
