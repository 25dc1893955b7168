"""Extras: what a domain or an interface needs besides the base package, and how to install it if it is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from sagagraph.errors import MissingExtraError


def require(*modules: str, extra: str) -> None:
    """Check that all these modules can be imported. Raises `MissingExtraError`, with the command that installs them."""
    for module in modules:
        if find_spec(module) is None:
            raise MissingExtraError(module, extra)


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Turn an import inside it that fails into a `MissingExtraError` that names the extra, unless our own module is missing."""
    try:
        yield
    except ModuleNotFoundError as exc:
        name = (exc.name or "").partition(".")[0]
        if name in ("", "sagagraph"):
            raise
        raise MissingExtraError(name, extra) from exc
