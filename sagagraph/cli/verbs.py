"""Verbs: the commands of the command line, and those that domains add; a domain's are loaded when one is called."""

from __future__ import annotations

from functools import cache
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from sagagraph.registry import AnyEntry, entries


@cache
def _added() -> dict[str, AnyEntry]:
    return {verb: entry for entry in entries() for verb in entry.commands}


class Verbs(TyperGroup):
    """Commands by name. `Any`: Typer does not publish the types of its commands and their contexts."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*super().list_commands(ctx), *_added()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; a domain's has only its name and its line of help at first."""
        own = super().get_command(ctx, cmd_name)
        if own is not None or cmd_name not in _added():
            return own
        return TyperCommand(cmd_name, callback=None, help=_added()[cmd_name].commands[cmd_name])

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, found, rest = super().resolve_command(ctx, args)
        if name in _added() and name not in self.commands:
            found = typer.main.get_command(_added()[name].command(name))
        return name, found, rest
