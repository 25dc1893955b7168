"""A passage keeps what was said, whatever is tagged and taken in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sagagraph.errors import InvalidInputError
from sagagraph.language.forms import form
from sagagraph.language.numbers import Nth, Number, tag_numbers
from sagagraph.language.passage import Passage

pytestmark = pytest.mark.quick


def numbered(text: str) -> Passage:
    passage = Passage.of(text)
    tag_numbers(passage)
    return passage


def test_a_form_sees_words_and_values() -> None:
    (found,) = numbered("Take THREE apples").take(form(r"take {n:count} (?P<what>\w+)"))
    number = found.get("count", Number)
    assert number is not None
    assert (number.count, found["what"], found.said) == (3, "apples", "Take THREE apples")
    assert found.get("count", Nth) is None


def test_no_word_reaches_into_a_tag() -> None:
    assert numbered("five").first(form(r"[\w']+")) is None


def test_a_tag_is_only_of_its_own_kind() -> None:
    passage = numbered("4")
    passage.tag("span", form("{n}"), lambda _: "four")
    assert not passage.has(form("{n}"))
    assert passage.values(str) == ["four"]


def test_what_is_taken_is_not_read_again_and_the_rest_is_as_it_was_written() -> None:
    passage = numbered("Two tickets, please, and a Balcony for 3,000")
    passage.take(form("{n} tickets"))
    assert passage.unread({"please", "and", "for"}) == ("Balcony for 3", "000")
    assert passage.said().split() == [",", "please,", "and", "a", "Balcony", "for", "3,000"]


def test_only_what_is_meant_is_taken() -> None:
    passage = numbered("1 2 3")
    assert [found.said for found in passage.take(form("{n}"), lambda found: found.said != "2")] == ["1", "3"]
    assert passage.said().split() == ["2"]


def test_a_text_without_end_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="is longer than 10 characters"):
        Passage.of("x" * 11, most=10)


@given(st.text(max_size=80))
def test_any_text_can_be_said_again(text: str) -> None:
    passage = Passage.of(text)
    before = passage.text
    tag_numbers(passage)
    assert passage.said() == before
