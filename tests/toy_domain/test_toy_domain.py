"""A fourth domain, in a package of its own: installed, it is found, and plans, buys, repairs, shows and cancels."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from sagagraph.saga.core.status import SagaStatus
from tests.cli.commands import Ended

pytestmark = pytest.mark.quick

HERE = Path(__file__).parent


class Installed:
    """A child process that has the package on its path, as an installer would have put it there, and runs commands."""

    def __init__(self, folder: Path) -> None:
        self.folder, site = folder, folder / "site"
        self.outbox = folder / "saga.db.outbox"
        project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
        shutil.copytree(HERE / "market", site / "market")
        about = site / f"toy_market-{project['version']}.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
        points = project["entry-points"]["sagagraph.domains"]
        lines = [f"{name} = {target}" for name, target in points.items()]
        (about / "entry_points.txt").write_text("\n".join(["[sagagraph.domains]", *lines, ""]))
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("SAGAGRAPH_")},
            "PYTHONPATH": os.pathsep.join([str(site), str(HERE.parents[1])]),
            "SAGAGRAPH_STORE": f"sqlite:///{folder / 'saga.db'}",
            "HOME": str(folder),
        }
        self._child: subprocess.Popen[str] | None = None

    def __call__(self, *words: str) -> Ended:
        if self._child is None:
            self._child = self._start("-m", "tests.toy_domain.child")
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(json.dumps(words) + "\n")
        self._child.stdin.flush()
        return Ended(*json.loads(self._child.stdout.readline()))

    def run(self, code: str) -> str:
        """What a program prints that has the package on its path."""
        return self._start("-c", code).communicate(timeout=120)[0]

    def _start(self, *words: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [sys.executable, *words], stdin=pipe, stdout=pipe, text=True, env=self._environment, cwd=self.folder
        )

    def close(self) -> None:
        if self._child is not None:
            self._child.communicate(timeout=60)

    def bought(self) -> list[tuple[str, str]]:
        sales = [json.loads(each.read_text()) for each in sorted((self.outbox / "sold").glob("*.json"))]
        return sorted((each["kind"], each["stall"]) for each in sales if not each.get("returned"))


@pytest.fixture
def installed(tmp_path: Path) -> Iterator[Installed]:
    there = Installed(tmp_path)
    yield there
    there.close()


def test_it_is_planned_bought_shown_and_cancelled(installed: Installed) -> None:
    planned = installed("begin", "market", "3 apples and 2 pears under $5", "--plan-only", "--json").json["plans"]
    assert [(each["title"], each["cost"]["total"]) for each in planned] == [("3 apples from Ann; 2 pears from Bob", 3.5)]
    done = installed("begin", "market", "3 apples and 2 pears under $5, quickly", "--saga-id", "fruit", "--yes")
    assert (done.code, done.err.strip()) == (0, "not understood: quickly")
    assert done.out.splitlines()[0] == "understood: 3 apples; 2 pears; under $5.00"
    assert done.out.splitlines()[-1] == "saga fruit: committed, 3.50 USD"
    assert installed.bought() == [("apples", "Ann"), ("pears", "Bob")]
    shown = installed("status", "fruit", "--json").json
    assert (shown["domain"], shown["status"], shown["cost"]["total"]) == ("market", "committed", 3.5)
    late = installed("change", "fruit", "3 pears", "--yes", "--json")
    assert (late.code, "what is bought stays as it is" in late.json["reason"]) == (1, True)
    gone = installed("cancel", "fruit", "--json")
    assert (gone.code, gone.json["status"], installed.bought()) == (0, "compensated", [])
    assert installed("replay", "fruit").code == 0


def test_what_is_refused_is_bought_elsewhere(installed: Installed) -> None:
    installed.outbox.mkdir()
    (installed.outbox / "closed.txt").write_text("Ann")
    waiting = installed("begin", "market", "3 apples and 1 pears", "--saga-id", "fruit")
    assert (waiting.code, waiting.out.splitlines()[-1]) == (0, "saga fruit: awaiting_approval")
    assert installed("change", "fruit", "2 pears").code == 0
    dearer = installed("approve", "fruit", "--json").json
    assert (dearer["status"], dearer["plan_version"]) == (SagaStatus.AWAITING_APPROVAL, 1)
    assert installed("approve", "fruit", "--json").json["status"] == SagaStatus.COMMITTED
    assert installed.bought() == [("apples", "Bob"), ("pears", "Bob")]


@pytest.mark.thorough
def test_it_has_its_place_on_the_command_line(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text('{"fruit": {"apples": 1}}')
    (tmp_path / "round.json").write_text('{"purchases": [{"kind": "apples", "count": 1, "stall": "Bob", "price": 0.5}]}')
    judged = installed("validate", "market", "list.json", "round.json", "--json")
    assert (judged.code, [each["code"] for each in judged.json["violations"]]) == (1, ["PRICE"])
    assert "stalls" in installed("--help").out
    assert installed("stalls").out.splitlines()[0] == "apples: Ann 0.50, Bob 0.75"
    assert installed("begin", "market", "a melon").complaint.startswith("fruit: What fruit shall it be, and how many?")
    assert "there are goals, jobshop, market, recipes, reunion, travel" in installed("begin", "moon", "a stone").complaint


def test_names_are_listed_without_loading_anything(installed: Installed) -> None:
    code = (
        "import sys; from sagagraph.registry import domain_names, entries; print(*domain_names()); entries();"
        "print([each for each in ('ortools', 'pandas', 'pydantic', 'langgraph', 'market.domain') if each in sys.modules])"
    )
    assert installed.run(code).splitlines() == ["goals jobshop market recipes reunion travel", "[]"]
