"""What is logged: enough to follow a saga, nothing that is nobody's business, and nothing at all unless it is configured."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import typing
from pathlib import Path
from typing import Any

import pytest
import structlog

from sagagraph import Call, ContextSlice, Engine, Probe, Refused, Retry, Verdict, action
from sagagraph.errors import OperationFailedError, StoreError, SupersededError
from sagagraph.saga.core.events import Entry, Event, Fault
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.saga.stores.sqlite import SqliteSagaStore
from sagagraph.saga.telemetry.log import LINES, SagaLog
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import OperationSpec
from sagagraph.workflow.policy import CompensationPolicy
from tests.saga.service import A_DAY, Gate, Service, is_lost, quick, refuses
from tests.saga.stores.every_event import examples_of
from tests.saga.workers import OpenEngine, a_minute_ahead

from .conftest import Lines, Recorded

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[3]
SECRET = "sk-4111-1111"


async def test_a_saga_can_be_followed_from_its_lines(open_engine: OpenEngine, service: Service, lines: Lines) -> None:
    service.on("do hotel", refuses)
    async with open_engine() as engine:
        with pytest.raises(OperationFailedError):
            async with engine.saga("trip") as saga:
                await saga.run(service.action("flight"), id="out")
                await saga.run(service.action("hotel"), id="bed")
    assert [(line["level"], line["event"], line.get("operation")) for line in lines.all] == [
        ("info", "saga begun", None),
        ("debug", "operation planned", "out"),
        ("debug", "attempt started", "out"),
        ("info", "operation succeeded", "out"),
        ("debug", "operation planned", "bed"),
        ("debug", "attempt started", "bed"),
        ("warning", "operation failed", "bed"),
        ("warning", "body failed", None),
        ("warning", "saga turned back", None),
        ("debug", "compensation started", "out"),
        ("info", "operation compensated", "out"),
        ("info", "saga compensated", None),
    ]
    assert {(line["saga_id"], line["epoch"]) for line in lines.all} == {("trip", 1)}
    failed = lines.one("operation failed")
    assert failed.pop("duration_s") >= 0
    assert failed == {
        "level": "warning", "event": "operation failed", "saga_id": "trip", "epoch": 1, "operation": "bed", "action": "hotel",
        "attempt": 1, "fault": "sold_out", "via": "reply",
    }  # fmt: skip


async def test_doubt_probes_holds_and_what_is_stuck_stand_out(open_engine: OpenEngine, service: Service, lines: Lines) -> None:
    service.on("do hotel", is_lost)
    service.on("undo flight", refuses)
    flight = service.action("flight", policy=quick(compensation=CompensationPolicy(max_attempts=1)))
    hotel = service.action("hotel", probe=True, dedup=A_DAY, policy=quick(retry=Retry(max_attempts=3)))
    async with open_engine() as engine:
        with pytest.raises(ValueError, match="changed my mind"):
            async with engine.saga("trip") as saga:
                await saga.run(flight, id="out")
                await saga.run(hotel, id="bed")
                raise ValueError("changed my mind")
    levels = {line["event"]: line["level"] for line in lines.all}
    assert (
        levels.items()
        >= {
            "operation in doubt": "warning",
            "operation probed": "info",
            "operation stuck": "error",
            "saga stuck": "error",
        }.items()
    )
    assert lines.one("operation probed")["answer"] == "absent"
    assert lines.one("saga stuck")["operations"] == ["out"]
    assert [line["attempt"] for line in lines.all if line["event"] == "attempt started"] == [1, 1, 2]


async def test_takeovers_and_superseded_workers_are_told(
    open_engine: OpenEngine, journal: Path, service: Service, lines: Lines
) -> None:
    gate = Gate()
    service.on("do flight", gate)
    flight = service.action("flight", probe=True, dedup=A_DAY)

    async def body(engine: Engine) -> None:
        async with engine.saga("trip") as saga:
            await saga.run(flight)

    first_store, second_store = await SqliteSagaStore.open(journal), await SqliteSagaStore.open(journal, a_minute_ahead)
    async with open_engine(first_store) as first, open_engine(second_store) as second:
        stale = asyncio.create_task(body(first))
        await gate.arrived.wait()
        await body(second)
        gate.opened.set()
        with pytest.raises(SupersededError):
            await stale
    assert (lines.one("lease taken over")["level"], lines.one("lease taken over")["epoch"]) == ("info", 2)
    superseded = lines.one("superseded by another worker")
    assert (superseded["level"], superseded["epoch"]) == ("warning", 1)


class Outage(MemorySagaStore):
    is_down = False

    async def append(self, *arguments: Any, **named: Any) -> None:
        if self.is_down:
            raise StoreError(f"postgresql://app:{SECRET}@db/sagas: no route") from OSError(SECRET)
        await super().append(*arguments, **named)


async def test_a_lost_database_is_told_and_its_return_too(
    open_engine: OpenEngine, service: Service, lines: Lines, recorded: Recorded
) -> None:
    store = Outage()
    async with open_engine(store, tracer=recorded.tracer) as engine:
        with pytest.raises(StoreError):
            async with engine.saga("trip") as saga:
                store.is_down = True
                await saga.run(service.action("flight"))
        store.is_down = False
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
    lost = lines.one("database lost")
    assert (lost["level"], lost["error"], lost["cause"]) == ("error", "StoreError", "OSError")
    assert lines.events.index("database lost") < lines.events.index("database recovered") < lines.events.index("saga committed")
    assert SECRET not in lines.text + recorded.text()


class Leaky:
    name, version = "leaky", 1

    def validate(self, artifact: Any, _context: ContextSlice) -> Verdict:
        raise ValueError(f"cannot judge {SECRET}")


async def test_no_payload_and_no_words_of_an_exception_get_out(open_engine: OpenEngine, lines: Lines, recorded: Recorded) -> None:
    asked: list[str] = []

    async def probe(request: str, call: Call) -> Probe:
        asked.append(call.operation_id)
        if len(asked) == 1:
            raise ConnectionError(f"asking with {SECRET}")
        return Probe.absent() if len(asked) == 2 else Probe.landed({"token": SECRET})

    async def undo(request: str, result: Any, call: Call) -> dict[str, str]:
        return {"undone": SECRET}

    @action(name="lossy", compensate=undo, probe=probe, validators=[Leaky()], policy=quick(retry=Retry(max_attempts=9)))
    async def lossy(request: str, call: Call) -> Any:
        raise ConnectionError(f"https://user:{SECRET}@provider/?q={request}")

    @action(name="spilling", compensate=undo, policy=quick())
    async def spilling(request: str, call: Call) -> Any:
        return {"request": request, "token": SECRET}

    @action(name="refusing", policy=quick())
    async def refusing(request: str, call: Call) -> Any:
        raise Refused(f"{SECRET} is no valid card", code="declined")

    async with open_engine(tracer=recorded.tracer) as engine:
        with pytest.raises(ExceptionGroup) as failed:
            async with engine.saga("trip") as saga, asyncio.TaskGroup() as group:
                group.create_task(saga.run(spilling, SECRET))
                group.create_task(saga.run(lossy, SECRET))
                group.create_task(saga.run(refusing, SECRET))
        journal = repr(await engine.journal("trip"))
        await engine.cancel("trip", by="a person")
    assert failed.value.exceptions
    assert SECRET in journal, "there was something to keep quiet about"
    assert {"operation in doubt", "operation failed", "operation compensated", "operation probed"} <= set(lines.events)
    assert SECRET not in lines.text
    assert {"saga", "operation", "attempt", "probe", "compensation"} <= {span.name for span in recorded.spans}
    assert SECRET not in recorded.text()


@pytest.mark.parametrize("kind", typing.get_args(Event), ids=lambda kind: kind.__name__)
async def test_a_line_of_any_event_keeps_its_payload_and_words(
    kind: type[Any], lines: Lines, open_engine: OpenEngine, service: Service
) -> None:
    """Whatever is neither an id, a number nor a code is filled with a secret."""
    async with open_engine() as engine:
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"), id="out")
        state = await engine.load("trip")
    lines.forget()
    log = SagaLog(structlog.get_logger(), state)
    events = [_spoiled(event) for event in examples_of(kind, 3)]
    log.observe(state, [Entry(1, 1, state.begun_at + 1, event) for event in events])
    assert lines.events == [LINES[kind].words] * 3
    assert SECRET not in lines.text


_WORDS = ("request", "plan", "cost", "output", "outputs", "detail", "reason", "reasons", "cause", "alternatives", "residue")


def _spoiled(event: Any) -> Any:
    given = {name: getattr(event, name) for name in event.__annotations__}
    for name, value in given.items():
        if name in _WORDS and not (name == "request" and value is not None and isinstance(value, int)):
            given[name] = SECRET
        elif name == "fault" and value is not None:
            given[name] = Fault("code", SECRET)
        elif name in ("verdict", "verdicts"):
            given[name] = {"verdict": "UNKNOWN", "reason": SECRET} if name == "verdict" else (SECRET,)
        elif isinstance(value, OperationSpec):
            given[name] = OperationSpec("out", "flight", ActionKind.READ_ONLY, SECRET)
    return type(event)(**given)


async def test_a_log_processor_that_breaks_does_not_break_a_saga(open_engine: OpenEngine, service: Service, lines: Lines) -> None:
    def breaks(*_: Any) -> Any:
        raise BrokenPipeError

    structlog.configure(processors=[breaks])
    async with open_engine() as engine:
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
        assert (await engine.status("trip")).status == "committed"


async def test_unconfigured_it_says_nothing(open_engine: OpenEngine, service: Service, capfd: pytest.CaptureFixture[str]) -> None:
    structlog.reset_defaults()
    service.on("do flight", refuses)
    async with open_engine() as engine:
        with pytest.raises(OperationFailedError):
            async with engine.saga("trip") as saga:
                await saga.run(service.action("flight"))
    assert capfd.readouterr() == ("", "")


def test_the_example_of_the_readme_prints_its_own_output_and_does_not_even_load_structlog(tmp_path: Path) -> None:
    example = (ROOT / "README.md").read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    script = tmp_path / "example.py"
    script.write_text(example + "\nimport sys\nassert 'structlog' not in sys.modules\n", encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, script], cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=60
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines()[-1] == "compensated {}"
    assert len(ended.stdout.splitlines()) == 2


def test_every_event_has_a_line() -> None:
    assert set(LINES) == set(typing.get_args(Event))
