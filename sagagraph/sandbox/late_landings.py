"""The background thread that carries out the calls that are to land late."""

from __future__ import annotations

import logging
import sqlite3
import threading

from sagagraph.sandbox.effects import Effects

_LOG = logging.getLogger(__name__)
_LONGEST_PAUSE_S = 0.2
"""Another process may schedule a call or advance the clock at any time."""


class LateLandings:
    """Started and stopped with the server; what is not yet due then lands after the next start."""

    def __init__(self, effects: Effects) -> None:
        self._effects = effects
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sandbox-late-landings", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        pause_s = 0.0
        while not self._stopping.wait(pause_s):
            try:
                pause_s = self._land_what_is_due()
            except sqlite3.Error:
                _LOG.exception("a late call could not be carried out; it is tried again")
                pause_s = _LONGEST_PAUSE_S

    def _land_what_is_due(self) -> float:
        """Returns for how many seconds there is nothing to do."""
        wait = self._effects.until_next_late_call()
        if wait is None:
            return _LONGEST_PAUSE_S
        if wait.total_seconds() <= 0:
            self._effects.land_first_late_call()
            return 0.0
        return min(wait.total_seconds(), _LONGEST_PAUSE_S)
