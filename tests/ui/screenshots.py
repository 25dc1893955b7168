"""`make screenshots`: the main views on a desktop and on a phone, bright and dark, as docs/screenshots/VIEW-WIDTH-SCHEME.png."""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings
from tests.support.today import TODAY
from tests.ui.books import order
from tests.ui.conftest import ARGUMENTS, chromium
from tests.ui.page import SAMPLE, THANKSGIVING, Visit
from tests.ui.server import Server

FOLDER = Path(__file__).parents[2] / "docs" / "screenshots"
SIZES = {"desktop": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
SETTLED_MS = 900
"""For fonts; nothing tells when they are drawn."""

_COLOURS = 96
"""Enough for text and bars, and a third of the bytes."""

Take = Callable[[str], None]


def trip(person: Visit, take: Take, world: World) -> None:
    take("front")
    person.say(SAMPLE)
    first = person.until_asked()
    take("proposal")
    person.tab("Where")
    take("map")
    person.tab("When")
    order(world.sandbox.url, person.saga_id, "refuse", kind="hotel", call="book")
    person.click("approve")
    person.until_other_plan(first)
    take("repair")
    person.click("approve")
    person.until("committed")
    person.lift_the_hood()
    person.page.locator("#files").get_by_text("log.json").wait_for()
    take("hood")
    person.page.locator("#hood > button").click()


def interrupted(person: Visit, take: Take, world: World) -> None:
    """The server is killed in the middle of a call, and another one takes over."""
    person.say("Boston to Lisbon for 5 nights in May 2025")
    person.until_asked()
    order(world.sandbox.url, person.saga_id, "hang", kind="hotel", call="book", seconds=6)
    person.click("approve")
    person.page.locator("#status progress").wait_for()
    person.page.wait_for_timeout(SETTLED_MS)
    world.restart()
    person.open()
    person.until("committed")
    take("booking")


def reunion(person: Visit, take: Take, _world: World) -> None:
    person.page.get_by_label("A reunion").check()
    person.until_said("Who comes together")
    person.say(THANKSGIVING)
    first = person.until_asked()
    person.click("approve")
    person.until_said("the day is open")
    person.say("James's flight is delayed until 4")
    person.until_other_plan(first)
    take("reunion")


class World:
    """A server that can be killed and started again, and the reservation service behind it."""

    def __init__(self, sandbox: EmbeddedSandbox, store: Path) -> None:
        self.sandbox = sandbox
        self._store = store
        self.server = Server(store, "--provider", sandbox.url)

    def restart(self) -> None:
        self.server.kill()
        self.server = Server(self._store, "--provider", self.sandbox.url, port=self.server.port)


def photograph(browser: Browser, world: World, size: str, scheme: Any) -> None:
    for story in (trip, interrupted, reunion):
        context = browser.new_context()
        person = Visit.to(world.server.url, context, viewport=SIZES[size], color_scheme=scheme)

        def take(view: str, person: Visit = person) -> None:
            person.page.wait_for_timeout(SETTLED_MS)
            taken = Image.open(io.BytesIO(person.page.screenshot(full_page=True)))
            taken.convert("RGB").quantize(_COLOURS).save(FOLDER / f"{view}-{size}-{scheme}.png", optimize=True)

        story(person, take, world)
        context.close()


def main() -> int:
    executable = chromium()
    if executable is None:
        sys.stderr.write("there is no Chromium on this machine: apt-get install chromium\n")
        return 1
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedSandbox(SandboxSettings(Path(folder) / "sandbox.db", today=TODAY)) as sandbox,
        sync_playwright() as driver,
    ):
        world = World(sandbox, Path(folder) / "saga.db")
        try:
            browser = driver.chromium.launch(executable_path=executable, args=ARGUMENTS)
            for size in SIZES:
                for scheme in ("light", "dark"):
                    photograph(browser, world, size, scheme)
        finally:
            world.server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
