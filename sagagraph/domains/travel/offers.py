"""Offers of airlines, railways and hotels, as the reservation service describes them."""

from datetime import date, datetime, time
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, Field

from sagagraph.domains.travel.money import Price
from sagagraph.domains.travel.request import Lean


class Cancellation(BaseModel, frozen=True):
    """Cancellation terms of an offer."""

    free_until: AwareDatetime | None
    """None: never free."""
    fee: Price
    """What a cancellation costs after that."""

    def fee_at(self, now: datetime) -> Decimal:
        """Return what cancelling costs at `now`."""
        return Decimal(0) if self.free_until is not None and now <= self.free_until else self.fee


class _Offer(BaseModel, frozen=True):
    offer_id: str = Field(min_length=1)
    price: Price
    """For the whole party and the whole stay."""
    currency: str
    left: int = Field(ge=0)
    """Seats or rooms still available."""
    cancellation: Cancellation


class TransportOffer(_Offer, Lean):
    later = frozenset({"children", "price_per_child"})

    carrier: str
    number: str
    origin: str
    """Airport code, or the city of the station."""
    destination: str
    origin_city: str
    destination_city: str
    departs: AwareDatetime
    """Local time at the origin, with its offset."""
    arrives: AwareDatetime
    """Local time at the destination, with its offset."""
    duration_minutes: int = Field(ge=0)
    stops: int = Field(ge=0)
    via: tuple[str, ...] = ()
    price_per_person: Price
    children: int = Field(default=0, ge=0)
    """Travellers who pay a child's fare."""
    price_per_child: Price = Decimal(0)


class FlightOffer(TransportOffer):
    kind: Literal["flight"] = "flight"

    @property
    def is_direct(self) -> bool:
        return self.stops == 0 and not self.via


class TrainOffer(TransportOffer):
    kind: Literal["train"] = "train"


class HotelOffer(_Offer):
    kind: Literal["hotel"] = "hotel"
    name: str
    city: str
    stars: int = Field(ge=1, le=5)
    check_in: date
    check_out: date
    check_in_from: time
    check_out_until: time
    nights: int = Field(ge=1)
    rooms: int = Field(ge=1)
    price_per_night: Price
    """Of one room."""


class InsuranceOffer(_Offer):
    """Insurance that pays for the cancellation of one fare."""

    kind: Literal["insurance"] = "insurance"
    name: str
    covers: str
    """The offer id of the fare."""


Transport = Annotated[FlightOffer | TrainOffer, Field(discriminator="kind")]
Offer = Annotated[FlightOffer | TrainOffer | HotelOffer, Field(discriminator="kind")]
"""What a leg of a trip can be."""
Bookable = Annotated[FlightOffer | TrainOffer | HotelOffer | InsuranceOffer, Field(discriminator="kind")]
