"""Faults: which call of which kind fails, and how; from a file, or added while the service runs."""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from sagagraph.errors import InvalidInputError
from sagagraph.sandbox.books.calls import CallName, Kind

Mistake = Literal["other_night", "other_class", "other_name", "double_charge", "other_fee", "partial_refund", "retimed"]
"""The call is carried out otherwise than requested, and the answer says what was done."""
Fault = Literal["refuse", "before", "after", "hang", "late", "price_up", 429, 500] | Mistake
_DEFAULT_SECONDS: dict[Fault, float] = {"hang": 30.0, "late": 3.0, "retimed": 3 * 3600.0}
_A_DAY_S = 86400


class FaultRule(BaseModel, frozen=True, strict=True, extra="forbid"):
    """Rule of a faults file: what happens to the `nth` call of this kind and name."""

    kind: Kind | Literal["*"]
    call: CallName
    nth: int = Field(1, ge=1)
    fault: Fault
    seconds: float | None = Field(None, ge=0, le=_A_DAY_S)
    retry_after: float | None = Field(None, ge=0, le=_A_DAY_S)
    """For 429, 500 and `before`: how many seconds the answer asks the caller to wait."""

    @property
    def duration(self) -> timedelta:
        seconds = _DEFAULT_SECONDS.get(self.fault, 0.0) if self.seconds is None else self.seconds
        return timedelta(seconds=seconds)

    def concerns(self, kind: Kind, call: CallName) -> bool:
        return self.call == call and self.kind in ("*", kind)


class FaultOrder(FaultRule):
    """Fault added while the service runs: `nth` counts from the moment at which it was added."""

    saga_id: str | None = Field(None, min_length=1)
    """Only calls with this label; None: everybody's."""


@dataclass(frozen=True)
class FaultFile:
    """Faults file: its entries, and the hash under which the database counts them, so that a restart does not fire a
    fault again.
    """

    file_hash: str = ""
    rules: tuple[FaultRule, ...] = ()

    def concerns(self, kind: Kind, call: CallName) -> bool:
        return any(rule.concerns(kind, call) for rule in self.rules)

    def take(self, tx: sqlite3.Connection, kind: Kind, call: CallName) -> FaultRule | None:
        """Count one call and return the first entry whose turn it is."""
        due = None
        for entry, rule in enumerate(self.rules):
            if rule.concerns(kind, call):
                row = tx.execute(
                    "INSERT INTO fault_counts (file, entry, calls) VALUES (?, ?, 1)"
                    " ON CONFLICT DO UPDATE SET calls = calls + 1 RETURNING calls",
                    (self.file_hash, entry),
                ).fetchone()
                due = rule if due is None and row["calls"] == rule.nth else due
        return due


@dataclass
class _Waiting:
    order: FaultOrder
    calls: int = 0


class FaultOrders:
    """Faults that fire once. They are kept in memory: a restart forgets them. May be used from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[_Waiting] = []

    def add(self, order: FaultOrder) -> None:
        with self._lock:
            self._waiting.append(_Waiting(order))

    @property
    def open(self) -> tuple[FaultOrder, ...]:
        with self._lock:
            return tuple(each.order for each in self._waiting)

    def take(self, kind: Kind, call: CallName, saga_id: str | None) -> FaultOrder | None:
        """Count one call and return the first fault whose turn it is, which is then used up."""
        with self._lock:
            meant = [each for each in self._waiting if each.order.concerns(kind, call) and each.order.saga_id in (None, saga_id)]
            for each in meant:
                each.calls += 1
            due = next((each for each in meant if each.calls == each.order.nth), None)
            if due is None:
                return None
            self._waiting.remove(due)
            return due.order


_FILE = TypeAdapter(list[FaultRule])


def load_faults(path: Path) -> FaultFile:
    """Load a faults file.

    Raises:
        InvalidInputError: it cannot be read, or an entry is broken; the message names the entry and its field.
    """
    try:
        content = path.read_bytes()
        rules = _FILE.validate_json(content)
    except OSError as exc:
        raise InvalidInputError(f"{path} cannot be read: {exc.strerror}", field="--faults") from exc
    except ValidationError as exc:
        raise InvalidInputError(f"{path}: {_first_problem(exc)}", field="--faults") from exc
    return FaultFile(sha256(content).hexdigest(), tuple(rules))


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_context=False, include_input=False)[0]
    match problem["loc"]:
        case (int(entry), str(field), *_):
            return f"entry {entry + 1}, {field}: {problem['msg']}"
        case (int(entry), *_):
            return f"entry {entry + 1}: {problem['msg']}"
        case _:
            return problem["msg"]
