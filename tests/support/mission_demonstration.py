"""`make mission`: a mission offline: planned, approved, killed in the middle, gone on with, reviewed, saved, and run again."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from sagagraph import Engine

GOAL = "research EU AI Act compliance for our product"
SLOW = ("--agents", "tests.support.missions:slow_team")
_PATIENCE_S = 40.0


class Shell:
    """Runs commands on one store, each in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.store = f"sqlite:///{folder / 'missions.db'}"

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "sagagraph", "mission", *arguments, "--store", self.store, "--json"]

    def run(self, *arguments: str) -> Any:
        done = subprocess.run(self.command(*arguments), capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
        if done.returncode:
            raise SystemExit(f"mission {arguments[0]} ended with {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)

    def killed(self, *arguments: str) -> None:
        """Run a command, and kill its process as soon as the second task runs."""
        going = subprocess.Popen(self.command(*arguments), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with Engine.open(self.store) as looking:
            deadline = time.monotonic() + _PATIENCE_S
            while not any(each.id == "task-2/1" for each in looking.status("m").operations):
                if going.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit("it ended before it could be killed")
                time.sleep(0.05)
        going.send_signal(signal.SIGKILL)
        going.wait()


def told(what: str, mission: Any) -> None:
    states = " ".join(each["state"] for each in mission["tasks"])
    spent = mission["budget"]["spent_usd"]
    sys.stdout.write(f"{what}: {mission['state']} (${spent:.4f} spent, {mission['model_calls']} calls) {states}\n")
    sys.stdout.flush()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        shell = Shell(Path(folder))
        told("planned by a template", shell.run("begin", GOAL, "--budget", "2", "--mission-id", "m", *SLOW))
        shell.killed("approve", "m")
        told("approved, and killed in the middle", shell.run("status", "m"))
        told("resumed by another process", shell.run("resume", "m"))
        done = shell.run("review", "m", "accept")
        told("reviewed", done)
        routine = shell.run("routine", "m")
        again = shell.run("begin", GOAL.replace("EU AI Act", "UK AI bill"), "--mission-id", "n", "--autonomy", "full_auto", *SLOW)
        told(f"run again as “{again['template']}”, planned without a model", again)
    if (done["state"], again["state"], again["template"]) != ("completed", "completed", routine["routine"]):
        raise SystemExit("it did not end as it should")


if __name__ == "__main__":
    main()
