"""Somebody else's system that misbehaves: a file that real processes call, and that remembers what they did.

It loses answers before and after they land, refuses, hangs, and lets calls land long after their sender gave up or died. It keeps
every promise that it gave (docs/protocol.md rule 0), and forgives nothing that it did not promise: a repeated call lands again.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from sagagraph.errors import Refused
from sagagraph.saga.core.call import Call, Purpose
from sagagraph.saga.engine.actions import Action, Guarantees, action
from sagagraph.saga.engine.call import Probe
from sagagraph.workflow.kind import ActionKind

_TABLES = """
CREATE TABLE calls (number INTEGER PRIMARY KEY, at REAL, saga TEXT, operation TEXT, purpose TEXT, key TEXT, fate TEXT);
CREATE TABLE effects (number INTEGER PRIMARY KEY, at REAL, what TEXT, key TEXT, under TEXT);
CREATE INDEX effects_by_key ON effects (key);
CREATE INDEX calls_by_key ON calls (key);
CREATE TABLE tombstones (key TEXT PRIMARY KEY);
CREATE TABLE refusals (key TEXT PRIMARY KEY);
CREATE TABLE underway (
    number INTEGER PRIMARY KEY, due REAL, purpose TEXT, key TEXT, under TEXT, deadline REAL, dedup INT, enforces INT, finally INT,
    tombstone INT
);
"""
_LATEST_S = 3.0
"""A call that is under way lands within this time."""
_FATES = {
    Purpose.ACTION: {"ok": 55, "slow": 8, "before": 6, "after": 11, "late": 9, "hang": 4, "refuse": 7},
    Purpose.COMPENSATION: {"ok": 61, "slow": 8, "before": 6, "after": 9, "late": 8, "hang": 3, "refuse": 5},
    Purpose.VOID: {"ok": 70, "slow": 8, "before": 6, "after": 8, "late": 8},
    Purpose.PROBE: {"ok": 88, "slow": 4, "unknown": 5, "before": 3},
}
_DOOMED = {"refuse": 75, "before": 8, "hang": 5, "late": 7, "after": 5}


class Promises(NamedTuple):
    """What an action declares of its provider, and whether that can be asked or reversed."""

    dedup: bool
    void: bool
    deadline: bool
    refusals_final: bool
    probe: bool
    reverse: bool
    settles: bool
    """What was sent lands within `_LATEST_S`, as everything does here."""
    copes: bool
    """Its compensation is the void, and leaves no tombstone where everything settles."""

    def __str__(self) -> str:
        return "+".join(name for name, given in self._asdict().items() if given) or "nothing"


ALL_PROMISES = tuple(Promises(*each) for each in product((False, True), repeat=len(Promises._fields)))


@dataclass(frozen=True, slots=True)
class Books:
    """What the ledger shows. `landed` and `undone` by the key of the operation; calls by purpose and key."""

    landed: Counter[str]
    undone: Counter[str]
    calls: Counter[tuple[Purpose, str]]

    def standing(self, key: str) -> int:
        return self.landed[key] - self.undone[key]


class Provider:
    """`seed` draws what becomes of each call: of the n-th one of a purpose and key always the same."""

    def __init__(self, path: Path, seed: str) -> None:
        self._path = path
        self._seed = seed

    def prepare(self) -> None:
        connection = sqlite3.connect(self._path)
        connection.executescript(f"PRAGMA journal_mode = WAL; {_TABLES}")
        connection.close()

    def actions(self) -> Iterator[Action]:
        for promises in ALL_PROMISES:
            for kind in ActionKind:
                yield self._action(kind, promises)

    def books(self) -> Books:
        """After everything that is due has landed."""
        with self._transaction() as now:
            self._let_land(now)
            effects = self._connection.execute("SELECT what, key FROM effects").fetchall()
            calls = self._connection.execute("SELECT purpose, key FROM calls").fetchall()
        landed = Counter(key for what, key in effects if what == "landed")
        undone = Counter(key for what, key in effects if what == "undone")
        return Books(landed, undone, Counter((Purpose(purpose), key) for purpose, key in calls))

    def fates(self) -> Counter[str]:
        return Counter(fate for (fate,) in self._connection.execute("SELECT fate FROM calls"))

    def rest_s(self) -> float:
        """How long until the last call that is under way has landed."""
        with self._transaction() as now:
            self._let_land(now)
            (last,) = self._connection.execute("SELECT max(due) FROM underway").fetchone()
        return max(0.0, last - now) if last is not None else 0.0

    def told(self, sagas: Collection[str]) -> list[str]:
        """Their calls and effects, for people."""
        calls = self._connection.execute("SELECT at, saga, operation, purpose, key, fate FROM calls ORDER BY number").fetchall()
        effects = self._connection.execute("SELECT at, what, key, under FROM effects ORDER BY number").fetchall()
        lines = [(at, f"call at {at:.3f}: {' '.join(rest)}") for at, *rest in calls if rest[0].partition("~")[0] in sagas]
        lines += [
            (at, f"effect at {at:.3f}: {what} {key} under {under}")
            for at, what, key, under in effects
            if key.partition("/")[0] in sagas
        ]
        return [line for _at, line in sorted(lines)]

    # -- actions -----------------------------------------------------------------------------------------------------

    def _action(self, kind: ActionKind, promises: Promises) -> Action:
        async def execute(request: Any, call: Call) -> Any:
            return await self._called(_Arrival(Purpose.ACTION, call, promises, kind), doomed=bool(request["doomed"]))

        async def undo(_request: Any, _result: Any, call: Call) -> Any:
            return await self._called(_Arrival(Purpose.COMPENSATION, call, promises, kind))

        async def void(_request: Any, call: Call) -> Any:
            return await self._called(_Arrival(Purpose.VOID, call, promises, kind))

        async def probe(_request: Any, call: Call) -> Probe:
            said: Probe = await self._called(_Arrival(Purpose.PROBE, call, promises, kind))
            return said

        has_effect = kind is not ActionKind.READ_ONLY
        copes = promises.copes and kind is ActionKind.COMPENSATABLE
        guarantees = Guarantees(
            dedup=timedelta(days=1) if promises.dedup else None,
            void=True if copes else void if promises.void else None,
            deadline=promises.deadline,
            refusals_final=promises.refusals_final,
            settles=timedelta(seconds=_LATEST_S) if promises.settles else None,
        )
        declared: dict[str, Any] = {"kind": kind, "name": action_name(kind, promises)}
        if has_effect:
            declared["guarantees"] = guarantees
        if has_effect and promises.probe:
            declared["probe"] = probe
        if kind is ActionKind.COMPENSATABLE:
            declared["compensate"] = undo
        elif has_effect and promises.reverse:
            declared["reverse"] = undo
        return action(execute, **declared)

    # -- calls -------------------------------------------------------------------------------------------------------

    async def _called(self, arrival: _Arrival, *, doomed: bool = False) -> Any:
        fate, wait_s = self._received(arrival, _DOOMED if doomed else _FATES[arrival.purpose])
        match fate:
            case "before":
                raise ConnectionError("lost on the way there")
            case "late":
                raise ConnectionError("no answer")
            case "hang":
                await asyncio.sleep(_LATEST_S)
                raise ConnectionError("no answer")
            case "slow":
                await asyncio.sleep(wait_s / 20)
            case "unknown":
                return Probe.unknown("the provider is not sure")
            case "refuse":
                return self._turned_away(arrival, transient=not doomed)
        answer = self._done(arrival)
        if fate == "after":
            raise ConnectionError("lost on the way back")
        return answer

    def _received(self, arrival: _Arrival, fates: dict[str, int]) -> tuple[str, float]:
        """What becomes of this call, and for how long it is under way."""
        call, purpose = arrival.call, arrival.purpose
        with self._transaction() as now:
            self._let_land(now)
            (before,) = self._connection.execute(
                "SELECT count(*) FROM calls WHERE key = ? AND purpose = ?", (call.idempotency_key, purpose)
            ).fetchone()
            random = Random(f"{self._seed} {purpose} {call.idempotency_key} {before}")
            fate = random.choices(tuple(fates), weights=tuple(fates.values()))[0]
            wait_s = random.uniform(0.05, _LATEST_S)
            self._connection.execute(
                "INSERT INTO calls (at, saga, operation, purpose, key, fate) VALUES (?, ?, ?, ?, ?, ?)",
                (now, call.saga_id, call.operation_id, purpose, call.idempotency_key, fate),
            )
            if fate in ("late", "hang") and arrival.has_effect:
                self._connection.execute(
                    "INSERT INTO underway (due, purpose, key, under, deadline, dedup, enforces, finally, tombstone)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (now + wait_s, *arrival.effect),
                )
        return fate, wait_s

    def _turned_away(self, arrival: _Arrival, *, transient: bool) -> Any:
        with self._transaction() as now:
            self._let_land(now)
            effect = arrival.effect
            if arrival.has_effect and effect.dedup and self._is_remembered(effect):
                return {"receipt": effect.key}  # a repeated call is answered as the first one was
            if arrival.purpose is Purpose.ACTION:
                self._refuse(effect, "sold out", "sold_out", transient=transient)
                return {"receipt": effect.key}
            raise Refused("not now", code="not_now", transient=transient)

    def _done(self, arrival: _Arrival) -> Any:
        with self._transaction() as now:
            self._let_land(now)
            if arrival.purpose is Purpose.PROBE:
                return self._found(arrival.call.operation_key)
            if arrival.has_effect:
                self._take_effect(arrival.effect, now)
        return {"receipt": arrival.call.operation_key}

    # -- effects -----------------------------------------------------------------------------------------------------

    def _let_land(self, now: float) -> None:
        columns = "due, number, purpose, key, under, deadline, dedup, enforces, finally, tombstone"
        due = f"SELECT {columns} FROM underway WHERE due <= ? ORDER BY due"
        for at, number, *effect in self._connection.execute(due, (now,)).fetchall():
            self._connection.execute("DELETE FROM underway WHERE number = ?", (number,))
            with suppress(Refused):
                self._take_effect(_Effect(Purpose(effect[0]), *effect[1:]), at)

    def _take_effect(self, effect: _Effect, at: float) -> None:
        match effect.purpose:
            case Purpose.ACTION:
                self._land(effect, at)
            case Purpose.COMPENSATION:
                if not (effect.dedup and self._is_remembered(effect)):
                    self._write("undone", effect, at)
            case Purpose.VOID:
                if effect.tombstone:
                    self._connection.execute("INSERT OR IGNORE INTO tombstones VALUES (?)", (effect.key,))
                for _ in range(self._count("landed", key=effect.key) - self._count("undone", key=effect.key)):
                    self._write("undone", effect, at)

    def _land(self, effect: _Effect, at: float) -> None:
        if self._has("tombstones", effect.key):
            raise Refused("it was cancelled before it came", code="voided")
        if effect.dedup and self._is_remembered(effect):
            return
        if effect.enforces and at > effect.deadline:
            self._refuse(effect, "it came after its deadline", "too_late")
        elif effect.finally_ and self._has("refusals", effect.key):
            raise Refused("it was refused before", code="sold_out")
        else:
            self._write("landed", effect, at)

    def _refuse(self, effect: _Effect, reason: str, code: str, *, transient: bool = False) -> None:
        """Where refusals are final, for all calls with this key: so not where one has landed; that is the answer then."""
        if effect.finally_:
            if self._count("landed", key=effect.key):
                return
            self._connection.execute("INSERT OR IGNORE INTO refusals VALUES (?)", (effect.key,))
        raise Refused(reason, code=code, transient=transient)

    def _is_remembered(self, effect: _Effect) -> bool:
        what = "undone" if effect.purpose is Purpose.COMPENSATION else "landed"
        return self._count(what, under=effect.under) > 0

    def _found(self, key: str) -> Probe:
        landed, undone = self._count("landed", key=key), self._count("undone", key=key)
        if landed > 1:
            return Probe.multiple([key] * landed)
        if landed == 0:
            return Probe.absent()
        return Probe.undone({"receipt": key}) if undone else Probe.landed({"receipt": key})

    def _write(self, what: str, effect: _Effect, at: float) -> None:
        self._connection.execute(
            "INSERT INTO effects (at, what, key, under) VALUES (?, ?, ?, ?)", (at, what, effect.key, effect.under)
        )

    def _count(self, what: str, **where: str) -> int:
        ((column, value),) = where.items()
        found = self._connection.execute(
            f"SELECT count(*) FROM effects WHERE what = ? AND {column} = ?",
            (what, value),
        )
        return int(found.fetchone()[0])

    def _has(self, table: str, key: str) -> bool:
        found = self._connection.execute(f"SELECT 1 FROM {table} WHERE key = ?", (key,))
        return found.fetchone() is not None

    @cached_property
    def _connection(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=30, isolation_level=None)
        connection.execute("PRAGMA synchronous = OFF")  # the process dies, the machine does not
        return connection

    @contextmanager
    def _transaction(self) -> Iterator[float]:
        """All calls, one after the other; gives the time."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield time.time()
        finally:  # what was refused has changed nothing, or is a refusal to be remembered
            self._connection.execute("COMMIT")

    def close(self) -> None:
        if "_connection" in self.__dict__:
            self._connection.close()
            del self.__dict__["_connection"]


class _Effect(NamedTuple):
    purpose: Purpose
    key: str
    under: str
    deadline: float
    dedup: bool
    enforces: bool
    finally_: bool
    tombstone: bool


@dataclass(frozen=True, slots=True)
class _Arrival:
    purpose: Purpose
    call: Call
    promises: Promises
    kind: ActionKind

    @property
    def has_effect(self) -> bool:
        return self.kind is not ActionKind.READ_ONLY and self.purpose is not Purpose.PROBE

    @property
    def effect(self) -> _Effect:
        call, promises = self.call, self.promises
        deadline = call.deadline.timestamp()
        # A reversal is an action whose own key is not that of what it undoes: `operation_key` says which.
        copes = promises.copes and self.kind is ActionKind.COMPENSATABLE and self.purpose is Purpose.COMPENSATION
        return _Effect(
            Purpose.VOID if copes else self.purpose,
            call.operation_key,
            call.idempotency_key,
            deadline,
            promises.dedup,
            promises.deadline,
            promises.refusals_final,
            not copes or not promises.settles,
        )


def action_name(kind: ActionKind, promises: Promises) -> str:
    return f"{kind.value} {promises}"
