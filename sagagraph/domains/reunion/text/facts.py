"""Facts: what a sentence can say of a reunion, one at a time. Places and people keep the names that were said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, fields, replace
from typing import Any, Final

from sagagraph.domains.reunion.text.places import STATION, is_terminal, plain


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact of a reunion, as one clause states it."""


@dataclass(frozen=True, slots=True)
class PersonFact(Fact):
    """A fact about one person; None was not said. `from_` in minutes since midnight."""

    name: str
    place: str | None = None
    from_: int | None = None
    drives: bool | None = None
    prefers: str | None = None
    lands: bool = False
    exit_minutes: int | None = None
    is_fetched: bool = False
    """From their own house, if nobody says where."""
    fetched_by: int | None = None
    """No plan promises it."""
    by_train: bool = False
    """And nobody says to which station."""
    is_anywhere: bool = False
    """Nobody says where they arrive: where all meet, unless they are known to land elsewhere."""


@dataclass(frozen=True, slots=True)
class VehicleFact(Fact):
    """A fact about a vehicle. `drivers` None: not said; empty: it brings its own."""

    name: str
    place: str | None = None
    seats: int | None = None
    drivers: tuple[str, ...] | None = None


RENTAL: Final = "rental car"


@dataclass(frozen=True, slots=True)
class TaskFact(Fact):
    name: str
    place: str | None = None
    minutes: int | None = None
    opens: int | None = None
    closes: int | None = None
    watched: bool = False
    is_errand: bool = False
    who: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HoursFact(Fact):
    """When a place is open."""

    place: str
    opens: int | None = None
    closes: int | None = None


@dataclass(frozen=True, slots=True)
class GoalFact(Fact):
    """A goal. `people` empty: everybody. `event`: what it is for, if that was said."""

    people: tuple[str, ...] = ()
    place: str | None = None
    by: int | None = None
    event: str = ""
    is_further: bool = False
    """Another occasion of the same people, besides their first."""

    @property
    def kind(self) -> str:
        """Return `dinner`, of `the family dinner`."""
        return plain(self.event).rpartition(" ")[2]


@dataclass(frozen=True, slots=True)
class RoadFact(Fact):
    here: str
    there: str
    minutes: float | None = None
    km: float | None = None

    @property
    def leads_everywhere(self) -> bool:
        return is_everything(self.there)


def is_everything(place: str) -> bool:
    return plain(place) in ("everything", "everything else", "everywhere", "everywhere else", "anywhere", "all of them")


@dataclass(frozen=True, slots=True)
class ObjectiveFact(Fact):
    objective: str


@dataclass(frozen=True, slots=True)
class CompanyFact(Fact):
    """People who must not wait alone, or may. `people` empty: nobody must."""

    people: tuple[str, ...] = ()
    is_wanted: bool = True


@dataclass(frozen=True, slots=True)
class ApartFact(Fact):
    """People who must not work side by side, or may."""

    people: tuple[str, ...]
    is_wanted: bool = True


@dataclass(frozen=True, slots=True)
class PlaceFact(Fact):
    """A short name for a place."""

    key: str
    name: str


@dataclass(frozen=True, slots=True)
class KerbFact(Fact):
    """How long everybody who lands takes to the kerb."""

    minutes: int


@dataclass(frozen=True, slots=True)
class HeadcountFact(Fact):
    """How many come in all."""

    number: int


@dataclass(frozen=True, slots=True)
class TruismFact(Fact):
    """What holds in every plan, or changes none."""

    words: str


Key = tuple[type[Fact], object]
Sense = frozenset[tuple[Key, frozenset[object]]]


def merged(facts: Iterable[Fact]) -> dict[Key, Fact]:
    """Merge facts into one for each subject, in which the last statement on each field holds."""
    known: dict[Key, Fact] = {}
    for fact in facts:
        if isinstance(fact, CompanyFact):
            others = {key: other for key, other in known.items() if fact.people or not isinstance(other, CompanyFact)}
            known = others | {(CompanyFact, name): replace(fact, people=(name,)) for name in fact.people or ("",)}
        else:
            fact = _further(fact, known)
            known[_key(fact)] = _with(known.get(_key(fact)), fact)
    return known


def _further(fact: Fact, known: Mapping[Key, Fact]) -> Fact:
    """Tell `the reception is at the inn at 5` after `the wedding is at the church at 2` from a change of the wedding."""
    first = known.get(_key(fact))
    if not isinstance(fact, GoalFact) or not isinstance(first, GoalFact) or not fact.event:
        return fact
    further, is_other = replace(fact, is_further=True), fact.kind != (first.kind or fact.kind)
    is_whole = None not in (first.place, first.by, fact.place, fact.by) and {first.place, first.by}.isdisjoint(
        (fact.place, fact.by)
    )
    return further if is_other and (is_whole or _key(further) in known) else fact


def said(fact: Fact) -> dict[str, Any]:
    """Return the fields that it states."""
    if isinstance(fact, CompanyFact | ObjectiveFact | ApartFact):
        return asdict(fact)
    known = ((each.name, getattr(fact, each.name), each.default) for each in fields(fact))
    return {name: value for name, value, default in known if default is not MISSING and value != default}


def sense_of(facts: Iterable[Fact]) -> Sense:
    """Return the same value for everything with the same meaning, in any order and words. The reunion's title does not count."""
    return frozenset((key, _plainly(fact)) for key, fact in merged(facts).items())


def _plainly(fact: Fact) -> frozenset[object]:
    values = {name: plain(value) if isinstance(value, str) else value for name, value in said(fact).items()}
    return frozenset((name, value) for name, value in values.items() if name != "event")


def still_holds(earlier: Iterable[Fact], later: Iterable[Fact]) -> bool:
    """Tell whether no earlier statement has been superseded."""
    earlier = tuple(earlier)
    after = merged((*earlier, *later))
    return all(key in after and _plainly(fact) <= _plainly(after[key]) for key, fact in merged(earlier).items())


def _key(fact: Fact) -> Key:
    match fact:
        case PersonFact(name) | VehicleFact(name) | TaskFact(name) | HoursFact(name):
            return type(fact), plain(name)
        case RoadFact(here, there):
            return RoadFact, frozenset((plain(here), plain(there)))
        case GoalFact(people):
            return GoalFact, (*people, fact.kind) if fact.is_further else people
        case ApartFact(people):
            return ApartFact, frozenset(map(plain, people))
        case PlaceFact(words) | TruismFact(words):
            return type(fact), plain(words)
    return type(fact), ""


def _arrives_elsewhere(before: Fact | None) -> bool:
    if not isinstance(before, PersonFact) or before.place is None:
        return False
    return before.lands or is_terminal(before.place) or STATION.search(before.place) is not None


def _with(before: Fact | None, fact: Fact) -> Fact:
    if isinstance(fact, PersonFact) and fact.is_anywhere:
        fact = replace(fact, is_anywhere=False, place=None if _arrives_elsewhere(before) else fact.place)
    if before is None or isinstance(fact, ObjectiveFact):
        return fact
    after: Fact = replace(before, **said(fact))
    if isinstance(before, PersonFact) and isinstance(after, PersonFact) and before.place not in (None, after.place):
        return replace(after, lands=getattr(fact, "lands", False))
    return after
