"""The provider of a simulation: it keeps what it promises, forgives nothing that it does not, and its ledger judges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random

from sagagraph import Call, Guarantees, Probe
from sagagraph.errors import Refused
from sagagraph.saga.engine.actions import Function

_SHORT_S = 6.0
_HALF = 0.5
_CLOCK_S = 0.9
"""The provider's clock is off by less than the second that guarantees count on."""


@dataclass(frozen=True)
class Promises:
    """What the provider promises for one operation, and whether it can be asked, and reversed after the pivot."""

    dedup_s: float | None
    void: bool
    deadline: bool
    refusals_final: bool
    probe: bool
    reverse: bool
    settles_s: float | None = None
    """How long what was sent may take to land."""
    copes: bool = False
    """The compensation is the void. It leaves a tombstone, unless everything settles."""

    @classmethod
    def drawn(cls, random: Random) -> Promises:
        dedup_s = random.choice([86_400.0, _SHORT_S]) if random.random() < 0.4 else None
        void, deadline, final = (random.random() < 0.3 for _each in range(3))
        return cls(dedup_s, void, deadline, final, probe=random.random() < 0.75, reverse=random.random() < 0.5)

    def guarantees(self, void: Function) -> Guarantees:
        return Guarantees(
            dedup=None if self.dedup_s is None else timedelta(seconds=self.dedup_s),
            void=True if self.copes else void if self.void else None,
            deadline=self.deadline,
            refusals_final=self.refusals_final,
            settles=None if self.settles_s is None else timedelta(seconds=self.settles_s),
        )


@dataclass
class Ledger:
    """The truth: what landed under which key and what was undone, in order."""

    landings: dict[str, int] = field(default_factory=dict)
    undos: dict[str, int] = field(default_factory=dict)
    order: list[tuple[str, bool]] = field(default_factory=list)
    """Operations in the order in which they landed (True) and were undone."""
    remembered: dict[str, float] = field(default_factory=dict)
    """Key of a call or of its undoing → when it was first carried out."""
    tombstones: set[str] = field(default_factory=set)
    refusals: set[str] = field(default_factory=set)
    history: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    below: dict[str, set[str]] = field(default_factory=dict)
    """Operation → what the saga, in any of its forms, has run after it."""

    lasting: set[str] = field(default_factory=set)
    """Operations that nothing can undo."""

    def live(self, operation: str) -> int:
        mine = [key for key in self.landings if key.split("/")[1] == operation]
        return sum(self.landings[key] - self.undos.get(key, 0) for key in mine)

    def landed_on_what_was_undone(self, operation: str, prerequisite: str) -> bool:
        undone = (prerequisite, False)
        return undone in self.order and (operation, True) in self.order[self.order.index(undone) :]

    def landed_while_it_stood(self, operation: str, other: str) -> bool:
        stands = 0
        for name, is_landing in self.order:
            if name == operation and is_landing and stands > 0:
                return True
            stands += (name == other) * (1 if is_landing else -1)
        return False

    def receipt(self, operation: str) -> str | None:
        """The key under which it stands."""
        mine = (key for key in self.landings if key.split("/")[1] == operation)
        return next((key for key in mine if self.landings[key] > self.undos.get(key, 0)), None)

    def dependents(self, operation: str) -> set[str]:
        found: set[str] = set()
        waiting = [operation]
        while waiting:
            new = self.below.get(waiting.pop(), set()) - found
            found |= new
            waiting += new
        return found


class Provider:
    def __init__(self, random: Random, now: Callable[[], float], tell: Callable[[str], None]) -> None:
        self.ledger = Ledger()
        self._now, self._tell, self._random = now, tell, random
        self.under_way: Counter[str] = Counter()
        """Keys of calls that nobody waits for: none is forgotten while one is under way (docs/proof.md)."""
        self.undoing: set[str] = set()
        """Keys of operations that somebody has begun to undo."""
        self.mistakes = ["unknown", "multiple", "multiple", "absent", "absent"]
        """Answers of a probe that are of no use."""
        self._skew_s = random.uniform(-_CLOCK_S, _CLOCK_S)

    def land(self, promises: Promises, call: Call) -> str:
        key, ledger = call.idempotency_key, self.ledger
        if key in ledger.tombstones:
            raise Refused("it was voided", code="voided")
        if promises.dedup_s is not None and self._is_remembered(key, promises.dedup_s):
            return key
        if promises.deadline and self._now() + self._skew_s > call.deadline.timestamp():
            return self.refuse(promises, key, "it came too late")
        if promises.refusals_final and key in ledger.refusals:
            raise Refused("it was refused before", code="refused")
        ledger.remembered[key] = self._now()
        ledger.landings[key] = ledger.landings.get(key, 0) + 1
        ledger.order.append((key.split("/")[1], True))
        self._tell(f"LANDS {key}")
        return key

    def refuse(self, promises: Promises, key: str, why: str, *, transient: bool = False) -> str:
        """Where refusals are final, for all calls with this key; one that has landed under it is the answer then.

        One for the time being may or may not be recorded.
        """
        if promises.refusals_final:
            if self.ledger.landings.get(key):
                return key
            if not transient or self._random.random() < _HALF:
                self.ledger.refusals.add(key)
        raise Refused(why, code="refused", transient=transient)

    def undo(self, promises: Promises, key: str, call: Call) -> str:
        """Undo what landed under `key`, which is what its call returned."""
        return self._undo(promises, key, call.idempotency_key)

    def void(self, promises: Promises, key: str) -> str:
        self.ledger.tombstones.add(key)
        if self.ledger.landings.get(key, 0) > self.ledger.undos.get(key, 0):
            self._undo(promises, key, f"{key}/void")
        return key

    def cope(self, promises: Promises, key: str) -> str:
        """Undo what has landed under `key`, if anything has, and see to it that nothing lands later."""
        if promises.settles_s is None:
            return self.void(promises, key)
        if self.ledger.landings.get(key, 0) > self.ledger.undos.get(key, 0):
            self._undo(promises, key, f"{key}/cope")
        return key

    def undo_by_hand(self, operation: str) -> None:
        for key in [each for each in self.ledger.landings if each.split("/")[1] == operation]:
            self.ledger.undos[key] = self.ledger.landings[key]
            self.ledger.order.append((operation, False))
        self._tell(f"a person cancels {operation}")

    def found(self, key: str) -> Probe:
        landed, undone = self.ledger.landings.get(key, 0), self.ledger.undos.get(key, 0)
        if landed > 1:
            return Probe.multiple([key] * landed)
        return Probe.absent() if not landed else Probe.undone() if undone else Probe.landed(key)

    def mistaken(self, promises: Promises, key: str) -> Probe:
        """An answer that is of no use: none at all, a wrong one, or one that has not seen what landed before its undoing.

        Where everything settles, what is looked up afterwards is the truth.
        """
        match self._random.choice(self.mistakes):
            case "unknown":
                return Probe.unknown("not now")
            case "multiple":
                return Probe.multiple([key] * 2)
            case "absent" if key in self.undoing and promises.settles_s is None:
                return Probe.absent()
        raise ConnectionError("no answer")

    def _undo(self, promises: Promises, key: str, undo_key: str) -> str:
        name, ledger = key.split("/")[1], self.ledger
        if promises.dedup_s is not None and not promises.copes and self._is_remembered(undo_key, promises.dedup_s):
            return key
        ledger.remembered[undo_key] = self._now()
        ledger.undos[key] = ledger.undos.get(key, 0) + 1
        ledger.order.append((name, False))
        self._tell(f"UNDONE {key}")
        if standing := [each for each in sorted(ledger.dependents(name) - ledger.lasting) if ledger.live(each) > 0]:
            ledger.faults.append(f"I5 {name} was undone while {standing} stood")
        return key

    def _is_remembered(self, key: str, for_s: float) -> bool:
        first = self.ledger.remembered.get(key)
        return first is not None and (self.under_way[key] > 0 or self._now() - first < for_s + _CLOCK_S - abs(self._skew_s))
