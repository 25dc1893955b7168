"""Trees: what an assertion says, as frozen nodes.

Everything with operands is a `Call`, so that a walk over a tree needs to know four kinds of node.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from flint import fmpq

COMPARISONS: Final = frozenset({"<", "<=", ">", ">=", "==", "!="})
LIST: Final = "list"
"""The name of a call whose operands are the items of a list."""


@dataclass(frozen=True, slots=True)
class Literal:
    """`value`: an exact rational, a string or a boolean. `text`: as it is written."""

    value: fmpq | str | bool
    text: str


@dataclass(frozen=True, slots=True)
class Name:
    """A variable, a derived quantity, or what `for` binds."""

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
    """Return the nodes right below it."""
    return node.operands if isinstance(node, Call) else (node.body, node.items) if isinstance(node, Each) else ()


def depth_of(node: Node) -> int:
    """Return the number of nodes on the longest way down; a node for each, not a call for each."""
    deepest, level = 0, [node]
    while level:
        deepest += 1
        level = [part for each in level for part in parts_of(each)]
    return deepest


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
    """Write a tree as an assertion again; every operand that is no plain name or number stands in parentheses."""
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
            return f"[{listed}]" if name == LIST else f"{name}({listed})"


def short(node: Node) -> str:
    """Return it in words, cut to what a message has room for."""
    said = in_words(node)
    return said if len(said) <= 120 else f"{said[:117]}..."


def _operand(node: Node) -> str:
    plain = not isinstance(node, Call) or (node.name.isalpha() and node.name not in _INFIX | {"neg", "not", "if"})
    return in_words(node) if plain else f"({in_words(node)})"
