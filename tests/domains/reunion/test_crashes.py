"""A day whose process is killed (SIGKILL) while people are told their parts, told anew, or told that it is off; then resumed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.swept import faults_in, swept


@pytest.fixture(scope="module")
def cases() -> list[dict[str, Any]]:
    return swept("tests.domains.reunion.killed_days:DAYS", "--sample", "7")


def test_everybody_ends_with_the_one_invitation_that_holds_or_with_none(cases: list[dict[str, Any]]) -> None:
    assert faults_in(cases) == []


@pytest.mark.parametrize(
    ("name", "outcome"),
    [("begun", "running"), ("an event", "running"), ("called off", "compensated"), ("called off half-way", "compensated")],
)
def test_a_day_goes_on_to_its_end_wherever_it_was_killed(cases: list[dict[str, Any]], name: str, outcome: str) -> None:
    ended = [each["judgement"]["outcome"] for each in cases if each["scenario"] == name]
    assert len(ended) > 2
    assert outcome in ended
    assert set(ended) <= {outcome, "never begun", "running"}
