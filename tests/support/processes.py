"""Processes of others: whether they are alive."""

from __future__ import annotations

from contextlib import suppress

import psutil


def is_alive(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):  # it may end between the two questions
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False
