from __future__ import annotations

import pytest
from hypothesis import settings

from tests.support.fixtures import database, empty_database, postgres  # noqa: F401 - fixtures

# The same examples in every run: what fails must be the change, not the luck. `--hypothesis-profile=default` draws others.
settings.register_profile("same", derandomize=True, database=None)
settings.load_profile("same")

THOROUGH_FIXTURES = frozenset({"postgres", "browser", "sweeps"})
"""Parts that take long to start, or that not every machine has: a test that asks for one is left to `make test-all`."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if THOROUGH_FIXTURES.intersection(getattr(item, "fixturenames", ())):
            item.add_marker("thorough")
