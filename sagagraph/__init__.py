"""SagaGraph runs the plans of unreliable planners as reliable transactions.

The names below are loaded when first used: importing this package costs nothing, and nothing connects at import.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sagagraph.errors import Refused as Refused

_HOME = {
    "Refused": "sagagraph.errors",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


__version__ = "0.1.0"
