"""README.md beside the figures: all of its numbers come from results.json."""

from __future__ import annotations

from typing import Any

from benchmarks.markdown import prose, table
from benchmarks.spread import ratios, spread
from benchmarks.targets import PER_OPERATION_S, targets

_NOT = "–"
_STORE_NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
_WHO = (
    ("SagaGraph, commits shared", "shared", "parallel"),
    ("SagaGraph, commits alone", "alone", None),
    ("LangGraph, `sync`", "langgraph", "langgraph-parallel"),
    ("DBOS, on threads", "dbos", None),
    ("DBOS, async", "dbos-async", "dbos-parallel"),
)


def written(found: dict[str, Any]) -> str:
    sections = (_head, _targets, _cost, _growth, _throughput, _skipped, _machine)
    return "\n\n".join(text for section in sections if (text := section(found))) + "\n"


def _head(found: dict[str, Any]) -> str:
    told = prose(
        "Written by `make bench`, as a whole, from one run; do not edit it. The raw figures are in [results.json](results.json).",
        "Everybody is a process of its own, warm, and gets its turn in every round; each figure is divided by the floor that was",
        "measured right before and after it. Shown are medians over the rounds, and (lowest – highest).",
    )
    quick = "\n\n**This was the quick form: it shows that the benchmarks run, and its figures mean nothing.**"
    return f"# What durability costs\n\n{told}{quick if found['form'] == 'quick' else ''}"


def _targets(found: dict[str, Any]) -> str:
    rows = [
        (each.what, _STORE_NAMES[each.store], each.bound, f"{each.figure:.2f}" if each.figure else _NOT, each.verdict)
        for each in targets(found)
    ]
    told = prose(
        f"*k* is how many commits an operation costs: cost = *k* × one commit of the floor + {PER_OPERATION_S * 1000:g} ms.",
        "The floor is the driver alone, one row and one commit for the same bytes: `sqlite3` in WAL with synchronous=FULL,",
        "psycopg in autocommit with the server's fsync on. Commits may be shared where an operation in doubt settles itself",
        "(its provider remembers keys); where the provider promises nothing, its outcome commits alone.",
    )
    return f"## Targets\n\n{table(('', 'store', 'target', 'figure', ''), rows)}\n\n{told}" if rows else ""


def _cost(found: dict[str, Any]) -> str:
    cost, plan = found.get("cost"), found["plan"]
    if not cost:
        return ""
    size, width = cost["bytes"], plan["parallel"]
    parts = [
        "## One operation, beside the peers",
        prose(
            f"A run of {plan['operations']} operations one after the other, and of {width} at once; each does nothing but return",
            "a small dict. Milliseconds an operation, beginning and end of the run included, and × the floor's commit",
            f"of {size} bytes. Where the floor itself changed its pace meanwhile (by more than a half), the measurement was",
            "thrown away and, within bounds, made again:",
            f"{sum(cost['unsteady'].values())} times. Rounds that counted: {_rounds(cost)}.",
        ),
        "![Cost of one operation](cost.svg)",
    ]
    for store, seen in cost["stores"].items():
        floors = [figure for case in seen.values() for figure in case["floor_s"]]
        floor = spread([each * 1000 for each in floors])
        rows = [("the floor", f"{floor:.3f}" if floor else _NOT, "1", _NOT, _NOT)]
        rows += [(who, *_dear(seen.get(row)), *_dear(seen.get(fan or ""))) for who, row, fan in _WHO]
        heads = (_STORE_NAMES[store], "one by one, ms", "× floor", f"{width} at once, ms", "× floor")
        parts.append(table(heads, rows))
    parts.append(_GUARANTEES)
    return "\n\n".join(parts)


def _rounds(cost: dict[str, Any]) -> str:
    counts = [len(case["floor_s"]) for seen in cost["stores"].values() for case in seen.values()]
    return f"{min(counts)} to {max(counts)}" if counts else "none"


_GUARANTEES = """They do not give the same for it:

- **SagaGraph** makes the intent durable before the effect and the outcome after it. What is in doubt after a crash is asked
  about by its key and not silently repeated; what committed can be undone; a superseded worker's appends are refused.
- **LangGraph** writes a checkpoint after each superstep. At least once: a node that died runs again, with its effect. Parallel
  nodes are one superstep, and share its checkpoint. It does not undo.
- **DBOS** writes each step's output after it ran. At least once: a step that died runs again, with its effect. Undoing is the
  workflow's own code.

Their settings are the best of what is reasonable: a warm connection (LangGraph on PostgreSQL: a pool) and graphs compiled before
the clock runs; DBOS with its SQLite file in WAL (its default, a rollback journal, is slower), four threads a core (its
default, one for each workflow, is slower), telemetry off, on threads and async. Every SQLite file is synchronous=FULL. Python's
cyclic collector looks seldom in everybody's process, as [advised](../operating.md#many-sagas-in-one-process)."""


def _dear(case: dict[str, list[float]] | None) -> tuple[str, str]:
    if not case:
        return _NOT, _NOT
    ms, times = spread([each * 1000 for each in case["whole_s"]]), spread(ratios(case["whole_s"], case["floor_s"]))
    return f"{ms:.3f}" if ms else _NOT, f"{times:.2f}" if times else _NOT


def _growth(found: dict[str, Any]) -> str:
    growth = found.get("growth")
    if not growth:
        return ""
    names = {
        "sagagraph": "SagaGraph: journal",
        "langgraph": "LangGraph: a list under a reducer",
        "langgraph-delta": "LangGraph: the same in a `DeltaChannel` (beta)",
    }
    rows = [(names[kind], *_grown(each)) for kind in names for each in growth[kind]]
    folded = [each for each in growth["sagagraph"] if each["done"]]
    heads = ("operations", "`json.loads`, ms", "decoding and folding, ×")
    fold_rows = [(f"{each['done']:,}", *_folded(each)) for each in folded]
    made = growth["fold"]
    fold_rows.append((f"{made['operations']:,}, inputs and outputs of 100 bytes", *_folded(made)))
    limit, largest = found["plan"]["limit_s"], found["plan"]["quadratic_up_to"]
    return "\n\n".join(
        (
            "## One long saga",
            prose(
                "One operation after the other on SQLite, a fresh file for each size; the bytes are what the file grew by.",
                f"What is not done after {limit:.0f} s is stopped, and said to be. The list under a reducer is written whole",
                f"with every checkpoint, so it is not run beyond {largest:,}.",
            ),
            "![Time and bytes of one operation, by the length of its saga](growth.svg)",
            table(("", "operations", "ms an operation", "bytes an operation"), rows),
            "From the stored text of all events to the saga's state, against `json.loads` of the same text:",
            table(heads, fold_rows),
        )
    )


def _folded(each: dict[str, Any]) -> tuple[str, str]:
    ms, times = spread([one * 1000 for one in each["json_s"]]), spread(ratios(each["fold_s"], each["json_s"]))
    return f"{ms:.2f}" if ms else _NOT, f"{times:.2f}" if times else _NOT


def _grown(each: dict[str, Any]) -> tuple[str, str, str]:
    done, asked = each["done"], each["asked"]
    if not done:
        return f"{asked:,}: failed", _NOT, _NOT
    label = f"{asked:,}" if done == asked else f"{asked:,}: stopped at {done:,}"
    return label, f"{each['seconds'] / done * 1000:.3f}", f"{each['file_bytes'] / done:,.0f}"


def _throughput(found: dict[str, Any]) -> str:
    throughput, plan = found.get("throughput"), found["plan"]
    if not throughput:
        return ""
    rows = []
    for store, by_workers in throughput.items():
        for workers, seen in by_workers.items():
            ours, theirs = (seen[kind]["operations_per_s"] for kind in ("sagagraph", "dbos"))
            both = spread(ratios(ours, theirs)) if len(ours) == len(theirs) else None
            rates = [f"{each:,.0f}" if (each := spread(one)) else _NOT for one in (ours, theirs)]
            rows.append((_STORE_NAMES[store], workers, *rates, seen["dbos"]["form"] or _NOT, f"{both:.2f}" if both else _NOT))
    heads = ("store", "processes", "SagaGraph", "DBOS", "its form", "SagaGraph / DBOS")
    return "\n\n".join(
        (
            "## Many sagas at once",
            prose(
                f"{plan['sagas']:,} sagas of {plan['steps']} operations each, all begun at once, on one store: operations a",
                "second, from the first beginning to the last end. DBOS runs as many workflows of as many steps, in whichever of",
                "its two forms was faster while warming up. SagaGraph's operations have a provider that remembers keys.",
            ),
            "![Operations a second](throughput.svg)",
            table(heads, rows),
        )
    )


def _skipped(found: dict[str, Any]) -> str:
    rows = [(each["contender"], _STORE_NAMES.get(each["store"], each["store"]), each["why"]) for each in found["skipped"]]
    return f"## What did not take part\n\n{table(('who', 'store', 'why'), rows)}" if rows else ""


def _machine(found: dict[str, Any]) -> str:
    machine = found["machine"]
    libraries = ", ".join(f"{name} {version}" for name, version in machine["libraries"].items())
    told = prose(
        f"{machine['cores']} cores, {machine['system']}, {machine['filesystem']}; a 4 KiB append and fsync takes",
        f"{machine['fsync_ms']:.3f} ms (median); load {machine['load_before']:.2f} before the run, which took",
        f"{found['took_s'] / 60:.1f} minutes. Python {machine['python']}, SQLite {machine['sqlite']},",
        f"PostgreSQL {machine['postgresql'] or 'not there'}; {libraries}.",
    )
    return f"## The machine\n\n{told}"
