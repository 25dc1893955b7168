"""Commands of `sagagraph db`. What a command does is imported when it is called."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sagagraph.cli import options as o
from sagagraph.errors import InvalidInputError

db = o.Commands(help="The store's tables.")


@db.command("upgrade")
def db_upgrade(options: o.Stored) -> None:
    """Create or migrate the store's tables."""
    from sagagraph.cli.operating import store as stores

    o.end(stores.upgrade(options))


@db.command("restored")
def db_restored(options: o.Stored) -> None:
    """Record that a backup was put back or a replica promoted: open sagas then ask before anything goes out."""
    from sagagraph.cli.operating import store as stores

    o.end(stores.restored(options))


@db.command("project")
def db_project(options: o.Stored, saga: o.AnySaga = None) -> None:
    """Bring the projections' tables up to date: of that saga, or of all whose journals have grown."""
    from sagagraph.cli.operating import store as stores

    o.end(stores.project(options, saga))


@db.command("retire")
def db_retire(
    options: o.Stored,
    older_than: Annotated[
        float, typer.Option("--older-than", metavar="DAYS", help="Sagas that ended at least that many days ago.")
    ],
    archive: Annotated[Path | None, typer.Option("--archive", metavar="FILE.jsonl", help="Append them to this file.")] = None,
    drop: Annotated[bool, typer.Option("--drop", help="Keep no copy.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say which.")] = False,
) -> None:
    """Archive or drop the journals of sagas that have ended."""
    from sagagraph.cli.operating import store as stores

    if drop is (archive is not None):
        raise InvalidInputError("say either --archive FILE.jsonl or --drop", field="--archive")
    o.end(stores.retire(options, older_than, archive, dry_run=dry_run))


@db.command("copy")
def db_copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="The store to copy from; it is only read.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="The store to copy into; what it has already is compared.")],
    as_json: o.AsJson = False,
) -> None:
    """Copy all journals into another store, one by one, each verified by its hash; repeat it to bring it up to date."""
    from sagagraph.cli.operating import store as stores

    o.end(stores.copy(source, target, as_json=as_json))
