"""Paths: references, requests and guards of a document as JSONPath, intrinsic functions and choice rules, and back.

A machine's data are `{"input", "done": {node: output}, "errors": {node: error}, "failed"}`; in a map also "item" and "index".
What a parallel node or a map has done is a list of such data, one for each branch or member.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, Final

from sagagraph.errors import InvalidInputError
from sagagraph.workflow.condition import All, AnyOf, Comparison, Condition, Failed, Not, OutputIs, Succeeded
from sagagraph.workflow.language.document import BINDINGS
from sagagraph.workflow.operation import reference, reference_in
from sagagraph.workflow.values import Json

Path = tuple[str | int, ...]
Rule = dict[str, Any]
ALL_ERRORS: Final = "States.ALL"
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_STEP = re.compile(r"\.([A-Za-z_][A-Za-z0-9_]*)|\['((?:[^'\\]|\\.)*)'\]|\[(\d+)\]")
_ARRAY = re.compile(r"States\.Array\((.*)\)", re.DOTALL)
_ARGUMENT = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|(\$[^,']*(?:\['(?:[^'\\]|\\.)*'\][^,']*)*)|([^,'\s]+))\s*(?:,|$)""")


def path_text(path: Path, base: str = "$") -> str:
    return base + "".join(_step(each) for each in path)


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _PLAIN.fullmatch(step) else "['" + step.replace("\\", "\\\\").replace("'", "\\'") + "']"


def read_path(text: str) -> Path:
    """Return the steps of a path from `$`. Raises `InvalidInputError` for one that this language does not express."""
    found: list[str | int] = []
    place = 1
    while place < len(text):
        step = _STEP.match(text, place)
        if step is None:
            raise InvalidInputError(f"{text!r} is no plain path from $", field="JSONPath")
        plain, quoted, number = step.groups()
        found.append(int(number) if number else plain or re.sub(r"\\(.)", r"\1", quoted))
        place = step.end()
    return tuple(found)


def place_of(node: str, path: Path, containers: Collection[str]) -> Path:
    """Return where a value of a node's output is in the data."""
    if node in BINDINGS:
        return (node, *path)
    inside = node in containers and len(path) > 1 and isinstance(path[0], int)
    inner = (path[0], "done", *path[1:]) if inside else path
    return ("done", node, *inner)


def node_at(place: Path, containers: Collection[str]) -> tuple[str, Path]:
    """Return which node's output is at a place, and the path in it; a place of anybody else's data is one of the input."""
    match place:
        case ("done", str(node), int(number), "done", *rest) if node in containers:
            return node, (number, *rest)
        case ("done", str(node), *rest):
            return node, tuple(rest)
        case (str(binding), *rest) if binding in BINDINGS:
            return binding, tuple(rest)
        case _:
            return "input", place


# -- requests ------------------------------------------------------------------------------------------------------------


def parameters(value: Json, containers: Collection[str], base: str = "$") -> Json:
    """Return a request with its references as paths. In a list that holds more than references and plain values, they stay as
    they are: the language has no way to say them.
    """
    if not isinstance(value, Mapping):
        return value
    found: dict[str, Any] = {}
    for key, each in value.items():
        if key.endswith(".$"):
            raise InvalidInputError(f"a field that is called {key!r} would be read as a path", field="params")
        said = _said(each, containers, base)
        found |= {key: parameters(each, containers, base)} if said is None else {f"{key}.$": said}
    return found


def _said(value: Json, containers: Collection[str], base: str) -> str | None:
    if (own := reference_in(value)) is not None:
        return path_text(place_of(*own, containers), base)
    if isinstance(value, list | tuple) and any(reference_in(each) for each in value):
        parts = [_argument(each, containers, base) for each in value]
        if None not in parts:
            return f"States.Array({', '.join(each for each in parts if each)})"
    return None


def _argument(value: Json, containers: Collection[str], base: str) -> str | None:
    if (own := reference_in(value)) is not None:
        return path_text(place_of(*own, containers), base)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return str(value) if isinstance(value, int | float) else "null" if value is None else None


def read_parameters(value: Json, containers: Collection[str]) -> Json:
    if not isinstance(value, Mapping):
        return value
    found: dict[str, Any] = {}
    for key, each in value.items():
        if key.endswith(".$"):
            found[key[:-2]] = _heard(each, containers)
        else:
            found[key] = read_parameters(each, containers)
    return found


def _heard(text: str, containers: Collection[str]) -> Json:
    if text.startswith("$") and not text.startswith("$$"):
        node, path = node_at(read_path(text), containers)
        return reference(node, *path)
    if listed := _ARRAY.fullmatch(text):
        return [_heard_argument(each, containers) for each in _ARGUMENT.finditer(listed[1]) if each[0]]
    raise InvalidInputError(f"{text!r} is computed, and documents compute nothing", field="Parameters")


def _heard_argument(found: re.Match[str], containers: Collection[str]) -> Json:
    quoted, path, plain = found.groups()
    if quoted is not None:
        return re.sub(r"\\(.)", r"\1", quoted)
    if path is not None:
        return _heard(path.strip(), containers)
    words: dict[str, Json] = {"true": True, "false": False, "null": None}
    return words[plain] if plain in words else float(plain) if "." in plain or "e" in plain else int(plain)


# -- guards --------------------------------------------------------------------------------------------------------------


_COMPARED: Final = {
    Comparison.EQUAL: "Equals",
    Comparison.LESS: "LessThan",
    Comparison.AT_MOST: "LessThanEquals",
    Comparison.MORE: "GreaterThan",
    Comparison.AT_LEAST: "GreaterThanEquals",
}
_TYPE_TESTS: Final = ("IsString", "IsNumeric", "IsBoolean")
_NEVER: Final[Rule] = {"Not": {"Variable": "$.done", "IsPresent": True}}
_ALWAYS: Final[Rule] = {"Variable": "$.done", "IsPresent": True}


def present(place: Path, base: str = "$") -> Rule:
    return {"Variable": path_text(place, base), "IsPresent": True}


def rule_of(condition: Condition, containers: Collection[str]) -> Rule:
    """Return a guard as a choice rule."""
    match condition:
        case Succeeded(node):
            return present(place_of(node, (), containers))
        case Failed(node, codes):
            place = ("errors", node)
            return failed_with(place, codes) if codes else present(place)
        case OutputIs(node, path, comparison, value):
            return _comparing(path_text(place_of(node, path, containers)), comparison, value)
        case All(conditions):
            return {"And": [rule_of(each, containers) for each in conditions]} if conditions else dict(_ALWAYS)
        case AnyOf(conditions):
            return {"Or": [rule_of(each, containers) for each in conditions]} if conditions else dict(_NEVER)
        case Not(inner):
            return {"Not": rule_of(inner, containers)}


def failed_with(place: Path, codes: Collection[str]) -> Rule:
    told = path_text((*place, "Error"))
    return {"And": [present(place), {"Or": [{"Variable": told, "StringEquals": each} for each in codes]}]}


def _comparing(variable: str, comparison: Comparison, value: Json) -> Rule:
    if comparison is Comparison.IN:
        each_of = [_comparing(variable, Comparison.EQUAL, each) for each in value] if isinstance(value, list) else []
        return {"Or": each_of} if each_of else dict(_NEVER)
    kind = "Boolean" if isinstance(value, bool) else "String" if isinstance(value, str) else "Numeric"
    if value is None or isinstance(value, list | Mapping) or (kind == "Boolean" and comparison not in _EQUALITIES):
        return dict(_NEVER)  # as here: what is neither a text, a number nor a truth compares with nothing
    tested = f"Is{kind}"
    is_unlike = comparison is Comparison.NOT_EQUAL
    compared: Rule = {"Variable": variable, f"{kind}{_COMPARED[Comparison.EQUAL if is_unlike else comparison]}": value}
    known = [{"Variable": variable, "IsPresent": True}, {"Variable": variable, tested: True}]
    return {"And": [*known, {"Not": compared} if is_unlike else compared]}


_EQUALITIES: Final = (Comparison.EQUAL, Comparison.NOT_EQUAL)


def condition_in(rule: Rule, containers: Collection[str]) -> Condition:
    """Return a choice rule as a guard. Raises `InvalidInputError` for one that guards do not express."""
    if "And" in rule:
        return _heard_and(rule["And"], containers)
    if "Or" in rule:
        return AnyOf(tuple(condition_in(each, containers) for each in rule["Or"]))
    if "Not" in rule:
        return Not(condition_in(rule["Not"], containers))
    place = read_path(rule.get("Variable", "$"))
    node, path = node_at(place, containers)
    if rule.get("IsPresent") is True and place[:1] == ("errors",) and len(place) == 2:
        return Failed(str(place[1]))
    if rule.get("IsPresent") is True and not path:
        return Succeeded(node) if place != ("done",) else All(())
    for comparison, words in _COMPARED.items():
        for kind in ("String", "Numeric", "Boolean"):
            if f"{kind}{words}" in rule:
                return OutputIs(node, path, comparison, rule[f"{kind}{words}"])
    raise InvalidInputError(f"the rule {rule} has no guard that says the same", field="Choices")


def _heard_and(rules: list[Rule], containers: Collection[str]) -> Condition:
    match rules:
        case [{"IsPresent": True, "Variable": one}, {"Variable": two, **test}, compared] if one == two and _is_type_test(test):
            inner = compared.get("Not", compared)
            heard = condition_in(inner, containers)
            if isinstance(heard, OutputIs) and inner is not compared:
                return OutputIs(heard.operation, heard.path, Comparison.NOT_EQUAL, heard.value)
            return heard
        case [{"IsPresent": True, "Variable": str(told)}, {"Or": codes}] if read_path(told)[:1] == ("errors",):
            return Failed(str(read_path(told)[1]), tuple(each["StringEquals"] for each in codes))
        case _:
            return All(tuple(condition_in(each, containers) for each in rules))


def _is_type_test(test: Mapping[str, Any]) -> bool:
    return len(test) == 1 and next(iter(test)) in _TYPE_TESTS
