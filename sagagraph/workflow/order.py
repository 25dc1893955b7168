"""Order along dependencies: what comes before an operation, and what comes after it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from graphlib import TopologicalSorter
from heapq import heapify, heappop, heappush


def in_order(needs: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Return each name after its prerequisites; if several could come next, the first by name. Raises `graphlib.CycleError`."""
    sorter = TopologicalSorter(needs)
    sorter.prepare()
    ready = list(sorter.get_ready())
    heapify(ready)
    found: list[str] = []
    while ready:
        found.append(heappop(ready))
        sorter.done(found[-1])
        for each in sorter.get_ready():
            heappush(ready, each)
    return tuple(found)


def descendants(dependents: Mapping[str, Iterable[str]], *names: str) -> frozenset[str]:
    """Return all that depends on any of `names`, directly or indirectly."""
    found: set[str] = set()
    frontier = list(names)
    while frontier:
        for dependent in dependents.get(frontier.pop(), ()):
            if dependent not in found:
                found.add(dependent)
                frontier.append(dependent)
    return frozenset(found)
