"""Bookings are made once, and all of them are undone if one fails."""

import asyncio
from pathlib import Path

import main
import pytest


@pytest.mark.parametrize(
    ("wanted", "status", "left"),
    [(["a flight", "a hotel"], "committed", 2), (["a flight", "a hotel on the moon"], "compensated", 0)],
)
def test_everything_is_booked_or_nothing(
    wanted: list[str], status: str, left: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(main, "BOOKINGS", tmp_path / "bookings")
    for _ in range(2):  # the second time, nothing is booked again
        assert asyncio.run(main.trip("trip-1", wanted, f"sqlite:///{tmp_path / 'sagas.db'}")) == status
        assert len(list(main.BOOKINGS.iterdir())) == left
