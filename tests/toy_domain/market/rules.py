"""The validator: it judges any round by the list and by the prices that were seen, and imports no planner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from market.request import Round, ShoppingList

from sagagraph.validators.verdict import Verdict, Violation

Prices = Mapping[str, Mapping[str, float]]


def judge(wanted: ShoppingList, plan: Round, prices: Prices) -> Verdict:
    return Verdict.of(list(_violations(wanted, plan, prices)))


def _violations(wanted: ShoppingList, plan: Round, prices: Prices) -> Iterator[Violation]:
    bought: Counter[str] = Counter()
    for each in plan.purchases:
        bought[each.kind] += each.count
        price = prices.get(each.kind, {}).get(each.stall)
        if price is None or abs(each.price - each.count * price) > 0.005:
            yield Violation(
                code="PRICE", message=f"{each.stall} does not sell {each.kind} like that", scope={"stall": each.stall}
            )
    for kind, count in wanted.fruit.items():
        if bought[kind] != count:
            yield Violation(code="WRONG_COUNT", message=f"{bought[kind]} {kind}, not {count}", scope={"kind": kind})
    if wanted.budget is not None and plan.total > wanted.budget:
        yield Violation(code="BUDGET", message=f"{plan.total:,.2f} is more than {wanted.budget:,.2f}")
