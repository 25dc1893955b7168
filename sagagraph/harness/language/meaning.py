"""Meaning: one walk over a tree, for whatever its parts are to become: exact values, units, inequalities.

What operators and functions do is said by the class that inherits from `Meaning`; how names, lists, `if` and `for` are followed
is the same for all of them, and written here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

from sagagraph.harness.language.tree import Call, Each, Literal, Name, Node

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
            values = self.items(operands[0], values[0])  # one number is the least and the most of itself
        return self.applied(name, node, values)

    def _implied(self, node: Call, bound: Mapping[str, T]) -> Parts[T]:
        condition, then = node.operands
        yield condition, self.applied("not", node, (self.of(condition, bound),))
        yield then, self.of(then, bound)

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
    def is_list(self, value: T) -> bool: ...
    @abstractmethod
    def items(self, node: Node, value: T) -> tuple[T, ...]: ...
    @abstractmethod
    def applied(self, name: str, node: Call, values: tuple[T, ...]) -> T:
        """Return what an operator or a function makes of values: of `len` and `list`, of a comparison, else of numbers.

        `name`: of the call, or what stands in it for another operator.
        """
