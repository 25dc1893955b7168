"""Validators: what a validator is, and how it runs: on an artifact and a small slice of context, never on a planner's
messages.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable
from typing import Protocol

from sagagraph.context.slice import ContextSlice, content_hash
from sagagraph.validators.verdict import Certificate, Verdict
from sagagraph.workflow.values import Json


class Validator(Protocol):
    """Validator. `validate` may be a coroutine. It must depend only on its two arguments, so that a verdict can be replayed."""

    name: str
    version: int

    def validate(self, artifact: Json, context: ContextSlice) -> Verdict | Awaitable[Verdict]: ...


async def judge(validator: Validator, artifact: Json, context: ContextSlice, *, within_s: float | None = None) -> Verdict:
    """Return the validator's verdict with its certificate. An exception counts as an outage: UNKNOWN, never INVALID.

    So does a coroutine that has not answered within `within_s`. A plain function cannot be interrupted: it must be quick.
    """
    try:
        answer = validator.validate(artifact, context)
        async with asyncio.timeout(within_s):
            verdict = await answer if inspect.isawaitable(answer) else answer
        if not isinstance(verdict, Verdict):
            raise TypeError(f"it returned a {type(verdict).__name__}, not a Verdict")
        Verdict.model_validate(verdict.model_dump())  # an answer that a journal could not restore is not an answer either
    except Exception as exc:  # noqa: BLE001 - whatever breaks inside a validator says nothing about the artifact
        verdict = Verdict.unknown(f"{validator.name} could not judge: {type(exc).__name__}: {exc}")
    certificate = Certificate(
        validator=validator.name,
        version=validator.version,
        artifact_hash=content_hash(artifact),
        slice_hash=context.hash,
        slice_tokens=context.tokens,
    )
    return verdict.model_copy(update={"certificate": certificate})
