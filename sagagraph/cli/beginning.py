"""Beginning and changing: from a sentence or a file to a plan, its approval and its execution, in any domain."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sagagraph.cli import render
from sagagraph.cli.approval import approved_or_not, show_plan
from sagagraph.cli.operating.fleet import told_to_worker
from sagagraph.cli.options import PERSON, Options
from sagagraph.cli.session import VERDICT_AGAINST, Opened, acting, checked_id, domain_of, exit_code, show
from sagagraph.cli.telling import tell
from sagagraph.cli.terminal import interruptible, is_terminal
from sagagraph.cli.wishes import tell_understood, wanted
from sagagraph.errors import InvalidInputError
from sagagraph.files import json_file
from sagagraph.planning.domain import Infeasible, Json
from sagagraph.planning.monitor import MONITOR, watched
from sagagraph.registry import model_of, open_domain, require_entry
from sagagraph.saga.core.events import SagaBegun
from sagagraph.saga.core.state import Saga
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.actions import to_json
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.engine.views.view import SagaView


async def begin(
    options: Options,
    domain: str,
    text: str | None = None,
    request: Path | None = None,
    saga_id: str | None = None,
    *,
    approved: bool = False,
    prefix: str = "",
) -> int:
    """Begin a new saga, or resume the one with that id."""
    name = new_id(prefix or domain) if saga_id is None else checked_id(saga_id)
    async with acting(options, domain, saga_id, create=True) as opened:
        if text is None and request is None and saga_id is not None:
            wish = await _first_request(opened.engine, saga_id)
        else:
            page = opened.page()
            wish = await wanted(page, text, request)
            if not options.as_json:
                tell_understood(page, wish)
        view = await started(options, opened, name, wish, approved=approved)
        if not options.as_json and (approved or not is_terminal()):
            await _tell_what_was_planned(opened, view)
    return _show_outcome(options, view)


def new_id(prefix: str) -> str:
    return f"{prefix}-{uuid.uuid4().hex[:8]}"


async def started(options: Options, opened: Opened, saga_id: str, wish: Json, *, approved: bool) -> SagaView:
    """Run as far as possible without a person, or with the person at the terminal."""
    with interruptible(saga_id):  # before this there is no saga to resume
        view = await opened.graph.start(saga_id, wish, approved_by=_approver(approved=approved))
        return await approved_or_not(options, opened, view)


def _approver(*, approved: bool) -> str | None:
    return f"{PERSON}, --yes" if approved else None


async def _first_request(engine: Engine, saga_id: str) -> Any:
    """Return what the saga was begun with, however it has been changed since."""
    begun = (await engine.journal(saga_id))[0].event
    return begun.request if isinstance(begun, SagaBegun) else None


async def _tell_what_was_planned(opened: Opened, view: SagaView) -> None:
    """Show a plan that nobody was asked to approve, and that has not been shown yet."""
    saga = await opened.engine.load(view.saga_id)
    if saga.plan.content and view.status is not SagaStatus.AWAITING_APPROVAL:
        show_plan(saga)


def _show_outcome(options: Options, view: SagaView) -> int:
    """Show the outcome; each operation only if something went wrong, or on request."""
    if options.as_json or options.verbose or view.status not in (SagaStatus.COMMITTED, SagaStatus.RUNNING):
        return show(options, view)
    render.print_outcome(view)
    return exit_code(view)


async def change(
    options: Options,
    saga_id: str,
    text: str | None,
    request: Path | None,
    lost: Sequence[str],
    *,
    approved: bool,
    detach: bool = False,
) -> int:
    """Change a saga's request, or report lost operations; whatever is booked and still fits is kept. With `detach`, only write
    that down.
    """
    if (text is not None and request is not None) or (text is None and request is None and not lost):
        raise InvalidInputError(
            "say what should change, or give --request FILE.json, but not both; or name what is --lost", field="TEXT"
        )
    with interruptible(saga_id):
        async with acting(options, await domain_of(options, saga_id), saga_id) as opened:
            before = await opened.engine.load(saga_id)
            wish = before.request
            if text is not None or request is not None:
                wish = await wanted(opened.page(), text, request, before)
            if detach:
                approver = _approver(approved=approved) or ""
                await opened.engine.ask_change(saga_id, to_json(wish), lost=lost, by=PERSON, approved_by=approver)
                return await told_to_worker(options, opened.engine, saga_id)
            view = await opened.graph.change(saga_id, wish, by=PERSON, approved_by=_approver(approved=approved), lost=lost)
            view = await approved_or_not(options, opened, view)
    code = show(options, view)
    is_unchanged = view.amendments != before.amendments and view.plan_version == before.plan.version
    return VERDICT_AGAINST if is_unchanged and view.status is SagaStatus.COMMITTED else code


async def told(options: Options, domain: str, saga_id: str, after: Callable[[Saga], Json], *, approved: bool = False) -> int:
    """Report an event to an open saga. `after`: its request then; if no plan is left, the one before still applies."""
    with interruptible(saga_id):
        async with acting(options, await domain_of(options, saga_id, only=domain), saga_id) as opened:
            wish = after(await opened.engine.load(saga_id))
            view = await opened.graph.change(saga_id, wish, by=PERSON, approved_by=_approver(approved=approved))
            is_heard = (await opened.engine.load(saga_id)).request == wish
            view = await approved_or_not(options, opened, view)
    code = show(options, view)
    return code if is_heard else max(code, VERDICT_AGAINST)


async def watch(options: Options, saga_id: str, news: Path, *, approved: bool) -> int:
    """Judge what is foreseen, and have the plan repaired only if it would break; the repair is approved as any other."""
    said = json_file(news, "--foreseen")
    with interruptible(saga_id):
        async with acting(options, await domain_of(options, saga_id), saga_id) as opened:
            found = await watched(opened.domain, await opened.engine.load(saga_id), said, opened.engine.store)
            for each in found.findings if not options.as_json else ():
                render.stdout.print(each.sentence, markup=False)
            view = await opened.engine.status(saga_id)
            if found.must_repair:
                approver = _approver(approved=approved)
                view = await opened.graph.change(saga_id, found.request, by=MONITOR, approved_by=approver, lost=found.lost)
                view = await approved_or_not(options, opened, view)
    if options.as_json:
        render.print_json({**found.document, "saga": view})
    else:
        render.stdout.print(f"{found.level.value}: {'a repair is due' if found.must_repair else 'the plan stays as it is'}")
        render.print_saga(view)
    return exit_code(view)


async def plan_only(options: Options, domain: str, text: str | None, request: Path | None) -> int:
    """Return the plans, the preferred one first; nothing is begun."""
    settings = options.settings
    async with open_domain(domain, settings) as served:
        page = require_entry(domain).page(served, model_of(settings))
        if page is None:
            raise InvalidInputError(f"{domain} reads no requests", field="DOMAIN")
        proposed = await served.propose(await wanted(page, text, request))
    if isinstance(proposed, Infeasible):
        return _infeasible(options, proposed)
    plans = [asdict(each) for each in proposed]
    if options.as_json:
        render.print_json({"plans": plans})
    for number, each in enumerate(plans, 1) if not options.as_json else ():
        render.print_plan(number, each)
    return 0


def _infeasible(options: Options, found: Infeasible) -> int:
    lines = (f"no plan: {reason}" for reason in found.reasons)
    tell({"plans": [], "verdict": "INVALID", **asdict(found)}, lines, as_json=options.as_json)
    return VERDICT_AGAINST
