"""Service: what a ready-made adapter says of itself, and how it is opened on somebody's account."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal
from urllib.parse import unquote, urlsplit, urlunsplit

from sagagraph.errors import InvalidInputError
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.body import BodySaga
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.policy import Backoff, CompensationPolicy, LoopGuards, Policy, Retry

Now = Callable[[], datetime]


def now_in_utc() -> datetime:
    return datetime.now(UTC)


Term = Literal["dedup", "void", "deadline", "refusals_final", "settles"]
TERMS: Final[tuple[Term, ...]] = ("dedup", "void", "deadline", "refusals_final", "settles")
FOREVER: Final = timedelta(days=36500)
"""How long something keeps the name that was made from its key."""
POLICY: Final = Policy(
    retry=Retry(max_attempts=8),
    backoff=Backoff(base_s=0.1, cap_s=30.0, jitter=0.5),
    timeout_s=20.0,
    compensation=CompensationPolicy(max_attempts=8, timeout_s=20.0),
    unknown_probes=8,
    loop_guards=LoopGuards(max_iterations=1_000_000, deadline_s=timedelta(days=3650).total_seconds()),
)
"""A saga may be resumed years after its first attempt."""


@dataclass(frozen=True, slots=True)
class Promise:
    """Promise of a service: a guarantee that its action declares, in words, and where the service documents it."""

    term: Term
    says: str
    source: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """Sheet: one action as it is listed. `undo` and `probe` say how, and are empty where there is none."""

    action: str
    kind: ActionKind
    does: str
    undo: str
    probe: str
    promises: tuple[Promise, ...]
    lasting: str
    """What of it cannot be undone."""


@dataclass(frozen=True, slots=True)
class Account:
    """Account: where a service is reached, and as whom. `secret` is a password or key: it is in no journal, log or message.

    `ledger`: where the service's own records are read, if it does not show them itself. `options`: what only this service knows.
    """

    url: str
    secret: str = field(default="", repr=False)
    ledger: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, url: str, secret: str = "", **others: Any) -> Account:
        """Return an account whose URL has no password in it: one that is written there becomes the secret."""
        try:
            parts, said = urlsplit(url), unquote(urlsplit(url).password or "")
        except ValueError as exc:
            raise InvalidInputError("this is no URL", field="--url") from exc
        if not parts.scheme:
            raise InvalidInputError("say where the service is, as in https://calendar.example/", field="--url")
        if said:
            host = parts.netloc.rpartition("@")[2]
            url = urlunsplit(parts._replace(netloc=f"{parts.username}@{host}" if parts.username else host))
        return cls(url, secret or said, **others)

    @property
    def user(self) -> str:
        return unquote(urlsplit(self.url).username or "")

    @property
    def address(self) -> str:
        """Return the URL without whoever uses it."""
        parts = urlsplit(self.url)
        return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))

    @property
    def identity(self) -> str:
        """Return what names the provider in journals (docs/protocol.md rule 2a)."""
        return f"{self.user}@{self.address}" if self.user else self.address

    def at(self, url: str) -> Account:
        return replace(self, url=url)


Standing = Callable[[str], Awaitable[Any]]
Body = Callable[[BodySaga, str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Trial:
    """Trial: how the contract uses the actions of an account, and what must stand in the service's records then.

    `book` runs what can be undone and `finish` the pivot and what follows it, each under a name unlike any before. `standing`
    returns what stands under that name by the service's own records, and never looks for a key. `around` is what all of it needs:
    a table, a calendar.
    """

    standing: Standing | None
    done: Any
    undone: Any
    book: Body | None = None
    finish: Body | None = None
    cancelled: Any = None
    """What stands after it was undone once it had committed, if that is not the same as `undone`."""
    can_be_cancelled: bool = True
    """Whether it can be undone after it has committed."""
    around: Callable[[], AbstractAsyncContextManager[None]] = nullcontext
    unasked: frozenset[str] = frozenset()
    """Faults about which nothing is promised."""
    may_hold: frozenset[str] = frozenset()
    """Faults after which a person is asked, because the service documents nothing that would settle it."""


@dataclass(frozen=True, slots=True)
class Opened:
    """Opened account: the actions on it, and how the contract tries them; `sheets` of those that only the account knows."""

    actions: tuple[Action, ...]
    trial: Trial
    sheets: tuple[Sheet, ...] = ()

    def action(self, name: str) -> Action:
        return next(each for each in self.actions if each.name == name)


@dataclass(frozen=True, slots=True)
class Service:
    """Service, as the catalogue lists it. `open` imports its client: what is listed needs none."""

    name: str
    about: str
    extra: str
    """The extra of the package that brings its client; empty if it needs none."""
    sheets: tuple[Sheet, ...]
    open: Callable[[Account], AbstractAsyncContextManager[Opened]]
    faults: frozenset[str] = frozenset()
    """Faults of the contract that its protocol can have, beside those that every service has."""


def declared(action: Action) -> frozenset[str]:
    """Return the guarantees that an action really declares."""
    given = action.guarantees
    return frozenset(term for term in TERMS if getattr(given, term) not in (None, False))
