"""Call under way: `current_call`, and what a call may end with: `Probe` (did the effect of this key land?) and `Paused`."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass

from sagagraph.errors import NotAllowedError
from sagagraph.saga.core.call import Call
from sagagraph.saga.core.events import ProbeAnswer


@dataclass(frozen=True, slots=True)
class Probe:
    """Answer of an action's `probe`. Make it with one of the five constructors below."""

    answer: ProbeAnswer
    result: object = None
    detail: str = ""

    @classmethod
    def landed(cls, result: object) -> Probe:
        """It landed once; `result` is what `execute` would have returned."""
        return cls(ProbeAnswer.LANDED, result)

    @classmethod
    def undone(cls, result: object = None) -> Probe:
        """It landed and was cancelled; `result` is what the compensation would have returned."""
        return cls(ProbeAnswer.UNDONE, result)

    @classmethod
    def absent(cls) -> Probe:
        """Nothing has landed so far. A call in flight may still land: absence is no fact until the operation is sealed."""
        return cls(ProbeAnswer.ABSENT)

    @classmethod
    def multiple(cls, results: Sequence[object]) -> Probe:
        """It landed more than once: a person must look at it."""
        return cls(ProbeAnswer.MULTIPLE, list(results), f"it landed {len(results)} times")

    @classmethod
    def unknown(cls, reason: str) -> Probe:
        """The provider could not tell."""
        return cls(ProbeAnswer.UNKNOWN, None, reason)


class Paused(Exception):  # noqa: N818 - not an error: the action waits for something that the caller will bring
    """Raised by an action that stops without an outcome until its body runs it again; the message says what it waits for."""


_CURRENT: ContextVar[Call] = ContextVar("sagagraph_call")


def current_call() -> Call:
    """Return the call that started the running code. Raises `NotAllowedError` outside a call."""
    try:
        return _CURRENT.get()
    except LookupError:
        raise NotAllowedError("current_call() works only inside an action, a compensation or a probe") from None


def call_or_none() -> Call | None:
    """Return the call that started the running code, if any did."""
    return _CURRENT.get(None)


def enter_call(call: Call) -> None:
    """Make `call` the current call of this task."""
    _CURRENT.set(call)
