"""Narration: a saga's state in a sentence or two, for whoever waits for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from sagagraph.planning.page import Page
from sagagraph.saga.core.amendments import parent_of
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.views.waits import waits_of
from sagagraph.ui.differences import price_change, told
from sagagraph.ui.progress import progress_of, waits_for_the_world
from sagagraph.ui.wording import names_in


def narrate(saga: Saga, page: Page) -> str:
    match status_of(saga):
        case SagaStatus.PLANNING:
            return _looking(saga)
        case SagaStatus.AWAITING_APPROVAL:
            return _asking(saga, page)
        case SagaStatus.RUNNING if waits_for_the_world(saga):
            return f"{_in_vain(saga)}{page.under_way}"
        case SagaStatus.RUNNING:
            progress = progress_of(saga)
            cause = f"The plan has to be repaired: {saga.plan.disruption}. " if saga.plan.disruption else ""
            return f"{cause}Approved. {progress.done} of {progress.of} steps are done …{_waiting(saga, page)}"
        case SagaStatus.COMMITTED:
            return f"{_in_vain(saga)}{_done(saga, page)}"
        case SagaStatus.COMPENSATING:
            return f"Everything is being undone, dependents first …{_waiting(saga, page)}"
        case SagaStatus.COMPENSATED:
            return " ".join(filter(None, ["Everything is undone.", _because(saga), left_over(saga, page)]))
        case SagaStatus.REJECTED:
            return "Rejected; nothing was done. Say what should be different, and I will plan again."
        case SagaStatus.INFEASIBLE:
            return "\n".join(["There is no plan that keeps all wishes.", *(f"– {each}" for each in saga.plan.infeasible)])
        case SagaStatus.HELD | SagaStatus.STUCK:
            return _waiting_for_person(saga, page)
    raise AssertionError("there is no other status")


def _looking(saga: Saga) -> str:
    if saga.plan.hash is not None:
        return "A validator is judging the plan …"
    return "I am looking for plans …" if saga.plan.content is None else "There is a plan; I am looking for a better one …"


def _waiting(saga: Saga, page: Page) -> str:
    """Say why nothing moves just now, and when it is tried again."""
    if not (waits := waits_of(saga)):
        return ""
    names = names_in(saga, page)
    return "".join(
        f"\n– {names[each.operation]} waits: {each.reason}; it is tried again at "
        f"{datetime.fromtimestamp(each.until, UTC):%H:%M:%S} UTC"
        for each in waits
    )


def in_retrospect(saga: Saga, page: Page) -> str:
    """Narrate the same after something else was said: a plan that was only proposed is summarised in one line."""
    if status_of(saga) is not SagaStatus.AWAITING_APPROVAL:
        return narrate(saga, page)
    price = page.price(saga.plan.content, saga.plan.cost)
    return f"I proposed a plan{f' for {price}' if price else ''}."


def _asking(saga: Saga, page: Page) -> str:
    is_first = not saga.plan.version and parent_of(saga.id) is None
    opening = "This is the plan I would take" if is_first else "The plan had to change; this is the new one"
    price = page.price(saga.plan.content, saga.plan.cost)
    others = len(saga.plan.alternatives)
    more = f"\n{others} more {'are' if others > 1 else 'is'} listed alongside it." if others else ""
    costs = f", for {price}" if price else ""
    return f"{_in_vain(saga)}{opening}{costs}.{more}\nShall I go ahead?"


def compared(page: Page, plan: Any, cost: Any, saga: Saga) -> Iterator[str]:
    """Return what the saga's plan changes compared with another one, in lines; none if it is the same."""
    if changed := told(page.view(plan).lines, page.view(saga.plan.content).lines):
        yield "What that changes:"
        yield from (f"– {each}" for each in changed)
        price = price_change(page, (plan, cost), (saga.plan.content, saga.plan.cost))
        yield from [f"– in all: {price}"] if price else []


def _in_vain(saga: Saga) -> str:
    """Say why the last change failed and the plan stayed as it was."""
    if "rejected by" in saga.amendment_note:
        return "The change is taken back; what was booked stands.\n"
    if saga.amendment_note:
        return f"Nothing was changed: {saga.amendment_note}.\n"
    why = "; ".join(saga.plan.infeasible)
    return f"That cannot be had: {why}. The plan stays as it was.\n" if why else ""


def _done(saga: Saga, page: Page) -> str:
    if saga.missing:
        names = names_in(saga, page)
        gone = " and ".join(names[each] for each in saga.missing)
        return f"Booked, but {gone} fell through and nothing has taken its place: say what you wish instead, or cancel."
    price = page.price(saga.plan.content, saga.plan.cost)
    return f"Done: {page.outcome}{f' for {price}' if price else ''}."


def left_over(saga: Saga, page: Page) -> str:
    """Return what undoing could not reverse, and what it has cost."""
    account = page.domain.account(saga)
    fees = page.price(saga.plan.content, {"total": account.cost.fees, "currency": account.cost.currency})
    residue = in_names(saga.residue if fees else (*saga.residue, *account.residue), saga, page)
    residue += [f"fees of {fees}"] if fees else []
    return f"What remains: {'; '.join(residue)}." if residue else ""


def in_names(residue: Sequence[str], saga: Saga, page: Page) -> list[str]:
    """Return what remains, each under the name that people use instead of its operation."""
    names = names_in(saga, page)
    parts = (each.partition(": ") for each in residue)
    return [f"{names.get(part, part)}{joint}{why}" for part, joint, why in parts]


def _because(saga: Saga) -> str:
    return f"The reason: {saga.turned_back_by}." if saga.turned_back_by else ""


def _waiting_for_person(saga: Saga, page: Page) -> str:
    names = names_in(saga, page)
    waiting = [f"– {names[each.id]}: {each.hold or 'it cannot be undone'}" for each in saga.in_order() if each.waits_for_person]
    opening = "Something needs a person before this can continue (“Resolve what is held”, under the hood):"
    return "\n".join([opening, *waiting, saga.reversal_hold]).strip()
