"""The service: its database, its clock, and the two doors to them, questions and effects."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from sagagraph.sandbox.answers import refusal
from sagagraph.sandbox.clock import DEFAULT_TODAY, YEARS, Clock
from sagagraph.sandbox.database import Database
from sagagraph.sandbox.effects import Effects
from sagagraph.sandbox.enquiries import Enquiries
from sagagraph.sandbox.faults import NO_FAULTS, load_faults
from sagagraph.sandbox.settings import SandboxSettings

_PROMISED_DEDUP_S = 86400.0
"""What is promised where keys are in fact remembered for good."""


class Service:
    def __init__(self, settings: SandboxSettings, real_now: Callable[[], datetime]) -> None:
        """
        Raises:
            InvalidInputError: the faults file or the database is not usable.
        """
        faults = load_faults(settings.faults) if settings.faults else NO_FAULTS
        self._settings = settings
        self._clock = Clock(real_now)
        self._database = Database(settings.database)
        with self._database.transaction() as tx:
            self._clock.start(tx, settings.today or DEFAULT_TODAY)
        self.enquiries = Enquiries(self._database, self._clock, market_moves=settings.market_moves)
        self.effects = Effects(self._database, self._clock, faults, settings)

    def now(self) -> datetime:
        with self._database.snapshot() as tx:
            return self._clock.now(tx)

    def advance_clock(self, by: timedelta) -> datetime:
        """Also lands what has become due, so that a caller who has waited need not wait again; returns the new time."""
        with self._database.transaction() as tx:
            if (self._clock.now(tx) + by).year not in YEARS:
                raise refusal("invalid", f"seconds: the clock ends with the year {YEARS[-1]}")
            self._clock.advance(tx, by)
        while self.effects.land_first_late_call():
            pass
        return self.now()

    def guarantees(self) -> dict[str, Any]:
        keeps = self._settings.keeps
        dedup_s = self._settings.key_retention_s or _PROMISED_DEDUP_S
        return {
            "dedup_s": dedup_s if keeps("dedup") else None,
            "void": keeps("void"),
            "deadline": keeps("deadline"),
            "refusals_final": keeps("refusals"),
        }

    def close(self) -> None:
        """Calls that still hang are given up; late ones land after the next start."""
        self.effects.give_up_calls_under_way()
        self._database.close()
