"""Reading: JSON as one of our structures. Pure."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from sagagraph.errors import InvalidInputError

T = TypeVar("T")


def converted(value: object, kind: type[T], name: str, *, strict: bool = False) -> T:
    """Return the value as a structure. Raises `InvalidInputError`, naming the place, which begins with `name`."""
    try:
        return msgspec.convert(value, kind, strict=strict)
    except msgspec.ValidationError as exc:
        what, _, where = str(exc).partition(" - at `$")
        raise InvalidInputError(what, field=name + where.strip("`")) from exc
