"""Every fault of a domain's table is found in every plan that can have it, and none in the plans as they are."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from sagagraph.errors import ProviderError
from sagagraph.planning import checking
from sagagraph.planning.checking import judged_plan, over_budget
from sagagraph.validators.verdict import Verdict, VerdictStatus
from tests.planning.faults import reunion, travel
from tests.planning.faults.table import Table

TABLES: dict[str, Table] = {"travel": travel.table(), "reunion": reunion.table(Path(tempfile.mkdtemp()))}
LEAST_FAULTS = 20


@pytest.mark.parametrize("domain", TABLES)
async def test_plans_as_they_are_have_no_fault(domain: str) -> None:
    table = TABLES[domain]
    for name, case in table.cases.items():
        verdict = await table.judged(case)
        assert (verdict.verdict, verdict.violations) == (VerdictStatus.VALID, ()), name


@pytest.mark.parametrize(("domain", "fault"), [(domain, fault) for domain, table in TABLES.items() for fault in table.faults])
async def test_a_fault_is_found_in_every_plan_that_can_have_it(domain: str, fault: str) -> None:
    table = TABLES[domain]
    injected = table.faults[fault]
    tried = 0
    for name, case in table.cases.items():
        if injected.needs(case):
            tried += 1
            verdict = await table.judged(case, injected)
            assert verdict.verdict is VerdictStatus.INVALID, f"{fault} in {name}"
            assert injected.codes & {each.code for each in verdict.violations}, (name, verdict.violations)
    assert tried


@pytest.mark.parametrize("domain", TABLES)
def test_a_table_has_enough_faults(domain: str) -> None:
    assert len(TABLES[domain].faults) >= LEAST_FAULTS


async def test_the_certificate_of_a_plan_covers_it_and_what_it_was_judged_by_and_nothing_else() -> None:
    table = TABLES["travel"]
    case, other, *_ = table.cases.values()
    certificate = (await table.judged(case)).certificate
    assert certificate is not None
    assert (certificate.validator, certificate.slice_tokens > 0) == ("travel", True)
    assert await table.judged(case) == await table.judged(case)
    changed = (await table.judged(other)).certificate
    assert changed is not None
    assert certificate.artifact_hash != changed.artifact_hash
    assert certificate.slice_hash != changed.slice_hash


async def test_validators_that_do_not_answer_in_time_are_an_outage_and_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow:
        name, actions = "slow", ()

        async def validate(self, request: object, plan: object, shown: object) -> Verdict:
            raise TimeoutError

        def workflow(self, plan: object) -> tuple[()]:
            return ()

    monkeypatch.setattr(checking, "TIME_LIMIT_S", 0.5)
    with pytest.raises(ProviderError, match=r"the validators of slow did not answer within 0\.5 s"):
        await judged_plan(Slow(), {}, {}, {})


@pytest.mark.parametrize(
    ("cost", "budget", "found"), [(5, 5, 0), (5.01, 5, 1), (9, None, 0), (float("nan"), 5, 1), (float("inf"), 5, 1)]
)
def test_an_estimated_cost_is_held_to_the_budget(cost: float, budget: float | None, found: int) -> None:
    assert len(list(over_budget(cost, budget))) == found
