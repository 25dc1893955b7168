"""The figures in docs/validators.md, with few faults of each kind; `make proof` counts them all."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sagagraph.domains.travel.rules import validator
from sagagraph.domains.travel.rules.course import CALENDAR

from .figures import DOMAINS, Domain, false_alarms, missed, trips

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.name)
def test_every_kind_of_fault_is_found_and_nothing_else(domain: Domain) -> None:
    there, not_found = missed(domain.faults(2))
    assert (not_found, set(there.values())) == ({}, {2})
    assert false_alarms(domain.untouched(10)) == (10, 0)


def test_what_nobody_looks_for_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validator, "CONCERNS", tuple(_without(CALENDAR)))
    assert missed(trips(1))[1].keys() == {"DATE_GAP", "DATE_OVERLAP"}


def _without(left_out: object) -> Iterator[object]:
    return (each for each in validator.CONCERNS if each is not left_out)
