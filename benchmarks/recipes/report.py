"""docs/benchmarks/recipes.md and its plot, from the figures."""

from __future__ import annotations

from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING, Any, Final

import matplotlib as mpl
from matplotlib import pyplot as plt

from benchmarks.markdown import prose, table
from benchmarks.recipes import reading
from benchmarks.recipes.paper import TABLE
from benchmarks.recipes.reading import GPT_4O
from benchmarks.recipes.repairs import summary
from sagagraph.registry import model_of
from sagagraph.settings import read_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.recipes.paper import Figures
    from sagagraph.context.model import Model

    Case = dict[str, Any]

mpl.use("svg")
mpl.rcParams.update({"svg.hashsalt": "sagagraph", "svg.fonttype": "none", "axes.spines.top": False, "axes.spines.right": False})

ARMS: Final = {
    "reference": "the reference plans that come with the data",
    "heuristic": "algorithm 1 of the paper, as we read it",
    "greedy": "the same, never looking back",
    "one_by_one": "feasibility first: the best plan of one recipe, then of the next",
    "open_loop": "open loop, a scripted model that fills every minute and does not look ahead",
    "closed_loop": "closed loop, the same model",
    "critics": "ten rounds of critics, the same model, which never gives in; then the solver",
    "unsplit": "ours, without splitting any step",
    "ours": "ours",
}


def written(cases: Sequence[Case], repairs: dict[int, Sequence[Case]], seconds: float, folder: Path) -> None:
    draw(cases, folder / "recipes.svg")
    (folder / "recipes.md").write_text("\n\n".join(_parts(cases, repairs, seconds)) + "\n")


def _parts(cases: Sequence[Case], repairs: dict[int, Sequence[Case]], seconds: float) -> list[str]:
    return [
        "# Recipe2Plan: two recipes, one cook",
        prose(
            "`make bench-recipes` plans every pair in `SAGAGRAPH_DATA` with and without time constraints, in at most",
            f"{seconds:g} s each on one core, and has every plan judged by Recipe2Plan's own evaluator. The models' rows are",
            "those of its paper (over 65 pairs, of which 58 are published); all others were measured in this run.",
        ),
        prose(*_summary(cases)),
        "![R-efficiency against success](recipes.svg)",
        "## The table of the paper, with ours",
        prose(
            "*R-efficiency* and *S x E* by the official formula: the time saved, beside the time saved by the reference plan.",
            "Over the pairs that have a reference; S x E over all pairs. *Gap*: how much longer than the shortest plan, in the",
            "mean over the pairs solved.",
        ),
        *(_table(cases, without=without) for without in (True, False)),
        "## Reading",
        prose(
            "What goes on alone, what comes after what, and what needs which object, as `sagagraph recipes read` takes it from",
            "the words of the steps, beside the annotations. The rules were written with them at hand. GPT-4o: its paper.",
            "The scripted model knows the annotations, and puts every third claim in words that are not in the step: those are",
            "left to the rules. With SAGAGRAPH_MODEL that model is measured as well.",
        ),
        _reading(),
        "## Repairs",
        prose(
            "Something happens at 30 to 60 % of a meal with time constraints: a step takes longer, burns, the cook is called",
            "away, an object fails. The first answer lets all that has not begun wait (where there is none, the repair is the",
            "first); the repair is what counts in the end, and planning anew is what both are beside. Each in milliseconds of",
            "processor time, median / most. *Sooner*: planning anew by the first answer, in the median and in all; *10 x*: the",
            "share of the disruptions of which the first answer comes ten times sooner. *Starts moved* and *longer than anew*:",
            "of the first answer, the repair (and planning anew), in the mean.",
        ),
        _repairs(repairs),
        "## Each pair",
        prose(
            prose(
                "Minutes and seconds; *first* (until the first plan) and *all* in seconds of processor time.",
                "*Pieces*: by how many steps are split.",
            ),
        ),
        _pairs(cases),
    ]


def _reading() -> str:
    settings = read_settings()
    readers: dict[str, Model | None] = {"the rules": None, "with the scripted model": reading.Annotator()}
    if (real := model_of(settings)) is not None:
        readers[f"with {real.name}"] = real
    rows = [
        [f"{what}, {name}", *(f"{100 * figure:.1f}" for figure in figures), f"{GPT_4O[what]:.1f}"]
        for name, model in readers.items()
        for what, figures in reading.measured(model).items()
    ]
    return table(["", "precision", "recall", "F1", "GPT-4o, F1"], rows)


def _repairs(repairs: dict[int, Sequence[Case]]) -> str:
    heads = [
        "dishes",
        "cases",
        "first, ms",
        "repair, ms",
        "anew, ms",
        "sooner",
        "in all",
        "10 x",
        "with a first answer",
        "starts moved: first / repair / anew",
        "longer than anew: first / repair",
    ]
    return table(heads, [[str(dishes), *summary(cases)] for dishes, cases in repairs.items()])


def _summary(cases: Sequence[Case]) -> list[str]:
    proven = sum(case["makespan"] == case["bound"] for case in cases)
    accepted = sum(case["ours"]["success"] for case in cases)
    better = [case for case in cases if case["reference"]["gap"]]
    without = sum(case["without"] for case in better)
    disagreed = sum(not case[arm]["agrees"] for case in cases for arm in ARMS)
    return [
        f"The evaluator accepts {accepted} of {len(cases)} plans, and {proven} are proven to be the shortest there are.",
        f"The first plan takes {max(case['first_s'] for case in cases):.2f} s at most, and the proof {_seconds(cases)}",
        "(processor time).",
        f"{without} reference plans without time constraints can be shortened, and {len(better) - without} with them.",
        f"Splitting shortens {sum(bool(case['unsplit']['gap']) for case in cases)} plans.",
        f"On {disagreed} of the {len(ARMS) * len(cases)} plans judged here, the evaluator and our validator disagree.",
    ]


def _seconds(cases: Sequence[Case]) -> str:
    times = [case["seconds"] for case in cases]
    return f"{median(times):.2f} s in the median and {max(times):.1f} s at most"


def figures(cases: Sequence[Case], arm: str) -> tuple[Figures, float | None]:
    """Success, progress, R-efficiency and S x E in per cent, and the mean gap in per cent."""
    told = [case[arm] for case in cases]
    has_reference = [case[arm] for case in cases if case["reference"]["success"]]
    gaps = [each["gap"] for each in told if each["gap"] is not None]
    rates = (
        mean(each["success"] for each in told),
        mean(each["progress"] for each in told),
        mean(each["speed"] for each in has_reference),
        mean(each["speed"] * each["success"] for each in told),
    )
    success, progress, speed, both = (100 * rate for rate in rates)
    return (success, progress, speed, both), 100 * mean(gaps) if gaps else None


def _table(cases: Sequence[Case], *, without: bool) -> str:
    those = [case for case in cases if case["without"] is without]
    rows = [[name, *(f"{figure:.1f}" for figure in found[0 if without else 1]), ""] for name, found in TABLE.items()]
    for arm, words in ARMS.items():
        rates, gap = figures(those, arm)
        rows.append([f"**{words}**", *(f"{rate:.1f}" for rate in rates), "" if gap is None else f"{gap:.1f} %"])
    heads = [
        "without time constraints" if without else "with time constraints",
        "success",
        "progress",
        "R-efficiency",
        "S x E",
        "gap",
    ]
    return table(heads, rows)


def _pairs(cases: Sequence[Case]) -> str:
    heads = ["pair", "time constraints", "complete at", "proof", "reference", "pieces", "R-efficiency", "first, s", "all, s"]
    return table(heads, [_pair(case) for case in cases])


def _pair(case: Case) -> list[str]:
    least, gap = case["makespan"], case["reference"]["gap"]
    longer = "none" if gap is None else f"+ {_clock(round(gap * least))}" if gap else ""
    proof = "optimal" if least == case["bound"] else f"at least {_clock(case['bound'])}"
    figures = [
        str(case["pieces"] or ""),
        f"{100 * case['ours']['speed']:.1f}",
        f"{case['first_s']:.2f}",
        f"{case['seconds']:.2f}",
    ]
    return [case["pair"], "without" if case["without"] else "with", _clock(least), proof, longer, *figures]


def _clock(seconds: int) -> str:
    return f"{seconds // 60}:{seconds % 60:02}"


def draw(cases: Sequence[Case], path: Path) -> None:
    figure, both = plt.subplots(1, 2, figsize=(11, 4), sharey=True)
    for axes, without in zip(both, (True, False), strict=True):
        those = [case for case in cases if case["without"] is without]
        models = [found[0 if without else 1] for found in TABLE.values()][:-1]
        axes.scatter([each[0] for each in models], [each[2] for each in models], color="#888888", label="models, as in the paper")
        for arm, colour in {"reference": "#c8791b", "heuristic": "#6b8e4e", "one_by_one": "#8b5fa8", "ours": "#1b6ca8"}.items():
            (success, _progress, speed, _both), _gap = figures(those, arm)
            axes.scatter([success], [speed], color=colour, marker="D", label=ARMS[arm].split(":")[0])
        axes.set_title("without time constraints" if without else "with time constraints")
        axes.set_xlabel("success, %")
        axes.grid(visible=True, which="major", linewidth=0.3)
    both[0].set_ylabel("R-efficiency, %")
    both[1].legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
