from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sagagraph.context.slice import DEFAULT_BUDGET_TOKENS, ContextSlice, Fact, content_hash, select, tokens_of
from sagagraph.errors import ContextBudgetError

pytestmark = pytest.mark.quick

NAMES = st.text("abcdefgh", min_size=1, max_size=6)
FACTS = st.lists(
    st.builds(Fact, NAMES, st.text(max_size=60) | st.integers(), st.just(False), st.integers(0, 3)),
    unique_by=lambda fact: fact.name,
    max_size=8,
)


def long(name: str, tokens: int, **options: object) -> Fact:
    """A fact of exactly that many tokens."""
    text = "x" * (4 * tokens - len(json.dumps({name: ""}, separators=(",", ":"))))
    fact = Fact(name, text, **options)  # type: ignore[arg-type]
    assert tokens_of({name: text}) == tokens
    return fact


def test_everything_is_kept_while_it_fits() -> None:
    kept = select([Fact("to", "Oslo"), Fact("nights", 3)])
    assert kept == ContextSlice({"nights": 3, "to": "Oslo"}, tokens_of({"to": "Oslo"}) + tokens_of({"nights": 3}), ())


def test_the_budget_is_a_thousand_tokens_unless_told_otherwise() -> None:
    assert DEFAULT_BUDGET_TOKENS == 1000
    assert select([long("a", 1000)]).tokens == 1000
    assert select([long("a", 1001)]).dropped == ("a",)


def test_a_budget_is_met_exactly() -> None:
    facts = [long("a", 10), long("b", 10)]
    assert select(facts, budget_tokens=20).dropped == ()
    assert select(facts, budget_tokens=19).dropped == ("b",)


def test_what_has_the_lower_priority_number_is_kept_longer() -> None:
    facts = [long("a", 10, priority=2), long("b", 10, priority=1), long("c", 10)]
    kept = select(facts, budget_tokens=20)
    assert (sorted(kept.facts), kept.dropped) == (["b", "c"], ("a",))


def test_a_fact_that_does_not_fit_leaves_its_room_to_smaller_ones() -> None:
    kept = select([long("a", 15), long("b", 10, priority=1), long("c", 5, priority=2)], budget_tokens=20)
    assert (sorted(kept.facts), kept.dropped, kept.tokens) == (["a", "c"], ("b",), 20)


def test_critical_facts_come_before_all_others_whatever_their_priority() -> None:
    kept = select([long("a", 15), long("b", 15, critical=True, priority=9)], budget_tokens=20)
    assert (sorted(kept.facts), kept.dropped) == (["b"], ("a",))


def test_critical_facts_that_do_not_fit_are_an_error_and_never_dropped() -> None:
    with pytest.raises(ContextBudgetError, match=r"'b' needs 15 tokens, and 15 of 20 are used.*raise the budget"):
        select([long("a", 15, critical=True), long("b", 15, critical=True)], budget_tokens=20)


@given(FACTS, st.integers(0, 40), st.randoms(use_true_random=False))
def test_a_slice_does_not_depend_on_the_order_of_the_facts(facts: list[Fact], budget: int, random: object) -> None:
    shuffled = list(facts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = select(facts, budget_tokens=budget), select(shuffled, budget_tokens=budget)
    assert (one, one.hash) == (other, other.hash)


@given(FACTS, st.integers(0, 40))
def test_a_slice_keeps_to_its_budget_and_accounts_for_every_fact(facts: list[Fact], budget: int) -> None:
    kept = select(facts, budget_tokens=budget)
    assert kept.tokens <= budget
    assert kept.tokens == sum(tokens_of({name: value}) for name, value in kept.facts.items())
    assert sorted([*kept.facts, *kept.dropped]) == sorted(fact.name for fact in facts)


def test_tokens_are_four_bytes_each_begun_ones_counted() -> None:
    assert [tokens_of("x" * length) for length in (1, 2, 3, 6, 7)] == [1, 1, 2, 2, 3]  # two for the quotes
    assert tokens_of("ää") == 2  # bytes, not characters


def test_a_hash_is_sixteen_digits_of_the_content_alone() -> None:
    kept = ContextSlice({"a": 1, "b": [{"y": 2, "x": 1}]}, 10)
    assert kept.hash == ContextSlice({"b": [{"x": 1, "y": 2}], "a": 1}, 99, ("c",)).hash
    assert kept.hash != ContextSlice({"a": 1, "b": [{"y": 2, "x": 2}]}, 10).hash
    assert len(kept.hash) == 16
    assert int(kept.hash, 16) >= 0


def test_a_hash_is_the_same_in_every_process() -> None:
    """Certificates are replayed elsewhere and later: this one is part of what has been journalled."""
    assert content_hash({"to": "Zürich", "nights": 3}) == "a86123d0d0d75619"
    code = "from sagagraph.context.slice import content_hash; print(content_hash({'nights': 3, 'to': 'Zürich'}))"
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "7", "PYTHONUTF8": "1"}
    )
    assert told.stdout.strip() == "a86123d0d0d75619"
