"""What a person does on the page, by the names of its parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Locator, Page

SAMPLE = (
    "Plan a trip from San Francisco to Berlin and Cologne and then back to San Francisco in June 2025, flexible within "
    "the month, at most $5,000 in total, 3-4 star hotels, direct flights when possible, 4 days in Berlin and 2 in Cologne"
)
THANKSGIVING = (
    "Thanksgiving dinner at 6 pm at home in Boston. Sarah is at home. James lands at 1 pm at BOS and rents a car. Emily lands at "
    "2:30 pm and needs a ride. Michael drives from New York, leaving at 11. Grandma needs a pick-up. Turkey takes 4 hours in the "
    "oven, someone must watch it; sides take 2 hours. Home-BOS 60 minutes, BOS-Grandma 60, Home-Grandma 30, New York-Home 4 hours"
)
DESKTOP = {"width": 1280, "height": 800}
PATIENCE_MS = 60_000


@dataclass
class Visit:
    """One browser's page; `asked`: every address that it has fetched."""

    page: Page
    url: str
    asked: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @classmethod
    def to(cls, url: str, context: BrowserContext, *, viewport: Any = None, **media: Any) -> Visit:
        context.set_default_timeout(PATIENCE_MS)
        visit = cls(context.new_page(), url)
        visit.page.set_viewport_size(viewport or DESKTOP)
        visit.page.emulate_media(**media)
        visit.page.on("request", lambda request: visit.asked.append(request.url))
        visit.page.on("pageerror", lambda error: visit.faults.append(str(error)))
        visit.open()
        return visit

    def open(self) -> None:
        self.page.goto(self.url)
        self.page.wait_for_selector("#status [data-status]", state="attached")

    def say(self, text: str) -> None:
        self.page.locator("#say textarea, #say input").first.fill(text)
        self.page.locator("#send").click()

    def click(self, name: str) -> None:
        self.page.locator(f"#{name}").click()

    def until(self, status: str) -> None:
        self.page.wait_for_selector(f'#status [data-status="{status}"]')

    def until_it_goes_on(self) -> None:
        """After an approval: what was said at an earlier one still stands in the chat, and says nothing about this one."""
        self.page.locator("#approve").wait_for(state="hidden")
        self.until("running")

    def until_asked(self) -> str:
        """The hash of the plan that waits for approval."""
        self.page.wait_for_selector("#approve:visible")
        return str(self.page.locator("#plan [data-plan]").get_attribute("data-plan"))

    def until_said(self, text: str) -> None:
        self.page.locator("#chat").get_by_text(text).last.wait_for()

    def until_filled(self, fields: dict[str, str]) -> None:
        """Until these fields have these values."""
        self.page.wait_for_function(
            "wanted => Object.entries(wanted).every(([name, value]) => {"
            " const box = document.querySelector(`#request [name=${CSS.escape(name)}]`); return box && box.value === value })",
            arg=fields,
        )

    def field(self, name: str) -> Locator:
        return self.page.locator(f'#request [name="{name}"]')

    def fill(self, name: str, value: str) -> None:
        """Change a field as a person does: the change is sent when the field is left."""
        self.field(name).fill(value)
        self.page.keyboard.press("Tab")

    def until_other_plan(self, than: str) -> str:
        """The hash of the plan that waits for approval, once it is another one."""
        self.page.wait_for_function(
            "before => { const shown = document.querySelector('#plan [data-plan]'), ask = document.querySelector('#approve');"
            " return shown && shown.dataset.plan !== before && ask && ask.offsetParent }",
            arg=than,
        )
        return self.until_asked()

    def tab(self, name: str) -> None:
        """One that is to be seen."""
        self.page.get_by_role("tab", name=name, exact=True).locator("visible=true").first.click()

    def open_record(self) -> None:
        """Under the hood, with the saga that the page shows."""
        self.lift_the_hood()
        self.page.locator("#files").get_by_text("log.json").wait_for()

    def lift_the_hood(self) -> None:
        self.page.locator("#hood > button").click()
        self.page.locator("#saga-list table").wait_for()

    @property
    def plan_hash(self) -> str:
        return str(self.page.locator("#plan [data-plan]").get_attribute("data-plan"))

    def told(self, path: str = "") -> Any:
        """What the REST interface says of the saga that the page shows."""
        answer = self.page.request.get(f"{self.url}/api/v1/sagas/{self.saga_id}{path}")
        assert answer.ok, answer.text()
        return answer.json()

    @property
    def chat(self) -> str:
        return self.page.locator("#chat").inner_text()

    @property
    def saga_id(self) -> str:
        return str(self.page.locator("#status [data-saga]").get_attribute("data-saga"))

    @property
    def asked_outside(self) -> list[str]:
        return [each for each in self.asked if not each.startswith((self.url, "data:", "blob:"))]
