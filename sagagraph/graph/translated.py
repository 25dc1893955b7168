"""Translation of LangGraph's `retry_policy` and `timeout` into policies, if these mean the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from langgraph._internal._retry import default_retry_on  # LangGraph's own rule for which failures deserve another attempt
from langgraph.types import RetryPolicy, TimeoutPolicy
from msgspec.structs import replace

from sagagraph.errors import InvalidInputError
from sagagraph.saga.engine.actions import Guarantees
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.policy import Backoff, BackoffMode, LoopGuards, Policy, Retry


@dataclass(frozen=True, slots=True)
class Attempts:
    """Attempts as LangGraph was told. Of several retry policies, the first that matches an exception counts."""

    retry: tuple[RetryPolicy, ...] = ()
    timeout_s: float | None = None

    @classmethod
    def of(cls, retry_policy: RetryPolicy | Sequence[RetryPolicy] | None, timeout: Any) -> Attempts:
        """Translate. Raises `InvalidInputError` for what no policy can express."""
        policies = (retry_policy,) if isinstance(retry_policy, RetryPolicy) else tuple(retry_policy or ())
        limit = TimeoutPolicy.coerce(timeout)
        if limit is not None and (limit.idle_timeout is not None or limit.run_timeout is None):
            raise InvalidInputError(
                "an attempt is bounded as a whole: say run_timeout, or policy=Policy(timeout_s=...)", field="timeout"
            )
        return cls(policies, None if limit is None else float(limit.run_timeout))  # type: ignore[arg-type]

    def or_else(self, default: Attempts) -> Attempts:
        """Return these, with a graph's defaults for whatever they leave open."""
        return Attempts(self.retry or default.retry, self.timeout_s or default.timeout_s)

    def policy(self, name: str, base: Policy, kind: ActionKind, guarantees: Guarantees, *, is_definite: bool) -> Policy:
        """Return `base` with these. `is_definite`: some exceptions say that nothing happened, and only these are tried again for
        certain. Raises `InvalidInputError` if a repetition could land twice.
        """
        made = base
        if self.timeout_s is not None:
            made = replace(made, timeout_s=self.timeout_s, retry=made.retry if self.retry else Retry(max_attempts=1))
        if not self.retry:
            return made
        is_safe = is_definite or guarantees.dedup is not None or guarantees.settles is not None
        if kind is not ActionKind.READ_ONLY and not is_safe:
            raise InvalidInputError(
                f"node {name!r} has effects, and its provider remembers no keys: what is tried again could land twice; "
                "say guarantees=Guarantees(dedup=...) or fails_on=, or leave it out",
                field="retry_policy",
            )
        if (
            kind is not ActionKind.READ_ONLY
            and not is_definite
            and any(each.retry_on is not default_retry_on for each in self.retry)
        ):
            raise InvalidInputError(
                f"node {name!r} has effects: an exception does not say that nothing happened, so none of them is final; "
                "raise Refused for what is, and leave retry_on out",
                field="retry_policy",
            )
        attempts = max(each.max_attempts for each in self.retry)
        grows = any(each.backoff_factor > 1 for each in self.retry)
        backoff = Backoff(
            mode=BackoffMode.EXPONENTIAL if grows else BackoffMode.FIXED,
            base_s=max(each.initial_interval for each in self.retry),
            cap_s=max(each.max_interval for each in self.retry),
            jitter=0.5 if any(each.jitter for each in self.retry) else 0.0,
        )
        guards = LoopGuards(deadline_s=max(made.loop_guards.deadline_s, attempts * (made.timeout_s + backoff.cap_s)))
        return replace(made, retry=Retry(max_attempts=attempts), backoff=backoff, loop_guards=guards)

    def is_worth(self, exc: Exception, attempt: int) -> bool:
        """Tell whether another attempt may follow number `attempt`, which ended with `exc`."""
        taking = (each for each in self.retry if _takes(each.retry_on, exc))
        return not self.retry or any(attempt < each.max_attempts for each in islice(taking, 1))


def _takes(rule: Any, exc: Exception) -> bool:
    if isinstance(rule, type | Sequence):
        return isinstance(exc, rule if isinstance(rule, type) else tuple(rule))
    decides: Callable[[Exception], bool] = rule
    return decides(exc)
