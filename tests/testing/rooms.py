"""Rooms: files under the folder of `ROOMS`, by actions that keep what they promise, and by some that do not."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sagagraph import Call, Guarantees, Probe, action
from sagagraph.errors import Refused

SETTLES = timedelta(seconds=0.3)


def _file(key: str, suffix: str = "room") -> Path:
    return Path(os.environ["ROOMS"]) / f"{key.replace('/', '_')}.{suffix}"


def find(_request: Any, call: Call) -> Probe:
    return Probe.landed(call.operation_key) if _file(call.operation_key).exists() else Probe.absent()


def cancel(_request: Any, _result: Any, call: Call) -> None:
    _file(call.operation_key).unlink(missing_ok=True)


def cancel_for_good(request: Any, result: Any, call: Call) -> None:
    _file(call.operation_key, "gone").touch()
    cancel(request, result, call)


def _written(_request: Any, call: Call) -> str:
    time.sleep(0.05)
    _file(call.operation_key).touch()
    return call.operation_key


def _written_unless_gone(request: Any, call: Call) -> str:
    if _file(call.operation_key, "gone").exists():
        raise Refused("it was cancelled")
    return _written(request, call)


def _written_later(_request: Any, call: Call) -> str:
    """A process of its own writes it, after the time in which everything should have settled."""
    wait_s = 0.0 if call.operation_id == "whole" else 2.5
    code = f"import pathlib, time; time.sleep({wait_s}); pathlib.Path({str(_file(call.operation_key))!r}).touch()"
    subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    time.sleep(0.05)
    return call.operation_key


def _written_in_time(request: Any, call: Call) -> str:
    if datetime.now(UTC) > call.deadline:
        raise Refused("too late")
    return _written(request, call)


def _written_once_more(_request: Any, call: Call) -> str:
    with _file(call.operation_key).open("a") as file:
        file.write("x")
    return call.operation_key


def _counted(_request: Any, call: Call) -> Probe:
    file = _file(call.operation_key)
    times = len(file.read_text()) if file.exists() else 0
    return Probe.absent() if not times else Probe.landed(1) if times == 1 else Probe.multiple([1] * times)


_HERE = Guarantees(settles=SETTLES, here=True)
settles = action(_written, name="settles", compensate=cancel, probe=find, guarantees=_HERE)
settles_late = action(_written_later, name="settles_late", compensate=cancel, probe=find, guarantees=_HERE)
copes = action(_written_unless_gone, name="copes", compensate=cancel_for_good, probe=find, guarantees=Guarantees(void=True))
copes_until_later = action(_written, name="copes_until_later", compensate=cancel, probe=find, guarantees=Guarantees(void=True))
in_time = action(_written_in_time, name="in_time", compensate=cancel, probe=find, guarantees=Guarantees(deadline=True))
at_any_time = action(_written, name="at_any_time", compensate=cancel, probe=find, guarantees=Guarantees(deadline=True))
once = action(_written, name="once", compensate=cancel, probe=find, guarantees=Guarantees(dedup=timedelta(days=1)))
again = action(
    _written_once_more, name="again", compensate=cancel, probe=_counted, guarantees=Guarantees(dedup=timedelta(days=1))
)
unasked = action(_written, name="unasked", compensate=cancel, guarantees=Guarantees(settles=SETTLES))
