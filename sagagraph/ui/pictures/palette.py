"""The palette: colours and shapes of kinds and states, on light and dark pages. The colours are in `style.css`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sagagraph.planning.page import PlanView
from sagagraph.saga.core.status import OperationStatus

COLOURS: Final = 8
"""How many classes `sg-k0`, `sg-k1`, … the style has."""


@dataclass(frozen=True, slots=True)
class Look:
    """Look of a kind or state. Shapes repeat what colours say, for readers who cannot tell the colours apart."""

    name: str
    colour: str
    mark: str


STATUSES: Final = {
    OperationStatus.PLANNED: Look("planned", "over", "○"),
    OperationStatus.STARTED: Look("running", "busy", "◉"),
    OperationStatus.SUCCEEDED: Look("done", "good", "●"),
    OperationStatus.FAILED: Look("failed", "bad", "✕"),
    OperationStatus.IN_DOUBT: Look("in doubt", "asking", "◆"),
    OperationStatus.HELD: Look("held", "asking", "■"),
    OperationStatus.COMPENSATING: Look("being undone", "busy", "△"),
    OperationStatus.COMPENSATED: Look("undone", "over", "▲"),
    OperationStatus.COMPENSATION_FAILED: Look("not undone", "bad", "⊠"),
    OperationStatus.VOIDED: Look("voided", "over", "▽"),
    OperationStatus.SKIPPED: Look("skipped", "over", "–"),
}


def colours_of(*plans: PlanView) -> dict[str, int]:
    """Assign the number of a colour to each kind of thing in the plans; if there are many kinds, some share one."""
    kinds = dict.fromkeys(kind for plan in plans for kind in plan.kinds)
    return {kind: place % COLOURS for place, kind in enumerate(kinds)}
