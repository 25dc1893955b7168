"""docs/benchmarks/reunions.md from the figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.markdown import prose, table
from benchmarks.reunions.plots import draw
from benchmarks.reunions.slack import slack_parts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    Case = dict[str, Any]


def written(cases: Sequence[Case], slack: Sequence[Case], seconds: float, out: Path) -> None:
    draw(cases, out / "reunions.svg")
    (out / "reunions.md").write_text("\n\n".join([*_parts(cases, seconds), *slack_parts(slack)]) + "\n")


def _parts(cases: Sequence[Case], seconds: float) -> list[str]:
    return [
        "# Reunions: planning and repairing, 5 to 60 people",
        prose(
            "`make bench-reunions` plans generated problems (guests to be fetched by cars with five seats, errands, a roast that",
            f"is not to be left alone), each within {seconds:g} s of CPU, strikes each plan of seed 1 in three ways after a",
            "third of its journeys have begun, and repairs it beside planning all that has not begun anew. Minutes driven are",
            "counted.",
            "With several goals, all are at a ceremony first; with hand-overs, half of the drivers are due at a station.",
            "Every plan was judged by the independent validator; what it said stands in the tables.",
        ),
        "## Planning",
        prose(
            "*Bound*: what no plan goes below. Up to 10 people the search is exact; above, rounds are chosen by a master",
            "problem, and the bound is that of flows, so that a gap says nothing about which of the two is off.",
        ),
        table(
            ["kind", "people", "seed", "cars", "first plan, s", "all, s", "minutes driven", "bound", "gap", "status", "verdict"],
            [_planned(case) for case in cases],
        ),
        "![Time and gap by people](reunions.svg)",
        "## Repair beside planning anew",
        prose("*Kept*: actions of the old plan, the past included, that stand as they were."),
        table(
            ["kind", "people", "event", "repair, s", "anew, s", "kept", "kept anew", "minutes", "minutes anew", "verdicts"],
            [_repaired(case, struck) for case in cases for struck in case.get("struck", ())],
        ),
        prose(*_totals(cases)),
    ]


def _planned(case: Case) -> list[str]:
    start = [case.get("kind", "fetching"), str(case["people"]), str(case["seed"]), str(case["vehicles"])]
    if "value" not in case:
        return [*start, "", str(case["seconds"]), "", "", "", case["status"], ""]
    gap = f"{100 * (case['value'] - case['bound']) / case['value']:.1f} %"
    figures = [str(case[name]) for name in ("first", "seconds", "value", "bound")]
    return [*start, *figures, gap, case["status"], case["verdict"]]


def _repaired(case: Case, struck: Case) -> list[str]:
    one, other = struck["repair"], struck["recompute"]

    def both(name: str) -> list[str]:
        return [str(arm.get(name, arm["status"])) for arm in (one, other)]

    verdicts = "/".join(str(arm.get("verdict", "-")) for arm in (one, other))
    return [
        case.get("kind", "fetching"),
        str(case["people"]),
        struck["event"],
        *both("seconds"),
        *both("kept"),
        *both("value"),
        verdicts,
    ]


def _totals(cases: Sequence[Case]) -> list[str]:
    pairs = [(each["repair"], each["recompute"]) for case in cases for each in case.get("struck", ())]
    both = [(one, other) for one, other in pairs if "kept" in one and "kept" in other]
    kept, anew = (sum(pair[place]["kept"] for pair in both) for place in (0, 1))
    driven, driven_anew = (sum(pair[place]["value"] for pair in both) for place in (0, 1))
    fewer = sum(one["kept"] < other["kept"] for one, other in both)
    return [
        f"Where both have a plan ({len(both)} of {len(pairs)}): repair keeps {kept} actions and drives {driven:g} minutes,",
        f"planning anew keeps {anew} and drives {driven_anew:g}. Repair keeps fewer in {fewer} of them.",
    ]
