from __future__ import annotations

from hypothesis import settings

from tests.support.fixtures import database, empty_database, postgres  # noqa: F401 - fixtures

# The same examples in every run: what fails must be the change, not the luck. `--hypothesis-profile=default` draws others.
settings.register_profile("same", derandomize=True, database=None)
settings.load_profile("same")
