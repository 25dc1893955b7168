"""`python -m benchmarks.context`: choose slices after 10 to 10,000 operations; write docs/benchmarks/context.md and a plot."""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib import pyplot as plt

from benchmarks.context.histories import LAST, SHAPES, Counting, folded, history
from benchmarks.markdown import prose, table
from benchmarks.plots import log_log, save
from sagagraph.context.selector import Need, context_of
from sagagraph.context.slice import DEFAULT_BUDGET_TOKENS, tokens_of
from sagagraph.saga.engine.calling.validation import SagaSource

OUT = Path(__file__).resolve().parents[2] / "docs" / "benchmarks"
SIZES = (10, 100, 1_000, 10_000)
NEED = Need(wishes=("budget", "stars"))


@dataclass(frozen=True, slots=True)
class Row:
    """`whole_tokens`: of all outputs, what a validator would be shown that takes the whole memory."""

    shape: str
    operations: int
    tokens: int
    visited: int
    slice_ms: float
    whole_tokens: int


def measured(shape: str, operations: int, runs: int) -> Row:
    saga = folded(history(shape, operations))
    counting = Counting(SagaSource(saga))
    tokens = context_of(counting, LAST, NEED).tokens
    took = statistics.median(_seconds(SagaSource(saga)) for _ in range(runs))
    whole = tokens_of(dict(saga.outputs))
    return Row(shape, operations, tokens, counting.asked["visited"], took * 1000, whole)


def _seconds(source: SagaSource) -> float:
    begun = time.perf_counter()
    context_of(source, LAST, NEED)
    return time.perf_counter() - begun


def _report(rows: Sequence[Row]) -> Iterator[str]:
    yield "# Slices of context after long histories\n"
    yield prose(
        "What one validator is shown of a saga, and what it takes to choose it, as the history behind an operation grows. In a",
        "*chain* each operation depends on the one before it, in a *fan-in* the last one on all others, in a *tangle* each on up",
        f"to four earlier ones. Budget: {DEFAULT_BUDGET_TOKENS} tokens of four bytes. Written by `make bench-context`.",
    )
    yield ""
    heads = ("shape", "operations", "tokens of the slice", "ancestors looked at", "ms, median", "tokens of all outputs")
    yield table(heads, [[str(cell) for cell in _cells(row)] for row in rows])
    yield "\n![tokens and milliseconds by operations](context.svg)"


def _cells(row: Row) -> tuple[object, ...]:
    return row.shape, f"{row.operations:,}", row.tokens, row.visited, f"{row.slice_ms:.2f}", f"{row.whole_tokens:,}"


def _draw(rows: Sequence[Row], folder: Path) -> None:
    figure, (tokens, times) = plt.subplots(1, 2, figsize=(10, 3.6))
    for shape in SHAPES:
        mine = [row for row in rows if row.shape == shape]
        operations = [row.operations for row in mine]
        tokens.plot(operations, [row.tokens for row in mine], marker="o", label=f"slice, {shape}")
        times.plot(operations, [row.slice_ms for row in mine], marker="o", label=shape)
    whole = [row for row in rows if row.shape == "chain"]
    tokens.plot([row.operations for row in whole], [row.whole_tokens for row in whole], "k--", label="all outputs")
    for axes, label in ((tokens, "tokens"), (times, "ms to choose a slice")):
        log_log(axes)
        axes.set_xlabel("operations of the saga")
        axes.set_ylabel(label)
        axes.legend(frameon=False)
    figure.tight_layout()
    save(figure, folder / "context.svg")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.context")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--runs", type=int, default=51)
    parser.add_argument("--out", type=Path, default=OUT)
    asked = parser.parse_args(arguments)
    rows = [measured(shape, size, asked.runs) for shape in SHAPES for size in asked.sizes]
    asked.out.mkdir(parents=True, exist_ok=True)
    (asked.out / "context.md").write_text("\n".join(_report(rows)) + "\n", encoding="utf-8")
    _draw(rows, asked.out)
    sys.stdout.write(
        table(("shape", "operations", "tokens", "visited", "ms", "all"), [list(map(str, _cells(r))) for r in rows]) + "\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
