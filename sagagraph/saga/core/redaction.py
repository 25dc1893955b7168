"""Redaction: makes personal fields of a finished saga unreadable without changing what its journal folds to. Pure.

Only free JSON payloads are touched: what people and providers said. Ids, keys, statuses, hashes, times and who decided what stay
as they are, and so does every reference from one operation's inputs to another's output.
"""

from __future__ import annotations

import json
import re
import typing
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from sagagraph.errors import InvalidInputError
from sagagraph.saga.core.codec import decode, encode
from sagagraph.saga.core.events import BroughtIn, Event, Fault
from sagagraph.validators.verdict import Certificate, Verdict, Violation
from sagagraph.workflow.operation import OperationSpec, references
from sagagraph.workflow.values import Json

REDACTED = "[redacted]"

_PAYLOADS = frozenset(
    {"request", "inputs", "output", "undo_output", "plan", "cost", "alternatives", "scope", "evidence", "shown", "remedies"}
)
"""Fields of events whose content is somebody else's JSON."""
_PAYLOADS_BY_NAME = frozenset({"outputs"})
"""The same, one level further down: by operation."""
_TEXTS = frozenset({"message", "reason", "reasons", "reasoning", "justification", "detail", "cause", "residue"})
"""Sentences, in which a redacted value may be quoted."""
_QUOTING = frozenset({"agents"})
"""Payloads that may also quote a redacted value under another name."""
_KINDS = (*typing.get_args(Event), OperationSpec, BroughtIn, Fault, Verdict, Violation, Certificate)
_STRUCTURE = frozenset(name for kind in _KINDS for name in kind.__annotations__) | {"$from", "path"}
_LEAST_QUOTED = 4
"""Shorter values are too common in sentences to be looked for in them."""


def is_redacted(value: object) -> bool:
    """Tell whether something in `value` was made unreadable."""
    if isinstance(value, Mapping):
        return any(map(is_redacted, value.values()))
    if isinstance(value, list | tuple):
        return any(map(is_redacted, value))
    return isinstance(value, str) and value == REDACTED


def checked_fields(fields: Iterable[str]) -> tuple[str, ...]:
    """Check field names. Raises `InvalidInputError` for an empty list, and for names that journals are made of."""
    if isinstance(fields, str):
        raise InvalidInputError(f"give a list of names, not {fields!r} alone", field="fields")
    names = tuple(dict.fromkeys(fields))
    if not names or not all(isinstance(each, str) and each for each in names):
        raise InvalidInputError("name what is to be made unreadable", field="fields")
    if taken := [each for each in names if each in _STRUCTURE]:
        raise InvalidInputError(f"{taken[0]!r} is a name that journals are made of: it cannot be redacted", field="fields")
    return names


@dataclass(frozen=True, slots=True)
class Redaction:
    """What to hide: `fields` wherever payloads have them; `quoted` texts that stood there, also within sentences."""

    fields: frozenset[str]
    quoted: tuple[str, ...] = ()

    def event(self, event: Event) -> Event:
        record = encode(event)
        hidden = record._replace(data=_written(self._structure(json.loads(record.data))))
        return decode(hidden, at=0.0)  # of the present schema, which does not use `at`

    def payload(self, value: Json) -> Json:
        """Return a free JSON value with the values under these names hidden."""
        if isinstance(value, Mapping):
            return {name: _hidden(each) if name in self.fields else self.payload(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.payload(each) for each in value]
        return value

    def _structure(self, value: Json) -> Json:
        if isinstance(value, Mapping):
            return {name: self._field(name, each) for name, each in value.items()}
        return [self._structure(each) for each in value] if isinstance(value, list) else value

    def _field(self, name: str, value: Json) -> Json:
        if name in _PAYLOADS:
            return self.payload(value)
        if name in _QUOTING:
            return self._quoting(self.payload(value))
        if name in _PAYLOADS_BY_NAME and isinstance(value, Mapping):
            return {key: self.payload(each) for key, each in value.items()}
        return self._sentences(value) if name in _TEXTS else self._structure(value)

    def _quoting(self, value: Json) -> Json:
        if isinstance(value, Mapping):
            return {name: self._quoting(each) for name, each in value.items()}
        return [self._quoting(each) for each in value] if isinstance(value, list) else self._sentences(value)

    def _sentences(self, value: Json) -> Json:
        if isinstance(value, list):
            return [self._sentences(each) for each in value]
        if not isinstance(value, str):
            return self._structure(value)
        for each in self.quoted:
            if value == each:
                return REDACTED
            if len(each) >= _LEAST_QUOTED:
                value = re.sub(rf"(?<!\w){re.escape(each)}(?!\w)", lambda _found: REDACTED, value)
        return value


def redaction_of(fields: Collection[str], events: Iterable[Event], rows: Iterable[Json]) -> Redaction:
    """Return the redaction that hides `fields` in all of these. Raises `InvalidInputError` for a field that none of them has."""
    found: dict[str, list[Json]] = {name: [] for name in fields}
    for event in events:
        _collect(json.loads(encode(event).data), found)
    for row in rows:
        _collect(row, found)
    if missing := [name for name, values in found.items() if not values]:
        raise InvalidInputError(f"nothing in the journal is called {missing[0]!r}", field="fields")
    texts = {text for values in found.values() for value in values for text in _texts(value)}
    return Redaction(frozenset(fields), tuple(sorted(texts - {"", REDACTED}, key=lambda each: (-len(each), each))))


def _collect(value: Json, found: dict[str, list[Json]]) -> None:
    """Collect every value under one of these names. Names that journals are made of are not among them."""
    if isinstance(value, Mapping):
        for name, each in value.items():
            if name in found:
                found[name].append(each)
            _collect(each, found)
    elif isinstance(value, list | tuple):
        for each in value:
            _collect(each, found)


def _texts(value: Json) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def _hidden(value: Json) -> Json:
    """Hide a value. A reference discloses nothing: its target is hidden where it stands."""
    if not any(True for _name in references(value)):
        return REDACTED
    if isinstance(value, Mapping) and "$from" not in value:
        return {name: _hidden(each) for name, each in value.items()}
    return [_hidden(each) for each in value] if isinstance(value, list) else value


def _written(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
