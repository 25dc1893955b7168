"""Extras: what a domain or a door needs beside the base of the package, and how to install it where it is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from sagagraph.errors import MissingExtraError


def require(*modules: str, extra: str) -> None:
    """Raises `MissingExtraError`, with the command that installs them, unless all these modules can be imported."""
    for module in modules:
        if find_spec(module) is None:
            raise MissingExtraError(module, extra)


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Imports inside it that fail name the extra: `MissingExtraError`. One of our own modules that is missing is no extra."""
    try:
        yield
    except ModuleNotFoundError as exc:
        name = (exc.name or "").partition(".")[0]
        if name in ("", "sagagraph"):
            raise
        raise MissingExtraError(name, extra) from exc
