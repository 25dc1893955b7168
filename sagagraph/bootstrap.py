"""The one place that picks concrete parts from settings: the store, the provider, the domains, the engine."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

import platformdirs
from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from sagagraph.context.model import Model
from sagagraph.domains.reunion.actions.outbox import Outbox
from sagagraph.domains.reunion.domain import NAME as REUNION
from sagagraph.domains.reunion.domain import Reunion, reunion_title
from sagagraph.domains.travel.domain import NAME as TRAVEL
from sagagraph.domains.travel.domain import Travel, account_of, travel_title
from sagagraph.domains.travel.provider.provider import HttpReservationProvider
from sagagraph.errors import InvalidInputError
from sagagraph.planning.domain import Domain
from sagagraph.planning.llm import Prices, init_model
from sagagraph.saga.core.state import Saga
from sagagraph.saga.engine.coordinator import Observer
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.engine.views.view import Account
from sagagraph.saga.stores.urls import open_store, sqlite_path


class Settings(BaseSettings):
    """From the environment; the command line's options go before it."""

    model_config = SettingsConfigDict(env_prefix="SAGAGRAPH_", extra="ignore")

    store: str = ""
    """`sqlite:///FILE`, `postgresql://…` or `memory:`; by default a file in the user's data folder."""
    provider_url: str = ""
    """A running reservation service; by default one runs inside the process, on a file beside the store."""
    today: date | None = None
    """The day to which the clock of the reservation service inside the process is set; by default it starts now, and goes on."""
    model: str = ""
    """`openai:NAME` or `anthropic:NAME`: the language model that proposes plans; by default the solver does."""
    model_time_limit_s: float = Field(default=60.0, gt=0, allow_inf_nan=False)
    """For one answer of it."""
    model_prices: str = ""
    """US dollars for a million tokens in and out, as in `0.25,2`; only for the figures in the journal."""

    @property
    def store_url(self) -> str:
        return self.store or f"sqlite:///{platformdirs.user_data_path('sagagraph') / 'sagagraph.db'}"


def read_settings() -> Settings:
    """From the environment. Raises `InvalidInputError` that names the variable."""
    try:
        return Settings()
    except ValidationError as exc:
        first = exc.errors(include_url=False)[0]
        raise InvalidInputError(first["msg"], field=f"SAGAGRAPH_{'_'.join(map(str, first['loc'])).upper()}") from exc


@dataclass(frozen=True, slots=True)
class Files:
    """Where what stands beside a store is kept."""

    sandbox: Path
    outbox: Path


def files_beside(store_url: str) -> Files:
    if store_url.startswith("sqlite:///"):
        path = sqlite_path(store_url)
        if not path.name:
            raise InvalidInputError(f"{store_url!r} names no file; use sqlite:///FILE", field="--store")
        return Files(path.with_name(f"{path.name}.sandbox"), path.with_name(f"{path.name}.outbox"))
    if store_url != "memory:":
        name = hashlib.sha256(store_url.encode()).hexdigest()[:12]
        folder = platformdirs.user_data_path("sagagraph") / name
        return Files(folder / "sandbox.db", folder / "outbox")
    folder = Path(tempfile.mkdtemp(prefix="sagagraph-"))
    return Files(folder / "sandbox.db", folder / "outbox")


def account(saga: Saga) -> Account:
    """The money of a saga, as its domain counts it."""
    return account_of(saga) if saga.domain == TRAVEL else Account()


def title_of(saga: Saga) -> str:
    """Its plan in words, its parts separated by semicolons; empty where its domain has none."""
    titles = {TRAVEL: travel_title, REUNION: reunion_title}
    return titles[saga.domain](saga.plan.content) if saga.domain in titles and saga.plan.content else ""


def model_of(settings: Settings) -> Model | None:
    """The language model of the settings, if they name one. Raises `InvalidInputError` if they name none that there could be."""
    if not settings.model:
        return None
    return init_model(settings.model, time_limit_s=settings.model_time_limit_s, prices=_prices(settings.model_prices))


def _prices(given: str) -> Prices | None:
    try:
        return Prices(*(float(each) for each in given.split(","))) if given else None
    except (TypeError, ValueError):
        raise InvalidInputError("two numbers with a comma between them, as in 0.25,2", field="SAGAGRAPH_MODEL_PRICES") from None


@asynccontextmanager
async def open_engine(settings: Settings, observers: Iterable[Observer] = ()) -> AsyncIterator[Engine]:
    """An engine on the settings' store, with no domain's actions: enough to look at sagas."""
    engine = Engine(await open_store(settings.store_url), account=account, observers=observers)
    try:
        yield engine
    finally:
        await engine.close()


@asynccontextmanager
async def open_travel(settings: Settings) -> AsyncIterator[Travel]:
    """Travel on the settings' provider; without one, on a reservation service inside this process."""
    files = files_beside(settings.store_url)
    async with AsyncExitStack() as stack:
        url = settings.provider_url
        if not url:
            from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings

            files.sandbox.parent.mkdir(parents=True, exist_ok=True)
            embedded = SandboxSettings(files.sandbox, today=settings.today, moves_clock=True)
            url = stack.enter_context(EmbeddedSandbox(embedded)).url
        provider = await stack.enter_async_context(HttpReservationProvider(url))
        yield await Travel.connect(provider, files.outbox)


@asynccontextmanager
async def open_reunion(settings: Settings) -> AsyncIterator[Reunion]:
    """Reunions planned by CP-SAT, with their outbox beside the store."""
    from sagagraph.domains.reunion.planning.solver import Solver

    yield Reunion(Solver(), open_outbox(settings))


def open_outbox(settings: Settings) -> Outbox:
    """What people were told, without anything that could tell them more."""
    return Outbox(files_beside(settings.store_url).outbox, lambda: datetime.now(UTC))


DOMAINS: dict[str, Callable[[Settings], AbstractAsyncContextManager[Domain]]] = {TRAVEL: open_travel, REUNION: open_reunion}


def check_url(url: str, field: str) -> str:
    if url and not url.startswith(("http://", "https://")):
        raise InvalidInputError("not an http or https address", field=field)
    return url
