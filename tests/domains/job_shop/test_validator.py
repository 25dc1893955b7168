"""Schedules that are right are found right, and each fault is found once, at its place, by its code alone."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmarks.jobshop.generator import generate
from sagagraph.domains.job_shop.parsing import parse_events, parse_schedule
from sagagraph.domains.job_shop.rules.validator import CHECKS, JobShopValidator, shown, validate_schedule
from sagagraph.errors import InvalidInputError
from sagagraph.validators.protocol import judge
from sagagraph.validators.verdict import VerdictStatus
from tests.domains.job_shop.corruption import OPERATORS, Operator
from tests.domains.job_shop.shops import THREE, quick, rows, shop

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
    assert len(OPERATORS) == len(CHECKS) + 1  # names are checked for strangers and for the wrong machine


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


async def test_what_it_was_shown_is_enough_to_judge_again() -> None:
    stated = "1 1\n0 5\n"
    row = {"job": 1, "step": 1, "machine": 0, "start": 1, "end": 9}
    down = {"at": 3, "event": "machine_down", "machine": 0, "until": 6}
    context = shown(stated, [down], against=[{**row, "end": 6}], executed_until=3)
    verdict = await judge(JobShopValidator(), [row], context)
    assert verdict.verdict is VerdictStatus.VALID
    assert verdict.certificate is not None
    assert verdict.certificate.covers([row], context)
    assert (await judge(JobShopValidator(), [{**row, "start": 2, "end": 10}], context)).violations[0].code == "PAST_REWRITTEN"


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
