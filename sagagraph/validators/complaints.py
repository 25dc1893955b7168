"""Complaints: what pydantic finds wrong, in the terms of the file's author: one line each, naming the field."""

from __future__ import annotations

import json
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from sagagraph.errors import InvalidInputError

SHOWN_OF_A_VALUE: Final = 60
Form = TypeVar("Form", bound=BaseModel)


def checked(form: type[Form], value: object, *, field: str, is_part: bool = False) -> Form:
    """Return a value in that form. `field`: what the whole of it is called; `is_part`: whether names of its fields begin with
    that.

    Raises:
        InvalidInputError: the first fault, in one line that names the field.
    """
    try:
        return form.model_validate(value)
    except ValidationError as exc:
        name, message = in_words(exc)[0]
        raise InvalidInputError(message, field=f"{field}.{name}" if is_part and name else name or field) from exc


def in_words(error: ValidationError) -> tuple[tuple[str, str], ...]:
    """Return everything that is wrong as (field, message), one line each, in the order of the fields."""
    found = [each for each in error.errors() if each["type"] != "default_factory_not_called"]
    return tuple((_path(each["loc"]), _message(each)) for each in found)


def missing_in(fault: InvalidInputError) -> tuple[str, ...]:
    """Return all fields that are missing, where that is what pydantic found."""
    found = fault.__cause__
    listed = found.errors() if isinstance(found, ValidationError) else ()
    return tuple(_path(each["loc"]) for each in listed if each["type"] == "missing")


def _path(loc: tuple[int | str, ...]) -> str:
    """Return a path such as `stops[1].nights`. Pydantic's own additions, such as which type of a union it tried, are left out."""
    named = [part for part in loc if isinstance(part, int) or "[" not in part]
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in named).lstrip(".")


def _message(error: ErrorDetails) -> str:
    match error["type"]:
        case "missing":
            return "is missing" if error["msg"] == "Field required" else error["msg"]
        case "extra_forbidden":
            return "is not a known field"
        case "value_error":
            return str(error["ctx"]["error"])
        case "too_short":
            return "is empty"
        case "too_long":
            return f"has more than {error['ctx']['max_length']} of them"
        case "tuple_type":
            return f"must be a list, not {shown(error['input'])}"
        case "model_type" | "dict_type":
            return f"must be a JSON object, not {shown(error['input'])}"
        case "decimal_type" | "decimal_parsing":
            return f"must be a number, not {shown(error['input'])}"
        case _:
            rule = error["msg"].replace("Decimal input should", "must").replace("Input should", "must")
            return f"{rule}, not {shown(error['input'])}"


def shown(value: object) -> str:
    """Return a value as its author may know it: what JSON has words for, by those."""
    words = json.dumps(value) if value is None or isinstance(value, bool) else repr(value)
    return words[:SHOWN_OF_A_VALUE]
