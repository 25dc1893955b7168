"""Bookings that are undone when a later one fails, and go on after a crash."""

import asyncio
import sys
from datetime import timedelta
from pathlib import Path

from sagagraph import Call, Engine, Guarantees, Probe, Refused, action
from sagagraph.errors import SagaGraphError

BOOKINGS = Path("bookings")
"""Stands for a provider: each booking is a file of its own. Call yours instead."""
PROMISED = Guarantees(dedup=timedelta(days=365), settles=timedelta(seconds=1))
"""A booking with a known key is not made twice, and is there a second after the call at the latest."""


def file_of(key: str) -> Path:
    return BOOKINGS / key.replace("/", "_")


async def cancel(what: str, booking: str, call: Call) -> None:
    file_of(booking).unlink(missing_ok=True)


async def look_up(what: str, call: Call) -> Probe:
    return Probe.landed(call.operation_key) if file_of(call.operation_key).exists() else Probe.absent()


@action(compensate=cancel, probe=look_up, guarantees=PROMISED, provider="folder:bookings")
async def book(what: str, call: Call) -> str:
    if "moon" in what:
        raise Refused("there is nothing on the moon")
    BOOKINGS.mkdir(exist_ok=True)
    file_of(call.idempotency_key).write_text(what)
    return call.idempotency_key


async def trip(saga_id: str, wanted: list[str], store: str = "sqlite:///sagas.db") -> str:
    """Book everything, or nothing. With a known id the trip goes on where it was, and books nothing twice."""
    async with Engine.open(store) as engine:
        try:
            async with engine.saga(saga_id) as saga:
                booked: tuple[str, ...] = ()
                for each in wanted:
                    booked = (await saga.run(book, each, after=booked),)
        except SagaGraphError as exc:
            print(exc, file=sys.stderr)
        return (await engine.status(saga_id)).status.value


if __name__ == "__main__":
    print(asyncio.run(trip(sys.argv[1], sys.argv[2:])))
