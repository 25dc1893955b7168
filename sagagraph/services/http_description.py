"""Description of an HTTP service: which operations of its OpenAPI document book, undo and ask, and what is promised of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from sagagraph.errors import InvalidInputError
from sagagraph.extras import needing
from sagagraph.validators.complaints import checked

with needing("http"):
    import yaml


class _Form(BaseModel, extra="forbid", frozen=True):
    pass


class Step(_Form):
    """Step: an operation of the document (`operationId`), and where its parameters and its body come from.

    A text that begins with `$` stands for a value: `$key`, `$deadline`, `$saga`, `$operation`, `$request.NAME`, `$result.NAME`.
    `key`: the header that carries the idempotency key.
    """

    operation: str
    parameters: dict[str, Any] = {}
    body: Any = None
    key: str = ""


class Ask(Step):
    """Question: what lies at `found` (an object, or a list of them) is what landed. `undone`: how one looks that was undone."""

    found: str = ""
    undone: dict[str, Any] = {}
    voided: str = ""


class Promised(_Form):
    """Promises, with the `source` of each; `dedup` and `settles` in seconds."""

    dedup: float | None = None
    settles: float | None = None
    void: bool = False
    deadline: bool = False
    refusals_final: bool = False
    source: str


class Described(_Form):
    """Action. Without `undo` and `void` it is a pivot: nothing takes it back."""

    does: str = ""
    lasting: str = ""
    """What of it cannot be undone."""
    book: Step
    ask: Ask | None = None
    undo: Step | None = None
    void: Step | None = None
    result: dict[str, str]
    """What is journalled of an answer: names, and where each lies in it (JSON Pointer, RFC 6901)."""
    promises: Promised | None = None


class Tried(_Form):
    """Trial of an action: what it is asked for, and where the records are that it leaves.

    `look` is asked first, and is `$looked` in the request. Of the records at `rows` those are counted in which the text at `name`
    is the saga's name, and that look like `live`; of each list in `once` there may be one.
    """

    action: str
    look: Step | None = None
    request: dict[str, Any]
    records: Step
    rows: str
    name: str
    live: dict[str, Any] = {}
    once: tuple[str, ...] = ()


class Description(_Form):
    openapi: str
    """The document: a file beside this description, or its http(s) address."""
    actions: dict[str, Described]
    trial: Tried | None = None


def described(text: str) -> Description:
    """Read a description. Raises `InvalidInputError`: the first fault, by its field."""
    try:
        said = yaml.safe_load(text)
    except yaml.YAMLError as exc:
        raise InvalidInputError(f"is no YAML: {exc}", field="description") from exc
    return checked(Description, said, field="")


def at(value: Any, pointer: str) -> Any:
    """Return what lies at a JSON Pointer (RFC 6901); None if nothing does."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list):
            value = value[int(name)] if name.isdecimal() and int(name) < len(value) else None
        else:
            value = value.get(name) if isinstance(value, Mapping) else None
    return value


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """Return a template with the values for which its texts stand. What is asked for is never read as a template itself."""
    if isinstance(template, Mapping):
        return {name: filled(each, values) for name, each in template.items()}
    if isinstance(template, list):
        return [filled(each, values) for each in template]
    if not isinstance(template, str) or not template.startswith("$"):
        return template
    first, *path = template[1:].split(".")
    if first not in values:
        raise InvalidInputError(f"{template!r} stands for nothing; there are {', '.join(f'${each}' for each in values)}")
    return at(values[first], "".join(f"/{each}" for each in path))
