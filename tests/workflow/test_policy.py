"""Policies: what is nonsense is refused when it is written down."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from sagagraph.errors import InvalidInputError
from sagagraph.workflow.policy import Backoff, BackoffMode, Catch, CompensationPolicy, LoopGuards, Policy, Retry

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: Retry(max_attempts=0), "retry.max_attempts"),
        (lambda: Backoff(base_s=-1.0), "backoff.base_s"),
        (lambda: Backoff(base_s=math.nan), "backoff.base_s"),
        (lambda: Backoff(cap_s=math.inf), "backoff.cap_s"),
        (lambda: Backoff(jitter=1.5), "backoff.jitter"),
        (lambda: Backoff(jitter=math.nan), "backoff.jitter"),
        (lambda: CompensationPolicy(max_attempts=0), "compensation.max_attempts"),
        (lambda: CompensationPolicy(timeout_s=0.0), "compensation.timeout_s"),
        (lambda: LoopGuards(max_iterations=0), "loop_guards.max_iterations"),
        (lambda: LoopGuards(deadline_s=-1.0), "loop_guards.deadline_s"),
        (lambda: Policy(timeout_s=0.0), "timeout_s"),
        (lambda: Policy(timeout_s=math.inf), "timeout_s"),
    ],
)
def test_a_bad_value_is_refused_and_its_field_named(make: Callable[[], object], field: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        make()
    assert refused.value.field == field


def test_a_retry_covers_what_it_names_or_everything() -> None:
    assert Retry().covers("TimeoutError")
    assert Retry(retry_on=("sold_out",)).covers("sold_out")
    assert not Retry(retry_on=("sold_out",)).covers("TimeoutError")


def test_a_failure_is_caught_by_its_code() -> None:
    policy = Policy(catch=(Catch(("sold_out",), "train"),))
    assert policy.catches("sold_out")
    assert not policy.catches("late")
    assert not Policy().catches("sold_out")


def test_an_exponential_backoff_doubles_up_to_its_cap() -> None:
    backoff = Backoff(BackoffMode.EXPONENTIAL, base_s=1.0, cap_s=5.0, jitter=0.0)
    assert [backoff.delay_s(attempt, 0.0) for attempt in (1, 2, 3, 4, 1000)] == [1.0, 2.0, 4.0, 5.0, 5.0]


def test_a_fixed_backoff_stays() -> None:
    backoff = Backoff(BackoffMode.FIXED, base_s=1.0, jitter=0.0)
    assert {backoff.delay_s(attempt, 0.0) for attempt in range(1, 50)} == {1.0}


def test_jitter_shortens_by_at_most_its_share() -> None:
    backoff = Backoff(BackoffMode.FIXED, base_s=1.0, jitter=0.5)
    assert (backoff.delay_s(1, 0.0), backoff.delay_s(1, 1.0)) == (1.0, 0.5)
