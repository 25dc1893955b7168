"""Instances in every format that there is, and what is wrong with them, in one line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given

from benchmarks.jobshop.generator import as_realm, generate, in_standard_format, in_taillards_format
from sagagraph.domains.job_shop.instances import parse_problem
from sagagraph.domains.job_shop.request import JobShop
from sagagraph.errors import InvalidInputError
from tests.domains.job_shop.shops import shops

pytestmark = pytest.mark.quick

STANDARD = "2 2\n0 3 1 2\n1 4 0 1\n"
TAILLARD = "jobs machines\n 2 2 7 7 0 0\nTimes\n3 2\n4 1\nMachines\n1 2\n2 1\n"
NEEDS_DATA = pytest.mark.skipif("SAGAGRAPH_DATA" not in os.environ, reason="SAGAGRAPH_DATA names no folder of benchmark data")


@given(problem=shops())
def test_what_is_written_is_read(problem: JobShop) -> None:
    from_one = JobShop(
        tuple(tuple(type(step)(step.machine + 1, step.duration) for step in job) for job in problem.jobs),
        range(1, len(problem.machines) + 1),
    )
    assert parse_problem(in_standard_format(problem)) == problem
    assert parse_problem(in_taillards_format(problem)) == from_one
    assert parse_problem(json.dumps(as_realm(problem))) == from_one


def test_comments_and_blank_lines_are_passed_over() -> None:
    assert parse_problem(f"# an instance\n\n{STANDARD}\n\n# the end\n") == parse_problem(STANDARD)
    assert parse_problem(STANDARD.replace("\n", "  # a remark\r\n")) == parse_problem(STANDARD)
    assert parse_problem(TAILLARD.replace("Times", "\nTimes:")) == parse_problem(TAILLARD)


WRONG = {
    "nothing": ("", "is empty"),
    "only remarks": ("# here is\n# nothing\n", "is empty"),
    "one number": ("2\n0 3\n", "line 1: the numbers of jobs and machines are two, not 1"),
    "no jobs": ("0 2\n", "line 1: there is at least one job and one machine"),
    "a row too few": ("3 2\n0 3 1 2\n1 4 0 1\n", "line 3: the jobs there end after 2 of the 3 that line 1 states"),
    "no row at all": ("3 2\n", "line 1: the jobs there end after 0 of the 3 that line 1 states"),
    "a row too many": (f"{STANDARD}0 1 1 1\n", "line 4: there are more jobs than the 2 that line 1 states"),
    "half a pair": ("2 2\n0 3 1\n1 4 0 1\n", "line 2: job 1: pairs of machine and duration are an even number of numbers, not 3"),
    "a negative duration": ("2 2\n0 3 1 -2\n1 4 0 1\n", "line 2: job 1: '-2' is not a whole number"),
    "half a minute": ("2 2\n0 3 1 2\n1 4.5 0 1\n", "line 3: job 2: '4.5' is not a whole number"),
    "a word": ("2 2\n0 3 1 2\n1 4 0 one\n", "line 3: job 2: 'one' is not a whole number"),
    "a machine too many": ("2 2\n0 3 1 2\n\n1 4 2 1\n", "line 4: job 2, step 2: there is no machine 2; there are 0 to 1"),
    "a giant": ("2 2\n0 3 1 2\n1 4 0 9999999999\n", "line 3: job 2, step 2: the duration 9999999999 is more than"),
    "endless digits": (f"1 2\n0 3 1 {'9' * 9000}\n", "is not a whole number"),
    "more jobs than anybody has": ("99999999 2\n0 1\n", "line 1: there are at most"),
    "machine 0 of Taillard": (
        TAILLARD.replace("2 1\n", "0 1\n"),
        "line 8: job 2, step 1: there is no machine 0; there are 1 to 2",
    ),
    "Taillard without machines": (TAILLARD.split("Machines")[0], "line 2: the line 'Machines' does not follow"),
    "Taillard without times": (TAILLARD.replace("Times\n", ""), "the line 'Times' is missing before this one"),
    "Taillard with a time too few": (TAILLARD.replace("4 1\n", "4\n"), "line 8: job 2: 2 machines for the 1 times of line 5"),
    "two instances": (TAILLARD * 2, "line 9: there is something behind the last job; one instance a file"),
    "only a title": ("Times\n", "line 1: the numbers of jobs and machines are missing"),
    "JSON cut off": ('{"num_jobs": 2,', "is not JSON"),
    "JSON without jobs": ('{"num_jobs": 2, "num_machines": 2}', "processing_times: is missing"),
}


@pytest.mark.parametrize(("text", "said"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said_in_one_line(text: str, said: str) -> None:
    with pytest.raises(InvalidInputError) as raised:
        parse_problem(text)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)
    assert raised.value.field


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        ("machine", 3, "processing_times[1][0].machine: there is no machine 3; there are 1 to 2"),
        ("machine", "1", "processing_times[1][0].machine: must be a valid integer"),
        ("processing_time", -1, "processing_times[1][0].processing_time: must be greater than or equal to 0"),
        ("processing_time", 1.5, "processing_times[1][0].processing_time: must be a valid integer"),
        ("operation", 2, "processing_times[1][0].operation: is 2, and in its place is number 1"),
    ],
)
def test_what_is_wrong_in_json_names_its_field(place: str, value: object, said: str) -> None:
    instance = as_realm(parse_problem(STANDARD))
    instance["processing_times"][1][0][place] = value
    with pytest.raises(InvalidInputError) as raised:
        parse_problem(json.dumps(instance))
    assert str(raised.value).startswith(said)


def test_as_many_jobs_as_are_stated() -> None:
    with pytest.raises(InvalidInputError, match="num_jobs: is 3, and there are 2 jobs"):
        parse_problem(json.dumps(as_realm(parse_problem(STANDARD)) | {"num_jobs": 3}))


def test_more_steps_than_can_be_scheduled_are_refused() -> None:
    many = in_standard_format(generate(600, 100, 1))
    with pytest.raises(InvalidInputError, match="has more than 50000 steps"):
        parse_problem(many)


@NEEDS_DATA
def test_every_instance_of_the_benchmarks_is_read() -> None:
    folder = Path(os.environ["SAGAGRAPH_DATA"], "jobshop")
    paths = [path for kind in ("abz-swv-yn", "dmu", "ta", "j3") for path in sorted((folder / kind).iterdir())]
    assert len(paths) > 100
    for path in paths:
        assert len(list(parse_problem(path.read_text()).numbered())) >= 100
