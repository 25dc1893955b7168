"""Kinds of validation (SagaLLM section 3.3.1 and Table 2)."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """Kind: first those within one agent's output, then those between agents."""

    SYNTACTIC = "syntactic"
    """Format, structure, schema."""
    SEMANTIC = "semantic"
    """It makes sense as a whole: nothing ends before it begins, no gap where coverage is required."""
    FACTUAL = "factual"
    """A given fact is still what it was."""
    CONSTRAINT = "constraint adherence"
    REASONING = "reasoning"
    """Every conclusion is supported by given premises, and follows from them."""
    RETENTION = "context retention"
    """Nothing critical was lost on the way."""
    CONTRACT = "contract"
    """What passes from one to the other fits the interfaces of both."""
    DEPENDENCY = "dependency satisfaction"
    CONSISTENCY = "consistency"
    """Equal things are expressed in one form everywhere."""
    TEMPORAL = "temporal"
    """Nothing begins before its prerequisites have ended; deadlines are met."""
    AGREEMENT = "mutual agreement"
    INTEGRITY = "transactional integrity"
    """Whatever fails, everything that was done can be undone, in the right order."""
