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

from tests.ui.conftest import ARGUMENTS, chromium
from tests.ui.page import SAMPLE, THANKSGIVING, Visit
from tests.ui.server import Server

FOLDER = Path(__file__).parents[2] / "docs" / "screenshots"
SIZES = {"desktop": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
SETTLED_MS = 900
"""For figures and fonts; nothing tells when they are drawn."""

_COLOURS = 96
"""Enough for text and bars, and a third of the bytes."""

Take = Callable[[str], None]


def trip(person: Visit, take: Take) -> None:
    person.say(SAMPLE)
    first = person.until_asked()
    take("plan")
    for name, label in (("map", "Map"), ("steps", "Steps")):
        person.tab(label)
        person.page.locator(".js-plotly-plot:visible").first.wait_for()
        take(name)
    person.page.locator("#trouble button").first.click()
    person.click("order-fault")
    person.page.locator("#trouble-told").get_by_text("Ordered").wait_for()
    person.click("approve")
    person.until_other_plan(first)
    person.tab("Changes")
    take("repair")
    person.click("approve")
    person.until("committed")
    person.open_record()
    take("history")


def reunion(person: Visit, take: Take) -> None:
    person.page.get_by_label("A reunion").check()
    person.until_said("Who comes together")
    person.say(THANKSGIVING)
    first = person.until_asked()
    person.click("approve")
    person.until_said("the day is open")
    person.say("James's flight is delayed until 4")
    person.until_other_plan(first)
    person.tab("Changes")
    take("reunion")


def photograph(browser: Browser, url: str, size: str, scheme: Any) -> None:
    for story in (trip, reunion):
        context = browser.new_context()
        person = Visit.to(url, context, viewport=SIZES[size], color_scheme=scheme)

        def take(view: str, person: Visit = person) -> None:
            person.page.wait_for_timeout(SETTLED_MS)
            taken = Image.open(io.BytesIO(person.page.screenshot(full_page=True)))
            taken.convert("RGB").quantize(_COLOURS).save(FOLDER / f"{view}-{size}-{scheme}.png", optimize=True)

        story(person, take)
        context.close()


def main() -> int:
    executable = chromium()
    if executable is None:
        sys.stderr.write("there is no Chromium on this machine: apt-get install chromium\n")
        return 1
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        server = Server(Path(folder) / "saga.db")
        try:
            browser = driver.chromium.launch(executable_path=executable, args=ARGUMENTS)
            for size in SIZES:
                for scheme in ("light", "dark"):
                    photograph(browser, server.url, size, scheme)
        finally:
            server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
