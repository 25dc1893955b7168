"""Fault desk of the sandbox: decides what goes wrong with a saga's calls, and takes bookings away."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

import httpx2

from sagagraph.errors import InvalidInputError, ProviderError

_TIMEOUT_S: Final = 10.0
FAULTS: Final = {
    "refuse": "says no, for good",
    "before": "fails before anything happens",
    "after": "books, and the answer is lost",
    "hang": "hangs",
    "late": "times out, and lands later",
    "price_up": "has become more expensive",
    "other_night": "books another day",
    "retimed": "confirms a later arrival",
    "other_class": "books another class",
    "other_name": "books something else",
    "double_charge": "charges twice",
    "other_fee": "charges a fee that nobody agreed to",
    "partial_refund": "refunds a part",
    "429": "asks to come back later",
    "500": "breaks",
}
CALLS: Final = ("book", "cancel", "capture", "refund")


class FaultDesk:
    """Fault desk. `url`: of the provider. A provider that is not a sandbox has no such desk, and no fault can be injected.

    `kinds`: what can be booked there, with the one to offer first at the front.
    """

    def __init__(self, url: str, kinds: tuple[str, ...]) -> None:
        self._url = url.rstrip("/")
        self.kinds = (*kinds, "*")

    async def is_open(self) -> bool:
        try:
            return (await self._ask("GET", "/faults")).status_code == httpx2.codes.OK
        except ProviderError:
            return False

    async def order(self, saga_id: str, *, kind: str, call: str, fault: str, nth: int, seconds: float | None) -> None:
        """Inject a fault into the `nth` such call of this saga from now on.

        Raises `InvalidInputError` for what the sandbox does not know.
        """
        order = {"kind": kind, "call": call, "fault": int(fault) if fault.isdigit() else fault, "nth": nth, "saga_id": saga_id}
        answer = await self._ask("POST", "/faults", {**order, **({} if seconds is None else {"seconds": seconds})})
        if answer.status_code != httpx2.codes.CREATED:
            raise InvalidInputError(f"the sandbox does not accept this fault: {answer.text[:200]}", field="fault")

    async def withdraw(self, reservation_id: str) -> None:
        """Cancel a reservation on the provider's side, as happens in reality."""
        answer = await self._ask("POST", f"/reservations/{quote(reservation_id, safe='')}/withdraw")
        if answer.status_code != httpx2.codes.OK:
            raise ProviderError(f"reservation {reservation_id!r} cannot be taken away: {answer.text[:200]}")

    async def _ask(self, method: str, path: str, body: object = None) -> httpx2.Response:
        try:
            async with httpx2.AsyncClient(timeout=_TIMEOUT_S) as client:
                return await client.request(method, self._url + path, json=body)
        except httpx2.HTTPError as exc:
            raise ProviderError(f"the sandbox cannot be reached: {type(exc).__name__}") from exc
