"""Approval: a plan is shown to a person, who approves or rejects it."""

from __future__ import annotations

from sagagraph.cli import render
from sagagraph.cli.options import PERSON, Options
from sagagraph.cli.session import Opened
from sagagraph.cli.terminal import asked, is_terminal
from sagagraph.registry import title_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.engine.views.view import SagaView, reasons_of


async def approved_or_not(options: Options, opened: Opened, view: SagaView) -> SagaView:
    """Ask the person at a terminal, and ask again if the plan changes; tell anybody else what to do."""
    while view.status is SagaStatus.AWAITING_APPROVAL and is_terminal() and not options.as_json:
        decided = await _ask(opened, view)
        if decided is None:
            return view
        view = decided
    if view.status is SagaStatus.AWAITING_APPROVAL and not options.as_json:
        show_waiting(view.saga_id, await waiting_for_approval(opened.engine, view))
    return view


async def _ask(opened: Opened, view: SagaView) -> SagaView | None:
    """Ask a question; None if nobody answers."""
    saga = await waiting_for_approval(opened.engine, view)
    show_plan(saga)
    answer = await asked("Go ahead? [y/N] ")
    if answer is None:
        return None
    approved = answer.strip().lower() in ("y", "yes")
    return await opened.graph.decide(view.saga_id, approved=approved, by=PERSON, plan_hash=saga.plan.hash)


def show_plan(saga: Saga) -> None:
    """Show a saga's plan to whoever must approve it."""
    plan = {"plan_hash": saga.plan.hash, "cost": saga.plan.cost, "reasons": reasons_of(saga.plan), "title": title_of(saga)}
    render.print_plan(1, plan)


def show_waiting(saga_id: str, saga: Saga) -> None:
    show_plan(saga)
    render.stdout.print(f"approve it with: sagagraph approve {saga_id} --plan {saga.plan.hash}", markup=False)


async def waiting_for_approval(engine: Engine, view: SagaView) -> Saga:
    """Return the saga whose plan is shown: this one, or the one that changes it."""
    return await engine.load(view.amendment or view.saga_id)
