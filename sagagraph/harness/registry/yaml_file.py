"""YAML files read exactly: numbers are the rationals that are written, no key occurs twice, and there are no references."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, Final

import yaml
from flint import fmpq

from sagagraph.errors import InvalidInputError
from sagagraph.harness.language.parser import NotANumberError, rational

MOST_DEPTH: Final = 20
_SCALARS: Final[dict[str, tuple[str, Callable[[str], Any]]]] = {
    "null": (r"~|null|Null|NULL|[-+]?\.(inf|Inf|INF)|", lambda _: None),
    "bool": (r"true|True|TRUE|false|False|FALSE", lambda text: text.lower() == "true"),
    "float": (r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|\.(nan|NaN|NAN)", rational),
    "str": ("", str),
}
"""Scalars as in YAML 1.2: `no` is a string, 2.5e8 a number. There are no infinities."""


def read_yaml(text: str, where: str) -> Any:
    """Return what the file says: dictionaries, lists, strings, booleans, `fmpq`, and None for null and for infinities.

    Raises:
        InvalidInputError: names the line that cannot be read.
    """
    try:
        return yaml.load(text, _Loader)  # noqa: S506 - it makes nothing but what is named above
    except yaml.MarkedYAMLError as exc:
        at = f" in line {exc.problem_mark.line + 1}" if exc.problem_mark else ""
        raise InvalidInputError(f"cannot be read as YAML: {exc.problem}{at}", field=where) from exc
    except (yaml.YAMLError, RecursionError, ValueError) as exc:
        said = str(exc).splitlines()[0][:120] if str(exc) else "nested too deep"
        raise InvalidInputError(f"cannot be read as YAML: {said}", field=where) from exc


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - PyYAML's own way to say which scalars are no strings
    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Refuse what is nested too deep, and aliases: ten lines of them can stand for a thousand million values."""
        self.depth += 1
        if self.depth > MOST_DEPTH or self.check_event(yaml.AliasEvent):
            said = "it refers to something else (*)" if self.depth <= MOST_DEPTH else f"it is nested more than {MOST_DEPTH} deep"
            raise yaml.MarkedYAMLError(problem=said, problem_mark=self.get_mark())
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def scalar(self, node: yaml.ScalarNode) -> Any:
        try:
            return _SCALARS[node.tag.rpartition(":")[2]][1](self.construct_scalar(node))
        except NotANumberError as exc:
            raise yaml.MarkedYAMLError(problem=str(exc), problem_mark=node.start_mark) from exc

    def mapping(self, node: yaml.Node) -> Iterator[dict[str, Any]]:
        found: dict[str, Any] = {}
        yield found
        for key, each in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.value in found:
                said = f"{key.value!r} occurs twice" if isinstance(key, yaml.ScalarNode) else "a key must be a word"
                raise yaml.MarkedYAMLError(problem=said, problem_mark=key.start_mark)
            found[key.value] = self.construct_object(each, deep=True)


_TAG: Final = "tag:yaml.org,2002:"
_Loader.yaml_constructors = {
    **dict.fromkeys((f"{_TAG}{each}" for each in _SCALARS), _Loader.scalar),
    f"{_TAG}seq": yaml.SafeLoader.construct_yaml_seq,
    f"{_TAG}map": _Loader.mapping,
    None: yaml.SafeLoader.construct_undefined,
}
for _name, (_pattern, _) in _SCALARS.items():
    if _pattern:
        _Loader.add_implicit_resolver(f"{_TAG}{_name}", re.compile(rf"^(?:{_pattern})$"), None)


def yaml_text(document: Any) -> str:
    """Return a document as YAML that reads as the same document; numbers must be decimals."""
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's signature
        return True


def decimal_text(value: fmpq) -> str:
    """Return a decimal number as it is written."""
    return str(Decimal(int(value.p)) if value.q == 1 else Decimal(int(value.p)) / Decimal(int(value.q)))


def _written(dumper: yaml.SafeDumper, value: fmpq) -> yaml.Node:
    return dumper.represent_scalar(f"{_TAG}{'int' if value.q == 1 else 'float'}", decimal_text(value))


_Dumper.add_representer(fmpq, _written)
