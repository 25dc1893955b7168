"""Store: its tables, its projections, what is redacted in it and what is retired from it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from sagagraph.cli import render
from sagagraph.cli.options import PERSON, Options
from sagagraph.cli.telling import tell
from sagagraph.errors import InvalidInputError, SagaGraphError
from sagagraph.registry import open_engine
from sagagraph.saga.stores.urls import public_name
from sagagraph.settings import Settings

if TYPE_CHECKING:
    from sagagraph.saga.stores.projections.projector import Projector


async def redact(options: Options, saga_id: str, fields: Sequence[str]) -> int:
    async with open_engine(options.settings) as engine:
        view = await engine.redact(saga_id, fields, by=PERSON)
    return tell(view, [f"saga {saga_id}: what is called {', '.join(view.redacted)} is unreadable now"], as_json=options.as_json)


async def retire(options: Options, older_than_days: float, archive: Path | None, *, dry_run: bool) -> int:
    try:
        age = timedelta(days=older_than_days)
    except (OverflowError, ValueError) as exc:
        raise InvalidInputError("is not a possible number of days", field="--older-than") from exc
    async with open_engine(options.settings) as engine:
        told = await engine.retire(older_than=age, archive=archive, dry_run=dry_run)
    if options.as_json:
        render.print_json({**asdict(told), "archive": None if archive is None else str(archive), "dry_run": dry_run})
    else:
        render.print_retirement(told, archive, dry_run=dry_run)
    return 0


async def upgrade(options: Options) -> int:
    """Upgrade the tables to this release, which opening the store does."""
    async with open_engine(options.settings, create=True):
        url = public_name(options.settings.store_url)
    return tell({"store": url, "status": "up to date"}, [f"{url} is up to date"], as_json=options.as_json)


async def restored(options: Options) -> int:
    """Say that an earlier state of the store was put back."""
    async with open_engine(options.settings) as engine:
        names = await engine.restored()
        epoch, url = engine.store.epoch, public_name(options.settings.store_url)
    lines = [f"{url} begins its epoch {epoch}: open sagas ask before they act", *(f"{name}: resume it" for name in names)]
    return tell({"store": url, "epoch": epoch, "open": names}, lines, as_json=options.as_json)


async def copy(source: str, target: str, *, as_json: bool) -> int:
    """Copy one store into another. Both have to be at rest: whoever writes meanwhile may be copied by half."""
    from sagagraph.saga.stores import copying

    for url, field in ((source, "FROM"), (target, "TO")):
        if url == "memory:":
            raise InvalidInputError("a store in memory cannot be copied", field=field)
    async with open_engine(Settings(store=source), only_looks=True), open_engine(Settings(store=target), create=True):
        pass  # each is there, is a store, and is brought to this release
    told = await asyncio.to_thread(copying.copy, source, target, lambda name: render.stderr.print(name, markup=False))
    words = f"{told.sagas} sagas are the same in both, {told.same} of them were before; hash {told.hash}"
    return tell(asdict(told), [words], as_json=as_json)


async def project(options: Options, saga_id: str | None) -> int:
    from sagagraph.saga.stores.projections.projector import Projector

    async with open_engine(options.settings) as engine:
        projector = Projector(engine.store)
        try:
            if saga_id is None:
                return await _project_all(options, projector)
            projection = await projector.project(saga_id)
        finally:
            projector.close()
    return _projected(options, {saga_id: projection.saga.journal_version})


async def _project_all(options: Options, projector: Projector) -> int:
    """Project all sagas. One that cannot be read does not hold up the others."""
    versions: dict[str, int] = {}
    code = 0
    forgotten = await projector.forget_lost()
    for saga_id in await projector.behind():
        try:
            versions[saga_id] = (await projector.project(saga_id)).saga.journal_version
        except SagaGraphError as exc:
            render.stderr.print(f"sagagraph: {exc}", markup=False)
            code = max(code, exc.exit_code)
    return max(code, _projected(options, versions, forgotten))


def _projected(options: Options, versions: dict[str, int], forgotten: tuple[str, ...] = ()) -> int:
    rows = [{"saga_id": saga_id, "version": version} for saga_id, version in versions.items()]
    lines = [f"{saga_id}: projected up to version {version}" for saga_id, version in versions.items()]
    lines += [f"{saga_id}: withdrawn, its journal is gone" for saga_id in forgotten]
    return tell({"projected": rows, "forgotten": forgotten}, lines, as_json=options.as_json)
