"""Rounds of a job: it begins with its first step, and each time that it goes back, a new round begins."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from msgspec import Struct

from sagagraph.domains.job_shop.request import Redo


class Round(Struct, frozen=True, array_like=True):
    """Round: the steps from `begins` to `reached` are done in it, none before `since`."""

    since: int
    begins: int
    reached: int


def rounds_of(steps: int, redos: Sequence[Redo], begun: Iterable[tuple[int, int]], *, is_cancelled: bool) -> tuple[Round, ...]:
    """Return the rounds of a job of that many steps. `begun`: when a step began, and which."""
    furthest = [0] * (len(redos) + 1)
    for start, step in begun:
        place = round_at(redos, start)
        furthest[place] = max(furthest[place], step)
    rounds: list[Round] = []
    since, begins = 0, 1
    for redo, last in zip(redos, furthest, strict=False):
        rounds.append(Round(since, begins, max(begins - 1, last)))
        since, begins = redo.at, min(redo.step, rounds[-1].reached + 1)
    rounds.append(Round(since, begins, max(begins - 1, furthest[-1]) if is_cancelled else steps))
    return tuple(rounds)


def round_at(redos: Sequence[Redo], moment: int) -> int:
    """Return the round, from 0, that a step belongs to that begins then."""
    return bisect_right(redos, moment, key=lambda redo: redo.at) if redos else 0
