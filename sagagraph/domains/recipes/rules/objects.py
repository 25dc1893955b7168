"""Objects: one step at a time has all of one, and finds it as it needs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from sagagraph.domains.recipes.request import VOLUME, Property, Use
from sagagraph.domains.recipes.rules.case import Case, Piece, named
from sagagraph.validators.concern import Concern, windows
from sagagraph.validators.kinds import Kind
from sagagraph.validators.verdict import Violation

_State = dict[str, Property]


class Used(Struct, frozen=True, array_like=True):
    piece: Piece
    require: dict[str, Property]
    update: dict[str, Property]


class ObjectView(Struct, frozen=True):
    """`state` of the object, and who has it still, when these uses begin."""

    object: str
    state: _State
    earlier: tuple[Piece, ...]
    uses: tuple[Used, ...]


def _scopes(case: Case) -> Iterator[tuple[str, ObjectView]]:
    for name, pieces in case.by_object.items():
        state: _State = {}
        earlier: list[Piece] = []
        for window in windows(_used(case, name, piece) for piece in pieces):
            first, last = window[0].piece, window[-1].piece
            earlier = [each for each in earlier if each.end > first.start]
            yield named(f"the {name}", first, last), ObjectView(name, dict(state), tuple(earlier), tuple(window))
            for used in window:
                _change(state, used)
                earlier.append(used.piece)


def _used(case: Case, name: str, piece: Piece) -> Used:
    use: Use = case.meal.steps[piece.key].uses[name]
    return Used(piece, dict(use.require), dict(use.update))


def _check(view: ObjectView) -> Iterator[Violation]:
    state, earlier = dict(view.state), list(view.earlier)
    for used in view.uses:
        yield from _occupied(view.object, used, earlier, state)
        yield from _properties(view.object, used, state)
        _change(state, used)
        earlier.append(used.piece)


def _occupied(name: str, used: Used, earlier: list[Piece], state: _State) -> Iterator[Violation]:
    """Two steps that make the object the same over the same time may coincide: the oven is heated for both."""
    piece = used.piece
    is_so_already = bool(used.update) and all(state.get(key) == value for key, value in used.update.items())
    for other in earlier:
        is_same_time = (other.start, other.end) == (piece.start, piece.end)
        if piece.overlaps(other) and other.key != piece.key and not (is_same_time and is_so_already):
            yield piece.breaks("OCCUPIED", f"needs the {name} while {other} has it", object=name, beside=other.scope)
            return


def _properties(name: str, used: Used, state: Mapping[str, Property]) -> Iterator[Violation]:
    for key, needed in used.require.items():
        now = state.get(key)
        evidence = {"object": name, "property": key, "needed": needed, "found": now}
        if key != VOLUME and now != needed:
            found = "is not set" if now is None else f"is {now}"
            yield used.piece.breaks("TEMPERATURE", f"needs the {name} at {key} {needed}, which {found}", **evidence)
        elif key == VOLUME and not _is_enough(now, needed):
            yield used.piece.breaks("VOLUME", f"needs {needed} of what is in the {name}, which has {now or 0}", **evidence)


def _is_enough(now: Property | None, needed: Property) -> bool:
    return isinstance(now, int | float) and isinstance(needed, int | float) and now >= needed


def _change(state: _State, used: Used) -> None:
    state.update(used.update)
    now, taken = state.get(VOLUME), used.require.get(VOLUME)
    if isinstance(now, int | float) and isinstance(taken, int | float):
        state[VOLUME] = max(0, now - taken)


OBJECTS = Concern("object", Kind.INTEGRITY, ObjectView, _scopes, _check)
