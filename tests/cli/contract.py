"""The shapes that programs outside rely on: at least these keys, of these types."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

Money = int | float
SagaStatus = Literal[
    "planning", "awaiting_approval", "running", "committed", "compensating", "compensated", "held", "stuck", "rejected",
    "infeasible",
]  # fmt: skip
OperationStatus = Literal[
    "planned", "started", "succeeded", "failed", "in_doubt", "held", "compensating", "compensated", "compensation_failed",
    "voided", "skipped",
]  # fmt: skip


class _Shape(BaseModel):
    model_config = ConfigDict(strict=True)


class Operation(_Shape):
    id: str
    action: str
    kind: Literal["compensatable", "pivot", "retriable", "read-only"]
    status: OperationStatus
    attempts: int
    idempotency_key: str
    depends_on: list[str]
    inputs: Any
    output: Any
    error: Any


class Cost(_Shape):
    total: Money
    currency: str | None
    fees: Money


class Saga(_Shape):
    saga_id: str
    domain: str
    status: SagaStatus
    plan_version: int
    plan_hash: str | None
    operations: list[Operation]
    cost: Cost
    residue: list[str]


class PlannedCost(_Shape):
    total: Money
    currency: str


class Plan(_Shape):
    plan: Any
    plan_hash: str
    cost: PlannedCost
    reasons: list[str]


class Plans(_Shape):
    plans: list[Plan]
