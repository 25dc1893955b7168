"""Providers: whether the one that is here is the one that a saga knows (docs/protocol.md rule 2a). Pure.

A provider is recognised by its identity: the id that it states itself, otherwise the origin of its address, or what the action
declares. Another identity is another provider, whose answers say nothing about what the saga has done.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from sagagraph.errors import ProviderMismatchError
from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.events import Events
from sagagraph.saga.core.state import Operation, Saga


@dataclass(frozen=True, slots=True)
class ProviderHere:
    """The provider that is called here: its own id or the origin of its address, and that address.

    `url` is empty for the one that runs inside the command.
    """

    identity: str
    url: str = ""


def origin_of(url: str) -> str:
    """Return scheme, host and port, which is what recognises a provider that states no id; empty for no address."""
    parts = urlsplit(url)
    if not parts.hostname:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}:{parts.port or _PORTS.get(parts.scheme, 0)}"


_PORTS = {"http": 80, "https": 443}


def is_same_provider(saga: Saga, one: str, other: str) -> bool:
    return _first_name(saga, one) == _first_name(saga, other)


def _first_name(saga: Saga, identity: str) -> str:
    return saga.same_providers.get(identity, identity)


def is_elsewhere(saga: Saga, operation: Operation, provider: str) -> bool:
    """Tell whether the operation was planned with another provider than its action, which names `provider`, would call now."""
    planned = operation.spec.provider_id
    return bool(planned) and not is_same_provider(saga, planned, provider)


def why_elsewhere(operation: Operation, provider: str) -> str:
    named = f"calls provider {provider!r} here" if provider else "names no provider here"
    return f"it was planned with provider {operation.spec.provider_id!r}, and its action {operation.spec.action!r} {named}"


def recognised(saga: Saga, here: ProviderHere, *, stated_by: str = "") -> tuple[c.Command, ...]:
    """Return what the journal must be told before the saga may work with the provider that is here.

    `stated_by`: who says that it is the saga's provider at another address; its own id, where it states one, decides even so.
    Raises `ProviderMismatchError` for another provider.
    """
    naming = c.NameProvider(here.identity, here.url)
    if not saga.provider or is_same_provider(saga, saga.provider, here.identity) or _states_id_now(saga, naming):
        return (naming,) if (saga.provider, saga.provider_url) != (here.identity, here.url) else ()
    if stated_by and (_is_origin(saga.provider) or _is_origin(here.identity)):
        return (c.StateSameProvider(saga.provider, here.identity, stated_by), naming)
    raise _mismatch(saga, here.identity, here.url, was_stated=bool(stated_by))


def name_provider(saga: Saga, command: c.NameProvider, _now: float) -> Events:
    named = e.ProviderNamed(command.provider, command.url, is_assumed=not saga.provider)
    if not saga.provider or is_same_provider(saga, saga.provider, command.provider):
        return (named,) if (saga.provider, saga.provider_url) != (command.provider, command.url) else ()
    if _states_id_now(saga, command):
        return (e.SameProviderStated(saga.provider, command.provider), named)
    raise _mismatch(saga, command.provider, command.url)


def _states_id_now(saga: Saga, command: c.NameProvider) -> bool:
    """Tell whether a provider that was known by its address states an id by now."""
    return saga.provider == origin_of(command.url) and not _is_origin(command.provider)


def _is_origin(identity: str) -> bool:
    return "://" in identity


def state_same_provider(saga: Saga, command: c.StateSameProvider, _now: float) -> Events:
    if is_same_provider(saga, command.was, command.now):
        return ()
    return (e.SameProviderStated(command.was, command.now, command.by),)


def _mismatch(saga: Saga, provider: str, url: str, *, was_stated: bool = False) -> ProviderMismatchError:
    known, here = _named(saga.provider, saga.provider_url), _named(provider, url)
    if was_stated:
        advice = "both state their own ids, so they are not the same, and --same-provider cannot make them so"
    else:
        advice = (
            "nothing was asked of it, and nothing was done there; leave --provider out, or, if it is the same service at "
            "another address, say --same-provider"
        )
    return ProviderMismatchError(
        f"saga {saga.id!r} works with provider {known}; {here} is another one: {advice}",
        saga_id=saga.id,
        known=saga.provider,
        found=provider,
    )


def _named(provider: str, url: str) -> str:
    return repr(provider) if _is_origin(provider) else f"{provider!r} ({url or 'inside the command'})"
