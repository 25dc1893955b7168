"""Model reading: what somebody wrote, as typed wishes of a model, each with the words that it came from.

A wish is accepted only if those words are in the sentence and state its value: the city, the numbers, the month, a word like
`direct`. Any other is named and left out. What the model reads so takes precedence over what the rules have read, which is kept
beside it for whoever prefers that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ConfigDict, Field
from rapidfuzz import fuzz

from sagagraph.context.answering import answer_of
from sagagraph.context.model import Model
from sagagraph.context.quoting import new_nonce
from sagagraph.domains.travel.cities import name_key
from sagagraph.domains.travel.money import PRICE_CURRENCY
from sagagraph.domains.travel.request import NIGHT_ENDS, Direct, TrainIf
from sagagraph.domains.travel.text.partial import PartialRequest, PartialStop
from sagagraph.language.anchoring import plain, says
from sagagraph.language.forms import form
from sagagraph.language.money import SIGN, currencies_meant
from sagagraph.language.people import PEOPLE, Company
from sagagraph.language.quantities import UNITS
from sagagraph.language.tagging import tagged
from sagagraph.language.utterance.tongues import MONTHS

if TYPE_CHECKING:
    from collections.abc import Callable

    from sagagraph.domains.travel.cities import Gazetteer

_INSTRUCTIONS = (
    "The data is what a traveller wrote about a trip, in any language, today's date, and what is known of the trip. List "
    "every wish "
    "in the text as a slot: its field, its value, and as quote the exact words of the text that say it. Values: a city by its "
    "English name, a whole number, a date as YYYY-MM-DD, a budget like 5000 EUR, stars like 3-4; yes for one_way and direct. A "
    "city to stay in is `stay`, with its nights, in the order of travel; one that is given up is `leave_out`. A train that is "
    "wished only if the flight lands before an hour is `train_if`: the hour as HH:MM, after the train's city if that is said, "
    "like Brussels 12:00. Other fields have no nights "
    "(null). Nights that are shared among several stays are `nights_in_all`. "
    "Add nothing that was not written: questions, fears and news are no wishes."
)
_CLOSE_ENOUGH: Final = 80
"""Of 100: `Lissabon` is Lisbon, and `Rome` is not Paris."""
_SAYS: Final = {
    "direct": re.compile(r"direct|non.?stop|direkt|umsteig|zwischenstop|escale|correspondance|escala|stop|chang", re.IGNORECASE),
    "train_if": re.compile(r"(?is)(?=.*(?:train|zug|bahn|tren))(?=.*(?:land|arriv|ankomm|atterr|llega|aterriz))"),
    "one_way": re.compile(r"one.?way|einfach|hinflug|aller simple|sans retour|ida|not return|no return|rück", re.IGNORECASE),
}
_NOON: Final = re.compile(r"\bnoon|midday|mittag|midi\b|mediod[ií]a|mezzogiorno", re.IGNORECASE)


class SlotField(StrEnum):
    ORIGIN = "from"
    STAY = "stay"
    LEAVE_OUT = "leave_out"
    RETURN_TO = "back_to"
    ONE_WAY = "one_way"
    FIRST = "first_day"
    LAST = "last_day"
    DEPART = "leave_on"
    TRAVELLERS = "travellers"
    CHILDREN = "children"
    ROOMS = "rooms"
    NIGHTS = "nights_in_all"
    BUDGET = "budget"
    STARS = "stars"
    DIRECT = "direct"
    TRAIN_IF = "train_if"


class Slot(BaseModel):
    """Slot: one wish, and the words that express it."""

    model_config = ConfigDict(extra="forbid")

    field: SlotField
    value: str = Field(max_length=80)
    nights: int | None
    quote: str = Field(max_length=400)


class Slots(BaseModel):
    """Answer of the model."""

    model_config = ConfigDict(extra="forbid")

    slots: list[Slot] = Field(max_length=30)


@dataclass(frozen=True, slots=True)
class Reading:
    """Reading: what was accepted, and what the model said without finding it in the sentence."""

    request: PartialRequest
    left_out: tuple[str, ...]
    others: tuple[tuple[str, str], ...] = ()
    """What the rules have read differently, by its field, as it is typed there."""


async def read_by_model(
    text: str,
    *,
    model: Model,
    cities: Gazetteer,
    today: date,
    known: PartialRequest,
    read: PartialRequest | None,
    mint: Callable[[], str] = new_nonce,
) -> Reading | None:
    """Return the request with the wishes of `text` on top; None if the model is of no help.

    `read`: what the rules made of it, if it is in their language.

    Raises:
        ModelError: the model cannot be asked.
    """
    so_far = {"from": known.origin, "stays": [[stop.city, stop.nights] for stop in known.stops]}
    data = {"text": text, "today": str(today), "known": so_far}
    answer = await answer_of(model, _INSTRUCTIONS, data, Slots, mint=mint)
    if answer is None:
        return None
    anchored = _Anchored(text, cities)
    for slot in answer.slots:
        anchored.take(slot)
    base = read or known
    ours = {name: value for name, value in base if value is not None and value != getattr(known, name)}
    fields = dict(anchored.fields)
    if anchored.stays or anchored.dropped:
        fields["stops"] = (
            anchored.instead_of(base.stops)
            if not known.stops
            else anchored.on(base.stops, is_sure=read is None or _is_sure_of_route(read))
        )
    if not fields:
        return Reading(base, tuple(anchored.left_out))
    others = tuple((name, str(ours[name])) for name in fields if name in _SHOWN and name in ours and ours[name] != fields[name])
    unread = tuple(each for each in (read.unread if read else ()) if not anchored.covers(each))
    return Reading(base.updated_by(PartialRequest(**fields, unread=unread)), tuple(anchored.left_out), others)


_SHOWN: Final = ("origin", "return_to", "depart", "first", "last", "travellers", "children", "rooms", "budget", "currency")
"""Fields of which the value of the rules is offered beside that of the model."""
_MOST_WORDS: Final = 16
"""Of a quote: with all of a text any value could be justified."""


def _is_sure_of_route(read: PartialRequest) -> bool:
    return not {question.field.partition("[")[0] for question in read.missing()} & {"origin", "stops", "return_to"}


class _Anchored:
    """Wishes whose words are in the text and state them."""

    def __init__(self, text: str, cities: Gazetteer) -> None:
        self._text, self._cities = plain(text), cities
        self._quotes: list[str] = []
        self.fields: dict[str, Any] = {}
        self.stays: list[PartialStop] = []
        self.dropped: set[str] = set()
        self.left_out: list[str] = []

    def take(self, slot: Slot) -> None:
        quote = plain(slot.quote)
        if quote and quote in self._text and len(quote.split()) <= _MOST_WORDS and self._holds(slot):
            self._quotes.append(quote)
        else:
            nights = f"{slot.nights} nights in " if slot.nights else ""
            self.left_out.append(f"{slot.field.value.replace('_', ' ')}: {nights}{slot.value}")

    def covers(self, words: str) -> bool:
        return any(plain(words) in quote for quote in self._quotes)

    def instead_of(self, stops: tuple[PartialStop, ...]) -> tuple[PartialStop, ...]:
        """Return the stays of the model, with nights of the rules where it says none."""
        known = {stop.city: stop.nights for stop in stops}
        return tuple(stay.lasting(stay.nights if stay.nights is not None else known.get(stay.city)) for stay in self.stays)

    def on(self, stops: tuple[PartialStop, ...], *, is_sure: bool) -> tuple[PartialStop, ...]:
        """Return the stops with these stays. `is_sure`: of the stops there are; otherwise these may order and complete them."""
        named = {stay.city: stay for stay in self.stays}
        ends = {None, self.fields.get("origin"), self.fields.get("return_to")}
        if not is_sure and self.stays and {stop.city for stop in stops} - ends <= named.keys():
            return tuple(self.stays)
        fresh = [stay for stay in self.stays if stay.city not in {stop.city for stop in stops}]
        after: list[PartialStop] = []
        for stop in stops:
            if stop.city not in self.dropped:
                after.append(stop.lasting((named[stop.city].nights if stop.city in named else None) or stop.nights))
            elif fresh:
                after.append(fresh[0].lasting(fresh.pop(0).nights or stop.nights))
        return (*after, *fresh)

    def _holds(self, slot: Slot) -> bool:
        match slot.field:
            case SlotField.ORIGIN | SlotField.RETURN_TO | SlotField.STAY | SlotField.LEAVE_OUT:
                return self._place(slot)
            case SlotField.FIRST | SlotField.LAST | SlotField.DEPART:
                return self._day(slot)
            case SlotField.TRAVELLERS | SlotField.ROOMS | SlotField.CHILDREN:
                number = int(slot.value) if slot.value.isdecimal() else 0
                is_said = says(number, slot.quote) or number in _people_in(slot.quote)
                return 0 < number < 100 and is_said and self._set(slot.field.value, number)
            case SlotField.NIGHTS:
                number = int(slot.value) if slot.value.isdecimal() else 0
                return number > 0 and _says_nights(number, slot.quote) and self._set("total_nights", number)
            case SlotField.BUDGET:
                return self._budget(slot)
            case SlotField.STARS:
                return self._stars(slot)
            case SlotField.TRAIN_IF:
                return self._train_if(slot)
            case SlotField.DIRECT | SlotField.ONE_WAY:
                value = Direct.REQUIRED if slot.field is SlotField.DIRECT else True
                return _SAYS[slot.field.value].search(slot.quote) is not None and self._set(slot.field.value, value)

    def _set(self, name: str, value: Any) -> bool:
        """Keep the first value; a second one that differs is left out."""
        return bool(self.fields.setdefault(name, value) == value)

    def _place(self, slot: Slot) -> bool:
        city = self._cities.find_name(slot.value)
        if city is None or not self._is_named(city.name, slot.quote):
            return False
        if slot.field is SlotField.LEAVE_OUT:
            self.dropped.add(city.name)
        elif slot.field is SlotField.STAY:
            if slot.nights is not None and (slot.nights < 1 or not _says_nights(slot.nights, slot.quote)):
                return False
            self.stays.append(PartialStop(said=city.name, city=city.name, nights=slot.nights))
        else:
            return self._set("origin" if slot.field is SlotField.ORIGIN else "return_to", city.name)
        return True

    def _is_named(self, name: str, quote: str) -> bool:
        words = name_key(quote).split()
        size = len(name_key(name).split())
        spans = (" ".join(words[n : n + each]) for each in {size, max(size - 1, 1), size + 1} for n in range(len(words)))
        own = name_key(name.split(", ")[0])
        return any(
            fuzz.ratio(span.strip(",.;:!?"), own) >= _CLOSE_ENOUGH
            or ((city := self._cities.find(span.strip(",.;:!?"))) is not None and city.name == name)
            for span in spans
        )

    def _day(self, slot: Slot) -> bool:
        try:
            day = date.fromisoformat(slot.value)
        except ValueError:
            return False
        says_month = re.search(
            rf"\b(?:{MONTHS[day.month - 1]})|\b0?{day.month}[./-]|[./-]0?{day.month}\b", slot.quote, re.IGNORECASE
        )
        is_edge = (slot.field is SlotField.FIRST and day.day == 1) or (
            slot.field is SlotField.LAST and (day + timedelta(days=1)).day == 1
        )
        is_said = says_month is not None and (is_edge or says(day.day, slot.quote))
        names = {SlotField.FIRST: "first", SlotField.LAST: "last", SlotField.DEPART: "depart"}
        return is_said and self._set(names[slot.field], day)

    def _budget(self, slot: Slot) -> bool:
        amount, _, code = slot.value.replace(",", "").partition(" ")
        try:
            value = Decimal(amount)
        except InvalidOperation:
            return False
        signs = [each[0] for each in _SIGNS.finditer(slot.quote)]
        meant = {code for sign in signs for code in currencies_meant(sign, None)} or {PRICE_CURRENCY}
        is_said = value > 0 and says(int(value), slot.quote) and (code or PRICE_CURRENCY) in meant
        return is_said and self._set("budget", value) and self._set("currency", code or PRICE_CURRENCY)

    def _train_if(self, slot: Slot) -> bool:
        value = re.fullmatch(r"(?:(\D+) )?(\d{1,2}):([0-5]\d)", slot.value)
        if value is None or not _SAYS["train_if"].search(slot.quote):
            return False
        city, hour, minute = self._cities.find_name(value[1] or ""), int(value[2]), int(value[3])
        is_named = value[1] is None or (city is not None and self._is_named(city.name, slot.quote))
        is_afternoon = says(hour - 12, slot.quote) and re.search(r"\dp|p\.?m\b", slot.quote, re.IGNORECASE)
        is_said = (says(hour, slot.quote) or is_afternoon) and (not minute or says(minute, slot.quote))
        is_noon = (hour, minute) == (12, 0) and _NOON.search(slot.quote)
        if not is_named or not (is_said or is_noon) or not NIGHT_ENDS.hour < hour < 24:
            return False
        return self._set("train_if", TrainIf(landed_before=time(hour, minute), to=city and city.name))

    def _stars(self, slot: Slot) -> bool:
        stars = [int(each) for each in re.findall(r"\d", slot.value)]
        is_range = 1 <= len(stars) <= 2 and 1 <= stars[0] <= stars[-1] <= 5
        is_said = is_range and any(says(each, slot.quote) for each in stars)
        return (
            is_said
            and all(says(each, slot.quote) or each in (1, 5) for each in stars)
            and self._set("stars", (stars[0], stars[-1]))
        )


_SIGNS: Final = form(SIGN)
_SPANS: Final = {"weekend": {2, 3}, "fortnight": {14}, "overnight": {1}}


def _says_nights(number: int, quote: str) -> bool:
    """Tell whether the words state so many nights; `a week` is 7, a weekend 2, a long one 3."""
    return says(number, quote, week=7) or any(word in quote.casefold() and number in counts for word, counts in _SPANS.items())


def _people_in(quote: str) -> set[int]:
    """Return how many people the words name without a number: `my wife and I`, `just me`, `our baby`."""
    passage = tagged(quote, units={**UNITS, **PEOPLE})
    companies = passage.values(Company)
    counted = {each.count for each in companies if each.count} | {each.children for each in companies if each.children}
    is_two = re.search(
        r"\b(?:both|couple|honeymoon|the two of us|my (?:wife|husband|partner|girlfriend|boyfriend))", quote, re.IGNORECASE
    )
    return {
        *counted,
        *({2} if is_two else ()),
        *({1} if len(passage.values(Company)) == 0 and re.search(r"\b(?:I|me|my)\b", quote) else ()),
    }
