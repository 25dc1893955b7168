"""What the paper of Recipe2Plan reports: success, progress, R-efficiency and their product, in per cent."""

from __future__ import annotations

from typing import Final

Figures = tuple[float, float, float, float]

TABLE: Final[dict[str, tuple[Figures, Figures]]] = {
    "ReAct, Qwen2.5-7B": ((1.5, 26.5, 73.6, 1.3), (0.0, 22.4, 78.0, 0.0)),
    "ReAct, Llama-3.1-8B": ((0.0, 9.7, 47.8, 0.0), (0.0, 10.3, 44.9, 0.0)),
    "ReAct, Qwen2.5-32B": ((80.0, 96.7, 60.5, 51.0), (15.4, 57.4, 86.4, 9.9)),
    "ReAct, Llama-3.1-70B": ((72.3, 88.8, 65.9, 50.5), (13.8, 55.5, 79.3, 9.8)),
    "ReAct, Qwen2.5-72B": ((72.3, 91.2, 72.3, 52.3), (7.7, 54.9, 91.6, 5.8)),
    "ReAct, GPT-4o-mini": ((3.1, 51.8, 53.6, 2.0), (1.5, 36.0, 63.4, 0.4)),
    "ReAct, Gemini-1.5-Pro": ((20.0, 66.4, 71.7, 14.3), (3.1, 47.5, 74.4, 1.8)),
    "ReAct, GPT-4o": ((90.8, 99.1, 81.0, 75.3), (21.5, 64.0, 102.6, 19.5)),
    "ReAct with gold annotations, GPT-4o": ((95.4, 99.4, 78.2, 76.3), (27.7, 60.6, 104.0, 20.3)),
    "Plan and solve, GPT-4o": ((3.1, 21.7, 70.2, 15.2), (1.5, 17.4, 69.7, 12.2)),
    "the paper's heuristic": ((100.0, 100.0, 100.0, 100.0), (100.0, 100.0, 100.0, 100.0)),
}
"""Without and with time constraints, over 65 pairs."""
