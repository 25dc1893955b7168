"""A server for the tests that share one, and a headless Chromium."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings
from sagagraph.settings import Settings
from sagagraph.ui.service import Service, open_service
from tests.support.today import TODAY
from tests.ui.page import Visit
from tests.ui.server import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

ARGUMENTS = [
    *("--no-sandbox", "--headless", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
OpenVisit = Callable[..., Visit]
Serve = Callable[..., Server]


def chromium() -> str | None:
    """Of this machine, under the names that it goes by."""
    found = map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))
    return next(filter(None, found), None)


@pytest.fixture(scope="session")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedSandbox]:
    """The reservation service behind `server`; every test has sagas of its own on it, and orders faults for these alone."""
    with EmbeddedSandbox(SandboxSettings(tmp_path_factory.mktemp("sandbox") / "sandbox.db", today=TODAY)) as service:
        yield service


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, sandbox: EmbeddedSandbox) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("ui") / "saga.db", "--provider", sandbox.url)
    yield running
    running.stop()


@pytest.fixture
def serve(store: Path) -> Iterator[Serve]:
    """Starts servers of one's own, on the same store if nothing else is said; none of them outlives its test."""
    running: list[Server] = []

    def start(*options: str, **more: Any) -> Server:
        running.append(Server(store, *options, **more))
        return running[-1]

    yield start
    for each in running:
        each.kill()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Not for the whole session: while it is open its event loop runs in this thread, and asynchronous tests cannot."""
    playwright = pytest.importorskip("playwright.sync_api", reason="the playwright package is not installed")
    executable = chromium()
    if executable is None:
        pytest.skip("there is no Chromium on this machine: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def profile(browser: Browser) -> Iterator[BrowserContext]:
    """It keeps the app's scripts from one test to the next: reading them anew would take longer than most tests."""
    with browser.new_context() as kept:
        yield kept


@pytest.fixture
def visit(browser: Browser, profile: BrowserContext) -> Iterator[OpenVisit]:
    """Opens pages, each as somebody else: the first in the module's profile, without its cookies."""
    contexts: list[BrowserContext] = []

    def open_it(url: str, **looks: Any) -> Visit:
        contexts.append(browser.new_context() if contexts else profile)
        return Visit.to(url, contexts[-1], **looks)

    yield open_it
    for page in profile.pages:
        page.close()
    profile.clear_cookies()
    for each in contexts[1:]:
        each.close()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "saga.db"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    """The functions behind pages and REST, on a store and a reservation service that the tests of a module share."""
    folder = tmp_path_factory.mktemp("service")
    with EmbeddedSandbox(SandboxSettings(folder / "sandbox.db", today=TODAY)) as sandbox:
        async with open_service(Settings(store=f"sqlite:///{folder / 'saga.db'}", provider_url=sandbox.url)) as opened:
            yield opened
