from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator
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


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None]:
    """Mark what is thorough, and what is left to `make proof`.

    `SAGAGRAPH_SLICE=2/6`: of the tests that are selected, only the second of every six is run.
    """
    turns = Counter[str]()
    for item in items:
        if (each := item.get_closest_marker("sampled")) is not None:
            case = item.nodeid.partition("[")[0]
            if turns[case] % each.args[0]:
                item.add_marker("proof")
            turns[case] += 1
        if THOROUGH_FIXTURES.intersection(getattr(item, "fixturenames", ())) or "postgres" in item.name.partition("[")[2]:
            item.add_marker("thorough")
    yield  # others select
    number, _, slices = os.environ.get("SAGAGRAPH_SLICE", "1/1").partition("/")
    items[:] = items[int(number) - 1 :: int(slices)]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A module without a quick test is not even imported by `make test`."""
    if config.option.markexpr != QUICK or collection_path.suffix != ".py":
        return None
    return "pytest.mark.quick" not in collection_path.read_text(encoding="utf-8") or None
