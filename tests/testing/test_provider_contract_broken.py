"""Adapters that are broken on purpose, each in one way: the check that is named must catch it, and say so."""

from __future__ import annotations

import asyncio
import re
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from sagagraph.domains.travel.provider.provider import HttpReservationProvider, ProviderAnswerLostError
from sagagraph.domains.travel.provider.receipts import Found, ProviderGuarantees, VoidReceipt
from sagagraph.errors import ProviderError, Refused
from sagagraph.sandbox.server import EmbeddedSandbox
from sagagraph.sandbox.settings import SandboxSettings
from sagagraph.testing.providers import Bench, Journey, Stay
from sagagraph.testing.providers.check import carry_out
from sagagraph.testing.providers.contract import CHECKS
from sagagraph.testing.providers.trial import ContractBrokenError
from tests.support.today import TODAY
from tests.testing.lossy import LossyWire

Method = Callable[..., Any]
FLIGHT = Journey("San Francisco", "Berlin", date(2025, 6, 4), travellers=2)
HOTEL = Stay("Cologne", date(2025, 6, 8), date(2025, 6, 10), rooms=2)
A_DAY = timedelta(days=1)
NOBODY = "http://127.0.0.1:9"


class Adapter:
    """A good one, with some of its methods replaced: they get the good one first."""

    def __init__(self, good: HttpReservationProvider, methods: dict[str, Method]) -> None:
        self._good = good
        self._methods = methods

    def __getattr__(self, name: str) -> Any:
        if name not in self._methods:
            return getattr(self._good, name)

        async def broken(*words: Any, **named: Any) -> Any:
            return await self._methods[name](self._good, *words, **named)

        return broken


@dataclass(frozen=True)
class Fault:
    """One way to be broken, on the service that would otherwise make for a good adapter, and what is said about it."""

    caught_by: str
    says: str
    methods: Callable[[], dict[str, Method]]
    """Made anew for every use: some remember what they were asked."""
    sells: str = "flight"
    withheld: str = ""


def fault(caught_by: str, says: str, *, sells: str = "flight", withheld: str = "", **methods: Method) -> Fault:
    return Fault(caught_by, says, lambda: dict(methods), sells, withheld)


# -- how to be broken ----------------------------------------------------------------------------------------------------------


def answers(method: str, change: Callable[[Any], Any]) -> Method:
    """Answers, and lies."""

    async def broken(good: Any, *words: Any, **named: Any) -> Any:
        return change(await getattr(good, method)(*words, **named))

    return broken


def passes_on(method: str, **changes: Any) -> Method:
    """Asks for something else than it was asked for; a change that is a function makes the value from the one that was meant."""

    async def broken(good: Any, *words: Any, **named: Any) -> Any:
        changed = {name: value(named[name]) if callable(value) else value for name, value in changes.items()}
        return await getattr(good, method)(*words, **{**named, **changed})

    return broken


def always(value: Any) -> Method:
    async def broken(good: Any, *words: Any, **named: Any) -> Any:
        return value

    return broken


def instead(method: str, of: type[Exception], raises: Exception) -> Method:
    async def broken(good: Any, *words: Any, **named: Any) -> Any:
        try:
            return await getattr(good, method)(*words, **named)
        except of:
            raise raises from None

    return broken


def each(**facts: Any) -> Callable[[Any], Any]:
    """Every offer of a list, changed without being looked at again; a fact that is a function makes it from the offer."""

    def change(offers: Any) -> Any:
        return tuple(changed(**facts)(offer) for offer in offers)

    return change


def changed(**facts: Any) -> Callable[[Any], Any]:
    def change(one: Any) -> Any:
        update = {name: value(one) if callable(value) else value for name, value in facts.items()}
        return one.model_copy(update=update)

    return change


def matches(**facts: Any) -> Callable[[Any], Any]:
    """What is found, changed."""
    return lambda found: found.model_copy(update={"matches": each(**facts)(found.matches)})


def terms_without_offset(offer: Any) -> Any:
    return changed(free_until=lambda terms: terms.free_until.replace(tzinfo=None))(offer.cancellation)


def fresh_key(_: str | None) -> str:
    return uuid.uuid4().hex


def remembers_only_keys(method: str) -> dict[str, Method]:
    """Looks at nothing but the key of a call that it knows."""
    known: dict[str, Any] = {}

    async def broken(good: Any, *words: Any, key: str, **named: Any) -> Any:
        if key not in known:
            known[key] = await getattr(good, method)(*words, key=key, **named)
        return known[key]

    return {method: broken}


def looks_before_it_books() -> dict[str, Method]:
    """Stands for a service without keys: what came in between is not seen."""

    async def guarantees(good: Any) -> ProviderGuarantees:
        return (await good.guarantees()).model_copy(update={"dedup": A_DAY})

    async def book(good: Any, kind: str, *words: Any, key: str, **named: Any) -> Any:
        found = await good.find(kind, key)
        await asyncio.sleep(0.5)  # so that two who come at once have both looked
        return found.matches[0] if found.matches else await good.book(kind, *words, key=key, **named)

    return {"guarantees": guarantees, "book": book}


def calls_again(method: str) -> dict[str, Method]:
    """Remembers its answers, gives the first one again, and calls the service nevertheless, without the key."""
    known: dict[str, Any] = {}

    async def broken(good: Any, *words: Any, key: str, **named: Any) -> Any:
        if key not in known:
            known[key] = await getattr(good, method)(*words, key=key, **named)
        else:
            await getattr(good, method)(*words, key=None, **named)
        return known[key]

    return {method: broken}


def does_it_and_refuses(method: str, **changes: Any) -> dict[str, Method]:
    """What is refused is asked for once more, changed so that it lands, and then told to be refused."""

    async def broken(good: Any, *words: Any, **named: Any) -> Any:
        try:
            return await getattr(good, method)(*words, **named)
        except Refused:
            await getattr(good, method)(*words, **{**named, **changes})
            raise

    return {method: broken}


def refuses_duplicates() -> dict[str, Method]:
    """Says no to a key that it knows: many services do, and then nobody learns what the first call made."""
    seen: set[str] = set()

    async def book(good: Any, *words: Any, key: str, **named: Any) -> Any:
        if key in seen:
            raise Refused("there is a booking with this reference", code="duplicate")
        seen.add(key)
        return await good.book(*words, key=key, **named)

    return {"book": book}


def voids_again() -> dict[str, Method]:
    """Cancels once more, for another fee, each time that it is told to void."""

    async def void(good: Any, kind: str, key: str, **labels: Any) -> VoidReceipt:
        receipt: VoidReceipt = await good.void(kind, key, **labels)
        for landed in (await good.find(kind, key)).matches:
            await good.cancel(landed.id, key=None, **labels)
        return receipt

    return {"void": void}


def forgets_what_it_voided() -> dict[str, Method]:
    voided: set[str] = set()

    async def void(good: Any, kind: str, key: str, **labels: Any) -> VoidReceipt:
        receipt: VoidReceipt = await good.void(kind, key, **labels)
        if key in voided:
            return VoidReceipt(key=key, outcome="tombstone", fee=Decimal(0))
        voided.add(key)
        return receipt

    return {"void": void}


async def cancels_without_tombstone(good: Any, kind: str, key: str, **labels: Any) -> VoidReceipt:
    found = (await good.find(kind, key)).matches
    fees = [(await good.cancel(landed.id, key=fresh_key(key), **labels)).fee for landed in found]
    return VoidReceipt(key=key, outcome="cancelled" if found else "tombstone", fee=sum(fees, Decimal(0)))


async def only_says_that_it_voids(good: Any, kind: str, key: str, **labels: Any) -> VoidReceipt:
    return VoidReceipt(key=key, outcome="tombstone", fee=Decimal(0))


async def is_free_of_payments(good: Any, kind: str, key: str, **labels: Any) -> VoidReceipt:
    void = only_says_that_it_voids if kind == "payment" else HttpReservationProvider.void
    return await void(good, kind, key, **labels)


async def sells_something_else(good: Any, kind: str, offer_id: str, *words: Any, **named: Any) -> Any:
    if await good.offer(offer_id) is None:
        other = (await good.flights(FLIGHT.origin, FLIGHT.destination, FLIGHT.day, FLIGHT.travellers))[0]
        await good.book(kind, other.offer_id, *words, **{**named, "expected_price": None})
        raise Refused("no such offer", code="unknown_offer")
    return await good.book(kind, offer_id, *words, **named)


async def says_lost_and_does_nothing(good: Any, *words: Any, **named: Any) -> Any:
    raise ProviderAnswerLostError("no answer")


async def is_silent_about_trouble(good: Any, offer_id: str) -> Any:
    try:
        return await good.offer(offer_id)
    except ProviderError:
        return None


async def knows_one_key_for_all(good: Any, kind: str, key: str) -> Any:
    return await good.find(kind, key.replace("T2", "T1"))


async def finds_nothing(good: Any, kind: str, key: str) -> Found:
    return Found(matches=(), voided=False)


async def refunds_without_tombstone(good: Any, kind: str, key: str, **labels: Any) -> VoidReceipt:
    if kind != "payment":
        return await HttpReservationProvider.void(good, kind, key, **labels)
    for landed in (await good.find(kind, key)).matches:
        await good.refund(landed.id, key=fresh_key(key), **labels)
    return VoidReceipt(key=key, outcome="tombstone", fee=Decimal(0))


async def refuses_what_it_did(good: Any, *words: Any, expected_price: Decimal, **named: Any) -> Any:
    offer = await good.offer(words[1])
    booked = await good.book(*words, expected_price=None, **named)
    if offer.price != expected_price:
        raise Refused("the price has changed", code="price_changed")
    return booked


async def refuses_any_deadline(good: Any, *words: Any, deadline: Any, **named: Any) -> Any:
    if deadline is not None:
        raise Refused("deadlines are not for me", code="deadline_passed")
    return await good.book(*words, deadline=None, **named)


async def knows_payments_by_nothing(good: Any, kind: str, key: str) -> Found:
    return Found(matches=(), voided=False) if kind == "payment" else await good.find(kind, key)


async def knows_everybody(good: Any, offer_id: str) -> Any:
    return await good.offer(offer_id) or (await good.hotels(HOTEL.city, HOTEL.check_in, HOTEL.check_out, 1))[0]


def clock_that_goes_back() -> dict[str, Method]:
    asked = Counter[str]()

    async def now(good: Any) -> Any:
        asked["now"] += 1
        return await good.now() - asked["now"] * A_DAY

    return {"now": now}


def guarantees_that_change() -> dict[str, Method]:
    asked = Counter[str]()

    async def guarantees(good: Any) -> Any:
        asked["guarantees"] += 1
        return (await good.guarantees()).model_copy(update={"void": asked["guarantees"] % 2 == 0})

    return {"guarantees": guarantees}


def key_of_another_attempt() -> dict[str, Method]:
    """Keeps the words of the port and gives every attempt a key of its own."""
    attempts = Counter[str]()

    async def book(good: Any, *words: Any, key: str, **named: Any) -> Any:
        attempts[key] += 1
        return await good.book(*words, key=f"{key}#{attempts[key]}", **named)

    return {"book": book}


def lost_as(raises: Exception) -> Method:
    return instead("book", ProviderAnswerLostError, raises)


def as_float(priced: Any) -> float:
    return float(priced.price)


async def of_the_next_day(good: Any, here: str, there: str, day: date, party: int) -> Any:
    return await good.flights(here, there, day + A_DAY, party)


async def the_other_way(good: Any, here: str, there: str, day: date, party: int) -> Any:
    return await good.flights(there, here, day, party)


async def for_one(good: Any, here: str, there: str, day: date, _party: int) -> Any:
    return await good.flights(here, there, day, 1)


async def of_one_room(good: Any, city: str, check_in: date, check_out: date, _rooms: int) -> Any:
    return await good.hotels(city, check_in, check_out, 1)


async def with_a_night_more(good: Any, city: str, check_in: date, check_out: date, rooms: int) -> Any:
    return await good.hotels(city, check_in, check_out + A_DAY, rooms)


FAULTS = (
    # reads
    fault("offers_answer_the_question", "leaves on 2025-06-05", flights=of_the_next_day),
    fault("offers_answer_the_question", "goes from Berlin to San Francisco", flights=the_other_way),
    fault("offers_answer_the_question", "for all, at", flights=for_one),
    fault("offers_answer_the_question", "has 1 rooms", hotels=of_one_room, sells="hotel"),
    fault("offers_answer_the_question", "has 3 nights", hotels=with_a_night_more, sells="hotel"),
    fault("offers_have_ids_of_their_own", "several offers", flights=answers("flights", lambda offers: offers + offers)),
    fault("prices_are_exact_amounts", "is a float", flights=answers("flights", each(price=as_float))),
    fault("prices_are_exact_amounts", "no amount of whole cents", flights=answers("flights", each(price=Decimal("9.999")))),
    fault("prices_are_exact_amounts", "no amount of whole cents", flights=answers("flights", each(price=Decimal("NaN")))),
    fault("prices_are_exact_amounts", "in EUR", flights=answers("flights", each(currency="EUR"))),
    fault(
        "times_are_aware_and_local",
        "departs at .*, without an offset",
        flights=answers("flights", each(departs=lambda offer: offer.departs.replace(tzinfo=None))),
    ),
    fault(
        "times_are_aware_and_local",
        "no local time of San Francisco",
        flights=answers("flights", each(departs=lambda offer: offer.departs.astimezone(UTC))),
    ),
    fault("times_are_aware_and_local", "as stated", flights=answers("flights", each(duration_minutes=1))),
    fault(
        "times_are_aware_and_local",
        "is free until .*, without an offset",
        hotels=answers("hotels", each(cancellation=terms_without_offset)),
        sells="hotel",
    ),
    fault("a_listed_offer_is_found_by_its_id", "and the list has", offer=answers("offer", changed(left=0))),
    fault("an_offer_that_is_gone_is_none", "not None", offer=knows_everybody),
    fault("the_clock_goes_forward", "without an offset", now=answers("now", lambda now: now.replace(tzinfo=None))),
    Fault("the_clock_goes_forward", "went back", clock_that_goes_back),
    fault("cities_are_known_by_one_name", "several cities are called", cities=answers("cities", lambda all_: all_ + all_)),
    fault("cities_are_known_by_one_name", "does not know San Francisco", cities=always(())),
    fault("rates_know_the_currency_of_prices", "has no USD", rates=answers("rates", changed(rates={}))),
    fault("rates_know_the_currency_of_prices", "no positive decimals", rates=answers("rates", changed(rates={"USD": 1.04}))),
    Fault("guarantees_do_not_change", "void=False", guarantees_that_change),
    fault("guarantees_do_not_change", "say None", guarantees=answers("guarantees", changed(dedup=timedelta(0)))),
    fault("offers_have_ids_of_their_own", "has no id", flights=answers("flights", each(offer_id=""))),
    fault(
        "times_are_aware_and_local",
        "arrives at .*, without an offset",
        flights=answers("flights", each(arrives=lambda offer: offer.arrives.replace(tzinfo=None))),
    ),
    fault("offers_answer_the_question", "nothing is on offer for", flights=always(())),
    fault("a_listed_offer_is_found_by_its_id", "has anything left", flights=answers("flights", each(left=0))),
    # bookings
    fault("a_booking_is_confirmed_as_offered", "has no id", book=answers("book", changed(id=""))),
    fault("a_booking_is_found_by_its_key", "for what was booked", find=answers("find", matches(state="cancelled"))),
    fault("a_booking_is_found_by_its_key", "a key that was never used", find=knows_one_key_for_all),
    fault("an_unknown_offer_is_refused", "and yet .* landed", book=sells_something_else),
    fault("another_price_is_refused", "the books have", book=refuses_what_it_did, find=finds_nothing),
    Fault("a_key_books_once", "the books have .*, where .* alone", lambda: calls_again("book")),
    fault("a_key_is_for_one_booking", "where .* alone was expected", find=finds_nothing),
    fault("a_booking_is_confirmed_as_offered", "not a Decimal", book=answers("book", changed(price=as_float))),
    fault("a_booking_is_confirmed_as_offered", "is due", book=answers("book", changed(fee=Decimal(5)))),
    fault(
        "a_booking_is_confirmed_as_offered",
        "without an offset",
        book=answers("book", changed(created_at=lambda made: made.created_at.replace(tzinfo=None))),
    ),
    fault("a_booking_is_found_by_its_key", "shows nothing", book=passes_on("book", key=None)),
    fault("a_booking_is_found_by_its_key", "under the key None", find=answers("find", matches(idempotency_key=None))),
    fault("a_booking_is_found_by_its_key", "before anything", find=answers("find", changed(voided=True))),
    fault("another_price_is_refused", "was not refused", book=passes_on("book", expected_price=None)),
    fault("another_price_is_refused", "and yet .* landed", book=refuses_what_it_did),
    fault("another_price_is_refused", "raised ValueError", book=instead("book", Refused, ValueError("the price has changed"))),
    fault("another_price_is_refused", "refused as 'no'", book=instead("book", Refused, Refused("no", code="no"))),
    fault("an_unknown_offer_is_refused", "raised KeyError", book=instead("book", Refused, KeyError("offer"))),
    Fault("a_key_books_once", "raised Refused: there is a booking with this reference", refuses_duplicates),
    Fault("a_key_books_once", "under the same key gave", key_of_another_attempt),
    Fault("a_key_books_once_at_the_same_time", "made 2 reservations", looks_before_it_books, withheld="dedup"),
    Fault("a_key_books_once_at_the_same_time", "one was told Refused", refuses_duplicates),
    Fault("a_key_is_for_one_booking", "was taken for another quantity", lambda: remembers_only_keys("book")),
    # cancellations
    fault("a_cancellation_costs_what_the_offer_said", "the offer said", cancel=answers("cancel", changed(fee=Decimal(999)))),
    fault("a_cancellation_costs_what_the_offer_said", "receipt is for", cancel=answers("cancel", changed(reservation_id="r"))),
    fault("a_cancelled_booking_is_found_undone", "says confirmed", find=answers("find", matches(state="confirmed"))),
    fault("a_cancelled_booking_is_found_undone", "cost 0", find=answers("find", matches(fee=Decimal(0)))),
    fault("a_key_cancels_once", "under the same key gave", cancel=passes_on("cancel", key=fresh_key)),
    fault("an_unknown_reservation_is_refused", "raised ProviderError", cancel=instead("cancel", Refused, ProviderError("404"))),
    Fault("a_key_cancels_once", "was due once", lambda: calls_again("cancel")),
    Fault(
        "a_key_cancels_once",
        "the books have 2 cancellations",
        lambda: {**calls_again("cancel"), "find": answers("find", matches(fee=lambda landed: landed.offer.cancellation.fee))},
    ),
    fault(
        "a_cancellation_costs_what_the_offer_said",
        "not a Decimal",
        cancel=answers("cancel", changed(fee=lambda it: float(it.fee))),
    ),
    # payments
    Fault("a_key_captures_once", "the books have .*, where .* alone", lambda: calls_again("capture")),
    Fault("a_key_refunds_once", "the books have 2 refunds", lambda: calls_again("refund")),
    fault("a_payment_is_found_by_its_key", "for what was paid", find=answers("find", matches(state="refunded"))),
    fault(
        "a_payment_is_found_by_its_key",
        "without an offset",
        capture=answers("capture", changed(created_at=lambda made: made.created_at.replace(tzinfo=None))),
    ),
    fault("a_payment_is_found_by_its_key", "is due", capture=answers("capture", changed(amount=Decimal(1)))),
    fault("a_payment_is_found_by_its_key", "shows nothing", find=knows_payments_by_nothing),
    fault("a_refund_pays_all_back", "is due", refund=passes_on("refund", amount=Decimal(1))),
    fault("a_refund_pays_all_back", "says captured", find=answers("find", matches(state="captured"))),
    fault("a_key_captures_once", "under the same key gave", capture=passes_on("capture", key=fresh_key)),
    fault("a_key_refunds_once", "under the same key gave", refund=passes_on("refund", key=fresh_key)),
    Fault("a_key_is_for_one_payment", "was taken for another amount", lambda: remembers_only_keys("capture")),
    fault("an_unknown_payment_is_refused", "raised KeyError", refund=instead("refund", Refused, KeyError("payment"))),
    # promises
    fault("a_void_of_nothing_leaves_a_tombstone", "never landed says", void=answers("void", changed(outcome="cancelled"))),
    fault(
        "a_void_undoes_what_landed",
        "and yet .* stands",
        void=answers("void", changed()),
        find=answers("find", matches(state="confirmed")),
    ),
    fault("a_void_undoes_what_landed", "the void cost", void=answers("void", changed(fee=Decimal(1)))),
    Fault("a_void_repeated_changes_nothing", "and repeated", forgets_what_it_voided),
    fault("a_void_holds_for_payments", "not 'tombstone'", void=answers("void", changed(outcome="cancelled"))),
    fault("a_void_holds_for_payments", "a payment under a voided key was not refused", void=refunds_without_tombstone),
    Fault("a_booking_that_comes_late_is_refused", "and yet .* landed", lambda: does_it_and_refuses("book", deadline=None)),
    Fault(
        "a_cancellation_that_comes_late_is_refused", "and yet .* cancelled", lambda: does_it_and_refuses("cancel", deadline=None)
    ),
    Fault("a_payment_that_comes_late_is_refused", "and yet .* landed", lambda: does_it_and_refuses("capture", deadline=None)),
    Fault("a_refund_that_comes_late_is_refused", "and yet .* refunded", lambda: does_it_and_refuses("refund", deadline=None)),
    fault("a_void_of_nothing_leaves_a_tombstone", "does not say that the key is voided", void=only_says_that_it_voids),
    fault(
        "a_void_of_nothing_leaves_a_tombstone",
        "was not refused",
        void=only_says_that_it_voids,
        find=answers("find", changed(voided=True)),
    ),
    fault("a_void_undoes_what_landed", "not 'cancelled'", void=only_says_that_it_voids),
    fault("a_void_undoes_what_landed", "was not refused", void=cancels_without_tombstone),
    Fault("a_void_repeated_changes_nothing", "where .* was due once", voids_again),
    fault("a_void_holds_for_payments", "was voided, and yet .* stands", void=is_free_of_payments),
    fault("a_booking_in_time_is_taken", "raised Refused", book=refuses_any_deadline),
    fault("a_booking_that_comes_late_is_refused", "was not refused", book=passes_on("book", deadline=None)),
    fault("a_cancellation_that_comes_late_is_refused", "was not refused", cancel=passes_on("cancel", deadline=None)),
    fault("a_payment_that_comes_late_is_refused", "was not refused", capture=passes_on("capture", deadline=None)),
    fault("a_refund_that_comes_late_is_refused", "was not refused", refund=passes_on("refund", deadline=None)),
    Fault("a_refusal_stays_one", "was not refused", key_of_another_attempt),
    # trouble and books
    fault("a_lost_answer_is_told_as_lost", "shows 0 under its key", book=says_lost_and_does_nothing),
    fault("who_cannot_be_reached_is_a_provider_error", "was answered with None", offer=is_silent_about_trouble),
    fault("a_lost_answer_is_told_as_lost", "raised Refused", book=lost_as(Refused("no answer"))),
    fault("a_lost_answer_is_told_as_lost", "raised TimeoutError", book=lost_as(TimeoutError("no answer"))),
    Fault("a_lost_answer_is_given_again", "raised Refused", refuses_duplicates),
    fault(
        "who_cannot_be_reached_is_a_provider_error",
        "a read .* raised OSError",
        offer=instead("offer", ProviderError, OSError("no route")),
    ),
    fault("who_cannot_be_reached_is_a_provider_error", "a booking .* raised Refused", book=lost_as(Refused("away"))),
    fault("the_books_name_saga_and_key", "'nobody'", book=passes_on("book", saga_id="nobody")),
)


# -- and how it is noticed -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def urls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """By the guarantee that the service does not give."""
    folder: Path = tmp_path_factory.mktemp("sandbox")
    with (
        EmbeddedSandbox(SandboxSettings(folder / "all.db", today=TODAY)) as all_,
        EmbeddedSandbox(SandboxSettings(folder / "forgetful.db", today=TODAY, withheld=frozenset({"dedup"}))) as forgetful,
    ):
        yield {"": all_.url, "dedup": forgetful.url}


@asynccontextmanager
async def bench_of(broken: Fault, url: str) -> AsyncIterator[Bench]:
    wire = LossyWire()
    async with (
        HttpReservationProvider(url, transport=wire) as good,
        HttpReservationProvider(NOBODY, transport=LossyWire()) as nobody,
    ):
        adapter: Any = Adapter(good, broken.methods())
        away: Any = Adapter(nobody, broken.methods())
        bench = Bench(adapter, ledger=good.ledger, lose_next_answer=wire.lose_next, unreachable=away)
        yield replace(bench, hotel=HOTEL) if broken.sells == "hotel" else replace(bench, flight=_flight_for(broken))


def _flight_for(broken: Fault) -> Journey:
    """Not all on one day: the planes would be full."""
    days = FAULTS.index(broken) % 20 if broken in FAULTS else 20
    return replace(FLIGHT, day=FLIGHT.day + days * A_DAY)


@pytest.mark.parametrize("broken", FAULTS, ids=lambda broken: f"{broken.caught_by}-{broken.says}")
async def test_a_broken_adapter_is_caught_by_name(broken: Fault, urls: dict[str, str]) -> None:
    check = next(check for check in CHECKS if check.name == broken.caught_by)
    async with bench_of(broken, urls[broken.withheld]) as bench:
        with pytest.raises(ContractBrokenError) as caught:
            await carry_out(check, bench, f"trial-{uuid.uuid4().hex}")
    assert re.search(broken.says, str(caught.value)), str(caught.value)


def test_every_check_catches_somebody() -> None:
    assert {broken.caught_by for broken in FAULTS} == {check.name for check in CHECKS}


@pytest.mark.parametrize("sells", ["flight", "hotel"])
async def test_the_adapter_under_the_broken_ones_is_good(sells: str, urls: dict[str, str]) -> None:
    async with bench_of(fault("", "", sells=sells), urls[""]) as bench:
        for check in CHECKS:
            await carry_out(check, bench, f"trial-{check.name}")
