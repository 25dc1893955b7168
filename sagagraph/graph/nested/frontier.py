"""Frontier: the default prerequisites of a new operation, which are all that had finished before its step
(docs/protocol.md L8).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from sagagraph.saga.core.state import Operation, Saga

RECORD = "sagagraph."
"""Prefix of the names of actions that only record something: nothing depends on them."""

CALLED = re.compile(r".+~\d+")
"""The part of an id that stands for one of several graphs in the code of one node, such as `graph~2`."""


@dataclass(frozen=True, slots=True)
class Finished:
    """Finished operation. `step`: in the pass of its graph; None for work outside the node's steps.

    `leaves`: operations that nothing else follows.
    """

    name: str
    node: str
    step: int | None
    depends_on: tuple[str, ...]
    leaves: tuple[str, ...] = ()


class Level:
    """Level: the finished operations of one pass of one graph, or of one node; `base`: the prerequisites of all of them."""

    def __init__(self, base: Iterable[str]) -> None:
        self._base = tuple(base)
        self._frontier = dict.fromkeys(self._base)
        self._known: set[str] = set()
        self._waiting: list[Finished] = []
        self._of_node: dict[str, list[str]] = {}

    def finish(self, finished: Finished) -> None:
        if finished.name in self._known:
            return
        self._known.add(finished.name)
        self._waiting.append(finished)
        self._of_node.setdefault(finished.node, []).extend((finished.name, *finished.leaves))

    def before(self, step: int | None) -> tuple[str, ...]:
        """Return those that finished in earlier steps and have no dependents.

        A node's operations outside its steps follow one another.
        """
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            if step is None or each.step is None or each.step < step:
                self._follow(each)
            else:
                self._waiting.append(each)
        return tuple(self._frontier)

    def of_nodes(self, nodes: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for node in nodes for name in self._of_node.get(node, ()))

    @property
    def leaves(self) -> tuple[str, ...]:
        return tuple(name for name in self.before(None) if name not in self._base)

    def _follow(self, finished: Finished) -> None:
        for each in finished.depends_on:
            self._frontier.pop(each, None)
        self._frontier[finished.name] = None
        self._frontier.update(dict.fromkeys(finished.leaves))


class Levels:
    """Levels of a saga, by the operation that they are below ("" for the graph itself), built from its journal."""

    def __init__(self, saga: Saga, root: str) -> None:
        """Begin without levels. `root`: the prefix of the live branch."""
        self._levels: dict[str, Level] = {}
        self._root = root
        self._below: dict[str, dict[str, None]] = {}
        self._called: dict[str, dict[str, None]] = {}
        """Operation → the parts of ids below it that stand for the graphs that it called."""
        self._base = kept_of(saga, root)
        for operation in saga.in_order():
            self.plan(operation.id, parent_of(saga, operation.id, root))

    def plan(self, name: str, parent: str) -> None:
        """Plan `name` below `parent`."""
        below = self._below.setdefault(parent, {})
        below[name] = None
        if is_called(parent):
            self._called.setdefault(parent.rpartition("/")[0], {})[parent] = None

    def own_of(self, saga: Saga, name: str) -> list[str]:
        """Return what the code of `name` did besides running the nodes of graphs and recording facts."""
        own = [each for each in self._planned(saga, name) if step_and_node(each.id, name)[0] is None]
        return [each.id for each in own if not each.spec.action.startswith(RECORD)]

    def of_graphs_below(self, saga: Saga, name: str) -> list[Operation]:
        """Return the finished nodes of the graphs that the code of `name` ran."""
        below = [each for part in self._called.get(name, ()) for each in self._planned(saga, part)]
        below += [each for each in self._planned(saga, name) if step_and_node(each.id, name)[0] is not None]
        return sorted(filter(is_finished, below), key=lambda each: each.ordinal)

    def _planned(self, saga: Saga, name: str) -> list[Operation]:
        """Return what is below `name`, except for what is running now and has yet to reach the journal."""
        return [saga.operations[each] for each in self._below.get(name, ()) if each in saga.operations]

    def at(self, saga: Saga, parent: str) -> Level:
        if parent not in self._levels:
            self._levels[parent] = level = Level(self._base_of(saga, parent))
            for name in list(self._below.get(parent, ())):
                self.finish(saga, name, parent)
            return level
        return self._levels[parent]

    def _base_of(self, saga: Saga, parent: str) -> tuple[str, ...]:
        """Return what everything below `parent` comes after; for a called graph, also what the same node had done before."""
        if is_called(parent) and parent not in saga.operations:
            caller = parent.rpartition("/")[0]
            earlier = [
                each
                for each in saga.in_order()
                if each.id.startswith(f"{caller}/") and not each.id.startswith(f"{parent}/") and is_finished(each)
            ]
            followed = {before for each in earlier for before in each.spec.depends_on}
            own = tuple(each.id for each in earlier if each.id not in followed)
            return own or self._base_of(saga, caller)
        operation = saga.operations.get(parent)
        return operation.spec.depends_on if operation and parent != self._root else self._base

    def finish(self, saga: Saga, name: str, parent: str) -> None:
        operation = saga.operations.get(name)
        if operation is None or not is_finished(operation):
            return
        step, node = step_and_node(name, parent)
        self.at(saga, parent).finish(Finished(name, node, step, operation.spec.depends_on, self.leaves_of(saga, name)))

    def leaves_of(self, saga: Saga, name: str) -> tuple[str, ...]:
        """Return what is below `name` and is followed by nothing else there."""
        below = [each for each in (name, *self._called.get(name, ())) if each in self._below or each in self._levels]
        return tuple(leaf for each in below for leaf in self.at(saga, each).leaves)


def kept_of(saga: Saga, root: str) -> tuple[str, ...]:
    """Return, for a branch, the effects kept from the branches before it."""
    if not root:
        return ()
    return tuple(
        each.id
        for each in saga.in_order()
        if each.succeeded and each.has_effect and not each.removed and not each.id.startswith(f"{root}/")
    )


def is_finished(operation: Operation) -> bool:
    """Tell whether others may come after it: it did something, and stays in the plan."""
    return operation.succeeded and not operation.removed and not operation.spec.action.startswith(RECORD)


def is_called(part: str) -> bool:
    return CALLED.fullmatch(part.rpartition("/")[2]) is not None


def parent_of(saga: Saga, name: str, root: str) -> str:
    """Return what `name` is below, according to its id: an operation, or a graph that an operation called."""
    parent = name.rpartition("/")[0]
    while parent and parent not in saga.operations and not is_called(parent):
        parent = parent.rpartition("/")[0]
    return parent or (root if name.startswith(f"{root}/") else "")


def step_and_node(name: str, parent: str) -> tuple[int | None, str]:
    local = name[len(parent) + 1 :] if parent else name
    step, slash, node = local.partition("/")
    if slash and step.isdecimal():
        return int(step), node.partition("#")[0]
    return None, local
