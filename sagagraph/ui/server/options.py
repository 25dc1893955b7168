"""Options of the server: where it listens, and who may log in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from sagagraph.errors import InvalidInputError

LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Raises `InvalidInputError` for a host that others can reach when no password is set."""

    host: str = "127.0.0.1"
    port: int = 7860
    passwords: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not self.is_loopback and not self.passwords:
            raise InvalidInputError(
                f"{self.host} can be reached by others: set --user and --password (or SAGAGRAPH_UI_USER and …_PASSWORD)",
                field="--host",
            )

    @property
    def is_loopback(self) -> bool:
        return self.host in LOOPBACK_NAMES
