"""An abstract world for exploring the pure core: providers, calls in flight, time. Small, hashable, and without mercy.

The core under test is the real one (`decide`, `intent`, `evolve`, `next_steps`); only the outside is modelled here: a call
that is in flight may land, or vanish, at any later moment, final ones included.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Profile:
    """What a provider guarantees, and whether it can be asked."""

    dedup: bool = False
    void: bool = False
    deadline: bool = False
    refusals_final: bool = False
    probe: bool = True

    def __str__(self) -> str:
        names = [name for name in ("dedup", "void", "deadline", "refusals_final", "probe") if getattr(self, name)]
        return "+".join(names) or "nothing"


@dataclass(frozen=True, slots=True)
class Orphan:
    """A call of a worker that no longer waits for it."""

    generation: int
    deadline: float


@dataclass(frozen=True, slots=True)
class Provider:
    """The truth about one operation's effect: what an outside ledger would show, and what may still arrive."""

    live: int = 0
    landings: int = 0
    undos: int = 0
    remembered: frozenset[int] = frozenset()
    """Generations whose key has landed and is remembered."""
    landed_as: frozenset[int] = frozenset()
    tombstones: frozenset[int] = frozenset()
    refused: frozenset[int] = frozenset()
    undo_remembered: frozenset[int] = frozenset()
    orphans: tuple[Orphan, ...] = ()
    undo_orphans: tuple[int, ...] = ()
    """Undo generations in flight."""
    void_orphans: tuple[int, ...] = ()
    """Generations whose void is in flight."""

    def accepts(self, generation: int) -> bool:
        return generation not in self.tombstones and generation not in self.refused

    def land(self, profile: Profile, generation: int) -> Provider:
        """A call arrives and is not refused."""
        if profile.dedup and generation in self.remembered:
            return self
        remembered = self.remembered | {generation} if profile.dedup else self.remembered
        return replace(
            self,
            live=self.live + 1,
            landings=self.landings + 1,
            remembered=remembered,
            landed_as=self.landed_as | {generation},
        )

    def undo(self, profile: Profile, undo_generation: int) -> Provider:
        """A compensation arrives. Without a remembered key it lands again, as real refunds do."""
        if profile.dedup and undo_generation in self.undo_remembered:
            return self
        remembered = self.undo_remembered | {undo_generation} if profile.dedup else self.undo_remembered
        return replace(self, live=max(0, self.live - 1), undos=self.undos + 1, undo_remembered=remembered)

    def voided(self, generation: int) -> Provider:
        """Cancel by key: what landed under it is undone, what arrives later is refused."""
        undone = self.live if generation in self.landed_as else 0
        return replace(self, live=self.live - undone, undos=self.undos + undone, tombstones=self.tombstones | {generation})

    def pruned(self, profile: Profile, now: float) -> Provider:
        """Without the calls whose arrival changes nothing any more: refused, too late, or deduplicated."""
        orphans = tuple(
            each
            for each in self.orphans
            if self.accepts(each.generation)
            and not (profile.deadline and now > each.deadline)
            and not (profile.dedup and each.generation in self.remembered)
        )
        voids = tuple(each for each in self.void_orphans if each not in self.tombstones)
        undos = tuple(each for each in self.undo_orphans if each not in self.undo_remembered)
        if (orphans, voids, undos) == (self.orphans, self.void_orphans, self.undo_orphans):
            return self
        return replace(self, orphans=orphans, void_orphans=voids, undo_orphans=undos)

    def without(self, orphan: Orphan) -> Provider:
        rest = list(self.orphans)
        rest.remove(orphan)
        return replace(self, orphans=tuple(rest))

    def without_undo(self, undo_generation: int) -> Provider:
        rest = list(self.undo_orphans)
        rest.remove(undo_generation)
        return replace(self, undo_orphans=tuple(rest))

    def without_void(self, generation: int) -> Provider:
        rest = list(self.void_orphans)
        rest.remove(generation)
        return replace(self, void_orphans=tuple(rest))

    def with_orphan(self, orphan: Orphan) -> Provider:
        return replace(self, orphans=tuple(sorted((*self.orphans, orphan), key=lambda o: (o.generation, o.deadline))))

    def with_undo_orphan(self, undo_generation: int) -> Provider:
        return replace(self, undo_orphans=tuple(sorted((*self.undo_orphans, undo_generation))))

    def with_void_orphan(self, generation: int) -> Provider:
        return replace(self, void_orphans=tuple(sorted((*self.void_orphans, generation))))
