"""Where the app listens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sagagraph.errors import InvalidInputError
from sagagraph.ui.server.auth import LOOPBACK_NAMES


@dataclass(frozen=True, slots=True)
class Door:
    """Where the app listens, and who may come in.

    Raises `InvalidInputError` for a host that others can reach, without a password.
    """

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
