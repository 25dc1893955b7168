"""What is asked for, and the plan for it. Both stand in the journal as JSON."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, PositiveInt, ValidationError

from sagagraph.errors import InvalidInputError

_CLOSED = ConfigDict(extra="forbid", frozen=True)


class ShoppingList(BaseModel):
    model_config = _CLOSED

    fruit: dict[str, PositiveInt]
    """How many of each kind."""
    budget: float | None = None


class Purchase(BaseModel):
    model_config = _CLOSED

    kind: str
    count: int
    stall: str
    price: float
    """For all of them."""


class Round(BaseModel):
    """A round of the market."""

    model_config = _CLOSED

    purchases: tuple[Purchase, ...]

    @property
    def total(self) -> float:
        return sum(each.price for each in self.purchases)


def parse_list(value: object) -> ShoppingList:
    """Raises `InvalidInputError` that names the field."""
    try:
        return ShoppingList.model_validate(value)
    except ValidationError as exc:
        first = exc.errors(include_url=False)[0]
        raise InvalidInputError(first["msg"], field=".".join(map(str, first["loc"])) or "request") from exc
