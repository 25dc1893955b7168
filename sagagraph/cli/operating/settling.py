"""Settling: approve, reject, resume, cancel, resolve."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random

from sagagraph.cli import render
from sagagraph.cli.approval import approved_or_not
from sagagraph.cli.operating.fleet import told_to_worker
from sagagraph.cli.options import PERSON, Options
from sagagraph.cli.session import (
    VERDICT_AGAINST,
    WITHOUT_ENTRY,
    Resume,
    acting,
    carrying,
    domain_of,
    drained_when_told_to_stop,
    exit_code,
    opened_alike,
    show,
)
from sagagraph.cli.terminal import interruptible
from sagagraph.errors import (
    BusyError,
    DrainedError,
    InvalidInputError,
    MissingExtraError,
    ProviderError,
    SagaGraphError,
    UnknownOperationError,
    WorkflowError,
)
from sagagraph.registry import open_engine, runs_sagas
from sagagraph.saga.core.amendments import parent_of
from sagagraph.saga.core.commands import ApprovePlan, Resolve
from sagagraph.saga.core.decide.decide import decide
from sagagraph.saga.core.decide.people import check_cancellable
from sagagraph.saga.core.events import Resolution
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.engine.holder import LEASE_TTL_S, POLL_S
from sagagraph.saga.engine.views.preview import CancelPreview
from sagagraph.saga.engine.views.view import SagaView
from sagagraph.saga.stores.port import RequestKind
from sagagraph.workflow.values import Json

_AT_ONCE = 16
"""How many sagas `resume --all` works on at the same time."""


async def settle_plan(options: Options, saga_id: str, plan_hash: str | None, *, approved: bool) -> int:
    with interruptible(saga_id):
        async with acting(options, await domain_of(options, saga_id), saga_id) as opened:
            view = await opened.graph.decide(saga_id, approved=approved, by=PERSON, plan_hash=plan_hash)
            view = await approved_or_not(options, opened, view)
    code = show(options, view)
    return 0 if view.status is SagaStatus.REJECTED and not approved else code


async def resume(options: Options, saga_id: str, *, wait: bool, same_provider: bool = False) -> int:
    with interruptible(saga_id):
        async with _carrying(options, await domain_of(options, saga_id, has_graph=False), saga_id) as (engine, resuming):
            if same_provider:
                await engine.recognise(saga_id, stated_by=PERSON)
            view = await _resumed(engine, resuming, saga_id, wait=wait)
    return show(options, view)


@asynccontextmanager
async def _carrying(options: Options, domain: str, saga_id: str) -> AsyncIterator[tuple[Engine, Resume]]:
    async with carrying(options, domain, saga_id) as (engine, resuming), drained_when_told_to_stop(engine):
        yield engine, resuming


async def _resumed(engine: Engine, resume: Resume, saga_id: str, *, wait: bool) -> SagaView:
    saga = await engine.load(saga_id)
    is_carried_on = saga.domain and not status_of(saga).is_final
    return await (resume if is_carried_on else engine.resume)(saga_id, wait=wait)


async def resume_all(options: Options, *, wait: bool = True, only: str = "") -> int:
    """Resume every open saga that this program can run, several at once, in any order: other workers may do the same. One that
    fails or is busy does not hold up the others. `only`: those of this domain.
    """
    ended: list[SagaView | int] = []
    for (domain, *_rest), sagas in (await _open_alike(options)).items():
        if only not in ("", domain):
            continue
        ended += await _resume_group(options, domain, sagas, wait=wait)
    views = [each for each in ended if isinstance(each, SagaView)]
    code = max([0, *(each for each in ended if isinstance(each, int)), *(exit_code(each) for each in views)])
    if options.as_json:
        render.print_json(views)
    for view in views if not options.as_json else ():
        render.print_saga(view)
    if not views and not code and not options.as_json:
        render.stdout.print("no saga is open: there is nothing to resume")
    return code


async def _open_alike(options: Options) -> dict[tuple[str, ...], list[str]]:
    """Return the open sagas, those together that are carried on together; the first name of each group is their domain."""
    groups: dict[tuple[str, ...], list[str]] = {}
    async with open_engine(options.settings) as engine:
        found = [each for each in await engine.open_sagas() if each.domain in WITHOUT_ENTRY or runs_sagas(each.domain)]
        waiting = {each.saga_id: each.domain for each in found}
        for saga_id in sorted(waiting, key=waiting.__getitem__):
            if parent_of(saga_id) in waiting:  # an amendment is resumed with what it changes
                continue
            try:
                alike = opened_alike(options, await engine.load(saga_id))
            except SagaGraphError:  # it is reported when it is resumed
                alike = waiting[saga_id], options.settings.provider_url
            groups.setdefault(alike, []).append(saga_id)
    return groups


async def _resume_group(options: Options, domain: str, sagas: list[str], *, wait: bool) -> list[SagaView | int]:
    """Resume sagas that work with one provider. One whose provider is away does not hold up those that work with others."""
    room = asyncio.Semaphore(_AT_ONCE)
    try:
        async with _carrying(options, domain, sagas[0]) as carried:
            in_any_order = Random().sample(sagas, len(sagas))  # noqa: S311 - no secret
            return await asyncio.gather(*(_resumed_in_turn(*carried, name, room, wait=wait) for name in in_any_order))
    except (InvalidInputError, MissingExtraError, ProviderError, WorkflowError) as exc:
        render.stderr.print(f"sagagraph: {exc}; not resumed: {', '.join(sagas)}", markup=False)
        return [exc.exit_code]


async def _resumed_in_turn(
    engine: Engine, resume: Resume, saga_id: str, room: asyncio.Semaphore, *, wait: bool
) -> SagaView | int:
    """Return the saga's resulting state, or the exit code if something prevents resuming, which is reported."""
    try:
        return await _resumed_beside_others(engine, resume, saga_id, room, wait=wait)
    except DrainedError:
        raise
    except SagaGraphError as exc:
        render.stderr.print(f"sagagraph: {exc}", markup=False)
        return exc.exit_code


async def _resumed_beside_others(
    engine: Engine, resume: Resume, saga_id: str, room: asyncio.Semaphore, *, wait: bool
) -> SagaView:
    """Resume the saga. While another worker holds it and makes progress, wait, without taking the place of one that is free."""
    version, loop = 0, asyncio.get_running_loop()
    give_up_at = loop.time()
    while True:
        async with room:
            try:
                return await _resumed(engine, resume, saga_id, wait=False)
            except BusyError:
                now = await engine.store.headline(saga_id)
                stands_still = now is None or now.version == version
                if not wait or (stands_still and loop.time() > give_up_at):
                    raise
        if now is not None and not stands_still:
            version, give_up_at = now.version, loop.time() + LEASE_TTL_S + 1.0
        await asyncio.sleep(POLL_S)


async def cancel(options: Options, saga_id: str, *, preview: bool) -> int:
    with interruptible(saga_id, "cancel"):
        async with _engine_for(options, saga_id) as engine:
            told = await engine.cancel(saga_id, preview=preview, by=PERSON)
    if isinstance(told, CancelPreview):
        return render.printed(told, render.print_preview, as_json=options.as_json)
    show(options, told)
    return 0 if told.status is SagaStatus.COMPENSATED else VERDICT_AGAINST


async def ask_cancel(options: Options, saga_id: str) -> int:
    async with open_engine(options.settings) as engine:
        check_cancellable(await engine.load(saga_id))
        return await _asked(options, engine, saga_id, RequestKind.CANCEL, None)


async def ask_approval(options: Options, saga_id: str, plan_hash: str | None) -> int:
    """Approve exactly the plan that is shown now. Raises `ConflictError` for another one, `NotAllowedError` if none waits."""
    async with open_engine(options.settings) as engine:
        saga = await engine.load(saga_id)
        if saga.amending is not None:
            saga = await engine.load(saga.amending.saga)
        decide(saga, ApprovePlan(PERSON, plan_hash), saga.last_at)
        return await _asked(options, engine, saga.id, RequestKind.APPROVE, {"plan_hash": plan_hash or saga.plan.hash})


async def ask_resolve(options: Options, which: Which, said: Said) -> int:
    which.check()
    returned, code = said.returned(), 0
    async with open_engine(options.settings) as engine:
        for saga_id, names in (await _meant(options, which)).items():
            saga = await engine.load(saga_id)
            for name in names:
                decide(saga, Resolve(name, said.resolution, PERSON, returned), saga.last_at)
                data = {"operation": name, "resolution": said.resolution.value, "output": returned, "because": said.because}
                code = max(code, await _asked(options, engine, saga_id, RequestKind.RESOLVE, data))
    return code


async def _asked(options: Options, engine: Engine, saga_id: str, kind: RequestKind, data: Json) -> int:
    """Write the request down for whoever drives the saga, and have it driven."""
    await engine.store.ask(saga_id, kind, PERSON, data)
    return await told_to_worker(options, engine, saga_id)


async def yield_locks(options: Options, saga_id: str) -> int:
    async with open_engine(options.settings) as engine:
        view = await engine.yield_locks(saga_id, by=PERSON)
    show(options, view)
    return 0


@dataclass(frozen=True, slots=True)
class Which:
    """Operations to settle: these of one saga, or all that are alike, of that saga or of all open ones."""

    saga: str
    operations: tuple[str, ...]
    action: str = ""
    error: str = ""

    def check(self) -> None:
        if self.operations and self.action:
            raise InvalidInputError("name operations, or an action, and not both", field="--action")
        if not self.action and not (self.saga and self.operations):
            raise InvalidInputError("name a saga and its operations, or say --action", field="OPERATION")
        if self.error and not self.action:
            raise InvalidInputError("say with it of which action: --action", field="--error")


@dataclass(frozen=True, slots=True)
class Said:
    """What a person says of them. `output`: JSON, of one that landed."""

    resolution: Resolution
    output: str | None = None
    because: str = ""

    def returned(self) -> Json:
        try:
            return None if self.output is None else json.loads(self.output)
        except ValueError as exc:
            raise InvalidInputError(f"is not JSON: {exc}", field="--output") from exc


async def resolve(options: Options, which: Which, said: Said) -> int:
    which.check()
    returned = said.returned()
    if which.action and not said.because:
        raise InvalidInputError("say how you know that of all of them", field="--because")
    sagas = await _meant(options, which)
    views = [await _resolved(options, saga_id, names, said, returned) for saga_id, names in sagas.items()]
    if which.operations:
        return show(options, views[0])
    if options.as_json:
        render.print_json({"resolved": {name: list(found) for name, found in sagas.items()}, "sagas": views})
    else:
        for view in views:
            render.print_saga(view)
    return 0


async def _meant(options: Options, which: Which) -> dict[str, tuple[str, ...]]:
    if which.operations:
        return {which.saga: which.operations}
    async with open_engine(options.settings) as engine:
        found = await engine.held_alike(which.action, which.error, sagas=[which.saga] if which.saga else None)
    if not found:
        ended = f" that ended with {which.error}" if which.error else ""
        raise UnknownOperationError(f"no operation of action {which.action!r}{ended} is held")
    return found


async def _resolved(options: Options, saga_id: str, names: tuple[str, ...], said: Said, returned: Json) -> SagaView:
    with interruptible(saga_id):
        async with _engine_for(options, saga_id) as engine:
            told = {"output": returned, "because": said.because, "by": PERSON}
            return await engine.resolve(saga_id, names, said.resolution, **told)


@asynccontextmanager
async def _engine_for(options: Options, saga_id: str) -> AsyncIterator[Engine]:
    """Open an engine that can act on this saga: with its domain's actions, or those of the document that it carries out."""
    async with _carrying(options, await domain_of(options, saga_id, has_graph=False), saga_id) as (engine, _resume):
        yield engine
