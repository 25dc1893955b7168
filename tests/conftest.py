from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.fixtures import database, empty_database, postgres  # noqa: F401 - fixtures

# The same examples in every run: what fails must be the change, not the luck. `--hypothesis-profile=default` draws others.
settings.register_profile("same", derandomize=True, database=None, deadline=None)
settings.load_profile("same")

QUICK = "quick and not thorough"
"""What `make test` runs: tests that are marked `quick`. All others are run by `make test-all`, so none can be forgotten."""
THOROUGH_FIXTURES = frozenset({"postgres", "browser"})
"""Parts that take long to start: a test that asks for one is left to `make test-all`, whatever its module says."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if THOROUGH_FIXTURES.intersection(getattr(item, "fixturenames", ())) or "postgres" in item.name.partition("[")[2]:
            item.add_marker("thorough")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A module without a quick test is not even imported by `make test`."""
    if config.option.markexpr != QUICK or collection_path.suffix != ".py":
        return None
    return "pytest.mark.quick" not in collection_path.read_text(encoding="utf-8") or None
