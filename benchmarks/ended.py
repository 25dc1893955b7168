"""What is asked of a store, beside 100 to 100,000 sagas that have ended: what costs more the more there are?

`python -m benchmarks.ended` measures it, and writes docs/benchmarks/ended.md and a plot.
"""

from __future__ import annotations

import asyncio
import math
import statistics
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter

from matplotlib import pyplot as plt

from benchmarks.markdown import prose, table
from benchmarks.plots import log_log, save
from sagagraph import Engine
from sagagraph.saga.core.events import Driver, Entry, Event, SagaBegun, SagaCommitted
from sagagraph.saga.core.state import Stage
from sagagraph.saga.engine.holder import SagaHolder
from sagagraph.saga.stores import statements as sql
from sagagraph.saga.stores.rows import row_of
from sagagraph.saga.stores.sqlite import SqliteSagaStore

OUT = Path(__file__).resolve().parents[1] / "docs" / "benchmarks"
SIZES = (100, 1_000, 10_000, 100_000)
_OPEN = 10
_PAGE = 100
_ROUNDS = 9
_EVERYTHING = "all headlines"

Ask = Callable[[Engine], Awaitable[object]]
QUESTIONS: dict[str, Ask] = {
    "what is open (`resume --all`, the app's start)": lambda engine: engine.open_sagas(),
    "a page of the list (`status`)": lambda engine: _page(engine),
    "one visitor's list (the app)": lambda engine: engine.sagas(prefix="ann-"),
    "one saga's journal (`status SAGA`)": lambda engine: engine.load("ended-7"),
    _EVERYTHING: lambda engine: engine.sagas(),
}


async def _page(engine: Engine) -> None:
    for each in await engine.sagas(most=_PAGE + 1):
        await engine.load(each.saga_id)


async def measure() -> dict[str, list[float]]:
    """Return seconds for each question and size: the median of some rounds."""
    found: dict[str, list[float]] = {name: [] for name in QUESTIONS}
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            url = f"sqlite:///{folder}/store.db"
            async with Engine.open(url) as engine:
                fill(engine, size)
                for name, ask in QUESTIONS.items():
                    found[name].append(statistics.median([await _seconds(engine, ask) for _round in range(_ROUNDS)]))
    return found


async def _seconds(engine: Engine, ask: Ask) -> float:
    begun = perf_counter()
    await ask(engine)
    return perf_counter() - begun


def fill(engine: SagaHolder, ended: int) -> None:
    """Write the rows of sagas that have ended, as the store would have, and of ten that have not."""
    store = engine.store
    if not isinstance(store, SqliteSagaStore):
        raise TypeError("a SQLite file is filled")
    sagas = [(f"ended-{number}", Stage.COMMITTED) for number in range(ended)]
    sagas += [(f"ann-{number}", Stage.RUNNING) for number in range(_OPEN)]
    events, heads = [], []
    for at, (name, stage) in enumerate(sagas):
        said: list[Event] = [SagaBegun(Driver.BODY, "", None), *([SagaCommitted()] if stage is Stage.COMMITTED else [])]
        events += [(name, *row_of(name, Entry(version, 1, float(at), each))) for version, each in enumerate(said, 1)]
        heads.append((name, "", stage.value, 1, len(said), None, 0.0, float(at), float(at)))
    connection = store._connection
    connection.execute("BEGIN")
    marks = ", ".join("?" * len(sql.HEAD_COLUMNS.split(", ")))
    connection.executemany(f"INSERT INTO sagas ({sql.HEAD_COLUMNS}) VALUES ({marks})", heads)  # noqa: S608 - our own text
    connection.executemany(sql.INSERT_EVENT, events)
    connection.execute("COMMIT")


def exponent(seconds: list[float]) -> float:
    """Return the slope of log(seconds) over log(size), by least squares."""
    return statistics.linear_regression([math.log(each) for each in SIZES], [math.log(each) for each in seconds]).slope


def report(found: dict[str, list[float]]) -> str:
    rows = [[name, *(f"{each * 1000:.2f}" for each in taken), f"{exponent(taken):.2f}"] for name, taken in found.items()]
    return "\n".join(
        [
            "# Beside sagas that have ended",
            "",
            prose(
                "Written by `python -m benchmarks.ended`; do not edit it. Ten sagas are open on a SQLite file, beside as many",
                f"that have ended as a column says. Milliseconds, the median of {_ROUNDS} rounds; the last column is the",
                "slope of a line through the logarithms: 0 does not grow, 1 grows with their number.",
            ),
            "",
            "![Milliseconds, by the number of sagas that have ended](ended.svg)",
            "",
            table(["", *(f"{each:,}" for each in SIZES), "exponent"], rows),
            "",
            prose(
                "What is open is found by an index that has nothing else in it, a page by an index of beginnings. One visitor's",
                "list compares the beginning of every id, within the database. All headlines are what they are; only",
                "retirement by age, the projections and programs that ask for them read them.",
            ),
            "",
        ]
    )


def draw(found: dict[str, list[float]]) -> None:
    figure, axes = plt.subplots(figsize=(7, 4))
    for name, taken in found.items():
        axes.plot(SIZES, [each * 1000 for each in taken], marker="o", label=name.replace("`", ""))
    log_log(axes)
    axes.set_xlabel("sagas that have ended")
    axes.set_ylabel("ms")
    axes.legend(frameon=False, fontsize=8)
    save(figure, OUT / "ended.svg")


def main() -> None:
    found = asyncio.run(measure())
    (OUT / "ended.md").write_text(report(found))
    draw(found)
    sys.stdout.write(report(found))


if __name__ == "__main__":
    main()
