"""What the commands do: open what they need, ask it once, print the answer, return the exit code."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sagagraph.bootstrap import DOMAINS, open_engine
from sagagraph.cli import output
from sagagraph.errors import (
    BusyError,
    DrainedError,
    InvalidInputError,
    JournalError,
    ProviderError,
    SagaGraphError,
)
from sagagraph.planning.checking import judge_plan_of
from sagagraph.saga.core.amendments import parent_of
from sagagraph.saga.core.dependencies import graph_of
from sagagraph.saga.core.events import Resolution
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.maintenance.replay import JudgePlan
from sagagraph.saga.engine.views.document import entry_json, log_line
from sagagraph.saga.engine.views.preview import CancelPreview
from sagagraph.saga.engine.views.view import SagaView
from sagagraph.saga.stores.urls import public_name

if TYPE_CHECKING:
    from sagagraph.saga.stores.projections.projector import Projector

from sagagraph.cli.approval import approved_or_not, show_waiting, waiting_for_approval
from sagagraph.cli.door import EXIT, PERSON, VERDICT_AGAINST, Door, Opened, acting, domain_of, interruptible

_AT_ONCE = 16
"""How many sagas `resume --all` works on at the same time."""


# -- trip ------------------------------------------------------------------------------------------------------------


# -- settling, resuming, cancelling ----------------------------------------------------------------------------------


async def settle_plan(door: Door, saga_id: str, plan_hash: str | None, *, approved: bool) -> int:
    with interruptible(saga_id):
        async with acting(door, await domain_of(door, saga_id)) as opened:
            view = await opened.graph.decide(saga_id, approved=approved, by=PERSON, plan_hash=plan_hash)
            view = await approved_or_not(door, opened, view)
    code = door.show(view)
    return 0 if view.status is SagaStatus.REJECTED and not approved else code


async def resume(door: Door, saga_id: str, *, wait: bool) -> int:
    with interruptible(saga_id):
        async with acting(door, await domain_of(door, saga_id)) as opened:
            view = await _resumed(opened, saga_id, wait=wait)
    return door.show(view)


async def _resumed(opened: Opened, saga_id: str, *, wait: bool) -> SagaView:
    saga = await opened.engine.load(saga_id)
    is_planned = saga.driver.value == "workflow"
    is_carried_on = is_planned and not status_of(saga).is_final
    view: SagaView = await (opened.graph if is_carried_on else opened.engine).resume(saga_id, wait=wait)
    return view


async def resume_all(door: Door, *, wait: bool) -> int:
    """Every open saga that this program can run, several at once. One that fails or is busy does not keep the others back."""
    async with open_engine(door.settings) as engine:
        waiting = {each.domain for each in await engine.open_sagas()}
    ended = [each for domain in DOMAINS if domain in waiting for each in await _resume_domain(door, domain, wait=wait)]
    views = [each for each in ended if isinstance(each, SagaView)]
    code = max([0, *(each for each in ended if isinstance(each, int)), *(EXIT.get(each.status, 1) for each in views)])
    if door.as_json:
        output.print_json(views)
    for view in views if not door.as_json else ():
        output.print_saga(view)
    if not views and not code and not door.as_json:
        output.stdout.print("no saga is open: there is nothing to resume")
    return code


async def _resume_domain(door: Door, domain: str, *, wait: bool) -> list[SagaView | int]:
    async with acting(door, domain) as opened:
        room = asyncio.Semaphore(_AT_ONCE)
        mine = [each.saga_id for each in await opened.engine.open_sagas() if each.domain == domain]
        mine = [each for each in mine if parent_of(each) not in mine]  # an amendment goes on with what it changes
        return await asyncio.gather(*(_resumed_in_turn(opened, name, room, wait=wait) for name in mine))


async def _resumed_in_turn(opened: Opened, saga_id: str, room: asyncio.Semaphore, *, wait: bool) -> SagaView | int:
    """Where the saga stands then, or the exit code of what keeps it from going on, which is told."""
    async with room:
        try:
            return await _resumed_beside_others(opened, saga_id, wait=wait)
        except DrainedError:
            raise
        except SagaGraphError as exc:
            output.stderr.print(f"sagagraph: {exc}", markup=False)
            return exc.exit_code


async def _resumed_beside_others(opened: Opened, saga_id: str, *, wait: bool) -> SagaView:
    """By us or by another worker: as long as it moves, somebody is at it."""
    version = 0
    while True:
        try:
            return await _resumed(opened, saga_id, wait=wait)
        except BusyError:
            now = await opened.engine.store.headline(saga_id)
            if not wait or now is None or now.version == version:
                raise
            version = now.version


async def cancel(door: Door, saga_id: str, *, preview: bool) -> int:
    with interruptible(saga_id, "cancel"):
        async with acting(door, await domain_of(door, saga_id)) as opened:
            told = await opened.engine.cancel(saga_id, preview=preview, by=PERSON)
    if isinstance(told, CancelPreview):
        if door.as_json:
            output.print_json(told)
        else:
            output.print_preview(told)
        return 0
    door.show(told)
    return 0 if told.status is SagaStatus.COMPENSATED else VERDICT_AGAINST


async def resolve(door: Door, saga_id: str, operation: str, resolution: Resolution, given: str | None) -> int:
    try:
        returned = None if given is None else json.loads(given)
    except ValueError as exc:
        raise InvalidInputError(f"is not JSON: {exc}", field="--output") from exc
    with interruptible(saga_id):
        async with acting(door, await domain_of(door, saga_id)) as opened:
            view = await opened.engine.resolve(saga_id, operation, resolution, output=returned, by=PERSON)
    return door.show(view)


# -- looking ---------------------------------------------------------------------------------------------------------


async def status(door: Door, saga_id: str, version: int | None) -> int:
    async with open_engine(door.settings) as engine:
        view = await (engine.status(saga_id) if version is None else engine.state_at(saga_id, version))
        if view.status is SagaStatus.AWAITING_APPROVAL and not door.as_json:
            show_waiting(saga_id, await waiting_for_approval(engine, view))
    door.show(view)
    return 0


async def list_all(door: Door) -> int:
    """One whose journal can not be read does not hide the others."""
    sagas: list[Saga] = []
    code = 0
    async with open_engine(door.settings) as engine:
        for headline in await engine.sagas():
            try:
                sagas.append(await engine.load(headline.saga_id))
            except JournalError as exc:
                output.stderr.print(f"sagagraph: {exc}", markup=False)
                code = exc.exit_code
    if door.as_json:
        output.print_json({"sagas": [_row(saga) for saga in sagas]})
    else:
        output.print_sagas(sagas)
    return code


def _row(saga: Saga) -> dict[str, Any]:
    beside = {"reversal": saga.reversal, "amendments": saga.amendments}
    return {"saga_id": saga.id, "domain": saga.domain, "status": status_of(saga).value, **beside}


async def replay(door: Door, saga_id: str) -> int:
    async with AsyncExitStack() as stack:
        engine = await stack.enter_async_context(open_engine(door.settings))
        domain = (await engine.load(saga_id)).domain
        judge_plan: JudgePlan | None = None
        if domain in DOMAINS:
            try:
                served = await stack.enter_async_context(DOMAINS[domain](door.settings))
            except ProviderError as exc:
                output.stderr.print(f"sagagraph: the plan is not judged again: {exc}", markup=False)
            else:
                judge_plan = judge_plan_of(served)
                for each in served.actions:
                    engine.register(each)
        replayed = await engine.replay(saga_id, judge_plan=judge_plan)
    if door.as_json:
        output.print_json(replayed)
    else:
        output.print_replay(replayed)
    return VERDICT_AGAINST if replayed.differences else 0


async def redact(door: Door, saga_id: str, fields: Sequence[str]) -> int:
    async with open_engine(door.settings) as engine:
        view = await engine.redact(saga_id, fields, by=PERSON)
    if door.as_json:
        output.print_json(view)
    else:
        output.stdout.print(f"saga {saga_id}: what is called {', '.join(view.redacted)} is unreadable now", markup=False)
    return 0


async def retire(door: Door, older_than_days: float, archive: Path | None, *, dry_run: bool) -> int:
    try:
        age = timedelta(days=older_than_days)
    except (OverflowError, ValueError) as exc:
        raise InvalidInputError("is no number of days that there can be", field="--older-than") from exc
    async with open_engine(door.settings) as engine:
        told = await engine.retire(older_than=age, archive=archive, dry_run=dry_run)
    if door.as_json:
        output.print_json({**asdict(told), "archive": None if archive is None else str(archive), "dry_run": dry_run})
    else:
        output.print_retirement(told, archive, dry_run=dry_run)
    return 0


async def log(door: Door, saga_id: str) -> int:
    async with open_engine(door.settings) as engine:
        entries = await engine.journal(saga_id)
    if door.as_json:
        output.print_json({"saga_id": saga_id, "events": [entry_json(entry) for entry in entries]})
    for entry in entries if not door.as_json else ():
        output.stdout.print(log_line(entry), markup=False)
    return 0


async def graph(door: Door, saga_id: str, *, mermaid: bool) -> int:
    async with open_engine(door.settings) as engine:
        saga = await engine.load(saga_id)
    if mermaid:
        output.stdout.print(_mermaid(saga), markup=False)
    else:
        output.print_json(_graph_json(saga))
    return 0


def _graph_json(saga: Saga) -> dict[str, Any]:
    nodes = [
        {"id": each.id, "action": each.spec.action, "kind": each.spec.kind.value, "status": each.status.value}
        for each in saga.in_order()
    ]
    return {"saga_id": saga.id, "nodes": nodes, "edges": [{"from": a, "to": b} for a, b in graph_of(saga).edges]}


def _mermaid(saga: Saga) -> str:
    names = {each.id: f"n{number}" for number, each in enumerate(saga.in_order())}
    lines = ["flowchart LR"]
    for each in saga.in_order():
        label = f"{each.id}<br/>{each.spec.action}<br/>{each.status.value}".replace('"', "'")
        lines.append(f'  {names[each.id]}["{label}"]')
    lines += [f"  {names[a]} --> {names[b]}" for a, b in graph_of(saga).edges]
    return "\n".join(lines)


async def upgrade(door: Door) -> int:
    """Opening a store brings its tables to this release."""
    async with open_engine(door.settings):
        url = public_name(door.settings.store_url)
    if door.as_json:
        output.print_json({"store": url, "status": "up to date"})
    else:
        output.stdout.print(f"{url} is up to date", markup=False)
    return 0


async def project(door: Door, saga_id: str | None) -> int:
    from sagagraph.saga.stores.projections.projector import Projector

    async with open_engine(door.settings) as engine:
        projector = Projector(engine.store)
        try:
            if saga_id is None:
                return await _project_all(door, projector)
            projection = await projector.project(saga_id)
        finally:
            projector.close()
    return _projected(door, {saga_id: projection.saga.journal_version})


async def _project_all(door: Door, projector: Projector) -> int:
    """One saga that can not be read does not keep the others back."""
    versions: dict[str, int] = {}
    code = 0
    forgotten = await projector.forget_lost()
    for saga_id in await projector.behind():
        try:
            versions[saga_id] = (await projector.project(saga_id)).saga.journal_version
        except SagaGraphError as exc:
            output.stderr.print(f"sagagraph: {exc}", markup=False)
            code = max(code, exc.exit_code)
    return max(code, _projected(door, versions, forgotten))


def _projected(door: Door, versions: dict[str, int], forgotten: tuple[str, ...] = ()) -> int:
    if door.as_json:
        rows = [{"saga_id": saga_id, "version": version} for saga_id, version in versions.items()]
        output.print_json({"projected": rows, "forgotten": forgotten})
        return 0
    for saga_id, version in versions.items():
        output.stdout.print(f"{saga_id}: projected up to version {version}", markup=False)
    for saga_id in forgotten:
        output.stdout.print(f"{saga_id}: withdrawn, its journal is gone", markup=False)
    return 0
