from __future__ import annotations

from tests.graph.sagas.conftest import engine, ledger  # noqa: F401 - fixtures
