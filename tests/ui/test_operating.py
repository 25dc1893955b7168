"""The operators' page in a browser: a held operation is found from its front, understood and settled in four clicks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from sagagraph import Call, Engine, action
from sagagraph.errors import OperationHeldError
from tests.ui.server import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PASSWORD = "canary-77ab"
SETTINGS = f"""
[users.olga]
password = "{PASSWORD}"
role = "operator"
[users.rita]
password = "{PASSWORD}"
role = "reader"
[users.paul]
password = "{PASSWORD}"
role = "planner"
"""


async def undo(request: str, result: str, call: Call) -> None: ...


@action(compensate=undo)
async def book(request: str, call: Call) -> str:
    if request == "lost":
        raise RuntimeError("the line was cut")
    return request


def filled(store: Path) -> None:
    with Engine.open(f"sqlite:///{store}") as engine:
        for number in range(60):
            with engine.saga(f"fine-{number}") as saga:
                saga.run(book, "x")
        with engine.saga("a team's/own saga?") as saga:
            saga.run(book, "x")
        with pytest.raises(OperationHeldError), engine.saga("needs-help") as saga:
            saga.run(book, "lost")


@pytest.fixture(scope="module")
def operated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("operated")
    filled(folder / "saga.db")
    (folder / "config.toml").write_text(SETTINGS)
    running = Server(folder / "saga.db", SAGAGRAPH_CONFIG=str(folder / "config.toml"))
    yield running
    running.stop()
    assert PASSWORD not in running.log


@contextmanager
def logged_in(browser: Browser, server: Server, name: str, **looks: Any) -> Iterator[Page]:
    """By the form, as a person does."""
    context = browser.new_context(**looks)
    page = context.new_page()
    page.goto(f"{server.url}/login")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(re.compile(r"/(operate)?$"))
    yield page
    context.close()


def seriously_wrong(page: Page) -> list[str]:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="the package axe-playwright-python is not installed"
    )
    found = axe.Axe().run(page).response["violations"]
    return [each["id"] for each in found if each["impact"] in ("serious", "critical")]


def test_a_held_operation_is_found_understood_and_settled_in_four_clicks(browser: Browser, operated: Server) -> None:
    with logged_in(browser, operated, "olga") as page:
        page.goto(f"{operated.url}/operate")
        waiting = page.get_by_role("region", name="Waiting for a person")
        assert "does not promise to remember keys" in waiting.inner_text()
        assert seriously_wrong(page) == []
        waiting.get_by_role("link", name="needs-help").click()  # 1
        page.get_by_text("Look it up at the provider by its key").wait_for()
        assert seriously_wrong(page) == []
        page.get_by_role("radio", name="failed").check()  # 2
        page.get_by_label("How you know").fill("the provider's own list")
        page.get_by_role("button", name="Settle it").click()  # 3
        page.get_by_text("Settle what waits, as you have found it.").wait_for()
        assert seriously_wrong(page) == []
        page.get_by_role("button", name="Yes, resolve").click()  # 4
        page.get_by_text("Done: resolve").wait_for()
        page.goto(f"{operated.url}/operate?status=held")
        page.get_by_text("There is none.").wait_for()
        page.goto(f"{operated.url}/operate/needs-help")
        page.get_by_text("Its journal").click()
        journal = page.locator("pre").inner_text()
        assert "OperationResolved" in journal
        assert "user olga" in journal


def test_pages_and_search_find_a_saga_among_many(browser: Browser, operated: Server) -> None:
    with logged_in(browser, operated, "rita", viewport={"width": 390, "height": 800}) as page:
        assert page.url.endswith("/operate")
        assert page.locator("table").last.locator("tbody tr").count() == 50
        page.get_by_role("link", name="Earlier ones").click()
        assert page.locator("table").last.locator("tbody tr").count() == 12
        page.get_by_label("Part of its id").fill("FINE-59")
        page.get_by_role("button", name="Search").click()
        assert page.locator("table").last.locator("tbody tr").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        page.get_by_role("link", name="fine-59").click()
        assert page.get_by_role("button", name="Cancel").count() == 0


def test_a_visitor_without_the_role_is_refused_each_of_its_acts(operated: Server) -> None:
    with httpx2.Client(base_url=operated.url, auth=("paul", PASSWORD)) as paul, httpx2.Client(auth=("rita", PASSWORD)) as rita:
        assert paul.get("/operate").status_code == 403
        for act in ("resume", "cancel", "resolve", "yield", "redact"):
            assert paul.post(f"/operate/fine-1/{act}", data={"confirmed": "yes"}).status_code == 403
            assert rita.post(f"{operated.url}/operate/fine-1/{act}", data={"confirmed": "yes"}).status_code == 403
            assert paul.post(f"/api/v1/sagas/fine-1/{act}", json={}).status_code in (403, 404, 422)
            assert rita.post(f"{operated.url}/api/v1/sagas/fine-1/{act}", json={}).status_code == 403


def test_each_act_is_shown_before_it_is_done(operated: Server) -> None:
    with httpx2.Client(base_url=operated.url, auth=("olga", PASSWORD)) as olga:
        shown = olga.post("/operate/fine-2/cancel")
        assert (shown.status_code, "book-1" in shown.text) == (200, True)
        assert olga.get("/api/v1/sagas/fine-2").json()["status"] == "committed"
        named = "/operate/a%20team's/own%20saga%3F"
        assert olga.get(named).status_code == 200
        assert olga.post(f"{named}/cancel").status_code == 200
        assert olga.post("/operate/fine-2/dance", data={"confirmed": "yes"}).status_code == 422
        assert olga.post("/operate/fine-3/redact", data={"fields": "", "confirmed": "yes"}).status_code == 422
        assert olga.post("/operate/nothing/resume", data={"confirmed": "yes"}).status_code in (404, 409)


def test_the_figures_are_there_for_whoever_may_see_them(operated: Server) -> None:
    with httpx2.Client(base_url=operated.url) as anybody:
        assert anybody.get("/healthz").text == "ok"
        assert anybody.get("/readyz").json()["ready"] is True
        assert anybody.get("/metrics").status_code == 401
        told = anybody.get("/metrics", auth=("rita", PASSWORD)).text
    assert 'sagagraph_sagas{domain="",status="committed"}' in told
    assert PASSWORD not in told
