"""Where a saga stands, in a sentence or two, for whoever waits for it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from sagagraph.domains.travel.money import money_text
from sagagraph.planning.page import Subject
from sagagraph.saga.core.dependencies import is_done_with
from sagagraph.saga.core.next_steps import is_quiet, status_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.core.status import OperationStatus, SagaStatus
from sagagraph.saga.engine.amendment import parent_of


def narrate(saga: Saga, subject: Subject) -> str:
    match status_of(saga):
        case SagaStatus.PLANNING:
            return "I am looking for plans …" if saga.plan.hash is None else "A validator is judging the plan …"
        case SagaStatus.AWAITING_APPROVAL:
            return _asking(saga, subject)
        case SagaStatus.RUNNING if waits_for_the_world(saga):
            return f"{_in_vain(saga)}{subject.under_way}\n{_lines(saga, subject)}"
        case SagaStatus.RUNNING:
            done, of = progress(saga)
            cause = f"The plan has to be repaired: {saga.plan.disruption}. " if saga.plan.disruption else ""
            return f"{cause}Approved. {done} of {of} steps are done …"
        case SagaStatus.COMMITTED:
            return f"{_in_vain(saga)}{_done(saga, subject)}\n{_lines(saga, subject)}"
        case SagaStatus.COMPENSATING:
            return "Everything is being undone, what depends on something before that …"
        case SagaStatus.COMPENSATED:
            return " ".join(filter(None, ["Everything is undone.", _because(saga), _left_over(saga, subject)]))
        case SagaStatus.REJECTED:
            return "Rejected; nothing was done. Say what should be different, and I shall plan again."
        case SagaStatus.INFEASIBLE:
            return "\n".join(["There is no plan that keeps all wishes.", *(f"– {each}" for each in saga.plan.infeasible)])
        case SagaStatus.HELD | SagaStatus.STUCK:
            return _waiting_for_person(saga)
    raise AssertionError("there is no other status")


def in_retrospect(saga: Saga, subject: Subject) -> str:
    """The same once something else was said: a plan that was only proposed is named in a line."""
    if status_of(saga) is not SagaStatus.AWAITING_APPROVAL:
        return narrate(saga, subject)
    price = money(saga.plan.cost)
    return f"I proposed a plan{f' for {price}' if price else ''}."


def waits_for_the_world(saga: Saga) -> bool:
    """All that could be done is done, and the rest waits for something to happen."""
    return status_of(saga) is SagaStatus.RUNNING and is_quiet(saga) and saga.amending is None


def something_stands(saga: Saga) -> bool:
    """To reject its plan is to undo that; an amendment's leaves everything as it was."""
    gone, touched = undone(saga)
    return parent_of(saga.id) is None and gone < touched


def progress(saga: Saga) -> tuple[int, int]:
    """Steps that are done, going forward, and all of them."""
    live = [each for each in saga.in_order() if not each.removed]
    return sum(is_done_with(each) for each in live), len(live)


def undone(saga: Saga) -> tuple[int, int]:
    """Operations that are undone, and all that had or have an effect to undo."""
    touched = [each for each in saga.in_order() if each.has_effect and each.total_attempts]
    gone = (OperationStatus.COMPENSATED, OperationStatus.VOIDED, OperationStatus.FAILED)
    return sum(each.status in gone for each in touched), len(touched)


def money(cost: Mapping[str, Any] | None) -> str:
    """`$2,007`, with fees beside it; empty where a plan costs nothing."""
    if not cost or not cost.get("currency"):
        return ""
    currency = str(cost["currency"])
    fees = cost.get("fees")
    beside = f" + {money_text(Decimal(str(fees)), currency)} fees" if fees else ""
    return money_text(Decimal(str(cost["total"])), currency) + beside


def _asking(saga: Saga, subject: Subject) -> str:
    is_first = not saga.plan.version and parent_of(saga.id) is None
    opening = "This is the plan I would take" if is_first else "The plan had to change; this is the new one"
    price = money(saga.plan.cost)
    others = len(saga.plan.alternatives)
    more = f"\n{others} more {'are' if others > 1 else 'is'} listed beside it." if others else ""
    costs = f", for {price}" if price else ""
    return f"{opening}{costs}:\n{_lines(saga, subject)}{more}\nShall I go ahead?"


def _lines(saga: Saga, subject: Subject) -> str:
    return "\n".join(f"– {each.what}: {each.when}" for each in subject.lines(saga.plan.content))


def _in_vain(saga: Saga) -> str:
    """Why the last change came to nothing, and the plan stayed as it was."""
    if saga.amendment_note:
        return f"Nothing was changed: {saga.amendment_note}.\n"
    why = "; ".join(saga.plan.infeasible)
    return f"That can not be had: {why}. The plan stays as it was.\n" if why else ""


def _done(saga: Saga, subject: Subject) -> str:
    if saga.missing:
        names = {each.operation: each.label for each in subject.bars(saga.plan.content)}
        gone = " and ".join(names.get(each, each) for each in saga.missing)
        return f"Booked, but {gone} fell through and nothing has taken its place: say what you wish instead, or cancel."
    price = money(saga.plan.cost)
    return f"Done: {subject.outcome}{f' for {price}' if price else ''}."


def _left_over(saga: Saga, subject: Subject) -> str:
    """What undoing could not bring back."""
    residue = (*saga.residue, *subject.domain.account(saga).residue)
    return f"What remains: {'; '.join(residue)}." if residue else ""


def _because(saga: Saga) -> str:
    return f"The reason: {saga.turned_back_by}." if saga.turned_back_by else ""


def _waiting_for_person(saga: Saga) -> str:
    waiting = [f"– {each.id}: {each.hold or 'it can not be undone'}" for each in saga.in_order() if each.waits_for_person]
    return "\n".join(
        ["Something needs a person before this can go on (see History, Resolve):", *waiting, saga.reversal_hold]
    ).strip()
