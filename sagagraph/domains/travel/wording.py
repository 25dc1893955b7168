"""Days, durations and counts as people read them."""

from datetime import date


def day_text(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


def duration_text(minutes: int) -> str:
    """`11 h 25 min`"""
    hours, rest = divmod(minutes, 60)
    return " ".join([f"{hours} h"] * (hours > 0) + [f"{rest} min"] * (rest > 0)) or "0 min"


def count_text(count: int, singular: str) -> str:
    return f"{count} {singular}{'' if count == 1 else 's'}"
