"""The benchmarks run, in their quick form: no time is held against anything here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import main
from benchmarks.field import Contender, ContenderError


def test_the_quick_form_measures_everybody_and_writes_its_report(tmp_path: Path) -> None:
    main(["--quick", "--only", "cost", "growth", "--stores", "sqlite", "--folder", str(tmp_path), "--out", str(tmp_path / "out")])
    assert [each.name for each in tmp_path.iterdir()] == ["out"], "databases are removed"
    found = json.loads((tmp_path / "out" / "results.json").read_text())
    check_everybody_took_part(found)
    check_every_saga_came_to_its_end(found)
    check_the_report_has_its_figures_and_plots(tmp_path / "out")


def check_everybody_took_part(found: dict[str, Any]) -> None:
    assert found["skipped"] == []
    seen = found["cost"]["stores"]["sqlite"]
    names = {"shared", "alone", "parallel", "langgraph", "langgraph-parallel", "dbos", "dbos-async", "dbos-parallel"}
    assert set(seen) == names
    assert all(figures for case in seen.values() for figures in case.values())
    assert all(figure > 0 for case in seen.values() for figures in case.values() for figure in figures)


def check_every_saga_came_to_its_end(found: dict[str, Any]) -> None:
    assert [(each["asked"], each["done"]) for each in found["growth"]["sagagraph"]] == [(20, 20), (100, 100)]


def check_the_report_has_its_figures_and_plots(report: Path) -> None:
    text = (report / "README.md").read_text()
    assert "| k, in parallel | SQLite | ≤ 0.25 |" in text
    for name in ("cost.svg", "growth.svg"):
        assert f"({name})" in text
        assert (report / name).read_text().startswith("<?xml")


async def test_a_contender_that_cannot_open_says_why(tmp_path: Path) -> None:
    with pytest.raises(ContenderError, match="InvalidInputError"):
        await Contender.start("sagagraph", f"nonsense:{tmp_path}")


async def test_a_command_that_fails_or_takes_too_long_is_an_error(tmp_path: Path) -> None:
    floor = await Contender.start("floor", f"sqlite:///{tmp_path / 'floor.db'}")
    try:
        with pytest.raises(ContenderError, match="TypeError"):
            await floor.ask("commits", within_s=30.0, nonsense=1)
        with pytest.raises(ContenderError, match="no answer"):
            await floor.ask("commits", within_s=0.001, count=1000, size=10)
    finally:
        await floor.stop()
