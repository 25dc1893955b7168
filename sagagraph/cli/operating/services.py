"""`sagagraph services`: the ready-made actions, what each promises, and whether an account keeps it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from sagagraph.cli import options as o
from sagagraph.cli.telling import tell
from sagagraph.errors import InvalidInputError

if TYPE_CHECKING:
    from sagagraph.services.contract.check import Report
    from sagagraph.services.service import Service, Sheet

SECRET = "SAGAGRAPH_SECRET"  # noqa: S105 - the name of a variable
services = typer.Typer(
    help="Ready-made actions for real services, and what each promises.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
)


@services.callback()
def listed(context: typer.Context, as_json: o.AsJson = False) -> None:
    if context.invoked_subcommand is not None:
        return
    from dataclasses import asdict

    from sagagraph.services.catalogue import services as known

    found = [
        {"name": each.name, "about": each.about, "extra": each.extra, "actions": [asdict(sheet) for sheet in each.sheets]}
        for each in known()
    ]
    tell({"services": found}, (line for each in known() for line in _lines(each)), as_json=as_json)


@services.command("check")
def check_command(
    name: Annotated[str, typer.Argument(metavar="NAME")],
    url: Annotated[str, typer.Option("--url", metavar="URL", help="A test account: what is booked there is real.")],
    secret_from: Annotated[
        str, typer.Option("--secret-from", metavar="VARIABLE", help="The environment variable with the password or key.")
    ] = SECRET,
    ledger: Annotated[
        str, typer.Option("--ledger", help="Where the records are, if the service shows nobody what arrived.")
    ] = "",
    given: Annotated[
        list[str] | None, typer.Option("--option", metavar="NAME=VALUE", help="What only this service asks for; may be repeated.")
    ] = None,
    sample: Annotated[int, typer.Option(min=0, help="At most so many places for each fault; 0: all.")] = 0,
    as_json: o.AsJson = False,
) -> None:
    """Run the contract against an account, and say which guarantee does not hold."""
    import asyncio
    import uuid

    from sagagraph.services.catalogue import service_of
    from sagagraph.services.contract.check import Bench, check
    from sagagraph.services.service import Account

    service = service_of(name)
    account = Account.of(url, os.environ.get(secret_from, ""), ledger=ledger, options=_options(given or ()))
    report = asyncio.run(check(service, Bench(account), f"trial-{uuid.uuid4().hex[:12]}", sample=sample))
    document = {
        "service": name,
        "sagas": report.sagas,
        "broken": report.broken,
        "held": report.held,
        "not_asked": report.not_asked,
    }
    tell(document, _report_lines(report), as_json=as_json)
    raise typer.Exit(1 if report.broken else 0)


def _options(given: list[str] | tuple[()]) -> dict[str, str]:
    if wrong := next((each for each in given if "=" not in each), None):
        raise InvalidInputError(f"write {wrong!r} as NAME=VALUE", field="--option")
    return dict(each.split("=", 1) for each in given)


def _lines(service: Service) -> Iterator[str]:
    with_extra = f" (pip install 'sagagraph[{service.extra}]')" if service.extra else ""
    yield f"{service.name}: {service.about}{with_extra}"
    for sheet in service.sheets:
        yield from _sheet_lines(sheet)


def _sheet_lines(sheet: Sheet) -> Iterator[str]:
    yield f"  {sheet.action} ({sheet.kind.value}): {sheet.does}"
    yield f"    undo: {sheet.undo or 'none'}"
    yield f"    probe: {sheet.probe or 'none'}"
    for each in sheet.promises:
        yield f"    {each.term}: {each.says} [{each.source}]"
    yield f"    cannot be undone: {sheet.lasting}"


def _report_lines(report: Report) -> Iterator[str]:
    yield f"{report.sagas} sagas"
    yield from (f"BROKEN {each}" for each in report.broken)
    yield from (f"held, as documented: {each}" for each in report.held)
    yield from (f"not asked: {each}" for each in report.not_asked)
    yield f"{len(report.broken)} broken"
