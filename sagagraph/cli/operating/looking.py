"""Looking: status, log, graph and replay, none of which changes anything."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sagagraph.cli import render
from sagagraph.cli.approval import show_waiting, waiting_for_approval
from sagagraph.cli.options import Options
from sagagraph.cli.session import VERDICT_AGAINST, show
from sagagraph.errors import JournalError, ProviderError
from sagagraph.planning.checking import is_abridged, judge_plan_of, unabridged
from sagagraph.planning.monitor import latest
from sagagraph.registry import open_domain, open_engine, runs_sagas
from sagagraph.saga.core.dependencies import graph_of
from sagagraph.saga.core.events import Entry, SagaBegun
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.engine.maintenance.replay import JudgePlan, turns
from sagagraph.saga.engine.views.document import entry_json, log_line, plain
from sagagraph.workflow.language.document import WORKFLOWS

if TYPE_CHECKING:
    from sagagraph.factory.log_entries import LogEntry


async def status(options: Options, saga_id: str, version: int | None) -> int:
    async with open_engine(options.settings, only_looks=True) as engine:
        view = await (engine.status(saga_id) if version is None else engine.state_at(saga_id, version))
        if view.status is SagaStatus.AWAITING_APPROVAL and not options.as_json:
            show_waiting(saga_id, await waiting_for_approval(engine, view))
        render.warn_of(engine.store.shortfalls)
        monitor = await latest(saga_id, engine.store)
    if options.as_json and monitor is not None:
        render.print_json({**plain(view), "monitor": monitor})
        return 0
    if monitor is not None:
        render.stdout.print(f"foreseen last: {monitor['level']}", markup=False)
    show(options, view)
    return 0


SAGAS_ON_A_PAGE = 100


async def list_page(options: Options, page: int) -> int:
    """List the sagas of one page, the latest first. A saga whose journal cannot be read does not hide the others."""
    sagas: list[Saga] = []
    code = 0
    async with open_engine(options.settings, only_looks=True) as engine:
        shortfalls = engine.store.shortfalls
        found = await engine.sagas(most=SAGAS_ON_A_PAGE + 1, skip=SAGAS_ON_A_PAGE * (page - 1))
        for headline in found[:SAGAS_ON_A_PAGE]:
            try:
                sagas.append(await engine.load(headline.saga_id))
            except JournalError as exc:
                render.stderr.print(f"sagagraph: {exc}", markup=False)
                code = exc.exit_code
    following = page + 1 if len(found) > SAGAS_ON_A_PAGE else None
    if options.as_json:
        beside = {"next_page": following, "unsafe_durability": shortfalls}
        render.print_json({"sagas": [_row(saga) for saga in sagas], **{name: said for name, said in beside.items() if said}})
    else:
        render.warn_of(shortfalls)
        render.print_sagas(sagas, page, following)
    return code


def _row(saga: Saga) -> dict[str, Any]:
    beside = {"reversal": saga.reversal, "amendments": saga.amendments}
    return {"saga_id": saga.id, "domain": saga.domain, "status": status_of(saga).value, **beside}


async def replay(options: Options, saga_id: str) -> int:
    async with AsyncExitStack() as stack:
        engine = await stack.enter_async_context(open_engine(options.settings, only_looks=True))
        domain = (await engine.load(saga_id)).domain
        judge_plan: JudgePlan | None = None
        if runs_sagas(domain):
            try:
                served = await stack.enter_async_context(open_domain(domain, options.settings, engine.store))
            except ProviderError as exc:
                render.stderr.print(f"sagagraph: the plan is not judged again: {exc}", markup=False)
            else:
                judge_plan = judge_plan_of(served)
                for each in served.actions:
                    engine.register(each)
        replayed = await engine.replay(saga_id, judge_plan=judge_plan)
    render.printed(replayed, render.print_replay, as_json=options.as_json)
    return VERDICT_AGAINST if replayed.differences else 0


async def log(options: Options, saga_id: str) -> int:
    async with open_engine(options.settings, only_looks=True) as engine:
        entries = await engine.journal(saga_id)
        documents = [entry_json(entry) for entry in entries] if options.as_json else []
        if options.as_json and any(is_abridged(entry.event) for entry in entries):
            await _expand(documents, options, engine, saga_id, entries)
        of_nodes = await _of_nodes(engine, saga_id, entries)
    if options.as_json:
        logged = {"log": [asdict(each) for each in of_nodes]} if of_nodes else {}
        render.print_json({"saga_id": saga_id, "events": documents, **logged})
        return 0
    for entry in entries:
        render.stdout.print(log_line(entry), markup=False)
    for each in of_nodes:
        for why in each.misfits:
            told = f"{each.entry['version']:4d} {each.entry['nodeId']}: not as its log schema wants: {why}"
            render.stdout.print(told, markup=False)
    if of_nodes and not any(each.misfits for each in of_nodes):
        render.stdout.print(f"{len(of_nodes)} entries are as the log schemas of their nodes want them", markup=False)
    return 0


async def _of_nodes(engine: Engine, saga_id: str, entries: Sequence[Entry]) -> tuple[LogEntry, ...]:
    """Return the entries of nodes whose workflow document has log schemas for them."""
    begun = entries[0].event
    if not isinstance(begun, SagaBegun) or begun.domain != WORKFLOWS:
        return ()
    from sagagraph.factory.log_entries import log_entries
    from sagagraph.factory.running import assignment_of

    return tuple(log_entries(saga_id, assignment_of(await engine.load(saga_id)).document, entries))


async def _expand(
    documents: list[dict[str, Any]], options: Options, engine: Engine, saga_id: str, entries: Sequence[Entry]
) -> None:
    """Fill in the certificates of which the journal holds only the root hash, if they still lead to it."""
    domain = (await engine.load(saga_id)).domain
    try:
        async with open_domain(domain, options.settings, engine.store) as served:
            for turn, document in zip(turns(saga_id, entries), documents, strict=True):
                if turn.before is not None and is_abridged(turn.entry.event):
                    document["data"]["verdict"] = await unabridged(served, turn.before, turn.entry.event)
    except ProviderError as exc:
        render.stderr.print(f"sagagraph: the certificates are not expanded: {exc}", markup=False)


async def graph(options: Options, saga_id: str, *, mermaid: bool) -> int:
    async with open_engine(options.settings, only_looks=True) as engine:
        saga = await engine.load(saga_id)
    if mermaid:
        render.stdout.print(_mermaid(saga), markup=False)
    else:
        render.print_json(_graph_json(saga))
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
