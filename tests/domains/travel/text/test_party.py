from __future__ import annotations

import pytest

from sagagraph.domains.travel.partial import Said
from sagagraph.domains.travel.text.slots import WE, read_party

from .slots import NOTHING, passage_of, said


def party(text: str) -> Said:
    return said(text, read_party, NOTHING, is_we=passage_of(text).has(WE))[0]


@pytest.mark.parametrize(
    ("text", "travellers"),
    [
        ("We are two, flying from Boston", 2),
        ("for two", 2),
        ("a trip for 5 from Milan", 5),
        ("2 people", 2),
        ("three travellers", 3),
        ("two adults and one child", 3),
        ("2 adults, 2 kids", 4),
        ("two of us", 2),
        ("the four of us", 4),
        ("family of four", 4),
        ("we are a couple from Lyon with our baby", 3),
        ("my wife and I from Lyon with our baby", 3),
        ("a couple with two kids", 4),
        ("a group of 12", 12),
        ("my wife and I", 2),
        ("with my husband and two kids", 4),
        ("me and my best friend", 2),
        ("me and my two best friends", 3),
        ("7 singers and the conductor", 8),
        ("12 pupils and 2 teachers", 14),
        ("4 of us, two couples", 4),
        ("us three", 3),
        ("me n 3 buddies", 4),
        ("two adults and twins of 4", 4),
        ("3n 2p june", 2),
        ("me + wife + 2 year old", 3),
        ("my little sister, my older brother and I", 3),
        ("with my wife and my son", 3),
        ("me and my girlfriend", 2),
        ("me and two friends", 3),
        ("with 3 friends", 4),
        ("three friends and me", 4),
        ("solo", 1),
        ("just me", 1),
        ("by myself", 1),
        ("as a couple", 2),
        ("one person", 1),
        ("4 tickets", 4),
        ("two-person trip", 2),
        ("there are 3 of us", 3),
    ],
)
def test_a_party_is_counted(text: str, travellers: int) -> None:
    understood = party(text)
    assert understood.doubts == []
    assert understood.fields["travellers"] == travellers


@pytest.mark.parametrize("text", ["", "for two weeks", "for a couple of nights", "2 nights", "I visit my brother", "can we fly?"])
def test_other_words_are_nobody(text: str) -> None:
    understood = party(text)
    assert (understood.fields, understood.doubts) == ({}, [])


@pytest.mark.parametrize(
    ("text", "travellers"),
    [
        ("a trip for my parents", 2),
        ("my parents (both 70) would like to see Paris", 2),
        ("My mum and dad have never seen Salzburg", 2),
        ("My girlfriend turns 30. We live in Amsterdam", 2),
        ("my sons are 8 and 13, my husband can't come", 3),
        ("my husband and son (8) will fly", 2),
        ("a family of five from Bremen, the kids are 3, 7 and 13", 5),
        ("my brother, his wife and I (5 adults)", 5),
    ],
)
def test_those_who_are_spoken_of_are_assumed(text: str, travellers: int) -> None:
    (doubt,) = party(text).doubts
    assert (doubt.field, dict(doubt.otherwise)["travellers"]) == ("travellers", str(travellers))


@pytest.mark.parametrize("text", ["we visit my sister", "my brother lives there and I'd fly", "we are a family with 2 teenagers"])
def test_nobody_is_assumed_who_may_not_travel(text: str) -> None:
    assert not any(doubt.otherwise for doubt in party(text).doubts)


@pytest.mark.parametrize(
    ("text", "rooms"),
    [
        ("2 rooms", 2),
        ("one double room and one single room", 2),
        ("one double room and one single, please", 2),
        ("two singles and a double", 3),
        ("2 rooms, one double room and one single room", 2),
        ("a double room", 1),
        ("two separate hotel rooms", 2),
        ("one room for 2 people", 1),
    ],
)
def test_rooms_are_counted(text: str, rooms: int) -> None:
    assert party(text).fields["rooms"] == rooms


@pytest.mark.parametrize(
    ("text", "travellers", "children"),
    [
        ("it's me, my husband and our daughters (7, 11)", 4, 2),
        ("2 adults and 2 kids (5 and 9 years old)", 4, 2),
        ("We are 2 adult and 1 child (5 year)", 3, 1),
        ("two adults with 2 children", 4, 2),
        ("my wife, one small son and I", 3, 1),
        ("family of 5, two of them kids", 5, 2),
        ("two adults with kids (8, 10)", 4, 2),
        ("with my wife (3 nights)", 2, None),
        ("two adults and a 4 year old", 3, 1),
        ("2 adults plus 2 kids", 4, 2),
        ("family of five (three kids: 4, 7 and 11)", 5, 3),
        ("me, my wife and our son of 5 years", 3, 1),
        ("my wife, myself, our daughter of eleven.", 3, 1),
        ("with the kids! Two parents, three children", 5, 3),
        ("my wife and I and our 3 kids", 5, 3),
        ("me and my 15 year old", 2, None),
        ("my 4 year old daughter comes too", 2, 1),
        ("my two boys come along, 7 and 9", 3, 2),
        ("my mother, my wife, me and our baby of 10 months", 4, 1),
    ],
)
def test_children_count_and_whoever_is_twelve_is_none(text: str, travellers: int, children: int | None) -> None:
    fields = party(text).fields
    assert (fields["travellers"], fields.get("children")) == (travellers, children)


def test_who_joins_a_party_that_is_told_is_counted_with_it() -> None:
    (doubt,) = party("me and my wife, bringing our daughter (7)").doubts
    assert dict(doubt.otherwise) == {"travellers": "3"}


def test_adults_beside_the_children_of_the_writer_are_added_to_them() -> None:
    answer = party("with our three kids (4, 7, 9), two adults")
    (doubt,) = answer.doubts
    assert dict(doubt.otherwise) == {"travellers": "5"}
    assert answer.fields["children"] == 3


def test_a_child_who_turns_an_age_is_one_of_all_of_us() -> None:
    (doubt,) = party("our daughter turns 8 and loves trains, so the three of us (me, my husband and her)").doubts
    assert dict(doubt.otherwise) == {"travellers": "3", "children": "1"}


def test_a_single_without_any_room_is_no_room() -> None:
    assert "rooms" not in party("just me, a single.").fields


def test_rooms_of_their_own_follow_from_the_party() -> None:
    assert party("three people, separate rooms").fields == {"travellers": 3, "rooms": 3}


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("we want to go to Paris", "travellers"),
        ("four people, two adults", "travellers"),
        ("0 people", "travellers"),
        ("2 people, 1 room or 2 rooms", "rooms"),
        ("a surprise trip for my wife", "travellers"),
    ],
)
def test_a_party_that_is_not_clear_is_asked_for(text: str, field: str) -> None:
    assert [doubt.field for doubt in party(text).doubts] == [field]
