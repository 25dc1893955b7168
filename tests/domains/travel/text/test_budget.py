from __future__ import annotations

from decimal import Decimal

import pytest

from sagagraph.domains.travel.partial import Said
from sagagraph.domains.travel.request import CURRENCIES
from sagagraph.domains.travel.text.slots import read_budget

from .slots import NOTHING, passage_of, said


def budget(text: str) -> Said:
    return said(text, read_budget, NOTHING)[0]


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("budget $5,000 total", 5000),
        ("$5000", 5000),
        ("$5 000", 5000),
        ("at most 3,500 dollars", 3500),
        ("max $9k", 9000),
        ("under 4000 USD", 4000),
        ("USD 2,400.50", "2400.50"),
        ("US$750", 750),
        ("4k", 4000),
        ("4.5k budget", 4500),
        ("budget: 1200", 1200),
        ("a budget of about 1200", 1200),
        ("my maximum is 1200", 1200),
        ("no more than 1200", 1200),
        ("I can spend up to 800 bucks", 800),
        ("budget of five thousand dollars", 5000),
        ("3 grand", 3000),
        ("everything under $3k all in", 3000),
        ("1500 as my budget", 1500),
        ("it must not cost more than 1500 dollars", 1500),
        ("the whole thing shouldn't go over $1500", 1500),
        ("we couldn't possibly spend over 1500", 1500),
        ("1500 is our absolute limit", 1500),
        ("$12,345,678.90", "12345678.90"),
    ],
)
def test_a_budget_is_understood(text: str, amount: object) -> None:
    understood = budget(text)
    assert understood.doubts == []
    assert understood.fields["budget"] == Decimal(str(amount))
    assert understood.fields["currency"] in ("USD", None)


@pytest.mark.parametrize("text", ["$900 per person", "$900 each", "$900 pp", "max 900 dollars a head", "$900 per traveller"])
def test_a_budget_for_one_traveller_is_told_apart(text: str) -> None:
    assert budget(text).fields["budget_each"] == Decimal(900)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "4 nights in Berlin",
        "under 4 stars",
        "up to 3 people",
        "max 2 rooms",
        "June 2025",
        "leaving on 2025-06-05",
        "flight 1234",
        "within 200 km",
    ],
)
def test_other_numbers_are_not_money(text: str) -> None:
    understood, rest = said(text, read_budget, NOTHING)
    assert (understood.fields, understood.doubts, rest.text) == ({}, [], passage_of(text).text)


@pytest.mark.parametrize(
    ("text", "field", "question"),
    [
        ("$5.000", "budget", "How much is '$5.000'?"),
        ("$4,50", "budget", "How much is '$4,50'?"),
        ("at least $3000", "budget", "is the least"),
        ("more than $3000", "budget", "is the least"),
        ("$150 per night", "budget", "is for one night"),
        ("max 120 euros a night", "budget", "is for one night"),
        ("90€ a night", "budget", "is for one night"),
        ("per night $150", "budget", "is for one night"),
        ("$3000 for flights and $2000 for hotels", "budget", "3,000 USD or 2,000 USD"),
        ("-$500", "budget", "'-$500' is not"),
        ("$-500", "budget", "is not"),
        ("budget 0 dollars", "budget", "is not"),
        ("$99999999999999999999", "budget", "largest budget"),
    ],
)
def test_what_can_mean_more_than_one_amount_is_asked(text: str, field: str, question: str) -> None:
    understood = budget(text)
    assert understood.fields == {}
    assert [doubt.field for doubt in understood.doubts] == [field]
    assert question in understood.doubts[0].text


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("€3000", 3000, "EUR"),
        ("3000 euros", 3000, "EUR"),
        ("£2k", 2000, "GBP"),
        ("two thousand quid", 2000, "GBP"),
        ("CHF 4'500", 4500, "CHF"),
        ("max 3k€", 3000, "EUR"),
        ("C$2,500", 2500, "CAD"),
        ("2500 Canadian dollars", 2500, "CAD"),
        ("A$900", 900, "AUD"),
        ("500,000 yen", 500_000, "JPY"),
        ("₹150,000", 150_000, "INR"),
        ("SEK 20 000", 20_000, "SEK"),
        ("budget 20,000 danish kroner", 20_000, "DKK"),
        ("R$ 9,000", 9000, "BRL"),
        ("12,000 zloty", 12_000, "PLN"),
        ("$2000, at most 2000", 2000, "USD"),
    ],
)
def test_a_budget_may_be_in_another_currency(text: str, amount: int, currency: str) -> None:
    understood = budget(text)
    assert understood.doubts == []
    assert understood.fields == {"budget": Decimal(amount), "currency": currency}


@pytest.mark.parametrize(
    ("text", "codes"), [("¥9,000", "CNY or JPY"), ("500 kr", "CZK or DKK or ISK or NOK or SEK"), ("9,000 pesos", "MXN or PHP")]
)
def test_a_sign_that_several_currencies_share_is_asked_about(text: str, codes: str) -> None:
    understood = budget(text)
    assert [doubt.field for doubt in understood.doubts] == ["currency"]
    assert codes in understood.doubts[0].text
    assert understood.fields["budget"] > 0
    assert understood.fields["currency"] is None


def test_every_currency_is_known_by_its_code() -> None:
    for code in CURRENCIES:
        assert budget(f"budget {code} 4000").fields == {"budget": Decimal(4000), "currency": code}


@pytest.mark.parametrize(
    "text",
    ["no budget limit", "no limit", "without a limit", "unlimited budget", "money is no object", "don't care about the price"],
)
def test_a_trip_may_cost_whatever_it_takes(text: str) -> None:
    assert budget(text).fields == {"no_limit": True}


def test_an_amount_leaves_the_rest_of_the_sentence() -> None:
    _, rest = said("$2000, 4 nights and 2 rooms", read_budget, NOTHING)
    assert rest.said().split() == [",", "4", "nights", "and", "2", "rooms"]


@pytest.mark.parametrize(
    ("text", "currency"),
    [("a budget of 900, pay in Swiss francs", None), ("900 euros, pay in Swiss francs", "EUR"), ("we pay in Swiss francs", None)],
)
def test_a_currency_apart_from_the_budget_is_left(text: str, currency: str | None) -> None:
    understood, passage = said(text, read_budget, NOTHING)
    assert understood.fields.get("currency") == currency
    assert understood.doubts == []
    assert "pay in Swiss francs" in passage.said()
