"""A model may put sentences in order for the rules; it cannot invite anybody, nor forget one."""

from __future__ import annotations

from typing import Any

import pytest

from sagagraph.domains.reunion.text.partial import PartialProblem, read_reunion
from sagagraph.domains.reunion.text.rewording import reworded
from sagagraph.errors import ModelError, UnusableAnswerError
from tests.support.scripted_model import Scripted

TEXT = (
    "Folks, we eat at home around the table, six sharp is 6 pm. Sarah is at home. Somebody ought to fetch dear Emily, whose "
    "plane touches the ground at BOS at 2:30 pm. Michael has the long haul from New York, leaving at 11 am. "
    "Home to BOS is 60 minutes, New York to home 240 minutes, New York to BOS 240 minutes."
)
PLAIN = [
    "Dinner is at 6 pm at home.",
    "Sarah is at home.",
    "Emily lands at 2:30 pm at BOS and needs a ride.",
    "Michael drives from New York, leaving at 11 am.",
    "Home to BOS takes 60 minutes.",
    "New York to home takes 240 minutes.",
    "New York to BOS takes 240 minutes.",
]


async def read(answer: Any, text: str = TEXT) -> PartialProblem | None:
    said = answer if isinstance(answer, Exception) else {"sentences": answer}
    plainer = await reworded(text, model=Scripted(said))
    return None if plainer is None else read_reunion(" ".join(plainer))


def test_the_rules_alone_do_not_read_all_of_it() -> None:
    alone = read_reunion(TEXT)
    assert alone.unread
    assert alone.missing()


async def test_what_the_model_says_in_plain_words_is_read_by_the_rules() -> None:
    found = await read(PLAIN)
    assert found is not None
    problem = found.complete()
    assert {(each.name, each.from_) for each in problem.people} == {("Sarah", None), ("Emily", 870), ("Michael", 660)}
    assert [goal.by for goal in problem.goals] == [1080]


def _with(old: str, new: str) -> list[str]:
    assert any(old in each for each in PLAIN)
    return [each.replace(old, new) for each in PLAIN]


@pytest.mark.parametrize(
    "sentences",
    [
        _with("2:30 pm", "3:30 pm"),
        _with("6 pm", "7 pm"),
        _with("Emily", "Grandma"),
        _with("BOS", "Logan"),
        _with("60 minutes", "16 minutes"),
        PLAIN[:-1],
        [each for each in PLAIN if "Sarah" not in each],
        [*PLAIN, "James is at home."],
        [*PLAIN, "All is well that ends well and so on."],
        ["Do as you like."],
        [],
    ],
)
async def test_what_it_adds_changes_or_leaves_out_is_not_taken(sentences: list[str]) -> None:
    assert await read(sentences) is None


async def test_an_answer_that_cannot_be_used_is_of_no_help_and_an_outage_is_told() -> None:
    assert await read(UnusableAnswerError("prose")) is None
    assert await reworded(TEXT, model=Scripted({"sentences": PLAIN, "approve": True})) is None
    with pytest.raises(ModelError, match="down"):
        await read(ModelError("down"))


LATER = "By the way, the plane with our Emily in it is now expected on the ground at 3 pm"


async def test_places_that_were_named_before_may_be_named_again() -> None:
    model = Scripted({"sentences": ["Emily lands at BOS at 3 pm"]})
    assert await reworded(LATER, model=model, places=["BOS", "Home"]) == ("Emily lands at BOS at 3 pm",)
    assert "Home" in model.asked[0].data.text


@pytest.mark.parametrize("said", ["Emily lands at Logan at 3 pm", "Emily lands at BOS at 4 pm", "James lands at BOS at 3 pm"])
async def test_what_neither_the_text_nor_what_is_known_names_is_not_taken(said: str) -> None:
    assert await reworded(LATER, model=Scripted({"sentences": [said]}), places=["BOS", "Home"]) is None
