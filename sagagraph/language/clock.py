"""Clock: times of day are tagged `time` (`Clock`), durations are tagged `lasting` (`Lasting`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sagagraph.language.forms import Forms
from sagagraph.language.numbers import Number

if TYPE_CHECKING:
    import re

    from sagagraph.language.passage import Found, Passage

_SAYS: Final = Forms(__file__, "clock")

_HOURS: Final = _SAYS.text("HOURS").split("|")
_PARTS: Final = {"five": 5, "ten": 10, "quarter": 15, "twenty": 20, "twenty five": 25, "half": 30}

DAY: Final = 24 * 60
AFTERNOON_UP_TO: Final = 6
"""A bare hour from 1 to this is one of the afternoon: people who mean the morning say so."""


@dataclass(frozen=True, slots=True)
class Clock:
    hour: int
    minute: int = 0
    is_exact: bool = True
    """False: `9 o'clock` may be in the morning or in the evening."""

    @property
    def minutes(self) -> int | None:
        """Return minutes since midnight (midnight itself ends the day); None if it is not exact, or not a time of day."""
        since = self.hour * 60 + self.minute
        return since if self.is_exact and since <= DAY else None


@dataclass(frozen=True, slots=True)
class Lasting:
    minutes: float


def on_the_clock(text: str) -> str:
    """Write `half past three`, or `half three`, as `3:30 pm`, and parts of a day behind their date."""
    text = _SAYS.part.sub(r"\g<lead> \g<date> in the \g<part>", text)
    return _SAYS.past.sub(_past, _SAYS.half.sub(r"\g<cue> half past \g<hour>", text))


def _past(found: re.Match[str]) -> str:
    part, to = (found["minutes"] or "half").lower(), found["to"].lower() == "to"
    if to and (part.isdigit() or (part != "quarter" and not found["cue"])):
        return found[0]  # "ten to twelve people"
    hour = _HOURS.index(found["hour"].lower()) + 1 if found["hour"].lower() in _HOURS else int(found["hour"])
    past = int(part) if part.isdigit() else _PARTS[part.replace("-", " ")]
    minutes = 60 * hour + (-past if to else past)
    half = " pm" if minutes < 60 * (AFTERNOON_UP_TO + 1) else ""
    return f"{found['cue'] or ''}{minutes // 60 or 12}:{minutes % 60:02}{half}"


def tag_clock_digits(passage: Passage) -> None:
    """Tag times before the numbers: `8am`, `22:30`; `1h30` and `2h` are times only after a word like `after`."""
    passage.tag("time", _SAYS.digits, _digits)
    passage.tag("lasting", _SAYS.compact, lambda found: Lasting(int(found["hours"]) * 60 + int(found["minutes"] or 0)))


def tag_clock(passage: Passage) -> None:
    """Tag times of day, after the numbers are tagged."""
    passage.tag("lasting", _SAYS.lasting, _lasting)
    passage.tag("lasting", _SAYS.hours, lambda found: Lasting(sum(each.minutes for each in found.values(Lasting))))
    passage.tag("time", _SAYS.words, _words)


def _digits(found: Found) -> Clock | None:
    if (found["alone"] or found["mark"] == "h") and not found.led_by(_SAYS.cue):
        return None
    return _clock(int(found["hour"]), int(found["minute"] or found["minutes"] or 0), found["half"][:1])


def _words(found: Found) -> Clock | None:
    if found["named"]:
        return Clock(24 if found["named"] == "midnight" else 12)
    number = found.get("n", Number)
    if (
        number is None
        or number.count is None
        or found.led_by(_SAYS.of_a_month)
        or not (found["half"] or found["clock"] or found["part"] or found["night"])
    ):
        return None
    hour = number.count
    half = found["half"][:1] or {"morning": "a", "afternoon": "p", "evening": "p"}.get(found["part"], "")
    if found["night"]:
        half = "p" if hour >= 6 else "a"
    return _clock(hour, 0, half) if half else Clock(hour, is_exact=not 1 <= hour <= 12)


def _clock(hour: int, minute: int, half: str) -> Clock:
    if half and 1 <= hour <= 12:
        return Clock(hour % 12 + (12 if half == "p" else 0), minute)
    return Clock(hour, minute, is_exact=hour <= 23 and (not half or (half == "p" and hour > 12)))


def _lasting(found: Found) -> Lasting | None:
    minutes = found.get("minutes", Number)
    if minutes is not None:
        return None if minutes.value is None else Lasting(float(minutes.value))
    hours, more = found.get("hours", Number) or found.get("quarters", Number), found.values(Number, "more")
    if hours is not None and hours.value is None:
        return None
    whole = 0.5 if found["half"] else float(hours.value or 0) if hours else 1
    whole /= 4 if found["quarter"] else 1
    return Lasting(whole * 60 + (float(more[0].value or 0) if more else 30 if found["and"] or found["and_half"] else 0))
