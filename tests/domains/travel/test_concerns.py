"""A trip judged in scopes gets exactly the verdict of the judge that sees everything, however small the windows are."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from sagagraph.context.slice import DEFAULT_BUDGET_TOKENS
from sagagraph.domains.travel.domain import Travel
from sagagraph.domains.travel.plan import Itinerary, Leg
from sagagraph.domains.travel.rules import validator
from sagagraph.domains.travel.rules.evidence import Evidence
from sagagraph.domains.travel.rules.validator import CONCERNS, validate_itinerary
from sagagraph.validators import concern
from sagagraph.validators.concern import Concern, Remembered
from sagagraph.validators.verdict import Verdict, VerdictStatus, Violation
from tests.domains.travel.oracle import judge as oracle

from .test_validator import invalid_plans, quotes_of, valid_plans, with_offer
from .world import GAZETTEER, NOW, RATES, flight, hotel, sample_itinerary, train, trip

if TYPE_CHECKING:
    from sagagraph.domains.travel.offers import Offer

pytestmark = pytest.mark.quick

PLANS = {**valid_plans, **{name: plan for name, (_code, _leg, plan) in invalid_plans.items()}}
CORRUPTED = 300


def found(verdict: Verdict) -> list[tuple[str, str, str, str]]:
    return sorted((each.code, each.message, str(each.scope), str(each.evidence)) for each in verdict.violations)


def agree(plan: Itinerary, quotes: dict[str, Offer] | None = None, **evidence: Any) -> Verdict:
    """Both judges' verdict."""
    shown = {"now": NOW, "cities": GAZETTEER, "rates": RATES, **evidence}
    quotes = quotes_of(plan) if quotes is None else quotes
    scoped = validate_itinerary(plan, plan.request, quotes, **shown)
    whole = oracle.validate_itinerary(plan, plan.request, quotes, **shown)
    assert (scoped.verdict, found(scoped)) == (whole.verdict, found(whole))
    assert all(each.slice_tokens <= DEFAULT_BUDGET_TOKENS for each in scoped.certificates)
    return scoped


@pytest.mark.parametrize("room_bytes", [1, 200, 3000])
@pytest.mark.parametrize("name", PLANS)
def test_the_union_of_the_validators_is_the_verdict_on_the_whole(
    name: str, room_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(concern, "ROOM_BYTES", room_bytes)
    agree(PLANS[name])
    agree(PLANS[name], begun={"T1": PLANS[name].legs[0], "T9": PLANS[name].legs[-1]}, fees=Decimal(5))
    agree(PLANS[name], quotes={})


@pytest.mark.parametrize("room_bytes", [1, 3000])
def test_it_is_so_for_trips_with_several_faults(room_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concern, "ROOM_BYTES", room_bytes)
    draw = random.Random(14)
    statuses = {agree(_corrupted(draw)).verdict for _ in range(CORRUPTED)}
    assert statuses == {VerdictStatus.VALID, VerdictStatus.INVALID}


def _corrupted(draw: random.Random) -> Itinerary:
    plan = draw.choice(list(PLANS.values()))
    for _ in range(draw.randrange(4)):
        legs = list(plan.legs)
        place, other = draw.randrange(len(legs)), draw.randrange(len(legs))
        match draw.randrange(4):
            case 0:
                legs.insert(place, legs[other])
            case 1 if len(legs) > 1:
                legs.pop(place)
            case 2:
                legs[place], legs[other] = legs[other], legs[place]
            case _:
                legs[place] = _moved(legs[place], draw)
        labelled = tuple(leg.model_copy(update={"label": f"T{n}"}) for n, leg in enumerate(legs, start=1))
        plan = plan.model_copy(update={"legs": labelled})
    return plan


def _moved(leg: Leg, draw: random.Random) -> Leg:
    by = timedelta(days=draw.randrange(-2, 3))
    offer = leg.offer
    if offer.kind == "hotel":
        changed = {"check_in": offer.check_in + by, "stars": draw.randint(1, 5)}
    elif offer.departs.year < 2000:
        return leg
    else:
        changed = {"departs": offer.departs + by, "arrives": offer.arrives + by}
    return leg.model_copy(update={"offer": offer.model_copy(update=changed)})


def long_trip(legs: int) -> Itinerary:
    """Trains to and fro and a night between them, as long as asked for: far more than anybody may ask for."""
    offers: list[Offer] = [flight("San Francisco", "Berlin", "06-10 20:25", 695, 600)]
    first, cities = date(2025, 6, 11), ("Berlin", "Munich")
    for stop in range((legs - 1) // 2):
        here, there = cities[stop % 2], cities[(stop + 1) % 2]
        arrives, leaves = (first + timedelta(days=days) for days in (stop, stop + 1))
        offers += [hotel(here, arrives.isoformat(), 1, 90), train(here, there, f"{leaves} 18:30", 240, 60)]
    return Itinerary.of(trip(), offers)


@pytest.mark.parametrize("legs", [5, 50, 500])
def test_slices_stay_small_however_long_the_trip_is(legs: int) -> None:
    plan = long_trip(legs)
    verdict = validate_itinerary(plan, plan.request, quotes_of(plan), now=NOW, cities=GAZETTEER)
    assert max(each.slice_tokens for each in verdict.certificates) <= DEFAULT_BUDGET_TOKENS
    assert len(verdict.certificates) >= legs
    assert "UNKNOWN" not in verdict.reason
    assert {each.validator for each in verdict.certificates} == {each.name for each in CONCERNS} - {"past"}


def test_what_does_not_fit_in_a_slice_is_named_and_leaves_its_scope_unjudged() -> None:
    plan = with_offer("T2", name="Grand " * 1000)
    verdict = validate_itinerary(plan, plan.request, quotes_of(plan), now=NOW, cities=GAZETTEER)
    assert verdict.verdict is VerdictStatus.UNKNOWN
    assert "lodging could not judge T2: critical fact 'planned' needs" in verdict.reason


def test_a_validator_that_breaks_leaves_its_scope_unjudged(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(_view: object) -> Iterator[Any]:
        raise ZeroDivisionError

    broken = [concern.Concern(each.name, each.kind, each.view, each.scopes, breaks) for each in CONCERNS if each.name == "money"]
    monkeypatch.setattr(validator, "CONCERNS", [*CONCERNS[2:], *broken])
    plan = sample_itinerary()
    verdict = validate_itinerary(plan, plan.request, None, now=NOW, cities=GAZETTEER)
    assert (verdict.verdict, verdict.reason) == (
        VerdictStatus.UNKNOWN,
        "money could not judge the trip: ZeroDivisionError: ",
    )


def test_a_repair_has_only_those_scopes_judged_that_it_touched() -> None:
    remembered = Remembered()

    def judged(plan: Itinerary) -> int:
        before = remembered.judged
        verdict = validate_itinerary(
            plan, plan.request, quotes_of(plan), now=NOW, cities=GAZETTEER, rates=RATES, remembered=remembered
        )
        assert found(verdict) == found(agree(plan))
        return remembered.judged - before

    plan = long_trip(41)
    every = judged(plan)
    assert judged(plan) == 0
    repaired = with_offer("T2", plan, stars=1)
    assert 0 < judged(repaired) <= 3 < every / 10


async def test_the_domain_judges_again_only_what_a_repair_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    judged_scopes, judge = list[str](), Concern.judged

    def counted(self: Concern[Any, Any], shown: bytes) -> tuple[Violation, ...]:
        judged_scopes.append(self.name)
        return judge(self, shown)

    monkeypatch.setattr(Concern, "judged", counted)
    provider: Any = None  # is not asked
    domain = Travel(provider, GAZETTEER, ())

    async def scopes(plan: Itinerary) -> int:
        judged_scopes.clear()
        shown = Evidence(now=NOW, quotes=tuple(quotes_of(plan).values()), rates=RATES).model_dump(mode="json")
        await domain.validate(plan.request.model_dump(mode="json"), plan.model_dump(mode="json"), shown)
        return len(judged_scopes)

    plan = long_trip(41)
    every, again = await scopes(plan), await scopes(plan)
    repaired = await scopes(with_offer("T2", plan, stars=1))
    assert again == 0
    assert 0 < repaired < every / 10


def test_each_violation_is_found_by_the_validator_of_its_concern() -> None:
    def by(plan: Itinerary) -> set[str]:
        verdict = validate_itinerary(plan, plan.request, quotes_of(plan), now=NOW, cities=GAZETTEER, rates=RATES)
        return {each.validator for each in verdict.certificates if each.found}

    names = {name: by(plan) for name, (_code, _leg, plan) in invalid_plans.items()}
    assert names["a cent over the budget"] == {"money"}
    assert names["a night between two hotels"] == {"calendar"}
    assert names["a train that leaves before the flight lands"] == {"connections"}
    assert names["a star too many"] == {"wishes"}
    assert names["the stops in another order"] == {"the whole"}
    assert names["the offset of winter in summer"] == {"transport"}
    assert names["nights that are not those of the dates"] == {"lodging"}
