"""Calls the command in this process, or in one of its own, and reads what it says and leaves behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from sagagraph import cli
from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings
from tests.cli.processes import Running
from tests.support.today import TODAY
from tests.support.trips import REQUEST

BOOKINGS = ("T1", "T2", "T3", "T4", "T5")


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on standard output; anything else there is an error."""
        return json.loads(self.out)

    @property
    def complaint(self) -> str:
        """The one line of a command that could not do what it was told."""
        assert "Traceback" not in self.err
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("sagagraph: ")
        return lines[0].removeprefix("sagagraph: ")


class CommandLine:
    """Calls `sagagraph`, always with this test's store unless another one is named."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        self.folder = folder
        self.store_file = folder / "saga.db"
        self.store = f"sqlite:///{self.store_file}"
        self.provider: str = ""

    def arguments(self, *words: str | Path) -> list[str]:
        """The words of a command, with what every command of this test has in common."""
        given = [str(each) for each in words]
        common = [] if "--store" in given else ["--store", self.store]
        if self.provider and "--provider" not in given and given[0] != "db":
            common += ["--provider", self.provider]
        return [*given, *common]

    def __call__(self, *words: str | Path) -> Ended:
        """In this process."""
        return self.bare(*self.arguments(*words))

    def bare(self, *words: str | Path) -> Ended:
        """With these words and no others."""
        self._capsys.readouterr()
        self._monkeypatch.setattr(sys, "argv", ["sagagraph", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = self._capsys.readouterr()
        code = ended.value.code
        assert isinstance(code, int)
        return Ended(code, said.out, said.err)

    def spawn(self, *words: str | Path) -> Running:
        """In a process of its own."""
        return Running(self.arguments(*words), self.folder)

    def trip(self, saga_id: str = "trip", *options: str) -> Any:
        """Plans the sample trip, `--yes` and such as options, and returns what it prints."""
        return self("trip", "--request", self.request_file(), "--saga-id", saga_id, "--json", *options).json

    def request_file(self, **changes: Any) -> Path:
        """The sample trip as a file, with some of it changed."""
        file = self.folder / "request.json"
        file.write_text(json.dumps({**REQUEST, **changes}))
        return file

    def journal(self, saga_id: str) -> list[dict[str, Any]]:
        """The events of a saga's journal: `{"version", "type", "data", ...}`."""
        events: list[dict[str, Any]] = self("log", saga_id, "--json").json["events"]
        return events

    def ledger(self) -> Ledger:
        """Of the reservation service that the commands of this test call."""
        if self.provider:
            return Ledger(httpx2.get(f"{self.provider}/ledger", timeout=60).json())
        with EmbeddedSandbox(SandboxSettings(self.store_file.with_name("saga.db.sandbox"))) as running:
            return Ledger(httpx2.get(f"{running.url}/ledger", timeout=60).json())


@dataclass(frozen=True)
class Ledger:
    rows: dict[str, list[dict[str, Any]]]

    @property
    def standing(self) -> tuple[int, int]:
        """Reservations that are confirmed, and payments that are captured."""
        confirmed = [row for row in self.rows["reservations"] if row["state"] == "confirmed"]
        captured = [row for row in self.rows["payments"] if row["state"] == "captured"]
        return len(confirmed), len(captured)

    @property
    def landed(self) -> int:
        """Every call with an effect that ever landed."""
        return sum(len(self.rows[name]) for name in ("reservations", "payments", "cancellations", "refunds"))

    @property
    def repeated(self) -> list[str]:
        """What landed more than once for one operation, reservation or payment."""
        landed = [(row["saga_id"], row["operation_id"]) for row in (*self.rows["reservations"], *self.rows["payments"])]
        undone = [row["reservation_id"] for row in self.rows["cancellations"]]
        refunded = [row["payment_id"] for row in self.rows["refunds"]]
        return [str(each) for rows in (landed, undone, refunded) for each in dict.fromkeys(rows) if rows.count(each) > 1]


def spawned(*words: str | Path) -> subprocess.Popen[str]:
    """In a process of its own, started as a shell does."""
    command = [sys.executable, "-m", "sagagraph", *map(str, words)]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def ended(process: subprocess.Popen[str], timeout_s: float = 60.0) -> Ended:
    try:
        out, err = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return Ended(process.returncode, out, err)


@contextmanager
def sandbox_at(database: Path, faults: list[dict[str, Any]], **settings: Any) -> Iterator[EmbeddedSandbox]:
    file = database.with_suffix(".faults.json")
    file.write_text(json.dumps(faults))
    with EmbeddedSandbox(SandboxSettings(database, file, **{"today": TODAY, **settings})) as running:
        yield running
