"""Exceptions of an action's function: which of them say that nothing happened (docs/protocol.md rule 3a)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sagagraph.errors import InvalidInputError, Refused, SagaGraphError, words_of

FailsOn = type[Exception] | tuple[type[Exception], ...] | Callable[[Exception], Any]
"""Types, or a function of the exception: it returns whether nothing happened, or a `Refused` that says more."""


def check_fails_on(name: str, fails_on: object) -> None:
    """Raises `InvalidInputError` for what is neither types nor a function."""
    kinds = fails_on if isinstance(fails_on, tuple) else (fails_on,)
    if all(isinstance(each, type) and issubclass(each, Exception) for each in kinds):
        return
    if isinstance(fails_on, type | tuple) or not callable(fails_on):
        raise InvalidInputError(f"{name!r}: give exception types, or a function of the exception", field="fails_on")


def refusal_in(exc: Exception, fails_on: FailsOn) -> Refused | None:
    """Return what `exc` refuses, if it says that nothing happened.

    An error about running the saga never does, whatever was declared: an operation below may be in doubt.
    """
    if isinstance(exc, Refused):
        return exc
    if isinstance(exc, SagaGraphError) and exc.leaves_saga_open:
        return None
    if isinstance(fails_on, type | tuple):
        said: object = isinstance(exc, fails_on)
    else:
        said = fails_on(exc)
    if isinstance(said, Refused):
        return said
    return Refused(words_of(exc) or type(exc).__name__, code=type(exc).__name__) if said is True else None
