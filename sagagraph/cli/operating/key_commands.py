"""Commands of `sagagraph token`. What a command does is imported when it is called."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from sagagraph.cli import options as o
from sagagraph.cli.options import Options

token = typer.Typer(help="Tokens for programs that use the app's REST interface, and sessions of browsers.")


class RoleGiven(StrEnum):
    """Role of a token: `Role`, whose module needs the extra `ui`."""

    READER = "reader"
    PLANNER = "planner"
    OPERATOR = "operator"


@token.command("create")
def token_create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose acts its acts are.")],
    role: Annotated[RoleGiven, typer.Option("--role", help="What it may do.")] = RoleGiven.READER,
    days: Annotated[float, typer.Option("--days", min=0.001, max=3650.0, help="How long it holds.")] = 90.0,
    about: Annotated[str, typer.Option("--for", metavar="TEXT", help="What it is for.")] = "",
    store: o.Store = "",
    as_json: o.AsJson = False,
) -> None:
    """Make a token, and print it this once."""
    from sagagraph.cli.operating import access

    o.end(access.make_token(Options(store, as_json=as_json), name, role.value, days, about))


@token.command("list")
def token_list(store: o.Store = "", as_json: o.AsJson = False) -> None:
    """List tokens and sessions, also those that have ended."""
    from sagagraph.cli.operating import access

    o.end(access.list_keys(Options(store, as_json=as_json)))


@token.command("end")
def token_end(
    key: Annotated[str, typer.Argument(metavar="KEY", help="As `token list` names it.")],
    store: o.Store = "",
    as_json: o.AsJson = False,
) -> None:
    """End a token or a session at once."""
    from sagagraph.cli.operating import access

    o.end(access.end_key(Options(store, as_json=as_json), key))
