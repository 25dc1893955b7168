"""`sagagraph harness freeze`, `propose`, `approve`, `run`, `override`, `audit`, `replay`: who decided what about a harness."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sagagraph.cli import options as o
from sagagraph.cli.harness.commands import File, harness, load
from sagagraph.cli.options import Options
from sagagraph.cli.telling import tell
from sagagraph.errors import NotAllowedError

__all__ = ["harness"]
"""The group with the commands of both modules."""

if TYPE_CHECKING:
    from sagagraph.harness.life.records import Records
    from sagagraph.harness.registry.harness import Harness

By = Annotated[str, typer.Option("--by", metavar="NAME", help="The person who decides this.")]
Role = Annotated[str, typer.Option("--role", metavar="reader|author|approver")]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT")]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


async def _with_records(
    options: Options,
    harness_id: str,
    work: Callable[[Records], Coroutine[Any, Any, Any]],
    *,
    create: bool = False,
    fault: str = "",
) -> int:
    """Open the records, and exit with 1 if the result has something under `fault`."""
    from sagagraph.harness.life.records import Records
    from sagagraph.registry import open_engine

    async with open_engine(options.settings, create=create) as engine:
        found = await work(Records(engine.store, harness_id))
    tell(found, (f"{key}: {value}" for key, value in found.items()), as_json=options.as_json)
    return 1 if found.get(fault) else 0


@harness.command("freeze")
def freeze_command(options: o.Stored, file: File, by: By, role: Role = "author") -> None:
    """Freeze a version: its tests are kept, every mutant is noticed or waived, its satisfiability is stated."""
    loaded = load(file)
    from sagagraph.harness.life.records import Person

    work = lambda records: records.freeze(loaded, Person(by, role), _now())  # noqa: E731 - one line a command
    o.end(_with_records(options, loaded.id, work, create=True))


@harness.command("propose")
def propose_command(options: o.Stored, file: File, by: By, reason: Reason, role: Role = "author") -> None:
    """Propose a new version of a frozen harness."""
    loaded = load(file)
    from sagagraph.harness.life.records import Person

    work = lambda records: records.propose(loaded, Person(by, role), reason, _now())  # noqa: E731 - one line a command
    o.end(_with_records(options, loaded.id, work, create=True))


@harness.command("approve")
def approve_command(options: o.Stored, file: File, by: By, role: Role = "approver") -> None:
    """Approve a proposal; its author cannot."""
    loaded = load(file)
    from sagagraph.harness.life.records import Person

    work = lambda records: records.approve(loaded, Person(by, role), _now())  # noqa: E731 - one line a command
    o.end(_with_records(options, loaded.id, work))


@harness.command("override")
def override_command(
    options: o.Stored,
    file: File,
    parameter: Annotated[str, typer.Option("--parameter", metavar="NAME")],
    to: Annotated[str, typer.Option("--to", metavar="NUMBER")],
    report: Annotated[str, typer.Option("--report", metavar="HASH", help="The hash of the report that `run` showed.")],
    by: By,
    reason: Reason,
    role: Role = "approver",
    until: Annotated[
        datetime | None,
        typer.Option(
            "--until", formats=["%Y-%m-%d"], metavar="DATE", help="The last day on which it applies; otherwise it is for one run."
        ),
    ] = None,
) -> None:
    """Sign another value of one negotiable parameter, for one report, once."""
    loaded = load(file)
    from sagagraph.harness.life.records import Override, Person

    before = loaded.variables[parameter].value if parameter in loaded.variables else ""
    given = Override(parameter=parameter, before=str(before), to=to, report=report, by=by, role=role, reason=reason,
                     until=until.date().isoformat() if until else "")  # fmt: skip
    work = lambda records: records.override(loaded, given, Person(by, role), _now())  # noqa: E731 - one line a command
    o.end(_with_records(options, loaded.id, work))


@harness.command("audit")
def audit_command(options: o.Stored, name: Annotated[str, typer.Argument(metavar="HARNESS", help="The harness's id.")]) -> None:
    """List what was frozen, proposed, approved and overridden, by whom and until when."""
    work = lambda records: records.audit(datetime.now(UTC).date())  # noqa: E731 - one line a command
    o.end(_with_records(options, name, work, fault="broken_links"))


@harness.command("report")
def report_command(options: o.Unstored, file: File) -> None:
    """Print the report of a paradox as Markdown: what conflicts, what was tried, what each way out costs."""
    loaded = load(file)
    from sagagraph.harness.life.report import deadlock, markdown
    from sagagraph.harness.proof.explain import Status, explain

    found = explain(loaded)
    if found.status is not Status.PARADOX:
        raise NotAllowedError(f"there is no paradox to report: it is {found.status.value}")
    said = deadlock(loaded, found)
    tell(said, [markdown(loaded, said)], as_json=options.as_json)


@harness.command("learn")
def learn_command(
    options: o.Stored,
    file: File,
    run: Annotated[str, typer.Argument(metavar="RUN", help="The id of a run that ended in success.")],
    name: Annotated[str, typer.Option("--name", metavar="WORD", help="The name of the new rule and its test.")],
) -> None:
    """Propose a rule and a test for a decision of a run that should not have passed; prints the next version as YAML, and stores
    nothing.
    """
    loaded = load(file)
    o.end(_learn(options, loaded, run, name))


async def _learn(options: Options, loaded: Harness, saga_id: str, name: str) -> int:
    from sagagraph.harness.life.cases import learned
    from sagagraph.harness.life.records import Records
    from sagagraph.harness.loop.running import artifact_of
    from sagagraph.harness.registry.yaml_file import yaml_text
    from sagagraph.registry import open_engine

    async with open_engine(options.settings) as engine:
        artifact = await artifact_of(engine, loaded, saga_id, Records(engine.store, loaded.id), datetime.now(UTC).date())
    document = {"file": yaml_text(learned(loaded, artifact, name).document)}
    return tell(document, document.values(), as_json=options.as_json)


@harness.command("replay")
def replay_command(
    options: o.Unstored,
    file: File,
    proof: Annotated[Path, typer.Argument(metavar="PROOF.json", help="What `explain --json` printed, or one certificate of it.")],
) -> None:
    """Check certificates with the independent checker."""
    loaded = load(file)
    from sagagraph.files import json_file
    from sagagraph.harness.proof.checker import replay

    said = json_file(proof, "PROOF")
    listed = said.get("certificates", [said]) if isinstance(said, dict) else [said]
    found = [replay(loaded, each) for each in listed]
    accepted = bool(found) and all(each.accepted for each in found)
    words = ["accepted" if each.accepted else f"refused: {each.reason}" for each in found]
    tell({"accepted": accepted, "certificates": [asdict(each) for each in found]}, words, as_json=options.as_json)
    raise typer.Exit(0 if accepted else 1)


@harness.command("run")
def run_command(
    options: o.Stored,
    file: File,
    saga_id: Annotated[str, typer.Option("--saga-id", metavar="ID", help="Run that saga, or resume it.")],
    script: Annotated[
        Path | None, typer.Option("--script", metavar="ANSWERS.json", help="Prepared answers by attempt, instead of a model.")
    ] = None,
    request: Annotated[
        str,
        typer.Option("--request", metavar="TEXT", help="A request in words, which a model, or the script, divides into tasks."),
    ] = "",
) -> None:
    """Let executors decide the variables until all rules pass. Without a model, executors follow the gradients."""
    loaded = load(file)
    o.end(_run(options, loaded, saga_id, script, request))


async def _run(options: Options, loaded: Any, saga_id: str, script: Path | None, request: str) -> int:
    from sagagraph.context.quoting import new_nonce
    from sagagraph.files import json_file
    from sagagraph.harness.life.records import Records
    from sagagraph.harness.loop.executors import asking, decomposing, obedient, scripted
    from sagagraph.harness.loop.external import validators_of
    from sagagraph.harness.loop.running import Asking, ended_json, run_harness
    from sagagraph.registry import model_of, open_engine

    settings = options.settings
    model = model_of(settings)
    answers = json_file(script, "--script") if script else {}
    executor = scripted(answers) if script else asking(model, new_nonce) if model else obedient()

    async def prepared(_asked: Any, number: str) -> Any:
        return answers.get(number)

    decomposer = decomposing(model, new_nonce) if model and not script else prepared
    wanted = Asking(request, decomposer) if request else None
    async with open_engine(settings, create=True) as engine:
        today = datetime.now(UTC).date()
        records, allowed = Records(engine.store, loaded.id), validators_of(settings.harness_validators)
        ending = run_harness(engine, loaded, saga_id, executor, records, today, wanted, allowed)
        document = await ended_json(loaded, saga_id, ending)
    tell(document, _words(document), as_json=options.as_json)
    return 0 if document["end"] == "SUCCESS" else 1


def _words(document: dict[str, Any]) -> Iterator[str]:
    yield from (f"{key}: {json.dumps(value)}" for key, value in document.items() if value not in (None, "", [], {}))
