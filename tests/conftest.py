from __future__ import annotations

from tests.postgres import database, empty_database, postgres  # noqa: F401 - fixtures
