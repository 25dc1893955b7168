"""Extras: what a domain or an interface needs besides the base package, how to install it, and what others bring by its name."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from sagagraph.errors import InvalidInputError, MissingExtraError


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


def thing_at(place: str, field: str) -> Any:
    """Return what is at `package.module:NAME`, or the module if no name is given. Raises `InvalidInputError`."""
    module, _, name = place.partition(":")
    try:
        found = importlib.import_module(module)
        return getattr(found, name) if name else found
    except (ImportError, AttributeError, ValueError) as exc:
        raise InvalidInputError(f"{place!r} cannot be loaded: {exc}; say package.module:NAME", field=field) from exc
