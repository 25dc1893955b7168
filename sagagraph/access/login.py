"""Login by name and password: whose password it is, and what keeps others from guessing it."""

from __future__ import annotations

import hashlib
import hmac
import math
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from sagagraph.access.roles import Role

HASHED: Final = "scrypt:"
_COST: Final = {"n": 2**14, "r": 8, "p": 1, "maxmem": 2**26}
_MOST_FAILURES: Final = 10
_FORGIVEN_AFTER_S: Final = 60.0
_MOST_REMEMBERED: Final = 1000


def hashed(password: str, salt: str = "") -> str:
    """Return what a file with settings may hold instead of the password (scrypt, RFC 7914)."""
    salt = salt or secrets.token_hex(16)
    return f"{HASHED}{salt}:{hashlib.scrypt(password.encode(), salt=bytes.fromhex(salt), **_COST).hex()}"


@dataclass(frozen=True, slots=True)
class Known:
    """User who is known here. `password`: as it is, or `hashed`."""

    password: str = field(repr=False)
    role: Role


class Login:
    """Names and passwords; if there are none, everybody is let in and recognised by their browser's cookie."""

    def __init__(self, users: Mapping[str, Known]) -> None:
        self._users = dict(users)
        self._seen: dict[str, bytes] = {}
        """Name → digest of the right password: a hash that is costly on purpose is not computed for each request."""
        self._secret = secrets.token_bytes(32)

    def __bool__(self) -> bool:
        return bool(self._users)

    def role_of(self, name: str, password: str) -> Role | None:
        """Return the role, if name and password are right."""
        user = self._users.get(name)
        if user is None or not user.password:
            return None
        digest = hmac.digest(self._secret, password.encode(), "sha256")
        is_right = hmac.compare_digest(digest, self._seen.get(name, b"")) or _is(password, user.password)
        if is_right:
            self._seen[name] = digest
        return user.role if is_right else None


def _is(password: str, expected: str) -> bool:
    if expected.startswith(HASHED):
        salt = expected.removeprefix(HASHED).partition(":")[0]
        password = hashed(password, salt)
    return hmac.compare_digest(password.encode(), expected.encode())


class Failures:
    """Count of wrong passwords, which limits guessing: for one name, from one address, within a minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._counts: OrderedDict[tuple[str, str], tuple[int, float]] = OrderedDict()

    def wait_s(self, who: tuple[str, str]) -> int:
        """Return how many seconds further attempts are blocked; 0: an attempt is allowed."""
        count, until = self._counts.get(who, (0, 0.0))
        return max(0, math.ceil(until - self._clock())) if count >= _MOST_FAILURES else 0

    def add(self, who: tuple[str, str]) -> None:
        count, until = self._counts.pop(who, (0, 0.0))
        self._counts[who] = (count + 1 if self._clock() < until else 1, self._clock() + _FORGIVEN_AFTER_S)
        while len(self._counts) > _MOST_REMEMBERED:
            self._counts.popitem(last=False)
