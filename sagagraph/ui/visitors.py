"""Visitors, and who owns which saga.

A saga's id begins with its visitor's tag, so that ownership needs no table and survives a restart. A visitor's token is a secret
of their browser; the tag is a hash of it, and tells nobody the token.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Protocol

from sagagraph.access.roles import Role
from sagagraph.errors import UnknownSagaError

_TAG_DIGITS = 16
TOKEN_BYTES = 24


@dataclass(frozen=True, slots=True)
class Visitor:
    tag: str
    name: str
    """The name under which the visitor's decisions are signed in the journal."""
    role: Role = Role.GUEST

    def owns(self, saga_id: str) -> bool:
        """Tell whether the saga is the visitor's, or undoes or amends one that is."""
        return saga_id.startswith(self.prefix)

    def sees(self, saga_id: str) -> bool:
        """Tell whether they own it, or their role sees all; what they may do with it, the rules of `access.roles` say."""
        return self.role.sees_all or self.owns(saga_id)

    @property
    def prefix(self) -> str:
        """The beginning of the ids of the visitor's sagas."""
        return f"{self.tag}-"

    def new_id(self, kind: str, unique: str) -> str:
        return f"{self.tag}-{kind}-{unique}"

    def check_sees(self, saga_id: str) -> None:
        """Check the owner. Raises `UnknownSagaError`: to a visitor, somebody else's sagas do not exist."""
        if not self.sees(saga_id):
            raise UnknownSagaError(f"there is no saga {saga_id!r}", saga_id=saga_id)


def guest(token: str) -> Visitor:
    """Return the visitor whose browser has this token."""
    tag = f"v{_digest('visitor', token)}"
    return Visitor(tag, f"visitor {tag[1:7]}")


def user(name: str, role: Role = Role.PLANNER) -> Visitor:
    """Return the visitor who has logged in under this name, from any browser."""
    return Visitor(f"u{_digest('user', name)}", f"user {name}", role)


def known_elsewhere(subject: str, name: str, role: Role) -> Visitor:
    """Return the visitor whom an identity provider knows as `subject`: `name` is only shown, since others may bear it too."""
    return Visitor(f"o{_digest('subject', subject)}", f"user {name}", role)


class Asked(Protocol):
    """Request of Starlette or of Gradio."""

    @property
    def user(self) -> Any: ...


def visitor_of(request: Asked) -> Visitor:
    """Return the visitor that `Auth` has identified."""
    visitor: Visitor = request.user
    return visitor


def _digest(kind: str, secret: str) -> str:
    return hashlib.sha256(f"{kind}:{secret}".encode()).hexdigest()[:_TAG_DIGITS]
