"""Verdicts: what a validator answers, with its violations and a certificate that lets the verdict be replayed. Pure.

They are structs, so that the core of the saga can read them. Their `model_…` methods have the names of pydantic's, because they
were pydantic models in release 0.2, and users' programs call them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Self

import msgspec
from msgspec import NODEFAULT, Struct, field
from msgspec.structs import fields, force_setattr, replace

from sagagraph.context.slice import ContextSlice, content_hash
from sagagraph.workflow.values import Json

_ADDED_LATER = ("additions", "notes", "kind", "scope", "slices", "found", "certificates")
"""Left out when empty, so that verdicts without them are written as they were before these fields existed."""


class VerdictStatus(StrEnum):
    VALID = "VALID"
    INVALID = "INVALID"
    UNKNOWN = "UNKNOWN"
    """The validator could not judge: an outage is never a violation."""


class _Part(Struct, frozen=True, kw_only=True):
    """A part of a verdict, and its JSON form."""

    def model_dump(self, *, mode: str = "json", exclude_defaults: bool = False) -> dict[str, Json]:  # noqa: ARG002 - as pydantic's
        """Return it as JSON, in either mode. Raises `TypeError` for a value that JSON cannot hold."""
        return _document(self, omits_defaults=exclude_defaults)

    def model_dump_json(self) -> str:
        return msgspec.json.encode(self.model_dump()).decode()

    @classmethod
    def model_validate(cls, document: object) -> Self:
        """Read from its JSON form. Raises `ValueError` for anything else."""
        return document if isinstance(document, cls) else msgspec.convert(document, cls)

    @classmethod
    def model_validate_json(cls, text: str | bytes) -> Self:
        return cls.model_validate(msgspec.json.decode(text))

    def model_copy(self, *, update: Mapping[str, object]) -> Self:
        return replace(self, **update)


class Violation(_Part, frozen=True, kw_only=True):
    """One rule broken once, in one place."""

    code: str
    """The rule, in capitals: `BUDGET_EXCEEDED`."""
    message: str
    scope: dict[str, Json] = field(default_factory=dict)
    """Who, where, which leg or operation."""
    evidence: dict[str, Json] = field(default_factory=dict)
    """The numbers that show it: what was found, what was allowed."""


class Certificate(_Part, frozen=True, kw_only=True):
    """What a verdict was based on, so that it can be replayed: the same slice and validator give the same verdict."""

    validator: str
    version: int
    artifact_hash: str
    slice_hash: str
    slice_tokens: int
    """For a certificate of several slices: the tokens of the largest."""
    kind: str = ""
    scope: str = ""
    """The part of the plan that the slice showed."""
    slices: int = 0
    """For how many slices it stands, if for several; `slice_hash` is then their root hash."""
    found: tuple[str, ...] = ()
    """The codes of the violations that this validator found in this slice."""

    def __post_init__(self) -> None:
        """Accept lists as well."""
        if type(self.found) is not tuple:
            force_setattr(self, "found", tuple(self.found))

    def covers(self, artifact: object, context: ContextSlice) -> bool:
        """Tell whether it was made for exactly these: it says nothing about a changed plan or slice."""
        return (self.artifact_hash, self.slice_hash) == (content_hash(artifact), context.hash)


class Verdict(_Part, frozen=True, kw_only=True):
    verdict: VerdictStatus
    violations: tuple[Violation, ...] = ()
    reason: str = ""
    """Why it is UNKNOWN; empty otherwise."""
    additions: dict[str, Json] = field(default_factory=dict)
    """What the artifact lacks and may be filled in (augmentation); nothing existing is ever overridden by it."""
    notes: tuple[str, ...] = ()
    """What the artifact's author should know next time (feedback), for VALID artifacts too."""
    certificate: Certificate | None = None
    certificates: tuple[Certificate, ...] = ()
    """One for each validator and each slice, if several have judged parts of the artifact."""

    def __post_init__(self) -> None:
        """Accept lists and plain strings as well."""
        if type(self.verdict) is not VerdictStatus:
            force_setattr(self, "verdict", VerdictStatus(self.verdict))
        for name in ("violations", "notes", "certificates"):
            if type(listed := getattr(self, name)) is not tuple:
                force_setattr(self, name, tuple(listed))

    @property
    def is_valid(self) -> bool:
        return self.verdict is VerdictStatus.VALID

    @classmethod
    def of(cls, violations: Iterable[Violation]) -> Verdict:
        """Return INVALID if there is a violation, VALID otherwise."""
        found = tuple(violations)
        return cls(verdict=VerdictStatus.INVALID if found else VerdictStatus.VALID, violations=found)

    @classmethod
    def unknown(cls, reason: str) -> Verdict:
        return cls(verdict=VerdictStatus.UNKNOWN, reason=reason)


def _document(part: _Part, *, omits_defaults: bool) -> dict[str, Json]:
    document: dict[str, Json] = {}
    for each in fields(part):
        value = getattr(part, each.name)
        may_be_empty = each.default is not NODEFAULT or each.default_factory is not NODEFAULT
        if may_be_empty and not value and (omits_defaults or each.name in _ADDED_LATER):
            continue
        document[each.name] = _written(value, omits_defaults=omits_defaults)
    return document


def _written(value: object, *, omits_defaults: bool) -> Json:
    if isinstance(value, _Part):
        return _document(value, omits_defaults=omits_defaults)
    if isinstance(value, tuple):
        return [_written(each, omits_defaults=omits_defaults) for each in value]
    return msgspec.json.decode(msgspec.json.encode(value, enc_hook=_plain))


def _plain(value: object) -> object:
    """Return plain JSON for a pydantic model in a validator's evidence, or a number or text of a special class (NumPy's, for
    example).
    """
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind(value)
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON")
