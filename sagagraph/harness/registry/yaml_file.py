"""YAML files read exactly: numbers are the rationals that are written, no key stands twice, nothing refers to anything else."""

from __future__ import annotations

from collections.abc import Mapping
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


_CORE: Final = {"null": r"~|null|Null|NULL|", "bool": r"true|True|TRUE|false|False|FALSE",
                "float": r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"}  # fmt: skip


def _add_resolvers() -> None:
    import re

    for name, pattern in _CORE.items():
        _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{name}", re.compile(rf"^(?:{pattern})$"), None)


_add_resolvers()


def read_yaml(text: str, where: str) -> Any:
    """Return what the file says: dictionaries, lists, strings, booleans, None and `fmpq`.

    Raises:
        InvalidInputError: names the line that cannot be read.
    """
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        return None if node is None else _value(node, where, 0)
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark
        at = f" in line {mark.line + 1}" if mark else ""
        raise InvalidInputError(f"is not YAML: {exc.problem or 'cannot be read'}{at}", field=where) from exc
    except (yaml.YAMLError, RecursionError, ValueError) as exc:
        raise InvalidInputError(
            f"is not YAML: {str(exc).splitlines()[0][:120] if str(exc) else 'nested too deep'}", field=where
        ) from exc


def _value(node: yaml.Node, where: str, depth: int) -> Any:
    line = node.start_mark.line + 1
    if depth > MOST_DEPTH:
        raise InvalidInputError(f"is nested more than {MOST_DEPTH} deep in line {line}", field=where)
    if isinstance(node, yaml.MappingNode):
        found: dict[str, Any] = {}
        for key, each in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else None
            if name is None or name in found:
                said = f"{name!r} stands twice" if name is not None else "a key must be a word"
                raise InvalidInputError(f"{said}, in line {key.start_mark.line + 1}", field=where)
            found[name] = _value(each, where, depth + 1)
        return found
    if isinstance(node, yaml.SequenceNode):
        return [_value(each, where, depth + 1) for each in node.value]
    return _scalar(node, where, line)


def _scalar(node: yaml.Node, where: str, line: int) -> Any:
    text, kind = str(node.value), node.tag.rpartition(":")[2]
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() == "true"
    if kind == "float":
        if text.lower().lstrip("+-") in (".inf", ".nan"):
            return None if text.lower() != ".nan" else _refuse("not a number", where, line)
        try:
            return rational(text)
        except NotANumberError as exc:
            raise InvalidInputError(f"{exc}, in line {line}", field=where) from exc
    return text if kind == "str" else _refuse(f"the tag {node.tag} is not supported", where, line)


def _refuse(message: str, where: str, line: int) -> Any:
    raise InvalidInputError(f"{message}, in line {line}", field=where)


def yaml_text(document: Any) -> str:
    """Return a document as YAML that reads as the same document; numbers that no decimal is equal to are refused there."""
    return yaml.dump(_plain(document), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


class _Number(str):
    """A number as it is written."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    pass


_Dumper.add_representer(_Number, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:float", text))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, fmpq):
        return _Number(value.p if value.q == 1 else Decimal(int(value.p)) / Decimal(int(value.q)))
    return value
