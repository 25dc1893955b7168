"""Answers of the service: an effect that landed, or why there was none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Answer:
    status: int
    body: dict[str, Any]
    is_replay: bool = False


@dataclass
class ServiceError(Exception):
    """An answer that is not 2xx."""

    status: int
    code: str
    message: str
    details: dict[str, Any] = field(default_factory=dict)
    retry_after_s: float | None = None
    """For how long it asks to be left alone."""

    @property
    def answer(self) -> Answer:
        return Answer(self.status, {"error": {"code": self.code, "message": self.message, **self.details}})


def refusal(code: str, message: str, **details: Any) -> ServiceError:
    """A refusal: this call had no effect."""
    return ServiceError(422, code, message, details)


def unknown(what: str, name: str) -> ServiceError:
    return ServiceError(404, f"unknown_{what}", f"there is no {what} {name!r}")
