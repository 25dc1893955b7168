"""External validators: only what the operator allows is run, in its time; an outage is no verdict; runs keep what was said."""

from __future__ import annotations

import json
import sys
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sagagraph.cli.app import app
from sagagraph.errors import InvalidInputError
from sagagraph.harness.judging.check import RuleVerdict
from sagagraph.harness.life.records import Records
from sagagraph.harness.loop.convergence import End
from sagagraph.harness.loop.executors import scripted
from sagagraph.harness.loop.external import Validator, judged_outside, validators_of
from sagagraph.harness.loop.running import NotConvergedError, run_harness
from sagagraph.harness.proof.explain import Status, explain
from sagagraph.harness.registry.loading import harness_from, load_harness
from sagagraph.saga.engine.engine import Engine

pytestmark = pytest.mark.quick

TANK = Path(__file__).parents[2] / "sagagraph/harness/examples/stirred_tank.yaml"
MIXED, SHORT = {"speed_rpm": 120, "mixing_s": 45}, {"speed_rpm": 120, "mixing_s": 20}
SIMULATOR = "sagagraph.harness.examples.mixing:judge"


async def said(artifact: dict[str, Any], **allowed: Any) -> tuple[RuleVerdict, str]:
    validators = {"mixing": Validator.model_validate(allowed)} if allowed else {}
    found = (await judged_outside(load_harness(TANK), artifact, validators))["MIXED"]
    return found.verdict, found.reason


@pytest.mark.parametrize(
    ("artifact", "allowed", "verdict", "reason"),
    [
        (MIXED, {"python": SIMULATOR}, "PASS", "spread"),
        (SHORT, {"python": SIMULATOR}, "FAIL", "0.8648 is spread"),
        ({"speed_rpm": 120}, {"python": SIMULATOR}, "ERROR", "mixing_s is missing"),
        (MIXED, {}, "UNKNOWN", "allows no validator 'mixing'"),
        (MIXED, {"python": SIMULATOR, "version": "2"}, "UNKNOWN", "version 2 here, not 1"),
        (MIXED, {"python": "tests.harness.simulator:slow", "seconds": 1}, "UNKNOWN", "no answer in 1 s"),
        (MIXED, {"python": "tests.harness.simulator:boastful"}, "UNKNOWN", "not in the required form"),
        (MIXED, {"python": "tests.harness.simulator:dead"}, "UNKNOWN", "has failed"),
        (MIXED, {"mcp": {"command": ["/nowhere"], "tool": "mixing"}}, "UNKNOWN", "has failed"),
    ],
)
async def test_only_what_is_allowed_is_asked_and_an_outage_is_no_verdict(
    artifact: dict[str, Any], allowed: dict[str, Any], verdict: str, reason: str
) -> None:
    found = await said(artifact, **({"seconds": 30, **allowed} if allowed else {}))
    assert (found[0].value, reason in found[1]) == (verdict, True), found


@pytest.mark.skipif(find_spec("mcp") is None, reason="the optional extra 'mcp' is not installed")
async def test_a_tool_of_an_mcp_server_judges_as_the_function_does() -> None:
    server = {"command": [sys.executable, "-m", "tests.harness.simulator"], "tool": "mixing"}
    assert await said(SHORT, mcp=server, seconds=60) == (RuleVerdict.FAIL, "0.8648 is spread")


async def test_a_run_succeeds_only_if_the_validator_passes_it_and_asks_once() -> None:
    harness, today = load_harness(TANK), date(2026, 11, 23)
    answers = {f"{name}-1": {name: value} for name, value in MIXED.items()}
    async with Engine.open("memory:") as engine:
        records = Records(engine.store, harness.id)
        with pytest.raises(NotConvergedError, match="allows no validator") as stopped:
            await run_harness(engine, harness, "a", scripted(answers), records, today)
        assert stopped.value.run.end is End.UNDECIDED
        allowed = {"mixing": Validator(python=SIMULATOR, seconds=60)}
        run = await run_harness(engine, harness, "b", scripted(answers), records, today, None, allowed)
        assert (run.end, dict(run.artifact)) == (End.SUCCESS, MIXED)
        again = await run_harness(engine, harness, "b", scripted(answers), records, today)  # from the journal
        assert again.end is End.SUCCESS


def test_nothing_is_proven_about_what_is_judged_outside() -> None:
    found = explain(load_harness(TANK))
    assert (found.status, "MIXED" in found.reason, found.witness is not None) == (Status.UNDECIDED, True, True)
    clash = harness_from(TANK.read_text().replace("value: 60", "value: 0.5"))
    assert explain(clash, relax=False).status is Status.PARADOX


@pytest.mark.parametrize(
    ("configured", "said"),
    [
        ({"mixing": {"python": "os.system('true')"}}, "mixing.python"),
        ({"mixing": {}}, "needs `python` or `mcp`"),
        ({"mixing": {"python": SIMULATOR, "seconds": 0}}, "mixing.seconds"),
        ([], "must be an object"),
    ],
)
def test_a_wrong_configuration_is_refused(configured: Any, said: str, tmp_path: Path) -> None:
    path = tmp_path / "validators.json"
    path.write_text(json.dumps(configured))
    with pytest.raises(InvalidInputError, match=said):
        validators_of(str(path))


@pytest.mark.parametrize(
    ("rule", "said"),
    [("uses: mixing@1", "needs `inputs`"), ("uses: mixing@1, inputs: [y]", "y is no variable"),
     ("uses: mixing@1, inputs: [x], assertion: x < 1", "no assertion of its own")],
)  # fmt: skip
def test_a_rule_that_is_judged_outside_states_its_inputs_and_no_assertion(rule: str, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        harness_from(f"variables: {{x: {{unit: '1', domain: [0, 2]}}}}\nrules: [{{id: A, {rule}}}]")


def test_the_command_asks_whom_the_operator_allows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    artifact, configured = tmp_path / "a.json", tmp_path / "validators.json"
    artifact.write_text(json.dumps(SHORT))
    configured.write_text(json.dumps({"mixing": {"python": SIMULATOR, "seconds": 60}}))
    monkeypatch.setenv("SAGAGRAPH_HARNESS_VALIDATORS", str(configured))
    told = CliRunner().invoke(app, ["harness", "check", str(TANK), "--artifact", str(artifact), "--json"])
    assert [each["verdict"] for each in json.loads(told.stdout)["rules"]] == ["PASS", "PASS", "FAIL"]
