"""Schemas: whether a value has a form, and whether one form fits another; of JSON Schema what records and lists need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sagagraph.workflow.values import Json

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (Mapping,),
    "array": (list, tuple),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "integer": (int,),
    "number": (int, float),
}


def misfits(value: Json, schema: Mapping[str, Any], where: str = "") -> Iterator[str]:
    """Yield in words where a value does not have the form: its type, required fields, properties, items, enum."""
    wanted = _types(schema)
    if wanted and not any(_is_a(value, each) for each in wanted):
        yield f"{where or 'it'} is no {' or '.join(wanted)}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where or 'it'} is none of {schema['enum']}"
    if isinstance(value, Mapping):
        for name in schema.get("required", ()):
            if name not in value:
                yield f"{where}{'.' if where else ''}{name} is missing"
        for name, inner in schema.get("properties", {}).items():
            if name in value and isinstance(inner, Mapping):
                yield from misfits(value[name], inner, f"{where}.{name}" if where else name)
    if isinstance(value, list | tuple) and isinstance(schema.get("items"), Mapping):
        for number, each in enumerate(value):
            yield from misfits(each, schema["items"], f"{where}[{number}]")


def clash(given: Mapping[str, Any], wanted: Mapping[str, Any]) -> str | None:
    """Return why values of the form `given` may not have the form `wanted`, or None."""
    types, allowed = set(_types(given)), set(_types(wanted))
    if types and allowed and not types <= allowed | ({"integer"} if "number" in allowed else set()):
        return f"{' or '.join(sorted(types))} where {' or '.join(sorted(allowed))} is wanted"
    made, needed = given.get("properties", {}), wanted.get("properties", {})
    for name in wanted.get("required", ()):
        if made and name not in made:
            return f"{name} is missing"
    for name in made.keys() & needed.keys():
        if isinstance(made[name], Mapping) and isinstance(needed[name], Mapping) and (why := clash(made[name], needed[name])):
            return f"{name}: {why}"
    return None


def _types(schema: Mapping[str, Any]) -> tuple[str, ...]:
    found = schema.get("type", ())
    return (found,) if isinstance(found, str) else tuple(found)


def _is_a(value: Json, name: str) -> bool:
    if isinstance(value, bool) and name in ("integer", "number"):
        return False
    return isinstance(value, _TYPES.get(name, (object,)))
