"""Meaning: one walk over a tree, for whatever its parts are to become: exact values, units, inequalities.

What operators and functions do is said by the class that inherits from `Meaning`; how names, lists, `if` and `for` are followed
is the same for all of them, and written here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

from sagagraph.harness.language.tree import COMPARISONS, Call, Each, Literal, Name, Node

T = TypeVar("T")
Parts = Iterator[tuple[Node, T]]
"""Operands with what they mean, each found only when it is asked for."""


class Meaning(ABC, Generic[T]):
    """`derived`: names of terms; what each means is found once."""

    def __init__(self, derived: Mapping[str, Node]) -> None:
        self._derived = derived
        self._known: dict[str, T] = {}

    def of(self, node: Node, bound: Mapping[str, T] | None = None) -> T:
        """Return what a node means. `bound`: what `for` has bound."""
        names = bound or {}
        match node:
            case Call():
                return self._call(node, names)
            case Name(name):
                return names[name] if name in names else self._named(node)
            case Literal():
                return self.literal(node)
            case Each(name, body, variable, items):
                listed = self.items(items, self.of(items, names))
                return self.joined("and" if name == "all" else "or",
                                   ((body, self.of(body, {**names, variable: each})) for each in listed))  # fmt: skip

    def _named(self, node: Name) -> T:
        if node.name not in self._known:
            derived = self._derived.get(node.name)
            self._known[node.name] = self.named(node.name) if derived is None else self.of(derived)
        return self._known[node.name]

    def _call(self, node: Call, bound: Mapping[str, T]) -> T:
        name, operands = node.name, node.operands
        if name in COMPARISONS:
            return self.compared(name, node, self.of(operands[0], bound), self.of(operands[1], bound))
        match name:
            case "and" | "or":
                return self.joined(name, ((each, self.of(each, bound)) for each in operands))
            case "not":
                return self.negated(operands[0], self.of(operands[0], bound))
            case "implies":
                return self.joined("or", self._implied(node, bound))
            case "if":
                then, otherwise = ((lambda each=each: self.of(each, bound)) for each in operands[1:])
                return self.chosen(node, self.of(operands[0], bound), then, otherwise)
            case "in":
                wanted = self.of(operands[0], bound)
                listed = self.items(operands[1], self.of(operands[1], bound))
                return self.joined("or", ((node, self.compared("==", node, wanted, each)) for each in listed))
            case "list":
                return self.listed(node, tuple(self.of(each, bound) for each in operands))
            case "all" | "any":
                listed = self.items(operands[0], self.of(operands[0], bound))
                return self.joined("and" if name == "all" else "or", ((operands[0], each) for each in listed))
            case "sum" | "min" | "max":
                return self._gathered(node, bound)
            case "len":
                return self.length(operands[0], self.of(operands[0], bound))
        if len(operands) == 1:
            return self.applied(node, self.of(operands[0], bound))
        return self.calculated(node, self.of(operands[0], bound), self.of(operands[1], bound))

    def _implied(self, node: Call, bound: Mapping[str, T]) -> Parts[T]:
        condition, then = node.operands
        yield condition, self.negated(condition, self.of(condition, bound))
        yield then, self.of(then, bound)

    def _gathered(self, node: Call, bound: Mapping[str, T]) -> T:
        """Of several operands, or of one list. One number is the least and the most of itself."""
        values = tuple(self.of(each, bound) for each in node.operands)
        if len(values) == 1 and (node.name == "sum" or self.is_list(values[0])):
            values = self.items(node.operands[0], values[0])
        return self.gathered(node, values)

    # -- what differs --

    @abstractmethod
    def literal(self, node: Literal) -> T: ...
    @abstractmethod
    def named(self, name: str) -> T: ...
    @abstractmethod
    def compared(self, sign: str, node: Call, left: T, right: T) -> T: ...
    @abstractmethod
    def joined(self, word: str, parts: Parts[T]) -> T: ...
    @abstractmethod
    def negated(self, node: Node, value: T) -> T: ...
    @abstractmethod
    def chosen(self, node: Call, condition: T, then: Callable[[], T], otherwise: Callable[[], T]) -> T: ...
    @abstractmethod
    def applied(self, node: Call, value: T) -> T: ...
    @abstractmethod
    def calculated(self, node: Call, left: T, right: T) -> T: ...
    @abstractmethod
    def gathered(self, node: Call, values: tuple[T, ...]) -> T: ...
    @abstractmethod
    def length(self, node: Node, value: T) -> T: ...
    @abstractmethod
    def listed(self, node: Call, items: tuple[T, ...]) -> T: ...
    @abstractmethod
    def is_list(self, value: T) -> bool: ...
    @abstractmethod
    def items(self, node: Node, value: T) -> tuple[T, ...]: ...
