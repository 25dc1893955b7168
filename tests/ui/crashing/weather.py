"""One round: visitors, servers on one store that are harmed at drawn moments, a last start, and the judgement."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

import httpx2

from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings
from sagagraph.testing.databases import Databases, memory_folder
from sagagraph.ui.server.routes.api import PREFIX
from tests.support.today import TODAY
from tests.ui.crashing.judge import AT_REST, Books, Family, judge
from tests.ui.crashing.visitor import Person
from tests.ui.nursery import Nursery, Victim

HARM_EVERY_S: Final = (0.3, 2.0)
"""Of each server, from when it listens."""
_STOPPED_S: Final = (0.2, 6.0)
"""Before it is killed or goes on; a lease lasts for four."""
_MOST_BOUNDARIES: Final = 80
_CALM_S: Final = 60.0
_TICK_S: Final = 0.05
_TRACE: Final = re.compile(r"Traceback|ERROR(?!.*timeout graceful shutdown exceeded)|CRITICAL|was never (?:awaited|retrieved)")
"""Of what servers write. That connections were open when it was told to end is no fault of it."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a round draws from. `withheld`: guarantees that the reservation service does not keep to."""

    seed: str
    visitors: int
    servers: int
    acts: int
    withheld: frozenset[str] = frozenset()
    kills_after_answers: float = 0.15


@dataclass(slots=True)
class Round:
    forecast: Forecast
    seconds: float = 0.0
    harms: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


class Fleet:
    """The servers of a round, each on the same store. As what visitors know: some address, which may be dead by now."""

    def __init__(self, nursery: Nursery, forecast: Forecast, store: str, sandbox: str, folder: Path) -> None:
        self.sandbox = sandbox
        self.harms: Counter[str] = Counter()
        self._nursery = nursery
        self._random = Random(f"{forecast.seed} fleet")
        self._size = forecast.servers
        self._store = store
        self._folder = folder
        self._begun = 0
        self._living: list[Victim] = []
        self._keepers: list[asyncio.Task[None]] = []

    # -- for visitors --------------------------------------------------------------------------------------------------

    def some(self, random: Random) -> str | None:
        there = [each.url for each in self._living if each.url]
        return random.choice(there) if there else None

    def kill(self, url: str, why: str) -> None:
        for each in self._living:
            if each.url == url and each.is_alive:
                each.signal(signal.SIGKILL)
                self.harms[f"killed {why.partition(' to ')[0]}"] += 1

    # -- harm ----------------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        self._keepers = [asyncio.create_task(self._keep_one(Random(f"{self._random.random()}"))) for _ in range(self._size)]

    async def end(self) -> None:
        for each in self._keepers:
            each.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        for each in self._living:
            each.signal(signal.SIGKILL)
            await each.ends()
        self._living.clear()

    async def steady(self) -> Victim:
        """The last one, that nobody harms."""
        victim = self._new(0, freezes=False)
        if not await victim.listens():
            raise AssertionError("the last server does not start")
        return victim

    async def _keep_one(self, random: Random) -> None:
        while True:
            by_boundary = random.random() < 0.5
            victim = self._new(random.randint(1, _MOST_BOUNDARIES) if by_boundary else 0, freezes=random.random() < 0.3)
            try:
                await self._live_and_die(victim, random, by_boundary=by_boundary)
            finally:
                victim.signal(signal.SIGKILL)
                await victim.ends()
                self._living.remove(victim)

    async def _live_and_die(self, victim: Victim, random: Random, *, by_boundary: bool) -> None:
        await victim.listens(10.0)
        if by_boundary:
            if not await victim.ends(random.uniform(1.0, 5.0)):
                self.harms["killed after a while"] += 1
                return
            self.harms["killed at a boundary"] += 1
            return
        if await victim.ends(random.uniform(*HARM_EVERY_S)):
            return  # a visitor was faster
        match random.choice(("kill", "stop", "stop and go on", "term")):
            case "kill":
                self.harms["killed"] += 1
            case "term":
                victim.signal(signal.SIGTERM)
                self.harms["terminated" if await victim.ends(20.0) else "killed, for it did not end when told to"] += 1
            case stopping:
                victim.signal(signal.SIGSTOP)
                await asyncio.sleep(random.uniform(*_STOPPED_S))
                if stopping == "stop":
                    self.harms["killed while stopped"] += 1
                    return
                victim.signal(signal.SIGCONT)
                self.harms["stopped, and went on"] += 1
                await victim.ends(random.uniform(*HARM_EVERY_S))
                self.harms["killed"] += 1

    def _new(self, harm_at: int, *, freezes: bool) -> Victim:
        self._begun += 1
        log = self._folder / f"server-{self._begun}.log"
        victim = self._nursery.server(self._store, log, "--provider", self.sandbox, harm_at=harm_at, freezes=freezes)
        self._living.append(victim)
        return victim

    def complaints(self) -> list[str]:
        """What servers wrote that speaks of a fault of theirs."""
        return [
            f"{log.name}: {log.read_text()[-2500:]}"
            for log in sorted(self._folder.glob("server-*.log"))
            if _TRACE.search(log.read_text())
        ]


async def weather(nursery: Nursery, databases: Databases, forecast: Forecast) -> Round:
    began = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="sagagraph-ui-", dir=memory_folder()) as name,
        databases.fresh(Path(name)) as store,
        EmbeddedSandbox(SandboxSettings(Path(name) / "sandbox.db", today=TODAY, withheld=forecast.withheld)) as sandbox,
    ):
        fleet = Fleet(nursery, forecast, store, sandbox.url, Path(name))
        people = [_person(forecast, number, fleet) for number in range(forecast.visitors)]
        fleet.begin()
        try:
            meeting = asyncio.create_task(_introduce(people))
            await asyncio.gather(*(each.live() for each in people))
            meeting.cancel()
        finally:
            await fleet.end()
        done = Round(forecast, harms=fleet.harms)
        await _judged(done, people, fleet, store)
        done.faults += fleet.complaints()
    for each in people:
        done.answers += each.answers
        done.faults += each.faults
    done.seconds = round(time.monotonic() - began, 1)
    return done


def _person(forecast: Forecast, number: int, fleet: Fleet) -> Person:
    random = Random(f"{forecast.seed} visitor {number}")
    token = f"{forecast.seed}-{number}".replace(" ", "-").ljust(32, "x")
    return Person(f"visitor {number}", token, random, fleet, forecast.acts, forecast.kills_after_answers)


async def _introduce(people: list[Person]) -> None:
    """Everybody learns the ids of everybody else's sagas."""
    while True:
        for each in people:
            each.strangers = [saga_id for other in people if other is not each for saga_id in other.own]
        await asyncio.sleep(_TICK_S)


async def _judged(done: Round, people: list[Person], fleet: Fleet, store: str) -> None:
    """After a last start, and when all is quiet: nobody asks for anything any more."""
    last = await fleet.steady()
    async with httpx2.AsyncClient(timeout=30, trust_env=False) as asking:
        families = {each.name: await _calm(each, last.url, done) for each in people}
        ledger = (await asking.get(f"{fleet.sandbox}/ledger")).json()
        books = await Books.read(ledger, store, (family for found in families.values() for family in found))
    last.signal(signal.SIGTERM)
    if not await last.ends():
        done.faults.append("the last server does not end when it is told to")
        last.signal(signal.SIGKILL)
    for each in people:
        done.faults += judge(each, families[each.name], books)
        done.ends += Counter(family.status for family in families[each.name])
    known = {saga_id for found in families.values() for family in found for saga_id in family.journals}
    if foreign := {each["saga_id"] for each in books.ledger["reservations"]} - known:
        done.faults.append(f"somebody booked for {foreign}, which nobody has")


async def _calm(person: Person, url: str, done: Round) -> list[Family]:
    """All sagas of one visitor, once they are at rest."""
    async with person.browser() as browser:
        give_up_at = time.monotonic() + _CALM_S
        while True:
            listed = (await browser.get(f"{url}{PREFIX}/sagas")).json()["sagas"]
            names = [each["saga_id"] for each in listed]
            found = [(await browser.get(f"{url}{PREFIX}/sagas/{name}")).json() for name in names if "~" not in name]
            if all(_is_at_rest(each) for each in found) or time.monotonic() > give_up_at:
                break
            await asyncio.sleep(0.1)
        done.faults += [f"{each['saga_id']} shows a problem at the end: {each['problem']}" for each in found if each["problem"]]
        if strange := [each for each in names if not person.visitor.owns(each)]:
            done.faults.append(f"{person.name} sees {strange}")
        if lost := [each for each in person.own if each not in names]:
            done.faults.append(f"{person.name} lost {lost}")
        logs = {name: (await browser.get(f"{url}{PREFIX}/sagas/{name}/log")).json()["events"] for name in names}
    for name, events in logs.items():
        person.check_journal(name, events)
    return [Family(each, {name: logs[name] for name in names if _belongs(name, each["saga_id"])}) for each in found]


def _is_at_rest(standing: dict[str, Any]) -> bool:
    resting = AT_REST | ({"running"} if standing["domain"] == "reunion" else set())
    return not standing["is_busy"] and standing["status"] in resting


def _belongs(name: str, saga_id: str) -> bool:
    return name == saga_id or name.startswith(f"{saga_id}~")


def keep_beside(folder: Path) -> None:
    """What stands beside a store that is no file goes there, and not into the user's folders."""
    os.environ["XDG_DATA_HOME"] = str(folder)
