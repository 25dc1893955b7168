"""A transcript lists what holds: however it grows and is put right, it means what was said, the last word first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sagagraph.domains.reunion.shipped import shipped
from sagagraph.domains.reunion.text.partial import PartialProblem, read_reunion
from sagagraph.domains.reunion.text.revision import meaning_of, partial_of, with_said, with_said_instead, without
from sagagraph.domains.reunion.transcript import LONGEST_TRANSCRIPT, MOST_SENTENCES, Transcript
from sagagraph.errors import InvalidInputError

from .phrasings import PHRASINGS, RIDE_SHARING, THANKSGIVING, WEDDING

DAY = "Dinner at 6 pm at home. Sarah is at home. Emily lands at 2:30 pm at BOS and needs a ride. James lands at BOS at 1 pm"


def told(*texts: str) -> Transcript:
    transcript = Transcript()
    for text in texts:
        transcript = with_said(transcript, text).transcript
    return transcript


def sense(partial: PartialProblem) -> dict[str, object]:
    """Whoever is to be where and when: in any order, and without what it is called."""
    known = {name: sorted(map(str, rows)) for name, rows in partial.problem.items() if name != "name"}
    return {**known, "travel_minutes": sorted([*sorted(row[:2]), row[2]] for row in partial.problem["travel_minutes"])}


@pytest.mark.parametrize("text", [THANKSGIVING, WEDDING, RIDE_SHARING])
def test_a_story_means_sentence_by_sentence_what_it_means_as_a_whole(text: str) -> None:
    assert meaning_of(told(text)).problem == read_reunion(text).complete()


@given(st.lists(st.sampled_from([said for said, facts in PHRASINGS if facts]), min_size=1, max_size=7))
def test_whatever_is_overtaken_what_holds_is_what_was_said_last(said: list[str]) -> None:
    everything = tuple(fact for each in said for fact in read_reunion(each).facts)
    assert sense(partial_of(told(*said))) == sense(PartialProblem(everything))


@pytest.mark.parametrize(
    ("later", "before", "after"),
    [
        ("Sarah is at BOS", "Sarah is at home", "Sarah is at BOS"),
        ("Emily lands at 3", "Emily lands at 2:30 pm at BOS and needs a ride", "Emily lands at 3 at BOS and needs a ride"),
        ("Actually, dinner is at 7 pm instead", "Dinner at 6 pm at home", "Dinner at 7 pm at home"),
        ("Emily drives", "Emily lands at 2:30 pm at BOS and needs a ride", "Emily lands at 2:30 pm at BOS and drives"),
        ("Dinner is at 7 pm", "Dinner at 6 pm at home", "Dinner at 7 pm at home"),
        ("We all meet at Grandma's house by 6 pm", "Dinner at 6 pm at home", "We all meet at Grandma's house by 6 pm"),
    ],
)
def test_an_earlier_sentence_is_put_right_where_it_stands(later: str, before: str, after: str) -> None:
    transcript = told(DAY)
    found = with_said(transcript, later)
    assert found.overtaken == ((before, after),)
    number = transcript.sentences.index(before)
    assert found.transcript.sentences == (*transcript.sentences[:number], after, *transcript.sentences[number + 1 :])


def test_what_does_not_hold_at_all_any_more_is_dropped_and_what_holds_in_part_is_shortened() -> None:
    transcript = told("Sarah lands at 2 pm", "Sarah is at BOS", "Bob is at home and Sarah lands at 3 pm")
    found = with_said(transcript, "Sarah lands at PVD at 4 pm")
    assert found.transcript.sentences == ("Bob is at home", "Sarah lands at PVD at 4 pm")


def test_what_adds_to_a_sentence_leaves_it_alone() -> None:
    transcript = told(DAY)
    found = with_said(transcript, "Grandma needs a pick-up. Home to BOS takes an hour")
    assert found.overtaken == ()
    assert found.transcript.sentences[: len(transcript.sentences)] == transcript.sentences


def test_what_is_known_already_and_what_means_nothing_is_not_listed() -> None:
    transcript = told(DAY)
    found = with_said(transcript, "Sarah is at home. The weather is nice. Thank you!")
    assert (found.transcript, found.unread) == (transcript, ("The weather is nice",))


def test_of_a_sentence_what_was_understood_is_listed() -> None:
    found = with_said(told(DAY), "The weather is nice, and Bob is at home")
    assert (found.transcript.sentences[-1], found.unread) == ("Bob is at home", ("The weather is nice",))


@pytest.mark.parametrize(
    ("said", "listed"),
    [
        (["Emily lands at BOS at 2 pm. She needs a ride"], "Emily needs a ride"),
        (["Emily lands at BOS at 2 pm", "She needs a ride"], "Emily needs a ride"),
        (["Emily is at BOS. Don't leave her alone!"], "Don't leave Emily alone"),
        (["Turkey takes 4 hours", "someone must watch it"], "someone must watch Turkey"),
        (["Alex and Jamie land at BOS at noon. They rent a car"], "Alex and Jamie rent a car"),
    ],
)
def test_whoever_is_called_she_is_listed_by_name(said: list[str], listed: str) -> None:
    assert told(*said).sentences[1:] == (listed,)


def test_a_bare_answer_is_listed_as_the_sentence_that_it_stands_for() -> None:
    transcript = told("Dinner at 6 pm", "Emily lands at BOS at 2 pm. Bob is at home. Bob has a car", "at home", "60 minutes")
    assert meaning_of(transcript).problem is not None
    assert transcript.sentences[-2:] == ("Everybody must be at home by 18:00", "BOS to Home takes 60 minutes")
    assert partial_of(Transcript(sentences=transcript.sentences[::-1])).missing() == ()


def test_an_earlier_sentence_that_is_changed_holds_against_later_ones() -> None:
    transcript = Transcript(sentences=("Emily lands at BOS at 2 pm", "Bob is at home", "Emily waits at PVD from 3 pm"))
    changed = with_said_instead(transcript, 0, "Emily lands at BOS at 5 pm").transcript
    assert changed.sentences == ("Bob is at home", "Emily lands at BOS at 5 pm")
    assert partial_of(changed).problem["people"][-1] == {"name": "Emily", "place": "BOS", "from": "17:00"}


def test_a_sentence_is_not_replaced_by_nonsense() -> None:
    with pytest.raises(InvalidInputError, match="did not understand"):
        with_said_instead(told(DAY), 0, "The weather is nice")


def test_what_is_taken_away_does_not_hold_any_more() -> None:
    transcript = told(DAY)
    number = transcript.sentences.index("Sarah is at home")
    assert "Sarah" not in {each["name"] for each in partial_of(without(transcript, number)).problem["people"]}


@pytest.mark.parametrize(
    ("said", "path", "value"),
    [
        ("Dinner at 7 pm", ("goals", 0, "by"), 1140),
        ("Emily lands at 3 pm", ("people", 2, "from_"), 900),
        ("Sarah is at Grandma's", ("people", 0, "place"), "GRANDMA"),
        ("The turkey takes 3 hours", ("tasks", 1, "minutes"), 180),
        ("James rents a car", ("vehicles", 1, "unlocked_by"), "rent a car"),
        ("Emily should not wait alone", ("people", 2, "never_alone"), True),
        ("Michael's car has 4 seats", ("vehicles", 0, "seats"), 4),
        ("as little driving as possible", ("objectives", 0), "driving_minutes"),
        ("Bob is at home. Bob has a car", ("vehicles", 2, "drivers"), ("Bob",)),
        ("Alice must be at Boston Airport by 5 pm. Alice is at home", ("goals", 1, "people"), ("Alice",)),
    ],
)
def test_sentences_are_said_on_top_of_a_problem_that_came_as_a_whole(
    said: str, path: tuple[str | int, ...], value: object
) -> None:
    base = shipped("thanksgiving")
    found: object = meaning_of(with_said(Transcript(base=base), said).transcript).problem
    for each in path:
        found = found[each] if isinstance(each, int) else getattr(found, each)  # type: ignore[index]
    assert found == value


def test_all_else_of_a_problem_that_came_as_a_whole_stays() -> None:
    base = shipped("thanksgiving")
    changed = meaning_of(with_said(Transcript(base=base), "Home to BOS takes 90 minutes").transcript).problem
    assert changed is not None
    assert {*changed.travel_minutes} ^ {*base.travel_minutes} == {base.travel_minutes[0], changed.travel_minutes[-1]}
    assert changed.model_copy(update={"travel_minutes": base.travel_minutes}) == base


def test_somebody_unknown_is_asked_about() -> None:
    with pytest.raises(InvalidInputError, match="say where they are"):
        with_said(Transcript(base=shipped("thanksgiving")), "Bob needs a ride")


def test_a_telling_is_kept_within_bounds() -> None:
    with pytest.raises(InvalidInputError, match="too much"):
        told(*(f"Guest{number} is at home" for number in range(MOST_SENTENCES + 1)))
    with pytest.raises(ValueError, match="at most"):
        Transcript(sentences=("x" * LONGEST_TRANSCRIPT, "y"))


def test_of_what_is_put_right_nothing_is_kept_that_is_not_understood() -> None:
    found = with_said(told(DAY), "James lands at 2 pm, come rain or shine")
    assert found.unread == ("come rain or shine",)
    assert "James lands at BOS at 2 pm" in found.transcript.sentences
