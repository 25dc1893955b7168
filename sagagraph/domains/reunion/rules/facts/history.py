"""History: what had been done when the plan was changed, and how the new plan states it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from sagagraph.domains.reunion.events import Event, MayReroute
from sagagraph.domains.reunion.parsing import ParsedPlan
from sagagraph.domains.reunion.plan import Act, Journey, Work


@dataclass(frozen=True)
class History:
    """History of a plan. `until`: what began before is history."""

    old: ParsedPlan
    new: ParsedPlan
    until: int
    events: tuple[Event, ...]

    @cached_property
    def pairs(self) -> Mapping[int, int]:
        """Return the old plan's past actions, by index, with their counterparts in the new plan: the most similar, each used
        once.
        """
        pairs: dict[int, int] = {}
        past = {index: act for index, act in self.old.actions.items() if act.start < self.until}
        for fits in (_same, _same_beginning, _same_kind):
            for index, act in past.items():
                if index in pairs:
                    continue
                used = set(pairs.values())
                found = next((n for n, new in self.new.actions.items() if n not in used and fits(act, new)), None)
                if found is None:
                    continue
                # what begins later may be another of its kind: it counts as rewritten only if the old plan had
                # none there
                stands_for_itself = any(_same(old, self.new.actions[found]) for old in self.old.actions.values())
                if fits is not _same_kind or not stands_for_itself:
                    pairs[index] = found
        return pairs

    @property
    def rewritten(self) -> Iterator[tuple[int, int]]:
        """Return (old index, new index) of each."""
        for index, found in self.pairs.items():
            old, new = self.old.actions[index], self.new.actions[found]
            if not stands(old, new, self.events):
                yield index, found

    @cached_property
    def dropped(self) -> tuple[int, ...]:
        """Return actions missing from the new plan, apart from those that an unreadable one may stand for."""
        gone = [n for n, act in self.old.actions.items() if act.start < self.until and n not in self.pairs]
        return tuple(gone[len(self.new.broken) :])

    @cached_property
    def inserted(self) -> tuple[int, ...]:
        """Return actions added by the new plan, apart from those that an unreadable one of the old plan may stand for."""
        told = set(self.pairs.values())
        more = [n for n, act in self.new.actions.items() if act.start < self.until and n not in told]
        return tuple(more[len(self.old.broken) :])

    @property
    def lost(self) -> Iterator[tuple[Act, bool]]:
        """Return what the new plan should state unchanged, but does not, and whether it states it otherwise."""
        yield from ((self.old.actions[index], False) for index in self.dropped)
        yield from ((self.old.actions[index], True) for index, _ in self.rewritten)

    def is_rerouted(self, index: int) -> bool | None:
        """Tell whether that journey of the new plan goes elsewhere than it first did."""
        before = next((old for old, new in self.pairs.items() if new == index), None)
        old, new = None if before is None else self.old.actions[before], self.new.actions[index]
        return old.to != new.to if isinstance(old, Journey) and isinstance(new, Journey) else False


def stands(old: Act, new: Act, events: tuple[Event, ...]) -> bool:
    """Tell whether `new` states it unchanged, or as it continues."""
    return _same(old, new) or _goes_on(old, new, events)


def _goes_on(old: Act, new: Act, events: tuple[Event, ...]) -> bool:
    """Tell whether it continues the journey under way, which may end later, or elsewhere if its vehicle may be rerouted."""
    if not isinstance(old, Journey) or not isinstance(new, Journey):
        return False
    if _beginning(old) != _beginning(new) or set(old.riders) != set(new.riders):
        return False
    under_way = [event for event in events if old.start < event.at < old.end]
    if old.to == new.to:
        return bool(under_way) and new.end >= old.end
    reroutes = (event for event in under_way if isinstance(event, MayReroute) and event.vehicle == old.vehicle)
    return any(new.to in event.minutes_left for event in reroutes)


def _beginning(act: Act) -> tuple[object, ...]:
    if isinstance(act, Journey):
        return act.vehicle, act.driver, act.from_, act.start
    return act.task, act.start


def _same(old: Act, new: Act) -> bool:
    """Compare names in any order; a place that is not stated is the task's own."""
    if isinstance(old, Journey) and isinstance(new, Journey):
        is_same = (_beginning(old), old.to, old.end) == (_beginning(new), new.to, new.end)
        return is_same and sorted(old.riders) == sorted(new.riders)
    if isinstance(old, Work) and isinstance(new, Work):
        is_same = (_beginning(old), old.end) == (_beginning(new), new.end)
        return is_same and sorted(old.who) == sorted(new.who) and (None in (old.place, new.place) or old.place == new.place)
    return False


def _same_beginning(old: Act, new: Act) -> bool:
    return old.start == new.start and _same_kind(old, new)


def _same_kind(old: Act, new: Act) -> bool:
    if isinstance(old, Journey) and isinstance(new, Journey):
        return old.vehicle == new.vehicle and (old.from_ == new.from_ or old.to == new.to)
    return isinstance(old, Work) and isinstance(new, Work) and old.task == new.task
