"""Events as they stand in a journal: a type, a schema version, and JSON (PROTOCOL rule 10)."""

from __future__ import annotations

from typing import Any, NamedTuple, get_args

from pydantic import TypeAdapter, ValidationError

from sagagraph.errors import JournalError
from sagagraph.saga.events import Event

SCHEMA_VERSION = 1

_TYPES: dict[str, type[Any]] = {each.__name__: each for each in get_args(Event)}
_ADAPTERS: dict[type[Any], TypeAdapter[Any]] = {}


class Record(NamedTuple):
    type: str
    schema_version: int
    data: str


def encode(event: Event) -> Record:
    """What equals a field's default is left out, so that a field added later reads the same from older journals."""
    data = _adapter(type(event)).dump_json(event, exclude_defaults=True).decode()
    return Record(type(event).__name__, SCHEMA_VERSION, data)


def decode(record: Record) -> Event:
    """Raises `JournalError` for what this release can not read."""
    kind = _TYPES.get(record.type)
    if kind is None or record.schema_version > SCHEMA_VERSION:
        raise JournalError(
            f"an event {record.type!r} of schema {record.schema_version} is not known to this release; use a newer one"
        )
    try:
        event: Event = _adapter(kind).validate_json(record.data)
    except ValidationError as exc:
        first = exc.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "its data"
        raise JournalError(f"an event {record.type!r} is damaged at {where}: {first['msg']}") from exc
    return event


def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]
