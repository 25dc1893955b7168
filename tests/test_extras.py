"""A missing extra is named, with the command that installs it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sagagraph.errors import MissingExtraError
from sagagraph.extras import needing, require


def test_a_missing_module_names_the_command_that_installs_it() -> None:
    with pytest.raises(
        MissingExtraError, match=r"no_such_module is not installed; .*pip install 'sagagraph\[travel\]'"
    ) as raised:
        require("json", "no_such_module", extra="travel")
    assert raised.value.exit_code == 2
    with pytest.raises(MissingExtraError, match=r"sagagraph\[ui\]"), needing("ui"):
        import no_such_module.part  # type: ignore[import-not-found]  # noqa: F401


def test_a_module_of_our_own_that_is_missing_is_no_extra() -> None:
    with pytest.raises(ModuleNotFoundError), needing("ui"):
        import sagagraph.no_such_module  # type: ignore[import-not-found]  # noqa: F401


def test_workers_need_neither_temporal_nor_a_page_of_metrics() -> None:
    """What the built-in workers import works where those extras are not installed; what needs them says so."""
    code = """
import sys
for name in ("temporalio", "prometheus_client"):
    sys.modules[name] = None
import sagagraph, sagagraph.cli.app, sagagraph.fleet.store_fleet, sagagraph.cli.operating.fleet as fleet
from sagagraph.errors import MissingExtraError
import asyncio
for job in (fleet.Work(temporal="127.0.0.1:9"), fleet.Work(health_port=0)):
    try:
        asyncio.run(fleet.work(fleet.Options("memory:"), job))
    except MissingExtraError as exc:
        print(exc)
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "sagagraph[temporal]" in told
    assert "sagagraph[fleet]" in told
