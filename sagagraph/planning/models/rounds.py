"""Rounds of a model, as the reasons of a proposal report them in the journal: what each cost, and how it ended."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from sagagraph.context.model import Usage

LONGEST_REASONING = 1000
"""How many characters of it are kept."""
_REASONING = "the model's reasoning: "
_LINE = re.compile(
    r"round (?P<number>\d+) of (?P<model>\S+): (?P<tokens_in>\d+) tokens in, (?P<tokens_out>\d+) out, "
    r"(?P<seconds>[\d.]+) s(?:, \$(?P<cost>[\d.]+))?: (?P<outcome>.*)"
)


@dataclass(frozen=True, slots=True)
class Round:
    """One question to a model and what came of it. `number` counts from 1 within a saga's plan."""

    number: int
    usage: Usage
    outcome: str

    @property
    def line(self) -> str:
        usage = self.usage
        cost = "" if usage.cost_usd is None else f", ${usage.cost_usd:.6f}"
        return (
            f"round {self.number} of {usage.model}: {usage.tokens_in} tokens in, {usage.tokens_out} out, "
            f"{usage.seconds:.3f} s{cost}: {' '.join(self.outcome.split())}"
        )


def rounds_in(reasons: Iterable[str]) -> tuple[Round, ...]:
    """The rounds that a proposal's reasons report."""
    found = (_LINE.fullmatch(each) for each in reasons)
    return tuple(
        Round(
            int(line["number"]),
            Usage(
                line["model"],
                int(line["tokens_in"]),
                int(line["tokens_out"]),
                float(line["seconds"]),
                None if line["cost"] is None else float(line["cost"]),
            ),
            line["outcome"],
        )
        for line in found
        if line is not None
    )


def reasoning_line(reasoning: str) -> str:
    return _REASONING + " ".join(reasoning.split())[:LONGEST_REASONING]


def reasoning_in(reasons: Iterable[str]) -> str:
    """A model's reasoning for a proposal; empty where no model made it."""
    return next((each.removeprefix(_REASONING) for each in reasons if each.startswith(_REASONING)), "")
