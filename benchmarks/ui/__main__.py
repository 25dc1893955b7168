"""`python -m benchmarks.ui`: many people at once on one server; nobody waits for another's solver, and nothing is mixed up."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from time import perf_counter, sleep

import httpx2
import psutil

from benchmarks.markdown import prose, table
from benchmarks.ui.person import API, Person, crowd
from sagagraph.domains.reunion.shipped import shipped

OUT = Path(__file__).resolve().parents[2] / "docs" / "benchmarks"
_BETWEEN_PROBES_S = 0.05
_SETTLING_S, _IDLE_S = 3.0, 10.0
_TIMES = ("first_s", "planned_s", "done_s")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ui")
    parser.add_argument("--people", type=int, default=10, help="at once, one half with trips, the other with days")
    parser.add_argument("--out", type=Path, default=OUT)
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        server, url = _started(Path(folder))
        try:
            alone = asyncio.run(_one_after_another(url, asked.people))
            together, waits = asyncio.run(_all_at_once(url, asked.people))
        finally:
            server.terminate()
            server.wait(30)
    faults = [f"{each.name}: {fault}" for each in (*alone, *together) for fault in each.faults]
    text = report(alone, together, waits, faults, starting=_starting())
    (asked.out / "ui.md").write_text(text)
    sys.stdout.write(text)
    return 1 if faults else 0


def _started(folder: Path) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-m", "sagagraph", "ui", "--port", "0", "--json", "--store", f"sqlite:///{folder / 'saga.db'}"]
    environment = {**os.environ, "SAGAGRAPH_TODAY": "2025-03-01"}  # people ask for trips of that year
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)  # noqa: S603 - our own command
    if server.stdout is None:
        raise AssertionError("it was opened with a pipe")
    told = ""
    while not told.rstrip().endswith("}"):
        line = server.stdout.readline()
        if not line:
            raise RuntimeError("the server does not start")
        told += line
    return server, json.loads(told)["url"]


def _people(size: int) -> list[Person]:
    return crowd(size, lambda name: shipped(name).model_dump(mode="json"))


async def _one_after_another(url: str, size: int) -> list[Person]:
    people = _people(size)
    for each in people:
        await each.live(url, perf_counter)
    return people


async def _all_at_once(url: str, size: int) -> tuple[list[Person], list[float]]:
    """Also how long somebody waits meanwhile who only looks at a list: whatever holds the server up, holds that up."""
    people, waits = _people(size), list[float]()
    probing = asyncio.create_task(_probe(url, waits))
    await asyncio.gather(*(each.live(url, perf_counter) for each in people))
    probing.cancel()
    return people, waits


async def _probe(url: str, waits: list[float]) -> None:
    async with httpx2.AsyncClient(base_url=url + API, timeout=120) as browser:
        while True:
            began = perf_counter()
            await browser.get("/sagas")
            waits.append(perf_counter() - began)
            await asyncio.sleep(_BETWEEN_PROBES_S)


def _starting() -> tuple[float, float, float, float, float]:
    """Medians of three in turn: seconds to `import gradio, langgraph`, until the app can be reached, and until its page is there;
    the megabytes that the server then has, without its planners; and its share of a core while nobody uses it.
    """
    bare, app, pages, memory, idle = [], [], [], [], []
    for _turn in range(3):
        began = perf_counter()
        subprocess.run([sys.executable, "-c", "import gradio, langgraph.graph"], check=True)
        bare.append(perf_counter() - began)
        with tempfile.TemporaryDirectory() as folder:
            began = perf_counter()
            server, url = _started(Path(folder))
            app.append(perf_counter() - began)
            httpx2.get(f"{url}/", timeout=60).raise_for_status()
            pages.append(perf_counter() - began)
            process = psutil.Process(server.pid)
            memory.append(process.memory_full_info().pss / 2**20)
            sleep(_SETTLING_S)
            before = process.cpu_times()
            sleep(_IDLE_S)
            after = process.cpu_times()
            idle.append((after.user + after.system - before.user - before.system) / _IDLE_S)
            server.terminate()
            server.wait(30)
    return median(bare), median(app), median(pages), median(memory), median(idle)


def report(
    alone: list[Person],
    together: list[Person],
    waits: list[float],
    faults: list[str],
    *,
    starting: tuple[float, float, float, float, float],
) -> str:
    heads = ("who", "first plan alone, s", "at once", "best plan alone, s", "at once", "done alone, s", "at once")
    rows = [
        (one.name.split(": ")[1], *(_s(getattr(each, name)) for name in _TIMES for each in (one, both)))
        for one, both in zip(alone, together, strict=True)
    ]
    firsts = [[each.first_s for each in people] for people in (alone, together)]
    parts = ["# Many people at once on one server of the app", _opening(len(together)), table(heads, rows)]
    parts += [_on_first_plans(*firsts), _on_waiting(waits)]
    parts += [f"Faults (errors, another's plan, another's saga in a list, a wrong end): {len(faults)}."]
    parts += ["\n".join(f"- {each}" for each in faults)] if faults else []
    return "\n\n".join([*parts, "## Starting", _on_starting(*starting)]) + "\n"


def _opening(size: int) -> str:
    return prose(
        f"Written by `make bench-ui`. {size} people, each with a browser's cookie of their own, use one server over REST:",
        "one half plans and books trips, the other plans days with the solver and tells everybody their part. First one after",
        "another, then all at once.",
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the end, with other work on the machine.",
    )


def _on_first_plans(alone: list[float], together: list[float]) -> str:
    return prose(
        "A first plan can be looked at, and taken, while a better one is still sought. Until there is one it takes",
        f"{max(alone):.1f} s at most for one person alone (the goal is 3), and {median(together):.1f} s in the median for all at",
        f"once (6), at most {max(together):.1f}.",
    )


def _on_waiting(waits: list[float]) -> str:
    ordered = sorted(waits)
    middle, most, last = (ordered[int((len(ordered) - 1) * share)] * 1000 for share in (0.5, 0.95, 1.0))
    return prose(
        f"Meanwhile somebody who only looks at the list of their sagas waited, in ms ({len(waits)} times): median",
        f"{middle:.0f}, 95 % {most:.0f}, at most {last:.0f}. What holds the server up holds that up. Planners are processes of",
        "their own, and nobody waits in line for them; what all share is the machine's cores and its disk.",
    )


def _on_starting(bare: float, app: float, page: float, memory_mb: float, idle: float) -> str:
    return prose(
        f"Median of three, in turn: `import gradio, langgraph` {bare:.1f} s; `sagagraph ui` until it can be reached {app:.1f} s,",
        f"until its page is there {page:.1f} s. Then it has {memory_mb:.0f} MB, without its planners; while nobody uses it,",
        f"it takes {100 * idle:.1f} % of a core.",
    )


def _s(seconds: float) -> str:
    return f"{seconds:.1f}"


if __name__ == "__main__":
    sys.exit(main())
