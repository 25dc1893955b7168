"""Access: tokens and sessions of the app, hashes of passwords, settings with their sources, and who did what."""

from __future__ import annotations

import os
import secrets
import sys
import time
from dataclasses import asdict, is_dataclass
from datetime import UTC, datetime
from getpass import getpass
from typing import Any

from sagagraph.access.keys import TOKEN, Key, Keys
from sagagraph.access.login import hashed
from sagagraph.access.roles import Role
from sagagraph.cli import render
from sagagraph.cli.options import PERSON, Options
from sagagraph.cli.telling import tell
from sagagraph.registry import open_engine
from sagagraph.saga.stores.urls import public_name
from sagagraph.settings import Secret, Settings, names_of, read_configured
from sagagraph.ui.visitors import TOKEN_BYTES

_DAY_S = 86400.0
_SET = "(set)"


async def make_token(options: Options, name: str, role: str, days: float, about: str) -> int:
    """Print a new token, which is shown this once."""
    secret = secrets.token_urlsafe(TOKEN_BYTES)
    async with open_engine(options.settings, create=True) as engine:
        key = await Keys(engine.store, time.time).make(secret, TOKEN, name, Role(role), days * _DAY_S, about)
    tell({"token": secret, "key": _told(key)}, [secret], as_json=options.as_json)
    if not options.as_json:
        render.stderr.print(f"key {key.id} of {name}, {role}, until {_moment(key.ends_at)}; it is not shown again", markup=False)
    return 0


async def list_keys(options: Options) -> int:
    """List every token and session, also those that have ended."""
    async with open_engine(options.settings) as engine:
        keys = await Keys(engine.store, time.time).all()
    return tell({"keys": [_told(each) for each in keys]}, map(_line, keys), as_json=options.as_json)


def _line(key: Key) -> str:
    end = f"ended by {key.ended_by}" if key.ended_by else f"until {_moment(key.ends_at)}"
    return f"{key.id}  {key.kind}  {key.name}  {key.role.value}  {end}  {key.about}"


async def end_key(options: Options, key_id: str) -> int:
    async with open_engine(options.settings) as engine:
        key = await Keys(engine.store, time.time).end(key_id, PERSON)
    return tell(_told(key), [f"key {key.id} of {key.name} has ended"], as_json=options.as_json)


async def audit(options: Options, days: float | None) -> int:
    """Print what people did, one line or JSON document each, saga by saga."""
    from sagagraph.operating.audit import acts

    since = 0.0 if days is None else time.time() - days * _DAY_S
    async with open_engine(options.settings, only_looks=True) as engine:
        found = [each async for each in acts(engine, since)]
    if options.as_json:
        render.print_json({"acts": [{**asdict(each), "at": _moment(each.at)} for each in found]})
        return 0
    for each in found:
        details = ", ".join(f"{name} {value}" for name, value in each.details.items())
        where = f"{each.saga_id} version {each.version}" if each.version else each.saga_id
        render.stdout.print(f"{_moment(each.at)}  {each.by}  {each.what}  {where}  {details}", markup=False)
    return 0


def show_settings(*, as_json: bool) -> int:
    """Print each setting with its value and where it comes from; of secrets, only that they are set."""
    configured = read_configured(os.environ)
    shown = {name: _shown(name, getattr(configured.settings, name)) for name in names_of(Settings)}
    sources = {name: configured.sources.get(name, "default") for name in shown}
    if as_json:
        rows = [{"setting": name, "value": value, "source": sources[name]} for name, value in shown.items()]
        render.print_json({"settings": rows, "unknown": configured.unknown})
        return 0
    for name, value in shown.items():
        render.stdout.print(f"{name} = {value!r}  ({sources[name]})", markup=False)
    for each in configured.unknown:
        render.stderr.print(f"sagagraph: {each}", markup=False)
    return 0


def print_hash() -> int:
    """Print what the file of settings may hold instead of a password, which is typed or comes from standard input."""
    password = getpass() if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
    render.stdout.print(hashed(password), markup=False)
    return 0


def _shown(name: str, value: Any) -> Any:
    """Return the value as it can be shown to anybody."""
    if isinstance(value, Secret):
        return _SET if value else ""
    if is_dataclass(value):
        return {each: _shown(each, getattr(value, each)) for each in names_of(type(value))}
    if isinstance(value, dict):
        return {each: _shown(each, one) for each, one in value.items()}
    if name == "store" and value:
        return public_name(value)
    return _without_password(value) if isinstance(value, str) else value if value is None else _plain(value)


def _plain(value: Any) -> Any:
    return value if isinstance(value, int | float | bool) else str(value)


def _without_password(value: str) -> str:
    head, separator, rest = value.partition("://")
    return f"{head}{separator}{rest.rpartition('@')[2]}" if separator else value


def _told(key: Key) -> dict[str, Any]:
    return {**asdict(key), "made_at": _moment(key.made_at), "ends_at": _moment(key.ends_at)}


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
