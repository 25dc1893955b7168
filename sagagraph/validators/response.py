"""Responses to a verdict (SagaLLM section 3.3.2): rejection, augmentation, feedback. Pure: acting on it happens elsewhere.

Rejection is the coordinator's: an INVALID output is compensated, an INVALID plan is not accepted. Augmentation fills in what an
artifact lacks. Feedback is in the journal with the verdict, and is offered to later proposals (planning/agents/briefing.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sagagraph.validators.verdict import Verdict, VerdictStatus
from sagagraph.workflow.values import Json


def augmented(artifact: Json, verdicts: Sequence[Verdict]) -> Json:
    """Return `artifact` with its validators' additions; unchanged if one of them rejects it; the first to fill a gap wins."""
    if any(each.verdict is VerdictStatus.INVALID for each in verdicts):
        return artifact
    for each in verdicts:
        if each.is_valid and each.additions:
            artifact = filled_in(artifact, each.additions)
    return artifact


def filled_in(artifact: Json, additions: Mapping[str, Json]) -> Json:
    """Return a JSON object with missing or null fields filled in; existing values stay, and lists are never touched."""
    if not isinstance(artifact, Mapping):
        return artifact
    filled = dict(artifact)
    for name, value in additions.items():
        if filled.get(name) is None:
            filled[name] = value
        elif isinstance(value, Mapping):
            filled[name] = filled_in(filled[name], value)
    return filled
