"""Registry: the installed domains, found by their entry points and loaded at first use.

It is also the one place that selects implementations from settings: the store, the engine, the reservation service, the model.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Final

from sagagraph.errors import InvalidInputError, MissingExtraError
from sagagraph.extras import needing
from sagagraph.planning.entry import Entry, Surroundings

if TYPE_CHECKING:
    from sagagraph.context.model import Model, Prices
    from sagagraph.planning.board import Board
    from sagagraph.planning.domain import Domain
    from sagagraph.planning.models.limits import Limits
    from sagagraph.planning.page import Page
    from sagagraph.saga.core.state import Saga
    from sagagraph.saga.engine.coordinator import Observer
    from sagagraph.saga.engine.engine import Engine
    from sagagraph.saga.engine.views.view import Account
    from sagagraph.saga.stores.port import Documents
    from sagagraph.settings import Settings

GROUP: Final = "sagagraph.domains"
MISSIONS: Final = "missions"
"""The domain of missions: no plug-in, for their coordinator carries them on."""

AnyEntry = Entry[Any]
"""`Any`: which domain an entry opens is known to the entry alone."""


@cache
def _points() -> dict[str, EntryPoint]:
    return {each.name: each for each in sorted(entry_points(group=GROUP), key=lambda point: point.name)}


def domain_names() -> tuple[str, ...]:
    """Return the names in alphabetical order, without importing any domain."""
    return tuple(_points())


@cache
def entry_of(name: str) -> AnyEntry | None:
    """Return the entry of a domain; None if no domain with that name is installed."""
    point = _points().get(name)
    if point is None:
        return None
    entry = point.load()
    if not isinstance(entry, Entry) or entry.name != name:
        raise InvalidInputError(f"{point.value} is no entry of a domain called {name!r}", field=GROUP)
    return entry


def require_entry(name: str) -> AnyEntry:
    """Return the entry of a domain. Raises `InvalidInputError`, which lists the installed domains."""
    entry = entry_of(name)
    if entry is None:
        raise InvalidInputError(f"there are {', '.join(domain_names())}, not {name!r}", field="DOMAIN")
    return entry


def entries() -> tuple[AnyEntry, ...]:
    """Return the entries: those that want to be first, then the others by name."""
    found = [entry for name in domain_names() if (entry := entry_of(name)) is not None]
    return tuple(sorted(found, key=lambda entry: not entry.is_first))


def runs_sagas(name: str) -> bool:
    """Tell whether sagas of that domain can run here."""
    entry = entry_of(name)
    return entry is not None and entry.runs_sagas


def boards() -> dict[str, Board]:
    """Return the boards by the names of their domains."""
    found = {entry.name: entry.board() for entry in entries()}
    return {name: board for name, board in found.items() if board is not None}


def account(saga: Saga) -> Account:
    """Return a saga's money, as its domain counts it."""
    from sagagraph.saga.engine.views.view import Account

    entry = entry_of(saga.domain)
    with suppress(MissingExtraError):  # a saga can be inspected even if its domain cannot be opened
        return Account() if entry is None else entry.account(saga)
    return Account()


def title_of(saga: Saga) -> str:
    """Return the plan's title in words, its parts separated by semicolons; empty if its domain has none."""
    entry = entry_of(saga.domain)
    with suppress(MissingExtraError):
        return "" if entry is None or not saga.plan.content else entry.title(saga.plan.content)
    return ""


def model_of(settings: Settings) -> Model | None:
    """Return the settings' language model, if they name one. Raises `InvalidInputError` if there can be no such model."""
    if not settings.model:
        return None
    from sagagraph.planning.models.llm import init_model

    return init_model(settings.model, time_limit_s=settings.model_seconds, prices=_prices(settings.model_prices))


def limits_of(settings: Settings) -> Limits:
    """Return what a model may use. Raises `InvalidInputError` for a cost limit without prices."""
    from sagagraph.planning.models.limits import Limits

    prices = _prices(settings.model_prices)
    if settings.model and settings.model_max_cost is not None and prices is None:
        raise InvalidInputError("needs the model's prices: set SAGAGRAPH_MODEL_PRICES", field="--max-cost")
    return Limits(settings.model_seconds, settings.model_max_cost, settings.model_max_tokens, prices)


def _prices(given: str) -> Prices | None:
    from sagagraph.context.model import Prices

    try:
        return Prices(*(float(each) for each in given.split(","))) if given else None
    except (TypeError, ValueError):
        raise InvalidInputError("two numbers with a comma between them, as in 0.25,2", field="SAGAGRAPH_MODEL_PRICES") from None


@asynccontextmanager
async def open_engine(
    settings: Settings, observers: Iterable[Observer] = (), *, create: bool = False, only_looks: bool = False
) -> AsyncIterator[Engine]:
    """Return an engine on the settings' store, without any domain's actions: enough to inspect sagas.

    `only_looks`: an unsafe database is reported and not refused.

    Raises `MissingStoreError` for a store that is not there, unless it is to be created.
    """
    from sagagraph.saga.engine.engine import Engine
    from sagagraph.saga.stores.guards.durability import Durability
    from sagagraph.saga.stores.urls import open_store

    durability = Durability.REPORTED if only_looks else Durability.CHECKED
    store = await open_store(settings.store_url, create=create, durability=durability)
    engine = Engine(store, account=account, observers=observers)
    try:
        yield engine
    finally:
        await engine.close()


@asynccontextmanager
async def surroundings(settings: Settings, documents: Documents | None = None) -> AsyncIterator[Surroundings]:
    """Return what domains need to be opened; a reservation service started for them ends with it.

    Without `documents`, for commands that carry nothing out, documents are kept in memory.
    """
    from sagagraph.saga.stores.memory import MemorySagaStore
    from sagagraph.saga.stores.sqlite_file import rows_in
    from sagagraph.settings import files_beside

    files = files_beside(settings.store_url)
    async with AsyncExitStack() as stack:

        @cache
        def provider() -> str:
            if settings.provider_url:
                return settings.provider_url
            with needing("sandbox"):
                from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings

            files.sandbox.parent.mkdir(parents=True, exist_ok=True)
            embedded = SandboxSettings(files.sandbox, today=settings.today, moves_clock=True)
            return stack.enter_context(EmbeddedSandbox(embedded)).url

        yield Surroundings(settings, files.outbox, lambda: model_of(settings), provider, documents or MemorySagaStore(), rows_in)


@asynccontextmanager
async def open_domain(name: str, settings: Settings, documents: Documents | None = None) -> AsyncIterator[Domain]:
    """Open a domain. Raises `InvalidInputError` if no such domain runs sagas, `ProviderError` if an outside part fails."""
    async with surroundings(settings, documents) as around, require_entry(name).open(around) as domain:
        yield domain


@asynccontextmanager
async def open_pages(settings: Settings, documents: Documents) -> AsyncIterator[dict[str, Page]]:
    """Open the page of every domain that has one, runs sagas and has its extra installed; returns pages by name."""
    async with AsyncExitStack() as stack:
        around = await stack.enter_async_context(surroundings(settings, documents))
        pages: dict[str, Page] = {}
        for entry in entries():
            if entry.runs_sagas and entry.is_configured(settings):
                with suppress(MissingExtraError):
                    domain = await stack.enter_async_context(entry.open(around))
                    page = entry.page(domain, around.model())
                    if page is not None:
                        pages[entry.name] = page
        yield pages
