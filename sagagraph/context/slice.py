"""Context slices: the facts that one validator is shown, within a token budget (SagaLLM figure 1, information selector)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from sagagraph.errors import ContextBudgetError
from sagagraph.workflow.values import Json

DEFAULT_BUDGET_TOKENS = 1000
BYTES_PER_TOKEN = 4
"""A rough and stable measure: it uses no model's tokenizer, so a slice is the same everywhere."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Fact. `priority`: lower is kept longer. A critical fact is never dropped."""

    name: str
    value: Json
    critical: bool = False
    priority: int = 0


@dataclass(frozen=True, slots=True)
class ContextSlice:
    facts: dict[str, Json]
    tokens: int
    dropped: tuple[str, ...] = ()

    @property
    def hash(self) -> str:
        """Return sixteen hexadecimal digits over the facts: equal slices have equal hashes, in any process."""
        return content_hash(self.facts)


def select(facts: Iterable[Fact], *, budget_tokens: int = DEFAULT_BUDGET_TOKENS) -> ContextSlice:
    """Select all critical facts, then the others by priority as long as they fit. Raises `ContextBudgetError` if the critical
    ones do not.
    """
    ordered = sorted(facts, key=lambda fact: (not fact.critical, fact.priority, fact.name))
    kept: dict[str, Json] = {}
    dropped: list[str] = []
    used = 0
    for fact in ordered:
        size = tokens_of({fact.name: fact.value})
        if used + size <= budget_tokens:
            kept[fact.name] = fact.value
            used += size
        elif fact.critical:
            raise ContextBudgetError(
                f"critical fact {fact.name!r} needs {size} tokens, and {used} of {budget_tokens} are used: "
                "raise the budget or mark less as critical"
            )
        else:
            dropped.append(fact.name)
    return ContextSlice(kept, used, tuple(dropped))


def tokens_of(value: Json) -> int:
    return -(-len(_canonical(value)) // BYTES_PER_TOKEN)


def content_hash(value: Json) -> str:
    return hash_of(_canonical(value))


def hash_of(written: bytes) -> str:
    """Return the hash of a value that is already written as text."""
    return hashlib.sha256(written).hexdigest()[:16]


def _canonical(value: Json) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
