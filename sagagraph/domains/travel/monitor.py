"""Monitor of booked trips: journeys that would arrive late, with the time that is left to change to the next one."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from sagagraph.domains.travel.offers import TransportOffer
from sagagraph.domains.travel.plan import Leg
from sagagraph.domains.travel.planning.search import time_to_change
from sagagraph.domains.travel.request import TripRequest
from sagagraph.domains.travel.wording import headline
from sagagraph.errors import InvalidInputError
from sagagraph.planning.domain import Json
from sagagraph.planning.monitor import Foreseen, Observed, Thresholds
from sagagraph.validators.complaints import in_words

_THRESHOLDS: Final = Thresholds(horizon=60)
"""In minutes."""


class Late(BaseModel):
    """News of a journey that arrives later than planned."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    leg: str
    """Its operation, such as `T3`."""
    arrives: AwareDatetime


def parse_late(news: Json) -> Late:
    """Parse news. Raises `InvalidInputError` that names the field."""
    try:
        return Late.model_validate(news)
    except ValidationError as exc:
        field, message = in_words(exc)[0]
        raise InvalidInputError(message, field=field or "FORESEEN") from exc


def foreseen(legs: tuple[Leg, ...], late: Late, request: TripRequest, now: datetime) -> Foreseen:
    """Say whether the next journey can still be reached; `legs` are booked, in the order of travel. If it cannot, it is lost."""
    rides = {leg.label: leg.offer for leg in legs if isinstance(leg.offer, TransportOffer)}
    if late.leg not in rides:
        raise InvalidInputError(f"{late.leg} is no journey that is booked; these are: {', '.join(rides)}", field="leg")
    observed, missed = list[Observed](), list[str]()
    for (label, ride), (following, departure) in pairwise(rides.items()):
        if label == late.leg:
            slack = departure.departs - time_to_change(departure, is_from_flight=ride.kind == "flight") - ride.arrives
            expected, then = _minutes(ride.arrives), _minutes(late.arrives)
            observed.append(Observed(f"{headline(ride)}, arrives", expected, then, slack / timedelta(minutes=1)))
            missed.append(following)
    told = request.model_copy(update={"late": {**request.late, late.leg: late.arrives}}).model_dump(mode="json")
    return Foreseen(tuple(observed), _minutes(now), _THRESHOLDS, told, tuple(missed))


def _minutes(moment: datetime) -> float:
    return moment.timestamp() / 60
