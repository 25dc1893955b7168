"""Kinds of action (Richardson, *Microservices Patterns*, chapter 4)."""

from __future__ import annotations

from enum import StrEnum


class ActionKind(StrEnum):
    COMPENSATABLE = "compensatable"
    """Can be undone by its compensation."""
    PIVOT = "pivot"
    """The point of no return: once it has landed the saga goes forward only."""
    RETRIABLE = "retriable"
    """Comes after the pivot and is repeated until it succeeds."""
    READ_ONLY = "read-only"
    """Changes nothing outside: may be repeated and discarded freely."""
