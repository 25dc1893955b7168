"""The targets, and whether a run met them. Pure: from the figures of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchmarks.spread import Spread, ratios, spread

PER_OPERATION_S = 0.0001
"""What an operation may cost beside its commits."""
FOLD_LIMIT = 3.0
LINEAR_LIMIT = 1.1
"""Bytes an operation of the longest saga against the shortest: ids and versions get a digit longer now and then."""

_COSTS = (
    ("shared", "sequential, commits may be shared", 2.2),
    ("alone", "sequential, commits may not be shared", 3.2),
    ("parallel", "in parallel", 0.25),
)
_TIMES_DBOS = (("sqlite", 8.0), ("postgresql", 5.0))


@dataclass(frozen=True, slots=True)
class Target:
    """`figure` is None where it was not measured."""

    what: str
    store: str
    limit: float
    figure: Spread | None
    is_least: bool = False
    """Whether the figure must reach the limit, and not stay below it."""

    @property
    def bound(self) -> str:
        return f"{'≥' if self.is_least else '≤'} {self.limit:g}"

    @property
    def verdict(self) -> str:
        if self.figure is None:
            return "not measured"
        is_met = self.figure.median >= self.limit if self.is_least else self.figure.median <= self.limit
        return "met" if is_met else "**not met**"


def targets(found: dict[str, Any]) -> list[Target]:
    return [*_costs(found), *_throughput(found), *_growth(found)]


def factors(case: dict[str, list[float]]) -> list[float]:
    """k of each round, in: cost of an operation = k × one commit + 0.1 ms."""
    return ratios([each - PER_OPERATION_S for each in case["inside_s"]], case["floor_s"])


def _costs(found: dict[str, Any]) -> list[Target]:
    every = found.get("cost", {}).get("stores", {})
    return [
        Target(f"k, {words}", store, limit, spread(factors(every[store][name])) if name in every.get(store, {}) else None)
        for name, words, limit in _COSTS
        for store in ("sqlite", "postgresql")
        if every
    ]


def _throughput(found: dict[str, Any]) -> list[Target]:
    every = found.get("throughput", {})
    return [
        Target(
            "1,000 sagas at once in one process against DBOS",
            store,
            limit,
            _against_dbos(every[store]["1"]) if "1" in every.get(store, {}) else None,
            is_least=True,
        )
        for store, limit in _TIMES_DBOS
        if every
    ]


def _against_dbos(seen: dict[str, dict[str, list[float]]]) -> Spread | None:
    ours, theirs = (seen[kind]["operations_per_s"] for kind in ("sagagraph", "dbos"))
    return spread(ratios(ours, theirs)) if ours and len(ours) == len(theirs) else None


def _growth(found: dict[str, Any]) -> list[Target]:
    sizes = found.get("growth", {}).get("sagagraph", [])
    if not sizes:
        return []
    longest = sizes[-1]
    complete = longest["done"] == longest["asked"]
    folded = spread(ratios(longest["fold_s"], longest["json_s"])) if complete else None
    made = found["growth"]["fold"]
    shortest = sizes[0]
    grown = (longest["stored_bytes"] / longest["done"]) / (shortest["stored_bytes"] / shortest["done"]) if complete else None
    asked = f"{longest['asked']:,} operations"
    return [
        Target(f"decoding and folding {asked} against `json.loads` of their events", "sqlite", FOLD_LIMIT, folded),
        Target(
            f"the same, of {made['operations']:,} with inputs and outputs of 100 bytes",
            "sqlite",
            FOLD_LIMIT,
            spread(ratios(made["fold_s"], made["json_s"])),
        ),
        Target(
            f"journal bytes an operation, {asked} against {shortest['asked']:,}",
            "sqlite",
            LINEAR_LIMIT,
            spread([grown]) if grown else None,
        ),
    ]
