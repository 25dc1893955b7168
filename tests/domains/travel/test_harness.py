"""Harnesses as judges of conflicts: what the engine proves about wishes for a trip, beside what the planner says."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

from flint import fmpq
from hypothesis import HealthCheck, assume, event, given, settings

from sagagraph.harness.proof.explain import Status, explain
from sagagraph.harness.registry.loading import harness_of

from .exhaustive import broken, every_trip, in_currency, keeps_all, wishes
from .test_conflict import refused, strict_problems

if TYPE_CHECKING:
    from sagagraph.domains.travel.offers import Offer
    from sagagraph.domains.travel.request import TripRequest
    from sagagraph.harness.registry.harness import Harness

MARKET = "MARKET"


def harness_for(request: TripRequest, offers: list[Offer]) -> tuple[Harness, dict[str, str]]:
    """Every wish a rule: the budget over the price, any other over whether the trip keeps it. MARKET: the trips that there are.

    Returns it with the rule of each wish. Trips that break more and cost more than another one are left out.
    """
    names = {wish: f"W{number}" for number, wish in enumerate(wishes(request))}
    budget = next((wish for wish in names if wish.startswith("budget")), None)
    trips = {(broken(request, each) - {budget}, in_currency(each, request.currency)) for each in every_trip(request, offers)}
    least = [one for one in trips if not any(other != one and other[0] <= one[0] and other[1] <= one[1] for other in trips)]
    kept = {wish: f"keeps_{name}" for wish, name in names.items() if wish != budget}
    rows = [
        " and ".join([f"price == {_exact(price)}", *(f"not {kept[wish]}" for wish in sorted(breaks))]) for breaks, price in least
    ]
    variables: dict[str, Any] = {each: {"type": "boolean"} for each in kept.values()}
    variables["price"] = {"unit": "1", "domain": [fmpq(0), fmpq(10**9)]}
    rules = [{"id": MARKET, "assertion": " or ".join(f"({each})" for each in rows), "severity": "FATAL"}]
    rules += [{"id": names[wish], "assertion": each} for wish, each in kept.items()]
    if budget is not None and request.budget is not None:
        variables["budget"] = {"unit": "1", "value": fmpq(*request.budget.as_integer_ratio()), "negotiable": True}
        rules.append({"id": names[budget], "assertion": "price <= budget"})
    return harness_of({"variables": variables, "rules": rules}), {name: wish for wish, name in names.items()}


def _exact(price: Fraction) -> str:
    return f"{price.numerator}/{price.denominator}"


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(strict_problems())
def test_the_planners_conflict_is_one_that_the_engine_proves_and_budgets_agree(problem: tuple[TripRequest, list[Offer]]) -> None:
    request, offers = problem
    trips = every_trip(request, offers)
    assume(trips and not keeps_all(request, trips))
    said = refused(request, offers)
    harness, wish_of = harness_for(request, offers)
    found = explain(harness)
    assert found.status is Status.PARADOX, found.reason
    proven = [{wish_of[rule] for rule in each.rules if rule != MARKET} for each in found.conflicts]
    event(f"{len(proven)} conflicts, the smallest of {len(said.conflict)}")
    assert set(said.conflict) in proven
    assert min(map(len, proven)) == len(said.conflict)
    needed = [each.change["budget"] for each in said.relaxations if each.change is not None and "budget" in each.change]
    for relaxation in (each for each in found.relaxations if needed and each.proven):
        assert abs(ceil(Fraction(int(relaxation.to.p), int(relaxation.to.q))) - needed[0]) <= 1
