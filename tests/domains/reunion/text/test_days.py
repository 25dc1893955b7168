"""The day on which all meet: as people name it, on the board, and in what everybody is told."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from sagagraph.domains.reunion.page.page import ReunionPage
from sagagraph.domains.reunion.text.days import Days, days_in
from sagagraph.errors import InvalidInputError
from sagagraph.planning.page import Draft

pytestmark = pytest.mark.quick

TODAY = date(2026, 11, 25)
LUNCH = "lunch is at 1 pm at home. Ann is at home. Paul drives from Boston."


class _Nothing:
    name, sends_mail = "reunion", False


def page() -> ReunionPage:
    nothing: Any = _Nothing()
    return ReunionPage(nothing, today=lambda: TODAY)


async def heard(text: str, known: Any = None) -> Draft:
    return await page().hear(text, known)


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("On 25 December", "2026-12-25"),
        ("Tomorrow", "2026-11-26"),
        ("On Saturday", "2026-11-28"),
        ("On Sat 5 Dec", "2026-12-05"),
        ("On Christmas Day", "2026-12-25"),
        ("On 2027-01-03", "2027-01-03"),
    ],
)
async def test_the_day_that_is_named_is_that_of_the_request_and_no_assumption(said: str, day: str) -> None:
    draft = await heard(f"{said} {LUNCH}")
    assert (draft.request["day"], draft.not_understood, "day" in draft.assumed) == (day, (), False)


async def test_without_a_day_it_is_todays_and_that_is_shown_as_assumed() -> None:
    draft = await heard(LUNCH.capitalize())
    assert (draft.request["day"], draft.assumed["day"]) == ("2026-11-25", "no other day was read")


async def test_of_two_days_none_is_taken_and_both_are_named() -> None:
    draft = await heard(f"On Saturday {LUNCH} Ann lands on Friday.")
    assert (draft.request["day"], {"Saturday", "Friday"} <= {*draft.not_understood}) == ("2026-11-25", True)


@pytest.mark.parametrize(
    "words",
    [
        "Saturday 25 December", "2020-12-24", "in two days", "next week", "Friday the 13th", "Saturday in two weeks",
        "Saturday week", "a week on Saturday", "Saturday after Easter", "10 to 12 May", "3 November",
    ],
)  # fmt: skip
def test_a_day_of_which_nobody_knows_which_it_is_is_named(words: str) -> None:
    assert days_in(f"Dinner is at home at 6 pm on {words}.", TODAY) == Days(unclear=(words,))


@pytest.mark.parametrize(
    "text",
    [
        "She got back last Friday.",
        "Closed on Sundays.",
        "Ben is in Friday Street.",
        "The cake takes 3/4 of an hour.",
        "Be there at 6.10.",
        "Aunt May drives.",
        "5 or 6 of us.",
    ],
)
def test_what_only_looks_like_a_day_is_none(text: str) -> None:
    assert days_in(text, TODAY) == Days()


async def test_the_day_is_a_field_and_is_changed_by_a_sentence_too() -> None:
    draft = await heard(LUNCH.capitalize())
    chosen = await page().with_field(draft.known, "day", "2026-12-24")
    later = await heard("on 26 December instead", chosen.known)
    assert (chosen.request["day"], later.request["day"]) == ("2026-12-24", "2026-12-26")
    for value, why in (("2026-02-31", "no day such as"), ("2020-01-01", "is over")):
        with pytest.raises(InvalidInputError, match=why):
            await page().with_field(draft.known, "day", value)
    emptied = await page().with_field(chosen.known, "day", "")
    assert (emptied.request["day"], "day" in emptied.assumed) == ("2026-11-25", True)


async def test_a_request_keeps_its_day_when_something_else_is_said_of_it() -> None:
    first = await heard(f"On Saturday {LUNCH}")
    again = await heard("Paul drives from Hartford", page().draft_of(first.request).known)
    assert again.request["day"] == "2026-11-28"


async def test_a_day_of_somebody_or_something_moves_no_day_that_stands() -> None:
    first = await heard(f"On Saturday {LUNCH}")
    for said in ("Paul lands tomorrow at 9", "The cake was ordered on Monday"):
        later = await heard(said, first.known)
        assert (later.request["day"], later.not_understood != ()) == ("2026-11-28", True)


async def test_an_assumed_day_stays_the_day_of_its_request_over_midnight() -> None:
    request = (await heard(LUNCH.capitalize())).request
    nothing: Any = _Nothing()
    tomorrow = ReunionPage(nothing, today=lambda: TODAY + timedelta(days=1))
    draft = tomorrow.draft_of(request)
    assert (draft.request["day"], draft.assumed["day"]) == ("2026-11-25", "no other day was read")
    assert (await tomorrow.hear("Paul drives from Hartford", draft.known)).request["day"] == "2026-11-25"


async def test_a_request_without_a_day_keeps_that_of_the_one_that_it_changes() -> None:
    before = (await heard(f"On Saturday {LUNCH}")).request
    assert (await page().checked({"problem": before["problem"]}, before))["day"] == "2026-11-28"
    assert (await page().checked({"problem": before["problem"]}))["day"] == "2026-11-25"


async def test_a_reunion_of_ours_is_on_the_day_that_was_chosen() -> None:
    chosen = await page().with_field(None, "day", "2026-12-24")
    assert (await heard("thanksgiving", chosen.known)).request["day"] == "2026-12-24"
