"""Bookings that are undone when a later one fails, and go on after a crash."""

import argparse
import asyncio
import sys
from datetime import timedelta
from pathlib import Path

from sagagraph import Call, Engine, Guarantees, Probe, Refused, action
from sagagraph.errors import OperationFailedError, OperationHeldError, SagaGraphError

HERE = Path(__file__).parent
BOOKINGS = HERE / "bookings"
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
    unfinished = file_of(f"{call.idempotency_key} unfinished")
    unfinished.write_text(what)
    unfinished.replace(file_of(call.idempotency_key))  # whole, or not at all
    return call.idempotency_key


async def trip(saga_id: str, wanted: list[str], store: str = f"sqlite:///{HERE / 'sagas.db'}") -> str:
    """Book everything, or nothing. With a known id the trip goes on where it was, and books nothing twice."""
    async with Engine.open(store) as engine:
        try:
            async with engine.saga(saga_id) as saga:
                booked: tuple[str, ...] = ()
                for each in wanted:
                    booked = (await saga.run(book, each, after=booked),)
        except (OperationFailedError, OperationHeldError) as exc:
            print(exc, file=sys.stderr)
        return (await engine.status(saga_id)).status.value


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("saga_id", help="a name for this trip, such as trip-1")
    parser.add_argument("wanted", nargs="+", help="what to book, in this order")
    asked = parser.parse_args()
    try:
        status = asyncio.run(trip(asked.saga_id, asked.wanted))
    except SagaGraphError as exc:
        sys.exit(str(exc))
    print(status)
    sys.exit(status != "committed")
