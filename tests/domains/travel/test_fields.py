"""Fields of a trip's board: what cannot be meant is refused at its field, and never a traceback."""

from __future__ import annotations

from datetime import date

import pytest

from sagagraph.domains.travel.page.fields import with_value
from sagagraph.domains.travel.partial import PartialRequest, PartialStop
from sagagraph.errors import InvalidInputError
from tests.domains.travel.text.atlas import ATLAS

pytestmark = pytest.mark.quick

TRIP = PartialRequest(origin="Berlin", stops=(PartialStop(said="Rome", city="Rome", nights=3),))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("stops[0].nights", value) for value in ("99999999999999", "366", "-1", "three")),
        *(("total_nights", value) for value in ("99999999999999", "-1")),
        *((name, value) for name in ("first", "last", "depart") for value in ("9999-12-31", "0001-01-01", "2025-02-30", "soon")),
        *((name, value) for name in ("budget", "budget_each") for value in ("nan", "Infinity", "much")),
        *((name, value) for name in ("hours.depart.earliest", "train_if.landed_before") for value in ("12:00Z", "25:00")),
    ],
)
def test_what_there_is_not_is_refused(name: str, value: str) -> None:
    with pytest.raises(InvalidInputError, match="cannot be used here"):
        with_value(TRIP, name, value, ATLAS)


def test_nights_and_days_that_there_are_are_taken() -> None:
    longer = with_value(with_value(TRIP, "stops[0].nights", "365", ATLAS), "first", "2099-12-31", ATLAS)
    assert (longer.stops[0].nights, str(longer.first)) == (365, "2099-12-31")


def test_days_that_are_typed_are_meant_though_only_a_month_was_said() -> None:
    rough = TRIP.model_copy(update={"first": date(2099, 5, 1), "last": date(2099, 5, 31), "is_rough": True})
    assert with_value(with_value(rough, "first", "2099-05-05", ATLAS), "last", "2099-05-07", ATLAS).is_rough is False
