"""A model may say what a sentence wishes, with the words that say it; whatever those words do not say is not taken."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from sagagraph.domains.travel.request import Direct
from sagagraph.domains.travel.text import PartialRequest, read_request
from sagagraph.domains.travel.text.model_reading import Reading, read_by_model
from sagagraph.errors import ModelError, UnusableAnswerError
from sagagraph.language.utterance.tongues import tongue_of
from tests.domains.travel.world import GAZETTEER, TODAY
from tests.support.scripted_model import Scripted

MUDDLED = "Berlin then Cologne, four nights and two, starting out in San Francisco, sometime June, no more than 5k!"
TRIP = "From San Francisco to Berlin for 4 nights and Cologne for 2 nights, in June 2025, under $5,000"


def slot(field: str, value: str, quote: str, nights: int | None = None) -> dict[str, Any]:
    return {"field": field, "value": value, "nights": nights, "quote": quote}


WHOLE = [
    slot("from", "San Francisco", "starting out in San Francisco"),
    slot("stay", "Berlin", "Berlin then Cologne, four nights and two", 4),
    slot("stay", "Cologne", "Berlin then Cologne, four nights and two", 2),
    slot("first_day", "2025-06-01", "sometime June"),
    slot("last_day", "2025-06-30", "sometime June"),
    slot("budget", "5000 USD", "no more than 5k"),
]


async def reading(text: str, *slots: Any, known: PartialRequest | None = None) -> Reading | None:
    before = known or PartialRequest()
    read = None if tongue_of(text) else read_request(text, cities=GAZETTEER, today=TODAY, known=known)
    answer = slots[0] if slots and isinstance(slots[0], Exception) else {"slots": list(slots)}
    return await read_by_model(text, model=Scripted(answer), cities=GAZETTEER, today=TODAY, known=before, read=read)


def trip() -> PartialRequest:
    return PartialRequest.of(read_request(TRIP, cities=GAZETTEER, today=TODAY).complete())


async def test_a_sentence_in_a_muddle_becomes_a_typed_request() -> None:
    found = await reading(MUDDLED, *WHOLE)
    assert found is not None
    wanted = found.request.complete()
    assert [(each.city, each.nights) for each in wanted.stops] == [("Berlin", 4), ("Cologne", 2)]
    assert (wanted.origin, wanted.budget, found.left_out) == ("San Francisco", Decimal(5000), ())


@pytest.mark.parametrize(
    "wrong",
    [
        slot("stay", "Tokyo", "Berlin then Cologne", 3),
        slot("stay", "Tokyo", "then three nights in Tokyo", 3),
        slot("stay", "Berlin", "Berlin then Cologne, four nights and two", 9),
        slot("travellers", "9", "four nights and two"),
        slot("travellers", "2", "for both of us"),
        slot("budget", "50000 USD", "no more than 5k"),
        slot("budget", "5000 EUR", "no more than 5k"),
        slot("leave_on", "2025-07-04", "sometime June"),
        slot("first_day", "yesterday", "sometime June"),
        slot("stars", "5", "no more than 5k!!"),
        slot("stars", "7-9", "5k"),
        slot("direct", "yes", "starting out in San Francisco"),
        slot("one_way", "yes", "sometime June"),
        slot("leave_out", "Paris", "Berlin then Cologne"),
        slot("from", "Nowhere at all", "starting out"),
    ],
)
async def test_what_the_words_do_not_say_is_named_and_changes_nothing(wrong: dict[str, Any]) -> None:
    right = await reading(MUDDLED, *WHOLE)
    found = await reading(MUDDLED, *WHOLE, wrong)
    alone = await reading("one more night in Berlin", wrong, known=trip())
    assert right is not None
    assert found is not None
    assert alone is not None
    assert found.request == right.request
    assert len(found.left_out) == 1
    assert alone.request == read_request("one more night in Berlin", cities=GAZETTEER, today=TODAY, known=trip())


async def test_what_the_model_reads_holds_and_what_the_rules_read_differently_is_kept_beside_it() -> None:
    text = "for 3 people, and do throw in Rome for 2 nights somehow, xyzzy"
    read = read_request(text, cities=GAZETTEER, today=TODAY, known=trip())
    found = await reading(text, slot("travellers", "2", "Rome for 2 nights"), known=trip())
    assert found is not None
    assert (read.travellers, found.request.travellers, found.request.stops) == (3, 2, read.stops)
    assert found.others == (("travellers", "3"),)


async def test_a_quote_of_nearly_all_words_proves_nothing() -> None:
    text = f"{TRIP}, 3 of us, and please nothing too early in the morning"
    found = await reading(text, slot("rooms", "4", text))
    assert found is not None
    assert found.left_out == ("rooms: 4",)


@pytest.mark.parametrize(
    ("text", "slots", "stops", "more"),
    [
        ("noch eine Nacht in Köln bitte", [slot("stay", "Cologne", "eine Nacht in Köln", 1)], "Berlin 4, Cologne 1", {}),
        ("Je préfère Lyon, donc pas de Cologne pour nous", [], "Berlin 4, Cologne 2", {}),
        (
            "lieber Rom statt Köln, für drei Personen",
            [
                slot("stay", "Rome", "lieber Rom"),
                slot("leave_out", "Cologne", "statt Köln"),
                slot("travellers", "3", "drei Personen"),
            ],
            "Berlin 4, Rome 2",
            {"travellers": 3},
        ),
        (
            "quiero vuelos directos y hoteles de cuatro estrellas, como mucho 3000 €",
            [
                slot("direct", "yes", "vuelos directos"),
                slot("stars", "4", "hoteles de cuatro estrellas"),
                slot("budget", "3000 EUR", "como mucho 3000 €"),
            ],
            "Berlin 4, Cologne 2",
            {"direct": Direct.REQUIRED, "stars": (4, 4), "budget": Decimal(3000), "currency": "EUR"},
        ),
    ],
)
async def test_other_languages_are_read_with_a_model(text: str, slots: list[Any], stops: str, more: dict[str, Any]) -> None:
    assert tongue_of(text) is not None
    found = await reading(text, *slots, known=trip())
    assert found is not None
    assert ", ".join(f"{each.city} {each.nights}" for each in found.request.stops) == stops
    assert {name: getattr(found.request, name) for name in more} == more


async def test_an_answer_that_cannot_be_used_helps_nobody_and_an_outage_is_told() -> None:
    assert await reading(MUDDLED, UnusableAnswerError("fake: it refused")) is None
    assert await reading(MUDDLED, {"field": "everything"}) is None
    with pytest.raises(ModelError, match="rate limit"):
        await reading(MUDDLED, ModelError("fake: the rate limit is reached"))


LANDING = "en train vers Cologne seulement si l'avion atterrit avant midi"


@pytest.mark.parametrize(
    ("value", "quote", "taken"),
    [
        ("Cologne 12:00", LANDING, ("12:00", "Cologne")),
        ("12:00", LANDING, ("12:00", None)),
        ("Cologne 11:00", LANDING, None),
        ("Berlin 12:00", LANDING, None),
        ("12:00", "seulement si l'avion atterrit avant midi", None),
        ("99:00", LANDING, None),
        ("noon", LANDING, None),
    ],
)
async def test_a_condition_is_taken_if_the_words_say_train_landing_and_hour(
    value: str, quote: str, taken: tuple[str, str | None] | None
) -> None:
    found = await reading(f"Depuis Paris, {LANDING}.", slot("train_if", value, quote), known=trip())
    assert found is not None
    wish = found.request.train_if
    assert (wish and (f"{wish.landed_before:%H:%M}", wish.to)) == taken
    assert found.left_out == (() if taken else (f"train if: {value}",))
