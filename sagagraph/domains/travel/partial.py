"""Partial requests: what is known of a request so far, and what must be asked."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Self

from pydantic import AwareDatetime, BaseModel
from pydantic_core import to_jsonable_python

from sagagraph.domains.travel.money import Money
from sagagraph.domains.travel.request import (
    By,
    Direct,
    Hours,
    JourneyHours,
    Order,
    Prefer,
    TrainIf,
    TripRequest,
    Weekday,
    alone,
    checked_request,
)
from sagagraph.domains.travel.wording import count_text, day_text
from sagagraph.errors import InvalidInputError
from sagagraph.planning.fields import LIKELY

DATE_FIELDS = ("window", "depart")
MONEY_FIELDS = ("budget", "currency")
OPTIONAL_FIELDS = ("budget", "currency", "stars", "direct", "hours", "not_on", "rooms")
"""A trip can be planned without an answer about them."""
_SAME = ("origin", "depart", "travellers", "children", "rooms", "currency", "stars", "direct", "by", "hours", "train_if", "late")
"""Fields that a `TripRequest` has, too, under the same name."""
FROM_THE_DATES = "from the dates"
"""Why nights are assumed that lie between two days."""
ANY_DOLLARS = "the usual dollars"
"""Why American dollars are assumed, where nobody has said which."""
BUDGET_FIELDS = ("budget", "budget_each", "no_limit")
"""Of a `PartialRequest`: only one of them holds."""


class Question(BaseModel, frozen=True):
    field: str
    """What of the request the answer sets, as in its JSON form."""
    text: str
    candidates: tuple[str, ...] = ()
    """The cities between which the answer chooses."""
    otherwise: tuple[tuple[str, str | bool | JourneyHours], ...] = ()
    """What is assumed as long as nobody answers: fields of a `PartialRequest`; empty: nothing can be."""
    because: str = ""
    """Why, in a few words."""


class PartialStop(BaseModel, frozen=True):
    said: str
    city: str | None
    """None: `said` names no city that is known."""
    nights: int | None = None
    unknown: str = ""
    """What to tell whoever said it, where it names no city."""
    candidates: tuple[str, ...] = ()
    """Cities of that name, where it names several."""
    stars: tuple[int, int] | None = None
    """Of the hotels there alone."""
    likely: str | None = None
    """The city that an unknown name most likely is."""

    def as_likely(self) -> Self:
        if self.city is not None or self.likely is None:
            return self
        return self.model_copy(update={"city": self.likely, "unknown": "", "candidates": ()})

    def lasting(self, nights: int | None) -> Self:
        return self.model_copy(update={"nights": nights})


class PartialRequest(BaseModel, frozen=True):
    """A partial request. Every field is None as long as nobody has said anything about it."""

    origin: str | None = None
    stops: tuple[PartialStop, ...] = ()
    return_to: str | None = None
    one_way: bool | None = None
    first: date | None = None
    last: date | None = None
    depart: date | None = None
    travellers: int | None = None
    children: int | None = None
    """Of the travellers."""
    rooms: int | None = None
    budget: Money | None = None
    budget_each: Money | None = None
    """Said for one traveller; the budget of the trip follows from how many travel."""
    currency: str | None = None
    no_limit: bool | None = None
    """The trip may cost whatever it takes."""
    stars: tuple[int, int] | None = None
    direct: Direct | None = None
    by: By | None = None
    hours: JourneyHours | None = None
    not_on: tuple[Weekday, ...] | None = None
    order: Order | None = None
    insured: bool | None = None
    hotels: bool | None = None
    """False: none are wanted."""
    stay_only: bool | None = None
    """Only a hotel is booked, and no journey."""
    prefer: Prefer | None = None
    train_if: TrainIf | None = None
    home: str | None = None
    """Where this visitor's last trip began."""
    begins_by: date | None = None
    """The last day on which the trip can begin; its end follows from the nights."""
    is_home_then: bool | None = None
    """The way back is on the last day itself, not only before its end."""
    is_window: bool | None = None
    """The trip is somewhere between its days, as they left room for more nights than were said: none follow from them."""
    is_rough: bool | None = None
    """The days are a month, a season or a holiday: the trip lies somewhere between them."""
    total_nights: int | None = None
    """Of all stops together, where nobody said how they are shared."""
    unread: tuple[str, ...] = ()
    """What was said and means nothing here; for a person to be told."""
    doubts: tuple[Question, ...] = ()
    """Statements that could mean more than one thing, or nothing feasible."""
    late: dict[str, AwareDatetime] | None = None
    notes: tuple[tuple[str, str], ...] = ()
    """What was assumed when the request was made, by its field: why."""

    @classmethod
    def of(cls, request: TripRequest) -> Self:
        """Return everything known of a complete request, for wishes that are added later: what follows from the rest is left."""
        follows = {name for name in request.assumed if name in ("travellers", "rooms", "return_to")}
        follows |= {"origin", "return_to"} if request.is_stay_only else set()
        follows |= {"rooms"} if request.travellers == request.rooms == 1 else set()
        notes = {name: why for name, why in request.assumed.items() if name not in follows}
        return cls(
            notes=tuple(notes.items()),
            **{name: getattr(request, name) for name in (*_SAME, "budget") if name not in {"direct", *follows}},
            stops=tuple(
                PartialStop(said=stop.city, city=stop.city, nights=stop.nights, stars=stop.stars) for stop in request.stops
            ),
            return_to=None if "return_to" in follows else request.return_to,
            one_way=None if "return_to" in follows else request.return_to is None,
            first=request.window and request.window.first,
            last=request.window and request.window.last,
            not_on=request.not_on or None,
            order=request.order if request.order is Order.ANY else None,
            insured=request.insured or None,
            direct=request.direct if request.direct is not Direct.ANY else None,
            hotels=request.hotels and None,
            prefer=request.prefer if request.prefer is not Prefer.BALANCE else None,
            stay_only=request.is_stay_only or None,
        )

    def in_json(self) -> dict[str, Any]:
        """Return what is known in the form of a request, which `parse_request` reads once what is missing is filled in."""
        try:
            return self.complete().model_dump(mode="json")
        except InvalidInputError:
            stops = [{"city": stop.city or stop.said, "nights": stop.nights, "stars": stop.stars} for stop in self.stops]
            is_for_each = self.budget_each is not None and self.travellers is None
            amount = {"budget_each": self.budget_each} if is_for_each else {"budget": self._fields()["budget"]}
            rest = {name: value for name, value in self._fields().items() if name != "budget"}
            known = {name: value for name, value in (rest | amount | {"stops": stops}).items() if value not in (None, ())}
            told: dict[str, Any] = to_jsonable_python(known | ({"return_to": None} if self.one_way else {}))
            return told

    def missing(self) -> tuple[Question, ...]:
        """Return everything that must be answered before `complete`; doubts come first."""
        in_doubt = {doubt.field for doubt in self.doubts}
        if not in_doubt.isdisjoint(DATE_FIELDS):
            in_doubt |= set(DATE_FIELDS)
        questions = (*self.doubts, *(question for question in self._unsaid() if question.field not in in_doubt))
        return questions or tuple(self._contradictions())

    def without_doubt(self, field: str) -> Self:
        """Drop every question about it."""
        return self.model_copy(update={"doubts": tuple(each for each in self.doubts if each.field != field), "unread": ()})

    def can_do_without(self, question: Question) -> bool:
        """Tell whether a trip can be planned without an answer: by what was said before, or by what is usual."""
        if question.field in OPTIONAL_FIELDS:
            return True
        return question in self.doubts and all(
            each.field != question.field for each in self.without_doubt(question.field).missing()
        )

    def complete(self) -> TripRequest:
        """
        Raises:
            InvalidInputError: something is missing, in doubt or contradictory; names the first such field.
        """
        for question in self.missing():
            raise InvalidInputError(question.text, field=question.field)
        return self._checked()

    def _contradictions(self) -> Iterator[Question]:
        """Return what is complete, and does not fit together, in words for somebody who never saw the fields."""
        try:
            self._checked()
            return
        except InvalidInputError as exc:
            field, complaint = str(exc.field), str(exc).removeprefix(f"{exc.field}: ")
        asked = {f"stops[{n}].nights": f"How many nights in {stop.city}" for n, stop in enumerate(self.stops)}
        asked |= {"stops": "Which cities do you want to stay in", "travellers": "How many travel", "rooms": "How many rooms"}
        text = f"{asked[field]}? What was said {complaint}." if field in asked else complaint
        yield Question(field=field, text=text)

    def _checked(self) -> TripRequest:
        return checked_request(
            {name: value for name, value in self._fields().items() if value is not None or name == "return_to"}
        )

    def _fields(self) -> dict[str, Any]:
        """Return what is known by the fields of a request; what is not known is None."""
        first = self.first or self.depart
        return {
            **{name: getattr(self, name) for name in (*_SAME, "not_on", "order", "insured", "hotels", "prefer")},
            "stops": tuple({"city": stop.city, "nights": stop.nights, "stars": stop.stars} for stop in self.stops),
            "return_to": None if self.one_way else self.return_to or self.origin,
            "window": {"first": first, "last": self.last} if first and self.last else None,
            "budget": self.budget if self.budget_each is None else self.budget_each * (self.travellers or 1),
        }

    def with_room(self) -> Iterator[tuple[str, Self]]:
        """Yield what can be had of more nights than there is room for, each in a few words: a later last day, or fewer nights."""
        begins = self.depart or self.first
        if begins is None or self.last is None or not all(stop.nights for stop in self.stops):
            return
        nights = [stop.nights or 0 for stop in self.stops]
        lacking = sum(nights) - (self.last - begins).days
        if lacking <= 0:
            return
        until = self.last + timedelta(days=lacking)
        yield f"until {until}", self.model_copy(update={"last": until})
        if sum(nights) - lacking < len(nights):
            return
        for _ in range(lacking):
            nights[nights.index(max(nights))] -= 1
        given = dict(enumerate(nights))
        told = (f"{count_text(given[n], 'night')} in {stop.city}" for n, stop in enumerate(self.stops) if stop.nights != given[n])
        yield " and ".join(told), self.model_copy(update={"stops": with_nights(self.stops, given)})

    def updated_by(self, later: Self) -> Self:
        """Return this request with later statements, which replace earlier ones and answer their doubts."""
        said = {name for name, value in later if name != "doubts" and value not in (None, ())}
        said |= {"not_on", "train_if"} & later.model_fields_set
        kept = tuple(doubt for doubt in self.doubts if not _is_answered(doubt, said))
        fresh = {doubt.field for doubt in later.doubts}
        changed: dict[str, Any] = {name: getattr(later, name) for name in said}
        if "return_to" in said:
            changed.setdefault("one_way", False)
        if not said.isdisjoint(BUDGET_FIELDS):
            changed |= {name: getattr(later, name) for name in BUDGET_FIELDS}
        if later.hours is not None and self.hours is not None:
            changed["hours"] = _both(self.hours, later.hours)
        changed["unread"] = later.unread
        changed["doubts"] = (*(doubt for doubt in kept if doubt.field not in fresh), *later.doubts)
        changed["notes"] = (*(each for each in self.notes if not _is_said_now(each[0], said)), *later.notes)
        before = self.with_days_assumed()._without_dates_that_clash(later)
        has_days = not said.isdisjoint(("first", "last", "depart"))
        changed |= {"is_window": None} if has_days else {}
        if has_days and said.isdisjoint(("stops", "total_nights")):
            has_end = (later.last or before.last) is not None
            changed["stops"] = with_nights(self.stops, dict.fromkeys(self.from_the_dates() if has_end else ()))
        elif "stops" in said and not has_days:
            changed |= self.with_stops(later.stops)
        return before.model_copy(update=changed)

    def with_stops(self, stops: tuple[PartialStop, ...]) -> dict[str, Any]:
        """Return what changes with other stops: nights that follow from the days give way to those that are said, and days that
        leave room for more nights than were said are a window.
        """
        given_way = {(self.stops[n].city, self.stops[n].nights) for n in self.from_the_dates()}
        first = self.depart or self.first
        nights = [stop.nights for stop in self.stops if stop.nights is not None]
        has_room = not given_way and first and self.last and 0 < sum(nights) < (self.last - first).days
        opened = dict.fromkeys(n for n, stop in enumerate(stops) if (stop.city, stop.nights) in given_way)
        return {"stops": with_nights(stops, opened), "is_window": bool(has_room) or self.is_window}

    def from_the_dates(self) -> set[int]:
        """Return the stops whose nights follow from the days, or will."""
        notes = dict(self.notes)
        return {
            n
            for n, stop in enumerate(self.stops)
            if stop.nights is None or notes.get(f"stops[{n}].nights", "").startswith(FROM_THE_DATES)
        }

    def day_of_return(self) -> date | None:
        """Return the last day, where the nights reach from the first one to it: if they change, so does it."""
        known = self.with_days_assumed()
        first = known.depart or known.first
        if first is None or known.last is None or known.is_rough:
            return None
        is_open = any(stop.nights is None for stop in known.stops)
        return known.last if is_open or sum(stop.nights or 0 for stop in known.stops) == (known.last - first).days else None

    def with_days_assumed(self) -> Self:
        """Return what stands where only one of two days, there and back, is said anew."""
        assumed = (self.model_validate(dict(doubt.otherwise)) for doubt in self.doubts if doubt.field in DATE_FIELDS)
        days = next((each for each in assumed if each.is_rough is False), None)
        return self if days is None else self.model_copy(update={"first": days.first, "last": days.last})

    def _without_dates_that_clash(self, later: Self) -> Self:
        """Drop dates that a newer day or window contradicts."""
        first, last, depart = later.first or self.first, later.last or self.last, later.depart or self.depart
        runs_backwards = first and last and first > last
        is_outside = depart and ((first and depart < first) or (last and depart > last))
        if later.depart and not (later.first or self.is_rough) and last and later.depart <= last and self.from_the_dates():
            return self.model_copy(update={"first": None})  # the day of the return stands
        if runs_backwards or (is_outside and later.depart):
            return self.model_copy(update={"first": None, "last": None})
        return self.model_copy(update={"depart": None}) if is_outside else self

    def _unsaid(self) -> Iterator[Question]:
        if self.children and self.children >= (self.travellers or 1):
            yield Question(field="children", text=alone(self.children))
        if self.origin is None and not self.stay_only:
            yield Question(field="origin", text="Where does the trip start?")
        if not self.stops:
            yield Question(field="stops", text="Which cities do you want to visit, and in which order?")
        for n, stop in enumerate(self.stops):
            if stop.city is None:
                yield unknown_city(f"stops[{n}].city", stop.unknown, stop.candidates)
            if stop.nights is None:
                yield Question(field=f"stops[{n}].nights", text=f"How many nights in {stop.city or stop.said}?")
        if self.budget_each is not None and self.travellers is None:
            yield Question(field="travellers", text="How many of you travel?")
        yield from self._unsaid_dates()

    def _unsaid_dates(self) -> Iterator[Question]:
        if self.depart is not None or (self.first is not None and self.last is not None):
            return
        if self.first is not None:
            text = f"The trip begins on {day_text(self.first)} or later; by when does it have to end?"
        elif self.last is not None:
            text = f"The trip ends by {day_text(self.last)}; when can it begin?"
        else:
            text = "When do you want to travel: in which month, between which days, or leaving on which day?"
        yield Question(field="window", text=text)


def _is_said_now(field: str, said: set[str]) -> bool:
    top = field.removeprefix("window.").partition("[")[0]
    return top in said or (top == "window" and not said.isdisjoint(("first", "last", "depart")))


def with_nights(stops: tuple[PartialStop, ...], given: Mapping[int, int | None]) -> tuple[PartialStop, ...]:
    """Return the request with nights. `given`: by the index of a stop."""
    return tuple(stop.lasting(given.get(n, stop.nights)) for n, stop in enumerate(stops))


def _both(before: JourneyHours, later: JourneyHours) -> JourneyHours:
    """Combine limits: a later one replaces only its own, and one that it contradicts."""

    def merged(old: Hours, new: Hours) -> Hours:
        earliest, latest = new.earliest or old.earliest, new.latest or old.latest
        if earliest is not None and latest is not None and earliest > latest:
            return new
        return Hours(earliest=earliest, latest=latest)

    return JourneyHours(depart=merged(before.depart, later.depart), arrive=merged(before.arrive, later.arrive))


def unknown_city(field_name: str, complaint: str, candidates: tuple[str, ...] = (), likely: str | None = None) -> Question:
    text = f"{complaint[:1].upper()}{complaint[1:]}"
    asked = text if text.endswith("?") else f"{text}. Which city do you mean?"
    otherwise = ((field_name, likely),) if likely else ()
    return Question(field=field_name, text=asked, candidates=candidates, otherwise=otherwise, because=f"{LIKELY} {likely}")


def _is_answered(doubt: Question, said: set[str]) -> bool:
    if doubt.field in DATE_FIELDS:
        return not said.isdisjoint({"first", "last", "depart"})
    if doubt.field in MONEY_FIELDS:
        return not said.isdisjoint(BUDGET_FIELDS if doubt.field == "budget" else (*BUDGET_FIELDS, "currency"))
    if doubt.field.endswith(".nights") or doubt.field.startswith("stars["):
        return not said.isdisjoint(("stops", "total_nights", "stars"))
    return doubt.field.split("[")[0] in said


@dataclass
class Said:
    """What is understood of a sentence: fields of a `PartialRequest`, and what has to be asked."""

    fields: dict[str, Any] = field(default_factory=dict)
    doubts: list[Question] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    """What was read so, though it can mean more: the field, and why."""
    stars_in: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Stars of the hotels in one city alone."""

    def ask(
        self,
        about: str,
        text: str,
        candidates: tuple[str, ...] = (),
        *,
        otherwise: Mapping[str, Any] | None = None,
        because: str = "",
    ) -> None:
        """Ask one question about each field. `otherwise`: what is assumed as long as nobody answers, `because` of what."""
        if not self.asks(about):
            kept = (bool, JourneyHours)
            assumed = tuple((name, value if isinstance(value, kept) else str(value)) for name, value in (otherwise or {}).items())
            self.doubts.append(Question(field=about, text=text, candidates=candidates, otherwise=assumed, because=because))

    def asks(self, about: str) -> bool:
        return any(doubt.field == about for doubt in self.doubts)
