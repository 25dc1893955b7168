"""One person who uses the app over REST, and what they saw."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2

API: Final = "/api/v1"
TRIPS: Final = (
    ("From Boston to Lisbon for 5 nights in May 2025", "Lisbon"),
    ("From London to Rome for 3 nights and Florence for 2 nights in July 2025", "Florence"),
    ("From San Francisco to Berlin for 4 nights and Cologne for 2 nights in June 2025", "Cologne"),
    ("From Tokyo to Seoul for 3 nights in October 2025", "Seoul"),
    ("From Paris to Vienna and Prague, 3 nights each, in any order, in September 2025", "Prague"),
)
BREATH_S: Final = 0.25
"""Between two looks of a page."""
DAYS: Final = ("thanksgiving", "wedding", "ride_sharing", "campus_tour", "thanksgiving")


@dataclass
class Person:
    """`mine`: a word that their plan holds. Seconds are from the first request: `first_s` until some plan could be looked at."""

    name: str
    body: dict[str, Any]
    mine: str
    ends: str
    first_s: float = 0.0
    planned_s: float = 0.0
    done_s: float = 0.0
    saga_id: str = ""
    faults: list[str] = field(default_factory=list)

    async def live(self, url: str, now: Callable[[], float]) -> None:
        async with httpx2.AsyncClient(base_url=url + API, timeout=120) as browser:
            await browser.get("/sagas")
            began = now()
            try:
                await self._plan(browser)
                await self._until_a_plan(browser)
                self.first_s = now() - began
                await self._until_quiet(browser)
                self.planned_s = now() - began
                await self._approve(browser)
                self.done_s = now() - began
                await self._look_around(browser)
            except (httpx2.HTTPError, KeyError, AssertionError) as exc:
                self.faults.append(f"{type(exc).__name__}: {exc}")

    async def _plan(self, browser: httpx2.AsyncClient) -> None:
        begun = await browser.post("/sagas", json=self.body)
        if begun.status_code != httpx2.codes.ACCEPTED:
            raise AssertionError(begun.text)
        self.saga_id = begun.json()["saga_id"]

    async def _until_a_plan(self, browser: httpx2.AsyncClient) -> None:
        """Look as often as the page does."""
        while True:
            told = (await browser.get(f"/sagas/{self.saga_id}/plan")).json()
            if told["best_so_far"] is not None or told["status"] != "planning":
                return
            await asyncio.sleep(BREATH_S)

    async def _approve(self, browser: httpx2.AsyncClient) -> None:
        plan = (await browser.get(f"/sagas/{self.saga_id}/plan")).json()
        if self.mine not in json.dumps(plan["shown"]["plan"], ensure_ascii=False):
            self.faults.append(f"the plan that is shown is another's: there is no {self.mine} in it")
        await browser.post(f"/sagas/{self.saga_id}/approve", json={"plan_hash": plan["shown"]["plan_hash"]})
        await self._until_quiet(browser)

    async def _until_quiet(self, browser: httpx2.AsyncClient) -> None:
        """By the stream of events, which ends then."""
        async with browser.stream("GET", f"/sagas/{self.saga_id}/events") as told:
            async for _line in told.aiter_lines():
                pass

    async def _look_around(self, browser: httpx2.AsyncClient) -> None:
        standing = (await browser.get(f"/sagas/{self.saga_id}")).json()
        if standing["status"] != self.ends or standing["problem"]:
            self.faults.append(f"ended as {standing['status']} {standing['problem']}")
        listed = [each["saga_id"] for each in (await browser.get("/sagas")).json()["sagas"]]
        if listed != [self.saga_id]:
            self.faults.append(f"sees {listed}, and has {self.saga_id}")


def crowd(size: int, problems: Callable[[str], Any]) -> list[Person]:
    """Trips and days in turn; `problems`: a logistics problem by its name."""
    people: list[Person] = []
    for number in range(size):
        text, city = TRIPS[number // 2 % len(TRIPS)]
        day = DAYS[number // 2 % len(DAYS)]
        if number % 2 == 0:
            people.append(Person(f"{number}: trip", {"text": text}, city, "committed"))
        else:
            problem = problems(day)
            whole = {"domain": "reunion", "request": problem}
            people.append(Person(f"{number}: {day}", whole, problem["people"][0]["name"], "running"))
    return people
