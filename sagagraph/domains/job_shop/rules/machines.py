"""Machines: one step at a time. A window begins with the step before it that ends last: no other can reach into it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from sagagraph.domains.job_shop.rules.case import Row, named
from sagagraph.validators.concern import Concern, windows
from sagagraph.validators.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sagagraph.domains.job_shop.rules.case import Case
    from sagagraph.validators.verdict import Violation


class MachineView(Struct, frozen=True):
    latest: Row | None
    """Of the steps that begin before these, the one that ends last."""
    rows: tuple[Row, ...]
    """In the order of time."""


def _scopes(case: Case) -> Iterator[tuple[str, MachineView]]:
    for machine, rows in case.machines.items():
        latest: Row | None = None
        for window in windows(rows):
            yield named(f"machine {machine}", window), MachineView(latest, tuple(window))
            for row in window:
                latest = _later(latest, row)


def _check(view: MachineView) -> Iterator[Violation]:
    """Check that none begins while another is on. Two simultaneous steps of one job are out of order, and reported as that."""
    latest = view.latest
    for row in view.rows:
        if latest is not None and row.start < latest.end and row.job != latest.job:
            message = f"begins on machine {row.machine} while {latest} is on it"
            yield row.breaks("OVERLAP", message, beside=latest.scope, ends=latest.end)
        latest = _later(latest, row)


def _later(latest: Row | None, row: Row) -> Row:
    return row if latest is None or row.end > latest.end else latest


MACHINES = Concern("machine", Kind.TEMPORAL, MachineView, _scopes, _check)
