"""Sagas: how they begin, who drives them, and how they end."""

from __future__ import annotations

from msgspec import Struct

from sagagraph.saga.core.events.words import Driver
from sagagraph.workflow.values import Json


class SagaBegun(Struct, frozen=True, omit_defaults=True):
    driver: Driver
    domain: str
    request: Json
    """A JSON value; the same saga id with another one is a conflict."""
    approved_by: str = ""
    """Who approved in advance any valid plan that is found; usually nobody."""
    provider_id: str = ""
    """The identity of the provider that the saga's domain works with (docs/protocol.md rule 2a); empty where it has none."""
    provider_url: str = ""
    """Its address; empty for the one that runs inside the command."""
    store_epoch: int | None = None
    """The store's at that time; None is the first."""
    owner: str = ""
    """The first worker; those after it are named by `LeaseTaken`."""


class ProviderNamed(Struct, frozen=True, omit_defaults=True):
    """The saga's provider is reached at another address, or is named for the first time."""

    provider_id: str
    provider_url: str = ""
    is_assumed: bool = False
    """The journal, of an earlier release, did not name one: it is taken to have been this one all along."""


class SameProviderStated(Struct, frozen=True, omit_defaults=True):
    """Two identities are one provider: a person says so, or (`by` is empty) a provider at the old address now states an id."""

    known_provider: str
    same_provider: str
    by: str = ""


class LeaseTaken(Struct, frozen=True, omit_defaults=True):
    """A worker became the only writer. What an earlier epoch had under way is in doubt from here on."""

    owner: str
    looks_again: bool = True
    """Also looks again at what was held or stuck; false if a person is about to say what became of it."""
    store_epoch: int | None = None
    """The store's at that time. A higher one than before says that the store was restored: what this journal does not show may
    have happened nevertheless (docs/protocol.md rule 11).
    """
    goes_on: bool = False
    """What waits goes on waiting, with the attempts that it has left: a worker of a fleet takes the saga only when something is
    due. What was under way is in doubt as ever.
    """


class ExceptionsTrusted(Struct, frozen=True, omit_defaults=True):
    """From here on an exception of a node says that nothing happened: the graph was compiled with `trusts_exceptions`."""

    graph: str


class SagaTurnedBack(Struct, frozen=True, omit_defaults=True):
    """From here on the saga compensates."""

    cause: str
    operation: str | None = None


class SagaCommitted(Struct, frozen=True, omit_defaults=True):
    unverified: tuple[str, ...] = ()


class SagaCompensated(Struct, frozen=True, omit_defaults=True):
    unverified: tuple[str, ...] = ()


class FieldsRedacted(Struct, frozen=True, omit_defaults=True):
    """Earlier payload values under these names were made unreadable, here and in what belongs to the journal."""

    fields: tuple[str, ...]
    by: str


SagaEvent = (
    SagaBegun
    | ProviderNamed
    | SameProviderStated
    | LeaseTaken
    | ExceptionsTrusted
    | SagaTurnedBack
    | SagaCommitted
    | SagaCompensated
    | FieldsRedacted
)
