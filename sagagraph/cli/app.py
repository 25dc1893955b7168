"""The commands of FORMATS, and how each of them ends."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.exceptions import Abort, TyperException

from sagagraph import __version__
from sagagraph.cli import sagas, trips
from sagagraph.cli import validate as validation
from sagagraph.cli.door import Door
from sagagraph.cli.job_shop import jobshop
from sagagraph.cli.logs import LogLevel, configure_logs
from sagagraph.cli.output import print_json, stderr, stdout
from sagagraph.cli.reunion_days import reunion
from sagagraph.errors import InvalidInputError, SagaGraphError
from sagagraph.saga.core.events import Resolution

INTERRUPTED = 130

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
db = typer.Typer(help="The store's tables.")
app.add_typer(db, name="db")
app.add_typer(reunion, name="reunion")
app.add_typer(jobshop, name="jobshop")

Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
Store = Annotated[str, typer.Option("--store", envvar="SAGAGRAPH_STORE", help="sqlite:///FILE, postgresql://… or memory:")]
Provider = Annotated[str, typer.Option("--provider", envvar="SAGAGRAPH_PROVIDER_URL", help="A reservation service.")]
SagaId = Annotated[str, typer.Argument(metavar="SAGA")]
PlanHash = Annotated[str | None, typer.Option("--plan", metavar="HASH", help="Insist on this plan.")]


class GraphFormat(StrEnum):
    MERMAID = "mermaid"
    JSON = "json"


def _tell_version(asked: bool) -> None:
    if asked:
        stdout.print(f"sagagraph {__version__}")
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_tell_version, help="Which release this is.")
    ] = False,
    log_level: Annotated[
        LogLevel, typer.Option("--log-level", envvar="SAGAGRAPH_LOG", help="Log lines on standard error, from this level on.")
    ] = LogLevel.OFF,
) -> None:
    """SagaGraph runs the plans of unreliable planners as reliable transactions."""
    configure_logs(log_level, as_json="--json" in sys.argv)


@app.command()
def trip(
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="The trip in a sentence.")] = None,
    request: Annotated[Path | None, typer.Option("--request", metavar="FILE.json", help="The trip as JSON.")] = None,
    saga_id: Annotated[str | None, typer.Option("--saga-id", metavar="ID", help="Begin that saga, or resume it.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Approve the preferred plan.")] = False,
    plan_only: Annotated[bool, typer.Option("--plan-only", help="Only plan.")] = False,
    today: Annotated[
        datetime | None,
        typer.Option(
            "--today", formats=["%Y-%m-%d"], metavar="DATE", help="Set the clock of the reservation service inside the command."
        ),
    ] = None,
    store: Store = "",
    provider: Provider = "",
    as_json: Json = False,
) -> None:
    """Plan a trip and, after approval, book it."""
    door = Door(store, provider, as_json, today.date() if today else None)
    _end(trips.trip(door, text, request, saga_id, approved=yes, plan_only=plan_only))


@app.command()
def change(
    saga: SagaId,
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="What is wished otherwise, in a sentence.")] = None,
    request: Annotated[Path | None, typer.Option("--request", metavar="FILE.json", help="All wishes, as JSON.")] = None,
    lost: Annotated[
        list[str] | None, typer.Option("--lost", metavar="OPERATION", help="What has fallen through; may be repeated.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Approve what comes of it.")] = False,
    store: Store = "",
    provider: Provider = "",
    as_json: Json = False,
) -> None:
    """Change what a trip is to be, before it is paid or after; what is booked and fits stays."""
    _end(trips.change(Door(store, provider, as_json), saga, text, request, lost or (), approved=yes))


@app.command()
def approve(saga: SagaId, plan: PlanHash = None, store: Store = "", provider: Provider = "", as_json: Json = False) -> None:
    """Approve the plan that a saga shows, and carry it out."""
    _end(sagas.settle_plan(Door(store, provider, as_json), saga, plan, approved=True))


@app.command()
def reject(saga: SagaId, plan: PlanHash = None, store: Store = "", provider: Provider = "", as_json: Json = False) -> None:
    """Reject the plan that a saga shows."""
    _end(sagas.settle_plan(Door(store, provider, as_json), saga, plan, approved=False))


@app.command()
def resume(
    saga: Annotated[str | None, typer.Argument(metavar="[SAGA]")] = None,
    every: Annotated[bool, typer.Option("--all", help="All that are open.")] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for a dead worker's lease to run out.")] = True,
    store: Store = "",
    provider: Provider = "",
    as_json: Json = False,
) -> None:
    """Go on with a saga, or with all that are open."""
    if saga is not None and every:
        raise InvalidInputError("name a saga or say --all, not both", field="SAGA")
    door = Door(store, provider, as_json)
    _end(sagas.resume_all(door, wait=wait) if saga is None else sagas.resume(door, saga, wait=wait))


@app.command()
def cancel(
    saga: SagaId,
    preview: Annotated[bool, typer.Option("--preview", help="Only say what would be undone, the fees and the residue.")] = False,
    store: Store = "",
    provider: Provider = "",
    as_json: Json = False,
) -> None:
    """Undo a saga."""
    _end(sagas.cancel(Door(store, provider, as_json), saga, preview=preview))


@app.command()
def resolve(
    saga: SagaId,
    operation: Annotated[str, typer.Argument(metavar="OPERATION")],
    resolution: Annotated[Resolution, typer.Option("--as", help="What a person found out.")],
    output: Annotated[str | None, typer.Option("--output", metavar="JSON", help="What it returned, if it landed.")] = None,
    store: Store = "",
    provider: Provider = "",
    as_json: Json = False,
) -> None:
    """Settle an operation that is held or stuck."""
    _end(sagas.resolve(Door(store, provider, as_json), saga, operation, resolution, output))


@app.command()
def status(
    saga: Annotated[str | None, typer.Argument(metavar="[SAGA]")] = None,
    at: Annotated[
        int | None, typer.Option("--at", metavar="VERSION", help="As it was when its journal had that many events.")
    ] = None,
    store: Store = "",
    provider: Provider = "",
    as_json: Json = False,
) -> None:
    """Where a saga stands, or all of them."""
    if saga is None and at is not None:
        raise InvalidInputError("say which saga stood there", field="SAGA")
    door = Door(store, provider, as_json)
    _end(sagas.list_all(door) if saga is None else sagas.status(door, saga, at))


@app.command()
def log(saga: SagaId, store: Store = "", provider: Provider = "", as_json: Json = False) -> None:
    """A saga's journal."""
    _end(sagas.log(Door(store, provider, as_json), saga))


@app.command()
def replay(saga: SagaId, store: Store = "", provider: Provider = "", as_json: Json = False) -> None:
    """Fold a saga's journal again, run its validators again, and report any difference."""
    _end(sagas.replay(Door(store, provider, as_json), saga))


@app.command()
def redact(
    saga: SagaId,
    fields: Annotated[list[str], typer.Option("--field", metavar="NAME", help="May be repeated.")],
    store: Store = "",
    provider: Provider = "",
    as_json: Json = False,
) -> None:
    """Make what a finished saga's journal has under these names unreadable, for good."""
    _end(sagas.redact(Door(store, provider, as_json), saga, fields))


@app.command()
def graph(
    saga: SagaId,
    form: Annotated[GraphFormat, typer.Option("--format")] = GraphFormat.MERMAID,
    store: Store = "",
    provider: Provider = "",
    as_json: Json = False,
) -> None:
    """A saga's dependency graph."""
    _end(sagas.graph(Door(store, provider, as_json), saga, mermaid=form is GraphFormat.MERMAID and not as_json))


@app.command()
def sandbox(
    port: Annotated[int, typer.Option("--port", help="0 takes a free one.")] = 8700,
    host: Annotated[str, typer.Option("--host")] = "127.0.0.1",
    database: Annotated[Path, typer.Option("--db", metavar="FILE")] = Path("sandbox.db"),
    faults: Annotated[Path | None, typer.Option("--faults", metavar="FILE.json")] = None,
    today: Annotated[datetime | None, typer.Option("--today", formats=["%Y-%m-%d"], metavar="DATE")] = None,
    without: Annotated[str, typer.Option("--without", metavar="dedup,void,deadline,refusals")] = "",
    key_retention: Annotated[float | None, typer.Option("--key-retention", metavar="SECONDS")] = None,
    market: Annotated[
        str, typer.Option("--market", metavar="static|moving", help="Whether other customers book too.")
    ] = "static",
    as_json: Json = False,
) -> None:
    """Run the sandbox reservation service."""
    from sagagraph.sandbox.server import SandboxSettings, serve

    withheld = frozenset(each.strip() for each in without.split(",") if each.strip())
    day: date | None = today.date() if today else None
    settings = SandboxSettings(database, faults, day, withheld, key_retention, market)

    def announce(url: str) -> None:
        if as_json:
            print_json({"url": url})
        else:
            stdout.print(f"the sandbox reservation service listens on {url}")

    serve(settings, host=host, port=port, on_ready=announce)


@app.command()
def validate(
    domain: Annotated[validation.JudgedDomain, typer.Argument(metavar="reunion|travel|jobshop")],
    problem: Annotated[Path, typer.Argument(metavar="PROBLEM", help="What the plan is for; of a trip, the request.")],
    plan: Annotated[Path, typer.Argument(metavar="PLAN")],
    event: Annotated[list[Path] | None, typer.Option("--event", metavar="EVENT.json", help="May be repeated.")] = None,
    executed_until: Annotated[
        str | None, typer.Option("--executed-until", metavar="HH:MM", help="What was done by then; of a job shop, a number.")
    ] = None,
    against: Annotated[Path | None, typer.Option("--against", metavar="OLDPLAN", help="As the plan was then.")] = None,
    store: Store = "",
    provider: Provider = "",
    as_json: Json = False,
) -> None:
    """Judge a plan, whoever made it."""
    door = Door(store, provider, as_json)
    if domain is validation.JudgedDomain.REUNION:
        _end(validation.validate_reunion(door, problem, plan, event or (), executed_until, against))
    if domain is validation.JudgedDomain.JOBSHOP:
        _end(validation.validate_job_shop(door, problem, plan, event or (), executed_until, against))
    if event or executed_until or against:
        raise InvalidInputError("is for reunions and job shops; a trip is judged as it is", field="--event")
    _end(validation.validate_trip(door, problem, plan))


@app.command()
def ui(
    port: Annotated[int, typer.Option("--port", help="0 takes a free one.")] = 7860,
    host: Annotated[str, typer.Option("--host", help="Anything but loopback asks for a user and a password.")] = "127.0.0.1",
    user: Annotated[str, typer.Option("--user", envvar="SAGAGRAPH_UI_USER", help="Who may log in.")] = "",
    password: Annotated[
        str, typer.Option("--password", envvar="SAGAGRAPH_UI_PASSWORD", help="Better in the environment: others see arguments.")
    ] = "",
    store: Store = "",
    provider: Provider = "",
    as_json: Json = False,
) -> None:
    """Run the app: plan, watch, break and undo trips in a browser; and the same over REST."""
    from sagagraph.cli.ui import serve_ui

    settings = Door(store, provider, as_json).settings
    _end(serve_ui(settings, host=host, port=port, user=user, password=password, as_json=as_json))


@db.command("upgrade")
def db_upgrade(store: Store = "", as_json: Json = False) -> None:
    """Create or migrate the store's tables."""
    _end(sagas.upgrade(Door(store, "", as_json)))


@db.command("project")
def db_project(
    saga: Annotated[str | None, typer.Argument(metavar="[SAGA]")] = None, store: Store = "", as_json: Json = False
) -> None:
    """Bring the projections' tables up to date: of that saga, or of all that have moved on."""
    _end(sagas.project(Door(store, "", as_json), saga))


@db.command("retire")
def db_retire(
    older_than: Annotated[float, typer.Option("--older-than", metavar="DAYS", help="What ended so many days ago, or earlier.")],
    archive: Annotated[Path | None, typer.Option("--archive", metavar="FILE.jsonl", help="Append them to this file.")] = None,
    drop: Annotated[bool, typer.Option("--drop", help="Keep no copy.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say which.")] = False,
    store: Store = "",
    as_json: Json = False,
) -> None:
    """Archive or drop the journals of sagas that have ended."""
    if drop is (archive is not None):
        raise InvalidInputError("say --archive FILE.jsonl or --drop, one of them", field="--archive")
    _end(sagas.retire(Door(store, "", as_json), older_than, archive, dry_run=dry_run))


def _end(command: Coroutine[Any, Any, int]) -> None:
    raise typer.Exit(asyncio.run(command))


def main() -> None:
    """The entry point: every way in which a command can end, as an exit code and one clear line."""
    if len(sys.argv) == 1:
        sys.argv.append("--help")
    try:
        code = app(standalone_mode=False)
        if code == INTERRUPTED:
            _print_error("interrupted", INTERRUPTED)
        sys.exit(code or 0)
    except TyperException as exc:
        _fail(exc.format_message(), 2)
    except (Abort, KeyboardInterrupt):
        _fail("interrupted", INTERRUPTED)
    except SagaGraphError as exc:
        _fail(str(exc), exc.exit_code, getattr(exc, "field", None))


def _fail(message: str, code: int, field: str | None = None) -> None:
    line = " ".join(message.split())
    stderr.print(f"sagagraph: {line}", markup=False)
    _print_error(line, code, field)
    sys.exit(code)


def _print_error(line: str, code: int, field: str | None = None) -> None:
    if "--json" in sys.argv:
        print_json({"error": {"message": line, "field": field, "exit_code": code}})
