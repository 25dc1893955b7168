"""The sagas that are explored: every graph, every well-formed choice of kinds, and sets of providers that cover all pairs."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sagagraph.saga.core.events import Driver
from sagagraph.saga.core.reversals import REVERSING
from sagagraph.workflow.condition import Failed
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import GuaranteeTerms, OperationSpec
from sagagraph.workflow.policy import Backoff, Catch, CompensationPolicy, Policy, Retry
from tests.saga.world import GUARANTEES, SETTLES_S, Profile

TIMEOUT_S = 1.0
SKEW_S = 1.0
"""A provider's clock may be this far behind ours."""
DEDUP_S = 1000.0
Kinds = tuple[ActionKind, ...]
Edges = tuple[tuple[int, ...], ...]

COMPENSATABLE, PIVOT, RETRIABLE, READ_ONLY = ActionKind


@dataclass(frozen=True)
class Case:
    """One saga to explore: kinds, edges and providers by position."""

    kinds: Kinds
    edges: Edges
    profiles: tuple[Profile, ...]
    alternative_of: int | None = None
    """The last operation is not in the first plan; a replan may put it in the place of this one."""
    revisable: bool = False
    """What fails disrupts the plan, and the last operation may take the place of all that failed."""
    open_end: int | None = None
    """This operation is never started: only another plan, or a cancel, ends the saga (ADR-0013)."""
    handler_of: int | None = None
    """The last operation handles the failure of this one, and runs only then."""
    driver: Driver = Driver.WORKFLOW
    attempts: int = 2
    names: tuple[str, ...] = ()
    """Ids in the place of numbers. Each begins with its number; what follows names what it undoes of another saga."""

    def __str__(self) -> str:
        parts = zip(self.kinds, self.edges, self.profiles, strict=True)
        return " | ".join(f"{kind.value}{list(edge) or ''}:{profile}" for kind, edge, profile in parts)

    @property
    def count(self) -> int:
        return len(self.kinds)

    def name(self, index: int) -> str:
        return self.names[index] if self.names else str(index)

    def spec(self, index: int) -> OperationSpec:
        profile = self.profiles[index]
        handles = self.handler_of is not None and index == self.count - 1
        return OperationSpec(
            id=self.name(index),
            action=f"a{index}" + (REVERSING if " " in self.name(index) else ""),
            kind=self.kinds[index],
            inputs=None,
            depends_on=tuple(self.name(each) for each in self.edges[index]),
            condition=Failed(str(self.handler_of)) if handles else None,
            policy=self._policy(index),
            guarantees=_terms(profile),
            has_probe=profile.probe,
            open_end=index == self.open_end,
        )

    def _policy(self, index: int) -> Policy:
        return Policy(
            retry=Retry(max_attempts=self.attempts),
            backoff=Backoff(base_s=0.0, cap_s=0.0, jitter=0.0),
            timeout_s=TIMEOUT_S,
            compensation=CompensationPolicy(max_attempts=2, timeout_s=TIMEOUT_S),
            catch=(Catch(("*",), str(self.count - 1)),) if index == self.handler_of else (),
        )

    def symmetries(self) -> list[tuple[int, ...]]:
        """The renumberings that change nothing: states that differ only by one of them are explored once."""
        if self.alternative_of is not None or self.handler_of is not None or self.driver is not Driver.WORKFLOW or self.names:
            return [tuple(range(self.count))]
        return [order for order in itertools.permutations(range(self.count)) if self._is_symmetry(order)]

    def _is_symmetry(self, order: tuple[int, ...]) -> bool:
        return all(
            self.kinds[i] is self.kinds[j]
            and self.profiles[i] == self.profiles[j]
            and {order[each] for each in self.edges[i]} == set(self.edges[j])
            for i, j in enumerate(order)
        )


def _terms(profile: Profile) -> GuaranteeTerms:
    return GuaranteeTerms(
        DEDUP_S if profile.dedup else None,
        profile.void or profile.copes,
        profile.deadline,
        profile.refusals_final,
        settles_s=SETTLES_S + SKEW_S if profile.settles else None,
        void_compensates=profile.copes,
    )


def place(name: str) -> int:
    """Return the place of the operation with this id."""
    return int(name.partition(" ")[0])


def uniform(kinds: Kinds, edges: Edges, profile: Profile) -> Case:
    return Case(kinds, edges, (profile,) * len(kinds))


# -- providers ---------------------------------------------------------------------------------------------------------


def all_profiles() -> list[Profile]:
    return [Profile(*choice) for choice in itertools.product((False, True), repeat=len(GUARANTEES))]


def covering(columns: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """Rows in which every pair of values of two columns occurs: greedy, and the same in every run."""
    missing = {
        (a, x, b, y)
        for (a, xs), (b, ys) in itertools.combinations(enumerate(columns), 2)
        for x, y in itertools.product(range(len(xs)), range(len(ys)))
    }
    rows: list[tuple[Any, ...]] = []
    while missing:
        row = _greedy_row(columns, missing)
        missing -= _pairs(row)
        rows.append(tuple(column[at] for column, at in zip(columns, row, strict=True)))
    return rows


def _greedy_row(columns: Sequence[Sequence[Any]], missing: set[tuple[int, int, int, int]]) -> list[int]:
    a, x, b, y = min(missing)
    fixed = {a: x, b: y}
    for column, values in enumerate(columns):
        if column not in fixed:
            fixed[column] = max(range(len(values)), key=lambda at: (_gain(fixed, column, at, missing), -at))
    return [fixed[column] for column in range(len(columns))]


def _gain(fixed: dict[int, int], column: int, at: int, missing: set[tuple[int, int, int, int]]) -> int:
    pairs = ((other, value, column, at) if other < column else (column, at, other, value) for other, value in fixed.items())
    return sum(pair in missing for pair in pairs)


def _pairs(row: Sequence[int]) -> set[tuple[int, int, int, int]]:
    return {(a, x, b, y) for (a, x), (b, y) in itertools.combinations(enumerate(row), 2)}


def pairwise_profiles() -> list[Profile]:
    """Profiles in which every pair of guarantees is offered and withheld together and apart."""
    return [Profile(*row) for row in covering([(False, True)] * len(GUARANTEES))]


def mixtures(profiles: Sequence[Profile], count: int) -> list[tuple[Profile, ...]]:
    """A different provider per operation, such that any two of `profiles` meet at any two operations."""
    return covering([profiles] * count)


# -- shapes ------------------------------------------------------------------------------------------------------------


def shapes(count: int) -> Iterator[Edges]:
    """All dependency graphs on `count` operations, numbered topologically."""
    pairs = [(a, b) for b in range(count) for a in range(b)]
    for mask in range(1 << len(pairs)):
        yield tuple(tuple(a for k, (a, b) in enumerate(pairs) if b == j and mask >> k & 1) for j in range(count))


def is_well_formed(kinds: Kinds, edges: Edges) -> bool:
    """Rule 5, written down a second time so that the exploration does not trust `check_workflow`."""
    pivots = [i for i, kind in enumerate(kinds) if kind is PIVOT]
    if len(pivots) > 1:
        return False
    after = descendants(edges, pivots[0]) if pivots else set()
    return all(
        (kind is not COMPENSATABLE or i not in after) and (kind is not RETRIABLE or i in after) for i, kind in enumerate(kinds)
    )


def descendants(edges: Edges, index: int) -> set[int]:
    found: set[int] = set()
    for later in range(index + 1, len(edges)):
        if index in edges[later] or found & set(edges[later]):
            found.add(later)
    return found


def sagas(count: int) -> Iterator[tuple[Kinds, Edges]]:
    """Every well-formed choice of kinds and edges, one of each class of isomorphic ones."""
    seen: set[object] = set()
    for edges in shapes(count):
        for kinds in itertools.product(ActionKind, repeat=count):
            if is_well_formed(kinds, edges) and (form := _canonical(kinds, edges)) not in seen:
                seen.add(form)
                yield kinds, edges


def _canonical(kinds: Kinds, edges: Edges) -> object:
    count = len(kinds)
    arcs = [(a, b) for b in range(count) for a in edges[b]]
    return min(
        (tuple(kinds[order.index(i)].value for i in range(count)), tuple(sorted((order[a], order[b]) for a, b in arcs)))
        for order in itertools.permutations(range(count))
    )


def width(edges: Edges) -> int:
    """The largest number of operations that do not wait for each other: what an exploration's size grows with."""
    count = len(edges)
    apart = {(a, b) for a in range(count) for b in range(a + 1, count) if b not in descendants(edges, a)}
    sets: Iterable[tuple[int, ...]] = (s for size in range(count, 0, -1) for s in itertools.combinations(range(count), size))
    return next(len(s) for s in sets if all(pair in apart for pair in itertools.combinations(s, 2)))
