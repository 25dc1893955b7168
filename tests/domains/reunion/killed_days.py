"""Days to be killed at every boundary: while people are told their parts, told anew, or told that it is off.

`python -m sagagraph.testing tests.domains.reunion.killed_days:DAYS` sweeps them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sagagraph.domains.reunion.actions.delivery import Delivery
from sagagraph.domains.reunion.actions.outbox import Message, MessageKind, Outbox
from sagagraph.domains.reunion.domain import Reunion
from sagagraph.errors import UnknownSagaError
from sagagraph.graph.planning_graph import PlanningGraph, planning_graph
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.port import Documents
from sagagraph.saga.stores.urls import open_store
from sagagraph.testing.crash import CrashPoint
from sagagraph.testing.scenario import Judgement, store_of
from tests.domains.reunion.scripted import LATE, Script, outbox_in, request, standing

SAGA = "dinner-1"
EVERYBODY = {"Ann", "Bob", "Cleo", "Dan"}
TOLD_ANEW = {"Ann", "Bob"}
"""By the event that the script answers."""


class FragileOutbox(Outbox):
    """With a boundary between a row and its file, where only the outbox itself could be harmed."""

    def __init__(self, folder: Path, kept: Documents, crash: CrashPoint) -> None:
        inner = outbox_in(folder, kept)
        super().__init__(inner._kept, inner.folder, inner._now)
        self._crash = crash

    def write_file(self, message: Message) -> None:
        self._crash.boundary(f"before the file of {message.operation_id}")
        super().write_file(message)


@dataclass(frozen=True)
class DayScenario:
    """`event`: what happens to a day that is open; `cancels`: it is called off. Without either, the day is begun.

    `lived`: boundaries that the beginning lives through before it is killed and called off; 0: all.
    """

    name: str
    event: dict[str, Any] | None = None
    cancels: bool = False
    lived: int = 0

    @contextmanager
    def world(self, folder: Path) -> Iterator[None]:
        yield

    async def prepare(self, folder: Path) -> None:
        if self.event or self.cancels:
            async with self._opened(folder, CrashPoint(self.lived, folder / "prelude")) as (_engine, graph):
                await graph.start(SAGA, self.request(folder), approved_by="Ann")

    async def run(self, folder: Path, crash: CrashPoint) -> None:
        async with self._opened(folder, crash) as (engine, graph):
            if self.cancels:
                await engine.cancel(SAGA, by="Ann")
            elif self.event:
                await graph.change(SAGA, self.request(folder, events=[self.event]), by="Ann", approved_by="Ann")
            else:
                await graph.start(SAGA, self.request(folder), approved_by="Ann")

    async def resume(self, folder: Path) -> None:
        async with self._opened(folder, None) as (_engine, graph):
            with suppress(UnknownSagaError):
                await graph.resume(SAGA)

    async def judge(self, folder: Path) -> Judgement:
        engine = Engine(await open_store(store_of(folder)))
        try:
            saga = await engine.load(SAGA)
            status, events = (await engine.status(SAGA)).status.value, saga.request.get("events")
        except UnknownSagaError:
            status, events = "never begun", []
        outbox = outbox_in(folder, engine.store)
        messages = await outbox.messages(SAGA)
        await engine.close()
        faults = [*_faults(messages, status, heard=bool(events)), *_files_amiss(outbox, messages)]
        return Judgement(status, (*faults, *([] if faults else await self.sent_amiss(folder, status, standing(messages)))))

    def request(self, folder: Path, **more: Any) -> dict[str, Any]:
        return request(**more)

    @asynccontextmanager
    async def delivery(self, folder: Path) -> AsyncIterator[Delivery]:
        yield Delivery()

    async def sent_amiss(self, folder: Path, status: str, told: dict[str, str]) -> list[str]:
        """Return what was sent and should not stand, or the other way round. `told`: what stands in the outbox, by person."""
        return []

    @asynccontextmanager
    async def _opened(self, folder: Path, crash: CrashPoint | None) -> AsyncIterator[tuple[Engine, PlanningGraph]]:
        store = await open_store(store_of(folder))
        script = Script()
        if crash is None:
            engine, outbox = Engine(store), outbox_in(folder, store)
        else:
            fragile = crash.around_store(store)
            engine = Engine(fragile, around_call=crash.around_call, lease_ttl_s=crash.lease_ttl_s)
            outbox = FragileOutbox(folder, fragile, crash)
        async with self.delivery(folder) as delivery:
            try:
                domain = Reunion(script, outbox, script.judge, delivery)
                yield engine, planning_graph(domain=domain, engine=engine)
            finally:
                await engine.close()


def _faults(messages: tuple[Message, ...], status: str, *, heard: bool) -> Iterator[str]:
    try:
        told = standing(messages)
    except AssertionError as exc:
        yield str(exc)
        return
    if status in ("compensated", "never begun") and told:
        yield f"{status}, and {sorted(told)} still hold invitations"
    if status == "running" and set(told) != EVERYBODY:
        yield f"running, and {sorted(told)} hold invitations"
    if status == "running" and heard is not ("14:00" in told.get("Bob", "")):
        yield f"what Bob was told is stale: {told.get('Bob')}"
    invited = Counter(each.person for each in messages if each.kind == MessageKind.INVITATION)
    for person, times in invited.items():
        allowed = 2 if heard and person in TOLD_ANEW else 1
        if times > allowed:
            yield f"{person} was invited {times} times"


def _files_amiss(outbox: Outbox, messages: tuple[Message, ...]) -> Iterator[str]:
    files = set(outbox.folder.rglob("*.ics"))
    known = {outbox.file_of(each): each for each in messages}
    yield from (f"nobody posted {path.name}" for path in files - known.keys())
    for path, message in known.items():
        if path not in files or path.read_bytes().decode() != message.calendar:
            yield f"{path.name} is not what was posted"


DAYS = (
    DayScenario("begun"),
    DayScenario("an event", event=LATE),
    DayScenario("called off", cancels=True),
    DayScenario("called off half-way", cancels=True, lived=22),
)
