"""Terms: policies between the words of a document and those of the engine."""

from __future__ import annotations

from typing import Final

from msgspec import structs

from sagagraph.errors import InvalidInputError
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.language.document import (
    BackoffTerms,
    CatchTerms,
    CompensationTerms,
    KeyTerms,
    LoopTerms,
    PolicyTerms,
    RetryTerms,
    TimeoutTerms,
)
from sagagraph.workflow.operation import OperationSpec
from sagagraph.workflow.policy import Backoff, BackoffMode, Catch, KeyFormat, LoopGuards, Policy

OWN_KEY: Final = "{runId}/{nodeId}/{generation}"
"""How the engine makes keys: saga, operation, generation (docs/protocol.md rule 2)."""
OWN_UUID: Final = f"uuid({OWN_KEY})"
OWN_UNDO: Final = "/undo"


def policy_from(terms: PolicyTerms, base: Policy) -> Policy:
    """Return the engine's policy; what the terms leave out is as in `base`, which is the action's own.

    Raises `InvalidInputError` for a value that the engine refuses.
    """
    changed: dict[str, object] = {"catch": tuple(Catch(each.errors, each.handler) for each in terms.catch)}
    if terms.retry is not None:
        changed["retry"] = structs.replace(
            base.retry, max_attempts=max(1, terms.retry.max_attempts), retry_on=terms.retry.retry_on
        )
    if (given := terms.backoff) is not None:
        if given.mode not in list(BackoffMode):
            raise InvalidInputError(f"fixed or exponential, not {given.mode!r}", field="backoff.mode")
        changed["backoff"] = Backoff(BackoffMode(given.mode), given.base, given.cap, given.jitter)
    if terms.timeout is not None:
        changed["timeout_s"] = terms.timeout.seconds
    if terms.idempotency_key is not None:
        is_uuid = (terms.idempotency_key.template or "").startswith("uuid(")
        changed["idempotency_key"] = KeyFormat.UUID if is_uuid else KeyFormat.PATH
    if (guards := terms.loop_guards) is not None:
        limits = [each for each in (guards.deadline_seconds, guards.time_budget) if each is not None]
        changed["loop_guards"] = LoopGuards(
            guards.max_iters or base.loop_guards.max_iterations, min(limits, default=base.loop_guards.deadline_s)
        )
    return structs.replace(base, **changed)


def terms_of(spec: OperationSpec) -> PolicyTerms:
    """Return the terms of an operation of a plan. What an action has beyond them (probes, locks) stays with the action."""
    policy = spec.policy
    undone = spec.kind is ActionKind.COMPENSATABLE
    return PolicyTerms(
        RetryTerms(policy.retry.max_attempts, policy.retry.retry_on),
        BackoffTerms(policy.backoff.mode.value, policy.backoff.base_s, policy.backoff.cap_s, policy.backoff.jitter),
        tuple(CatchTerms(each.errors, each.handler) for each in policy.catch),
        TimeoutTerms(policy.timeout_s),
        KeyTerms(template=OWN_UUID if policy.idempotency_key is KeyFormat.UUID else OWN_KEY),
        CompensationTerms(spec.action + OWN_UNDO, safe_reinvoke=True) if undone else None,
        LoopTerms(policy.loop_guards.max_iterations, policy.loop_guards.deadline_s),
    )
