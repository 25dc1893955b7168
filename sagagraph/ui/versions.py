"""Versions: every plan that a saga has shown, with the request that it was for; any of them can be had again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sagagraph.saga.core.events import Entry
from sagagraph.saga.core.evolve.evolve import begin, evolve
from sagagraph.saga.core.state import AcceptedPlan, PlanState, Saga, Stage


@dataclass(frozen=True, slots=True)
class Version:
    """Version. `number`: that of the journal when it was shown first. `plan`: as it waited for approval, or was accepted."""

    number: int
    request: Any
    plan: PlanState | AcceptedPlan

    def is_same(self, other: Version) -> bool:
        return (self.plan.hash, self.request) == (other.plan.hash, other.request)

    def is_of(self, saga: Saga) -> bool:
        """Tell whether the saga shows it."""
        return (self.plan.hash, self.request) == (saga.plan.hash, saga.request)


def versions_of(saga_id: str, entries: Sequence[Entry]) -> tuple[Version, ...]:
    """Return the versions in the order in which they were shown first."""
    found: list[Version] = []
    for version in _shown(saga_id, entries):
        if not any(map(version.is_same, found)):
            found.append(version)
    return tuple(found)


def version_before(saga: Saga, entries: Sequence[Entry]) -> Version | None:
    """Return the version to which going back leads; going back twice goes further, not forth again."""
    way: list[Version] = []
    for version in _shown(saga.id, entries):
        place = next((number for number, each in enumerate(way) if version.is_same(each)), None)
        way = [*way, version] if place is None else way[: place + 1]
    way = [*way[:-1], *(each for each in way[-1:] if not each.is_of(saga))]
    return way[-1] if way else None


def _shown(saga_id: str, entries: Sequence[Entry]) -> Iterator[Version]:
    """Return the version after every entry that has brought another one."""
    saga, last = begin(saga_id, entries[0]), None
    for entry in entries[1:]:
        saga = evolve(saga, entry)
        accepted = saga.plan.accepted
        if saga.stage is Stage.AWAITING_APPROVAL:
            shown = Version(entry.version, saga.request, saga.plan)
        elif accepted is not None:
            shown = Version(entry.version, accepted.request, accepted)
        else:
            continue
        if last is None or not shown.is_same(last):
            last = shown
            yield shown
