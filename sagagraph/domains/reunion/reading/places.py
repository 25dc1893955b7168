"""Places by all the names that they were given: `home`, `home in Boston`, `Grandma`, `her house`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_ARTICLE: Final = re.compile(r"^(?:the|a|an|our|my|their)\s+", re.IGNORECASE)
_HOUSE: Final = re.compile(r"^(?P<owner>.+?)'s(?: (?:own )?(?:house|home|place|flat|apartment))?$", re.IGNORECASE)


class Places:
    """`people`: a person's name stands for their house. The first name of a place is its key, the longest says what it is."""

    def __init__(self, people: Iterable[str]) -> None:
        self._people = {name.lower(): name for name in people}
        self._keys: dict[str, str] = {}
        self._described: dict[str, str] = {}
        self._is_airport: set[str] = set()

    def key(self, said: str) -> str:
        name = _ARTICLE.sub("", said.strip(" ,."))
        owner = self._owner(name)
        name = f"{owner}'s house" if owner else name
        norm = name.lower()
        known = self._keys.get(norm) or self._alike(norm)
        key = known or self._new_key(name)
        self._keys.setdefault(norm, key)
        if len(name) > len(self._described.get(key, "")):
            self._described[key] = name[0].upper() + name[1:]
        return key

    def _new_key(self, name: str) -> str:
        """`home in Boston` is Home, unless something else is."""
        short = re.split(r"\s+in\s+", name)[0]
        key = name if short.lower() in self._keys else short
        return key[0].upper() + key[1:]

    def lands_at(self, said: str) -> None:
        """Whoever lands there lands at an airport, whatever it is called."""
        self._is_airport.add(self.key(said))

    def described(self) -> dict[str, str]:
        return {key: self._airport(key, name) for key, name in self._described.items()}

    def _airport(self, key: str, name: str) -> str:
        return f"{name} airport" if key in self._is_airport and "airport" not in name.lower() else name

    def _owner(self, name: str) -> str | None:
        house = _HOUSE.match(name)
        return self._people.get((house["owner"] if house else name).lower())

    def _alike(self, norm: str) -> str | None:
        """`home` for `home in Boston`; `airport` for the only one there is."""
        if norm in ("airport", "the airport"):
            airports = {key for said, key in self._keys.items() if "airport" in said or key in self._is_airport}
            return airports.pop() if len(airports) == 1 else None
        alike = {key for said, key in self._keys.items() if said.startswith(f"{norm} in ") or norm.startswith(f"{said} in ")}
        return alike.pop() if len(alike) == 1 else None
