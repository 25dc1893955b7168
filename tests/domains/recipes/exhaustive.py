"""Exhaustive search of small meals for one cook, in steps of one unit. Shares nothing with the planner or the rules."""

from __future__ import annotations

from itertools import permutations
from typing import Any

UNIT = 30
Key = tuple[int, int]


class Kitchen:
    """A meal in Recipe2Plan's form; times in units."""

    def __init__(self, document: Any) -> None:
        self.steps = {(r, s["step"]): s for r, recipe in enumerate(document) for s in recipe["steps"]}
        self.time = {key: _units(step["time"]) for key, step in self.steps.items()}

    def least(self, horizon: int) -> int | None:
        """Return the earliest moment at which all can be complete; None: never, up to the horizon."""
        left = tuple(sorted(self.time.items()))
        frontier: set[Any] = {(left, (), (), None, ())}
        for now in range(horizon + 1):
            after: set[Any] = set()
            for state in frontier:
                if all(units == 0 for _key, units in state[0]) and all(end <= now for _key, end in state[1]):
                    return now
                after |= self._next(state, now)
            frontier = after
        return None

    def _next(self, state: Any, now: int) -> set[Any]:
        """A state: units left, last ends, (object, start, end, key) in use, (step, until) of the cook, properties."""
        found = set()
        for started, has_started in self._alone(state, now):
            left, ends, used, at, props = started
            if at is not None and at[1] > now:
                if not has_started:
                    found.add(started)
                continue
            found.add((left, ends, used, None, props))
            for key, units in left:
                if units == 0 or self.steps[key]["parallel"]:
                    continue
                is_split = bool(self.steps[key]["interrupt"])
                goes_on = is_split and at is not None and at[0] == key and at[1] == now and not has_started
                length = 1 if is_split else units
                begun = self._begin(started, key, now, length, goes_on=goes_on)
                if begun is not None:
                    found.add((*begun[:3], (key, now + length), begun[4]))
        return found

    def _alone(self, state: Any, now: int) -> list[tuple[Any, bool]]:
        """All states after starting any of what goes on alone, in any order."""
        ready = [key for key, units in state[0] if units and self.steps[key]["parallel"]]
        found = {(state, False)}
        for many in range(1, len(ready) + 1):
            for order in permutations(ready, many):
                here: Any = state
                for key in order:
                    here = self._begin(here, key, now, dict(here[0])[key]) if here is not None else None
                if here is not None:
                    found.add((here, True))
        return list(found)

    def _begin(self, state: Any, key: Key, now: int, length: int, *, goes_on: bool = False) -> Any:
        left, ends, used, at, props = state
        step, done, by = self.steps[key], dict(ends), dict(left)
        if any(by[key[0], p] > 0 or done[key[0], p] > now for p in step["prequisites"]):
            return None
        if not goes_on:
            for p, limit in step["time_constraint"].items():
                if (key[0], int(p)) in done and (now - done[key[0], int(p)]) * UNIT > _seconds(limit):
                    return None
        now_props = dict(props)
        for name, use in step["physical"].items():
            update = use.get("update", {})
            is_so = bool(update) and all(now_props.get((name, k)) == v for k, v in update.items())
            for what, start, end, who in used:
                clash = what == name and start < now + length and now < end and who != key
                if clash and not ((start, end) == (now, now + length) and is_so):
                    return None
            if any(now_props.get((name, k)) != v for k, v in use.get("require", {}).items()):
                return None
        for name, use in step["physical"].items():
            used = tuple(sorted({each for each in (*used, (name, now, now + length, key)) if each[2] > now}))
            now_props |= {(name, k): v for k, v in use.get("update", {}).items()}
        by[key] -= length
        done[key] = now + length
        return tuple(sorted(by.items())), tuple(sorted(done.items())), used, at, tuple(sorted(now_props.items()))


def _seconds(said: str) -> int:
    number, unit = said.split()
    return int(number) * {"sec": 1, "min": 60}[unit]


def _units(said: str) -> int:
    return _seconds(said) // UNIT
