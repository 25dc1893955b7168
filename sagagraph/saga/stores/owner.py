"""Owner of a lease: a process on a machine, named so that other processes on that machine can see whether it is dead."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import psutil


def this_owner(nonce: str) -> str:
    """Return the owner's name. `nonce` tells several engines of one process apart."""
    process = psutil.Process()
    return "|".join((_machine(), str(os.getpid()), f"{process.create_time():.2f}", nonce))


def is_known_dead(owner: str) -> bool:
    """Tell whether its process has certainly ended: true only of processes of this machine, since its last boot."""
    machine, *rest = owner.split("|")
    if machine != _machine() or len(rest) != 3:
        return False
    pid, created, _nonce = rest
    try:
        process = psutil.Process(int(pid))
        return f"{process.create_time():.2f}" != created or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
    except psutil.AccessDenied:
        return False


def _machine() -> str:
    boot = Path("/proc/sys/kernel/random/boot_id")
    started = boot.read_text().strip() if boot.exists() else f"{psutil.boot_time():.0f}"
    return f"{socket.gethostname()}/{started}"
