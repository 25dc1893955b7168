"""A person prefers another of the plans that were proposed together."""

from __future__ import annotations

from typing import Any

from sagagraph.errors import ConflictError, NotAllowedError
from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Saga, Stage


def choose_plan(saga: Saga, command: c.ChoosePlan, _now: float) -> tuple[e.Event, ...]:
    """The chosen plan is proposed, judged and asked about like any other; the one that was shown becomes an alternative.

    Raises `ConflictError` for a plan that is not among the alternatives, `NotAllowedError` where none waits for approval.
    """
    if saga.stage is not Stage.AWAITING_APPROVAL:
        raise NotAllowedError(f"saga {saga.id!r} is {status_of(saga).value}: there is no plan to choose", saga_id=saga.id)
    if command.plan_hash == saga.plan.hash:
        return ()
    chosen = [each for each in saga.plan.alternatives if each["plan_hash"] == command.plan_hash]
    if not chosen:
        raise ConflictError(f"saga {saga.id!r} offers no plan {command.plan_hash}; look at what it offers now", saga_id=saga.id)
    others = tuple(each for each in saga.plan.alternatives if each["plan_hash"] != command.plan_hash)
    (taken,) = chosen[:1]
    alternatives = (_as_alternative(saga, command.shown_title), *others)
    return (e.PlanProposed(taken["plan_hash"], taken["plan"], taken["cost"], alternatives, tuple(taken["reasons"])),)


def _as_alternative(saga: Saga, title: str) -> dict[str, Any]:
    plan = saga.plan
    reasons = list(plan.reasons)
    return {"plan": plan.content, "plan_hash": plan.hash, "title": title, "cost": plan.cost, "reasons": reasons, "considered": []}
