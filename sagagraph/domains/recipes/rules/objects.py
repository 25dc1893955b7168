"""Objects: one step at a time has all of one, and finds it as it needs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sagagraph.domains.recipes.request import VOLUME, Property, Use
from sagagraph.domains.recipes.rules.case import Case, Piece, violation
from sagagraph.validators.verdict import Violation

_State = dict[str, Property]


def check_objects(case: Case) -> Iterator[Violation]:
    for name, users in case.by_object.items():
        state: _State = {}
        for place, piece in enumerate(users):
            use = piece.step.uses[name]
            yield from _occupied(name, piece, users[:place], state)
            yield from _properties(name, piece, use, state)
            _change(state, use)


def _occupied(name: str, piece: Piece, earlier: tuple[Piece, ...], state: _State) -> Iterator[Violation]:
    """Two steps that make the object the same over the same time may coincide: the oven is heated for both."""
    update = piece.step.uses[name].update
    is_so_already = bool(update) and all(state.get(key) == value for key, value in update.items())
    for other in earlier:
        is_same_time = (other.row.start, other.row.end) == (piece.row.start, piece.row.end)
        if piece.overlaps(other) and other.step is not piece.step and not (is_same_time and is_so_already):
            yield violation("OCCUPIED", piece, f"needs the {name} while {other} has it", object=name, beside=other.scope)
            return


def _properties(name: str, piece: Piece, use: Use, state: Mapping[str, Property]) -> Iterator[Violation]:
    for key, needed in use.require.items():
        now = state.get(key)
        evidence = {"object": name, "property": key, "needed": needed, "found": now}
        if key != VOLUME and now != needed:
            found = "is not set" if now is None else f"is {now}"
            yield violation("TEMPERATURE", piece, f"needs the {name} at {key} {needed}, which {found}", **evidence)
        elif key == VOLUME and not _is_enough(now, needed):
            yield violation("VOLUME", piece, f"needs {needed} of what is in the {name}, which has {now or 0}", **evidence)


def _is_enough(now: Property | None, needed: Property) -> bool:
    return isinstance(now, int | float) and isinstance(needed, int | float) and now >= needed


def _change(state: _State, use: Use) -> None:
    state.update(use.update)
    now, taken = state.get(VOLUME), use.require.get(VOLUME)
    if isinstance(now, int | float) and isinstance(taken, int | float):
        state[VOLUME] = max(0, now - taken)
