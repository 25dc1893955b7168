"""Commands of docs/formats.md section 2 that belong to no domain, and how each of them exits.

Only the names, options and help are here; what a command does is imported when it is called.
"""

from __future__ import annotations

import errno
import json
import re
import sys
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import Abort, TyperException

from sagagraph import __version__
from sagagraph.cli import options as o
from sagagraph.cli.harness.life import harness
from sagagraph.cli.logs import LogLevel, configure_logs
from sagagraph.cli.mission.commands import mission
from sagagraph.cli.operating.key_commands import token
from sagagraph.cli.operating.services import services
from sagagraph.cli.operating.store_commands import db
from sagagraph.cli.verbs import Verbs
from sagagraph.cli.workflow.commands import workflow
from sagagraph.errors import InvalidInputError, SagaGraphError
from sagagraph.extras import needing

INTERRUPTED = 130

app = o.Commands(cls=Verbs, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
fleets = typer.Typer(help="What a fleet of workers needs beside the store.")
app.add_typer(db, name="db")
app.add_typer(token, name="token")
app.add_typer(fleets, name="fleet")
app.add_typer(harness, name="harness")
app.add_typer(services, name="services")
app.add_typer(workflow, name="workflow")
app.add_typer(mission, name="mission")


class Found(StrEnum):
    """Result that a person reports about an operation: `Resolution`, whose module is slow to import."""

    LANDED = "landed"
    ABSENT = "absent"
    FAILED = "failed"
    COMPENSATED = "compensated"


class GraphFormat(StrEnum):
    MERMAID = "mermaid"
    JSON = "json"


def _tell_version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"sagagraph {__version__}\n")
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_tell_version, help="Print the release.")
    ] = False,
    log_level: Annotated[
        LogLevel, typer.Option("--log-level", envvar="SAGAGRAPH_LOG", help="Log lines on standard error, from this level on.")
    ] = LogLevel.OFF,
) -> None:
    """SagaGraph runs the plans of unreliable planners as reliable transactions."""
    configure_logs(log_level, as_json="--json" in sys.argv)


# -- sagas of every domain -------------------------------------------------------------------------------------------


@app.command()
def begin(
    options: o.Beginning,
    domain: Annotated[str, typer.Argument(metavar="DOMAIN")],
    text: o.Text = None,
    request: o.RequestFile = None,
    saga_id: o.NewSagaId = None,
    yes: o.Yes = False,
    only: o.PlanOnly = False,
) -> None:
    """Plan for any domain and, after approval, carry it out."""
    from sagagraph.cli import beginning

    if only:
        o.end(beginning.plan_only(options, domain, text, request))
    o.end(beginning.begin(options, domain, text, request, saga_id, approved=yes))


@app.command()
def change(
    options: o.Planning,
    saga: o.SagaId,
    text: o.Text = None,
    request: o.RequestFile = None,
    lost: Annotated[
        list[str] | None,
        typer.Option("--lost", metavar="OPERATION", help="An operation that has fallen through; may be repeated."),
    ] = None,
    yes: o.Yes = False,
    detach: o.Detach = False,
) -> None:
    """Change what a saga is to do, before its pivot or after; whatever is done and still fits is kept."""
    from sagagraph.cli import beginning

    o.end(beginning.change(options, saga, text, request, lost or (), approved=yes, detach=detach))


@app.command()
def watch(
    options: o.Looking,
    saga: o.SagaId,
    foreseen: Annotated[Path, typer.Option("--foreseen", metavar="NEWS.json", help="News of a delay, as its domain reads it.")],
    yes: o.Yes = False,
) -> None:
    """Judge what is foreseen for a running plan: normal, a warning, or a violation, which has the plan repaired in time."""
    from sagagraph.cli import beginning

    o.end(beginning.watch(options, saga, foreseen, approved=yes))


@app.command()
def approve(options: o.Acting, saga: o.SagaId, plan: o.PlanHash = None, detach: o.Detach = False) -> None:
    """Approve the plan that a saga shows, and carry it out."""
    from sagagraph.cli.operating import settling

    o.end(settling.ask_approval(options, saga, plan) if detach else settling.settle_plan(options, saga, plan, approved=True))


@app.command()
def reject(options: o.Acting, saga: o.SagaId, plan: o.PlanHash = None) -> None:
    """Reject the plan that a saga shows."""
    from sagagraph.cli.operating import settling

    o.end(settling.settle_plan(options, saga, plan, approved=False))


@app.command()
def resume(
    options: o.Planning,
    saga: o.AnySaga = None,
    every: Annotated[bool, typer.Option("--all", help="All that are open.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="With --all: go on until told to stop, as a worker does.")] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for a dead worker's lease to run out.")] = True,
    same_provider: o.SameProvider = False,
) -> None:
    """Resume a saga, or all that are open."""
    from sagagraph.cli.operating import settling

    if saga is not None and every:
        raise InvalidInputError("name a saga or say --all, not both", field="SAGA")
    if same_provider and (saga is None or not options.provider):
        raise InvalidInputError("name one saga, and say where its provider is: --provider URL", field="--same-provider")
    if watch and not every:
        raise InvalidInputError("watches all that are open: say --all", field="--watch")
    if watch:
        from sagagraph.cli.operating import fleet

        o.end(fleet.work(options, fleet.Work()))
    if saga is None:
        o.end(settling.resume_all(options, wait=wait))
    o.end(settling.resume(options, saga, wait=wait, same_provider=same_provider))


@app.command()
def cancel(
    options: o.Acting,
    saga: o.SagaId,
    preview: Annotated[bool, typer.Option("--preview", help="Only say what would be undone, the fees and the residue.")] = False,
    detach: o.Detach = False,
) -> None:
    """Undo a saga."""
    from sagagraph.cli.operating import settling

    o.end(settling.ask_cancel(options, saga) if detach else settling.cancel(options, saga, preview=preview))


@app.command()
def resolve(
    options: o.Acting,
    found: Annotated[Found, typer.Option("--as", help="What a person has found out.")],
    saga: Annotated[str, typer.Argument(metavar="[SAGA]")] = "",
    operations: Annotated[list[str] | None, typer.Argument(metavar="[OPERATION]...")] = None,
    output: Annotated[str | None, typer.Option("--output", metavar="JSON", help="What it returned, if it landed.")] = None,
    because: Annotated[str, typer.Option("--because", metavar="TEXT", help="How the person knows; it is journalled.")] = "",
    action: Annotated[str, typer.Option("--action", metavar="NAME", help="All held operations of this action.")] = "",
    error: Annotated[str, typer.Option("--error", metavar="CLASS", help="Only those that ended with this exception.")] = "",
    detach: o.Detach = False,
) -> None:
    """Settle operations that are held or stuck: those named, or with --action all alike, of one saga or of all."""
    from sagagraph.cli.operating import settling
    from sagagraph.saga.core.events import Resolution

    said = settling.Said(Resolution(found), output, because)
    which = settling.Which(saga, tuple(operations or ()), action, error)
    o.end(settling.ask_resolve(options, which, said) if detach else settling.resolve(options, which, said))


@app.command(name="yield")
def yield_locks(options: o.Looking, saga: o.SagaId) -> None:
    """Release the locks of a saga that is at a standstill to other sagas."""
    from sagagraph.cli.operating import settling

    o.end(settling.yield_locks(options, saga))


# -- looking ---------------------------------------------------------------------------------------------------------


@app.command()
def status(
    options: o.Looking,
    saga: o.AnySaga = None,
    at: Annotated[
        int | None, typer.Option("--at", metavar="VERSION", help="Its state when its journal had that many events.")
    ] = None,
    page: Annotated[int, typer.Option("--page", metavar="NUMBER", min=1, help="Of the list of all sagas, a hundred each.")] = 1,
) -> None:
    """Show where a saga stands, or list them, the latest first."""
    from sagagraph.cli.operating import looking

    if saga is None and at is not None:
        raise InvalidInputError("name the saga whose earlier state is meant", field="SAGA")
    o.end(looking.list_page(options, page) if saga is None else looking.status(options, saga, at))


@app.command()
def log(options: o.Looking, saga: o.SagaId) -> None:
    """Show a saga's journal."""
    from sagagraph.cli.operating import looking

    o.end(looking.log(options, saga))


@app.command()
def replay(options: o.Looking, saga: o.SagaId) -> None:
    """Fold a saga's journal again, run its validators again, and report any difference."""
    from sagagraph.cli.operating import looking

    o.end(looking.replay(options, saga))


@app.command()
def graph(
    options: o.Looking, saga: o.SagaId, form: Annotated[GraphFormat, typer.Option("--format")] = GraphFormat.MERMAID
) -> None:
    """Show a saga's dependency graph."""
    from sagagraph.cli.operating import looking

    is_mermaid = form is GraphFormat.MERMAID and not options.as_json
    o.end(looking.graph(options, saga, mermaid=is_mermaid))


@app.command()
def validate(
    options: o.Looking,
    domain: Annotated[str, typer.Argument(metavar="DOMAIN")],
    problem: Annotated[Path, typer.Argument(metavar="PROBLEM", help="The problem that the plan is for.")],
    plan: Annotated[Path, typer.Argument(metavar="PLAN")],
    event: o.Events = None,
    executed_until: Annotated[
        str | None,
        typer.Option(
            "--executed-until", metavar="MOMENT", help="Until when the old plan was carried out, in the problem's times."
        ),
    ] = None,
    against: Annotated[Path | None, typer.Option("--against", metavar="OLDPLAN", help="The plan as it was before.")] = None,
    without: Annotated[
        bool, typer.Option("--without-time-constraints", help="Recipes: no step must follow another within a time.")
    ] = False,
    criterion: Annotated[
        str | None,
        typer.Option("--criterion", metavar="SENTENCE", help="A criterion for a model to judge as well; it can only reject."),
    ] = None,
) -> None:
    """Judge a plan, whoever made it."""
    from sagagraph.cli.judging import judge
    from sagagraph.planning.entry import Case

    case = Case(problem, plan, tuple(event or ()), executed_until, against, without_time_constraints=without)
    o.end(judge(options, domain, case, criterion))


# -- services --------------------------------------------------------------------------------------------------------


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
    as_json: o.AsJson = False,
) -> None:
    """Run the sandbox reservation service."""
    from sagagraph.cli.render import announce

    with needing("sandbox"):
        from sagagraph.sandbox.server import SandboxSettings, serve

    withheld = frozenset(each.strip() for each in without.split(",") if each.strip())
    settings = SandboxSettings(database, faults, today.date() if today else None, withheld, key_retention, market)
    said = announce("the sandbox reservation service listens on", as_json=as_json)
    serve(settings, host=host, port=port, on_ready=said)


@app.command()
def worker(
    options: o.Acting,
    queue: Annotated[
        list[str] | None, typer.Option("--queue", metavar="DOMAIN", help="Drive sagas of this domain; may be repeated.")
    ] = None,
    documents: Annotated[bool, typer.Option("--documents", help="Beside --queue: sagas of workflow documents, too.")] = False,
    slots: Annotated[int, typer.Option("--slots", metavar="N", min=1, help="So many sagas at once.")] = 16,
    health: Annotated[
        int | None, typer.Option("--health", metavar="PORT", help="Serve /healthz, /readyz and /metrics on loopback.")
    ] = None,
    temporal: Annotated[
        str,
        typer.Option("--temporal", envvar="SAGAGRAPH_TEMPORAL", metavar="HOST:PORT", help="A Temporal server says what is due."),
    ] = "",
    build_id: Annotated[str, typer.Option("--build-id", metavar="ID", help="Temporal: get only sagas of this build.")] = "",
    promote: Annotated[bool, typer.Option("--promote", help="Temporal: this build is the current one from now on.")] = False,
    per_second: Annotated[
        float | None,
        typer.Option("--per-second", metavar="N", min=0.001, help="Drives of a queue, by all workers together."),
    ] = None,
) -> None:
    """Drive open sagas until told to stop; any number of workers share a store."""
    from sagagraph.cli.operating import fleet
    from sagagraph.workflow.language.document import WORKFLOWS

    if not temporal and (build_id or promote):
        raise InvalidInputError("only a Temporal server knows builds: --temporal HOST:PORT", field="--temporal")
    if promote and not build_id:
        raise InvalidInputError("says which build is promoted", field="--build-id")
    queues = (*(queue or ()), *((WORKFLOWS,) if queue and documents else ()))
    job = fleet.Work(queues, slots, health, temporal, build_id, promote, per_second)
    o.end(fleet.work(options, job))


@fleets.command("up")
def fleet_up(
    port: Annotated[int, typer.Option("--port")] = 7233,
    database: Annotated[Path, typer.Option("--db", metavar="FILE")] = Path("temporal.db"),
    ui_port: Annotated[int | None, typer.Option("--ui-port", help="Of its pages; without it, none.")] = None,
    as_json: o.AsJson = False,
) -> None:
    """Run an embedded Temporal server, for trying."""
    from sagagraph.cli.operating import fleet

    o.end(fleet.up(port, database, ui_port, as_json=as_json))


@app.command()
def mcp(
    options: o.Serving,
    http: Annotated[
        int | None,
        typer.Option("--http", metavar="PORT", help="Over HTTP on this machine; otherwise over standard input and output."),
    ] = None,
) -> None:
    """Serve sagas as MCP tools: begin, approve, status, resume, cancel."""
    from sagagraph.cli.mcp.server import serve

    o.end(serve(options, http))


@app.command()
def ui(
    options: o.Looking,
    port: Annotated[int, typer.Option("--port", help="0 takes a free one.")] = 7860,
    host: Annotated[str, typer.Option("--host", help="Anything but loopback needs a user and a password.")] = "127.0.0.1",
    user: Annotated[str, typer.Option("--user", envvar="SAGAGRAPH_UI_USER", help="Who may log in, as an operator.")] = "",
    password: Annotated[
        str, typer.Option("--password", envvar="SAGAGRAPH_UI_PASSWORD", help="Better in the environment: others see arguments.")
    ] = "",
) -> None:
    """Run the app: plan, watch, break and undo sagas in a browser; and the same over REST."""
    from sagagraph.cli.ui import serve_ui
    from sagagraph.settings import Secret

    settings = options.settings
    login = Secret(password) if password else settings.ui_password
    settings = replace(settings, ui_user=user or settings.ui_user, ui_password=login)
    o.end(serve_ui(settings, host=host, port=port, as_json=options.as_json))


# -- the store -------------------------------------------------------------------------------------------------------


@app.command()
def redact(
    options: o.Looking,
    saga: o.SagaId,
    fields: Annotated[list[str], typer.Option("--field", metavar="NAME", help="May be repeated.")],
) -> None:
    """Make the values under these names in a finished saga's journal unreadable, for good."""
    from sagagraph.cli.operating import store as stores

    o.end(stores.redact(options, saga, fields))


# -- who may what ------------------------------------------------------------------------------------------------------


@app.command()
def config(
    hash_it: Annotated[bool, typer.Option("--hash", help="Read a password, and print what the file may hold instead.")] = False,
    as_json: o.AsJson = False,
) -> None:
    """Print every setting, its value and where it comes from, without secrets."""
    from sagagraph.cli.operating import access

    raise typer.Exit(access.print_hash() if hash_it else access.show_settings(as_json=as_json))


@app.command()
def init(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="A folder that is not there yet, or empty.")],
    _store: o.UnusedStore = "",
    as_json: o.AsJson = False,
) -> None:
    """Begin a project of your own: a saga that books and undoes, its test, and how to run them."""
    from sagagraph.cli.skeleton import begin_project

    files = begin_project(name)
    if as_json:
        typer.echo(json.dumps({"files": [str(each) for each in files]}, indent=2))
    else:
        typer.echo("\n".join(map(str, files)))


@app.command()
def audit(
    options: o.Stored,
    days: Annotated[float | None, typer.Option("--days", min=0.0, help="Only what was done in the last days.")] = None,
) -> None:
    """Print what people did to sagas and keys, and when."""
    from sagagraph.cli.operating import access

    o.end(access.audit(options, days))


# -- ends ------------------------------------------------------------------------------------------------------------


def main() -> None:
    """Run the command line: every way in which a command can end becomes an exit code and one clear line."""
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
    except OSError as exc:
        if exc.errno != errno.ENOSPC:
            raise
        _fail(f"{exc.filename or 'standard output'} cannot be written: no space is left", 2)


def _fail(message: str, code: int, field: str | None = None) -> None:
    from sagagraph.cli.render import stderr

    line = re.sub(r"(:/{1,2})[^/@\s]*@", r"\1", " ".join(message.split()))  # an address, or as a path, where it does not belong
    stderr.print(f"sagagraph: {line}", markup=False)
    _print_error(line, code, field)
    sys.exit(code)


def _print_error(line: str, code: int, field: str | None = None) -> None:
    from sagagraph.cli.render import print_json

    if "--json" in sys.argv:
        print_json({"error": {"message": line, "field": field, "exit_code": code}})
