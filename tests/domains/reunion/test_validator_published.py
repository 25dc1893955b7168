"""What the papers print is judged as the papers mark it."""

from __future__ import annotations

import pytest

from tests.domains.reunion.plans import found, judged
from tests.domains.reunion.published import PUBLISHED

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_plan_has_the_faults_that_its_paper_marks_and_no_others(name: str) -> None:
    published = PUBLISHED[name]
    assert tuple(found(judged(published.problem, published.plan))) == published.faults


def test_a_fault_says_who_where_when_and_by_how_much() -> None:
    published = PUBLISHED["SagaLLM table 5"]
    (late,) = judged(published.problem, published.plan).violations
    assert late.message == "'clothes' at 14:10: ends at 14:25, 25 minutes after 14:00"
    assert late.scope == {"people": ["Pat"], "task": "clothes", "place": "T", "action": 4}
    assert late.evidence["late_by"] == 25
    published = PUBLISHED["ALAS table 24"]
    (short,) = judged(published.problem, published.plan).violations
    assert short.message == "Michael's car, BOS to HOME at 16:15: 45 minutes for a way of 60, 15 too few"
    assert short.scope == {
        "people": ["Michael", "Emily"],
        "vehicle": "Michael's car",
        "from": "BOS",
        "to": "HOME",
        "action": 5,
    }
    assert short.evidence == {"stated": 45, "needed": 60, "short_by": 15}
