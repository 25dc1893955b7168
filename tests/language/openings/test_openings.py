"""First messages of 150 people, offline: how many lead to the plan that they mean at once. The figures are printed."""

from __future__ import annotations

import sys
from statistics import median

import pytest

from sagagraph.errors import SagaGraphError
from sagagraph.planning.page import Page
from tests.language.openings.judging import Judged, Opening, Result, figures, judged, openings
from tests.language.openings.models import Reader, right_slots, wrong_slots
from tests.language.openings.reading import page_of, read_by

LEAST_RIGHT = {"trip": (0.88, 0.65), "meal": (0.9, 0.85), "reunion": (0.1, 0.0)}
"""Of those that were looked at while the readers were changed, and of those that were kept."""

LEAST_WITH_A_MODEL = 0.95


async def all_judged(domain: str) -> list[Judged]:
    page = page_of(domain)
    return [await _judged(each, page) for each in openings(domain)]


async def _judged(opening: Opening, page: Page) -> Judged:
    try:
        return judged(opening, await read_by(page, opening.text))
    except SagaGraphError as exc:
        return Judged(opening, Result.UNREAD, str(exc))


@pytest.mark.parametrize("domain", list(LEAST_RIGHT))
async def test_most_first_messages_lead_to_what_they_mean(domain: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = await all_judged(domain)
    with capsys.disabled():
        sys.stdout.write(f"\n{domain}s\n{figures(found)}\n")
    assert [(each.opening.text, each.why) for each in found if each.result is Result.WRONG] == []
    for is_kept, least in enumerate(LEAST_RIGHT[domain]):
        of = [each for each in found if each.opening.is_kept is bool(is_kept)]
        right = sum(each.result is Result.RIGHT for each in of) / len(of)
        assert right >= least, [(each.opening.text, each.why) for each in of if each.result is not Result.RIGHT][:5]


async def test_a_judge_of_openings_finds_what_is_wrong() -> None:
    page = page_of("trip")
    first = openings("trip")[0]
    other = await read_by(page, first.text.replace("London", "Paris"))
    assert judged(first, other).result is not Result.RIGHT
    assert judged(first, await read_by(page, first.text)).result is Result.RIGHT


async def test_with_a_model_that_reads_rightly_nearly_all_are_right(capsys: pytest.CaptureFixture[str]) -> None:
    found = [
        await _judged(each, page_of(domain, Reader(right_slots(each)))) for domain in LEAST_RIGHT for each in openings(domain)
    ]
    with capsys.disabled():
        for domain in LEAST_RIGHT:
            own = [each for each in found if each.opening.domain == domain]
            sys.stdout.write(f"\n{domain}s, with a model that reads rightly\n{figures(own)}\n")
    right = sum(each.result is Result.RIGHT for each in found) / len(found)
    assert right >= LEAST_WITH_A_MODEL, [(each.opening.text, each.why) for each in found if each.result is not Result.RIGHT]


async def test_of_a_model_that_is_often_wrong_nothing_wrong_is_taken_in_silence() -> None:
    taken = []
    for domain in LEAST_RIGHT:
        for each in openings(domain):
            slots, wrong = wrong_slots(each)
            draft = await page_of(domain, Reader(slots)).hear(each.text, None)
            silent = [said for said in wrong if said not in " ".join(draft.asides)]
            taken += [(each.text, silent)] if silent else []
    assert taken == []


@pytest.mark.parametrize("has_model", [False, True])
async def test_the_median_of_turns_to_the_first_plan_is_one(has_model: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """A turn more for whatever is missing, which is asked for at once, and one for what was read wrongly."""
    turns: dict[str, list[int]] = {domain: [] for domain in LEAST_RIGHT}
    for domain, counted in turns.items():
        for each in openings(domain):
            page = page_of(domain, Reader(right_slots(each)) if has_model else None)
            is_wrong, is_whole = (await _judged(each, page)).result is not Result.RIGHT, await _is_planned(each, page)
            counted.append(1 + is_wrong + (not is_whole))
    everything = [each for counted in turns.values() for each in counted]
    with capsys.disabled():
        medians = ", ".join(f"{domain}s {median(counted):g}" for domain, counted in turns.items())
        sys.stdout.write(f"\nturns to the first plan, median{' with a model' * has_model}: {median(everything):g} ({medians})\n")
    assert median(everything) == 1


async def _is_planned(opening: Opening, page: Page) -> bool:
    try:
        return (await page.hear(opening.text, None)).request is not None
    except SagaGraphError:
        return False
