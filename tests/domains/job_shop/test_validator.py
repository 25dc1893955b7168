"""Schedules that are right are found right, and each fault is found once, at its place, by its code alone."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from benchmarks.jobshop.generator import generate
from sagagraph.context.slice import DEFAULT_BUDGET_TOKENS
from sagagraph.domains.job_shop.instances import parse_problem
from sagagraph.domains.job_shop.parsing import parse_events, parse_schedule
from sagagraph.domains.job_shop.planning.repair import Repaired, repair
from sagagraph.domains.job_shop.request import Event, JobCancelled, JobShop, Redo
from sagagraph.domains.job_shop.rules.case import Case, History
from sagagraph.domains.job_shop.rules.validator import CONCERNS, validate_schedule
from sagagraph.errors import InvalidInputError
from sagagraph.planning.budget import Budget
from sagagraph.validators import concern
from sagagraph.validators.concern import Remembered, slice_of
from sagagraph.validators.verdict import Verdict
from tests.domains.job_shop.corruption import OPERATORS, Operator
from tests.domains.job_shop.oracle.validator import CHECKS
from tests.domains.job_shop.oracle.validator import validate_schedule as oracle
from tests.domains.job_shop.shops import THREE, Json, quick, rows, shop

pytestmark = pytest.mark.quick

CASES = [(code, operator) for code, operators in OPERATORS.items() for operator in operators]


@pytest.mark.parametrize(("code", "operator"), CASES, ids=[operator.__name__ for _, operator in CASES])
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_fault_is_found_by_its_code_alone(code: str, operator: Operator, seed: int) -> None:
    rng = Random(seed)
    problem = generate(rng.randint(2, 4), rng.randint(2, 4), seed, is_reentrant=rng.random() < 0.3)
    schedule = quick(problem, [rng.randint(0, 9) for _ in problem.numbered()])
    assert validate_schedule(problem, rows(schedule)).violations == ()
    made = operator(problem, rows(schedule), rng)
    assume(made is not None)
    assert made is not None
    events = parse_events(made.problem, made.events)
    verdict = validate_schedule(made.problem, made.rows, events, against=made.against, executed_until=made.until)
    assert [(each.code, each.scope.get("row")) for each in verdict.violations] == [(code, at) for at in made.at]


def test_there_is_a_fault_for_every_check() -> None:
    assert len(OPERATORS) == len(CHECKS)  # names have two codes, and jobs that come and go share theirs


def same(problem: JobShop, said: Any, events: tuple[Event, ...] = (), **told: Any) -> Verdict:
    """What the validators say, as one judge that is shown everything says it."""
    scoped = validate_schedule(problem, said, events, **told)
    assert scoped.violations == oracle(problem, said, events, **told).violations
    assert max((each.slice_tokens for each in scoped.certificates), default=0) <= DEFAULT_BUDGET_TOKENS
    return scoped


@pytest.mark.parametrize("room_bytes", [1, 120, 3000])
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6))
def test_windows_together_imply_every_rule(room_bytes: int, seed: int) -> None:
    """Schedules with several faults each, by windows of one row, of a few, and as long as a slice allows."""
    rng = Random(seed)
    problem = generate(rng.randint(2, 5), rng.randint(2, 5), seed, is_reentrant=rng.random() < 0.3)
    said, events = rows(quick(problem, [rng.randint(0, 9) for _ in problem.numbered()])), []
    old = [dict(row) for row in said]
    for _ in range(rng.randrange(6)):
        n, by = rng.randrange(len(said)), rng.randint(-9, 9)
        match rng.randrange(9):
            case 0:
                said.pop(n)
            case 1:
                said.insert(n, dict(said[rng.randrange(len(said))]))
            case 2:
                said[n]["machine"] = rng.randint(-1, 6)
            case 3:
                said[n]["step"] = rng.choice([0, 1, 9, "two"])
            case 4:
                said[n]["start"], said[n]["end"] = (max(0, said[n][name] + by) for name in ("start", "end"))
            case 6:
                steps = [[rng.choice(problem.machines), rng.randrange(9)] for _ in range(rng.randint(1, 3))]
                events.append({"at": rng.randrange(40), "event": "job_added", "steps": steps})
                job, at = len(problem.jobs) + 1, rng.randrange(90)
                for step, (machine, took) in enumerate(steps, 1):
                    said.append({"job": job, "step": step, "machine": machine, "start": at, "end": (at := at + took)})
            case 7:
                cancelled = rng.randint(1, len(problem.jobs))
                events.append({"at": rng.randrange(40), "event": "job_cancelled", "job": cancelled})
                said = [row for row in said if row["job"] != cancelled or row["start"] < events[-1]["at"]] or said
            case 8:
                speed = {"machine": rng.choice(problem.machines), "percent": rng.choice([50, 99, 150])}
                events.append({"at": rng.randrange(40), "event": "machine_speed", **speed})
            case _:
                events.append({"at": rng.randrange(40), "event": "machine_down", "machine": rng.choice(problem.machines)})
                if rng.random() < 0.9:
                    events[-1]["until"] = events[-1]["at"] + rng.randrange(9)
        if not said:
            break
    events.append({"at": rng.randrange(40), "event": "duration", "job": 1, "step": 1, "minutes": rng.randrange(20)})
    parsed = parse_events(problem, events)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(concern, "ROOM_BYTES", room_bytes)
        same(problem, said, parsed)
        same(problem, said, parsed, against=old, executed_until=rng.randrange(40))


_ABOUT_ORDER = {"ORDER", "MISSING_TASK", "REPEATED_TASK", "NOT_ALLOWED", "NOT_YET_AVAILABLE", "PAST_REWRITTEN"}


@settings(max_examples=600, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_jobs_that_go_back_are_judged_as_a_walk_through_them_says(seed: int) -> None:
    """Repaired schedules, right or with a few faults: each job is followed step by step, which the validator does not do."""
    rng = Random(seed)
    problem = generate(rng.randint(1, 3), rng.randint(1, 3), seed, is_reentrant=rng.random() < 0.3)
    old = quick(problem)
    events = [_goes_back(problem, rng) for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.3:
        events.append({"at": rng.randrange(200), "event": "job_cancelled", "job": rng.randint(1, len(problem.jobs))})
    parsed = parse_events(problem, events)
    answer = repair(problem, old, parsed, Budget.of(0))
    assert isinstance(answer, Repaired)
    said = rows(answer.schedule)
    for _ in range(rng.choice([0, 1, 1, 2])):
        n, by = rng.randrange(len(said)), rng.randint(-60, 60)
        match rng.randrange(4):
            case 0 if len(said) > 1:
                said.pop(n)
            case 1:
                said.append({**said[n], "start": said[n]["start"] + 200, "end": said[n]["end"] + 200})
            case _:
                said[n]["start"], said[n]["end"] = (max(0, said[n][name] + by) for name in ("start", "end"))
    told = validate_schedule(problem, said, parsed, against=rows(old))
    found = {each.code for each in told.violations} & _ABOUT_ORDER
    walks = _is_walked(problem, said, parsed) and _is_kept(said, rows(old), parsed[0].at)
    assert walks == (not found), told.violations


def test_steps_that_do_not_exist_are_not_missed_however_the_old_schedule_names_them() -> None:
    old = [*rows(quick(THREE)), {"job": 1, "step": 9, "machine": 0, "start": 0, "end": 1}]
    events = parse_events(THREE, {"at": 3, "event": "job_cancelled", "job": 1}, {"at": 9, "event": "redo", "job": 2, "step": 1})
    said = [row for row in rows(quick(THREE)) if row["job"] != 1 or row["start"] < 3]
    told = validate_schedule(THREE, said, events, against=old, executed_until=9)
    assert {(each.code, *each.scope.values()) for each in told.violations if each.scope["job"] == 1} == set()


def test_an_attempt_too_many_names_the_one_before_it() -> None:
    old = quick(THREE)
    parsed = parse_events(THREE, {"at": 20, "event": "redo", "job": 1, "step": 3})
    again = {**rows(old)[2], "start": 20, "end": 22}
    said = [*rows(old), again, {**again, "start": 30, "end": 32}]
    (told,) = validate_schedule(THREE, said, parsed).violations
    assert (told.code, told.message) == ("REPEATED_TASK", "row 9: job 1, step 3 (20 to 22) is there already, in row 8")


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_step_of_a_job_that_goes_back_is_missed_once_and_nothing_else_is_wrong(seed: int) -> None:
    rng = Random(seed)
    problem = generate(2, 3, seed)
    old = quick(problem)
    parsed = parse_events(problem, _goes_back(problem, rng))
    answer = repair(problem, old, parsed, Budget.of(0))
    assert isinstance(answer, Repaired)
    said = rows(answer.schedule)
    left_out = said.pop(rng.randrange(len(said)))
    told = validate_schedule(problem, said, parsed, against=rows(old)).violations
    assert [(each.code, each.scope) for each in told] == [("MISSING_TASK", {"job": left_out["job"], "step": left_out["step"]})]


def _goes_back(problem: JobShop, rng: Random) -> Json:
    job = rng.randint(1, len(problem.jobs))
    return {"at": rng.randrange(200), "event": "redo", "job": job, "step": rng.randint(1, len(problem.jobs[job - 1]))}


def _is_walked(problem: JobShop, said: list[Json], events: tuple[Event, ...]) -> bool:
    """Tell whether each job goes through its steps, and back where it is told to, one after the other."""
    for job, steps in enumerate(problem.jobs, 1):
        ends = next((each.at for each in events if isinstance(each, JobCancelled) and each.job == job), None)
        backs = [each for each in events if isinstance(each, Redo) and each.job == job and (ends is None or each.at < ends)]
        step, free = 1, 0
        for row in sorted((each for each in said if each["job"] == job), key=lambda each: (each["start"], each["end"])):
            while backs and backs[0].at <= row["start"]:
                step = min(step, backs.pop(0).step)
            if row["step"] != step or row["start"] < free or (ends is not None and row["start"] >= ends):
                return False
            step, free = step + 1, row["end"]
        step = min([step, *(each.step for each in backs)])
        if ends is None and step <= len(steps):
            return False
    return True


def _is_kept(said: list[Json], old: list[Json], until: int) -> bool:
    begun, had = (
        sorted((each["job"], each["step"], each["start"]) for each in some if each["start"] < until) for some in (said, old)
    )
    return begun == had


@pytest.mark.parametrize(("jobs", "machines"), [(2, 3), (20, 5), (50, 20), (500, 2)])
def test_slices_stay_small_however_large_the_shop_is(jobs: int, machines: int) -> None:
    problem = generate(jobs, machines, 1)
    said = rows(quick(problem))
    stops = [{"at": n, "event": "machine_down", "machine": 0, "until": n + 1} for n in range(0, 900, 3)]
    verdict = same(problem, said, parse_events(problem, stops))
    assert {each.validator for each in verdict.certificates} == {"rows", "job", "machine", "downtime", "missing steps"}


def test_a_repair_has_only_those_scopes_judged_that_it_touched() -> None:
    problem, remembered = generate(50, 20, 1), Remembered()
    said = rows(quick(problem))
    assert validate_schedule(problem, said, remembered=remembered).is_valid
    every = remembered.judged
    said[-1]["end"] += 1
    assert [each.code for each in validate_schedule(problem, said, remembered=remembered).violations] == ["DURATION"]
    assert remembered.judged - every <= 4 < every / 20


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (None, "schedule: is missing"),
        ({}, "schedule: is missing"),
        ({"schedule": {}}, "a schedule is a list of steps, not {}"),
        ("later", "a schedule is a list of steps, not 'later'"),
        (7, "a schedule is a list of steps, not 7"),
    ],
)
def test_what_is_no_schedule_is_malformed(said: object, why: str) -> None:
    (fault,) = validate_schedule(THREE, said).violations
    assert (fault.code, fault.message) == ("MALFORMED", why)


def test_nothing_at_all_lacks_every_step() -> None:
    assert [each.code for each in validate_schedule(THREE, []).violations] == ["MISSING_TASK"] * 8


def test_what_takes_no_time_is_nowhere_in_the_middle_of_a_step() -> None:
    problem = shop([(0, 4)], [(0, 0)])
    at = {"job": 2, "step": 1, "machine": 0}
    whole = {"job": 1, "step": 1, "machine": 0, "start": 0, "end": 4}
    for moment, codes in ((0, []), (2, ["OVERLAP"]), (4, [])):
        told = validate_schedule(problem, [whole, {**at, "start": moment, "end": moment}])
        assert [each.code for each in told.violations] == codes


def paused(end: int, *stops: tuple[int, int | None], duration: int = 5) -> list[str]:
    problem = shop([(0, duration)])
    events = parse_events(problem, [{"at": at, "event": "machine_down", "machine": 0, "until": until} for at, until in stops])
    row = {"job": 1, "step": 1, "machine": 0, "start": 1, "end": end}
    return [each.code for each in validate_schedule(problem, [row], events).violations]


def test_a_pause_is_no_work() -> None:
    assert paused(9, (3, 6)) == []
    assert paused(8, (3, 6)) == paused(10, (3, 6)) == ["DURATION"]
    assert paused(10, (3, 6), (6, 7)) == paused(10, (3, 6), (5, 7)) == []
    assert paused(10, (3, 6), (7, 8)) == []
    assert paused(6, (6, 9)) == []
    assert paused(8, (6, 9)) == ["DURATION"]  # over when its work is, not when its machine is back
    assert paused(6, (3, 3)) == []
    assert paused(6, (3, None)) == ["DURATION"]
    assert paused(6, (0, 1)) == []
    assert paused(6, (0, 2)) == paused(6, (1, 2)) == ["NOT_YET_AVAILABLE"]


def test_of_several_events_the_first_says_what_was_done() -> None:
    old = rows(quick(THREE))
    events = parse_events(THREE, [{"at": 1, "event": "machine_down", "machine": 0, "until": 1}, {**DONE, "at": 90}])
    late = [{**row, "start": row["start"] + 50, "end": row["end"] + 50} if row["start"] else row for row in old]
    assert validate_schedule(THREE, late, events, against=old).is_valid
    told = validate_schedule(THREE, late, events, against=old, executed_until=90)
    assert {each.code for each in told.violations} == {"PAST_REWRITTEN"}


DONE = {"event": "duration", "job": 1, "step": 1, "minutes": 3}


def test_an_old_schedule_needs_a_moment() -> None:
    with pytest.raises(InvalidInputError, match="executed_until: say until when"):
        validate_schedule(THREE, rows(quick(THREE)), against=rows(quick(THREE)))
    with pytest.raises(InvalidInputError, match="against: row 0 cannot be read"):
        validate_schedule(THREE, rows(quick(THREE)), against=[{}], executed_until=3)


def test_each_slice_is_enough_to_judge_again() -> None:
    row = {"job": 1, "step": 1, "machine": 0, "start": 1, "end": 9}
    problem = parse_problem("1 1\n0 5\n")
    events = parse_events(problem, [{"at": 3, "event": "machine_down", "machine": 0, "until": 6}])
    case = Case(problem, parse_schedule([{**row, "start": 2}]), events, History(parse_schedule([row]), 3))
    found = {
        each.name: [each.validate(None, slice_of(view)).violations for _scope, view in each.scopes(case)] for each in CONCERNS
    }
    codes = {name: [violation.code for violations in each for violation in violations] for name, each in found.items()}
    assert codes == {
        "readable rows": [],
        "rows": [],
        "job": [],
        "machine": [],
        "downtime": ["DURATION"],
        "order": [],
        "missing steps": [],
        "past": ["PAST_REWRITTEN"],
    }


def test_a_row_that_cannot_be_read_is_told_by_its_fields() -> None:
    (fault,) = parse_schedule([{"job": 1, "step": "two", "machine": 0, "start": 3}]).illegible
    assert fault.fault == "step: must be a valid integer, not 'two'; end: is missing"


BAD_EVENTS = {
    "no object": (7, "events[0]: an event is a JSON object"),
    "no kind": ({"at": 3}, "events[0].event: is missing"),
    "a strange kind": ({"at": 3, "event": "fire"}, 'events[0].event: must be "machine_down" or "duration"'),
    "no moment": ({"event": "machine_down", "machine": 0, "until": 5}, "events[0].at: is missing"),
    "a moment in words": ({"at": "03:00", "event": "machine_down", "machine": 0, "until": 5}, "events[0].at: must be a valid"),
    "backwards": ({"at": 3, "event": "machine_down", "machine": 0, "until": 2}, "events[0].until: 2 is before 3"),
    "a strange machine": (
        {"at": 3, "event": "machine_down", "machine": 3, "until": 5},
        "events[0].machine: there is no",
    ),
    "a strange job": ({"at": 3, "event": "duration", "job": 4, "step": 1, "minutes": 5}, "events[0].job: there is no job 4"),
    "a strange step": ({"at": 3, "event": "duration", "job": 3, "step": 3, "minutes": 5}, "events[0].step: job 3 has no step 3"),
    "no minutes": ({"at": 3, "event": "duration", "job": 1, "step": 1}, "events[0].minutes: is missing"),
    "less than none": ({"at": 3, "event": "duration", "job": 1, "step": 1, "minutes": -1}, "events[0].minutes: must be greater"),
    "a field too many": ({"at": 3, "event": "machine_down", "machine": 0, "till": 5}, "events[0].till: is not a known field"),
}


@pytest.mark.parametrize(("event", "said"), BAD_EVENTS.values(), ids=BAD_EVENTS)
def test_what_is_wrong_with_an_event_names_its_field(event: object, said: str) -> None:
    with pytest.raises(InvalidInputError) as raised:
        parse_events(THREE, event)
    assert str(raised.value).startswith(said)
