"""Patience: how calls are tried again while the provider does not answer, or asks to be left alone.

The pauses double from a tenth of a second to a minute, less a random share of up to half, and are never shorter than the provider
asks for (`Retry-After`). A hiccup of seconds is waited out, so that no trip is repaired or undone because of it.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from msgspec.structs import replace

from sagagraph.workflow.policy import Backoff, CompensationPolicy, LoopGuards, Policy, Retry

PATIENCE_S: Final = 3600.0
"""How long is waited between the attempts of one call, all together, before it is given up or held."""
_BACKOFF: Final = Backoff(base_s=0.1, cap_s=60.0, jitter=0.5)
_TIMEOUT_S: Final = 10.0
_YEARS: Final = timedelta(days=3650).total_seconds()


def patient(patience_s: float) -> Policy:
    """Return the policy of effects: each worker waits for so long; a trip may be resumed years after its first attempt."""
    attempts = max(4, _BACKOFF.attempts_within(patience_s))
    return Policy(
        retry=Retry(max_attempts=attempts),
        backoff=_BACKOFF,
        timeout_s=_TIMEOUT_S,
        compensation=CompensationPolicy(max_attempts=max(6, attempts), timeout_s=_TIMEOUT_S),
        unknown_probes=max(3, attempts),
        loop_guards=LoopGuards(max_iterations=1_000_000, deadline_s=_YEARS),
    )


def for_questions(policy: Policy) -> Policy:
    """Return the policy of what only asks: an outage says nothing about the answer, so it is held and does not fail."""
    return replace(policy, retry=replace(policy.retry, holds=True))
