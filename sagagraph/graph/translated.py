"""Translation of LangGraph's `retry_policy` and `timeout` into policies, where these mean the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph._internal._retry import default_retry_on  # LangGraph's own rule for what is worth another attempt
from langgraph.types import RetryPolicy, TimeoutPolicy
from msgspec.structs import replace

from sagagraph.errors import InvalidInputError
from sagagraph.saga.engine.actions import Guarantees
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.policy import Backoff, BackoffMode, LoopGuards, Policy, Retry


@dataclass(frozen=True, slots=True)
class Attempts:
    """What LangGraph was told; `is_worth`: whether another attempt may follow an exception."""

    retry: RetryPolicy | None = None
    timeout_s: float | None = None

    @classmethod
    def of(cls, retry_policy: RetryPolicy | Sequence[RetryPolicy] | None, timeout: Any) -> Attempts:
        """Raises `InvalidInputError` for what no policy can say."""
        policies = [retry_policy] if isinstance(retry_policy, RetryPolicy) else list(retry_policy or ())
        if len(policies) > 1:
            raise InvalidInputError("a node has one: give the exceptions of all of them to one retry_on", field="retry_policy")
        limit = TimeoutPolicy.coerce(timeout)
        if limit is not None and (limit.idle_timeout is not None or limit.run_timeout is None):
            raise InvalidInputError(
                "an attempt is bounded as a whole: say run_timeout, or policy=Policy(timeout_s=...)", field="timeout"
            )
        return cls(policies[0] if policies else None, None if limit is None else float(limit.run_timeout))  # type: ignore[arg-type]

    def or_else(self, default: Attempts) -> Attempts:
        """These, and for what they do not say a graph's defaults."""
        return Attempts(self.retry or default.retry, self.timeout_s or default.timeout_s)

    def policy(self, name: str, base: Policy, kind: ActionKind, guarantees: Guarantees) -> Policy:
        """`base` with these. Raises `InvalidInputError` where a repetition could land twice."""
        made = base
        if self.timeout_s is not None:
            made = replace(made, timeout_s=self.timeout_s, retry=Retry(max_attempts=1) if self.retry is None else made.retry)
        if self.retry is None:
            return made
        if kind is not ActionKind.READ_ONLY and guarantees.dedup is None:
            raise InvalidInputError(
                f"node {name!r} has effects, and its provider remembers no keys: what is tried again could land twice; "
                "say guarantees=Guarantees(dedup=...), or leave it out",
                field="retry_policy",
            )
        if kind is not ActionKind.READ_ONLY and self.retry.retry_on is not default_retry_on:
            raise InvalidInputError(
                f"node {name!r} has effects: an exception does not say that nothing happened, so none of them is final; "
                "raise Refused for what is, and leave retry_on out",
                field="retry_policy",
            )
        backoff = Backoff(
            mode=BackoffMode.FIXED if self.retry.backoff_factor <= 1 else BackoffMode.EXPONENTIAL,
            base_s=self.retry.initial_interval,
            cap_s=self.retry.max_interval,
            jitter=0.5 if self.retry.jitter else 0.0,
        )
        guards = LoopGuards(
            deadline_s=max(made.loop_guards.deadline_s, self.retry.max_attempts * (made.timeout_s + backoff.cap_s))
        )
        return replace(made, retry=Retry(max_attempts=self.retry.max_attempts), backoff=backoff, loop_guards=guards)

    def is_worth(self, exc: Exception) -> bool:
        """Whether `retry_on` allows another attempt after `exc`."""
        rule: Any = self.retry.retry_on if self.retry is not None else None
        if rule is None:
            return True
        if isinstance(rule, type | Sequence):
            return isinstance(exc, rule if isinstance(rule, type) else tuple(rule))
        decides: Callable[[Exception], bool] = rule
        return decides(exc)
