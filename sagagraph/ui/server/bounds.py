"""Bounds: how much a form may hold, and how long its processing may take."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar
from urllib.parse import parse_qs

from fastapi import Request

from sagagraph.errors import InvalidInputError
from sagagraph.planning.background import in_background

T = TypeVar("T")
_GRACE_S: Final = 10.0
"""Seconds beyond those of a search, because the steps around it do not check the time."""
_MOST_FIELDS: Final = 2000


async def bounded(think: Callable[[], T], seconds: float, *, field: str, instead: str = "use the command line") -> T:
    """Run it in a separate process. Raises `InvalidInputError`, with what to do `instead`, if it takes too long."""
    try:
        async with asyncio.timeout(seconds + _GRACE_S):
            return await in_background(think)
    except TimeoutError:
        raise InvalidInputError(f"takes longer than {seconds + _GRACE_S:g} s here: {instead}", field=field) from None


async def form_of(request: Request) -> dict[str, str]:
    """Return the fields of a form, without the spaces around them. Raises `InvalidInputError` for too many fields."""
    try:
        sent = parse_qs((await request.body()).decode(errors="replace"), max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise InvalidInputError("has more fields than this page sends", field="form") from None
    return {name: values[0].strip() for name, values in sent.items()}
