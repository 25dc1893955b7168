"""Sagas that carry out workflow documents: opened with the actions that their documents name."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sagagraph.cli import render
from sagagraph.cli.beginning import new_id
from sagagraph.cli.options import Options
from sagagraph.cli.session import checked_id, drained_when_told_to_stop, saga_if_begun, settings_for, show
from sagagraph.cli.telling import tell
from sagagraph.cli.terminal import interruptible
from sagagraph.errors import OperationFailedError, OperationHeldError, SagaClosedError
from sagagraph.factory.faults import read_faults, with_faults
from sagagraph.factory.roster import Roster, roster_at
from sagagraph.factory.running import Assignment, assignment_of, differences, registered, run_document
from sagagraph.files import json_file
from sagagraph.registry import open_domain, open_engine
from sagagraph.saga.engine.actions import Action
from sagagraph.workflow.language.document import WORKFLOWS, Document

if TYPE_CHECKING:
    from sagagraph.saga.core.state import Saga
    from sagagraph.saga.engine.coordinator import Observer
    from sagagraph.saga.engine.engine import Engine
    from sagagraph.saga.engine.views.view import SagaView
    from sagagraph.workflow.values import Json

VERDICT_AGAINST = 1


@dataclass(frozen=True, slots=True)
class Source:
    """Where actions come from: modules of the user, and domains."""

    modules: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    faults: tuple[Any, ...] = ()

    @property
    def json(self) -> dict[str, Json]:
        return {"modules": list(self.modules), "domains": list(self.domains), "faults": list(self.faults)}

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Source:
        return cls(tuple(told.get("modules", ())), tuple(told.get("domains", ())), tuple(told.get("faults", ())))


def source_of(document: Document, modules: Iterable[str], domains: Iterable[str], faults: Path | None = None) -> Source:
    """Return the source that a command names; a plan of a domain brings that along in `meta.domain`."""
    own = document.meta.get("domain")
    named = tuple(domains) or ((str(own),) if own else ())
    return Source(tuple(modules), named, tuple(json_file(faults, "--faults")) if faults else ())


@asynccontextmanager
async def open_actions(
    options: Options, source: Source, engine: Engine | None = None, saga: Saga | None = None
) -> AsyncIterator[dict[str, Action]]:
    async with AsyncExitStack() as stack:
        found = dict(roster_at(source.modules).actions)
        for name in source.domains:
            opened = open_domain(name, settings_for(options, saga), engine.store if engine else None)
            found |= {each.name: each for each in (await stack.enter_async_context(opened)).actions}
        yield with_faults(found, read_faults(list(source.faults)))


@asynccontextmanager
async def open_roster(options: Options, source: Source) -> AsyncIterator[Roster]:
    """Open everybody there is: the actions of domains, and the members of modules with what they say of themselves."""
    async with open_actions(options, Source((), source.domains)) as actions:
        yield Roster((*Roster.of(actions.values()).members, *roster_at(source.modules).members))


@asynccontextmanager
async def opening_saga(
    options: Options, saga_id: str, also: tuple[Observer, ...] = ()
) -> AsyncIterator[tuple[Engine, Assignment, dict[str, Action]]]:
    """Open an engine that can act on a saga which carries out a document; a fleet may drive the saga with it."""
    async with open_engine(options.settings, (render.show_waits, *also)) as engine:
        saga = await engine.load(saga_id)
        assignment = assignment_of(saga)
        async with open_actions(options, Source.of(assignment.source), engine, saga) as actions:
            registered(engine, assignment.document, actions)
            engine.drives(WORKFLOWS, partial(resumed, engine, assignment, actions))
            yield engine, assignment, actions


async def resumed(
    engine: Engine, assignment: Assignment, actions: Mapping[str, Action], saga_id: str, *, wait: bool = True
) -> SagaView:
    """Go on with a saga that carries out a document, until it is quiet. What its body is told stands in its journal."""
    with suppress(OperationFailedError, OperationHeldError, SagaClosedError):
        await run_document(engine, saga_id, assignment, actions, wait=wait)
    return await engine.status(saga_id)


async def run(options: Options, document: Document, given: Json, source: Source, saga_id: str | None, *, serial: bool) -> int:
    """Carry a document out as a new saga, or go on with the one of that id."""
    name = new_id("workflow") if saga_id is None else checked_id(saga_id)
    async with open_engine(options.settings, (render.show_waits,), create=True) as engine:
        begun = None if saga_id is None else await saga_if_begun(engine, name)
        async with open_actions(options, source, engine, begun) as actions, drained_when_told_to_stop(engine):
            with interruptible(name):
                view = await resumed(engine, Assignment(document, given, serial, source.json), actions, name)
            return show(options, view)


async def replay(options: Options, saga_id: str) -> int:
    """Walk through the saga's document with its journal's answers; exit with 1 where they differ."""
    async with opening_saga(options, saga_id) as (engine, _assignment, actions):
        found = await differences(await engine.load(saga_id), actions)
    lines = found or ("no difference: the journal is what the workflow asks for",)
    tell({"saga_id": saga_id, "parity": not found, "differences": list(found)}, lines, as_json=options.as_json)
    return VERDICT_AGAINST if found else 0
