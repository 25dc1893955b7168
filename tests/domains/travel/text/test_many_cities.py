from __future__ import annotations

import time
from datetime import date
from itertools import product

import pytest

from sagagraph.domains.travel.cities import Gazetteer
from sagagraph.domains.travel.text.reader import read_request

from .atlas import ATLAS
from .phrasings import TABLE, TODAY

SYLLABLES = ("ka", "lo", "mi", "nu", "re", "sta", "tor", "ul", "vi", "zen")


@pytest.fixture(scope="module")
def ten_thousand() -> Gazetteer:
    names = ("".join(parts).capitalize() for parts in product(SYLLABLES, repeat=4))
    city = ATLAS.cities[0]
    return Gazetteer((*ATLAS.cities, *(city.model_copy(update={"name": name, "airport": "XXX"}) for name in names)))


def _seconds(text: str, cities: Gazetteer) -> float:
    begins = time.process_time()
    read_request(text, cities=cities, today=TODAY)
    return time.process_time() - begins


def test_a_sentence_is_read_quickly_among_ten_thousand_cities(ten_thousand: Gazetteer) -> None:
    sentences = [turns[0] for rows in TABLE.values() for turns, _ in rows]
    taken = sum(_seconds(sentence, ten_thousand) for sentence in sentences)
    assert taken / len(sentences) < 0.05  # about 0.003 s; naive reading takes seconds


@pytest.mark.parametrize(
    "words",
    [
        "from Xyzzyqq ",
        "to Kalomi and ",
        "5 May ",
        "$5 ",
        "my wife, ",
        "no flights before ",
        "3 nights and ",
        "a,",
        "8, ",
        "2k ",
        "at ",
        "June ",
        "Kalomi ",
        "5 nights in Kalomi ",
        "2 nights Kalomi, 3 nights Kalolo, ",
    ],
)
def test_the_longest_text_is_read_in_moderate_time(ten_thousand: Gazetteer, words: str) -> None:
    assert _seconds((words * 4000)[:4000], ten_thousand) < 5


def test_an_endless_name_is_refused_quickly(ten_thousand: Gazetteer) -> None:
    begins = time.process_time()
    assert ten_thousand.unknown("a1" * 10_000).endswith("is known")
    assert time.process_time() - begins < 1


def test_an_everyday_word_is_no_city_even_where_there_is_one_of_that_name() -> None:
    words = ("The", "For", "Get", "See", "Add", "Day", "All", "Fun", "Rest", "Top", "Same", "Man")
    city = ATLAS.cities[0]
    odd = Gazetteer((*ATLAS.cities, *(city.model_copy(update={"name": word, "airport": "XXX"}) for word in words)))
    text = (
        "The man and all the rest want to get to Paris for the same fun from Boston, 3 nights, 5 May. For the day: see the top."
    )
    read = read_request(text, cities=odd, today=date(2025, 3, 1))
    assert (read.origin, [stop.city for stop in read.stops]) == ("Boston", ["Paris"])
