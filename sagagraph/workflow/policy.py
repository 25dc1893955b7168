"""Policies: what may be done about an operation that fails to answer, or is refused (ALAS, appendix A.2)."""

from __future__ import annotations

import math
from enum import StrEnum

from msgspec import Struct

from sagagraph.errors import InvalidInputError

ANY_ERROR = "*"
_MOST_ATTEMPTS = 100_000


def _positive(value: float, field: str) -> None:
    if not (math.isfinite(value) and value > 0):
        raise InvalidInputError("a finite number of seconds above 0", field=field)


def _not_negative(value: float, field: str) -> None:
    if not (math.isfinite(value) and value >= 0):
        raise InvalidInputError("a finite number of seconds, 0 or more", field=field)


class BackoffMode(StrEnum):
    FIXED = "fixed"
    EXPONENTIAL = "exponential"


class KeyFormat(StrEnum):
    """Form of an idempotency key; what it identifies (saga, operation, generation) is fixed."""

    PATH = "path"
    """Readable: `trip-42/T1/1`."""
    UUID = "uuid"
    """For providers that require keys to be UUIDs: the UUID version 5 of the path."""


class Retry(Struct, frozen=True, omit_defaults=True):
    """`max_attempts` counts the first attempt. `retry_on` names exception classes or refusal codes; `*` is any."""

    max_attempts: int = 3
    retry_on: tuple[str, ...] = (ANY_ERROR,)
    holds: bool = False
    """Once the attempts are used up, hold the operation until somebody resumes the saga, instead of letting it fail."""

    def __post_init__(self) -> None:
        if self.max_attempts < 1:
            raise InvalidInputError("at least 1, counting the first attempt", field="retry.max_attempts")

    def covers(self, error: str) -> bool:
        return ANY_ERROR in self.retry_on or error in self.retry_on


class Backoff(Struct, frozen=True, omit_defaults=True):
    """Backoff: the wait before attempt n+1, which is `base_s`, doubled n-1 times up to `cap_s` if exponential; less up to
    `jitter` of itself.
    """

    mode: BackoffMode = BackoffMode.EXPONENTIAL
    base_s: float = 0.1
    cap_s: float = 5.0
    jitter: float = 0.5

    def __post_init__(self) -> None:
        _not_negative(self.base_s, "backoff.base_s")
        _not_negative(self.cap_s, "backoff.cap_s")
        if not 0 <= self.jitter <= 1:
            raise InvalidInputError("a share between 0 and 1", field="backoff.jitter")

    def delay_s(self, attempt: int, draw: float) -> float:
        """Return the wait. `attempt`: the one that just ended, from 1. `draw`: a random number in [0, 1), passed in so that this
        stays pure.
        """
        growth = 1 if self.mode is BackoffMode.FIXED else 2 ** min(attempt - 1, 30)
        return min(self.base_s * growth, self.cap_s) * (1 - self.jitter * draw)

    def attempts_within(self, seconds: float) -> int:
        """Return how many attempts it takes until the waits between them add up to this much, on average."""
        attempts, waited = 1, 0.0
        while waited < seconds and attempts < _MOST_ATTEMPTS:
            waited += self.delay_s(attempts, 0.5)
            attempts += 1
        return attempts


class Catch(Struct, frozen=True, omit_defaults=True):
    """A failure with one of these codes is handled by the operation `handler` instead of compensating the saga."""

    errors: tuple[str, ...]
    handler: str

    def covers(self, error: str) -> bool:
        return ANY_ERROR in self.errors or error in self.errors


class CompensationPolicy(Struct, frozen=True, omit_defaults=True):
    """Policy of a compensation (or a void). It is repeated only if it cannot land twice (docs/protocol.md rule 4)."""

    max_attempts: int = 5
    timeout_s: float = 30.0

    def __post_init__(self) -> None:
        if self.max_attempts < 1:
            raise InvalidInputError("at least 1", field="compensation.max_attempts")
        _positive(self.timeout_s, "compensation.timeout_s")


class LoopGuards(Struct, frozen=True, omit_defaults=True):
    """Limits on all attempts at one operation: `max_iterations` attempts over all generations, `deadline_s` from the first."""

    max_iterations: int = 100
    deadline_s: float = 3600.0

    def __post_init__(self) -> None:
        if self.max_iterations < 1:
            raise InvalidInputError("at least 1", field="loop_guards.max_iterations")
        _positive(self.deadline_s, "loop_guards.deadline_s")


class Policy(Struct, frozen=True, omit_defaults=True):
    """One operation's policy. `timeout_s` bounds one attempt; an operation that times out is in doubt, not failed."""

    retry: Retry = Retry()
    backoff: Backoff = Backoff()
    timeout_s: float = 30.0
    catch: tuple[Catch, ...] = ()
    idempotency_key: KeyFormat = KeyFormat.PATH
    compensation: CompensationPolicy = CompensationPolicy()
    unknown_probes: int = 3
    """How often the provider is asked in vain what became of a call, before the operation is held."""
    loop_guards: LoopGuards = LoopGuards()
    lock_wait_s: float = 30.0
    """How long to wait for locks that other sagas hold; 0 raises at once, and names them (docs/protocol.md rule 12)."""

    def __post_init__(self) -> None:
        _positive(self.timeout_s, "timeout_s")
        _not_negative(self.lock_wait_s, "lock_wait_s")
        if self.unknown_probes < 1:
            raise InvalidInputError("at least 1", field="unknown_probes")

    def catches(self, error: str) -> bool:
        return any(catch.covers(error) for catch in self.catch)
