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
    present: list[tuple[Work, cp_model.LiteralT]] = []
    for user in sorted(users, key=lambda user: bool(user.step.uses[name].update)):
        is_there = model.cp.new_bool_var("")
        merged = []
        for other, is_other_there in present:
            if _may_coincide(user, other, name):
                merged.append(model.cp.new_bool_var(""))
                model.cp.add(user.start == other.start).only_enforce_if(merged[-1])
                model.cp.add_implication(merged[-1], is_other_there)
        model.cp.add_exactly_one(is_there, *merged)
        present.append((user, is_there))
        taken += [model.cp.new_optional_fixed_size_interval_var(start, size, is_there, "") for start, size in user.slices]
    return taken


def _may_coincide(user: Work, other: Work, name: str) -> bool:
    """Heating for one step may coincide with heating for another, and with baking at just that heat."""
    update, there = user.step.uses[name].update, other.step.uses[name]
    is_plain = bool(update) and VOLUME not in update and not user.step.uses[name].require
    is_alike = update == there.update or (update == there.require and not there.update and other.step.is_autonomous)
    return is_plain and is_alike and (user.sizes, user.short) == (other.sizes, other.short)


def _add_property(model: Model, name: str, key: str, users: Sequence[Work]) -> None:
    """Each step that needs the property has a source of it: a step before it, or what it is now; no other comes between."""
    now: tuple[Work | None, Property | None] = (None, model.situation.state.get(name, {}).get(key))
    sources = [(user, user.step.uses[name].update[key]) for user in users if key in user.step.uses[name].update]
    takers = [(user, user.step.uses[name].require[key]) for user in users if key in user.step.uses[name].require]
    fitting: dict[Work, list[cp_model.IntVar]] = {taker: [] for taker, _needed in takers}
    for source, given in (now, *sources):
        parts = []
        for taker, needed in takers:
            if source is not taker and _is_fit(key, given, needed):
                others = [each for each, value in sources if each not in (source, taker) and (key == VOLUME or value != given)]
                fitting[taker].append(_finds(model, source, taker, others))
                parts.append(_millis(needed) * fitting[taker][-1])
        if key == VOLUME and parts:
            model.cp.add(sum(parts) <= _millis(given or 0))
    for literals in fitting.values():
        model.cp.add_bool_or(literals)


def _millis(volume: Property) -> int:
    return round(float(volume) * 1000)


def _is_fit(key: str, given: Property | None, needed: Property) -> bool:
    if key == VOLUME:
        return isinstance(given, int | float) and isinstance(needed, int | float) and given >= needed
    return given is not None and given == needed


def _finds(model: Model, source: Work | None, taker: Work, others: Sequence[Work]) -> cp_model.IntVar:
    """Return whether `taker` finds what the source gave, or what there is now; none of the others may come between."""
    cp, is_so = model.cp, model.cp.new_bool_var("")
    if source is not None:
        cp.add(taker.start >= source.end).only_enforce_if(is_so)
    for other in others:
        if source is None:
            cp.add(other.start >= taker.end).only_enforce_if(is_so)
            continue
        is_earlier = cp.new_bool_var("")
        cp.add(source.start >= other.end).only_enforce_if([is_so, is_earlier])
        cp.add(other.start >= taker.end).only_enforce_if([is_so, ~is_earlier])
    return is_so
