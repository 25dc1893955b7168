"""Money: prices add up, and the trip is within its budget. Exact: decimals throughout.

Prices are added in windows, and the subtotals, which each window verifies, in one more slice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction

from msgspec import Struct

from sagagraph.domains.travel.money import PRICE_CURRENCY
from sagagraph.domains.travel.rules.case import TRIP, Case, is_amount, of_trip, span
from sagagraph.validators.concern import Concern, windows
from sagagraph.validators.kinds import Kind
from sagagraph.validators.verdict import Violation


class Price(Struct, frozen=True, array_like=True):
    label: str
    amount: Decimal


class PricesView(Struct, frozen=True):
    prices: tuple[Price, ...]
    subtotal: Decimal | None
    """None: one of them is not an amount, so a sum would mean nothing."""


class Shown(Struct, frozen=True):
    """Total in the budget's currency, as the plan shows it."""

    total: Decimal
    currency: str


class MoneyView(Struct, frozen=True):
    subtotals: tuple[Decimal | None, ...]
    total: Decimal
    currency: str
    stated_fees: Decimal
    fees: Decimal
    converted: Shown | None
    budget: Decimal | None
    budget_currency: str
    rates: dict[str, Decimal] | None
    """What one unit of their base is worth, for the two currencies; None: nobody asked."""


def _sum(prices: Sequence[Price]) -> Decimal | None:
    amounts = [each.amount for each in prices]
    return sum(amounts, Decimal(0)) if all(map(is_amount, amounts)) else None


def _prices_scopes(case: Case) -> Iterator[tuple[str, PricesView]]:
    for prices in windows(Price(leg.label, leg.price) for leg in case.itinerary.legs):
        yield span([each.label for each in prices]), PricesView(tuple(prices), _sum(prices))


def _money_scopes(case: Case) -> Iterator[tuple[str, MoneyView]]:
    plan, request = case.itinerary, case.request
    rates = None
    if case.rates is not None:
        per_base = {**case.rates.rates, case.rates.base: Decimal(1)}
        rates = {name: per_base[name] for name in (PRICE_CURRENCY, request.currency) if name in per_base}
    view = MoneyView(
        subtotals=tuple(each.subtotal for _, each in _prices_scopes(case)),
        total=plan.total,
        currency=plan.currency,
        stated_fees=plan.fees,
        fees=case.fees,
        converted=None if plan.converted is None else Shown(plan.converted.total, plan.converted.currency),
        budget=request.budget,
        budget_currency=request.currency,
        rates=rates,
    )
    yield TRIP, view


def _check_prices(view: PricesView) -> Iterator[Violation]:
    found = _sum(view.prices)
    if found != view.subtotal:
        message = f"{span([each.label for each in view.prices])}: the prices add up to {found}, not {view.subtotal}"
        yield of_trip("PRICE", message, sum=found, subtotal=view.subtotal)


def _check_money(view: MoneyView) -> Iterator[Violation]:
    known = [each for each in view.subtotals if each is not None]
    prices = sum(known, Decimal(0)) if len(known) == len(view.subtotals) else None
    if prices is not None and view.total != prices:
        message = f"the total is {view.total}, and the prices add up to {prices}"
        yield of_trip("PRICE", message, total=view.total, sum=prices)
    if view.currency != PRICE_CURRENCY:
        yield of_trip("PRICE", f"the total is in {view.currency}, not in {PRICE_CURRENCY}", currency=view.currency)
    if prices is not None and view.budget is not None:
        yield from _budget(view, prices + view.fees, view.budget)
        yield from _converted(view, prices + view.fees)
    if view.stated_fees != view.fees:
        message = f"counts {view.stated_fees} for cancellations, and they cost {view.fees}"
        yield of_trip("FEES", message, stated=view.stated_fees, fees=view.fees)


def _budget(view: MoneyView, with_fees: Decimal, budget: Decimal) -> Iterator[Violation]:
    """Check the budget by the prices of the legs, whatever the total says, and with all cancellation fees."""
    currency = view.budget_currency
    cost = _in_currency(with_fees, view)
    if cost is None:
        yield of_trip("BUDGET", f"no rate from {PRICE_CURRENCY} to {currency} is known", currency=currency, budget=budget)
    elif not is_amount(budget) or cost > Fraction(budget):
        shown = with_fees if currency == PRICE_CURRENCY else f"{_rounded_up(cost)} {currency}"
        yield of_trip("BUDGET", f"costs {shown}, and the budget is {budget}", cost=shown, budget=budget)


def _converted(view: MoneyView, with_fees: Decimal) -> Iterator[Violation]:
    """Check that the total shown in the budget's currency is the total, by today's rate."""
    stated, cost = view.converted, _in_currency(with_fees, view)
    if view.budget_currency == PRICE_CURRENCY or cost is None:
        if stated is not None:
            yield of_trip("PRICE", f"shows a total in {stated.currency} that nothing is known of", currency=stated.currency)
    elif stated is None or (stated.currency, stated.total) != (view.budget_currency, _rounded_up(cost)):
        shown = "none" if stated is None else f"{stated.total} {stated.currency}"
        message = f"costs {_rounded_up(cost)} {view.budget_currency}, and the total that is shown is {shown}"
        yield of_trip("PRICE", message, cost=_rounded_up(cost), shown=shown)


def _in_currency(amount: Decimal, view: MoneyView) -> Fraction | None:
    """Convert to the budget's currency, exactly; None if the rates do not say."""
    wanted, rates = view.budget_currency, view.rates
    if wanted == PRICE_CURRENCY:
        return Fraction(amount)
    if rates is None or wanted not in rates or PRICE_CURRENCY not in rates:
        return None
    return Fraction(amount) * Fraction(rates[wanted]) / Fraction(rates[PRICE_CURRENCY])


def _rounded_up(amount: Fraction) -> Decimal:
    return Decimal(-(-amount * 100 // 1)) / 100


PRICES = Concern("prices", Kind.SEMANTIC, PricesView, _prices_scopes, _check_prices)
MONEY = Concern("money", Kind.CONSTRAINT, MoneyView, _money_scopes, _check_money)
