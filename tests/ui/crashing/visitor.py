"""A visitor who does everything that there is to do over REST, with servers that die, and remembers what they were told."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, Protocol

import httpx2

from sagagraph.domains.reunion.shipped import shipped
from sagagraph.ui.server.auth import COOKIE
from sagagraph.ui.server.routes.api import PREFIX
from sagagraph.ui.visitors import Visitor, guest

TRIPS: Final = (
    ("Boston", "Lisbon", 5),
    ("London", "Rome", 3),
    ("Paris", "Vienna", 4),
    ("San Francisco", "Berlin", 4),
)
DAYS: Final = ("wedding", "ride_sharing")
NAMED_BUDGETS: Final = 7000
"""Budgets from here on are wishes that can be told from one another."""
_ANSWER_S: Final = 60.0
_OVER: Final = ("rejected", "infeasible", "compensated")
_FAULTS: Final = ("refuse", "after", "before", "price_up", 429, 500)
_KINDS: Final = ("flight", "hotel", "payment")


class Servers(Protocol):
    """Those that live at the moment, and may not the next."""

    sandbox: str

    def some(self, random: Random) -> str | None:
        """The address of one of them."""
        ...

    def kill(self, url: str, why: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Told:
    """What a 2xx answer has said has been taken on. `what`: of a decision its plan's hash, of a change its budget, and so on."""

    act: str
    saga_id: str
    what: str = ""
    killed_after: bool = False


@dataclass(slots=True)
class Person:
    """`token`: their cookie."""

    name: str
    token: str
    random: Random
    servers: Servers
    acts: int
    kills_after_answers: float
    told: list[Told] = field(default_factory=list)
    tried: set[tuple[str, str]] = field(default_factory=set)
    """(saga, hash) that they have ever tried to approve: with the hash of a plan that they were shown."""
    seen: dict[str, list[list[Any]]] = field(default_factory=dict)
    """Of every saga, the longest journal that they were ever shown: version, epoch, type."""
    ended: dict[str, str] = field(default_factory=dict)
    withdrawn: set[tuple[str, str]] = field(default_factory=set)
    """(saga, operation) that they have said has fallen through, whether or not that was answered."""
    faults: list[str] = field(default_factory=list)
    answers: Counter[str] = field(default_factory=Counter)
    strangers: list[str] = field(default_factory=list)
    """Sagas of others, to try."""
    _wishes: int = 0

    @property
    def visitor(self) -> Visitor:
        return guest(self.token)

    @property
    def own(self) -> list[str]:
        return sorted(self.seen)

    async def live(self) -> None:
        async with self.browser() as browser:
            for _ in range(self.acts):
                try:
                    await self._act(browser)
                except AssertionError as exc:
                    self.faults.append(f"{self.name}: {exc}")
                await asyncio.sleep(self.random.uniform(0.0, 0.3))

    def browser(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(headers={"cookie": f"{COOKIE}={self.token}"}, timeout=_ANSWER_S, trust_env=False)

    # -- what they do --------------------------------------------------------------------------------------------------

    async def _act(self, browser: httpx2.AsyncClient) -> None:
        sagas = await self._list(browser)
        open_ones = [each["saga_id"] for each in sagas if each["status"] not in _OVER]
        if self.strangers and self.random.random() < 0.15:
            await self._pry(browser)
        if not open_ones or (len(sagas) < 3 and self.random.random() < 0.25):
            await self._begin(browser)
            return
        standing = await self._get(browser, f"/sagas/{self.random.choice(open_ones)}")
        await self._remember(browser, standing)
        acts = {
            "planning": (self._change, self._cancel, self._wait, self._wait),
            "awaiting_approval": (self._approve, self._approve, self._approve_twice, self._choose, self._change, self._reject),
            "running": (self._wait, self._wait, self._happen, self._cancel, self._change, self._resume),
            "committed": (self._wait, self._happen, self._change, self._cancel),
            "compensating": (self._wait, self._cancel, self._resume),
            "held": (self._settle,),
            "stuck": (self._settle,),
        }
        await self.random.choice(acts.get(standing["status"], (self._wait,)))(browser, standing)

    async def _begin(self, browser: httpx2.AsyncClient) -> None:
        if self.random.random() < 0.3:
            problem = shipped(self.random.choice(DAYS)).model_dump(mode="json")
            body: dict[str, Any] = {"domain": "reunion", "request": problem}
        else:
            origin, city, nights = self.random.choice(TRIPS)
            body = {"request": trip(origin, city, nights)}
        answer = await self._post(browser, "begin", "", "/sagas", body)
        if (
            answer is not None
            and answer.status_code == httpx2.codes.ACCEPTED
            and "domain" not in body
            and self.random.random() < 0.5
        ):
            await self._order_fault(browser, answer.json()["saga_id"])

    async def _order_fault(self, browser: httpx2.AsyncClient, saga_id: str) -> None:
        order = {"kind": self.random.choice(_KINDS), "call": "book", "fault": self.random.choice(_FAULTS), "nth": 1}
        if order["kind"] == "payment":
            order["call"] = self.random.choice(("capture", "refund"))
        elif self.random.random() < 0.3:
            order["call"] = "cancel"
        if order["fault"] == "price_up" and order["call"] != "book":
            order["fault"] = "after"
        await browser.post(f"{self.servers.sandbox}/faults", json={**order, "saga_id": saga_id})

    async def _approve(self, browser: httpx2.AsyncClient, standing: dict[str, Any]) -> None:
        shown = standing["plan_hash"]
        self.tried.add((standing["saga_id"], shown))
        await self._post(browser, "approve", shown, f"/sagas/{standing['saga_id']}/approve", {"plan_hash": shown})

    async def _approve_twice(self, browser: httpx2.AsyncClient, standing: dict[str, Any]) -> None:
        """At once, and so on two servers if there are; then a plan that was never shown."""
        await asyncio.gather(self._approve(browser, standing), self._approve(browser, standing))
        wrong = await self._post(browser, "approve wrong", "", f"/sagas/{standing['saga_id']}/approve", {"plan_hash": "0" * 16})
        assert wrong is None or wrong.status_code != httpx2.codes.ACCEPTED, "a plan was approved that was never shown"

    async def _reject(self, browser: httpx2.AsyncClient, standing: dict[str, Any]) -> None:
        if self.random.random() < 0.3:
            shown = standing["plan_hash"]
            await self._post(browser, "reject", shown, f"/sagas/{standing['saga_id']}/reject", {"plan_hash": shown})

    async def _choose(self, browser: httpx2.AsyncClient, standing: dict[str, Any]) -> None:
        offered = (await self._get(browser, f"/sagas/{standing['saga_id']}/plan"))["alternatives"]
        if offered:
            other = self.random.choice(offered)["plan_hash"]
            await self._post(browser, "choose", other, f"/sagas/{standing['saga_id']}/choose", {"plan_hash": other})

    async def _change(self, browser: httpx2.AsyncClient, standing: dict[str, Any]) -> None:
        if standing["domain"] != "travel":
            return
        self._wishes += 1
        budget = NAMED_BUDGETS + self._wishes
        body = {"text": f"at most ${budget}{', 4 star hotels' if self.random.random() < 0.4 else ''}"}
        await self._post(browser, "change", str(budget), f"/sagas/{standing['saga_id']}/change", body)

    async def _happen(self, browser: httpx2.AsyncClient, standing: dict[str, Any]) -> None:
        saga_id = standing["saga_id"]
        offered = (await self._get(browser, f"/sagas/{saga_id}/disruptions"))["disruptions"]
        if not offered:
            return
        key = self.random.choice(offered)["key"]
        if standing["domain"] == "travel":
            self.withdrawn.add((saga_id, key))
        await self._post(browser, "happen", key, f"/sagas/{saga_id}/disruptions", {"key": key})

    async def _cancel(self, browser: httpx2.AsyncClient, standing: dict[str, Any]) -> None:
        if self.random.random() < 0.5:
            await self._get(browser, f"/sagas/{standing['saga_id']}/cancel")
            await self._post(browser, "cancel", "", f"/sagas/{standing['saga_id']}/cancel", None)

    async def _resume(self, browser: httpx2.AsyncClient, standing: dict[str, Any]) -> None:
        await self._post(browser, "resume", "", f"/sagas/{standing['saga_id']}/resume", None)

    async def _settle(self, browser: httpx2.AsyncClient, standing: dict[str, Any]) -> None:
        """Look each operation that waits for a person up in the provider's books, and say what became of it."""
        books = (await browser.get(f"{self.servers.sandbox}/ledger")).json()
        for saga_id in filter(None, (standing["saga_id"], standing["amendment"], standing["reversal"])):
            looked = await self._get(browser, f"/sagas/{saga_id}")
            for operation in looked["operations"]:
                if operation["status"] in ("held", "compensation_failed"):
                    said = await self._found_out(browser, operation, books)
                    await self._post(browser, "resolve", operation["id"], f"/sagas/{saga_id}/resolve", said)
                    return

    async def _found_out(self, browser: httpx2.AsyncClient, operation: dict[str, Any], books: dict[str, Any]) -> dict[str, Any]:
        rows = [*books["reservations"], *books["payments"]]
        of_another = operation["inputs"].get("key") if isinstance(operation["inputs"], dict) else None
        row = next((each for each in rows if each["idempotency_key"] == (of_another or operation["idempotency_key"])), None)
        said = {"operation": operation["id"]}
        if operation["status"] == "compensation_failed":  # it is undone by hand
            if row and row["state"] == "confirmed":
                await browser.post(f"{self.servers.sandbox}/reservations/{row['id']}/withdraw")
            return {**said, "resolution": "compensated"}
        if row is None or (of_another and row["state"] in ("confirmed", "captured")):
            return {**said, "resolution": "absent"}
        return {**said, "resolution": "landed", "output": _output_of(row, undone=bool(of_another))}

    async def _wait(self, browser: httpx2.AsyncClient, standing: dict[str, Any]) -> None:
        await asyncio.sleep(self.random.uniform(0.0, 0.5))

    # -- what they look at ---------------------------------------------------------------------------------------------

    async def _list(self, browser: httpx2.AsyncClient) -> list[dict[str, Any]]:
        sagas: list[dict[str, Any]] = (await self._get(browser, "/sagas"))["sagas"]
        listed = [each["saga_id"] for each in sagas]
        if strange := [each for each in listed if not self.visitor.owns(each)]:
            self.faults.append(f"{self.name} sees {strange}")
        if lost := [each for each in self.seen if each not in listed]:
            self.faults.append(f"{self.name} does not see their own {lost} any more")
        for each in listed:
            self.seen.setdefault(each, [])
        return [each for each in sagas if "~" not in each["saga_id"]]

    async def _remember(self, browser: httpx2.AsyncClient, standing: dict[str, Any]) -> None:
        """The journal that is shown goes on where the one that was shown before ended."""
        saga_id = standing["saga_id"]
        events = (await self._get(browser, f"/sagas/{saga_id}/log"))["events"]
        self.check_journal(saga_id, events)

    def check_journal(self, saga_id: str, events: list[dict[str, Any]]) -> None:
        now = [[each["version"], each["epoch"], each["type"]] for each in events]
        before = self.seen.get(saga_id, [])
        if now[: len(before)] != before[: len(now)]:
            self.faults.append(f"{self.name}: the journal of {saga_id} is not what it was")
        if len(now) >= len(before):
            self.seen[saga_id] = now

    async def _pry(self, browser: httpx2.AsyncClient) -> None:
        saga_id = self.random.choice(self.strangers)
        url = self.servers.some(self.random)
        if url is None:
            return
        try:
            looked = await browser.get(f"{url}{PREFIX}/sagas/{saga_id}")
            cancelled = await browser.post(f"{url}{PREFIX}/sagas/{saga_id}/cancel")
        except httpx2.HTTPError:
            return
        codes = (looked.status_code, cancelled.status_code)
        if any(code < 400 for code in codes):
            self.faults.append(f"{self.name} can see or cancel {saga_id}, of another: {codes}")

    # -- talking to servers that may be gone ---------------------------------------------------------------------------

    async def _get(self, browser: httpx2.AsyncClient, path: str) -> dict[str, Any]:
        """Asked again until somebody answers."""
        while True:
            url = self.servers.some(self.random)
            if url is not None:
                try:
                    answer = await browser.get(url + PREFIX + path)
                except httpx2.HTTPError:
                    self.answers["unanswered"] += 1
                else:
                    if answer.status_code == httpx2.codes.OK:
                        found: dict[str, Any] = answer.json()
                        return found
                    self._complain(answer, "GET", path)
            await asyncio.sleep(0.1)

    async def _post(self, browser: httpx2.AsyncClient, act: str, what: str, path: str, body: Any) -> httpx2.Response | None:
        """Asked once: whoever gets no answer does not know. Sometimes the server dies right after it."""
        url = self.servers.some(self.random)
        if url is None:
            return None
        kills = self.random.random() < self.kills_after_answers
        try:
            answer = await browser.post(url + PREFIX + path, json=body)
        except httpx2.HTTPError:
            self.answers[f"{act} unanswered"] += 1
            return None
        if kills:
            self.servers.kill(url, f"right after the answer to {act}")
        self.answers[f"{act} {answer.status_code}"] += 1
        if answer.status_code == httpx2.codes.ACCEPTED:
            saga_id = answer.json()["saga_id"]
            self.seen.setdefault(saga_id, [])
            self.told.append(Told(act, saga_id, what, kills))
        else:
            self._complain(answer, act, path)
        return answer

    def _complain(self, answer: httpx2.Response, act: str, path: str) -> None:
        """Refusals are answers too, in one line; anything else is at fault."""
        try:
            said = answer.json()["error"]["message"]
        except (ValueError, KeyError, TypeError):
            said = None
        known = (404, 409, 422, 502, 503)
        if said is None or "Traceback" in said or "\n" in said or answer.status_code not in known:
            self.faults.append(f"{self.name}: {act} {path} was answered with {answer.status_code} {answer.text[:300]}")


def trip(origin: str, city: str, nights: int) -> dict[str, Any]:
    """On one day, so that it is planned quickly."""
    stops = [{"city": city, "nights": nights}]
    return {"origin": origin, "stops": stops, "return_to": origin, "depart": "2025-06-04", "budget": 6000, "currency": "USD"}


def _output_of(row: dict[str, Any], *, undone: bool) -> dict[str, Any]:
    """What the call would have returned."""
    if "amount" in row:
        return {"payment_id": row["id"], "amount": row["amount"], "currency": row["currency"]}
    if undone:
        return {"reservation_id": row["id"], "fee": row["fee"], "currency": row["currency"]}
    cancellation = {"free_until": None, "fee": 0}
    return {"reservation_id": row["id"], "price": row["price"], "currency": row["currency"], "cancellation": cancellation}
