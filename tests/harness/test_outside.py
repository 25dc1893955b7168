"""Harnesses from outside: what the commands answer about files of many kinds whose conflicts are known."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from sagagraph.cli.app import app

KNOWN: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "outside.yaml").read_text(encoding="utf-8"))


def asked(*arguments: str) -> dict[str, Any]:
    result = CliRunner().invoke(app, ["harness", *arguments, "--json"])
    assert result.stdout, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", KNOWN)
def test_a_file_is_decided_and_its_conflicts_and_moves_are_the_known_ones(name: str, tmp_path: Path) -> None:
    known = copy.deepcopy(KNOWN[name])
    document = known["file"]
    document["variables"] |= known.get("patch", {})
    path = tmp_path / "h.yaml"
    path.write_text(yaml.safe_dump(document))
    found = asked("explain", str(path))
    if "witness" in known:
        assert found["status"] == "satisfiable", found["reason"]
        artifact = tmp_path / "a.json"
        artifact.write_text(json.dumps(found["witness"]))
        assert asked("check", str(path), "--artifact", str(artifact))["verdict"] == "PASS"
        if isinstance(known["witness"], dict):
            assert found["witness"] == known["witness"]
        return
    assert found["status"] == "paradox", found["reason"]
    assert {frozenset(each) for each in found["conflicts"]} == {frozenset(each) for each in known["conflicts"]}
    proof = tmp_path / "proof.json"
    proof.write_text(json.dumps(found))
    assert asked("replay", str(path), str(proof))["accepted"]
    moves = {each["parameter"]: each["to"] for each in found["relaxations"] if "parameter" in each}
    assert moves == pytest.approx(known.get("moves", moves), rel=1e-7)
    for parameter, to in moves.items():
        document["variables"][parameter]["value"] = to
        path.write_text(yaml.safe_dump(document))
        assert asked("explain", str(path))["status"] == "satisfiable"
        document["variables"][parameter]["value"] = KNOWN[name]["file"]["variables"][parameter]["value"]
