"""Places, found by all the names that they were given: `home`, `home in Boston`, `Grandma`, `her house`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

_ARTICLE: Final = re.compile(r"^(?:the|a|an|our|my|their)\s+", re.IGNORECASE)
_OUR_HOME: Final = re.compile(
    r"^(?:(?:at )?(?:my|our) (?:own |new )?(?:house|home|place|flat|apartment|casa|garden|kitchen|(?:back ?)?yard)"
    r"|mine|ours|home)(?= in | on |$)",
    re.IGNORECASE,
)
_TERMINAL: Final = re.compile(r"\b(?:airport|terminal)\b", re.IGNORECASE)
_HOUSE: Final = re.compile(
    r"^(?P<owner>.+?)'s(?: (?:own )?(?:house|home|place|flat|apartment))?(?P<town> in [A-Z][\w ]+)?$", re.IGNORECASE
)
_OF_MEETINGS: Final = ("venue", "restaurant", "location", "party", "ceremony")
"""Words for where all meet, where nothing else is called so."""
_RAILWAY: Final = re.compile(r"^(?:train|railway) (?=station$)")
_VENUE: Final = re.compile(
    r" (?:house|lodge|chapel|church|cathedral|hall|hotel|inn|restaurant|club|farm|barn|cottage|cabin|gardens?|castle"
    r"|centre|center|primary|academy|college|arena|stadium|theatre|theater|manor|crematorium|cemetery|place|park|pub|bar|grill|school|beach)$"
)
"""Words that are left out when a place is named again."""


@lru_cache(maxsize=4096)
def plain(name: str) -> str:
    """Return a name's plain form: articles and capitals make no difference."""
    return _ARTICLE.sub("", name.strip(" ,.")).casefold()


def is_venue(name: str) -> bool:
    return bool(_VENUE.search(f" {name.casefold()}")) or name.startswith("St ")


def names_venue(name: str) -> bool:
    """Tell whether a word of it is of where people meet: `sports hall Wankdorf`."""
    return any(is_venue(word) for word in name.split())


def is_our_home(said: str) -> bool:
    """Tell whether it is where the one who tells lives: `our house`, not `home` alone."""
    return bool(_OUR_HOME.match(said)) and not said.casefold().startswith("home")


def is_terminal(said: str) -> bool:
    return bool(_TERMINAL.search(said))


def owners(said: str) -> list[str]:
    """Return whose house it is: `Ann & Bob's house` is Ann's and Bob's."""
    house = _HOUSE.match(said)
    return house["owner"].split(" & ") if house else []


def shorter(names: Iterable[str]) -> dict[str, str]:
    """Return whom a part of a name means, where it means only one: `Grandma` is `Grandma Mei`."""
    names = dict.fromkeys(names)
    parts = [(part.casefold(), name) for name in names for part in name.split() if " " in name]
    own = {name.casefold() for name in names}
    return {part: name for part, name in parts if part not in own and sum(each == part for each, _ in parts) == 1}


class Places:
    """Places of a reunion. A person's name stands for their house. A place's first name is its key, the longest describes it.

    `given`: those that came with a problem. They keep their names, and a word that only one of them has means that one.
    """

    def __init__(self, people: Iterable[str], given: Mapping[str, str]) -> None:
        names = [*people]
        self._people = {**shorter(names), **{plain(name): name for name in names}}
        self._given = given
        self._names = dict(given)
        self._keys = {plain(name): key for key, name in given.items()} | {plain(key): key for key in given}
        self._airports: set[str] = set()
        self.meeting = ""
        """Where all meet, as it was said."""

    def key(self, said: str) -> str:
        if said in self._given:
            return said
        name = _ARTICLE.sub("", _OUR_HOME.sub("home", said.strip(" ,.")))
        if said.casefold().startswith("the ") and plain(name) not in self._keys and self._is_where_all_meet(plain(name)):
            return self.key(self.meeting)
        house = _HOUSE.match(name)
        owner = self._people.get(plain(house["owner"] if house else name)) or self._people.get(plain(name).removesuffix("s"))
        town = house["town"] if house else None
        owned = [key for said, key in self._keys.items() if owner and plain(owner) in owners(said)]
        name = (owned[0] if len({*owned}) == 1 else f"{owner}'s house{town or ''}") if owner else name
        alike = {*self._alike(plain(name))}
        key = self._keys.get(plain(name)) or (alike.pop() if len(alike) == 1 else self._new_key(name))
        self._keys.setdefault(plain(name), key)
        self._keys.setdefault(plain(said), key)
        is_plain = plain(name) in ("airport", "home") and key in self._names
        if key not in self._given and not is_plain and len(name) > len(self._names.get(key, "")):
            self._names[key] = name[0].upper() + name[1:]
        return key

    def airport(self, said: str) -> str:
        """Take the place where somebody lands for an airport, whatever it is called."""
        is_town = self.meeting.casefold().endswith(f" in {plain(said)}") or f"{plain(said)} station" in self._keys
        key = self.key(f"{said} airport" if is_town else said)
        self._airports.add(key)
        return key

    def described(self) -> dict[str, str]:
        bare = {key for key in self._airports - self._given.keys() if not _TERMINAL.search(self._names[key])}
        return {key: f"{name} airport" if key in bare else name for key, name in self._names.items()}

    def _is_where_all_meet(self, noun: str) -> bool:
        """Tell whether `the inn` is the one where all meet."""
        words = plain(self.meeting.split(" in ")[0]).split()
        if noun in _OF_MEETINGS:
            is_named = names_venue(self.meeting) and noun not in words  # `the Town Hall` is no restaurant
            return self.meeting != "" and plain(self.meeting) != noun and not (is_named and noun == "restaurant")
        return plain(self.meeting) != noun and any(word == noun or (len(noun) > 3 and word.endswith(noun)) for word in words)

    def _alike(self, wanted: str) -> Iterator[str]:
        """Match `home` with `home in Boston`; `airport` with the only one there is."""
        for said, key in self._keys.items():
            is_airport = key in self._airports
            short, long = sorted((said, wanted), key=len)
            is_last = short not in ("house", "home", "place") and not long.endswith(f" in {short}")
            if (
                (wanted == "airport" and ("airport" in said or is_airport))
                or long.startswith((f"{short} in ", f"{short} on "))
                or _VENUE.sub("", long) == short
                or _RAILWAY.sub("", wanted) == said
                or (said.startswith("st ") and wanted in ("church", "chapel", "cathedral"))
                or said.removesuffix("'s") == wanted.removesuffix("'s")
                or (long == f"{short} airport" and (long == said or is_airport or key.isupper()))
                or (long == f"{short} station" and not is_airport)
                or (long.endswith(f" {short}") and is_last and long == said)
                or (key in self._given and {*wanted.split()} <= {*said.split()})
            ):
                yield key

    def _new_key(self, name: str) -> str:
        """Return a new key: `home in Boston` is Home, unless something else is."""
        short = re.split(r"\s+in\s+", name)[0]
        is_taken = short.casefold() in self._keys or short[:1].upper() + short[1:] in self._names
        key = name if is_taken else short
        return key[0].upper() + key[1:]
