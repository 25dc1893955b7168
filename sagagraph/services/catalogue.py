"""Catalogue of the services that come with the package, from their sheets; a module is imported when its service is opened."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any

from sagagraph.errors import InvalidInputError
from sagagraph.services.service import Account, Opened, Promise, Service, Sheet
from sagagraph.workflow.kind import ActionKind


@cache
def services() -> tuple[Service, ...]:
    sheets = tomllib.loads((files("sagagraph.services") / "sheets.toml").read_text(encoding="utf-8"))
    return tuple(_service(name, said) for name, said in sheets.items())


def service_of(name: str) -> Service:
    """Return the service of that name. Raises `InvalidInputError`, which lists those that there are."""
    found = next((each for each in services() if each.name == name), None)
    if found is None:
        raise InvalidInputError(f"there are {', '.join(each.name for each in services())}, not {name!r}", field="NAME")
    return found


def _service(name: str, said: Mapping[str, Any]) -> Service:
    sheets = tuple(_sheet(action, each) for action, each in said["actions"].items())

    def opened(account: Account) -> AbstractAsyncContextManager[Opened]:
        opening: AbstractAsyncContextManager[Opened] = import_module(f"sagagraph.services.{name}").open_account(account)
        return opening

    return Service(name, said["about"], said["extra"], sheets, opened, frozenset(said.get("faults", ())))


def _sheet(action: str, said: Mapping[str, Any]) -> Sheet:
    promises = tuple(Promise(term, *words) for term, words in said.get("promises", {}).items())
    texts = {name: said[name] for name in ("does", "undo", "probe", "lasting")}
    return Sheet(action=action, kind=ActionKind(said["kind"]), promises=promises, **texts)
