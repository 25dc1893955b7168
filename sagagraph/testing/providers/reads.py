"""Reads: offers match the search, are exact, and repeat identically."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo

from sagagraph.domains.travel.cities import City
from sagagraph.domains.travel.money import PRICE_CURRENCY
from sagagraph.domains.travel.offers import FlightOffer, HotelOffer, Offer, TrainOffer
from sagagraph.testing.providers.bench import Journey, Stay
from sagagraph.testing.providers.check import Checks
from sagagraph.testing.providers.trial import Trial, expect

READS: Final = Checks()
_CENT: Final = Decimal("0.01")


@READS.add()
async def offers_answer_the_question(trial: Trial) -> None:
    for offer in await trial.offers():
        wrong = list(_differences(offer, trial))
        expect(not wrong, f"asked for {trial.question}, offer {offer.offer_id} {'; '.join(wrong)}")


@READS.add()
async def offers_have_ids_of_their_own(trial: Trial) -> None:
    ids = [offer.offer_id for offer in await trial.offers()]
    expect(all(ids), "an offer has no id")
    twice = _repeated(ids)
    expect(not twice, f"several offers are called {', '.join(twice)}")


@READS.add()
async def prices_are_exact_amounts(trial: Trial) -> None:
    for offer in await trial.offers():
        for name, amount in _amounts(offer):
            expect(isinstance(amount, Decimal), f"{name} of {offer.offer_id} is a {type(amount).__name__}, not a Decimal")
            is_money = amount.is_finite() and amount >= 0 and amount == amount.quantize(_CENT)
            expect(is_money, f"{name} of {offer.offer_id} is {amount}, no amount of whole cents")
        expect(offer.currency == PRICE_CURRENCY, f"{offer.offer_id} is priced in {offer.currency}, not in {PRICE_CURRENCY}")


@READS.add()
async def times_are_aware_and_local(trial: Trial) -> None:
    cities = {city.name: city for city in await trial.provider.cities()}
    for offer in await trial.offers():
        free_until = offer.cancellation.free_until
        expect(free_until is None or _is_aware(free_until), f"{offer.offer_id} is free until {free_until}, without an offset")
        if isinstance(offer, HotelOffer):
            continue
        _expect_local("departs", offer, offer.departs, cities.get(offer.origin_city))
        _expect_local("arrives", offer, offer.arrives, cities.get(offer.destination_city))
        stated, taken = timedelta(minutes=offer.duration_minutes), offer.arrives - offer.departs
        expect(stated == taken, f"{offer.offer_id} takes {taken} by its times, and {stated} as stated")


@READS.add()
async def a_listed_offer_is_found_by_its_id(trial: Trial) -> None:
    listed = await trial.offer()
    alone = await trial.provider.offer(listed.offer_id)
    expect(alone == listed, f"`offer({listed.offer_id!r})` gives {alone!r}, and the list has {listed!r}")


@READS.add(of_each_kind=False)
async def an_offer_that_is_gone_is_none(trial: Trial) -> None:
    nobody = f"{trial.name}-nobody-made-it"
    gone = await trial.provider.offer(nobody)
    expect(gone is None, f"`offer({nobody!r})` gives {gone!r}, not None")


@READS.add(of_each_kind=False)
async def the_clock_goes_forward(trial: Trial) -> None:
    first, second = await trial.provider.now(), await trial.provider.now()
    expect(_is_aware(first), f"`now()` is {first}, without an offset")
    expect(first.astimezone(UTC) <= second.astimezone(UTC), f"`now()` went back from {first} to {second}")


@READS.add()
async def cities_are_known_by_one_name(trial: Trial) -> None:
    names = [city.name for city in await trial.provider.cities()]
    twice = _repeated(names)
    expect(not twice, f"several cities are called {', '.join(twice[:5])}")
    missing = [each for each in trial.question.cities if each not in names]
    expect(not missing, f"`cities()` does not know {', '.join(missing)}, where something is on offer")


@READS.add(of_each_kind=False)
async def rates_know_the_currency_of_prices(trial: Trial) -> None:
    rates = await trial.provider.rates()
    known = {**rates.rates, rates.base: Decimal(1)}
    expect(PRICE_CURRENCY in known, f"`rates()` has no {PRICE_CURRENCY}, in which offers are priced")
    wrong = [code for code, rate in known.items() if not isinstance(rate, Decimal) or not rate > 0]
    expect(not wrong, f"the rates of {', '.join(wrong)} are no positive decimals")


@READS.add(of_each_kind=False)
async def guarantees_do_not_change(trial: Trial) -> None:
    """Check that guarantees do not change: SagaGraph asks for them only once, when it connects."""
    again = await trial.provider.guarantees()
    expect(again == trial.promises, f"`guarantees()` was {trial.promises!r} and is {again!r}")
    dedup = again.dedup
    expect(dedup is None or dedup > timedelta(0), f"keys are remembered for {dedup}; say None where they are not")


def _differences(offer: Offer, trial: Trial) -> Iterator[str]:
    question = trial.question
    if offer.kind != trial.kind:
        yield f"is a {offer.kind}"
    elif isinstance(offer, HotelOffer) and isinstance(question, Stay):
        yield from _of_stay(offer, question)
    elif not isinstance(offer, HotelOffer) and isinstance(question, Journey):
        yield from _of_journey(offer, question)


def _of_journey(offer: FlightOffer | TrainOffer, question: Journey) -> Iterator[str]:
    if (offer.origin_city, offer.destination_city) != question.cities:
        yield f"goes from {offer.origin_city} to {offer.destination_city}"
    if offer.departs.date() != question.day:
        yield f"leaves on {offer.departs.date()}"
    if offer.price != offer.price_per_person * question.travellers:
        yield f"costs {offer.price} for all, at {offer.price_per_person} a person"


def _of_stay(offer: HotelOffer, question: Stay) -> Iterator[str]:
    if offer.city != question.city:
        yield f"is in {offer.city}"
    if (offer.check_in, offer.check_out) != (question.check_in, question.check_out):
        yield f"is from {offer.check_in} to {offer.check_out}"
    if offer.nights != (question.check_out - question.check_in).days:
        yield f"has {offer.nights} nights"
    if offer.rooms != question.rooms:
        yield f"has {offer.rooms} rooms"


def _amounts(offer: Offer) -> Iterable[tuple[str, Decimal]]:
    each = offer.price_per_night if isinstance(offer, HotelOffer) else offer.price_per_person
    return (("the price", offer.price), ("the price of one", each), ("the cancellation fee", offer.cancellation.fee))


def _repeated(names: Iterable[str]) -> list[str]:
    return sorted(name for name, times in Counter(names).items() if times > 1)


def _expect_local(does: str, offer: Offer, moment: datetime, city: City | None) -> None:
    expect(_is_aware(moment), f"{offer.offer_id} {does} at {moment}, without an offset")
    if city is not None:
        there = moment.astimezone(ZoneInfo(city.timezone)).utcoffset()
        expect(moment.utcoffset() == there, f"{offer.offer_id} {does} at {moment}, which is no local time of {city.name}")


def _is_aware(moment: datetime) -> bool:
    return moment.utcoffset() is not None
