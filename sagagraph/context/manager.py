"""Context manager (SagaLLM figure 1): hands out slices, tracks them, and restores them from a journal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sagagraph.context.selector import ContextSource, Need, context_of
from sagagraph.context.slice import ContextSlice
from sagagraph.errors import ContextMismatchError


@dataclass(frozen=True, slots=True)
class Issued:
    """Record of a slice that was handed out: enough to hand it out again."""

    agent: str
    operation: str
    need: Need
    version: int
    """The journal's version when it was handed out."""
    hash: str
    tokens: int


SourceAt = Callable[[int], ContextSource]
"""Function that returns the saga after a given number of its journal's events."""


class ContextManager:
    """Manager for the agents and validators of one saga. It keeps a record of the last slice that each was given, not its
    content.
    """

    def __init__(self, source_at: SourceAt) -> None:
        self._source_at = source_at
        self._issued: dict[tuple[str, str], Issued] = {}

    @property
    def issued(self) -> tuple[Issued, ...]:
        return tuple(self._issued.values())

    def issue(self, agent: str, operation: str, need: Need, version: int) -> ContextSlice:
        """Issue the context of `agent` for `operation`. Raises `ContextBudgetError` if its critical facts do not fit."""
        context = context_of(self._source_at(version), operation, need)
        self._issued[agent, operation] = Issued(agent, operation, need, version, context.hash, context.tokens)
        return context

    def restore(self, issued: Issued) -> ContextSlice:
        """Return the same slice again, after a crash, or to see what somebody knew when making a decision.

        Raises:
            ContextMismatchError: the journal no longer says what it said then.
        """
        context = context_of(self._source_at(issued.version), issued.operation, issued.need)
        if context.hash != issued.hash:
            raise ContextMismatchError(
                f"the context of {issued.agent} at version {issued.version} was {issued.hash}, and comes out as {context.hash}: "
                "the journal, or how slices are chosen, has changed",
                operation_id=issued.operation,
            )
        return context
