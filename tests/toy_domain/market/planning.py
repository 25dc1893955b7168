"""The planner: each kind where it is cheapest, but not at stalls that are out of the question."""

from __future__ import annotations

from collections.abc import Set

from market.request import Purchase, Round, ShoppingList
from market.stalls import PRICES

from sagagraph.planning.domain import Infeasible


def cheapest(
    wanted: ShoppingList, without: Set[tuple[str, str]] = frozenset(), kept: tuple[Purchase, ...] = ()
) -> Round | Infeasible:
    """`without`: kinds at stalls that have refused. `kept`: what has been bought already."""
    purchases = list(kept)
    for kind, count in wanted.fruit.items():
        if any(each.kind == kind for each in kept):
            continue
        offers = [(price, stall) for stall, price in PRICES.get(kind, {}).items() if (kind, stall) not in without]
        if not offers:
            return Infeasible((f"nobody sells {kind}",), conflict=(kind,))
        price, stall = min(offers)
        purchases.append(Purchase(kind=kind, count=count, stall=stall, price=price * count))
    plan = Round(purchases=tuple(purchases))
    if wanted.budget is not None and plan.total > wanted.budget:
        return Infeasible((f"it costs {plan.total:,.2f}, and the budget is {wanted.budget:,.2f}",), conflict=("budget",))
    return plan
