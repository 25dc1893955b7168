"""Times: moments and durations of logistics problems: whole minutes internally, `"HH:MM"` or ISO 8601 with an offset in files."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Final

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema

_CLOCK: Final = re.compile(r"([0-9]{2}):([0-9]{2})")
_HOUR: Final = 60
_DAY: Final = 24 * _HOUR
_LAST_DATED: Final = 4_000_000_000
"""Room for every journey after every moment: dates end in 9999."""
_FIRST_DATED: Final = 1_000_000
"""Clock times are minutes since midnight, dated ones minutes since 1970: those of the years after 1971 never meet."""


def parse_moment(value: object) -> object:
    """Return minutes since midnight for `"HH:MM"` (up to `"24:00"`), minutes since 1970 UTC for ISO 8601 with an offset."""
    if not isinstance(value, str):
        raise ValueError('a time is "HH:MM", or ISO 8601 with an offset')  # noqa: TRY004 - pydantic turns ValueError into a field's error
    clock = _CLOCK.fullmatch(value)
    if clock:
        minutes = int(clock[1]) * _HOUR + int(clock[2])
        if int(clock[2]) >= _HOUR or minutes > _DAY:
            raise ValueError(f"{value!r} is no time of day")
        return minutes
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise ValueError(f'{value!r} is neither "HH:MM" nor ISO 8601 with an offset') from None
    if moment.tzinfo is None:
        raise ValueError(f"{value!r} has a date but no offset")
    if moment.second or moment.microsecond:
        raise ValueError(f"{value!r} is not on a whole minute")
    minutes = int(moment.timestamp()) // 60
    if minutes < _FIRST_DATED:
        raise ValueError(f"{value!r} is too long ago")
    if minutes > _LAST_DATED:
        raise ValueError(f"{value!r} is too far away")
    return minutes


def is_dated(moment: int) -> bool:
    return moment >= _FIRST_DATED


@lru_cache(maxsize=10_000)
def text_of(moment: int) -> str:
    """Format a moment as files have it; dated moments in UTC. Clock times of the next day are written as hours from 24 on."""
    if is_dated(moment):
        return datetime.fromtimestamp(moment * 60, UTC).isoformat(timespec="minutes")
    return f"{moment // _HOUR:02}:{moment % _HOUR:02}"


def whole_minutes(duration: float) -> int:
    """Round up fractions of a minute (docs/formats.md section 10): a duration of 19.8 minutes cannot be stated as 19."""
    return math.ceil(duration - 1e-9)


Moment = Annotated[
    int,
    BeforeValidator(parse_moment),
    PlainSerializer(text_of, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "examples": ["13:00", "2025-11-27T13:00-05:00"]}),
]
Minutes = Annotated[float, Field(ge=0, le=100_000, allow_inf_nan=False)]
