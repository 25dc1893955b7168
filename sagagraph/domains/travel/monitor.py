"""Monitor of booked trips: journeys that would arrive late, with the time that is left to change to the next one."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from sagagraph.domains.travel.offers import TransportOffer
from sagagraph.domains.travel.plan import Leg
from sagagraph.domains.travel.planning.search import time_to_change
from sagagraph.domains.travel.request import TripRequest
from sagagraph.domains.travel.wording import headline
from sagagraph.errors import InvalidInputError
from sagagraph.planning.monitor import Foreseen, Observed, Thresholds, findings

_THRESHOLDS: Final = Thresholds(horizon=60)
"""In minutes."""


def missed_connections(legs: tuple[Leg, ...], wanted: TripRequest, now: datetime) -> Foreseen:
    """Judge what is `late` in the request: `legs` are booked, in the order of travel; a journey that is missed is lost."""
    rides = {leg.label: leg.offer for leg in legs if isinstance(leg.offer, TransportOffer)}
    if unknown := wanted.late.keys() - rides.keys():
        raise InvalidInputError(f"{min(unknown)} is no journey that is booked; these are: {', '.join(rides)}", field="late")
    observed, lost = list[Observed](), list[str]()
    for (label, ride), (following, departure) in pairwise(rides.items()):
        if label in wanted.late:
            ready = departure.departs - time_to_change(departure, is_from_flight=ride.kind == "flight")
            expected, foreseen = _minutes(ride.arrives), _minutes(wanted.late[label])
            observed.append(
                Observed(f"{headline(ride)}, arrives", expected, foreseen, (ready - ride.arrives) / timedelta(minutes=1))
            )
            lost += [following] if wanted.late[label] > ready else []
    return Foreseen(findings(observed, _minutes(now), _THRESHOLDS), wanted.model_dump(mode="json"), tuple(lost))


def _minutes(moment: datetime) -> float:
    return moment.timestamp() / 60
