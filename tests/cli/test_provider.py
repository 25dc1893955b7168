"""The provider is part of a saga (docs/protocol.md rule 2a): killed trips are resumed where they were begun, and nowhere else.

Services and commands are processes of their own; the services' ledgers say what was booked where.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from sagagraph.domains.travel.provider.provider import HttpReservationProvider
from sagagraph.saga.core.decide.providers import origin_of
from tests.cli.commands import CommandLine, Ledger, ended, spawned
from tests.cli.test_resume import HANGS, wait_for_booking
from tests.support.today import TODAY

OpenWorld = Callable[..., "_World"]
NOTHING = (0, 0)
WHOLE_TRIP = (5, 1)


class _World:
    """A reservation service in a process of its own, on a file of its own."""

    def __init__(self, folder: Path, name: str) -> None:
        self._database, self._faults = folder / f"{name}.db", folder / f"{name}.faults.json"
        self._faults.write_text("[]")
        self.url = ""

    @contextmanager
    def served(self, *faults: dict[str, Any]) -> Iterator[str]:
        """At another address each time."""
        self._faults.write_text(json.dumps(faults))
        words = ("--port", "0", "--db", self._database, "--faults", self._faults, "--today", str(TODAY), "--json")
        process = spawned("sandbox", *words)
        assert process.stdout is not None
        said = "".join(iter(process.stdout.readline, "}\n")) + "}"
        self.url = json.loads(said)["url"]
        try:
            yield self.url
        finally:
            process.kill()  # a power cut: what hung is not carried out
            process.communicate()

    @property
    def ledger(self) -> Ledger:
        return Ledger(httpx2.get(f"{self.url}/ledger", timeout=60).json())


@pytest.fixture(params=["sqlite", "postgres"])
def on_each(command: CommandLine, request: pytest.FixtureRequest) -> CommandLine:
    if request.param == "postgres":
        command.store = request.getfixturevalue("database")
    return command


@pytest.fixture
def a(tmp_path: Path) -> _World:
    return _World(tmp_path, "a")


@pytest.fixture
def b(tmp_path: Path) -> _World:
    return _World(tmp_path, "b")


def die_after_t1(command: CommandLine, provider: str) -> None:
    """Begin a trip with this provider, whose hotels hang, and kill the command with the first flight booked."""
    words = ("trip", "--request", command.request_file(), "--saga-id", "trip", "--yes", "--provider", provider)
    running = command.spawn(*words)
    wait_for_booking(command, "trip")
    running.kill()


def test_rule_2a_a_killed_trip_is_resumed_at_its_own_provider_and_nowhere_else(
    on_each: CommandLine, a: _World, b: _World
) -> None:
    with a.served(HANGS) as where:
        die_after_t1(on_each, where)
        assert a.ledger.standing >= (1, 0)
    away = on_each("resume", "trip", "--json")
    assert (away.code, where in away.err, "saga 'trip' works with it" in away.err) == (3, True, True)
    with b.served() as elsewhere:
        refused = on_each("resume", "trip", "--provider", elsewhere, "--json")
        assert refused.code == 2
        assert where in refused.err
        assert elsewhere in refused.err
        assert (b.ledger.standing, b.ledger.landed) == (NOTHING, 0)
    with a.served() as moved:
        assert moved != where
        resumed = on_each("resume", "trip", "--provider", moved, "--same-provider", "--json")
        assert (resumed.code, resumed.json["status"]) == (0, "committed")
        assert (a.ledger.standing, a.ledger.repeated) == (WHOLE_TRIP, [])
    assert on_each.ledger().landed == 0  # of the service inside the command


def test_rule_2a_resume_without_an_option_goes_where_the_trip_was_begun(on_each: CommandLine, a: _World) -> None:
    with a.served({**HANGS, "seconds": 1}) as where:
        die_after_t1(on_each, where)
        resumed = ended(spawned(*on_each.arguments("resume", "trip", "--json")))
        assert (resumed.code, resumed.json["status"]) == (0, "committed")
        assert (a.ledger.standing, a.ledger.repeated) == (WHOLE_TRIP, [])
    assert on_each.ledger().landed == 0


@pytest.fixture
def known_by_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Services that state no id of their own."""

    async def identity(provider: HttpReservationProvider) -> str:
        return origin_of(provider.url)

    monkeypatch.setattr(HttpReservationProvider, "identity", identity)


@pytest.mark.usefixtures("known_by_address")
def test_rule_2a_a_provider_that_states_no_id_has_moved_if_a_person_says_so(command: CommandLine, a: _World) -> None:
    with a.served() as where:
        words = ("trip", "--request", command.request_file(), "--saga-id", "trip", "--provider", where, "--json")
        assert command(*words).json["provider"] == {"identity": where, "url": where}
    assert command("approve", "trip", "--json").code == 3
    with a.served() as moved:
        refused = command("approve", "trip", "--provider", moved, "--json")
        assert (refused.code, a.ledger.landed) == (2, 0)
        assert "--same-provider" in refused.json["error"]["message"]
        assert command("resume", "trip", "--provider", moved, "--same-provider").code == 0
        assert command("approve", "trip", "--json").json["status"] == "committed"
        assert a.ledger.standing == WHOLE_TRIP
    (stated,) = [each["data"] for each in command.journal("trip") if each["type"] == "SameProviderStated"]
    assert stated == {"known_provider": where, "same_provider": moved, "by": "command line"}
    with a.served() as again:
        said = command("resume", "trip", "--provider", again, "--same-provider", "--json")  # finished: nothing but the statement
        assert said.json["status"] == "committed"
        assert command("cancel", "trip", "--json").json["status"] == "compensated"
        assert (a.ledger.standing, a.ledger.repeated) == (NOTHING, [])


def test_all_open_trips_are_resumed_each_at_its_own_provider(command: CommandLine, a: _World, b: _World) -> None:
    begin = ("trip", "--request", command.request_file(), "--saga-id")
    with b.served() as away:
        assert command(*begin, "away", "--provider", away).code == 0
    with a.served({**HANGS, "seconds": 1}) as where:
        die_after_t1(command, where)
        told = command("resume", "--all", "--json")
        assert (told.code, [each["saga_id"] for each in told.json]) == (3, ["trip"])
        assert f"{away} cannot be reached" in told.err
        assert (a.ledger.standing, a.ledger.repeated) == (WHOLE_TRIP, [])
    assert command.ledger().landed == 0


def test_a_hiccup_of_seconds_is_waited_out_and_it_is_said_why(command: CommandLine, a: _World) -> None:
    """Six answers in a row are lost to an outage of some five seconds: no other flight is booked for that."""
    with a.served(*({"kind": "flight", "call": "book", "nth": n, "fault": "before"} for n in range(1, 7))) as where:
        command.provider = where
        told = command("trip", "--request", command.request_file(), "--saga-id", "trip", "--yes", "--json")
        assert (told.json["status"], told.json["plan_version"]) == ("committed", 1)
        assert "before T1 is tried again: the reservation service at" in told.err
        assert "sagagraph resume trip" in told.err
        assert (a.ledger.standing, a.ledger.repeated) == (WHOLE_TRIP, [])
