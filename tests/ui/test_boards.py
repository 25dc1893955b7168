"""The board of job shops: pasted, planned, drawn, repaired; and what is refused."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import httpx2
import pytest
import pytest_asyncio

from sagagraph.ui.server.app import create_app
from sagagraph.ui.server.options import ServerOptions
from sagagraph.ui.service import Service

pytestmark = [pytest.mark.quick, pytest.mark.asyncio(loop_scope="module")]
BOARD = "/board/jobshop"


@pytest_asyncio.fixture(loop_scope="module")
async def ann(service: Service) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(app=create_app(service, ServerOptions()))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as browser:
        yield browser


async def test_a_job_shop_is_planned_drawn_and_repaired_when_a_machine_fails(ann: httpx2.AsyncClient) -> None:
    empty = await ann.get(BOARD)
    (example,) = re.findall(r"<textarea[^>]*>\n([^<]*)</textarea>", empty.text)
    assert (empty.status_code, 'class="sg-track"' in empty.text, len(example.split())) == (200, False, 26)
    first = await ann.post(BOARD, data={"problem": example})
    assert (first.status_code, "makespan 13 (proven to be the least)" in first.text, "accept it" in first.text) == (
        200,
        True,
        True,
    )
    assert (first.text.count("<section>"), first.text.count("<li "), "no longer" in first.text) == (3, 12, False)
    down = {"problem": example, "machine": "1", "from": "2", "until": "9"}
    repaired = await ann.post(BOARD, data=down)
    assert (repaired.status_code, "Repaired: makespan " in repaired.text, "accept it" in repaired.text) == (200, True, True)
    assert "no longer" in repaired.text
    back = {"problem": example, "job-back": "1", "step-back": "1", "back": "4"}
    redone = await ann.post(BOARD, data=back)
    assert ("Repaired: makespan " in redone.text, "accept it" in redone.text, redone.text.count(" 1.1</li>")) == (True, True, 2)
    lost = await ann.post(BOARD, data={**down, "until": ""})
    assert "No repair: machine 1 does not come back" in lost.text


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"problem": "two jobs"}, "problem"),
        ({"problem": "1 1\n0 3\n", "machine": "x"}, "is not a whole number"),
        ({"problem": "1 1\n0 3\n", "machine": "7", "from": "1"}, "7"),
        ({"problem": "1 1\n0 3\n", "job": "1"}, "step"),
        ({"problem": "1 1\n0 3\n", "from": "1", "until": "4"}, "machine"),
        ({"problem": "<script>1</script>"}, "problem"),
        ({str(each): "x" for each in range(3000)}, "more fields"),
        ({"problem": "1 1\n0 3\n", "machine": "9" * 5000}, "is not a whole number"),
    ],
)
async def test_what_cannot_be_planned_is_named_and_escaped(ann: httpx2.AsyncClient, form: dict[str, str], words: str) -> None:
    answer = await ann.post(BOARD, data=form)
    assert (answer.status_code, words in answer.text, "<script>" in answer.text) == (422, True, False), answer.text


async def test_an_example_is_planned_at_a_click_and_its_sheet_holds_the_same_problem(ann: httpx2.AsyncClient) -> None:
    shown = await ann.get(BOARD, params={"example": 2})
    assert (shown.status_code, "Repaired: makespan 19" in shown.text) == (200, True)
    entries = dict(re.findall(r'<input [^>]*name="([^"]+)"[^>]* value="([^"]+)"', shown.text))
    machines = re.findall(r'<select name="([^"]+)"[^>]*>.*?<option selected>(\d+)</option>', shown.text)
    assert (len(machines), entries["minutes-4-2"], entries["machine"]) == (12, "3", "1")
    assert "Repaired: makespan 19" in (await ann.post(BOARD, data={**entries, **dict(machines)})).text
    longer = {**entries, **dict(machines), "minutes-5-1": "20", "machine-5-1": "2", "machine": "", "from": "", "until": ""}
    planned = await ann.post(BOARD, data=longer)
    assert ("makespan 32 " in planned.text, "Repaired" in planned.text, "Job 6" in planned.text) == (True, False, True)


@pytest.mark.parametrize(
    ("cell", "typed", "why"),
    [
        ("minutes-1-1", "-4", "&#39;-4&#39; is not a whole number"),
        ("minutes-4-3", "abc", "&#39;abc&#39; is not a whole number"),
        ("until", "2.5", "&#39;2.5&#39; is not a whole number"),
        ("machine", "7", "there is no machine 7; there are 0 to 2"),
    ],
)
async def test_a_cell_that_cannot_be_read_stays_as_it_was_typed_and_says_why(
    ann: httpx2.AsyncClient, cell: str, typed: str, why: str
) -> None:
    shown = await ann.get(BOARD, params={"example": 2})
    entries = dict(re.findall(r'<input [^>]*name="([^"]+)"[^>]* value="([^"]+)"', shown.text))
    entries |= dict(re.findall(r'<select name="([^"]+)"[^>]*>.*?<option selected>(\d+)</option>', shown.text))
    wrong = {**entries, cell: typed}
    answer = await ann.post(BOARD, data=wrong)
    again = dict(re.findall(r'<input [^>]*name="([^"]+)"[^>]* value="([^"]+)"', answer.text))
    again |= dict(re.findall(r'<select name="([^"]+)"[^>]*>.*?<option selected>(\d+)</option>', answer.text))
    assert (answer.status_code, again) == (422, wrong)
    marked = re.findall(r'name="([^"]+)"[^>]*aria-invalid="true">.*?<small[^>]*>([^<]*)</small>', answer.text, re.DOTALL)
    assert [(name, why in told) for name, told in marked] == [(cell, True)]
    assert "FILE" not in answer.text


async def test_there_is_no_board_of_another_name(ann: httpx2.AsyncClient) -> None:
    assert (await ann.get("/board/trips")).status_code == 422
