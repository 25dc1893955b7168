"""Keys: tokens for programs and sessions of browsers, each with a role and an end, which a person can bring forward.

They are documents in the store of the sagas, of which nothing is ever changed, so that it stays on record who made and who ended
each. Only a digest of a key is kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Final

from sagagraph.access.roles import Role
from sagagraph.errors import InvalidInputError
from sagagraph.saga.stores.port import Document, Documents

TOKEN: Final = "token"  # noqa: S105 - a kind, and no secret
SESSION: Final = "session"
_KIND: Final = "key"
_ALL: Final = "keys"
"""What the list of all keys is kept under."""
_MADE: Final = "made"
_ENDED: Final = "ended"
_ID_DIGITS: Final = 12


@dataclass(frozen=True, slots=True)
class Key:
    """Key as it is on record. Instants are seconds since the epoch."""

    id: str
    kind: str
    name: str
    """Whose it is."""
    role: Role
    made_at: float
    ends_at: float
    about: str = ""
    """What it is for, in its maker's words."""
    subject: str = ""
    """Who that is to an identity provider; empty: a user of this server."""
    ended_by: str = ""
    ended_at: float = 0.0


class Keys:
    def __init__(self, store: Documents, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock

    async def make(
        self, secret: str, kind: str, name: str, role: Role, lasts_s: float, about: str = "", subject: str = ""
    ) -> Key:
        """Put a key on record; `secret` must not be guessable, and is known to its owner alone from then on."""
        now = self._clock()
        key = Key(_digest(secret), kind, name, role, now, now + lasts_s, about, subject)
        await self._store.put(Document(_owner(key.id), _KIND, _MADE, asdict(key)))
        await self._store.put(Document(_ALL, _KIND, key.id, None))
        return key

    async def of(self, secret: str) -> Key | None:
        """Return whose key this is, if it is one that has not ended."""
        key = await self._read(_digest(secret))
        return None if key is None or key.ended_by or key.ends_at <= self._clock() else key

    async def all(self) -> tuple[Key, ...]:
        """Return every key that was ever made, the latest last."""
        named = await self._store.documents(_ALL, _KIND)
        return tuple([key for each in named if (key := await self._read(each.key)) is not None])

    async def end(self, key_id: str, by: str) -> Key:
        """End it at once. Safe to repeat. Raises `InvalidInputError` if there is no such key."""
        key = await self._read(key_id)
        if key is None:
            raise InvalidInputError(f"there is no key {key_id!r}", field="KEY")
        await self._store.put(Document(_owner(key_id), _KIND, _ENDED, {"by": by, "at": self._clock()}))
        return await self._read(key_id) or key

    async def _read(self, key_id: str) -> Key | None:
        found = {each.key: each.data for each in await self._store.documents(_owner(key_id), _KIND)}
        if _MADE not in found:
            return None
        made = found[_MADE]
        ended = found.get(_ENDED, {"by": "", "at": 0.0})
        return Key(**{**made, "role": Role(made["role"]), "ended_by": ended["by"], "ended_at": ended["at"]})


def _digest(secret: str) -> str:
    return hashlib.sha256(f"key:{secret}".encode()).hexdigest()[: _ID_DIGITS * 2]


def _owner(key_id: str) -> str:
    return f"{_KIND} {key_id}"
