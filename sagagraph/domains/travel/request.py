"""Trip request: what a traveller wants, typed and checked."""

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import date, time, timedelta
from enum import StrEnum
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Final, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    Field,
    PlainSerializer,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from sagagraph.domains.travel.cities import LONGEST_NAME, Gazetteer
from sagagraph.domains.travel.money import PRICE_CURRENCY, Money
from sagagraph.errors import InvalidInputError
from sagagraph.validators.complaints import checked, shown

CURRENCIES: Final = frozenset(
    {
        *("AUD", "BGN", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "EUR", "GBP", "HKD", "HUF", "IDR", "ILS", "INR", "ISK"),
        *("JPY", "KRW", "MXN", "MYR", "NOK", "NZD", "PHP", "PLN", "RON", "SEK", "SGD", "THB", "TRY", "USD", "ZAR"),
    }
)
"""Currencies of budgets (ISO 4217); whether there is a rate for one depends on the provider."""
MOST_STOPS: Final = 6
NIGHT_ENDS: Final = time(4)
"""Until then it is still the night of the day before: too late, if there is a latest hour."""
LONGEST_STAY: Final = 365
LARGEST_PARTY: Final = 99
LAST_YEAR: Final = 2099
"""Room for every stay after every day of departure: dates end in 9999."""


class Direct(StrEnum):
    """How much a traveller minds changing planes; trains are not concerned."""

    REQUIRED = "required"
    PREFERRED = "preferred"
    """A direct flight wherever one fits dates, stars and budget."""
    ANY = "any"


class By(StrEnum):
    """How a traveller wants to go."""

    ANY = "any"
    TRAIN = "train"
    FLIGHT = "flight"


class Order(StrEnum):
    """Order in which the stops are visited."""

    GIVEN = "given"
    ANY = "any"


class Prefer(StrEnum):
    """Which of the plans comes first."""

    BALANCE = "balance"
    """Of price and time."""
    CHEAPEST = "cheapest"
    FASTEST = "fastest"
    MOST_COMFORTABLE = "most comfortable"


class Weekday(StrEnum):
    MONDAY = "monday"
    TUESDAY = "tuesday"
    WEDNESDAY = "wednesday"
    THURSDAY = "thursday"
    FRIDAY = "friday"
    SATURDAY = "saturday"
    SUNDAY = "sunday"

    @classmethod
    def of(cls, day: date) -> "Weekday":
        return tuple(cls)[day.weekday()]


def _iso_day(value: object) -> object:
    """Accept only days written as days: pydantic alone would take 20250605 for seconds since 1970."""
    day = value
    with suppress(ValueError):
        day = date.fromisoformat(value.strip()) if isinstance(value, str) else value
    if type(day) is not date:
        raise ValueError(f"must be a day like '2025-06-05', not {shown(value)}")
    if day.year > LAST_YEAR:
        raise ValueError(f"{day} is too far away; no trip is planned after {LAST_YEAR}")
    return day


def _time_of_day(value: object) -> object:
    """Accept only times written as times: pydantic alone would take 8 for eight seconds after midnight."""
    if isinstance(value, str) and re.fullmatch(r"(?:[01]\d|2[0-3]):[0-5]\d", value):
        return time.fromisoformat(value)
    if type(value) is not time or value.tzinfo is not None or value.second or value.microsecond:
        raise ValueError(f"must be a time like '08:30', not {shown(value)}")
    return value


TimeOfDay = Annotated[time, BeforeValidator(_time_of_day), PlainSerializer(lambda value: f"{value:%H:%M}", when_used="json")]
Day = Annotated[date, BeforeValidator(_iso_day)]
Count = Annotated[int, Field(strict=True, ge=1, le=LARGEST_PARTY)]
CityName = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
StarCount = Annotated[int, Field(strict=True, ge=1, le=5)]


def _fewest_first(stars: tuple[int, int]) -> tuple[int, int]:
    if stars[0] > stars[1]:
        raise ValueError(f"the range runs backwards: {stars[0]} to {stars[1]}")
    return stars


Stars = Annotated[tuple[StarCount, StarCount], AfterValidator(_fewest_first)]
"""The fewest and the most."""


class Window(BaseModel, frozen=True, extra="forbid"):
    """Window: first and last day, both included."""

    first: Day
    last: Day

    @model_validator(mode="after")
    def _runs_forwards(self) -> Self:
        if self.last < self.first:
            raise ValueError(f"dates run backwards: {self.first} comes after {self.last}")
        return self

    @property
    def nights(self) -> int:
        return (self.last - self.first).days


class Lean(BaseModel):
    """Model that omits fields of `later` releases that have their default from what it writes, so that earlier releases can read
    it.
    """

    later: ClassVar[frozenset[str]] = frozenset()

    @model_serializer(mode="wrap")
    def _as_before(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = serialise(self)
        usual = {name for name in self.later if getattr(self, name) == _default_of(self, name)}
        return {name: value for name, value in fields.items() if name not in usual}


def _default_of(model: Lean, name: str) -> Any:
    return type(model).model_fields[name].get_default(call_default_factory=True, validated_data={})


class Stop(Lean, frozen=True, extra="forbid"):
    later = frozenset({"stars"})

    city: CityName
    nights: int = Field(strict=True, ge=0, le=LONGEST_STAY)
    """None: a visit that ends on the day on which it begins, or the end of a trip that goes one way."""
    stars: Stars | None = None
    """Of the hotels there; None: those of the whole trip."""


class Hours(BaseModel, frozen=True, extra="forbid"):
    """Local times of day, both included; None: no limit."""

    earliest: TimeOfDay | None = None
    latest: TimeOfDay | None = None
    """Anything before 04:00 is later than any such hour: it belongs to the previous night."""

    @model_validator(mode="after")
    def _leave_room(self) -> Self:
        if self.latest is not None and self.latest < NIGHT_ENDS:
            raise ValueError(f"the latest hour must be {NIGHT_ENDS:%H:%M} or later, not {self.latest:%H:%M}")
        if self.earliest is not None and self.latest is not None and self.earliest > self.latest:
            raise ValueError(f"hours run backwards: {self.earliest:%H:%M} comes after {self.latest:%H:%M}")
        return self


ANY_HOURS: Final = Hours()


class JourneyHours(BaseModel, frozen=True, extra="forbid"):
    """Hours when journeys may begin and end, each in local time."""

    depart: Hours = ANY_HOURS
    arrive: Hours = ANY_HOURS


ANY_JOURNEY_HOURS: Final = JourneyHours()


class TrainIf(BaseModel, frozen=True, extra="forbid"):
    """Wish for a train only if the flight before it lands before a local time; otherwise for a flight."""

    landed_before: TimeOfDay
    """Anything before 04:00 is later than any such hour: it belongs to the previous night."""
    to: CityName | None = None
    """Where the train goes; None: this applies to every train that follows a flight."""

    @field_validator("landed_before")
    @classmethod
    def _leaves_room(cls, hour: time) -> time:
        if hour <= NIGHT_ENDS:
            raise ValueError(f"must be later than {NIGHT_ENDS:%H:%M}, not {hour:%H:%M}")
        return hour


FEWEST_STARS: Final = 1
MOST_STARS: Final = 5
ANY_STARS: Final = (FEWEST_STARS, MOST_STARS)


class TripRequest(Lean, frozen=True, extra="forbid"):
    """Trip request that can be planned: nothing in it is missing or contradicts itself."""

    later = frozenset(
        {"children", "by", "hours", "not_on", "order", "insured", "train_if", "hotels", "prefer", "assumed", "late"}
    )

    origin: CityName
    """The same as the only stop, and one way: only a hotel is booked."""
    stops: tuple[Stop, ...] = Field(min_length=1, max_length=MOST_STOPS)
    """In the order of travel, unless any order will do."""
    return_to: CityName | None = Field(default_factory=lambda data: data.get("origin"), validate_default=True)
    """Where the last journey goes; None: one way, the trip ends at the last stop."""
    window: Window | None = None
    """The whole trip lies within it, first departure and last arrival included."""
    depart: Day | None = Field(default=None, validate_default=True)
    """The exact day of the first departure."""
    travellers: Count = 1
    children: Annotated[int, Field(strict=True, ge=0, lt=LARGEST_PARTY)] = 0
    """Travellers under 12: each has a seat, at a child's fare if there is one, and a bed in the room of two adults."""
    rooms: Count = Field(default_factory=lambda data: rooms_for(data["travellers"], data.get("children", 0)))
    budget: Annotated[Money, Field(gt=0)] | None = None
    """For the whole trip and everybody on it; None: no limit."""
    currency: str = PRICE_CURRENCY
    """Currency of the budget. Offers name their own currency."""
    stars: Stars = ANY_STARS
    """Of every hotel."""
    direct: Direct = Direct.ANY
    by: By = By.ANY
    """Of every journey."""
    hours: JourneyHours = ANY_JOURNEY_HOURS
    not_on: tuple[Weekday, ...] = ()
    """Weekdays on which nobody wants to leave or to arrive, by the calendar of the place."""
    order: Order = Order.GIVEN
    insured: bool = False
    """Every fare is insured unless it turns out to be refundable, as far as that is on offer and within the budget."""
    train_if: TrainIf | None = None
    hotels: bool = Field(default=True, validate_default=True)
    """Whether hotels are booked for the nights; otherwise the travellers have somewhere to stay."""
    prefer: Prefer = Prefer.BALANCE
    assumed: dict[str, str] = Field(default_factory=dict)
    """What nobody said, by its field (`stops[1].nights`): why it is taken to be so, in a few words."""
    late: dict[str, AwareDatetime] = Field(default_factory=dict)
    """When booked journeys are foreseen to arrive that are late, by their operations."""

    @field_validator("children")
    @classmethod
    def _go_with_an_adult(cls, children: int, info: ValidationInfo) -> int:
        if children >= info.data.get("travellers", LARGEST_PARTY):
            raise ValueError(alone(children))
        return children

    @property
    def is_stay_only(self) -> bool:
        """Tell whether the trip begins where it stays: only a hotel is booked, and no journey."""
        return self.origin == self.stops[0].city

    @field_validator("hotels")
    @classmethod
    def _leaves_something(cls, hotels: bool, info: ValidationInfo) -> bool:
        stops: tuple[Stop, ...] = info.data.get("stops", ())
        if stops and stops[0].city == info.data.get("origin") and not (hotels and stops[0].nights):
            raise ValueError(f"the trip begins and ends in {stops[0].city}: without a night in a hotel there is nothing to book")
        return hotels

    def stars_in(self, city: str) -> tuple[int, int]:
        """Return the fewest and most stars of hotels in a city."""
        return next((stop.stars for stop in self.stops if stop.city == city and stop.stars is not None), self.stars)

    @property
    def nights(self) -> int:
        return sum(stop.nights for stop in self.stops)

    @field_validator("stops")
    @classmethod
    def _each_leads_elsewhere(cls, stops: tuple[Stop, ...], info: ValidationInfo) -> tuple[Stop, ...]:
        cities = [info.data.get("origin"), *(stop.city for stop in stops)]
        for here, there in pairwise(cities[1:] if len(stops) == 1 else cities):
            if here == there:
                raise ValueError(f"{there} follows {here}: two in a row are the same city")
        return stops

    @field_validator("return_to")
    @classmethod
    def _returns_elsewhere(cls, return_to: str | None, info: ValidationInfo) -> str | None:
        stops: tuple[Stop, ...] = info.data.get("stops", ())
        if stops and return_to == stops[-1].city:
            raise ValueError(f"the trip is in {return_to} already; use null for a trip that ends there")
        return return_to

    @field_validator("window")
    @classmethod
    def _holds_the_nights(cls, window: Window | None, info: ValidationInfo) -> Window | None:
        nights = sum(stop.nights for stop in info.data.get("stops", ()))
        if window is not None and window.nights < nights:
            raise ValueError(
                f"{window.first} to {window.last} has room for {window.nights} nights; the stops need {nights}: "
                "take fewer nights, or a later last day"
            )
        return window

    @field_validator("depart")
    @classmethod
    def _fits_the_window(cls, depart: date | None, info: ValidationInfo) -> date | None:
        window: Window | None = info.data.get("window")
        if depart is None:
            if window is None and "window" in info.data:
                raise PydanticCustomError("missing", "neither a window nor a day of departure is given")
            return depart
        if window is not None and not window.first <= depart <= window.last:
            raise ValueError(f"{depart} is outside the window {window.first} to {window.last}")
        nights = sum(stop.nights for stop in info.data.get("stops", ()))
        if window is not None and (window.last - depart).days < nights:
            raise ValueError(f"leaving on {depart}, {nights} nights do not end by {window.last}")
        return depart

    @field_validator("currency")
    @classmethod
    def _is_supported(cls, currency: str) -> str:
        if currency not in CURRENCIES:
            raise ValueError(f"{shown(currency)} is not supported; {', '.join(sorted(CURRENCIES))} are")
        return currency

    @field_validator("not_on")
    @classmethod
    def _leaves_a_day(cls, not_on: tuple[Weekday, ...], info: ValidationInfo) -> tuple[Weekday, ...]:
        depart: date | None = info.data.get("depart")
        if depart is not None and Weekday.of(depart) in not_on:
            raise ValueError(f"the day of departure, {depart}, is a {Weekday.of(depart).capitalize()}")
        if len(set(not_on)) == len(Weekday):
            raise ValueError("no weekday is left to travel on")
        return tuple(day for day in Weekday if day in not_on)

    @field_validator("train_if")
    @classmethod
    def _goes_there(cls, train_if: TrainIf | None, info: ValidationInfo) -> TrainIf | None:
        cities = {*(stop.city for stop in info.data.get("stops", ())), info.data.get("return_to")}
        if train_if is not None and train_if.to is not None and train_if.to not in cities:
            raise ValueError(f"the trip does not go to {train_if.to}")
        return train_if

    def departure_days(self, today: date) -> tuple[date, ...]:
        """Return every day on which the trip may begin, if no journey took a night."""
        if self.depart is not None:
            return (self.depart,) if self.depart >= today else ()
        if self.window is None:
            return ()
        first = max(self.window.first, today)
        days = (self.window.last - first).days - self.nights
        return tuple(first + timedelta(days=n) for n in range(days + 1))


class _Each(BaseModel, frozen=True):
    budget_each: Annotated[Money, Field(gt=0)]


def alone(children: int) -> str:
    return f"{children} of the travellers are children: at least one adult goes along"


def rooms_for(travellers: int, children: int) -> int:
    """Return how many rooms a party needs: each has beds for two, and for one more child."""
    return max(-(-(travellers - children) // 2), -(-travellers // 3)) if children else -(-travellers // 2)


def parse_request(json_value: object, *, cities: Gazetteer, today: date) -> TripRequest:
    """Parse a request from JSON. Cities may go by any of their names; `"month": "2025-06"` stands for a window, and `budget_each`
    for a budget of so much for each traveller.

    Raises:
        InvalidInputError: one line that names the field.
    """
    if not isinstance(json_value, Mapping):
        raise InvalidInputError("must be a JSON object", field="request")
    request = checked_request(_with_known_cities(_with_budget(_with_window(json_value)), cities))
    if request.depart is not None and request.depart < today:
        raise InvalidInputError(f"{request.depart} is in the past; today is {today}", field="depart")
    if request.window is not None and request.window.last < today:
        raise InvalidInputError(f"it ended on {request.window.last}; today is {today}", field="window")
    if not request.departure_days(today):
        raise InvalidInputError(f"too few of its days are left for {request.nights} nights; today is {today}", field="window")
    return request


def checked_request(fields: Mapping[str, Any]) -> TripRequest:
    """Check a request.

    Raises:
        InvalidInputError: the first fault that pydantic found, in one line that names the field.
    """
    return checked(TripRequest, fields, field="")


def _with_window(fields: Mapping[str, Any]) -> dict[str, Any]:
    rest = {name: value for name, value in fields.items() if name != "month"}
    month = fields.get("month")
    if month is None:
        return rest
    if rest.get("window") is not None:
        raise InvalidInputError("give a month or a window, not both", field="month")
    match = re.fullmatch(r"(\d{4})-(\d{2})", month) if isinstance(month, str) else None
    if match is None or not 1 <= int(match[2]) <= 12 or int(match[1]) < 1:
        raise InvalidInputError(f"must be like '2025-06', not {shown(month)}", field="month")
    return {**rest, "window": month_window(int(match[1]), int(match[2]))}


def _with_budget(fields: Mapping[str, Any]) -> dict[str, Any]:
    rest = {name: value for name, value in fields.items() if name != "budget_each"}
    each, travellers = fields.get("budget_each"), fields.get("travellers", 1)
    if each is None:
        return rest
    if rest.get("budget") is not None:
        raise InvalidInputError("give a budget or budget_each, not both", field="budget_each")
    if not isinstance(travellers, int):
        return rest  # which is refused for its travellers
    return {**rest, "budget": checked(_Each, {"budget_each": each}, field="").budget_each * travellers}


def month_window(year: int, month: int) -> Window:
    first = date(year, month, 1)
    last = date(year, 12, 31) if month == 12 else date(year, month + 1, 1) - timedelta(days=1)
    return Window(first=first, last=last)


def _with_known_cities(fields: dict[str, Any], cities: Gazetteer) -> dict[str, Any]:
    """Return the same fields with English city names; anything that is not a name is left for the types to reject."""

    def known(value: object, field: str) -> object:
        return cities.require(value, field=field).name if isinstance(value, str) else value

    named = dict(fields)
    for field in ("origin", "return_to"):
        if field in named:
            named[field] = known(named[field], field)
    train_if = named.get("train_if")
    if isinstance(train_if, Mapping) and "to" in train_if:
        named["train_if"] = {**train_if, "to": known(train_if["to"], "train_if.to")}
    if isinstance(named.get("stops"), list):
        named["stops"] = [
            {**stop, "city": known(stop["city"], f"stops[{n}].city")} if isinstance(stop, Mapping) and "city" in stop else stop
            for n, stop in enumerate(named["stops"])
        ]
    return named
