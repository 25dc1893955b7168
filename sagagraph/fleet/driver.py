"""Driver: one drive of a saga, whatever comes of it, for any fleet."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import structlog

from sagagraph.errors import (
    BusyError,
    DrainedError,
    JournalError,
    RetiredError,
    SagaGraphError,
    StoreError,
    SupersededError,
    UnknownSagaError,
)
from sagagraph.fleet.port import Drive
from sagagraph.saga.engine.driving import Parked

if TYPE_CHECKING:
    from sagagraph.fleet.metrics import Metrics

_LOG = structlog.get_logger("sagagraph.fleet")


class Outcome(StrEnum):
    PARKED = "parked"
    ENDED = "ended"
    BUSY = "busy"
    """Another worker has it, or had it since it was looked at; or the store is away."""
    DRAINED = "drained"
    """This worker was told to stop."""
    LEFT = "left"
    """It cannot be driven here, or not now: it is looked at again after a while."""


@dataclass(frozen=True, slots=True)
class Driven:
    outcome: Outcome
    parked: Parked | None = None
    why: str = ""


async def driven(drive: Drive, saga_id: str, metrics: Metrics | None = None) -> Driven:
    """Drive the saga once. Whatever an error says, the others go on."""
    if metrics is None:
        return await _driven(drive, saga_id)
    with metrics.drive() as outcome:
        ended = await _driven(drive, saga_id)
        outcome.append(ended.outcome.value)
    return ended


async def _driven(drive: Drive, saga_id: str) -> Driven:
    try:
        parked = await drive(saga_id)
    except JournalError as exc:
        return _left(saga_id, exc)
    except (BusyError, SupersededError, StoreError) as exc:
        return Driven(Outcome.BUSY, why=str(exc))
    except DrainedError as exc:
        return Driven(Outcome.DRAINED, why=str(exc))
    except (RetiredError, UnknownSagaError) as exc:  # it has no journal any more
        return Driven(Outcome.ENDED, Parked(None, is_final=True), str(exc))
    except Exception as exc:  # noqa: BLE001 - of a body, of whatever kind
        return _left(saga_id, exc)
    return Driven(Outcome.ENDED if parked.is_final else Outcome.PARKED, parked)


def _left(saga_id: str, exc: Exception) -> Driven:
    why = str(exc) if isinstance(exc, SagaGraphError) else repr(exc)
    _LOG.warning("not driven", saga_id=saga_id, error=why)
    return Driven(Outcome.LEFT, why=why)
