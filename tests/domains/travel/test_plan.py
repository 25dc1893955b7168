from __future__ import annotations

import json
import subprocess
import sys
from datetime import date
from decimal import Decimal

import pytest
from pydantic import ValidationError

from sagagraph.domains.travel.plan import Itinerary, plan_hash

from .world import hotel, sample_itinerary, sample_offers, trip

pytestmark = pytest.mark.quick


def test_legs_are_labelled_in_the_order_of_travel() -> None:
    itinerary = sample_itinerary()
    assert [(leg.label, leg.offer.kind) for leg in itinerary.legs] == [
        ("T1", "flight"),
        ("T2", "hotel"),
        ("T3", "train"),
        ("T4", "hotel"),
        ("T5", "flight"),
    ]


def test_the_total_is_the_exact_sum() -> None:
    assert sample_itinerary().total == Decimal("1969.00")


def test_a_leg_knows_its_local_days() -> None:
    flight, stay = sample_itinerary().legs[:2]
    assert (flight.begins, flight.ends) == (date(2025, 6, 10), date(2025, 6, 11))
    assert (stay.begins, stay.ends) == (date(2025, 6, 11), date(2025, 6, 15))


def test_an_itinerary_survives_json() -> None:
    itinerary = sample_itinerary()
    again = Itinerary.model_validate_json(itinerary.model_dump_json())
    assert again == itinerary
    assert plan_hash(again) == plan_hash(itinerary)


def test_money_in_its_json_is_numbers() -> None:
    document = json.loads(sample_itinerary().model_dump_json())
    assert document["total"] == 1969
    assert document["legs"][3]["offer"]["price_per_night"] == 110.5


def test_the_hash_is_the_same_in_another_process() -> None:
    itinerary = sample_itinerary()
    script = (
        "import sys; from sagagraph.domains.travel.plan import Itinerary, plan_hash;"
        "print(plan_hash(Itinerary.model_validate_json(sys.stdin.read())))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script], input=itinerary.model_dump_json(), text=True, capture_output=True, check=True
    )
    assert answer.stdout.strip() == plan_hash(itinerary)
    assert len(plan_hash(itinerary)) == 16


def test_the_hash_names_what_is_booked_and_nothing_else() -> None:
    offers = sample_offers()
    itinerary = Itinerary.of(trip(), offers)
    reworded = Itinerary.of(trip(), offers, reasons=("cheap",), considered=("others",))
    fewer_left = Itinerary.of(trip(), [offer.model_copy(update={"left": 1}) for offer in offers])
    dearer = Itinerary.of(trip(), [*offers[:3], hotel("Cologne", "06-15", 2, 111), offers[4]])
    elsewhere = Itinerary.of(trip(), [*offers[:3], offers[3].model_copy(update={"offer_id": "another"}), offers[4]])
    for_two = Itinerary.of(trip(travellers=2), offers)
    assert plan_hash(reworded) == plan_hash(fewer_left) == plan_hash(itinerary)
    assert len({plan_hash(each) for each in (itinerary, dearer, elsewhere, for_two)}) == 4


@pytest.mark.parametrize("labels", [["T1", "T1"], ["T2", "T1"], ["A", "B"]])
def test_other_labels_are_refused(labels: list[str]) -> None:
    document = sample_itinerary().model_dump(mode="json")
    document["legs"] = [{**leg, "label": label} for leg, label in zip(document["legs"], labels, strict=False)]
    with pytest.raises(ValidationError, match="labelled"):
        Itinerary.model_validate(document)
