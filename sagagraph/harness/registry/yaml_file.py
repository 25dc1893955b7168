"""YAML files read exactly: numbers are the rationals that are written, no key stands twice, nothing refers to anything else."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, Final

import yaml
from flint import fmpq

from sagagraph.errors import InvalidInputError
from sagagraph.harness.language.parser import NotANumberError, rational

MOST_DEPTH: Final = 20


class _Loader(yaml.SafeLoader):
    """Scalars as in YAML 1.2: `no` is a string, 2.5e8 a number."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - PyYAML's own way to say which scalars are no strings

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Refuse aliases: ten lines of them can stand for a thousand million values."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.MarkedYAMLError(problem="it refers to something else (*)", problem_mark=self.get_mark())
        return super().compose_node(parent, index)


for _name, _pattern in {
    "null": r"~|null|Null|NULL|[-+]?\.(inf|Inf|INF)|",
    "bool": r"true|True|TRUE|false|False|FALSE",
    "float": r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?",
    "nan": r"\.(nan|NaN|NAN)",
}.items():
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_name}", re.compile(rf"^(?:{_pattern})$"), None)


def read_yaml(text: str, where: str) -> Any:
    """Return what the file says: dictionaries, lists, strings, booleans, `fmpq`, and None for null and for infinities.

    Raises:
        InvalidInputError: names the line that cannot be read.
    """
    try:
        node = _Loader(text).get_single_node()
        return None if node is None else _value(node, 0)
    except yaml.MarkedYAMLError as exc:
        at = f" in line {exc.problem_mark.line + 1}" if exc.problem_mark else ""
        raise InvalidInputError(f"is not YAML: {exc.problem or 'cannot be read'}{at}", field=where) from exc
    except _FaultError as exc:
        raise InvalidInputError(str(exc), field=where) from exc
    except (yaml.YAMLError, RecursionError, ValueError) as exc:
        said = str(exc).splitlines()[0][:120] if str(exc) else "nested too deep"
        raise InvalidInputError(f"is not YAML: {said}", field=where) from exc


class _FaultError(Exception):
    def __init__(self, message: str, node: yaml.Node) -> None:
        super().__init__(f"{message}, in line {node.start_mark.line + 1}")


def _value(node: yaml.Node, depth: int) -> Any:
    if depth > MOST_DEPTH:
        raise _FaultError(f"is nested more than {MOST_DEPTH} deep", node)
    if isinstance(node, yaml.SequenceNode):
        return [_value(each, depth + 1) for each in node.value]
    if not isinstance(node, yaml.MappingNode):
        return _scalar(node)
    found: dict[str, Any] = {}
    for key, each in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise _FaultError("a key must be a word", key)
        if key.value in found:
            raise _FaultError(f"{key.value!r} stands twice", key)
        found[key.value] = _value(each, depth + 1)
    return found


def _scalar(node: yaml.Node) -> Any:
    text = str(node.value)
    match node.tag.rpartition(":")[2]:
        case "null":
            return None
        case "str":
            return text
        case "bool":
            return text.lower() == "true"
        case "float":
            try:
                return rational(text)
            except NotANumberError as exc:
                raise _FaultError(str(exc), node) from exc
        case "nan":
            raise _FaultError("not a number", node)
    raise _FaultError(f"the tag {node.tag} is not supported", node)


def yaml_text(document: Any) -> str:
    """Return a document as YAML that reads as the same document; numbers must be decimals."""
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's signature
        return True


def _written(dumper: yaml.SafeDumper, value: fmpq) -> yaml.Node:
    number = Decimal(int(value.p)) if value.q == 1 else Decimal(int(value.p)) / Decimal(int(value.q))
    return dumper.represent_scalar("tag:yaml.org,2002:float", str(number))


_Dumper.add_representer(fmpq, _written)
