"""Commands of `sagagraph token`. What a command does is imported when it is called."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from sagagraph.cli import options as o

token = o.Commands(help="Tokens for programs that use the app's REST interface, and sessions of browsers.")


class RoleGiven(StrEnum):
    """Role of a token: each `Role` but that of guests, who have none."""

    READER = "reader"
    PLANNER = "planner"
    OPERATOR = "operator"


@token.command("create")
def token_create(
    options: o.Stored,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose acts its acts are.")],
    role: Annotated[RoleGiven, typer.Option("--role", help="What it may do.")] = RoleGiven.READER,
    days: Annotated[float, typer.Option("--days", min=0.001, max=3650.0, help="How long it holds.")] = 90.0,
    about: Annotated[str, typer.Option("--for", metavar="TEXT", help="What it is for.")] = "",
) -> None:
    """Make a token, and print it this once."""
    from sagagraph.cli.operating import access

    o.end(access.make_token(options, name, role.value, days, about))


@token.command("list")
def token_list(options: o.Stored) -> None:
    """List tokens and sessions, also those that have ended."""
    from sagagraph.cli.operating import access

    o.end(access.list_keys(options))


@token.command("end")
def token_end(options: o.Stored, key: Annotated[str, typer.Argument(metavar="KEY", help="As `token list` names it.")]) -> None:
    """End a token or a session at once."""
    from sagagraph.cli.operating import access

    o.end(access.end_key(options, key))
