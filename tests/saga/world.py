"""An abstract world for exploring the pure core: providers, calls in flight, time. Small, hashable, and without mercy.

The core under test is the real one (`decide`, `intent`, `evolve`, `next_steps`); only the outside is modelled here: a call
that is in flight may land, or vanish, at any later moment, final ones included.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from sagagraph.saga.core.events import ProbeAnswer

SETTLES_S = 5.0
GUARANTEES = ("dedup", "void", "deadline", "refusals_final", "probe")


@dataclass(frozen=True, slots=True)
class Profile:
    """What a provider guarantees, and whether it can be asked."""

    dedup: bool = False
    void: bool = False
    deadline: bool = False
    refusals_final: bool = False
    probe: bool = True
    settles: bool = False
    """What is in flight lands within `SETTLES_S` after its sender has ended, or never."""
    copes: bool = False
    """The compensation is the void. It leaves a tombstone, unless everything settles."""

    def __str__(self) -> str:
        return "+".join(name for name in (*GUARANTEES, "settles", "copes") if getattr(self, name)) or "nothing"


Keys = frozenset[int]
NO_KEYS: Keys = frozenset()


class Provider(NamedTuple):
    """The truth about one operation's effect: what an outside ledger would show, and what may still arrive.

    A key is the generation that it was minted for; an undo's key is its own generation.
    """

    live: int = 0
    landings: int = 0
    undos: int = 0
    remembered: Keys = NO_KEYS
    """Keys under which something landed, as long as they are remembered."""
    landed_as: Keys = NO_KEYS
    tombstones: Keys = NO_KEYS
    refused: Keys = NO_KEYS
    broken: Keys = NO_KEYS
    """Keys for which a cached 5xx is repeated: no call with one of them lands."""
    undo_remembered: Keys = NO_KEYS
    calls: tuple[int, ...] = ()
    """Keys of calls in flight whose sender does not wait for them any more."""
    undo_calls: tuple[int, ...] = ()
    void_calls: tuple[int, ...] = ()
    is_loose: bool = False
    """A sender of what is in flight may still be alive: it can be sent at any time."""
    aged_s: float = 0.0
    """How long everything in flight has been on its way, where it settles."""

    @property
    def in_flight(self) -> int:
        return len(self.calls) + len(self.undo_calls) + len(self.void_calls)

    def answer(self) -> ProbeAnswer:
        """What an honest probe says."""
        if self.live > 1:
            return ProbeAnswer.MULTIPLE
        if self.live == 1:
            return ProbeAnswer.LANDED
        return ProbeAnswer.UNDONE if self.landings else ProbeAnswer.ABSENT

    def accepts(self, key: int) -> bool:
        return key not in self.tombstones and key not in self.refused

    def land(self, profile: Profile, key: int) -> Provider:
        """A call arrives that is not refused."""
        if key in self.remembered:
            return self
        remembered = self.remembered | {key} if profile.dedup else self.remembered
        return self._replace(
            live=self.live + 1, landings=self.landings + 1, remembered=remembered, landed_as=self.landed_as | {key}
        )

    def undo(self, profile: Profile, key: int) -> Provider:
        """A compensation arrives. Without a remembered key it lands again, as real refunds do."""
        if key in self.undo_remembered or (profile.copes and not self.live):
            return self
        remembered = self.undo_remembered | {key} if profile.dedup else self.undo_remembered
        return self._replace(live=max(0, self.live - 1), undos=self.undos + 1, undo_remembered=remembered)

    def voided(self, profile: Profile, key: int) -> Provider:
        """Cancel by key: what landed under it is undone, what arrives later is refused if there is a tombstone."""
        undone = self.live if key in self.landed_as else 0
        tombstones = self.tombstones if profile.copes and profile.settles else self.tombstones | {key}
        return self._replace(live=self.live - undone, undos=self.undos + undone, tombstones=tombstones)

    def sent(self, profile: Profile, *, is_loose: bool) -> Provider:
        """Something more is in flight from now on."""
        return self._replace(is_loose=self.is_loose or is_loose, aged_s=0.0) if profile.settles else self

    def ended(self) -> Provider:
        """No sender of what is in flight is alive any more."""
        return self._replace(is_loose=False, aged_s=0.0) if self.in_flight and self.is_loose else self

    def older(self, profile: Profile, by_s: float) -> Provider:
        """Time passes: what has settled by then does not land any more."""
        if not profile.settles or self.is_loose or not self.in_flight:
            return self
        if self.aged_s + by_s >= SETTLES_S:
            return self.with_nothing_in_flight()
        return self._replace(aged_s=self.aged_s + by_s)

    def refuse(self, profile: Profile, key: int) -> Provider:
        return self._replace(refused=self.refused | {key}) if profile.refusals_final else self

    def pruned(self) -> Provider:
        """Without the calls whose arrival changes nothing any more: refused, broken or deduplicated."""
        if not self.in_flight:
            return self._replace(is_loose=False, aged_s=0.0) if self.is_loose or self.aged_s else self
        dead = self.tombstones | self.refused | self.broken | self.remembered
        return self._replace(
            calls=tuple(key for key in self.calls if key not in dead),
            undo_calls=tuple(key for key in self.undo_calls if key not in self.undo_remembered),
            void_calls=tuple(key for key in self.void_calls if key not in self.tombstones),
        )

    def with_call(self, key: int) -> Provider:
        return self._replace(calls=tuple(sorted((*self.calls, key))))

    def with_undo_call(self, key: int) -> Provider:
        return self._replace(undo_calls=tuple(sorted((*self.undo_calls, key))))

    def with_void_call(self, key: int) -> Provider:
        return self._replace(void_calls=tuple(sorted((*self.void_calls, key))))

    def without_call(self, key: int) -> Provider:
        return self._replace(calls=_less(self.calls, key))

    def without_undo_call(self, key: int) -> Provider:
        return self._replace(undo_calls=_less(self.undo_calls, key))

    def without_void_call(self, key: int) -> Provider:
        return self._replace(void_calls=_less(self.void_calls, key))

    def with_nothing_in_flight(self) -> Provider:
        return self._replace(calls=(), undo_calls=(), void_calls=()) if self.in_flight else self

    def after_deadlines(self) -> Provider:
        """Every deadline that was given so far has passed, by any clock."""
        return self._replace(calls=()) if self.calls else self

    def after_retention(self) -> Provider:
        """Keys are forgotten. A call does not outlive the retention: that is what retention is chosen for."""
        return self.with_nothing_in_flight()._replace(remembered=NO_KEYS, broken=NO_KEYS, undo_remembered=NO_KEYS)


def _less(keys: tuple[int, ...], key: int) -> tuple[int, ...]:
    rest = list(keys)
    rest.remove(key)
    return tuple(rest)
