"""Fields of a trip: where, when, who, for how much and how, and what a value in one of them makes of the request."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, time
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from sagagraph.domains.travel.cities import Gazetteer
from sagagraph.domains.travel.partial import BUDGET_FIELDS, PartialRequest, PartialStop
from sagagraph.domains.travel.request import (
    CURRENCIES,
    LARGEST_PARTY,
    LONGEST_STAY,
    MOST_STOPS,
    By,
    Direct,
    Hours,
    JourneyHours,
    Order,
    Prefer,
    TrainIf,
    rooms_for,
)
from sagagraph.errors import InvalidInputError
from sagagraph.language.calendar import YEARS
from sagagraph.planning.fields import Cell, Field, Fields, Part, Sheet, State, Widget

CITIES: Final = "cities"
_STOP: Final = re.compile(r"stops\[(\d+)\](?:\.(city|nights|stars))?")
_HOUR: Final = re.compile(r"hours\.(depart|arrive)\.(earliest|latest)")
_STARS: Final = (("", "any"), ("2-5", "2 or more"), ("3-5", "3 or more"), ("3-4", "3 or 4"), ("4-5", "4 or more"), ("5-5", "5"))
_DIRECT: Final = (
    (Direct.ANY.value, "any"),
    (Direct.PREFERRED.value, "direct if possible"),
    (Direct.REQUIRED.value, "direct only"),
)
_BY: Final = ((By.ANY.value, "by train or flight"), (By.TRAIN.value, "by train only"), (By.FLIGHT.value, "by flight only"))
_PARTS: Final = (("", "journeys and hotels"), ("journeys", "only the journeys"), ("hotel", "only a hotel"))
_PREFER: Final = tuple((each.value, "the best balance" if each is Prefer.BALANCE else f"the {each}") for each in Prefer)
_HOURS: Final = {
    "depart.earliest": "Leave after",
    "depart.latest": "Leave before",
    "arrive.earliest": "Arrive after",
    "arrive.latest": "Arrive before",
}


def fields_of(said: PartialRequest, assumed: Mapping[str, str], today: date | None = None) -> tuple[Part, ...]:
    """Return what is known of a trip as fields. `assumed`: why, by the field. `today`: days before it cannot be chosen."""
    ends = {"window": ("first", "last"), "window.first": ("first",), "window.last": ("last",)}
    assumed = {**assumed, **{end: assumed[name] for name, both in ends.items() if name in assumed for end in both}}
    return tuple(part.marked(lambda field: field.assumed(assumed)) for part in _parts(said, today))


def _parts(said: PartialRequest, today: date | None) -> tuple[Part, ...]:
    asked = {each.field: each.text for each in said.missing()}
    back = "" if said.one_way else said.return_to or said.origin or ""
    is_said = _state_of(said.return_to or said.one_way)
    parts = "hotel" if said.stay_only else "journeys" if said.hotels is False else ""
    book = Field("parts", "Book", parts, Widget.CHOICE, _PARTS, state=State.SAID if parts else State.OPEN)
    journey = (
        _text("origin", "From", said.origin, asked),
        Field("return_to", "Back to", back, size=16, suggests=CITIES, **is_said),
        Field("order", "In any order", "yes" if said.order is Order.ANY else "", Widget.CHECK),
    )
    return (
        Fields("Journey", (book,) if said.stay_only else (*journey, book)),
        _stops(said, asked),
        Fields("When", tuple(_days(said, asked, today))),
        Fields("Who", tuple(_party(said, asked))),
        Fields("Budget and comfort", tuple(_comfort(said, asked))),
        Fields("Hours, insurance", tuple(_rare(said)), is_rare=True),
    )


def with_value(said: PartialRequest, name: str, value: str, cities: Gazetteer) -> PartialRequest:
    """Return the request with another value in one field. Raises `InvalidInputError` for what cannot be meant."""
    value = value.strip()
    changes = _changes(said, name, value, cities)
    top = re.split(r"[.\[]", name)[0]
    about = {name, top, "window", f"window.{name}", "depart"} if name in ("first", "last", "depart") else {name, top}
    doubts = tuple(each for each in said.doubts if each.field not in about and not each.field.startswith(f"{top}["))
    notes = tuple(each for each in said.notes if each[0] not in about)
    changes |= {"is_rough": False} if name in ("first", "last") and value else {}  # a day that is typed is meant
    return said.model_copy(update={"doubts": doubts, "notes": notes, "unread": (), **changes})


def _text(name: str, label: str, value: str | None, asked: dict[str, str]) -> Field:
    state = State.MISSING if name in asked else State.SAID if value else State.OPEN
    return Field(name, label, value or "", size=16, suggests=CITIES, state=state, note=asked.get(name, ""))


def _state_of(said: object) -> dict[str, Any]:
    return {} if said is None else {"state": State.SAID}


def _stops(said: PartialRequest, asked: dict[str, str]) -> Sheet:
    rows = [
        (str(number + 1), _stop(number, stop, asked, is_alone=len(said.stops) == 1)) for number, stop in enumerate(said.stops)
    ]
    if len(said.stops) < MOST_STOPS:
        place = len(said.stops)
        missing = asked.get("stops", "")
        empty = Field(f"stops[{place}].city", "city", size=16, suggests=CITIES, state=State.MISSING if missing else State.OPEN,
                      note=missing)  # fmt: skip
        rows.append((str(place + 1), ((empty,),)))
    return Sheet("Stops", ("city", "nights", "hotel stars", ""), tuple(rows))


def _stop(number: int, stop: PartialStop, asked: dict[str, str], *, is_alone: bool) -> tuple[Cell, ...]:
    name, stars = f"stops[{number}]", stop.stars
    nights = asked.get(f"{name}.nights", "")
    lasting = "" if stop.nights is None else str(stop.nights)
    own = "" if stars is None else f"{stars[0]}-{stars[1]}"
    unknown = asked.get(f"{name}.city", "")
    return (
        (Field(f"{name}.city", "city", stop.city or stop.said, size=16, suggests=CITIES,
               state=State.MISSING if unknown else State.SAID, note=unknown),),
        (Field(f"{name}.nights", "nights", lasting, Widget.NUMBER, size=4, least="0", most=str(LONGEST_STAY),
               state=State.MISSING if nights else State.SAID, note=nights),),
        (Field(f"{name}.stars", "stars of its hotel", own, Widget.CHOICE, _with(("", "as below"), own)),),
        () if is_alone else (Field(name, f"Leave out {stop.city or stop.said}", widget=Widget.DROP),),
    )  # fmt: skip


def _with(first: tuple[str, str], value: str) -> tuple[tuple[str, str], ...]:
    """Return the choices of stars, with one more if that is what was said."""
    others = _STARS[1:]
    fewest, _, most = value.partition("-")
    words = fewest if fewest == most else f"{fewest} to {most}"
    more = () if value in ("", *(each for each, _ in others)) else ((value, words),)
    return (first, *more, *others)


def _days(said: PartialRequest, asked: dict[str, str], today: date | None) -> Iterator[Field]:
    missing = asked.get("window", asked.get("depart", ""))
    labels = {"first": "Not before", "last": "Back by", "depart": "Or leave exactly on"}
    for name, label in labels.items():
        day = getattr(said, name)
        state = State.SAID if day else State.MISSING if missing and name != "depart" else State.OPEN
        note = missing if missing and name == "first" else ""
        yield Field(name, label, day.isoformat() if day else "", Widget.DATE, state=state, note=note, least=str(today or ""))


def _party(said: PartialRequest, asked: dict[str, str]) -> Iterator[Field]:
    people, children = said.travellers or 1, said.children or 0
    most = str(LARGEST_PARTY)
    note = {"state": State.MISSING, "note": asked["travellers"]} if "travellers" in asked else None
    yield Field("travellers", "Travellers", str(people), Widget.NUMBER, least="1", most=most,
                **(note or _state_of(said.travellers)))  # fmt: skip
    adults: dict[str, Any] = {"state": State.MISSING, "note": asked["children"]} if "children" in asked else {}
    yield Field("children", "Of them under 12", str(children), Widget.NUMBER, least="0", most=str(people - 1), **adults)
    rooms = said.rooms or rooms_for(people, children)
    yield Field("rooms", "Rooms", str(rooms), Widget.NUMBER, least="1", most=most, **_state_of(said.rooms))


def _comfort(said: PartialRequest, asked: dict[str, str]) -> Iterator[Field]:
    amount = said.budget or said.budget_each
    name, label = ("budget", "At most") if said.budget_each is None else ("budget_each", "At most, each")
    state = State.MISSING if "budget" in asked else State.SAID if amount else State.OPEN
    shown, note = "" if amount is None else f"{amount.normalize():f}", asked.get("budget", "")
    yield Field(name, label, shown, Widget.NUMBER, size=8, least="1", state=state, note=note)
    yield Field("currency", "in", said.currency or "USD", Widget.CHOICE, tuple((each, each) for each in sorted(CURRENCIES)))
    stars = "" if said.stars in (None, (1, 5)) else "-".join(map(str, said.stars or ()))
    yield Field("stars", "Hotel stars", stars, Widget.CHOICE, _with(_STARS[0], stars), state=State.SAID if stars else State.OPEN)
    direct = said.direct or Direct.ANY
    if not said.stay_only:
        by, state = (said.by or By.ANY).value, State.SAID if said.by else State.OPEN
        yield Field("by", "Travel", by, Widget.CHOICE, _BY, state=state)
        yield Field("direct", "Flights", direct.value, Widget.CHOICE, _DIRECT, state=State.SAID if said.direct else State.OPEN)
    prefer, state = (said.prefer or Prefer.BALANCE).value, State.SAID if said.prefer else State.OPEN
    yield Field("prefer", "First of the plans", prefer, Widget.CHOICE, _PREFER, state=state)


def _rare(said: PartialRequest) -> Iterator[Field]:
    hours = said.hours or JourneyHours()
    for name, label in _HOURS.items():
        of, _, end = name.partition(".")
        hour = getattr(getattr(hours, of), end)
        shown, state = (f"{hour:%H:%M}", State.SAID) if hour else ("", State.OPEN)
        yield Field(f"hours.{name}", label, shown, Widget.TIME, state=state)
    insured, state = ("yes", State.SAID) if said.insured else ("", State.OPEN)
    yield Field("insured", "Insure the fares", insured, Widget.CHECK, state=state)


# -- what a value makes of the request ---------------------------------------------------------------------------------


def _changes(said: PartialRequest, name: str, value: str, cities: Gazetteer) -> dict[str, Any]:
    if (place := _STOP.fullmatch(name)) is not None:
        return said.with_stops(_with_stop(said.stops, int(place[1]), place[2], value, cities))
    if (limit := _HOUR.fullmatch(name)) is not None:
        hours = said.hours or JourneyHours()
        own = getattr(hours, limit[1]).model_copy(update={limit[2]: _read(_hour, value, name)})
        changed = hours.model_copy(update={limit[1]: Hours.model_validate(own.model_dump())})
        return {"hours": None if changed == JourneyHours() else changed}
    if name == "parts":
        return {"hotels": False if value == "journeys" else None, "stay_only": value == "hotel" or None}
    if name == "return_to":
        return {"return_to": _city(value, name, cities) if value else None, "one_way": not value}
    if name in ("budget", "budget_each"):
        number, _, code = value.replace(",", "").partition(" ")
        amount = _read(_amount, number, name)
        return {**dict.fromkeys(BUDGET_FIELDS), name: amount, "currency": code or said.currency or ("USD" if amount else None)}
    if name in ("train_if.landed_before", "train_if.to"):
        hour = _read(_hour, value, name) if name.endswith("before") else said.train_if and said.train_if.landed_before
        to = _city(value, name, cities) if name.endswith("to") else None
        return {"train_if": hour and _read(lambda _: TrainIf(landed_before=hour, to=to), value, name)}
    if name in _READERS:
        return {name: _READERS[name](value) if name in _WORDS else _read(_READERS[name], value, name)}
    if name == "origin":
        return {name: _city(value, name, cities) if value else None}
    raise InvalidInputError("a trip has no such field: look at the page again", field=name)


_WORDS: Final = ("order", "insured", "stars", "direct", "by", "prefer", "one_way")
_READERS: Final[dict[str, Callable[[str], Any]]] = {
    **dict.fromkeys(("first", "last", "depart"), lambda value: _day(value)),
    **dict.fromkeys(("travellers", "children", "rooms"), int),
    "total_nights": lambda value: _nights(value),
    "one_way": lambda value: bool(value) or None,
    "currency": str,
    "order": lambda value: Order.ANY if value else None,
    "insured": lambda value: bool(value) or None,
    "prefer": lambda value: Prefer(value) if value in tuple(Prefer)[1:] else None,
    "stars": lambda value: _stars(value),
    "by": lambda value: By(value) if value in tuple(By) else None,
    "direct": lambda value: Direct(value) if value in tuple(Direct) else None,
}


def _read(read: Callable[[str], Any], value: str, name: str) -> Any:
    """Return the value; None for an empty field. `Any`: of the field's own type."""
    try:
        return read(value) if value else None
    except (ValueError, InvalidOperation):
        raise InvalidInputError(f"“{value[:60]}” cannot be used here", field=name) from None


def _day(value: str) -> date:
    day = date.fromisoformat(value)
    if day.year not in YEARS:
        raise ValueError(value)
    return day


def _hour(value: str) -> time:
    hour = time.fromisoformat(value)
    if hour.tzinfo is not None:
        raise ValueError(value)
    return hour


def _amount(value: str) -> Decimal:
    amount = Decimal(value)
    if not amount.is_finite():
        raise ValueError(value)
    return amount


def _nights(value: str) -> int:
    nights = int(value)
    if not 0 <= nights <= LONGEST_STAY:
        raise ValueError(value)
    return nights


def _stars(value: str) -> tuple[int, int] | None:
    fewest, _, most = value.partition("-")
    most = most or fewest
    return (int(fewest), int(most)) if len(fewest + most) == 2 and {*fewest, *most} <= {*"12345"} else None


def _city(value: str, name: str, cities: Gazetteer) -> str:
    return cities.require(value, field=name).name


def _with_stop(
    stops: tuple[PartialStop, ...], place: int, part: str | None, value: str, cities: Gazetteer
) -> tuple[PartialStop, ...]:
    if place > len(stops) or (place == len(stops) and part != "city"):
        raise InvalidInputError("that stop is no longer there: look at the page again", field="stops")
    if not value and (part in (None, "city")):
        return (*stops[:place], *stops[place + 1 :])
    stop = stops[place] if place < len(stops) else PartialStop(said=value, city=None)
    if part == "city":
        city = _city(value, "stops", cities)
        stop = stop.model_copy(update={"said": city, "city": city, "unknown": "", "candidates": ()})
    elif part == "nights":
        stop = stop.lasting(_read(_nights, value, "stops"))
    elif part == "stars":
        stop = stop.model_copy(update={"stars": _stars(value)})
    return (*stops[:place], stop, *stops[place + 1 :])
