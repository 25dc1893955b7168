"""With a model, the model reads first, in every domain: each value with the words that state it; any other is refused."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sagagraph.domains.reunion.page.page import ReunionPage
from sagagraph.domains.travel.request import Direct
from sagagraph.errors import InvalidInputError, ModelError, UnusableAnswerError
from sagagraph.planning.models.anchors import Anchor, stated, with_what_is_counted
from sagagraph.planning.models.reading import listed
from sagagraph.planning.page import Draft
from tests.language.openings.reading import page_of
from tests.support.scripted_model import Scripted

TRIP = "Berlin then Cologne, four nights and two, starting out in San Francisco, sometime June, no more than 5k!"
REUNION = (
    "Folks, we eat at home around the table, six sharp is 6 pm. Sarah is at home. Somebody ought to fetch dear Emily, whose "
    "plane touches the ground at BOS at 2:30 pm. Michael has the long haul from New York, leaving at 11 am. "
    "Home to BOS is 60 minutes, New York to home 240 minutes, New York to BOS 240 minutes."
)
KNOWN = "From San Francisco to Berlin for 4 nights and Cologne for 2 nights, in June 2026, under $5,000"


def slots(*told: tuple[str, str, str]) -> list[dict[str, str]]:
    return [{"field": field, "value": value, "quote": quote} for field, value, quote in told]


TRIP_SLOTS = slots(
    ("origin", "San Francisco", "starting out in San Francisco"),
    ("stops[0].city", "Berlin", "Berlin then Cologne"),
    ("stops[0].nights", "4", "four nights and two"),
    ("stops[1].city", "Cologne", "Berlin then Cologne"),
    ("stops[1].nights", "2", "four nights and two"),
    ("first", "2026-06-01", "sometime June"),
    ("last", "2026-06-30", "sometime June"),
    ("budget", "5000 USD", "no more than 5k"),
)
REUNION_SLOTS = slots(
    ("goals[0].place", "Home", "we eat at home"),
    ("goals[0].by", "18:00", "six sharp is 6 pm"),
    ("people[0].name", "Sarah", "Sarah is at home"),
    ("people[0].place", "Home", "Sarah is at home"),
    ("people[1].name", "Emily", "fetch dear Emily"),
    ("people[1].place", "BOS", "the ground at BOS"),
    ("people[1].from", "14:30", "at 2:30 pm"),
    ("people[1].drives", "no", "Somebody ought to fetch dear Emily"),
    ("people[2].name", "Michael", "Michael has the long haul"),
    ("people[2].place", "New York", "from New York"),
    ("people[2].from", "11:00", "leaving at 11 am"),
    ("people[2].drives", "yes", "Michael has the long haul"),
    ("travel_minutes Home – BOS", "60", "Home to BOS is 60 minutes"),
    ("travel_minutes New York – Home", "240", "New York to home 240 minutes"),
    ("travel_minutes New York – BOS", "240", "New York to BOS 240 minutes"),
)


def heard(domain: str, text: str, *script: Any, known: str = "") -> Draft:
    before = asyncio.run(page_of(domain).read(known, None)).known if known else None
    answers = [each if isinstance(each, Exception) else {"slots": each} if isinstance(each, list) else each for each in script]
    return asyncio.run(page_of(domain, Scripted(*answers)).hear(text, before))


def refused(draft: Draft) -> str:
    return " ".join(each for each in draft.asides if each.startswith("Left out"))


def test_a_trip_in_a_muddle_becomes_a_typed_request() -> None:
    draft = heard("trip", TRIP, TRIP_SLOTS)
    assert [(each["city"], each["nights"]) for each in draft.request["stops"]] == [("Berlin", 4), ("Cologne", 2)]
    assert (draft.request["origin"], draft.request["budget"], refused(draft), draft.by) == (
        "San Francisco",
        5000,
        "",
        "fake:parrot",
    )


def test_a_day_in_a_muddle_becomes_a_typed_request_with_what_follows_from_it() -> None:
    draft = heard("reunion", REUNION, REUNION_SLOTS)
    problem = draft.request["problem"]
    assert [each["name"] for each in problem["people"]] == ["Sarah", "Emily", "Michael"]
    assert (problem["people"][1]["place"], problem["people"][1]["from"]) == ("BOS", "14:30")
    assert [(each["name"], each["place"], each["seats"]) for each in problem["vehicles"]] == [("Michael's car", "New York", 5)]
    assert draft.assumed["vehicles[0].seats"] == "as most cars have"
    assert {tuple(row[:2]): row[2] for row in problem["travel_minutes"]}["Home", "BOS"] == 60
    assert (problem["goals"][0]["by"], refused(draft)) == ("18:00", "")


DAY = "Marie lands at JFK at 3 pm. Tom has a car and is at home. Everybody has to be at home by 6 pm."
TOM_AT_SIX = (("people[0].name", "Tom", "Tom"), ("people[0].from", "06:00", "by 6 pm"))


def table(draft: Draft, kind: str, *cells: str) -> list[tuple[Any, ...]]:
    problem = draft.request["problem"] if draft.request else draft.partial
    return [tuple(row.get(cell) for cell in cells) for row in problem[kind]]


@pytest.mark.parametrize("number", [0, 1, 7])
def test_rows_that_only_the_rules_have_read_stay_whatever_number_the_model_gives_the_others(number: int) -> None:
    draft = heard("reunion", DAY, slots(*((name.replace("0", str(number)), *rest) for name, *rest in TOM_AT_SIX)))
    assert table(draft, "people", "name", "place", "from") == [("Marie", "JFK", "15:00"), ("Tom", "Home", "06:00")]
    assert table(draft, "vehicles", "name", "drivers") == [("Tom's car", ["Tom"])]
    assert table(draft, "goals", "people", "place", "by") == [("all", "Home", "18:00")]
    assert (refused(draft), draft.others, draft.by) == ("", {}, "fake:parrot")


def test_a_cell_that_both_have_read_has_the_model_s_value_and_the_rules_one_click_beside_it() -> None:
    told = [
        ("people[0].name", "Marrie", "Marie lands"),
        ("people[0].from", "18:00", "by 6 pm"),
        ("goals[0].place", "JFK", "at JFK"),
    ]
    draft = heard("reunion", DAY, slots(*told))
    assert table(draft, "people", "name", "from") == [("Marrie", "18:00"), ("Tom", None)]
    assert draft.others == {"people[0].name": "Marie", "people[0].from": "15:00", "goals[0].place": "Home"}
    page = page_of("reunion")
    assert {each.name: each.other for each in listed(page.fields(draft)) if each.other} == draft.others
    back = asyncio.run(page.with_field(draft.known, "people[0].from", draft.others["people[0].from"]))
    assert table(back, "people", "name", "from")[0] == ("Marrie", "15:00")


def test_what_rules_and_model_have_read_of_a_day_that_is_known_is_one_table_without_the_row_that_one_takes_away() -> None:
    known = "Sarah is at home. James lands at BOS at 1 pm. Tom drives from New York at 11. Everybody must be at home by 18:00."
    text = "James is not coming, and Uncle Bob is at home. Ann is in Boston."
    told = [("people[3].name", "Uncle", "Uncle"), ("people[3].place", "Home", "at home"), ("people[1]", "", "James")]
    draft = heard("reunion", text, slots(*told), known=known)
    people = [("Sarah", "Home"), ("Tom", "New York"), ("Uncle", "Home"), ("Ann", "Boston")]
    assert table(draft, "people", "name", "place") == people
    assert draft.others == {"people[2].name": "Uncle Bob"}
    assert "BOS" in draft.request["problem"]["places"]


@pytest.mark.parametrize("who", ["all", "everybody", "Everyone"])
def test_everybody_has_to_be_there_is_a_goal_of_nobody_in_particular(who: str) -> None:
    told = [("goals[0].people", who, "Everybody has"), ("goals[0].place", "Home", "at home"), ("goals[0].by", "18:00", "by 6 pm")]
    draft = heard("reunion", DAY, slots(("people[0].name", "Tom", "Tom has"), *told))
    assert table(draft, "goals", "people", "place", "by") == [("all", "Home", "18:00")]
    assert (refused(draft), draft.questions) == ("", ())


@pytest.mark.parametrize(
    "wrong",
    [
        ("goals[0].people", "JFK", "at JFK"),
        ("goals[0].people", "Tom, JFK", "at JFK at 3 pm. Tom"),
        ("people[0].name", "Everybody", "Everybody"),
        ("vehicles[0].drivers", "Everybody", "Everybody"),
        ("tasks[0].who", "Marie", "Marie"),
        ("people[5].from", "15:00", "at 3 pm"),
    ],
)
@pytest.mark.parametrize("text", [DAY, DAY.replace("Everybody has", "We all, Everybody, somehow have")], ids=["whole", "muddled"])
def test_what_the_page_does_not_take_is_named_and_changes_nothing(wrong: tuple[str, str, str], text: str) -> None:
    ruled = heard("reunion", text, [])
    draft = heard("reunion", text, slots(wrong))
    assert refused(draft).startswith("Left out, because it does not fit here: ")
    assert wrong[1] in refused(draft)
    assert (draft.known, draft.request) == (ruled.known, ruled.request)


def test_values_that_do_not_fit_each_other_are_named_and_leave_the_rules_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise InvalidInputError("Tom is there twice", field="people")

    monkeypatch.setattr(ReunionPage, "beside", refuse)
    draft = heard("reunion", DAY, slots(*TOM_AT_SIX))
    assert draft.request == heard("reunion", DAY, []).request
    assert refused(draft) == ("Left out, because it does not fit here: what fake:parrot has read (people: Tom is there twice).")


def test_who_drives_is_the_driver_of_the_car_that_is_called_theirs() -> None:
    told = slots(
        ("people[0].name", "Zoe", "Zoe"), ("people[0].drives", "yes", "Zoe"), ("vehicles[0].name", "Zoe's car", "Zoe's car")
    )
    draft = heard("reunion", "hm, Zoe, Zoe's car, somehow, xyzzy", told)
    assert table(draft, "vehicles", "name", "drivers") == [("Zoe's car", ["Zoe"])]


def test_the_model_that_reads_is_told_what_it_may_fill_in_and_nobodys_address(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Scripted({"slots": []})
    page: Any = page_of("reunion", model)
    monkeypatch.setattr(type(page.domain), "sends_mail", True)

    async def asked() -> Draft:
        told = (await page.read("Ann is at Home. Ann drives. Everybody must be at Home by 18:00.", None)).known
        known = (await page.with_field(told, "people[0].mail", "somebody@example.org")).known
        await page.hear("Bob comes too", known)
        return await page.drafted(known)

    draft = asyncio.run(asked())
    (question,) = model.asked
    assert "people[0].name" in question.data.text
    assert "somebody@" not in question.data.text
    assert "somebody@" in str(page.fields(draft))


def test_a_meal_in_another_language_becomes_a_typed_request() -> None:
    told = slots(
        ("recipe Lentil-Soup", "yes", "Lentil soup"),
        ("recipe Pizza", "yes", "pizza"),
        ("dinner", "19:30", "um halb acht"),
        ("cooks", "2", "zwei Köche"),
    )
    draft = heard("meal", "Wir wollen Lentil soup und pizza, um halb acht, zwei Köche", told)
    request = draft.request
    assert ([each["recipe"] for each in request["recipes"]], request["dinner"], request["cooks"]) == (["Lentil-Soup"], "19:30", 2)
    assert refused(draft).startswith("Left out, because it does not fit here: recipe Pizza: yes")


def test_a_domain_of_somebody_elses_is_read_by_its_own_request_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "toy_domain"))
    from market.page import MarketPage  # type: ignore[import-not-found]

    told = slots(
        ("fruit.apples", "4", "vier apples"),
        ("fruit.pears", "9", "vier apples"),
        ("budget", "5", "fünf oder 5 Dollar"),
        ("colour", "red", "apples"),
    )
    page = MarketPage(SimpleNamespace(name="market"), Scripted({"slots": told}))
    draft = asyncio.run(page.hear("bitte vier apples für höchstens fünf oder 5 Dollar", None))
    assert draft.request == {"fruit": {"apples": 4}, "budget": 5}
    assert "fruit pears: 9; colour: red" in refused(draft)


@pytest.mark.parametrize(
    "wrong",
    [
        ("stops[2].city", "Tokyo", "Berlin then Cologne"),
        ("stops[2].city", "Tokyo", "then three nights in Tokyo"),
        ("stops[1].nights", "9", "four nights and two"),
        ("travellers", "9", "four nights and two"),
        ("travellers", "2", "for both of us"),
        ("budget_each", "50000 USD", "no more than 5k"),
        ("budget_each", "5000 EUR", "no more than 5k"),
        ("depart", "2026-07-04", "sometime June"),
        ("depart", "yesterday", "sometime June"),
        ("stars", "5", "no more than 5k!!"),
        ("stars", "7-9", "5k"),
        ("direct", "required", "starting out in San Francisco"),
        ("one_way", "yes", "sometime June"),
        ("stops[1]", "", "Berlin then"),
        ("origin", "Nowhere at all", "starting out"),
        ("everything", "yes", "5k"),
        ("rooms", "4", TRIP),
    ],
)
def test_what_the_words_do_not_say_is_named_and_changes_nothing(wrong: tuple[str, str, str]) -> None:
    rest = [each for each in TRIP_SLOTS if each["field"] != wrong[0]]
    draft = heard("trip", TRIP, [*rest, *slots(wrong)])
    assert wrong[1] in refused(draft)
    assert "Left out" in refused(draft)
    without = heard("trip", TRIP, rest)
    assert (draft.request, draft.questions) == (without.request, without.questions)
    assert draft.known.stops == without.known.stops


def test_what_the_model_reads_holds_and_what_the_rules_read_differently_is_one_click() -> None:
    text = "for 3 people, and two for lunch, and do throw in Rome for 2 nights somehow, xyzzy"
    draft = heard("trip", text, slots(("travellers", "2", "and two for lunch")), known=KNOWN)
    assert (draft.known.travellers, "2 nights in Rome" in draft.questions[0]) == (2, True)
    assert draft.others == {"travellers": "3"}
    page = page_of("trip")
    assert asyncio.run(page.with_field(draft.known, "travellers", draft.others["travellers"])).known.travellers == 3


@pytest.mark.parametrize(
    ("text", "told", "stops", "more"),
    [
        ("noch eine Nacht in Köln bitte", [("stops[1].nights", "1", "eine Nacht in Köln")], "Berlin 4, Cologne 1", {}),
        ("Je préfère Lyon, donc pas de Cologne pour nous", [("stops[1]", "", "pas de Cologne")], "Berlin 4", {}),
        (
            "lieber Rom statt Köln, für drei Personen",
            [("stops[1].city", "Rome", "lieber Rom statt Köln"), ("travellers", "3", "drei Personen")],
            "Berlin 4, Rome 2",
            {"travellers": 3},
        ),
        (
            "quiero vuelos directos y hoteles de cuatro estrellas, como mucho 3000 €",
            [
                ("direct", "required", "vuelos directos"),
                ("stars", "4", "hoteles de cuatro estrellas"),
                ("budget", "3000 EUR", "como mucho 3000 €"),
            ],
            "Berlin 4, Cologne 2",
            {"direct": Direct.REQUIRED, "stars": (4, 4), "budget": Decimal(3000), "currency": "EUR"},
        ),
        (
            "en train vers Cologne seulement si l'avion atterrit avant midi",
            [("train_if.landed_before", "12:00", "en train vers Cologne seulement si l'avion atterrit avant midi")],
            "Berlin 4, Cologne 2",
            {},
        ),
    ],
)
def test_a_change_in_another_language_is_read(
    text: str, told: list[tuple[str, str, str]], stops: str, more: dict[str, Any]
) -> None:
    draft = heard("trip", text, slots(*told), known=KNOWN)
    assert ", ".join(f"{each.city} {each.nights}" for each in draft.known.stops) == stops
    assert {name: getattr(draft.known, name) for name in more} == more
    assert refused(draft) == ""


def test_an_answer_that_cannot_be_used_leaves_the_rules_reading_and_an_outage_is_told() -> None:
    ruled = asyncio.run(page_of("trip").read(TRIP, None))
    for answer in (UnusableAnswerError("fake: it refused"), {"field": "everything"}):
        assert heard("trip", TRIP, answer).known == ruled.known
    down = heard("trip", TRIP, ModelError("fake: the rate limit is reached"))
    assert (down.known, "went on without it: fake: the rate limit" in down.asides[-1]) == (ruled.known, True)
    assert down.failed is not None
    german = heard("trip", "Ich möchte nach Rom und nicht nach Köln", ModelError("fake: an outage"), known=KNOWN)
    assert [each.city for each in german.known.stops] == ["Berlin", "Cologne"]


@pytest.mark.parametrize(
    ("anchor", "value", "quote", "is_stated"),
    [
        (Anchor.NIGHTS, "7", "for a week", True),
        (Anchor.NIGHTS, "8", "for a week", False),
        (Anchor.TIME, "19:30", "half seven", True),
        (Anchor.TIME, "14:45", "quarter to three", True),
        (Anchor.TIME, "15:45", "quarter to three", False),
        (Anchor.MINUTES, "150", "two and a half hours", True),
        (Anchor.MINUTES, "90", "two and a half hours", False),
        (Anchor.PEOPLE, "2", "my wife and I", True),
        (Anchor.PEOPLE, "3", "my wife and I", False),
        (Anchor.FIRST_DAY, "2026-06-01", "in June", True),
        (Anchor.FIRST_DAY, "2026-06-02", "in June", False),
        (Anchor.LAST_DAY, "2026-06-30", "in June", True),
        (Anchor.NAME, "Emily", "fetch dear Emly", True),
        (Anchor.NAME, "Emily", "fetch dear Emma", False),
        (Anchor.MONEY, "5000 EUR", "5.000 €", True),
        (Anchor.MONEY, "500 EUR", "5.000 €", False),
        (Anchor.MONEY, "5 USD", "for 5 nights", False),
        (Anchor.MONEY, "2025 USD", "in May 2025", False),
        (Anchor.MONEY, "5E+3000000 USD", "for 5 nights", False),
        (Anchor.MONEY, "Infinity USD", "under 5 dollars", False),
        (Anchor.MONEY, "5000.99 USD", "budget 5 thousand", False),
        (Anchor.MONEY, "5000.99 USD", "5,000.99 dollars", True),
        (Anchor.PEOPLE, "5", "for 5 nights", False),
        (Anchor.PEOPLE, "5", "für 5 Nächte", False),
        (Anchor.PEOPLE, "2", "2 adults for 5 nights", True),
        (Anchor.RANGE, "5", "for 5 nights", False),
        (Anchor.RANGE, "4-5", "4 stars or more", True),
        (Anchor.TIME, "05:00", "for 5 nights", False),
        (Anchor.DAY, "2025-05-05", "5 nights in May 2025", False),
        (Anchor.DAY, "2026-06-04", "leaving 4 June 2025", False),
        (Anchor.DAY, "2025-06-04", "leaving 4 June 2025", True),
        (Anchor.FIRST_DAY, "2025-03-01", "we marry in 2025", False),
        (Anchor.NAME, "Maria", "Marie drives", False),
        (Anchor.NAME, "Tomi", "Tom drives", False),
        (Anchor.NAME, "João", "Joao's car", True),
    ],
)
def test_a_value_is_stated_by_its_words_or_follows_from_them_as_listed(
    anchor: Anchor, value: str, quote: str, is_stated: bool
) -> None:
    assert stated(anchor, value, quote) is is_stated


def test_words_that_end_before_what_is_counted_state_no_more_with_it() -> None:
    for text, is_party in (("to Rome for 2 nights", False), ("to Rome for 2 in May", True), ("in May, for 2", True)):
        assert stated(Anchor.PEOPLE, "2", with_what_is_counted("for 2", text)) is is_party
