"""The import contracts: each of them sees an import that breaks it, and no room of the saga or of the graph has a circle."""

from __future__ import annotations

import configparser
import os
import shutil
import subprocess
import sys
from pathlib import Path

import grimp
import networkx as nx
import pytest

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parent.parent
CONTRACT = "importlinter:contract:"

STRAY = "a_room_in_no_layer"
PLANTED: dict[str, dict[str, str]] = {
    "layers": {"workflow": "sagagraph.cli", "saga/engine": "sagagraph.fleet.port", STRAY: "sagagraph.errors"},
    "scheduler": {"saga/engine": "temporalio.client"},
    "saga-layers": {"saga/core": "sagagraph.saga.stores.port", "saga/telemetry": "sagagraph.saga.engine.call"},
    "pure-core": {"saga/core": "time", "workflow": "sagagraph.validators.protocol"},
    "mission-core": {"coordination/core": "time"},
    "validators": {"validators": "sagagraph.planning.domain", "domains/travel/rules": "ortools"},
    "harness": {"harness/proof": "time", "harness/judging": "sagagraph.saga.core.events"},
    "planners": {"domains/travel/planning": "sagagraph.domains.travel.rules.validator"},
    "plug-ins": {"planning": "sagagraph.domains.travel.request"},
    "rooms": {"domains/travel/rules": "sagagraph.graph.running.run"},
    "siblings": {"domains/travel": "sagagraph.domains.reunion.request"},
    "langgraph": {"planning": "langgraph.graph"},
    "models": {"saga/engine": "openai"},
    "pages": {"domains/travel": "gradio"},
    "sql": {"planning": "sqlite3"},
    "projections": {"saga/engine": "sagagraph.saga.stores.projections.projector"},
    "sandbox": {"sandbox": "sagagraph.saga.core.events"},
    "doors": {"planning": "sagagraph.sandbox"},
}
"""Contract → folder → what a module in it imports that it must not. `workflow` reaches asyncio through a validator's protocol."""


@pytest.fixture(scope="module")
def complaints(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What lint-imports says of a copy of the package in which all of these are planted."""
    copy = tmp_path_factory.mktemp("contracts")
    shutil.copy(ROOT / ".importlinter", copy)
    shutil.copytree(ROOT / "sagagraph", copy / "sagagraph", ignore=shutil.ignore_patterns("__pycache__"))
    for contract, plants in PLANTED.items():
        for folder, imported in plants.items():
            path = copy / "sagagraph" / folder
            path.mkdir(exist_ok=True)
            (path / "__init__.py").touch()
            (path / f"{_planted(contract)}.py").write_text(f"def later() -> None:\n    import {imported}\n")
    said = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()", "--no-cache"],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": str(copy), "COLUMNS": "1000", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 1, said.stdout + said.stderr
    return said.stdout.partition("Broken contracts")[2]


@pytest.mark.parametrize("contract", PLANTED)
def test_a_contract_sees_an_import_that_breaks_it(contract: str, complaints: str) -> None:
    name = _names()[contract]
    of_this = complaints.partition(f"\n{name}\n---")[2].partition("\n---")[0]
    for folder in PLANTED[contract]:
        module = f"{folder.replace('/', '.')}.{_planted(contract)}"
        assert (folder if folder == STRAY else module) in of_this, of_this


def test_each_contract_has_its_breach() -> None:
    assert PLANTED.keys() == _names().keys()


def test_contracts_name_folders() -> None:
    """Or rooms of a single file, on the first level."""
    settings = configparser.ConfigParser()
    settings.read(ROOT / ".importlinter")
    listed = "\n".join(value for each in settings.sections() for key, value in settings[each].items() if key.endswith("modules"))
    assert [each for each in listed.split() if each.count(".") > 1 and _is_file(each)] == []


@pytest.mark.parametrize("room", ["sagagraph.saga", "sagagraph.graph"])
def test_no_room_imports_in_a_circle(room: str) -> None:
    """Not for types only, either, and not inside a function."""
    graph = grimp.build_graph("sagagraph", cache_dir=None)
    inside = {each for each in graph.modules if each.startswith(f"{room}.")}
    imports = nx.DiGraph((each, other) for each in inside for other in graph.find_modules_directly_imported_by(each) & inside)
    assert [sorted(circle) for circle in nx.strongly_connected_components(imports) if len(circle) > 1] == []


def _planted(contract: str) -> str:
    return f"planted_{contract.replace('-', '_')}"


def _names() -> dict[str, str]:
    """Contract → the name that it is reported by."""
    settings = configparser.ConfigParser()
    settings.read(ROOT / ".importlinter")
    return {each.removeprefix(CONTRACT): settings[each]["name"] for each in settings.sections() if each.startswith(CONTRACT)}


def _is_file(module: str) -> bool:
    return (ROOT / f"{module.replace('.', '/')}.py").exists()
