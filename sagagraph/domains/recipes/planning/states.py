"""States of objects: each step finds the oven as hot as it needs it; it may be heated for two steps at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sagagraph.domains.recipes.request import VOLUME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ortools.sat.python import cp_model

    from sagagraph.domains.recipes.planning.model import Model, Work
    from sagagraph.domains.recipes.request import Property


def add_states(model: Model, name: str, users: Sequence[Work]) -> list[cp_model.IntervalVar]:
    """Add what its users need of this object. Returns the intervals during which it is taken."""
    for key in sorted({key for user in users for key in user.step.uses[name].require}):
        _add_property(model, name, key, users)
    taken: list[cp_model.IntervalVar] = []
    present: list[tuple[Work, cp_model.IntVar | None]] = []
    for user in sorted(users, key=lambda user: bool(user.step.uses[name].update)):
        merged = []
        for other, is_there in present:
            if _may_coincide(user, other, name):
                is_merged = model.cp.new_bool_var("")
                model.cp.add(user.start == other.start).only_enforce_if(is_merged)
                if is_there is not None:
                    model.cp.add_implication(is_merged, is_there)
                merged.append(is_merged)
        if not merged:
            present.append((user, None))
            taken += user.intervals(model)
            continue
        is_there = model.cp.new_bool_var("")
        model.cp.add_exactly_one(is_there, *merged)
        present.append((user, is_there))
        taken.append(model.cp.new_optional_fixed_size_interval_var(user.start, user.sizes[0], is_there, ""))
    return taken


def _may_coincide(user: Work, other: Work, name: str) -> bool:
    """Heating for one step may coincide with heating for another, and with baking at just that heat."""
    update, there = user.step.uses[name].update, other.step.uses[name]
    is_plain = bool(update) and VOLUME not in update and not user.step.uses[name].require
    is_alike = update == there.update or (update == there.require and not there.update and other.step.is_autonomous)
    return is_plain and is_alike and (user.sizes, user.short) == (other.sizes, other.short)


def _add_property(model: Model, name: str, key: str, users: Sequence[Work]) -> None:
    """Each step that needs the property has a source of it: a step before it, or what it is now; no other comes between."""
    sources = [user for user in users if key in user.step.uses[name].update]
    takers = [user for user in users if key in user.step.uses[name].require]
    now = model.situation.state.get(name, {}).get(key)
    taken: dict[int, list[tuple[cp_model.IntVar, Property]]] = {}
    for taker in takers:
        needed = taker.step.uses[name].require[key]
        fitting = []
        for place, source in enumerate((None, *sources)):
            given = now if source is None else source.step.uses[name].update[key]
            if source is not taker and _is_fit(key, given, needed):
                fitting.append(_source(model, name, key, (source, given), taker, sources))
                taken.setdefault(place, []).append((fitting[-1], needed))
        model.cp.add_bool_or(fitting)
    if key == VOLUME:
        for place, parts in taken.items():
            given = now if place == 0 else sources[place - 1].step.uses[name].update[key]
            model.cp.add(sum(round(float(part) * 1000) * is_so for is_so, part in parts) <= round(float(given or 0) * 1000))


def _is_fit(key: str, given: Property | None, needed: Property) -> bool:
    if key == VOLUME:
        return isinstance(given, int | float) and isinstance(needed, int | float) and given >= needed
    return given is not None and given == needed


def _source(
    model: Model,
    name: str,
    key: str,
    source: tuple[Work | None, Property | None],
    taker: Work,
    all_sources: Sequence[Work],
) -> cp_model.IntVar:
    """Return whether `taker` finds what this source gave."""
    cp, (giver, given) = model.cp, source
    is_so = cp.new_bool_var("")
    if giver is not None:
        cp.add(taker.start >= giver.end).only_enforce_if(is_so)
    for other in all_sources:
        if other is giver or other is taker or (key != VOLUME and other.step.uses[name].update[key] == given):
            continue
        if giver is None:
            cp.add(other.start >= taker.end).only_enforce_if(is_so)
            continue
        is_earlier = cp.new_bool_var("")
        cp.add(giver.start >= other.end).only_enforce_if([is_so, is_earlier])
        cp.add(other.start >= taker.end).only_enforce_if([is_so, ~is_earlier])
    return is_so
