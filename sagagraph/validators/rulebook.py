"""Rulebooks: what the rules of several domains share."""

from __future__ import annotations

from collections.abc import Sequence

from sagagraph.errors import InvalidInputError


def history_end(stated: int | None, by_events: Sequence[int], old: str) -> int:
    """Until when the `old` plan was carried out: as stated, or else the first of these moments.

    Raises:
        InvalidInputError: nothing is stated, and no event says it.
    """
    if stated is not None:
        return stated
    if not by_events:
        message = f"say until when the old {old} was carried out, or what happened then"
        raise InvalidInputError(message, field="executed_until")
    return by_events[0]
