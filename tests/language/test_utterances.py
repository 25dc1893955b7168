"""Utterances: what a text decides, wishes or asks, and the words of people in a hurry."""

from __future__ import annotations

from time import process_time

import pytest

from sagagraph.language.utterance.decisions import Act
from sagagraph.language.utterance.questions import Topic, topic_of
from sagagraph.language.utterance.shorthand import in_full, spelled
from sagagraph.language.utterance.utterances import Kind, utterances, with_corrections

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("text", ["do it, cancel all of it", "cancel it and book it", "Book it. Cancel everything."])
def test_a_decision_and_its_opposite_decide_nothing(text: str) -> None:
    (said,) = utterances(text)
    assert (said.kind, said.act, said.said) == (Kind.HEARSAY, None, text)


@pytest.mark.parametrize(
    ("text", "acts"),
    [
        ("yes, cancel it", [Act.APPROVE, Act.CANCEL]),
        ("go ahead, thanks", [Act.APPROVE]),
        ("good, go with it", [Act.APPROVE]),
        ("don't cancel anything!", [Act.SKIP]),
        ("book it and tell everybody", [Act.APPROVE, Act.APPROVE]),
    ],
)
def test_decisions_that_agree_stand(text: str, acts: list[Act]) -> None:
    assert [each.act for each in utterances(text)] == acts


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("plese book a hotle", "please book a hotel"),
        ("a hotel 4 us", "a hotel for us"),
        ("room for 4 us", "room for 4 us"),
        ("4 us dollars", "4 us dollars"),
        ("leave b4 noon w/ my gf", "leave before noon with my girlfriend"),
        ("Sanday to Augusta, 5 Febuary, Wendesday", "Sanday to Augusta, 5 February, Wednesday"),
    ],
)
def test_what_is_typed_in_a_hurry_is_written_out(text: str, meant: str) -> None:
    assert spelled(in_full(text)) == meant


@pytest.mark.parametrize(
    ("asked", "topic"),
    [
        ("what can you actually do for me", Topic.HELP),
        ("did you charge me", Topic.IDENTITY),
        ("what day do we get back?", Topic.PLAN),
        ("how much do I get back?", Topic.REFUND),
        ("where do I find the tickets?", Topic.NUMBERS),
        ("are the hotels near the center?", Topic.OUTSIDE),
        ("somewhere cheaper than Paris?", Topic.ALTERNATIVES),
        ("can you explain what this app is doing with my data?", Topic.OUTSIDE),
        ("show me others", Topic.ALTERNATIVES),
    ],
)
def test_a_question_is_answered_by_what_it_is_about(asked: str, topic: Topic) -> None:
    assert topic_of(asked) is topic


@pytest.mark.parametrize("words", ["no ", "no, ", "then ", "sorry, ", "ok and ", "thanks "])
def test_the_longest_text_is_taken_apart_within_a_second(words: str) -> None:
    began = process_time()
    utterances((words * 4000)[:4000])
    assert process_time() - began < 1


def test_what_follows_a_correction_is_read_as_well() -> None:
    assert with_corrections("3 nights in Paris, no wait, 4 nights, then 2 in Brussels") == "4 nights in Paris, then 2 in Brussels"
