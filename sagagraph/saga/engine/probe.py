"""What a probe answers: did the effect of this key land?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sagagraph.saga.core.events import ProbeAnswer


@dataclass(frozen=True, slots=True)
class Probe:
    """Made by the five constructors below and returned by an action's `probe`."""

    answer: ProbeAnswer
    result: Any = None
    detail: str = ""

    @classmethod
    def landed(cls, result: Any) -> Probe:
        """It landed once; `result` is what `execute` would have returned."""
        return cls(ProbeAnswer.LANDED, result)

    @classmethod
    def undone(cls, result: Any = None) -> Probe:
        """It landed and was cancelled; `result` is what the compensation would have returned."""
        return cls(ProbeAnswer.UNDONE, result)

    @classmethod
    def absent(cls) -> Probe:
        """Nothing has landed so far. A call in flight may still land: absence is not a fact until sealed."""
        return cls(ProbeAnswer.ABSENT)

    @classmethod
    def multiple(cls, results: Sequence[Any]) -> Probe:
        """It landed more than once: a person must look."""
        return cls(ProbeAnswer.MULTIPLE, list(results), f"it landed {len(results)} times")

    @classmethod
    def unknown(cls, reason: str) -> Probe:
        """The provider could not say."""
        return cls(ProbeAnswer.UNKNOWN, None, reason)
