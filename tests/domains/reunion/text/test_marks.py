"""Marks of rows of which something was said that was not understood."""

from __future__ import annotations

from datetime import date

import pytest

from sagagraph.domains.reunion.completion import completed
from sagagraph.domains.reunion.page.fields import fields_of, with_value
from sagagraph.domains.reunion.text.telling import told
from sagagraph.domains.reunion.transcript import EMPTY, IN_PART, Filled
from sagagraph.ui.differences import assumed
from sagagraph.ui.differences import filled as changed

pytestmark = pytest.mark.quick

DAY = "We meet at the Playhouse at 7 pm. Ann is at the office and drives. The tickets must be picked up at the kiosk."


def filled(said: str) -> Filled:
    return told(EMPTY, f"{DAY} {said}").filled


def marked(board: Filled) -> list[str]:
    """Return the names of the rows that are marked."""
    fields = [field.partition("[") for field, why in board.assumed.items() if why == IN_PART]
    rows = [(table, int(rest.split("]")[0])) for table, _, rest in fields]
    return [board.problem[table][number].get("name") or board.problem[table][number]["people"] for table, number in rows]


@pytest.mark.parametrize(
    ("said", "rows"),
    [
        ("Ben is at the gym, his umbrella is purple, and he needs a lift.", ["Ben"]),
        ("Ben is at the gym. Ben is twice as old as me.", ["Ben"]),
        ("The cake must be picked up at the bakery, its icing is purple.", ["cake"]),
        ("Ben is at the gym and needs a lift.", []),
        ("Good evening!", []),
        ("Ben is at the gym. What a day.", []),
    ],
)
def test_a_row_is_marked_of_which_something_was_not_understood(said: str, rows: list[str]) -> None:
    assert marked(filled(said)) == rows


def test_all_are_marked_where_it_is_said_of_when_they_meet() -> None:
    board = told(EMPTY, "We meet at the Playhouse at 7 pm, whatever the moon says. Ann is at the office and drives.").filled
    assert marked(board) == ["all"]


def test_whoever_changes_a_row_or_tells_of_it_anew_has_looked_at_it() -> None:
    board = filled("Ben is at the gym, his umbrella is purple.")
    number = [row["name"] for row in board.problem["people"]].index("Ben")
    assert marked(with_value(board, f"people[{number}].from", "17:00")) == []
    assert marked(with_value(board, f"people[{1 - number}].from", "17:00")) == ["Ben"]
    assert marked(told(board, "Ben is at the gym until 5 pm").filled) == []


def test_a_mark_stands_at_the_name_on_the_board_and_on_the_plan() -> None:
    board = filled("Ben is at the gym, his umbrella is purple.")
    parts = fields_of(board.problem, {}, board.assumed, day=date(2026, 11, 25), has_mail=False)
    assert f"Ben ({IN_PART})" in [*assumed(parts)]


def test_a_new_row_says_only_what_was_filled_in() -> None:
    board = EMPTY
    for name, value in (("people[0].name", "James"), ("vehicles[0].name", "the van")):
        board = with_value(board, name, value)
    known = completed(board)
    parts = fields_of(known.problem, {}, known.assumed, day=date(2026, 11, 25), has_mail=False)
    assert "the van, seats: 5 (as most cars have)" in [*assumed(parts)]
    told_of = ["James, name: – → James", "the van, name: – → the van", "the van, seats: – → 5"]
    assert [*changed(fields_of(EMPTY.problem, {}, {}, day=date(2026, 11, 25), has_mail=False), parts)] == told_of
    cleared = completed(with_value(board, "vehicles[0].seats", ""))
    assert cleared.assumed["vehicles[0].seats"] == "as most cars have"


@pytest.mark.parametrize(
    ("more", "asked"),
    [
        ((), ["people[1].name"]),
        ((("people[1].name", "Ann"), ("people[1].place", "Home")), []),
        ((("tasks[0].name", "bake"), ("tasks[0].minutes", "30")), []),
    ],
)
def test_one_person_alone_makes_no_day_unless_there_is_something_to_do(
    more: tuple[tuple[str, str], ...], asked: list[str]
) -> None:
    board = EMPTY
    alone = (("goals[0].people", "all"), ("goals[0].place", "Home"), ("goals[0].by", "18:00"), ("people[0].name", "James"))
    for name, value in (*alone, ("people[0].place", "Home"), *more):
        board = with_value(board, name, value)
    known = completed(board)
    assert [each.field for each in known.questions] == asked
    assert (known.whole is None) is bool(asked)
