"""Remedies: for what cannot be had, the requests that can be, each with the fewest wishes that give way as little as possible."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sagagraph.planning.domain import Infeasible
from sagagraph.saga.core.state import Saga, Stage


@dataclass(frozen=True, slots=True)
class Remedy:
    """Remedy. `label`: what would hold instead, in a few words; `because`: the whole sentence."""

    label: str
    because: str
    request: Any
    """The whole request with it, as it can be asked for."""


def remedies_for(request: Any, found: Infeasible) -> Iterator[Remedy]:
    """Return a remedy for every wish whose giving way suffices alone or, where there is none, for those that do together."""
    known: list[Any] = []
    for each in found.relaxations:
        if each.change is not None and isinstance(request, Mapping) and each.change not in known:
            known.append(each.change)
            wish = " and ".join(each.together) or each.wish
            label = f"{each.needs} instead of {wish}" if each.needs else f"without {wish}"
            yield Remedy(label, each.sentence, {**request, **each.change})


def remedies_of(saga: Saga) -> tuple[Remedy, ...]:
    """Return the remedies for what was asked for last, as long as nothing else has been planned."""
    is_open = saga.stage in (Stage.AWAITING_APPROVAL, Stage.INFEASIBLE)
    return tuple(Remedy(each["label"], each["because"], each["request"]) for each in saga.plan.remedies) if is_open else ()
