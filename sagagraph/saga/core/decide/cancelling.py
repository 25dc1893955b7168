"""Which sagas a person can not cancel, and why. Pure."""

from __future__ import annotations

from sagagraph.errors import NotAllowedError
from sagagraph.saga.core.events import Driver
from sagagraph.saga.core.state import Saga, Stage
from sagagraph.saga.engine.amendment import why_not_cancelled
from sagagraph.saga.engine.reversal import Find, plan_reversal


def check_not_redacted(saga: Saga) -> None:
    if saga.redacted and saga.stage is Stage.COMMITTED:
        raise NotAllowedError(
            f"saga {saga.id!r} can not be cancelled: what undoing it would need is redacted ({', '.join(saga.redacted)}); "
            "undo it with the provider",
            saga_id=saga.id,
        )


def check_cancellable(saga: Saga, find: Find) -> None:
    if saga.driver is Driver.REVERSAL:
        raise NotAllowedError(
            f"saga {saga.id!r} undoes another one, and can only go on: resume it, or resolve what is held", saga_id=saga.id
        )
    if why := why_not_cancelled(saga):
        raise NotAllowedError(f"saga {saga.id!r} can not be cancelled: {why}", saga_id=saga.id)
    if saga.pivot_has_landed and not plan_reversal(saga, find).is_possible:
        left = ", ".join(plan_reversal(saga, find).lasting)
        raise NotAllowedError(
            f"saga {saga.id!r} can not be cancelled: its pivot {saga.pivot!r} has landed; {left} would remain",
            saga_id=saga.id,
            operation_id=saga.pivot,
        )
