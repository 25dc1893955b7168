"""Monitor: what is foreseen for a running plan, how grave that is, and whether the plan has to be repaired before it breaks.

A domain says when something was expected, when it is foreseen now, and how much later it may be before the plan breaks. The
judgement is the same for all of them. What is foreseen changes nothing as long as the plan has room for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final, Protocol, runtime_checkable

from sagagraph.context.slice import content_hash
from sagagraph.errors import InvalidInputError
from sagagraph.planning.domain import Json
from sagagraph.saga.core.state import Saga
from sagagraph.saga.stores.port import Document, Documents

MONITOR: Final = "the monitor"
"""Who has a plan repaired."""
_FINDINGS: Final = "monitor.findings"
"""Kind of documents: what was foreseen, under its hash, and how it was judged."""


class Level(StrEnum):
    NORMAL = "normal"
    WARNING = "warning"
    """The plan still holds, and much of its slack is gone."""
    VIOLATION = "violation"
    """The plan will break unless it is repaired."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What is observed of a running plan. All times are in the domain's own unit, on its own clock."""

    what: str
    expected: float
    foreseen: float
    slack: float
    """How much later than expected it may be before the plan breaks."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Thresholds of a domain. `horizon`: what breaks after so much time is half as urgent as what breaks at once."""

    horizon: float
    warning: float = 0.5
    """Share of the slack from which on a delay is a warning."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Finding about one thing observed. `severity`, `urgency` and `impact`, their product, are from 0 to 1."""

    what: str
    level: Level
    late: float
    slack: float
    severity: float
    urgency: float
    impact: float

    @property
    def sentence(self) -> str:
        return f"{self.level.value}: {self.what} {self.late:g} late, with room for {self.slack:g} (impact {self.impact:.2f})"


def findings(observed: Iterable[Observed], now: float, thresholds: Thresholds) -> tuple[Finding, ...]:
    """Judge what is observed; the gravest first."""
    found = (_finding(each, now, thresholds) for each in observed)
    return tuple(sorted(found, key=lambda each: (each.level is not Level.VIOLATION, -each.impact)))


def _finding(observed: Observed, now: float, thresholds: Thresholds) -> Finding:
    late, slack = max(0.0, observed.foreseen - observed.expected), max(0.0, observed.slack)
    severity = 1.0 if late > slack else late / slack if slack else 0.0
    left = max(0.0, observed.expected + slack - now)
    urgency = thresholds.horizon / (thresholds.horizon + left)
    is_close = late > 0 and severity >= thresholds.warning
    level = Level.VIOLATION if late > slack else Level.WARNING if is_close else Level.NORMAL
    return Finding(observed.what, level, late, slack, round(severity, 3), round(urgency, 3), round(severity * urgency, 3))


@dataclass(frozen=True, slots=True)
class Foreseen:
    """Foreseen news, as its domain understands it, and the change of the saga that would repair the plan."""

    findings: tuple[Finding, ...]
    request: Json
    """The saga's request once it is so."""
    lost: tuple[str, ...] = ()
    """Operations that are of no use then."""

    @property
    def level(self) -> Level:
        return max((each.level for each in self.findings), key=list(Level).index, default=Level.NORMAL)

    @property
    def must_repair(self) -> bool:
        return self.level is Level.VIOLATION

    @property
    def document(self) -> dict[str, Any]:
        return {"level": self.level.value, "findings": [asdict(each) for each in self.findings]}


@runtime_checkable
class Foresighted(Protocol):
    """Domain whose running plans can be watched."""

    async def foreseen(self, saga: Saga, news: Json) -> Foreseen:
        """Say what news would delay if it came so. Raises `InvalidInputError` for what is not news of a delay, and
        `NotAllowedError` if nothing is under way.
        """
        ...


async def watched(domain: object, saga: Saga, news: Any, kept: Documents) -> Foreseen:
    """Judge what is foreseen for a running saga, and keep the findings; the caller changes the saga if it has to be repaired."""
    if not isinstance(domain, Foresighted):
        raise InvalidInputError(f"plans of {saga.domain} are not watched: change the saga instead", field="SAGA")
    foreseen = await domain.foreseen(saga, news)
    key = content_hash([news, saga.plan.version])
    await kept.put(Document(saga.id, _FINDINGS, key, {"news": news, "version": saga.plan.version, **foreseen.document}))
    return foreseen


def is_foreseen(saga: Saga) -> bool:
    """Tell whether the plan is repaired for what is only foreseen: then a person approves the repair, whatever it changes."""
    return saga.plan.disruption.startswith(f"{MONITOR} ")


def grave(judged: dict[str, Any] | None, version: int) -> tuple[str, ...]:
    """Return what was found of this version of the plan, in sentences, without what has room enough."""
    if judged is None or judged["version"] != version:
        return ()
    found = (Finding(**{**each, "level": Level(each["level"])}) for each in judged["findings"])
    return tuple(each.sentence for each in found if each.level is not Level.NORMAL)


async def latest(saga_id: str, kept: Documents) -> dict[str, Any] | None:
    """Return the latest news that was foreseen for a saga, and how it was judged; None: nothing was."""
    told = await kept.documents(saga_id, _FINDINGS)
    return told[-1].data if told else None
