from __future__ import annotations

from datetime import date

import pytest

from sagagraph.domains.travel.text.when import read_dates

from .slots import NOTHING, TODAY, said


def understood(text: str, today: date = TODAY) -> str:
    """`06-05`: leaving then; `06-01..06-30`: a window."""
    answer = said(text, read_dates, today, NOTHING, today=today)[0]
    if answer.doubts:
        return f"{answer.doubts[0].field}? {answer.doubts[0].text}"
    first, last, depart = (answer.fields.get(name) for name in ("first", "last", "depart"))

    def short(moment: date | None) -> str:
        return "" if moment is None else moment.isoformat().removeprefix("2025-")

    window = f"{short(first)}..{short(last)}" if first or last else ""
    return " ".join(filter(None, [short(depart), window]))


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        # months
        ("in June 2025", "06-01..06-30"),
        ("June 2025 (flexible within the month)", "06-01..06-30"),
        ("in june", "06-01..06-30"),
        ("sometime in Sept", "09-01..09-30"),
        ("in March", "03-01..03-31"),
        ("in February", "2026-02-01..2026-02-28"),
        ("in may", "05-01..05-31"),
        ("May", "05-01..05-31"),
        ("next May", "05-01..05-31"),
        ("in June next year", "2026-06-01..2026-06-30"),
        ("in early June", "06-01..06-10"),
        ("mid-June", "06-11..06-20"),
        ("late June", "06-21..06-30"),
        ("at the end of February 2028", "2028-02-21..2028-02-29"),
        ("in the first half of June", "06-01..06-15"),
        ("the second half of July", "07-16..07-31"),
        ("the second half of February", "2026-02-15..2026-02-28"),
        ("the first week of June", "06-01..06-07"),
        ("the last weekend of April", "04-25..04-27"),
        ("in the first two weeks of June", "06-01..06-14"),
        ("the last two weeks of June", "06-17..06-30"),
        ("the first 10 days of July", "07-01..07-10"),
        ("the last 99 days of June", "06-01..06-30"),
        ("between the 5th and the 15th of June", "06-05..06-15"),
        ("the first weekend of June 2026", "2026-06-05..2026-06-07"),
        ("leaving on the second Friday of May", "05-09"),
        ("the last Friday in June", "06-27"),
        ("the first Monday in January", "2026-01-05"),
        ("next month", "04-01..04-30"),
        ("some time this month", "03-01..03-31"),
        ("before June", "..05-31"),
        ("back by July", "..07-31"),
        ("next week", "03-03..03-09"),
        ("between June and August", "06-01..08-31"),
        ("from June to August", "06-01..08-31"),
        ("December to January", "12-01..2026-01-31"),
        # weekdays, written short or in full
        ("on Fri 13 June", "06-13"),
        ("Sat June 14", "06-14"),
        ("Fri 13 June to Sun 15 June", "06-13..06-15"),
        ("Friday 13 June to Sunday 15 June", "06-13..06-15"),
        ("Fri-Sun 13-15 June", "06-13..06-15"),
        (
            "Thu 13 June to Sun 15 June",
            "window? When do you want to travel? 13 June 2025 is a Friday, and 'Thu 13 June to Sun 15 June' says otherwise.",
        ),
        ("leave Friday 20 June, back on Monday", "06-20 ..06-23"),
        ("next week, back on Sunday", "03-03..03-09"),
        ("between 10 and 16 June, leave on Thursday", "06-12 06-10..06-16"),
        ("in June, leave on a Friday", "depart? Which day is meant by 'Friday'?"),
        # what must or cannot be
        ("15 June is when we must be back", "..06-15"),
        ("we can't leave before 5 June", "06-05.."),
        ("we can't travel after 20 June", "..06-20"),
        ("my wife's birthday is on 14 June", "depart? On which day do you leave, if not on 14 June 2025 itself?"),
        # ranges of days
        ("between 3 and 20 July", "07-03..07-20"),
        ("from the 3rd to the 20th of July", "07-03..07-20"),
        ("3-20 July 2025", "07-03..07-20"),
        ("July 3-20", "07-03..07-20"),
        ("July 3rd to 20th, 2025", "07-03..07-20"),
        ("June 28 to July 10", "06-28..07-10"),
        ("June 3 – June 20, 2025", "06-03..06-20"),
        ("2025-06-03 to 2025-06-20", "06-03..06-20"),
        ("between June 3 and June 20", "06-03..06-20"),
        ("28 December to 4 January", "12-28..2026-01-04"),
        ("28 December 2025 until 4 January", "12-28..2026-01-04"),
        # days of departure
        ("leaving on 5 May 2025", "05-05"),
        ("2025-09-10", "09-10"),
        ("2025/9/10", "09-10"),
        ("10th of June", "06-10"),
        ("on the tenth of June", "06-10"),
        ("June 10th", "06-10"),
        ("May 5, 2025", "05-05"),
        ("on twenty-first June", "06-21"),
        ("13/06/2025", "06-13"),
        ("06/13/25", "06-13"),
        ("06/06/2025", "06-06"),
        ("31.12.2025", "12-31"),
        ("this Friday", "03-07"),
        ("on Sunday", "03-02"),
        ("this coming Saturday", "03-08"),
        ("3 nights, may, 2 people", "05-01..05-31"),
        ("any dates between 2nd and 15th May, 3 nights before going home", "05-02..05-15"),
        ("Tue 6 to Thu 8 May", "05-06..05-08"),
        ("Sat 10 - Tue 13, in May", "05-10..05-13"),
        ("Wed to Fri 9 May", "05-07..05-09"),
        ("3-7 June, then 7-10 June", "06-03..06-10"),
        ("the back half of June", "06-16..06-30"),
        ("Easter, Thursday to Monday", "04-17"),
        ("the wedding is on 6 June, we leave from here on the 8th for 4 nights", "06-08"),
        ("a concert on Saturday 14 June, arriving on Friday", "06-13"),
        ("I sat 2 exams", ""),
        ("Friday 9 May 2025", "05-09"),
        ("tomorrow", "03-02"),
        ("the day after tomorrow", "03-03"),
        ("leaving the 5th, June", "06-05 06-01..06-30"),
        ("5 January", "2026-01-05"),
        ("29 February", "2028-02-29"),
        ("Jun. 5", "06-05"),
        ("June. 2 rooms", "06-01..06-30"),
        ("leave 5/10/2025, return 5/17/2025", "05-10 ..05-17"),
        ("leave 10/5/2025, return 17/5/2025", "05-10 ..05-17"),
        ("leaving on the 10th of June, back by the 20th", "06-10 ..06-20"),
        # bounds
        ("after 10 June and before 25 June", "06-11..06-24"),
        ("from 10 June, back by 25 June", "06-10..06-25"),
        ("16-18 June, back on 19 June", "06-16..06-19"),
        ("not before 10 June, no later than 25 June", "06-10..06-25"),
        ("leaving May 5th, 2025, back by May 20", "05-05 ..05-20"),
        ("on May 5 and returning to Boston on May 12", "05-05 ..05-12"),
        ("leave on the 5th, return on the 12th, in June", "06-05 ..06-12"),
        ("in June, back by 20 June", "06-01..06-20"),
        ("10 June or later, at the latest back on 20 June", "06-10..06-20"),
        # nothing about dates
        ("we may fly", ""),
        ("May we fly?", ""),
        ("we march on", ""),
        ("4 nights in Berlin and 2 in Cologne", ""),
        ("3-4 stars for 2 people", ""),
        ("in 2 weeks", ""),
    ],
)
def test_dates_are_understood(text: str, dates: str) -> None:
    assert understood(text) == dates


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("in June or July", "window? In which month: June 2025 or July 2025?"),
        ("June, maybe July", "window? In which month: June 2025 or July 2025?"),
        ("06/07/2025", "depart? When do you want to travel? 06/07/2025 can be 6 July or 7 June."),
        ("13/13/2025", "depart? When do you want to travel? 13/13/2025 is no date."),
        (
            "Friday 12 June",
            "depart? When do you want to travel? 12 June 2025 is a Thursday, and 'Friday 12 June' says otherwise.",
        ),
        ("5 May 2024", "depart? When do you want to travel? 5 May 2024 is in the past."),
        ("June 2024", "window? When do you want to travel? June 2024 is over."),
        ("31 June", "depart? When do you want to travel? There is no 31 June 2025."),
        ("from 20 June 2025 to 3 June 2025", "window? When do you want to travel? 20 June 2025 to 3 June 2025 runs backwards."),
        ("20-3 July", "window? When do you want to travel? 20 July 2025 to 3 July 2025 runs backwards."),
        ("5 May or 6 May", "depart? On which day between 5 May 2025 and 6 May 2025 do you leave?"),
        ("leaving between 3 and 6 June", "depart? On which day between 3 June 2025 and 6 June 2025 do you leave?"),
        ("arriving on 5 May", "depart? On which day do you leave, if not on 5 May 2025 itself?"),
        ("around 5 May", "depart? On which day do you leave, if not on 5 May 2025 itself?"),
        ("next Friday", "depart? Which day is meant by 'next Friday'?"),
        ("over Easter", "window? Easter: between which days?"),
        ("Easter 2026", "window? Easter: between which days?"),
        ("at New Year", "window? New year: between which days?"),
        ("in the summer", "window? Summer: between which days?"),
        ("on Fridays", "depart? Which day is meant by 'on Fridays'?"),
        ("on the 5th", "depart? When do you want to travel? The 5. of which month."),
        ("after 25 June, before 10 June", "window? Between which days? 26 June 2025 comes after 9 June 2025."),
        (
            "in June, leaving 5 July",
            "depart? On which day do you leave? 5 July 2025 is not between 1 June 2025 and 30 June 2025.",
        ),
    ],
)
def test_what_can_mean_more_than_one_date_or_none_is_asked(text: str, question: str) -> None:
    assert understood(text) == question


def test_a_year_that_is_left_out_is_the_next_that_fits() -> None:
    assert understood("in June", today=date(2025, 6, 20)) == "06-01..06-30"
    assert understood("in June", today=date(2025, 7, 1)) == "2026-06-01..2026-06-30"
    assert understood("on 5 June", today=date(2025, 6, 5)) == "06-05"
    assert understood("on 5 June", today=date(2025, 6, 6)) == "2026-06-05"
    assert understood("3 to 20 July", today=date(2025, 7, 10)) == "07-03..07-20"
    assert understood("3 to 20 July", today=date(2025, 7, 21)) == "2026-07-03..2026-07-20"


def test_the_year_of_one_date_is_that_of_the_others() -> None:
    assert understood("leaving 5 June, some time in June 2026") == "2026-06-05 2026-06-01..2026-06-30"


def test_dates_leave_the_rest_of_the_sentence() -> None:
    _, rest = said("4 nights in June in Berlin", read_dates, TODAY, NOTHING)
    assert rest.said().split() == ["4", "nights", "in", "Berlin"]


def test_a_holiday_beside_a_date_is_only_a_reason() -> None:
    assert understood("10 to 20 April, for Easter") == "04-10..04-20"


def test_the_last_of_some_nights_ends_a_day_later() -> None:
    assert understood("for the nights of 14, 15 and 16 August") == "08-14..08-17"
    assert understood("14, 15 and 16 August") == "08-14..08-16"
