from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from sagagraph.errors import InvalidInputError
from sagagraph.sandbox.settings import SandboxSettings


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"withheld": frozenset({"dedup", "coffee"})}, "--without"),
        ({"key_retention_s": 0.0}, "--key-retention"),
        ({"key_retention_s": -5.0}, "--key-retention"),
        ({"key_retention_s": float("nan")}, "--key-retention"),
        ({"key_retention_s": float("inf")}, "--key-retention"),
        ({"market": "booming"}, "--market"),
        ({"today": date(1999, 12, 31)}, "--today"),
        ({"today": date(9999, 12, 31)}, "--today"),
    ],
)
def test_settings_that_no_sandbox_can_run_with_are_refused_by_their_option(settings: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInputError) as raised:
        SandboxSettings(Path("sandbox.db"), **settings)
    assert raised.value.field == field


def test_every_guarantee_can_be_withheld() -> None:
    settings = SandboxSettings(Path("sandbox.db"), withheld=frozenset({"dedup", "void", "deadline", "refusals"}))
    assert not settings.keeps("dedup")
    assert SandboxSettings(Path("sandbox.db")).keeps("dedup")
