"""Cards: plans, states and previews as small pieces of HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from markupsafe import Markup

from sagagraph.money import cost_text
from sagagraph.planning.page import Line, Page
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.views.preview import CancelPreview
from sagagraph.saga.engine.views.view import reasons_of
from sagagraph.ui.differences import changes, in_short
from sagagraph.ui.html.templates import render, table
from sagagraph.ui.progress import Progress, progress_of, waits_for_the_world

_LOOKS: Final = {
    SagaStatus.PLANNING: "busy",
    SagaStatus.RUNNING: "busy",
    SagaStatus.COMPENSATING: "busy",
    SagaStatus.COMMITTED: "good",
    SagaStatus.AWAITING_APPROVAL: "asking",
    SagaStatus.HELD: "bad",
    SagaStatus.STUCK: "bad",
}
_WORDS: Final = {
    SagaStatus.AWAITING_APPROVAL: "waits for your approval",
    SagaStatus.RUNNING: "under way",
    SagaStatus.COMMITTED: "done",
    SagaStatus.COMPENSATING: "being undone",
    SagaStatus.COMPENSATED: "undone",
    SagaStatus.HELD: "needs a person",
    SagaStatus.STUCK: "needs a person",
    SagaStatus.INFEASIBLE: "cannot be had",
}
_JUDGED: Final = {
    "VALID": "Checked by rules of their own, which know nothing of who made it.",
    "INVALID": "The rules object to it: it cannot be carried out.",
    "UNKNOWN": "The rules cannot judge all of it.",
}


def badge(status: SagaStatus) -> Markup:
    look = _LOOKS.get(status, "over")
    return Markup('<span class="sg-badge sg-{}">{}</span>').format(look, _WORDS.get(status, status.value))


def note(text: str) -> Markup:
    return Markup('<div class="sg-muted">{}</div>').format(text)


def problem(text: str) -> Markup:
    return Markup('<div class="sg-problem" role="alert">{}</div>').format(text)


def status_card(saga: Saga | None, *, is_busy: bool, told: str) -> Markup:
    if saga is None:
        return Markup('<div class="sg-card sg-muted" data-status="none">Nothing is planned yet.</div>')
    status = status_of(saga)
    is_moving = status in (SagaStatus.PLANNING, SagaStatus.RUNNING, SagaStatus.COMPENSATING) and not waits_for_the_world(saga)
    progress: Progress | None = progress_of(saga) if is_busy or is_moving else None
    return render("status", status=status.value, badge=badge(status), saga_id=saga.id, progress=progress, told=told)


def plan_card(saga: Saga, page: Page) -> Markup:
    """The plan that is shown, or was carried out, with the hash that an approval is bound to."""
    plan = saga.plan
    judged = str((plan.verdict or {}).get("verdict", ""))
    verdict = _JUDGED.get(judged, "Not checked yet.")
    terms = [f"{each.key}: {each.terms}" for each in page.details(saga) if each.terms]
    lines = page.view(plan.content).lines
    price, name = page.price(plan.content, plan.cost), str(plan.hash)
    return render("plan", price=price, lines=lines, reasons=reasons_of(plan), terms=terms, verdict=verdict, plan_hash=name)


def alternative_card(offered: Mapping[str, Any], page: Page) -> Markup:
    """`offered`: the alternative as the journal records it."""
    price, lines = cost_text(offered["cost"]), page.view(offered["plan"]).lines
    return render(
        "plan", price=price, lines=lines, reasons=offered["reasons"], terms=(), verdict="", plan_hash=str(offered["plan_hash"])
    )


def preview_card(preview: CancelPreview) -> Markup:
    rows = [
        (each.id, each.action, _fee(each.fee, each.currency) if each.certain else "in doubt: sealed first")
        for each in preview.undo
    ]
    undo = table(("operation", "what it was", "fee"), rows) if rows else None
    fees = _fee(preview.fees, preview.currency)
    return render("preview", possible=preview.possible, undo=undo, fees=fees, residue=preview.residue)


def _fee(fee: float, currency: str | None) -> str:
    return cost_text({"total": fee, "currency": currency}) if fee and currency else "none"


def changes_card(before: Sequence[Line], after: Sequence[Line]) -> Markup:
    rows = [(key, in_short(old), in_short(new)) for key, old, new in changes(before, after)]
    return table(("what", "before", "after"), rows) if rows else note("Nothing in the plan changed.")


def moment_text(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
