"""Compiled functions: Numba's where it is installed (the extra `jobshop`); otherwise the same code runs as Python, slower."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    Ints = list[int]
    """Arrays where functions are compiled, which read lists slowly; lists where they are not, which Python reads faster."""

P = ParamSpec("P")
R = TypeVar("R")

try:
    import numba
    import numpy as np
except ImportError:
    AT_ONCE = 1

    def compiled(function: Callable[P, R]) -> Callable[P, R]:
        return function

    def ints(values: Iterable[int]) -> Ints:
        return list(values)

else:
    AT_ONCE = 200
    """Steps of a search between two looks at the clock."""

    def compiled(function: Callable[P, R]) -> Callable[P, R]:
        """Compile at the first call, which takes some seconds; the result is kept on disk."""
        made: Callable[P, R] = numba.njit(cache=True)(function)
        return made

    def ints(values: Iterable[int]) -> Ints:
        return np.fromiter(values, np.int64)  # type: ignore[return-value] # to Python it is as good as a list
