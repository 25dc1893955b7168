from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from sagagraph.domains.travel.money import Money, money_text

pytestmark = pytest.mark.quick


class Bill(BaseModel):
    amount: Money


@given(st.integers(min_value=-(10**13), max_value=10**13))
def test_money_survives_json_to_the_cent(cents: int) -> None:
    bill = Bill(amount=Decimal(cents) / 100)
    assert Bill.model_validate_json(bill.model_dump_json()) == bill


def test_money_is_a_plain_number_in_json() -> None:
    assert json.loads(Bill(amount=Decimal("19.90")).model_dump_json()) == {"amount": 19.9}
    assert Bill(amount=Decimal("5000.00")).model_dump_json() == '{"amount":5000}'


def test_a_json_number_is_read_by_its_digits() -> None:
    assert Bill.model_validate_json('{"amount": 0.1}').amount + Decimal("0.2") == Decimal("0.3")


@pytest.mark.parametrize("amount", [float("nan"), float("inf"), Decimal("NaN"), "1e400", 0.001, "ten", None, True, 10**15])
def test_what_is_no_amount_is_refused(amount: object) -> None:
    with pytest.raises(ValidationError):
        Bill(amount=amount)


def test_amounts_are_written_as_people_read_them() -> None:
    assert money_text(Decimal(5000)) == "$5,000"
    assert money_text(Decimal("1234.5")) == "$1,234.50"
    assert money_text(Decimal("-3.25")) == "-$3.25"
