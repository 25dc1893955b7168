"""Reading: JSON as one of our structures, and the schema that asks for it. Pure."""

from __future__ import annotations

from typing import Any, TypeVar

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


def schema_of(kind: type) -> dict[str, Any]:
    """Return the JSON Schema of a structure with its fields at the top, where clients of models look for them: behind a `$ref`
    they see none.
    """
    found = msgspec.json.schema(kind)
    defined = found.get("$defs", {})
    top = defined[found["$ref"].rpartition("/")[2]] if "$ref" in found else found
    return {**top, "title": kind.__name__, "$defs": defined}
