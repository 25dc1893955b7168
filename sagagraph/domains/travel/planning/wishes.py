"""Wishes that a traveller could give up to get a trip at all, each by the field of the request that holds it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, time
from enum import Enum
from operator import attrgetter
from typing import Any, Final

from sagagraph.domains.travel.money import plain_amount
from sagagraph.domains.travel.request import ANY_STARS, By, Direct, Hours, TripRequest, Weekday
from sagagraph.domains.travel.wording import count_text, train_if_text


class Wish(Enum):
    """Wishes, in the order in which they are named."""

    DEPART = "depart"
    WINDOW = "window"
    """That the trip is over on the last day; the first day is fixed."""
    DIRECT = "direct"
    BY = "by"
    LEAVE_FROM = "hours.depart.earliest"
    LEAVE_BY = "hours.depart.latest"
    ARRIVE_FROM = "hours.arrive.earliest"
    ARRIVE_BY = "hours.arrive.latest"
    NOT_ON_MONDAY = "not_on.monday"
    NOT_ON_TUESDAY = "not_on.tuesday"
    NOT_ON_WEDNESDAY = "not_on.wednesday"
    NOT_ON_THURSDAY = "not_on.thursday"
    NOT_ON_FRIDAY = "not_on.friday"
    NOT_ON_SATURDAY = "not_on.saturday"
    NOT_ON_SUNDAY = "not_on.sunday"
    TRAIN_IF = "train_if"
    STARS = "stars"
    BUDGET = "budget"

    @property
    def weekday(self) -> Weekday | None:
        field, _, day = self.value.partition(".")
        return Weekday(day) if field == "not_on" else None

    @property
    def hour(self) -> tuple[str, str] | None:
        """Return `("depart", "earliest")` for a limit of hours."""
        field, *limit = self.value.split(".")
        return (limit[0], limit[1]) if field == "hours" else None


ALL_WISHES: Final = frozenset(Wish)


def wishes_of(request: TripRequest) -> tuple[Wish, ...]:
    """Return the wishes that the request has."""
    return tuple(wish for wish in Wish if without(request, [wish]) != request)


def without(request: TripRequest, wishes: Iterable[Wish]) -> TripRequest:
    """Return the request without the limits of those wishes: for searching, not for storing."""
    for wish in wishes:
        match wish:
            case Wish.DEPART:
                request = changed(request, depart=None)
            case Wish.WINDOW:
                request = ending_by(request, date.max)
            case Wish.DIRECT if request.direct is Direct.REQUIRED:
                request = changed(request, direct=Direct.PREFERRED)
            case Wish.BY:
                request = changed(request, by=By.ANY)
            case Wish.STARS:
                stops = tuple(stop.model_copy(update={"stars": None}) for stop in request.stops)
                request = changed(request, stars=ANY_STARS, stops=stops)
            case Wish.BUDGET | Wish.TRAIN_IF:
                request = changed(request, **{wish.value: None})
            case _ if wish.weekday:
                request = changed(request, not_on=tuple(day for day in request.not_on if day is not wish.weekday))
            case _:
                request = with_limit(request, wish, None)
    return request


def changed(request: TripRequest, **fields: Any) -> TripRequest:
    return request.model_copy(update=fields)


def as_in(request: TripRequest, other: TripRequest, wish: Wish, fields: Iterable[str]) -> TripRequest:
    """Return the request with a wish as in another one, where it has those `fields`; wishes for other hours stay."""
    if wish.hour:
        return with_limit(request, wish, limit_of(other, wish))
    return changed(request, **{name: getattr(other, name) for name in fields})


def ending_by(request: TripRequest, last: date) -> TripRequest:
    """Return the request with another last day of its window, if it has one."""
    return changed(request, window=request.window and request.window.model_copy(update={"last": last}))


def limit_of(request: TripRequest, wish: Wish) -> time | None:
    """Return the limit of a wish about hours."""
    value: time | None = wish.hour and attrgetter(".".join(wish.hour))(request.hours)
    return value


def with_limit(request: TripRequest, wish: Wish, moment: time | None) -> TripRequest:
    """Return the request with another limit, for a wish about hours."""
    if wish.hour is None:
        return request
    verb, limit = wish.hour
    hours: Hours = getattr(request.hours, verb)
    return changed(request, hours=request.hours.model_copy(update={verb: hours.model_copy(update={limit: moment})}))


def in_words(request: TripRequest, wish: Wish) -> str:
    """Return what the request says: `budget 400 USD`."""
    match wish:
        case Wish.DEPART:
            return f"leave on {request.depart}"
        case Wish.WINDOW:
            return f"between {request.window.first} and {request.window.last}" if request.window else "any dates"
        case Wish.DIRECT:
            return "direct flights only"
        case Wish.BY:
            return "by train or flight" if request.by is By.ANY else f"by {request.by} only"
        case Wish.STARS:
            return stars_text(request)
        case Wish.TRAIN_IF:
            return train_if_text(request.train_if) if request.train_if else "any train"
        case Wish.BUDGET:
            return f"budget {plain_amount(request.budget)} {request.currency}" if request.budget is not None else "any budget"
    return f"not on {wish.weekday}" if wish.weekday else hour_text(request, wish)


def hour_text(request: TripRequest, wish: Wish) -> str:
    """Return `leave at 08:00 or later`."""
    verb, limit = wish.hour or ("", "")
    moment = limit_of(request, wish)
    verb = "leave" if verb == "depart" else "arrive"
    return f"{verb} at {moment:%H:%M} or {'later' if limit == 'earliest' else 'earlier'}" if moment else f"{verb} at any hour"


def stars_text(request: TripRequest) -> str:
    own = [f"{_star_count(*stop.stars)} in {stop.city}" for stop in request.stops if stop.stars is not None]
    return ", ".join([_star_count(*request.stars), *own] if request.stars != ANY_STARS or not own else own)


def _star_count(fewest: int, most: int) -> str:
    return count_text(most, "star") if fewest == most else f"{fewest} to {most} stars"
