"""Codec: events in the form in which a journal stores them: a type, a schema version, and JSON (docs/protocol.md rule 10)."""

from __future__ import annotations

from typing import NamedTuple, get_args

import msgspec

from sagagraph.errors import InvalidInputError, JournalError
from sagagraph.saga.core.events import Event
from sagagraph.saga.core.upcasting import SCHEMA_VERSION, is_current, upcast
from sagagraph.workflow.values import Json

_KINDS: dict[str, type[Event]] = {each.__name__: each for each in get_args(Event)}
_DECODERS: dict[str, msgspec.json.Decoder[Event]] = {name: msgspec.json.Decoder(kind) for name, kind in _KINDS.items()}


class Record(NamedTuple):
    type: str
    schema_version: int
    data: str


def encode(event: Event) -> Record:
    """Encode an event. Fields at their defaults are left out, so that a field added later reads the same from older journals."""
    return Record(type(event).__name__, SCHEMA_VERSION, _ENCODER.encode(event).decode())


def decode(record: Record, at: float) -> Event:
    """Decode an event. `at`: when it was appended, in seconds since the epoch, UTC. Raises `JournalError` for an unreadable
    one.
    """
    if not 1 <= record.schema_version <= SCHEMA_VERSION:
        raise _unknown(record)
    try:
        if record.schema_version == SCHEMA_VERSION or is_current(record.type, record.schema_version):
            decoder = _DECODERS.get(record.type)
            if decoder is not None:
                return decoder.decode(record.data)
        else:
            name, data = upcast(record.type, record.schema_version, _OBJECT.decode(record.data), at)
            if name in _KINDS:
                return msgspec.convert(data, _KINDS[name])
    except (msgspec.DecodeError, InvalidInputError, RecursionError) as exc:
        what, _, where = str(exc).partition(" - at `$")
        raise JournalError(f"an event {record.type!r} is damaged at {where.strip('.`') or 'its data'}: {what}") from exc
    raise _unknown(record)


def _unknown(record: Record) -> JournalError:
    return JournalError(
        f"an event {record.type!r} of schema {record.schema_version} is not known to this release; use a newer one"
    )


def _plain(value: object) -> str | int | float:
    """Write numbers and texts of subclasses (NumPy's, for example) as the plain values that they are."""
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind(value)
    raise TypeError(f"a {type(value).__name__} cannot be journalled")


_OBJECT = msgspec.json.Decoder(dict[str, Json])
_ENCODER = msgspec.json.Encoder(enc_hook=_plain)
