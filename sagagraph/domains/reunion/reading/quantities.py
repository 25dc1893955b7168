"""Times of day, durations and numbers, as people write them."""

from __future__ import annotations

import re
from typing import Final

_COUNTS: Final = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "forty-five": 45,
}
COUNT: Final = rf"(?:\d+(?:\.\d+)?|{'|'.join(sorted(_COUNTS, key=len, reverse=True))})"
_HOURS: Final = (
    rf"(?:{COUNT} ?(?:hours?|hrs?|h)\b(?:(?: and)? {COUNT} ?(?:minutes?|mins?|m)\b| and a half\b)?|half an hour|\d+h\d\d)"
)
DURATION: Final = rf"(?:(?:{_HOURS})|{COUNT} ?(?:minutes?|mins?)\b)"
_TIME_SAID: Final = re.compile(
    r"(?:\b(?P<how>at|by|from|before|after|until|till|since|around|about)\s+)?"
    r"(?:(?P<named>noon|midday|midnight)\b"
    r"|\b(?P<hour>\d{1,2})(?:[:.h](?P<minute>\d\d))?\s*(?P<half>am|pm)\b"
    r"|\b(?P<hour24>\d{1,2})[:h](?P<minute24>\d\d)\b"
    r"|(?(how)"
    r"(?P<bare>\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b"
    r"(?!\.\d|[:%]|-?\s*(?:seat|people|passenger|km|minute|hour|min\b|h\b))|(?!)))",
    re.IGNORECASE,
)
_DURATION_SAID: Final = re.compile(rf"(?<![\w.:]){DURATION}", re.IGNORECASE)
_AFTERNOON_UP_TO: Final = 6
"""A bare hour from 1 to this is one of the afternoon: people who mean the morning say so."""


def number(text: str) -> float:
    return float(_COUNTS.get(text.lower(), 0)) or float(text)


def minutes_of(duration: str) -> float:
    """Of a text that `DURATION` matches."""
    said = duration.lower()
    if said == "half an hour":
        return 30
    compact = re.fullmatch(r"(\d+)h(\d\d)", said)
    if compact:
        return int(compact[1]) * 60 + int(compact[2])
    whole = said.removesuffix(" and a half")
    amounts = re.findall(rf"({COUNT}) ?(hour|hr|h|minute|min|m)", whole)
    total = sum(number(amount) * (60 if unit.startswith("h") else 1) for amount, unit in amounts)
    return total + (30 if whole != said else 0)


def durations(text: str) -> list[float]:
    return [minutes_of(each[0]) for each in _DURATION_SAID.finditer(text)]


def without_durations(text: str) -> str:
    return " ".join(_DURATION_SAID.sub(" ", text).split())


def times(text: str) -> dict[str, int]:
    """Minutes since midnight, each by the word before it ("at", "by", "from", …); "at" where there is none."""
    found = {(said["how"] or "at").lower(): _moment(said) for said in _TIME_SAID.finditer(text)}
    return {how: moment for how, moment in found.items() if moment is not None}


def without_times(text: str) -> str:
    return " ".join(_TIME_SAID.sub(lambda said: said[0] if _moment(said) is None else " ", text).split())


def _moment(said: re.Match[str]) -> int | None:
    """None for what only looks like a time of day."""
    if said["named"]:
        is_end = (said["how"] or "").lower() in ("by", "before", "until", "till")
        return (24 * 60 if is_end else 0) if said["named"].lower() == "midnight" else 12 * 60
    if said["hour"]:
        hour = int(said["hour"]) % 12 + (12 if said["half"].lower() == "pm" else 0)
        is_time = int(said["hour"]) <= 12 and int(said["minute"] or 0) < 60
        return hour * 60 + int(said["minute"] or 0) if is_time else None
    if said["bare"]:
        hour = int(number(said["bare"]))
        return (hour + 12 if 1 <= hour <= _AFTERNOON_UP_TO else hour) * 60 if hour <= 24 else None
    hour, minute = int(said["hour24"]), int(said["minute24"])
    return hour * 60 + minute if hour <= 24 and minute < 60 else None
