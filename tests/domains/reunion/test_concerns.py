"""A day judged in scopes gets the verdict of the judge that sees everything (`judged` compares them), in windows of any size."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sagagraph.context.slice import DEFAULT_BUDGET_TOKENS
from sagagraph.domains.reunion.domain import Reunion
from sagagraph.domains.reunion.parsing import parse_problem
from sagagraph.domains.reunion.rules.validator import CONCERNS, validate_plan
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.validators import concern
from sagagraph.validators.concern import Concern, Remembered
from sagagraph.validators.verdict import VerdictStatus, Violation
from tests.domains.reunion.corruption import OPERATORS
from tests.domains.reunion.days import problem_of, random_day
from tests.domains.reunion.oracle import judge as oracle
from tests.domains.reunion.plans import Json, judged, plan_of, travel
from tests.domains.reunion.scripted import AS_PLANNED, LATE, LATER, Script, outbox_in, request

pytestmark = pytest.mark.quick

ALL = [operator for operators in OPERATORS.values() for operator in operators]


@pytest.mark.parametrize("room_bytes", [1, 400])
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_windows_together_imply_every_rule(room_bytes: int, seed: int) -> None:
    rng = Random(seed)
    broken = rng.choice(ALL)(random_day(seed), rng)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(concern, "ROOM_BYTES", room_bytes)
        judged(broken.problem, broken.plan, *broken.events, against=broken.against, executed_until=broken.until)


def shuttle(rounds: int) -> tuple[Json, Json]:
    """One bus and its driver, to and fro all day."""
    problem = {
        "name": "shuttle",
        "places": {"A": "here", "B": "there"},
        "travel_minutes": [["A", "B", 5]],
        "people": [{"name": "Ann", "place": "A"}, {"name": "Bob", "place": "A"}],
        "vehicles": [{"name": "bus", "seats": 9, "place": "A", "drivers": ["Ann"]}],
        "goals": [{"people": ["Ann"], "place": "A", "by": "23:59"}, {"people": ["Bob"], "place": "B", "by": "01:00"}],
    }
    ways = ["A-B", "B-A"]
    actions = [travel("bus", "Ann", ways[n % 2], _at(5 * n), _at(5 * n + 5), *(["Bob"] if n == 0 else [])) for n in range(rounds)]
    return problem, plan_of(*actions)


def _at(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"


@pytest.mark.parametrize("rounds", [2, 40, 280])
def test_slices_stay_small_however_long_a_day_is(rounds: int) -> None:
    problem, plan = shuttle(rounds)
    assert judged(problem, plan).verdict is VerdictStatus.VALID
    late = {**plan["actions"][-1], "from": "A", "to": "B"}
    broken = judged(problem, plan_of(*plan["actions"][:-1], late))
    assert "CONTINUITY" in {each.code for each in broken.violations}
    assert {each.validator for each in broken.certificates if "CONTINUITY" in each.found} == {"person's day", "vehicle's day"}


def test_a_repair_has_only_those_scopes_judged_that_it_touched() -> None:
    problem, plan = shuttle(280)
    known, remembered = parse_problem(problem), Remembered()
    assert validate_plan(known, plan, remembered=remembered).is_valid
    every = remembered.judged
    changed = [*plan["actions"][:-1], {**plan["actions"][-1], "end": "23:30"}]
    assert validate_plan(known, plan_of(*changed), remembered=remembered).is_valid
    assert 0 < remembered.judged - every <= 5 < every / 5


def test_what_does_not_fit_in_a_slice_is_named() -> None:
    problem, plan = shuttle(2)
    problem["people"] += [{"name": f"somebody with quite a long name, number {n}", "place": "A"} for n in range(200)]
    plan["actions"][0]["riders"] = [each["name"] for each in problem["people"][1:]]
    verdict = validate_plan(parse_problem(problem), plan)
    assert "journey could not judge bus, action 0 to bus, action 0: critical fact" in verdict.reason
    assert verdict.verdict is VerdictStatus.UNKNOWN
    assert not oracle.validate_plan(parse_problem(problem), plan).is_valid  # too many for the bus


def test_every_validator_has_a_kind_and_slices_within_the_budget() -> None:
    assert len({each.name for each in CONCERNS}) == len(CONCERNS)
    problem, plan = shuttle(100)
    verdict = validate_plan(parse_problem(problem), plan)
    assert max(each.slice_tokens for each in verdict.certificates) <= DEFAULT_BUDGET_TOKENS
    assert verdict.certificate is not None
    assert verdict.certificate.version == max(each.version for each in CONCERNS)  # or replays would compare what is not alike
    assert problem_of(random_day(1))


async def test_the_domain_judges_again_only_what_a_repair_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judged_scopes, judge = list[str](), Concern.judged

    def counted(self: Concern[Any, Any], shown: bytes) -> tuple[Violation, ...]:
        judged_scopes.append(self.name)
        return judge(self, shown)

    monkeypatch.setattr(Concern, "judged", counted)
    domain = Reunion(Script(), outbox_in(tmp_path, MemorySagaStore()))

    async def scopes(actions: list[Json], **wanted: Any) -> int:
        judged_scopes.clear()
        shown: Any = {"against": {"problem": "dinner", "actions": AS_PLANNED}, "executed_until": "11:45"} if wanted else {}
        plan: Any = {"plan": {"problem": "dinner", "actions": actions}}
        assert (await domain.validate(request(**wanted), plan, shown)).verdict is VerdictStatus.VALID
        return len(judged_scopes)

    first, again = await scopes(AS_PLANNED), await scopes(AS_PLANNED)
    repaired = await scopes(LATER, events=[LATE])
    assert again == 0
    assert 0 < repaired < first
