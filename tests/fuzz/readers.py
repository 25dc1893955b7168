"""Readers: everything that reads what others wrote, with inputs that were almost right. Each ends well or in our words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import httpx2
from hypothesis import strategies as st

from sagagraph.domains.job_shop import entry as job_shop
from sagagraph.domains.recipes import entry as recipes
from sagagraph.domains.recipes.text import read_meal
from sagagraph.domains.reunion import entry as reunion
from sagagraph.domains.reunion.completion import completed
from sagagraph.domains.reunion.day import parse_request as parse_day
from sagagraph.domains.reunion.shipped import SHIPPED
from sagagraph.domains.reunion.text.telling import told
from sagagraph.domains.reunion.transcript import EMPTY
from sagagraph.domains.travel.completion import completed as completed_trip
from sagagraph.domains.travel.plan import Itinerary
from sagagraph.domains.travel.provider.provider import HttpReservationProvider
from sagagraph.domains.travel.request import parse_request
from sagagraph.domains.travel.rules.validator import parsed_itinerary, validate_itinerary
from sagagraph.domains.travel.text.reader import read_request
from sagagraph.errors import JournalError, SagaGraphError
from sagagraph.files import json_file
from sagagraph.harness.judging.check import check, read_artifact
from sagagraph.harness.language.parser import parse
from sagagraph.harness.registry.loading import load_harness
from sagagraph.language.utterance.utterances import news_in, utterances, wishes_in
from sagagraph.planning.entry import Case
from sagagraph.planning.fields import Fields, Sheet
from sagagraph.planning.page import Draft, Page
from sagagraph.saga.core.codec import Record, decode, encode
from sagagraph.saga.core.evolve.evolve import fold
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.engine.views.document import entry_json, plain
from sagagraph.saga.engine.views.view import view_of
from sagagraph.saga.stores.rows import Head, checksum, entries_of, notes_of, request_of
from sagagraph.validators.verdict import Verdict
from tests.domains.travel.world import GAZETTEER, NOW, TODAY
from tests.fuzz import doors, inputs
from tests.fuzz.samples import (
    ANSWERS,
    EVENTS_OF_DAY,
    EVENTS_OF_SHOP,
    ITINERARY,
    MEAL,
    MEAL_PLAN,
    MODEL_ANSWERS,
    RECIPE_TEXTS,
    REUNION_PLAN,
    REUNION_TEXTS,
    SHOP,
    SHOP_PLAN,
    TRIP_TEXTS,
)
from tests.language.openings.reading import page_of
from tests.saga.journals import JOURNALS
from tests.support.scripted_model import Scripted
from tests.support.trips import REQUEST


@dataclass(frozen=True)
class Reader:
    of: st.SearchStrategy[Any]
    read: Callable[[Any, Path], object]
    """Reads one input; the path is a folder for files. Any error that is not ours is a fault."""
    ends: tuple[type[SagaGraphError], ...] = (SagaGraphError,)
    """The errors in which it may end."""


def _saved(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def _tellable(said: Any) -> None:
    """Whatever is said can be written down."""
    json.dumps(said, default=str, ensure_ascii=False).encode()


def _run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    with asyncio.Runner() as runner:
        return runner.run(coroutine)


# -- journals --------------------------------------------------------------------------------------------------------


_ROWS = [row for journal in JOURNALS for row in journal.rows]
_EVENTS = [{"type": row["type"], "schema_version": row["schema_version"], "data": json.loads(row["data"])} for row in _ROWS]
_LINES = [[{"type": e["type"], "schema_version": e["schema_version"], "data": json.loads(e["data"])} for e in each.rows]
          for each in JOURNALS]  # fmt: skip


def _event(said: Any, _folder: Path) -> None:
    if not isinstance(said, dict):
        return
    version = said.get("schema_version")
    record = Record(str(said.get("type")), version if isinstance(version, int) else 1, json.dumps(said.get("data")))
    event = decode(record, 7.5)
    again = decode(encode(event), 7.5)
    assert repr(again) == repr(event), "something is lost between what is written and what is read"


def _journal(said: Any, _folder: Path) -> None:
    """Rows as a database has them that somebody else writes to: their checksums are right."""
    rows = []
    for number, each in enumerate(said if isinstance(said, list) else [], 1):
        if not isinstance(each, dict) or not isinstance(each.get("schema_version"), int):
            continue
        record = (str(each.get("type")), each["schema_version"], json.dumps(each.get("data")))
        rows.append((number, 1, 7.5, *record, _sum("s", number, 1, 7.5, *record)))
    entries = entries_of("s", Head(len(rows), 1), rows)
    saga = fold("s", entries)
    status_of(saga)
    _tellable(plain(view_of(saga)))
    _tellable([entry_json(entry) for entry in entries])


def _sum(*row: Any) -> int:
    try:
        return checksum(*row)
    except Exception:
        return 0


def _side_rows(said: Any, _folder: Path) -> None:
    words = json.dumps(said)
    request = request_of(1, "s", words[:9], "Ada", words)
    assert request.damage or json.dumps(request.data) == words
    notes_of([("T1", "execute", "k", words), ("T1", words[:7], "k", words[1:])])


# -- requests, plans, problems ---------------------------------------------------------------------------------------


def _trip(said: Any, folder: Path) -> None:
    request = parse_request(json_file(_saved(folder, "request.json", said), "--request"), cities=GAZETTEER, today=TODAY)
    assert parse_request(request.model_dump(mode="json"), cities=GAZETTEER, today=TODAY) == request


def _itinerary(said: Any, folder: Path) -> None:
    read = json_file(_saved(folder, "plan.json", said), "PLAN")
    request = parse_request(REQUEST_AS_READ, cities=GAZETTEER, today=NOW.date())
    plan = parsed_itinerary(read)
    verdict = plan if isinstance(plan, Verdict) else validate_itinerary(plan, request, None, now=NOW, cities=GAZETTEER)
    _tellable(verdict.model_dump(mode="json"))


REQUEST_AS_READ = {**REQUEST, "return_to": "San Francisco"}


def _trip_text(said: str, _folder: Path) -> None:
    said = said.encode(errors="replace").decode()
    utterances(said)
    for each in (wishes_in, news_in):
        with _ours():
            each(said)
    found = read_request(said, cities=GAZETTEER, today=TODAY)
    whole, _assumed = completed_trip(found, TODAY, is_far=GAZETTEER.takes_a_night)
    for each in (found, whole):
        _tellable(each.model_dump(mode="json"))
        with _ours():
            each.complete()


def _reunion_text(said: str, _folder: Path) -> None:
    said = said.encode(errors="replace").decode()
    found = completed(told(EMPTY, said).filled)
    _tellable([str(each) for each in (*found.questions, *found.notes)])
    assert found.questions or found.whole is not None


def _model(said: Any, _folder: Path) -> None:
    """Whatever a model answers, nothing comes of it that nobody said."""
    for domain, text in (("trip", "2 nights in Rome"), ("reunion", "Emily lands at 2 pm at BOS"), ("meal", "custard")):
        page = page_of(domain, Scripted(said))
        draft: Draft = _run(page.hear(text, None))
        _tellable([*draft.asides, *draft.not_understood, *draft.questions])


_ours = partial(suppress, SagaGraphError)
_DRAFTED = (("trip", TRIP_TEXTS[0]), ("reunion", REUNION_TEXTS[0]), ("meal", RECIPE_TEXTS[0]))


@cache
def _board(domain: str, text: str) -> tuple[Page, Draft, tuple[str, ...]]:
    """Return a page, what it made of a text, and the names of the fields of its board."""
    page = page_of(domain)
    draft: Draft = _run(page.hear(text, None))
    parts = page.fields(draft)
    cells = [cell for part in parts if isinstance(part, Sheet) for _head, cells in part.rows for cell in cells]
    cells += [part.fields for part in parts if isinstance(part, Fields)]
    return page, draft, tuple(field.name for cell in cells for field in cell)


def _field(said: tuple[int, int, str], _folder: Path) -> None:
    board, place, value = said
    page, draft, names = _board(*_DRAFTED[board])
    changed: Draft = _run(page.with_field(draft.known, names[place % len(names)], value.encode(errors="replace").decode()))
    _tellable([*changed.asides, *changed.not_understood, *changed.questions, changed.request])
    list(page.fields(changed))


def _judged(entry: Any) -> Callable[[Any, Path], None]:
    def judge(said: Any, folder: Path) -> None:
        said = said if isinstance(said, dict) else {"problem": said}
        problem, plan = (_saved(folder, f"{name}.json", _bytes(said.get(name))) for name in ("problem", "plan"))
        happened = (_saved(folder, "events.json", said["events"]),) if "events" in said else ()
        old, until = None if said.get("against") is None else _saved(folder, "old.json", said["against"]), said.get("until")
        case = Case(problem, plan, happened, None if until is None else str(until), old)
        _tellable(_run(entry.judge(case, None)).model_dump(mode="json"))

    return judge


def _bytes(said: Any) -> Any:
    return said.encode(errors="surrogatepass") if isinstance(said, str) else said


def _day(said: Any, folder: Path) -> None:
    request = parse_day(json_file(_saved(folder, "request.json", said), "--request"))
    parse_day(request.model_dump(mode="json"))


_PROBLEMS = [json.loads(files("sagagraph.domains.reunion").joinpath("problems", f"{each}.json").read_text()) for each in SHIPPED]
_DAYS = [{"problem": each, "day": "2025-11-27", "events": []} for each in _PROBLEMS]

# -- harnesses -------------------------------------------------------------------------------------------------------

_HARNESSES = [
    each.read_text() for each in files("sagagraph.harness").joinpath("examples").iterdir() if each.name.endswith("yaml")
]
_ASSERTIONS = [
    line.partition("assertion:")[2].partition(", severity")[0].strip()
    for text in _HARNESSES
    for line in text.splitlines()
    if "assertion:" in line
]


def _harness(said: str, folder: Path) -> None:
    harness = load_harness(_saved(folder, "harness.yaml", said.encode(errors="surrogatepass")))
    _tellable(check(harness, {}).verdict)


def _artifact(said: Any, folder: Path) -> None:
    found = read_artifact(_saved(folder, "artifact.json", said))
    for harness in _loaded(folder):
        _tellable([[each.trace, each.reason] for each in check(harness, found).rules])


_CACHE: list[Any] = []


def _loaded(folder: Path) -> Sequence[Any]:
    if not _CACHE:
        _CACHE.extend(load_harness(_saved(folder, "known.yaml", text.encode())) for text in _HARNESSES)
    return _CACHE


_ARTIFACT = {"temperature": 350, "flow": 1.5, "pressure": 2, "uptime": 0.999, "latency_ms": 200, "name": "x", "xs": [1, 2]}

# -- providers -------------------------------------------------------------------------------------------------------

_CALLS: tuple[Callable[[HttpReservationProvider], Coroutine[Any, Any, Any]], ...] = (
    lambda it: it.identity(), lambda it: it.now(), lambda it: it.guarantees(), lambda it: it.cities(), lambda it: it.rates(),
    lambda it: it.ledger(),
)  # fmt: skip


def _provider(said: tuple[int, int, list[tuple[str, str]], bytes], _folder: Path) -> None:
    which, status, headers, content = said

    async def answer(_request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(status, headers=headers, content=content)

    async def ask() -> None:
        async with HttpReservationProvider("http://127.0.0.1:9", transport=httpx2.MockTransport(answer)) as provider:
            for call in (
                _CALLS[which % len(_CALLS)],
                lambda it: it._wire.effect(Itinerary.model_validate_json, "/x", {}, key="k"),
            ):
                with _ours():
                    await call(provider)

    _run(ask())


_HEADERS = st.lists(
    st.tuples(
        st.sampled_from(["Retry-After", "Date", "Content-Type", "Content-Encoding"]),
        st.sampled_from(["", "5", "-1", "9" * 40, "1e9", "Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 99999 07:28:00 GMT",
                         "Fri, 31 Dec 9999 23:59:59 -2359", "Mon, 01 Jan 0001 00:00:00 +2359",
                         "Mon, 1 Jan 2025 00:00:00 +99999999999",
                         "gzip", "text/html", "application/json", "1 Jan", "99 99 99 99:99:99"])
        | st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=30),
    ),
    max_size=3,
)  # fmt: skip
_ANSWERS = st.tuples(
    st.integers(0, 9),
    st.sampled_from([200, 200, 200, 201, 204, 400, 404, 409, 422, 422, 429, 500, 503, 302, 599]),
    _HEADERS,
    inputs.written(ANSWERS),
)

_VALUES = ("2", "Rome", "2025-06-04", "14:30", "500", "2 hours", "Sarah, James", "3-4", "yes")
_FIELDS = st.tuples(
    st.integers(0, len(_DRAFTED) - 1), st.integers(0, 99), st.sampled_from(inputs.ODD_WORDS) | inputs.texts(_VALUES)
)

READERS: dict[str, Reader] = {
    "an event": Reader(inputs.documents(_EVENTS), _event, (JournalError,)),
    "a journal": Reader(inputs.documents(_LINES), _journal, (JournalError,)),
    "rows of requests and evidence": Reader(inputs.json_values, _side_rows, ()),
    "the request of a trip": Reader(inputs.written([REQUEST]), _trip),
    "an itinerary": Reader(inputs.written([ITINERARY]), _itinerary),
    "a trip in words": Reader(inputs.texts(TRIP_TEXTS), _trip_text),
    "a reunion in words": Reader(inputs.texts(REUNION_TEXTS), _reunion_text),
    "recipes in words": Reader(inputs.texts(RECIPE_TEXTS), lambda said, _folder: read_meal(said)),
    "an answer of a model": Reader(inputs.documents(MODEL_ANSWERS), _model, ()),
    "a field of a board": Reader(_FIELDS, _field),
    "the request of a reunion": Reader(inputs.written(_DAYS), _day),
    "a reunion, its events and plans": Reader(
        inputs.documents(
            [
                {
                    "problem": _PROBLEMS[1],
                    "plan": REUNION_PLAN,
                    "events": EVENTS_OF_DAY,
                    "against": REUNION_PLAN,
                    "until": "14:00",
                },
                {"problem": _PROBLEMS[1], "plan": REUNION_PLAN},
            ]
        ),
        _judged(reunion.DOMAIN),
    ),
    "a job shop, its events and schedules": Reader(
        inputs.documents(
            [
                {"problem": SHOP, "plan": SHOP_PLAN, "events": EVENTS_OF_SHOP, "against": SHOP_PLAN, "until": "3"},
                {"problem": SHOP, "plan": SHOP_PLAN},
            ]
        ),
        _judged(job_shop.DOMAIN),
    ),
    "a meal and its plan": Reader(inputs.documents([{"problem": MEAL, "plan": MEAL_PLAN}]), _judged(recipes.DOMAIN)),
    "a harness": Reader(inputs.texts(_HARNESSES), _harness),
    "an assertion": Reader(inputs.texts(_ASSERTIONS), lambda said, _folder: parse(said, "a rule")),
    "an artifact": Reader(inputs.written([_ARTIFACT]), _artifact),
    "a provider's answer": Reader(_ANSWERS, _provider),
    "a command line": Reader(doors.command_lines, doors.command, ()),
    "a message of a conversation": Reader(inputs.texts(doors.CHAT), doors.chat, ()),
    "a call of the app": Reader(doors.ui_calls, doors.ui_call, ()),
    "a call of the sandbox": Reader(doors.sandbox_calls, doors.sandbox_call, ()),
}
