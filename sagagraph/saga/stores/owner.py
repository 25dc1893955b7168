"""Owner of a lease: a process on a machine, named so that other processes on that machine can see whether it is dead.

"Known dead" lets another worker take a lease that still runs, so it must be certain. A process is looked for only within its own
boot and its own PID namespace, and recognised by the tick of that boot at which it started: a wall clock may be corrected while
the process lives, and a number means another process in another namespace.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path

_PROC = Path("/proc")
_START = 19
"""Field of `/proc/PID/stat`, counted from the state: the start in clock ticks since the boot."""


def this_owner(nonce: str) -> str:
    """Return the owner's name. `nonce` tells several engines of one process apart."""
    _state, started = _look("self")
    return "|".join((_machine(), _namespace(), str(os.getpid()), started, nonce))


def is_this_process(owner: str) -> bool:
    return owner.rpartition("|")[0] == this_owner("").rpartition("|")[0]


def is_known_dead(owner: str) -> bool:
    """Tell whether its process has certainly ended: true only of processes of this boot and this PID namespace.

    An earlier release wrote names in another form: its leases are waited for.
    """
    machine, *rest = owner.split("|")
    if machine != _machine() or len(rest) != 4:
        return False
    namespace, pid, started, _nonce = rest
    if namespace != _namespace() or not pid.isdecimal():
        return False
    return _has_ended(int(pid), started)


def _has_ended(pid: int, started: str) -> bool:
    if not _exists(pid):
        return True
    if not started or not _shows_this_namespace():
        return False
    state, found = _look(str(pid))
    return bool(found) and (found != started or state in ("Z", "X"))


def _exists(pid: int) -> bool:
    if os.name != "posix":
        import psutil

        return psutil.pid_exists(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):  # somebody else's, or no number that a process can have
        return True
    return True


def _look(pid: str) -> tuple[str, str]:
    """Return a process's state and its start; nothing if they cannot be seen (another system, or `hidepid`)."""
    try:
        fields = (_PROC / pid / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "", ""
    return fields[0], fields[_START]


def _shows_this_namespace() -> bool:
    """Tell whether `/proc` has the numbers of this process's namespace: a container may see its host's."""
    try:
        return (_PROC / "self").readlink().name == str(os.getpid())
    except OSError:
        return False


def _namespace() -> str:
    """Return what numbers and ticks are relative to: the PID namespace, and the time namespace."""
    return ".".join(_inode(name) for name in ("pid", "time"))


def _inode(name: str) -> str:
    try:
        return str((_PROC / "self" / "ns" / name).stat().st_ino)
    except OSError:
        return ""


def _machine() -> str:
    boot = _PROC / "sys/kernel/random/boot_id"
    return f"{socket.gethostname()}/{boot.read_text().strip() if boot.exists() else _booted_at()}"


def _booted_at() -> str:
    import psutil  # takes a seventh of the start of a command, and is needed only where there is no /proc

    return f"{psutil.boot_time():.0f}"
