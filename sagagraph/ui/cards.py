"""Plans, states and previews as small pieces of HTML, made of escaped text only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from sagagraph.planning.page import Line, Subject
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.views.preview import CancelPreview
from sagagraph.ui.markup import Html, element, joined, table
from sagagraph.ui.narration import money, progress, undone, waits_for_the_world
from sagagraph.ui.pictures.comparison import Change

_LOOKS: Final = {
    SagaStatus.PLANNING: "busy",
    SagaStatus.RUNNING: "busy",
    SagaStatus.COMPENSATING: "busy",
    SagaStatus.COMMITTED: "good",
    SagaStatus.AWAITING_APPROVAL: "asking",
    SagaStatus.HELD: "bad",
    SagaStatus.STUCK: "bad",
}
_WORDS: Final = {SagaStatus.AWAITING_APPROVAL: "waits for your approval"}


def badge(status: SagaStatus) -> Html:
    return element("span", _WORDS.get(status, status.value), class_=f"sg-badge sg-{_LOOKS.get(status, 'over')}")


def note(text: str) -> Html:
    return element("div", text, class_="sg-muted")


def problem(text: str) -> Html:
    return element("div", text, class_="sg-problem", role="alert")


def status_card(saga: Saga | None, *, is_busy: bool, told: str) -> Html:
    if saga is None:
        return element("div", "Nothing is planned yet.", class_="sg-card sg-muted", data_status="none")
    status = status_of(saga)
    parts = [element("div", badge(status), element("code", saga.id), class_="sg-row")]
    is_moving = status in (SagaStatus.PLANNING, SagaStatus.RUNNING, SagaStatus.COMPENSATING)
    if is_busy or (is_moving and not waits_for_the_world(saga)):
        parts.append(_bar(saga, status))
    if told:
        parts.append(problem(told))
    return element("div", *parts, class_="sg-card", data_status=status.value)


def _bar(saga: Saga, status: SagaStatus) -> Html:
    done, of = {SagaStatus.PLANNING: (0, 0), SagaStatus.COMPENSATING: undone(saga)}.get(status, progress(saga))
    if not of:
        return element("progress", "working", aria_label="working")
    what = "undone" if status is SagaStatus.COMPENSATING else "done"
    return joined(element("progress", value=str(done), max=str(of)), element("small", f"{done} of {of} steps {what}"))


def plan_card(saga: Saga, subject: Subject) -> Html:
    """The plan that is shown, or was carried out, with its hash: approval is bound to that."""
    plan = saga.plan
    verdict = str((plan.verdict or {}).get("verdict", "not judged yet"))
    name = element("small", f"plan {plan.hash} · validators: {verdict}", class_="sg-muted")
    return _card(money(plan.cost), subject.lines(plan.content), plan.reasons, name, plan_hash=str(plan.hash))


def alternative_card(offered: Mapping[str, Any], subject: Subject) -> Html:
    price = money(offered["cost"])
    return _card(price, subject.lines(offered["plan"]), offered["reasons"], Html(), plan_hash=str(offered["plan_hash"]))


def _card(price: str, lines: Sequence[Line], reasons: Sequence[str], more: Html, *, plan_hash: str) -> Html:
    parts = [element("div", element("b", price), element("span", reasons[0] if reasons else ""), class_="sg-price")]
    parts.append(element("ul", *(_line(each) for each in lines), class_="sg-lines"))
    if reasons[1:]:
        inside = element("ul", *(element("li", each) for each in reasons[1:]))
        parts.append(element("details", element("summary", "Trade-offs"), inside))
    return element("div", *parts, more, class_="sg-card", data_plan=plan_hash)


def _line(line: Line) -> Html:
    price = element("span", line.price, class_="sg-right") if line.price else Html()
    return element("li", price, element("b", line.what), element("small", line.when))


def preview_card(preview: CancelPreview) -> Html:
    currency = preview.currency
    if not preview.possible:
        return element(
            "div", "This can not be cancelled any more.", _listed("What would remain:", preview.residue), class_="sg-card"
        )
    rows = [
        (each.id, each.action, _fee(each.fee, each.currency) if each.certain else "in doubt: sealed first")
        for each in preview.undo
    ]
    undo = table(("operation", "what it was", "fee"), rows) if rows else joined("Nothing is booked: there is nothing to undo.")
    fees = element("p", element("b", f"Fees: {_fee(preview.fees, currency)}"))
    return element(
        "div",
        element("b", "Cancelling now would undo"),
        undo,
        fees,
        _listed("What would remain:", preview.residue),
        class_="sg-card",
    )


def _listed(title: str, parts: Sequence[str]) -> Html:
    return joined(element("p", title), element("ul", *(element("li", each) for each in parts))) if parts else Html()


def _fee(fee: float, currency: str | None) -> str:
    return money({"total": fee, "currency": currency}) if fee and currency else "none"


def changes_card(changes: Sequence[Change]) -> Html:
    if not changes:
        return element("div", "Nothing in the plan changed.", class_="sg-muted")
    rows = [(each.key, _told(each.before, each.key), _told(each.after, each.key)) for each in changes]
    return table(("what", "before", "after"), rows)


def _told(line: Line | None, key: str) -> str:
    if line is None:
        return "—"
    return " · ".join(each for each in (line.what, line.when, line.price) if each and each != key)


def moment_text(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
