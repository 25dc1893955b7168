"""Options of the server: where it listens, and who may log in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from sagagraph.access.login import Known
from sagagraph.access.roles import Role
from sagagraph.errors import InvalidInputError
from sagagraph.settings import OidcSettings, Settings

LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Raises `InvalidInputError` for a host that others can reach when nobody needs to log in."""

    host: str = "127.0.0.1"
    port: int = 7860
    users: Mapping[str, Known] = field(default_factory=dict)
    oidc: OidcSettings | None = None

    def __post_init__(self) -> None:
        if not self.is_loopback and not self.users and self.oidc is None:
            raise InvalidInputError(
                f"{self.host} can be reached by others: set --user and --password (or SAGAGRAPH_UI_USER and …_PASSWORD), or name"
                " users in the file of settings",
                field="--host",
            )

    @property
    def is_loopback(self) -> bool:
        return self.host in LOOPBACK_NAMES


def users_of(settings: Settings) -> dict[str, Known]:
    """Return the users whom the settings name. Raises `InvalidInputError` for a name without a password, or the reverse."""
    name, password = settings.ui_user, settings.ui_password.revealed()
    if bool(name) is not bool(password):
        raise InvalidInputError("give both a user and a password, or neither", field="--user" if password else "--password")
    users = {each: Known(user.password.revealed(), Role(user.role)) for each, user in settings.users.items()}
    return users | ({name: Known(password, Role.OPERATOR)} if name else {})
