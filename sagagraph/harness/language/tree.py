"""Trees: an assertion as frozen nodes, and one walk over them, whatever their parts are turned into.

Everything with operands is a `Call`, so a walk over a tree needs to know only four kinds of node.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from flint import fmpq

COMPARISONS: Final = frozenset({"<", "<=", ">", ">=", "==", "!="})


@dataclass(frozen=True, slots=True)
class Literal:
    """Literal. `value`: an exact rational, a string or a boolean. `text`: as it is written."""

    value: fmpq | str | bool
    text: str


@dataclass(frozen=True, slots=True)
class Name:
    """Name of a variable, a derived quantity, or what `for` binds."""

    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """An operator or a function with its operands. `name`: `+ - * / ** neg`, a comparison, `in and or not implies if list`,
    a function.
    """

    name: str
    operands: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Each:
    """`all(body for bound in items)`, or `any`."""

    name: str
    body: Node
    bound: str
    items: Node


Node = Literal | Name | Call | Each
TRUE: Final = Literal(True, "true")


def parts_of(node: Node) -> tuple[Node, ...]:
    """Return its direct child nodes."""
    return node.operands if isinstance(node, Call) else (node.body, node.items) if isinstance(node, Each) else ()


def names_in(node: Node) -> tuple[str, ...]:
    """Return the free names, in the order in which they are read."""
    return tuple(dict.fromkeys(_names(node, frozenset())))


def _names(node: Node, bound: frozenset[str]) -> Iterator[str]:
    if isinstance(node, Name):
        if node.name not in bound:
            yield node.name
    elif isinstance(node, Each):
        yield from _names(node.items, bound)
        yield from _names(node.body, bound | {node.bound})
    else:
        for each in parts_of(node):
            yield from _names(each, bound)


_INFIX: Final = COMPARISONS | {"+", "-", "*", "/", "**", "in", "and", "or", "implies"}


def in_words(node: Node) -> str:
    """Write a tree as an assertion again; every operand other than a plain name or number gets parentheses."""
    match node:
        case Literal(value, text):
            return f'"{value}"' if isinstance(value, str) else text
        case Name(name):
            return name
        case Each(name, body, bound, items):
            return f"{name}({in_words(body)} for {bound} in {in_words(items)})"
        case Call("neg" | "not" as name, (operand,)):
            return f"{'-' if name == 'neg' else 'not '}{_operand(operand)}"
        case Call("if", (condition, then, otherwise)):
            return f"if {_operand(condition)} then {_operand(then)} else {_operand(otherwise)}"
        case Call(name, operands) if name in _INFIX:
            return f" {name} ".join(_operand(each) for each in operands)
        case Call(name, operands):
            listed = ", ".join(in_words(each) for each in operands)
            return f"[{listed}]" if name == "list" else f"{name}({listed})"


def short(node: Node) -> str:
    """Return it in words, shortened to fit a message."""
    said = in_words(node)
    return said if len(said) <= 120 else f"{said[:117]}..."


def _operand(node: Node) -> str:
    plain = not isinstance(node, Call) or (node.name.isalpha() and node.name not in _INFIX | {"neg", "not", "if"})
    return in_words(node) if plain else f"({in_words(node)})"


T = TypeVar("T")
Parts = Iterator[tuple[Node, T]]
"""Operands with their meanings, each computed only when it is asked for."""


class Meaning(ABC, Generic[T]):
    """Meaning of trees. `derived`: names of terms; the meaning of each is computed once."""

    def __init__(self, derived: Mapping[str, Node]) -> None:
        self._derived = derived
        self._known: dict[str, T] = {}

    def of(self, node: Node, bound: Mapping[str, T] | None = None) -> T:
        """Return what a node means. `bound`: what `for` has bound."""
        names = bound or {}
        match node:
            case Call():
                return self._call(node, names)
            case Literal():
                return self.literal(node)
            case Name(name):
                if name in names:
                    return names[name]
                if name not in self._known:
                    derived = self._derived.get(name)
                    self._known[name] = self.named(name) if derived is None else self.of(derived)
                return self._known[name]
            case Each(name, body, variable, items):
                listed = self.items(items, self.of(items, names))
                return self.joined("and" if name == "all" else "or",
                                   ((body, self.of(body, {**names, variable: each})) for each in listed))  # fmt: skip

    def _call(self, node: Call, bound: Mapping[str, T]) -> T:
        name, operands = node.name, node.operands
        match name:
            case "and" | "or":
                return self.joined(name, ((each, self.of(each, bound)) for each in operands))
            case "implies":
                return self.joined("or", self._implied(node, bound))
            case "if":
                then, otherwise = ((lambda each=each: self.of(each, bound)) for each in operands[1:])
                return self.chosen(node, self.of(operands[0], bound), then, otherwise)
        values = tuple(self.of(each, bound) for each in operands)
        if name == "in":
            listed = self.items(operands[1], values[1])
            return self.joined("or", ((node, self.applied("==", node, (values[0], each))) for each in listed))
        if name in ("all", "any"):
            listed = self.items(operands[0], values[0])
            return self.joined("and" if name == "all" else "or", ((operands[0], each) for each in listed))
        if name == "sum" or (name in ("min", "max") and len(values) == 1 and self.is_list(values[0])):
            values = self.items(operands[0], values[0])  # a single number is both the least and the most
        return self.applied(name, node, values)

    def _implied(self, node: Call, bound: Mapping[str, T]) -> Parts[T]:
        condition, then = node.operands
        yield condition, self.applied("not", node, (self.of(condition, bound),))
        yield then, self.of(then, bound)

    def is_list(self, value: T) -> bool:
        return isinstance(value, tuple)

    # -- what differs --

    @abstractmethod
    def literal(self, node: Literal) -> T: ...
    @abstractmethod
    def named(self, name: str) -> T: ...
    @abstractmethod
    def joined(self, word: str, parts: Parts[T]) -> T: ...
    @abstractmethod
    def chosen(self, node: Call, condition: T, then: Callable[[], T], otherwise: Callable[[], T]) -> T: ...
    @abstractmethod
    def items(self, node: Node, value: T) -> tuple[T, ...]: ...
    @abstractmethod
    def applied(self, name: str, node: Call, values: tuple[T, ...]) -> T:
        """Return what an operator or a function makes of values: of `len` and `list`, of a comparison, else of numbers.

        `name`: of the call, or of the operator that replaces it.
        """
