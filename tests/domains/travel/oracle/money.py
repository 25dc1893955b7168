"""Money: prices, budget, and whether what was quoted is still available. Exact: decimals throughout."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from sagagraph.domains.travel.money import PRICE_CURRENCY
from sagagraph.domains.travel.offers import HotelOffer
from tests.domains.travel.oracle.case import at, is_amount, of_trip

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sagagraph.domains.travel.offers import Offer
    from sagagraph.validators.verdict import Violation
    from tests.domains.travel.oracle.case import Case

MAY_CHANGE: Final = frozenset({"price", "price_per_person", "price_per_night", "left", "cancellation"})
"""What an offer may say differently later and still be the same offer."""


def check_amounts(case: Case) -> Iterator[Violation]:
    """Check that every price is an amount in the one currency of all prices."""
    for leg in case.itinerary.legs:
        if not is_amount(leg.offer.price):
            yield at(leg, "PRICE", f"{leg.offer.price} is no price", price=leg.offer.price)
        if leg.offer.currency != PRICE_CURRENCY:
            message = f"priced in {leg.offer.currency}, not in {PRICE_CURRENCY}"
            yield at(leg, "PRICE", message, currency=leg.offer.currency)


def check_total(case: Case) -> Iterator[Violation]:
    prices = _prices(case)
    if prices is not None and case.itinerary.total != sum(prices):
        message = f"the total is {case.itinerary.total}, and the prices add up to {sum(prices)}"
        yield of_trip("PRICE", message, total=case.itinerary.total, sum=sum(prices))
    if case.itinerary.currency != PRICE_CURRENCY:
        message = f"the total is in {case.itinerary.currency}, not in {PRICE_CURRENCY}"
        yield of_trip("PRICE", message, currency=case.itinerary.currency)


def check_budget(case: Case) -> Iterator[Violation]:
    """Check the budget by the prices of the legs, whatever the total says, and with all cancellation fees."""
    prices, budget = _prices(case), case.request.budget
    if prices is None or budget is None:
        return
    with_fees = sum(prices, case.fees)
    cost = _in_currency(with_fees, case)
    if cost is None:
        currency = case.request.currency
        yield of_trip("BUDGET", f"no rate from {PRICE_CURRENCY} to {currency} is known", currency=currency, budget=budget)
    elif not is_amount(budget) or cost > Fraction(budget):
        shown = with_fees if case.request.currency == PRICE_CURRENCY else f"{_rounded_up(cost)} {case.request.currency}"
        yield of_trip("BUDGET", f"costs {shown}, and the budget is {budget}", cost=shown, budget=budget)


def check_fees(case: Case) -> Iterator[Violation]:
    if case.itinerary.fees != case.fees:
        message = f"counts {case.itinerary.fees} for cancellations, and they cost {case.fees}"
        yield of_trip("FEES", message, stated=case.itinerary.fees, fees=case.fees)


def check_converted(case: Case) -> Iterator[Violation]:
    """Check that the total shown in the budget's currency is the total, by today's rate."""
    stated, prices = case.itinerary.converted, _prices(case)
    if prices is None or case.request.budget is None:
        return
    cost = _in_currency(sum(prices, case.fees), case)
    if case.request.currency == PRICE_CURRENCY or cost is None:
        if stated is not None:
            yield of_trip("PRICE", f"shows a total in {stated.currency} that nothing is known of", currency=stated.currency)
    elif stated is None or (stated.currency, stated.total) != (case.request.currency, _rounded_up(cost)):
        shown = "none" if stated is None else f"{stated.total} {stated.currency}"
        message = f"costs {_rounded_up(cost)} {case.request.currency}, and the total that is shown is {shown}"
        yield of_trip("PRICE", message, cost=_rounded_up(cost), shown=shown)


def _in_currency(amount: Decimal, case: Case) -> Fraction | None:
    """Convert to the budget's currency, exactly; None if the rates do not say."""
    wanted, rates = case.request.currency, case.rates
    if wanted == PRICE_CURRENCY:
        return Fraction(amount)
    if rates is None:
        return None
    per_base = {**rates.rates, rates.base: Decimal(1)}
    if wanted not in per_base or PRICE_CURRENCY not in per_base:
        return None
    return Fraction(amount) * Fraction(per_base[wanted]) / Fraction(per_base[PRICE_CURRENCY])


def _rounded_up(amount: Fraction) -> Decimal:
    return Decimal(-(-amount * 100 // 1)) / 100


def check_quotes(case: Case) -> Iterator[Violation]:
    """Check that what is planned is still available, as it was planned and for that price."""
    if case.quotes is None:
        return
    for leg in case.itinerary.legs:
        quote = case.quotes.get(leg.offer.offer_id)
        needed = case.request.rooms if isinstance(leg.offer, HotelOffer) else case.request.travellers
        if quote is None:
            yield at(leg, "UNAVAILABLE", "is not on offer any more", offer_id=leg.offer.offer_id)
        elif quote.left < needed:
            yield at(leg, "UNAVAILABLE", f"{quote.left} left, and {needed} needed", left=quote.left, needed=needed)
        elif changed := _changed(leg.offer, quote):
            yield at(leg, "UNAVAILABLE", f"is on offer with another {', '.join(changed)}", changed=changed)
        elif quote.price != leg.offer.price:
            message = f"costs {quote.price} now, not {leg.offer.price}"
            yield at(leg, "PRICE", message, planned=leg.offer.price, quoted=quote.price)


def check_party(case: Case) -> Iterator[Violation]:
    """Check that everybody has a seat and a room."""
    for leg, transport in case.transports:
        adults = _seats(transport.price - transport.children * transport.price_per_child, transport.price_per_person)
        seats = None if adults is None else adults + transport.children
        if transport.children and transport.children != case.request.children:
            yield at(leg, "PARTY", "priced for other children", seats=transport.children, travellers=case.request.children)
        if seats is not None and seats != case.request.travellers:
            message = f"priced for {seats}, and {case.request.travellers} travel"
            yield at(leg, "PARTY", message, seats=seats, travellers=case.request.travellers)
    for leg, hotel in case.stays:
        if hotel.rooms != case.request.rooms:
            message = f"has {hotel.rooms} rooms, and {case.request.rooms} are needed"
            yield at(leg, "PARTY", message, rooms=hotel.rooms, needed=case.request.rooms)


def _prices(case: Case) -> list[Decimal] | None:
    """Return the prices; None if one of them is no amount: that is reported there, and a sum would mean nothing."""
    prices = [leg.offer.price for leg in case.itinerary.legs]
    return prices if all(map(is_amount, prices)) else None


def _changed(planned: Offer, quoted: Offer) -> list[str]:
    before, after = _lasting_facts(planned), _lasting_facts(quoted)
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def _lasting_facts(offer: Offer) -> dict[str, Any]:
    return offer.model_dump(exclude=set(MAY_CHANGE))


def _seats(price: Decimal, price_per_person: Decimal) -> int | None:
    """Return how many the price is for; None if it is not a multiple (a wrong price, which is judged by its quote)."""
    if not is_amount(price) or not is_amount(price_per_person) or price_per_person == 0:
        return None
    seats, rest = divmod(price, price_per_person)
    return int(seats) if rest == 0 else None
