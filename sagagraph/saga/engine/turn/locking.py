"""Locking: what waits in a coordinator for locks that other sagas keep, and for how long (docs/protocol.md rule 12)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from msgspec.structs import replace

from sagagraph.errors import LockedError
from sagagraph.saga.core import commands as c
from sagagraph.saga.core.events import Blocker, LocksRetaken
from sagagraph.saga.core.locks import Holding, in_words, may_wait_for
from sagagraph.saga.core.state import Saga
from sagagraph.saga.core.steps import Record, Step, Wait
from sagagraph.saga.engine.turn.arrivals import Arrival, fail_all
from sagagraph.workflow.operation import OperationSpec
from sagagraph.workflow.policy import Policy

POLL_S = 0.1
"""How often it is tried again."""


@dataclass(slots=True)
class LockQueue:
    waiting: list[Arrival] = field(default_factory=list)
    _retake_at: float = 0.0
    """When yielded locks are asked for again."""
    _retake_until: float = 0.0

    @property
    def next_at(self) -> float:
        return min((each.not_before for each in self.waiting), default=float("inf"))

    def admitted(self, inbox: list[Arrival], now: float) -> tuple[list[Arrival], list[Arrival]]:
        """Return what is decided in this turn, and what is left: one arrival at a time asks for locks, because only the whole
        commit can be refused them.
        """
        if not self.waiting and len(inbox) < 2:
            return inbox, []
        due = [each for each in self.waiting if each.not_before <= now]
        self.waiting = [each for each in self.waiting if each.not_before > now]
        arrived = [*(each for each in due if each.waiter is None or not each.waiter.done()), *inbox]
        asking = [each for each in arrived if wanted_by(each.command)]
        left = asking[1:]
        return [each for each in arrived if each not in left], left

    def withheld(self, steps: Iterable[Step], now: float) -> tuple[Step, ...]:
        """Return the steps without the retaking of yielded locks before it is time for that."""
        if now >= self._retake_at:
            return tuple(steps)
        return tuple(Wait(self._retake_at) if _retakes(each) else each for each in steps)

    def set_aside(self, saga: Saga, inbox: list[Arrival], exc: LockedError, now: float) -> list[Arrival]:
        """Let what was refused its locks wait, or tell whoever asked who keeps them. Returns what is to be decided now.

        Raises `exc` when yielded locks could not be had again in time.
        """
        asking = next((each for each in inbox if wanted_by(each.command)), None)
        rest = [each for each in inbox if each is not asking]
        if asking is None:
            self._retake_until = self._retake_until or now + Policy().lock_wait_s
            if now >= self._retake_until:
                raise exc
            self._retake_at = now + POLL_S
        elif (told := self._kept_waiting(saga, asking, exc, now)) is not None:
            return [*told, *rest]
        return [Arrival(_awaiting(exc)), *rest]

    def _kept_waiting(self, saga: Saga, asking: Arrival, exc: LockedError, now: float) -> list[Arrival] | None:
        """Keep it waiting, and return None; otherwise return what becomes of it."""
        wait_s = min(each.policy.lock_wait_s for each in wanted_by(asking.command))
        give_up_at = asking.give_up_at or now + wait_s
        if now < give_up_at and may_wait_for(saga, _blockers(exc)):
            self.waiting.append(asking._replace(not_before=now + POLL_S, give_up_at=give_up_at))
            return None
        if isinstance(asking.command, c.PlanOperation):  # what a body is told now, it is told in each of its runs
            return [asking._replace(command=replace(asking.command, locked_out=in_words(_blockers(exc))))]
        fail_all([asking.waiter] if asking.waiter else [], exc)
        return [Arrival(_awaiting(exc))]


def wanted_by(command: c.Command | None) -> tuple[OperationSpec, ...]:
    """Return the operations for which the command asks for locks."""
    match command:
        case c.PlanOperation(spec) if spec.locks and not command.locked_out:
            return (spec,)
        case c.AcceptPlan(operations):
            return tuple(each for each in operations if each.locks)
        case _:
            return ()


def _retakes(step: Step) -> bool:
    return isinstance(step, Record) and isinstance(step.event, LocksRetaken)


def _awaiting(exc: LockedError) -> c.AwaitLocks:
    return c.AwaitLocks(tuple(dict.fromkeys(Blocker(each.lock.key, each.saga_id, each.operation) for each in _blockers(exc))))


def _blockers(exc: LockedError) -> tuple[Holding, ...]:
    return tuple(each for each in exc.blockers if isinstance(each, Holding))
