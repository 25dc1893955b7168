"""docs/benchmarks/alas.md from the rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import mean, median
from typing import Any

from benchmarks.alas.ablation import ABLATED
from benchmarks.alas.parts import PARTS
from benchmarks.alas.repairs import SOONER
from benchmarks.jobshop.cases import ALAS
from benchmarks.markdown import prose, table

Row = dict[str, Any]


def written(rows: Sequence[Row], arms: Sequence[str], unmeasured: str) -> str:
    made = [row for row in rows if "arm" in row]
    mended = [row for row in rows if "seed" in row]
    drafts = [row for row in rows if "draft" in row]
    parts = [
        "# Job shops of ALAS and others: how short schedules are, and what repairs change",
        prose(
            "`make bench-alas` (with `SAGAGRAPH_DATA`) gives every arm the same seconds on all cores of the same machine, and",
            "has every schedule judged by the independent validator. It stops and resumes at any time: each row is kept in",
            "`alas.jsonl`, with the load of the machine when it was measured. No solver sees a known bound, and there are no",
            "settings for single instances. Other libraries schedule ALAS's instances only; plain OR-Tools all of them. *Gap*:",
            "how far above the least makespan that anybody has published.",
        ),
        "## What was measured",
        prose(*_extent(made, mended, drafts, arms), unmeasured),
        "## Schedules",
        table(["arm", "seconds", "instances", "mean gap", "largest gap", "ALAS's: instances", "mean gap", "valid", "failed"],
              _summary(made, arms)),
        "## Beside ALAS",
        prose(
            "ALAS counts a schedule of a job shop as a success without checking it against its instance: it states 83.7 % of the",
            "instances, and of the 1,111 schedules published with it none is feasible for its instance. Here, success is",
            "a valid schedule. Of its tables 3 to 5 (success, optimality, ablation) we have no more figures than this one; these",
            "are ours in their form.",
        ),
        "### Success and optimality",
        table(["arm", "seconds", "success", "at the best known", "within 1 %"], _success(made, arms)),
        "### Parts of the search",
        prose(
            "ALAS's instances. *One tabu search*: from the best rule's schedule, on each core with another seed, without end.",
            "*Many*: from one first schedule after the other. *SagaGraph* combines what they find (path relinking), and begins",
            "anew where that is in vain.",
        ),
        table(["part", "seconds", "instances", "mean gap", "largest gap"], _parts(made)),
        "### Ablation",
        prose(
            "Drafts of an unreliable planner: a dispatching rule's schedule in which none, one or three steps begin too early,",
            "in turn. *Whole*: what the validator objects to is finished by the search, in the order of the draft. *Without",
            "validation*: the draft is taken. *Without repair*: an invalid one is refused. Then a machine breaks down;",
            "without repair the schedule stays. *Success* is the verdict of an independent validator at the end.",
        ),
        table(
            ["arm", "drafts", "success", "wrongly taken", "refused", "mean gap", "at the best known", "after a breakdown"],
            _ablation(drafts),
        ),
        *_about_repairs(mended),
        "## Every instance",
        table(["instance", "best known", "seconds", *arms], _each(made, arms)),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _about_repairs(mended: Sequence[Row]) -> list[str]:
    return [
        "## Repairs",
        prose(
            "A machine breaks down between 30 and 60 % of the makespan, for 2 to 10 % of it. *Places*: open steps with another",
            "place in the order of their machine. *Later*: steps that begin at another time, forced or not.",
        ),
        table(
            ["steps", "breakdowns", "valid", "places", "later", "places anew", "repair over anew", "seconds"],
            _repairs(mended),
        ),
        prose(
            "What scheduling anew reaches in all of its time, repairs reach sooner. *Reached*: they end as early, or earlier,",
            "after this part of its time. *In time*: later than that, but no later than was promised, so that nothing is left",
            "to repair.",
            _times_sooner(mended),
        ),
        table(["of its time", "reached", "in time", "within 0.5 %", "in the mean above anew"], _sooner(mended)),
    ]


def _extent(made: Sequence[Row], mended: Sequence[Row], drafts: Sequence[Row], arms: Sequence[str]) -> list[str]:
    names = {row["name"] for row in made}
    missing = [name for name in ALAS if name not in names]
    without = [arm for arm in arms if not any(row["arm"] == arm for row in made)]
    loads = [row["load"] for row in [*made, *mended, *drafts]]
    counted = f"{len(names)} instances, {len(names.intersection(ALAS))} of the {len(ALAS)} of ALAS"
    said = [f"{counted}; {len(mended)} breakdowns; {len(drafts)} drafts."]
    said += [f"Not measured, of ALAS's: {', '.join(missing)}."] if missing else []
    said += [f"Arms that were not measured at all: {', '.join(without)}."] if without else []
    said += [f"Load of the machine: {mean(loads):.1f} in the mean, at most {max(loads):.1f}."] if loads else []
    return said


def _gap(row: Row) -> float | None:
    known = row.get("best_known")
    return 100 * (row["makespan"] / known - 1) if known and "makespan" in row else None


def _limits(made: Sequence[Row]) -> list[float]:
    return sorted({float(row["limit"]) for row in made})


def _of(made: Sequence[Row], arms: Sequence[str]) -> Iterable[tuple[str, float, list[Row]]]:
    for limit in _limits(made):
        for arm in arms:
            if own := [row for row in made if row["arm"] == arm and float(row["limit"]) == limit]:
                yield arm, limit, own


def _summary(made: Sequence[Row], arms: Sequence[str]) -> Iterable[list[str]]:
    for arm, limit, own in _of(made, arms):
        gaps = [gap for row in own if (gap := _gap(row)) is not None]
        alas = [gap for row in own if row["name"] in ALAS and (gap := _gap(row)) is not None]
        valid, failed = sum(row.get("verdict") == "VALID" for row in own), sum("failed" in row for row in own)
        largest = f"{max(gaps):.2f} %" if gaps else ""
        yield [arm, f"{limit:g}", str(len(own)), _mean(gaps), largest, str(len(alas)), _mean(alas), str(valid), str(failed)]


def _mean(values: Sequence[float]) -> str:
    return f"{mean(values):.2f} %" if values else ""


def _success(made: Sequence[Row], arms: Sequence[str]) -> Iterable[list[str]]:
    for arm, limit, rows in _of(made, arms):
        own = [row for row in rows if row["name"] in ALAS]
        gaps = [gap for row in own if row.get("verdict") == "VALID" and (gap := _gap(row)) is not None]
        if own:
            shares = [len(gaps), sum(gap <= 0 for gap in gaps), sum(gap <= 1 for gap in gaps)]
            yield [arm, f"{limit:g}", *(f"{100 * share / len(own):.1f} %" for share in shares)]


def _parts(made: Sequence[Row]) -> Iterable[list[str]]:
    own = [row for row in made if row["name"] in ALAS and float(row["limit"]) == _limits(made)[0]]
    for row in _summary(own, ["dispatching rules", *PARTS, "SagaGraph"]):
        yield row[:5]


def _ablation(drafts: Sequence[Row]) -> Iterable[list[str]]:
    for arm in ABLATED if drafts else ():
        own = [{"best_known": row["best_known"], **row[arm]} for row in drafts]
        gaps = [gap for row in own if row["verdict"] == "VALID" and (gap := _gap(row)) is not None]
        counts = [sum(row["verdict"] == verdict for row in own) for verdict in ("VALID", "INVALID", "refused")]
        best, struck = sum(gap <= 0 for gap in gaps), sum(row["struck"] == "VALID" for row in own)
        shares = [f"{100 * count / len(own):.1f} %" for count in (*counts, best, struck)]
        yield [arm, str(len(own)), *shares[:3], _mean(gaps), *shares[3:]]


def _repairs(mended: Sequence[Row]) -> Iterable[list[str]]:
    for steps in [*sorted({row["steps"] for row in mended}), 0] if mended else ():
        own = [row for row in mended if steps in (row["steps"], 0)]
        open_steps = [max(1, row["open"]) for row in own]
        places, later, anew = (
            mean(100 * row[name] / left for row, left in zip(own, open_steps, strict=True))
            for name in ("places", "later", "places_anew")
        )
        above = mean(100 * (row["repair"] / row["anew"] - 1) for row in own)
        valid = sum(row["verdict"] == "VALID" for row in own)
        figures = [f"{value:.1f} %" for value in (places, later, anew)] + [f"{above:.2f} %"]
        yield [str(steps or "all"), str(len(own)), str(valid), *figures, f"{mean(row['seconds'] for row in own):.2f}"]


def _sooner(mended: Sequence[Row]) -> Iterable[list[str]]:
    """How soon repairs reach what scheduling anew reaches in the end."""
    for part in (*sorted(SOONER, reverse=True), 1) if mended else ():
        ends = [(_ends_after(row, part), row) for row in mended]
        reached = sum(end <= row["anew"] for end, row in ends)
        in_time = sum(row["anew"] < end <= row["was"] for end, row in ends)
        near = sum(end <= 1.005 * row["anew"] for end, row in ends)
        above = mean(100 * (end / row["anew"] - 1) for end, row in ends)
        counts = [f"{100 * count / len(ends):.0f} %" for count in (reached, in_time, near)]
        yield [f"1/{part}" if part > 1 else "all", *counts, f"{above:.2f} %"]


def _ends_after(row: Row, part: int) -> int:
    """Return the makespan of the repair that had this part of the time. JSON knows no numbers as keys."""
    soon = {int(key): ends for key, ends in row["soon"].items()}
    return int(soon[part] if part in soon else row["repair"])


def _times_sooner(mended: Sequence[Row]) -> str:
    """Say how many times sooner, in the median; what is never reached counts as no sooner."""
    reached = [[part for part in SOONER if _ends_after(row, part) <= row["anew"]] for row in mended]
    return f"In the median, {median(max(parts, default=1) for parts in reached):g} times sooner, at least." if mended else ""


def _each(made: Sequence[Row], arms: Sequence[str]) -> Iterable[list[str]]:
    rows = {(row["name"], float(row["limit"]), row["arm"]): row for row in made}
    for name in sorted({row["name"] for row in made}, key=lambda name: (name not in ALAS, name)):
        for limit in _limits(made):
            own = [rows.get((name, limit, arm)) for arm in arms]
            if any(own):
                known = next(str(row["best_known"] or "") for row in own if row is not None)
                yield [name, known, f"{limit:g}", *(_cell(row) for row in own)]


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    if "failed" in row:
        return "failed"
    gap = _gap(row)
    return str(row["makespan"]) + ("" if gap is None else f" ({gap:.2f} %)") + ("" if row["verdict"] == "VALID" else " INVALID")
