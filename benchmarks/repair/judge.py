"""Whether a trip that was struck ended as it must: by the ledger, by the validators, and by the oracle."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING

from benchmarks.repair.oracle import limit_of
from sagagraph.domains.travel.request import TripRequest
from sagagraph.saga.core.events import PlanJudged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.repair.trips import Outcome
    from sagagraph.domains.travel.provider.receipts import PaymentRow, ReservationRow


async def faults_of(outcome: Outcome) -> list[str]:
    """What is wrong with it, in words; empty is good."""
    found = [*_repairs_that_keep_less(outcome), *_landed_twice(outcome)]
    if outcome.status == "committed":
        found += [*_not_as_planned(outcome), *await _against_the_rules(outcome)]
    elif outcome.status in ("compensated", "infeasible"):
        found += _left_over(outcome)
    else:
        found.append(f"it ended {outcome.status}")
    return found


def _repairs_that_keep_less(outcome: Outcome) -> Iterator[str]:
    for number, each in enumerate(outcome.repairs, start=1):
        if each.proposed != each.best:
            yield f"repair {number}: {each.proposed}, and {each.best} was possible"


def _landed_twice(outcome: Outcome) -> Iterator[str]:
    ledger = outcome.ledger
    made: list[ReservationRow | PaymentRow] = [*ledger.reservations, *ledger.payments]
    landed = Counter((row.saga_id, row.operation_id) for row in made)
    undone = Counter(row.reservation_id for row in ledger.cancellations) + Counter(row.payment_id for row in ledger.refunds)
    for name, times in (*landed.items(), *undone.items()):
        if times > 1:
            yield f"{name}: {times} times"


def _not_as_planned(outcome: Outcome) -> Iterator[str]:
    """The ledger shows the legs of the last plan, each at its price, one payment of their sum, and its fees; nothing else."""
    ledger, plan = outcome.ledger, outcome.last_plan
    planned = {leg["label"]: Decimal(str(leg["offer"]["price"])) for leg in plan["legs"]}
    saga = outcome.sagas[-1]
    ours = [row for row in ledger.reservations if row.saga_id == saga]
    confirmed = {str(row.operation_id): row.price for row in ours if row.state == "confirmed"}
    if confirmed != planned:
        yield f"confirmed are {confirmed}, planned were {planned}"
    captured = [(row.state, row.amount) for row in ledger.payments]
    if captured != [("captured", sum(planned.values()))]:
        yield f"the payments are {captured}, the legs cost {sum(planned.values())}"
    ids = {row.id for row in ours}
    fees = sum((row.fee for row in ledger.cancellations if row.reservation_id in ids), Decimal(0))
    if fees != Decimal(str(plan.get("fees", 0))):
        yield f"cancelling cost {fees}, and the plan says {plan.get('fees', 0)}"


async def _against_the_rules(outcome: Outcome) -> list[str]:
    """The validators, on what they were shown; and the budget, by the ledger."""
    saga, ledger = outcome.saga, outcome.ledger
    shown = [entry.event.shown for entry in outcome.journal if isinstance(entry.event, PlanJudged)][-1]
    verdict = await outcome.travel.validate(saga.request, outcome.last_plan, shown)
    found = [f"not valid: {each.message}" for each in verdict.violations]
    request = TripRequest.model_validate(saga.request)
    limit = limit_of(request, outcome.rates)
    fees = sum((row.fee for row in ledger.cancellations), Decimal(0)) if len(outcome.sagas) == 1 else Decimal(0)
    spent = sum((row.amount for row in ledger.payments if row.state == "captured"), Decimal(0)) + fees
    if limit is not None and spent > limit:
        found.append(f"{spent} spent, {float(limit):.2f} allowed")
    return found


def _left_over(outcome: Outcome) -> list[str]:
    ledger = outcome.ledger
    live = [row.id for row in ledger.reservations if row.state == "confirmed"]
    live += [row.id for row in ledger.payments if row.state == "captured"]
    found = [f"left over: {', '.join(live)}"] if live else []
    if outcome.repairs and outcome.repairs[-1].best is not None:
        found.append(f"given up, and {outcome.repairs[-1].best} was possible")
    return found
