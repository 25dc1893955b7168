"""Forms: the board that a domain's request model has for nothing: a field for every value of its schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import BaseModel

from sagagraph.errors import InvalidInputError
from sagagraph.planning.fields import Field, Fields, State, Widget, choices_of

_ANY_NAME: Final = "*"


def fields_of(form: type[BaseModel], known: Mapping[str, Any]) -> Fields:
    """Return what is known as fields; those of values by name, such as counts by kind, end in a name."""
    told = (_field(name, schema, _value(known, name)) for name, schema in _leaves(form, known) if not name.endswith(_ANY_NAME))
    return Fields(form.__name__, tuple(told))


def any_named(form: type[BaseModel]) -> Iterator[Field]:
    """Return a field for each group of values by name; it ends in `*`."""
    return (_field(name, schema, None) for name, schema in _leaves(form, {}) if name.endswith(_ANY_NAME))


def to_name(form: type[BaseModel]) -> Fields:
    """Return a field for each group of counts by name, in which one more is named; it is then one of them."""
    counted = (each for each in any_named(form) if each.widget is Widget.NUMBER)
    one_more = (Field(each.name, f"{each.label.rpartition(':')[0]}: one more", size=12) for each in counted)
    return Fields("One more", tuple(one_more))


def with_value(form: type[BaseModel], known: Mapping[str, Any], name: str, value: str) -> dict[str, Any]:
    """Return what is known with another value, as it is typed; an empty one takes it away. Raises `InvalidInputError`."""
    schemas = dict(_leaves(form, known))
    if name.endswith(f".{_ANY_NAME}") and value:
        name, value = f"{name.removesuffix(_ANY_NAME)}{value}", "1"
    top, _, key = name.partition(".")
    schema = schemas.get(name, schemas.get(f"{top}.{_ANY_NAME}" if key else ""))
    if schema is None:
        raise InvalidInputError("there is no such field: look at the page again", field=name)
    typed = _typed(_field(name, schema, None).widget, value, name)
    told = {key: typed} if key else {top: typed}
    changed = {**(known.get(top) or {}), **told} if key else told
    changed = {each: one for each, one in changed.items() if one is not None}
    return {**known, top: changed} if key else {**{each: one for each, one in known.items() if each != top}, **changed}


def _typed(widget: Widget, value: str, name: str) -> Any:
    try:
        match widget:
            case _ if not value:
                return None
            case Widget.NUMBER:
                return int(value) if value.isdecimal() else float(value)
            case Widget.CHECK:
                return True
    except ValueError:
        raise InvalidInputError(f"“{value[:60]}” is no number", field=name) from None
    return value


def _leaves(form: type[BaseModel], known: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    whole = form.model_json_schema()
    for name, schema in whole.get("properties", {}).items():
        own = _plain(schema, whole)
        if isinstance(named := own.get("additionalProperties"), Mapping):
            yield from ((f"{name}.{key}", named) for key in (*(known.get(name) or {}), _ANY_NAME))
        elif own.get("type") not in ("array", "object", None):
            yield name, own


def _plain(schema: Mapping[str, Any], whole: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of a value that may be absent, wherever it is written."""
    first = next((each for each in schema.get("anyOf", ()) if each.get("type") != "null"), schema)
    reference = str(first.get("$ref", "")).rpartition("/")[2]
    return {**first, **whole.get("$defs", {}).get(reference, {})}


def _field(name: str, schema: Mapping[str, Any], value: Any) -> Field:
    widgets = {"integer": Widget.NUMBER, "number": Widget.NUMBER, "boolean": Widget.CHECK}
    widget = widgets.get(str(schema.get("type")), Widget.TEXT)
    widget = {"date": Widget.DATE, "time": Widget.TIME}.get(str(schema.get("format")), widget)
    widget = Widget.CHOICE if "enum" in schema else widget
    shown = "" if value in (None, False) else "yes" if value is True else str(value)
    label = name.replace("_", " ").replace(".", ": ")
    return Field(name, label, shown, widget, choices_of("", *map(str, schema.get("enum", ()))),
                 state=State.SAID if shown else State.OPEN)  # fmt: skip


def _value(known: Mapping[str, Any], name: str) -> Any:
    top, _, key = name.partition(".")
    value = known.get(top)
    return value.get(key) if key and isinstance(value, Mapping) else value
