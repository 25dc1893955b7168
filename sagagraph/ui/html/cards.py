"""Cards: plans, states and previews as small pieces of HTML, in the words of those whose plans they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, Final

from markupsafe import Markup

from sagagraph.planning.fields import Part
from sagagraph.planning.page import Line, Page
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.views.preview import CancelPreview
from sagagraph.saga.engine.views.view import reasons_of
from sagagraph.ui.differences import apart, assumed, changes, in_short, price_change
from sagagraph.ui.html.templates import render, table
from sagagraph.ui.progress import Progress, progress_of, waits_for_the_world
from sagagraph.ui.wording import cause_of, names_in

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
    "VALID": "Checked by independent rules, which know nothing of who made it.",
    "INVALID": "The rules object to it: it cannot be carried out.",
    "UNKNOWN": "The rules cannot judge all of it.",
}
_SKETCHED: Final = "The best plan so far, not yet checked: a better one is being sought, and would replace it here."


def badge(status: SagaStatus) -> Markup:
    look = _LOOKS.get(status, "over")
    return Markup('<span class="sg-badge sg-{}">{}</span>').format(look, _WORDS.get(status, status.value))


def note(text: str) -> Markup:
    return Markup('<div class="sg-muted">{}</div>').format(text)


def problem(text: str) -> Markup:
    return Markup('<div class="sg-problem" role="alert">{}</div>').format(text)


def status_card(
    saga: Saga | None,
    *,
    is_busy: bool = False,
    told: str = "",
    interrupted: Progress | None = None,
    foreseen: Sequence[str] = (),
    of: str = "",
    stamp: str = "",
) -> Markup:
    """Render a status card. `of`, `stamp`: for programs, the saga that it is about, and a value that differs between states of
    the page.
    """
    if saga is None:
        return Markup('<div data-status="none" data-stamp="{}" role="status"></div>').format(stamp)
    status = status_of(saga)
    is_moving = status in (SagaStatus.PLANNING, SagaStatus.RUNNING, SagaStatus.COMPENSATING) and not waits_for_the_world(saga)
    progress: Progress | None = progress_of(saga) if is_busy or is_moving else None
    return render(
        "status",
        status=status.value,
        badge=badge(status),
        saga_id=of or saga.id,
        stamp=stamp,
        progress=progress,
        told=told,
        foreseen=foreseen,
        interrupted=interrupted if status in (SagaStatus.RUNNING, SagaStatus.COMMITTED) else None,
    )


def plan_card(
    saga: Saga,
    page: Page,
    before: tuple[Any, Any] | None = None,
    today: date | None = None,
    *,
    asked: Sequence[Part] | None = None,
    changes_saga: Saga | None = None,
    is_shared: bool = False,
) -> Markup:
    """Render the plan that is shown, or was carried out, bound to its hash; `before`: plan and cost that it replaces.

    `asked`: the fields of its request, where they are known. `changes_saga`: what it would change; the bookings that it leaves as
    they are keep their confirmations. `is_shared`: for others, who learn nothing with which a booking could be changed.
    """
    plan = saga.plan
    judged = str((plan.verdict or {}).get("verdict", ""))
    details = {each.key: each for each in page.details(saga)} if not is_shared else {}
    lines = page.view(plan.content).lines
    changed = () if before is None else changed_lines(page.view(before[0]).lines, lines)
    same = {line.key for line in lines} - {key for key, *_ in changed}
    stands = () if changes_saga is None or is_shared else page.details(changes_saga)
    kept = {each.key: each.reference for each in stands if each.reference and each.key in same}
    return render(
        "plan",
        price=page.price(plan.content, plan.cost),
        days=list(_by_day(lines, today)),
        reasons=reasons_of(plan),
        terms=[(line.what, details[line.key].terms) for line in lines if line.key in details and details[line.key].terms],
        references={**kept, **{each.key: each.reference for each in details.values() if each.reference}},
        verdict=_JUDGED.get(judged, _SKETCHED if plan.hash is None else "Not checked yet."),
        plan_hash="" if is_shared else plan.hash or "",
        assumed=tuple(assumed(page.fields(page.draft_of(saga.request)) if asked is None else asked)),
        changed=changed,
        cause=cause_of(saga, page),
        is_done=status_of(saga) is SagaStatus.COMMITTED,
        over=_WORDS[SagaStatus.COMPENSATED] if status_of(saga) is SagaStatus.COMPENSATED else "",
        difference=price_change(page, before, (plan.content, plan.cost)) if before is not None else "",
    )


def _by_day(lines: Sequence[Line], today: date | None) -> Iterator[tuple[str, list[Line]]]:
    """Group the lines in order, under the day on which each begins; the year is named if it is not this one."""
    heading, group = "", list[Line]()
    for line in lines:
        day = "" if line.begins is None else f"{line.begins:%A} {line.begins.day} {line.begins:%B}"
        if line.begins is not None and (today is None or line.begins.year != today.year):
            day = f"{day} {line.begins.year}"
        if day != heading and group:
            yield heading, group
            group = []
        heading = day
        group.append(line)
    if group:
        yield heading, group


def preview_card(preview: CancelPreview, saga: Saga, page: Page) -> Markup:
    """Render what cancelling would undo, with its fee, and what else would remain."""
    names = names_in(saga, page)

    def fee(amount: float, currency: str | None) -> str:
        return page.price(saga.plan.content, {"total": amount, "currency": currency}) or "none"

    rows = [
        (names.get(each.id, each.action), fee(each.fee, each.currency) if each.certain else "in doubt: sealed first")
        for each in preview.undo
    ]
    charged = {each.id for each in preview.undo if each.fee}
    residue = [_by_name(each, names) for each in preview.residue if each.partition(": ")[0] not in charged]
    columns = 2 if preview.currency else 1
    undo = table(("what", "fee")[:columns], [each[:columns] for each in rows]) if rows else None
    fees = fee(preview.fees, preview.currency)
    return render("preview", possible=preview.possible, undo=undo, fees=fees, residue=residue)


def _by_name(told: str, names: Mapping[str, str]) -> str:
    """Return a sentence about an operation, using the name that people call it."""
    operation, colon, rest = told.partition(": ")
    return f"{names.get(operation, operation)}{colon}{rest}"


def changed_lines(before: Sequence[Line], after: Sequence[Line]) -> list[tuple[str, str, str]]:
    """Return each difference: what it is about, how it was, how it is."""
    return [(key, *apart(in_short(old), in_short(new))) for key, old, new in changes(before, after)]


def moment_text(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
