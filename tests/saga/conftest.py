"""Explorations count what they visit, and the sum is shown at the end of the run."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.saga.cases import Case
from tests.saga.explorer import Explorer, Report
from tests.saga.workers import (  # noqa: F401 - fixtures
    engine,
    fresh_journal,
    journal,
    memory,
    new_store,
    open_engine,
    service,
    store_kind,
    watchdog,
)

_PROPERTY = "exploration"


@dataclass
class Tally:
    sagas: int = 0
    states: int = 0
    transitions: int = 0
    cut: int = 0

    def add(self, report: Report) -> None:
        self.sagas += 1
        self.states += report.states
        self.transitions += report.transitions
        self.cut += report.cut


@pytest.fixture(autouse=True)
def unheard() -> Iterator[list[str]]:
    """Whatever is killed or cut off: an exception that nobody retrieves fails the test in which it was thrown away."""
    unheard: list[str] = []
    handler = logging.Handler(logging.ERROR)
    handler.emit = lambda record: unheard.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("asyncio")
    logger.addHandler(handler)
    yield unheard
    gc.collect(1)
    logger.removeHandler(handler)
    assert not [each for each in unheard if "never retrieved" in each], unheard


Explore = Callable[..., Report]


@pytest.fixture
def explore(request: pytest.FixtureRequest) -> Iterator[Explore]:
    """Explores a case, which must keep all invariants, and counts it."""
    tally = Tally()

    def explore_one(case: Case, troubles: int, **options: Any) -> Report:
        report = Explorer(case, troubles, **options).explore()
        tally.add(report)
        assert not report.violations, f"{case}: {_shown(report)}"
        return report

    yield explore_one
    counts = (tally.sagas, tally.states, tally.transitions, tally.cut)
    request.node.user_properties.append((_PROPERTY, counts))
    print("explored {} sagas, {} states, {} transitions, {} cut".format(*counts))  # noqa: T201 - the numbers are what it is for


def _shown(report: Report) -> str:
    return "; ".join(f"{name} after {' → '.join(trace)}" for name, trace in report.violations.items())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [each for group in terminalreporter.stats.values() for each in group if isinstance(each, pytest.TestReport)]
    rows = [value for each in reports if each.when == "teardown" for name, value in each.user_properties if name == _PROPERTY]
    if not rows:
        return
    sagas, states, transitions, cut = (sum(column) for column in zip(*rows, strict=True))
    terminalreporter.write_sep("-", f"exploration: {sagas:,} sagas, {states:,} states, {transitions:,} transitions, {cut} cut")
