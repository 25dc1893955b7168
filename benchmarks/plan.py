"""How much is measured, and how often."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plan:
    """`growth_sizes`: operations of one saga, ascending; up to `quadratic_up_to` for what grows with the square of it."""

    form: str
    rounds: int
    operations: int
    parallel: int
    parallel_runs: int
    floor_commits: int
    steady: float
    """How many times as long the floor after a measurement may take as the one before it, or the other way round."""
    cost_limit_s: float
    """No further round begins after that; at least one is measured."""
    growth_sizes: tuple[int, ...]
    quadratic_up_to: int
    fold_rounds: int
    saga_rounds: int
    sagas: int
    steps: int
    workers: int
    limit_s: float
    """Of one measurement: what is not done by then is stopped and shown as not done."""


FULL = Plan(
    form="full",
    rounds=15,
    operations=100,
    parallel=64,
    parallel_runs=3,
    floor_commits=100,
    steady=1.5,
    cost_limit_s=150.0,
    growth_sizes=(100, 1_000, 10_000),
    quadratic_up_to=1_000,
    fold_rounds=7,
    saga_rounds=3,
    sagas=1_000,
    steps=5,
    workers=4,
    limit_s=90.0,
)

QUICK = Plan(
    form="quick",
    rounds=2,
    operations=20,
    parallel=64,
    parallel_runs=1,
    floor_commits=30,
    steady=1_000.0,
    cost_limit_s=20.0,
    growth_sizes=(20, 100),
    quadratic_up_to=100,
    fold_rounds=3,
    saga_rounds=1,
    sagas=24,
    steps=5,
    workers=2,
    limit_s=30.0,
)
