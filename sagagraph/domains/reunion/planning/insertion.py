"""Insertion: a first choice of rounds at once, each grown from the farthest people who are left by whoever is nearest to it.

It is not good, but valid where a simple one is, so that there is a plan before anything is optimised. (Solomon, "Algorithms for
the vehicle routing and scheduling problems with time window constraints", 1987: sequential insertion.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from sagagraph.domains.reunion.planning.rounds import NO_CREW, Kind, Round, Rounds, Shift, Some

Driven = tuple[Shift, int, Round, list[tuple[Kind, str]]]
"""By whom a round is driven, from when on, and which drivers ride along."""
FARTHEST: Final = 1
NEAREST: Final = -1


def inserted(rounds: Rounds) -> list[Driven]:
    """Return rounds that fetch everybody, begun with those farthest away or else nearest; none if neither has the time."""
    for first in (FARTHEST, NEAREST):
        left = Counter({kind: len(names) for kind, names in rounds.names.items() if kind.crew == NO_CREW})
        driven = list(_all_driven(rounds, left, first))
        if not +left:
            return driven
    return []


def _all_driven(rounds: Rounds, left: Counter[Kind], first: int) -> Iterator[Driven]:
    """Yield rounds, always of the vehicle that is free first; in the end each goes where it has to be."""
    free = {shift: (shift.since, shift.start) for shift in rounds.shifts}
    while free:
        shift = min(free, key=lambda each: (each.until, free[each]))
        now, here = free[shift]
        best = _grown(rounds, shift, now, here, left, first)
        if best is None:
            del free[shift]
            best = _in_time(rounds, shift, now, here, ()) if shift.end not in (None, here) else None
        else:
            free[shift] = max(now, best.opens) + best.lasts, best.some.end
            left -= Counter(best.some.kinds)
        if best is not None:
            yield shift, max(now, best.opens), best, []


def _grown(rounds: Rounds, shift: Shift, now: int, here: str, left: Counter[Kind], first: int) -> Round | None:
    """Return the next round of the shift; None: it has no time for anybody who is left."""

    def away(kind: Kind) -> float:
        return rounds.apart(here, kind.here) + rounds.apart(kind.here, kind.there or here)

    alone = (_in_time(rounds, shift, now, here, (kind,)) for kind in sorted(+left, key=away, reverse=first == FARTHEST))
    grown = next((each for each in alone if each is not None), None)
    while grown is not None:
        kinds = grown.some.kinds
        more = (_in_time(rounds, shift, now, here, (*kinds, kind)) for kind in +(left - Counter(kinds)))
        best = min((each for each in more if each is not None), key=lambda each: each.lasts, default=None)
        if best is None:
            break
        grown = best
    return grown


def _in_time(rounds: Rounds, shift: Shift, now: int, here: str, kinds: tuple[Kind, ...]) -> Round | None:
    """Return the shortest round for these after which the shift still gets where it has to be; None: it has none."""
    ends = {each.there for each in kinds if each.there} or {shift.end or here}
    possible = []
    for end in ends:
        some = Some(kinds, end)
        each = rounds.round_of(some, here, shift.crew) if some.people <= shift.seats else None
        if each is not None and (start := max(now, each.opens)) <= each.closes:
            back = rounds.apart(end, shift.end) if shift.end is not None else 0
            if start + each.lasts + back <= shift.until:
                possible.append(each)
    return min(possible, key=lambda each: each.lasts, default=None)
