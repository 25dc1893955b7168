"""Outputs of nodes in the journal: what the node returned, and which operations below it that pass asked for."""

from __future__ import annotations

from collections.abc import Iterable

from sagagraph.workflow.values import Json

_UPDATE, _ASKED = "$update", "$operations"


def output_with(encoded: Json, asked: Iterable[str]) -> Json:
    """Return the output of a node that has operations of its own: those that it no longer asked for are removed at the end
    (ADR-0005).
    """
    return {_UPDATE: encoded, _ASKED: sorted(asked)}


def output_of(output: Json) -> Json:
    """Return what the node returned, encoded; even if a person supplied it."""
    return output[_UPDATE] if isinstance(output, dict) and _UPDATE in output else output


def asked_by(output: Json) -> list[str] | None:
    """Return the operations that it asked for; None: the node has no operations of its own."""
    return output.get(_ASKED) if isinstance(output, dict) else None


def update_of(returned: Json) -> dict[str, Json]:
    """Return the part of what a node returned that changes the state."""
    update = getattr(returned, "update", returned) if not isinstance(returned, dict) else returned
    return update if isinstance(update, dict) else {}
