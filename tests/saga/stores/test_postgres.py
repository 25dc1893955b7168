"""What depends on PostgreSQL: lost connections, lost acknowledgements, a server that goes away, addresses, migrations."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import psycopg
import pytest

from sagagraph.errors import BusyError, InvalidInputError, LockedError, StoreError, SupersededError
from sagagraph.saga.core.commands import CallKind
from sagagraph.saga.core.events import BodyCompleted, Entry, LeaseTaken, SagaBegun, SagaCommitted
from sagagraph.saga.core.locks import Holding, LockChange
from sagagraph.saga.core.state import Stage
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores import postgres_connection
from sagagraph.saga.stores.migration import LOCK
from sagagraph.saga.stores.owner import this_owner
from sagagraph.saga.stores.port import Lease, Note, RequestKind, SagaStore
from sagagraph.saga.stores.postgres import PostgresSagaStore
from sagagraph.saga.stores.urls import open_store
from sagagraph.workflow.lock import Lock
from tests.support.postgres import PostgresServer
from tests.support.proxy import PostgresProxy, postgres_proxy

from .test_stores import ME, OTHER, append, begin

Cut = Callable[[PostgresProxy], None]
Work = Callable[[SagaStore, Lease], Awaitable[Any]]

CUTS: list[Cut] = [PostgresProxy.cut, PostgresProxy.cut_before_next_request, PostgresProxy.cut_after_next_request]
each_cut = pytest.mark.parametrize("cut", CUTS, ids=lambda cut: cut.__name__)


@pytest.fixture
def proxy(database: str) -> Iterator[PostgresProxy]:
    with postgres_proxy(database) as running:
        yield running


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that stands still for seconds is no lost database."""
    monkeypatch.setattr(postgres_connection, "RECONNECT_S", 30.0)


@pytest.fixture
async def far(proxy: PostgresProxy, database: str) -> AsyncIterator[PostgresSagaStore]:
    """A store whose connection can be cut."""
    store = await PostgresSagaStore.open(proxy.url(database))
    yield store
    await store.close()


@pytest.fixture
async def near(database: str) -> AsyncIterator[PostgresSagaStore]:
    """Another one, whose connection is never cut."""
    store = await PostgresSagaStore.open(database)
    yield store
    await store.close()


def kinds(journal: tuple[Any, ...]) -> list[type]:
    return [type(each.event) for each in journal]


# -- a connection that is lost ----------------------------------------------------------------------------------------


@each_cut
async def test_rule_1_an_append_over_a_lost_connection_is_there_once(
    far: PostgresSagaStore, near: PostgresSagaStore, proxy: PostgresProxy, cut: Cut
) -> None:
    lease = await begin(far)
    cut(proxy)
    await append(far, lease, 1, BodyCompleted(), SagaCommitted())
    assert proxy.cuts == 1
    assert kinds(await near.read("trip")) == [SagaBegun, BodyCompleted, SagaCommitted]
    await append(far, lease, 3)


@each_cut
async def test_rule_1_of_appends_that_share_a_lost_commit_each_is_there_once(
    far: PostgresSagaStore, near: PostgresSagaStore, proxy: PostgresProxy, cut: Cut
) -> None:
    leases = [await begin(far, f"saga {number}") for number in range(10)]
    await near.take("saga 3", owner=ME, ttl_s=4)
    cut(proxy)
    ended = await asyncio.gather(*(append(far, each, 1, *[BodyCompleted()] * 6) for each in leases), return_exceptions=True)
    wanted = ["SupersededError" if each == 3 else "NoneType" for each in range(10)]
    assert [type(each).__name__ for each in ended] == wanted, ended
    assert [len(await near.read(each.saga_id)) for each in leases] == [2 if each == 3 else 7 for each in range(10)]


@each_cut
@pytest.mark.parametrize("request_number", [1, 2])
async def test_rule_12_locks_over_a_lost_connection_are_taken_once_with_their_entries(
    far: PostgresSagaStore, near: PostgresSagaStore, proxy: PostgresProxy, cut: Cut, request_number: int
) -> None:
    """The first request looks who keeps what, the second writes."""
    lease = await begin(far)
    holding = Holding("trip", "drive", Lock("car"), 0.0, 1)
    if request_number == 1:
        cut(proxy)
    else:
        cut_at_second_request(far, proxy, cut)
    entries = [Entry(2, 1, 5.0, BodyCompleted())]
    await far.append(lease, entries, stage=Stage.RUNNING, locks=LockChange((holding,), (), ()))
    assert proxy.cuts == 1
    assert (kinds(await near.read("trip")), await near.holdings()) == ([SagaBegun, BodyCompleted], (holding,))


async def test_rule_12_who_is_overtaken_between_the_look_and_the_write_looks_again(
    far: PostgresSagaStore, near: PostgresSagaStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, quick = await begin(far, "slow"), await begin(near, "quick")
    loop, write = asyncio.get_running_loop(), far._append_with_locks

    async def take(store: PostgresSagaStore, lease: Lease) -> None:
        change = LockChange((Holding(lease.saga_id, "drive", Lock("car"), 0.0, 1),), (), ())
        await store.append(lease, [Entry(2, 1, 5.0, BodyCompleted())], stage=Stage.RUNNING, locks=change)

    def overtaken(*given: Any) -> bool:
        monkeypatch.setattr(far, "_append_with_locks", write)
        asyncio.run_coroutine_threadsafe(take(near, quick), loop).result(20)
        return write(*given)

    monkeypatch.setattr(far, "_append_with_locks", overtaken)
    with pytest.raises(LockedError, match="saga 'quick' keeps 'car'"):
        await take(far, slow)
    assert [each.saga_id for each in await near.holdings()] == ["quick"]
    assert kinds(await near.read("slow")) == [SagaBegun]


async def test_rule_12_a_superseded_worker_neither_takes_nor_frees(far: PostgresSagaStore, near: PostgresSagaStore) -> None:
    lease = await begin(far, ttl_s=0)
    holding = Holding("trip", "drive", Lock("car"), 0.0, 1)
    await near.take("trip", owner=ME, ttl_s=4)
    with pytest.raises(SupersededError):
        await far.append(lease, [Entry(2, 1, 5.0, BodyCompleted())], stage=Stage.RUNNING, locks=LockChange((holding,), (), ()))
    assert await near.holdings() == ()


@each_cut
async def test_a_beginning_over_a_lost_connection_is_made_once(
    far: PostgresSagaStore, near: PostgresSagaStore, proxy: PostgresProxy, cut: Cut
) -> None:
    cut(proxy)  # at the question for the time
    assert await begin(far, "first") == Lease("first", 1, ME)
    far._clock = time.time  # so that the beginning itself is the next request
    cut(proxy)
    assert await begin(far, "second") == Lease("second", 1, ME)
    assert [len(await near.read(each)) for each in ("first", "second")] == [1, 1]
    assert proxy.cuts == 2


@each_cut
async def test_a_takeover_over_a_lost_connection_is_made_once(
    far: PostgresSagaStore, near: PostgresSagaStore, proxy: PostgresProxy, cut: Cut
) -> None:
    await begin(near, ttl_s=0)
    far._clock = time.time  # so that the look at the head is the first request, and the takeover the second
    cut_at_second_request(far, proxy, cut)
    assert await far.take("trip", owner=OTHER, ttl_s=4) == Lease("trip", 2, OTHER)
    assert proxy.cuts == 1
    assert kinds(await near.read("trip")) == [SagaBegun, LeaseTaken]


def cut_at_second_request(store: PostgresSagaStore, proxy: PostgresProxy, cut: Cut) -> None:
    """The first one only looks."""
    connection, execute = store._connection, store._connection.execute

    def first(*arguments: Any, **options: Any) -> Any:
        connection.execute = second  # type: ignore[method-assign]
        return execute(*arguments, **options)

    def second(*arguments: Any, **options: Any) -> Any:
        connection.execute = execute  # type: ignore[method-assign]
        cut(proxy)
        return execute(*arguments, **options)

    connection.execute = first  # type: ignore[method-assign]


@each_cut
async def test_a_request_over_a_lost_connection_is_asked_once(
    far: PostgresSagaStore, near: PostgresSagaStore, proxy: PostgresProxy, cut: Cut
) -> None:
    await begin(near)
    earlier = await near.ask("trip", RequestKind.CANCEL, "Ada", None)  # an equal one is not taken for ours
    cut_at_second_request(far, proxy, cut)
    asked = await far.ask("trip", RequestKind.CANCEL, "Ada", None)
    assert proxy.cuts == 1
    assert await near.requests({"trip": 0}) == (earlier, asked)


NOTE = Note("T1", CallKind.ACTION, "trip/T1/1", {"seat": "7C"})
REPEATED: dict[str, Work] = {
    "read": lambda store, _lease: store.read("trip"),
    "headlines": lambda store, _lease: store.headlines(),
    "notes": lambda store, _lease: store.notes("trip"),
    "requests": lambda store, _lease: store.requests({"trip": 0}),
    "renew": lambda store, lease: store.renew([lease], 60),
    "note": lambda store, _lease: store.note("trip", NOTE),
    "release": lambda store, lease: store.release(lease),
}


@each_cut
@pytest.mark.parametrize("name", REPEATED)
async def test_what_may_be_repeated_is_repeated(
    far: PostgresSagaStore, near: PostgresSagaStore, proxy: PostgresProxy, cut: Cut, name: str
) -> None:
    lease = await begin(near)
    cut(proxy)
    answer = await REPEATED[name](far, lease)
    assert answer == await REPEATED[name](near, lease)
    assert proxy.cuts == 1
    assert await near.notes("trip") == ((NOTE,) if name == "note" else ())


UNDER_WAY: dict[str, Work] = {
    "append": lambda store, lease: append(store, lease, 1),
    "take": lambda store, _lease: store.take("trip", owner=ME, ttl_s=4),
    "ask": lambda store, _lease: store.ask("trip", RequestKind.CANCEL, "Ada", None),
}


@pytest.mark.parametrize("name", UNDER_WAY)
async def test_rule_1_a_commit_that_is_still_under_way_is_waited_for(
    far: PostgresSagaStore, near: PostgresSagaStore, proxy: PostgresProxy, database: str, name: str
) -> None:
    lease = await begin(far)
    with psycopg.connect(database) as other:
        other.execute("SELECT * FROM sagas FOR UPDATE")
        writing = asyncio.ensure_future(UNDER_WAY[name](far, lease))
        await until_waiting(database, 1)
        proxy.cut()  # the server goes on with it
        await until_waiting(database, 2)  # and we are back, and wait behind it
        assert not writing.done()
    await writing
    assert len(await near.read("trip")) + len(await near.requests({"trip": 0})) == 2


async def test_rule_6_what_is_written_with_others_or_at_length_is_fenced_too(near: PostgresSagaStore) -> None:
    old = await begin(near)
    long = [BodyCompleted()] * 6
    with pytest.raises(SupersededError):
        await append(near, old, 3, *long)
    new = await near.take("trip", owner=ME, ttl_s=4)
    with pytest.raises(SupersededError):
        await append(near, old, 2, *long)
    assert kinds(await near.read("trip")) == [SagaBegun, LeaseTaken]
    await append(near, new, 2, *long)
    assert len(await near.read("trip")) == 8


async def until_waiting(database: str, count: int) -> None:
    """Until so many statements wait for locks."""
    with psycopg.connect(database, autocommit=True) as connection:
        give_up_at = time.monotonic() + 5
        while True:
            waiting = connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
            ).fetchone()
            if waiting == (count,):
                return
            assert time.monotonic() < give_up_at, waiting
            await asyncio.sleep(0.01)


async def test_rule_6_who_was_overtaken_while_cut_off_is_superseded(
    far: PostgresSagaStore, near: PostgresSagaStore, proxy: PostgresProxy
) -> None:
    lease = await begin(far, owner=ME, ttl_s=0)
    proxy.refuse_for(0.3)
    appending = asyncio.create_task(append(far, lease, 1))
    taken = await near.take("trip", owner=OTHER, ttl_s=4)
    with pytest.raises(SupersededError, match="trip"):
        await appending
    assert kinds(await near.read("trip")) == [SagaBegun, LeaseTaken]
    await append(near, taken, 2)


async def test_a_database_that_is_away_for_too_long_is_one_clear_line_and_may_come_back(
    far: PostgresSagaStore, proxy: PostgresProxy, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_connection, "RECONNECT_S", 0.3)
    leases = [await begin(far, f"saga {number}") for number in range(20)]
    proxy.refuse_for(1.2)
    began = time.monotonic()
    ended = await asyncio.gather(*(append(far, each, 1) for each in leases), far.read("saga 1"), return_exceptions=True)
    assert {type(each) for each in ended} == {StoreError}
    assert time.monotonic() - began < 1.0  # one waits for all
    for each in ended:
        assert len(str(each).splitlines()) == 1
        assert password_of(database) not in str(each)
    await asyncio.sleep(1.2 - (time.monotonic() - began))
    await asyncio.gather(*(append(far, each, 1) for each in leases))


def password_of(database: str) -> str:
    return psycopg.conninfo.conninfo_to_dict(database)["password"]  # type: ignore[return-value]


async def test_the_event_loop_does_not_wait_for_the_database(far: PostgresSagaStore, database: str) -> None:
    lease = await begin(far)
    with psycopg.connect(database) as other:
        other.execute("SELECT * FROM sagas FOR UPDATE")
        appending = asyncio.create_task(append(far, lease, 1))
        for _turn in range(20):
            await asyncio.sleep(0.01)  # it turns
        assert not appending.done()
    await appending


@pytest.mark.parametrize("immediately", [True, False])
async def test_a_server_that_is_started_again_in_the_middle_loses_nothing(
    postgres: PostgresServer, near: PostgresSagaStore, immediately: bool
) -> None:
    leases = [await begin(near, f"saga {number}") for number in range(5)]

    async def write(lease: Lease) -> None:
        for version in range(1, 60):
            await append(near, lease, version)
            await asyncio.sleep(0.005)

    writing = asyncio.gather(*(write(each) for each in leases))
    await asyncio.sleep(0.1)
    await asyncio.to_thread(postgres.restart, immediately=immediately)
    assert not writing.done()
    await writing
    for each in leases:
        assert [entry.version for entry in await near.read(each.saga_id)] == list(range(1, 61))


@each_cut
async def test_a_saga_goes_on_over_a_lost_connection(far: PostgresSagaStore, proxy: PostgresProxy, cut: Cut) -> None:
    engine = Engine(far)
    async with engine.saga("trip"):
        cut(proxy)
    assert (await engine.status("trip")).status.value == "committed"
    engine._keeper.stop()


# -- leases go by the database's clock ---------------------------------------------------------------------------------


async def test_leases_go_by_the_clock_of_the_database(
    near: PostgresSagaStore, far: PostgresSagaStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time", lambda: 0.0)  # this machine is decades behind
    await begin(near, ttl_s=0.3)
    assert (await near.read("trip"))[0].at > 1_700_000_000
    with pytest.raises(BusyError, match=r"0\.[0-3] s more"):
        await far.take("trip", owner=OTHER, ttl_s=0.3)
    await asyncio.sleep(0.31)
    lease = await far.take("trip", owner=OTHER, ttl_s=0.1)
    assert await far.renew([lease], 60) == {lease}
    with pytest.raises(BusyError, match=r"59\.\d s more|60\.0 s more"):
        await near.take("trip", owner=this_owner("third"), ttl_s=1)


# -- what PostgreSQL cannot keep ----------------------------------------------------------------------------------------


async def test_an_id_with_a_character_that_no_text_can_have_is_bad_input_and_of_nobody_else(near: PostgresSagaStore) -> None:
    ended = await asyncio.gather(*(begin(near, each) for each in ("good", "b\0d", "fine", "\ud800")), return_exceptions=True)
    assert [type(each) for each in ended] == [Lease, InvalidInputError, Lease, InvalidInputError]
    for attempt in (near.read("b\0d"), near.headline("b\0d"), near.ask("good", RequestKind.CANCEL, "A\0a", None)):
        with pytest.raises(InvalidInputError, match="NUL"):
            await attempt
    note = Note("T1", CallKind.ACTION, "key", "within JSON \0 it is harmless")
    await near.note("good", note)
    assert await near.notes("good") == (note,)


async def test_a_database_that_may_only_be_read_is_one_clear_line(near: PostgresSagaStore, database: str) -> None:
    lease = await begin(near)
    name = database.rpartition("/")[2]
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on".encode())
    store = await PostgresSagaStore.open(database)
    assert len(await store.read("trip")) == 1
    for attempt in (append(store, lease, 1), begin(store, "another"), store.take("trip", owner=ME, ttl_s=1)):
        with pytest.raises(StoreError, match="read-only"):
            await attempt
    await store.close()


# -- opening ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
async def test_a_new_database_gets_its_tables_and_is_opened_again(empty_database: str, scheme: str) -> None:
    url = empty_database.replace("postgresql", scheme, 1)
    for version in (1, 2):
        store = await open_store(url)
        if version == 1:
            await begin(store)
        assert len(await store.read("trip")) == 1
        await store.close()


async def test_the_unix_socket_will_do_too(postgres: PostgresServer, database: str) -> None:
    name = database.rpartition("/")[2]
    store = await open_store(postgres.socket_url.replace("/postgres?", f"/{name}?"))
    await begin(store)
    await store.close()


_OPENER = """
import asyncio, sys
from sagagraph.saga.stores.postgres import PostgresSagaStore
from sagagraph.saga.core.events import Driver, SagaBegun
from sagagraph.saga.core.state import Stage

async def main(url, name):
    store = await PostgresSagaStore.open(url)
    await store.create(name, SagaBegun(Driver.BODY, "", None), stage=Stage.RUNNING, owner="o", ttl_s=1)
    await store.close()

print("ready", flush=True)
sys.stdin.readline()
asyncio.run(main(*sys.argv[1:]))
"""


def test_processes_that_open_a_new_database_at_once_all_migrate_it_or_wait(empty_database: str) -> None:
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    names = ("one", "two", "three", "four")
    openers = [subprocess.Popen([sys.executable, "-c", _OPENER, empty_database, each], text=True, **pipes) for each in names]
    for each in openers:
        assert each.stdout is not None
        assert each.stdout.readline() == "ready\n"
    for each in openers:
        assert each.stdin is not None
        each.stdin.write("go\n")
        each.stdin.flush()
    ended = [each.communicate(timeout=40) for each in openers]
    assert [each.returncode for each in openers] == [0] * 4, ended
    with psycopg.connect(empty_database) as connection:
        assert {name for (name,) in connection.execute("SELECT saga_id FROM sagas")} == set(names)


async def test_tables_are_made_by_one_at_a_time(empty_database: str) -> None:
    with psycopg.connect(empty_database) as other:
        other.execute(f"SELECT pg_advisory_xact_lock({LOCK})".encode())
        opening = asyncio.create_task(PostgresSagaStore.open(empty_database))
        await until_waiting(empty_database, 1)
    await (await opening).close()


def wrong_password(url: str) -> str:
    return url.replace(password_of(url), "s3cret")


def unknown_database(url: str) -> str:
    return f"{url}_that_is_not_there"


def no_server(url: str) -> str:
    return f"postgresql://me:{password_of(url)}@127.0.0.1:1/x"


def unknown_host(url: str) -> str:
    return f"postgresql://me:{password_of(url)}@nowhere.invalid/x"


def a_newer_release(url: str) -> str:
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE sagagraph_version (version_num TEXT)")
        connection.execute("INSERT INTO sagagraph_version VALUES ('9999')")
    return url


def another_program(url: str) -> str:
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE sagas (norse TEXT)")
    return url


OBSTACLES = [wrong_password, unknown_database, no_server, unknown_host, a_newer_release, another_program]


@pytest.mark.parametrize("obstacle", OBSTACLES)
async def test_what_cannot_be_opened_is_named_in_one_clear_line(empty_database: str, obstacle: Callable[[str], str]) -> None:
    url = obstacle(empty_database)
    with pytest.raises(StoreError) as raised:
        await open_store(url)
    told = str(raised.value)
    assert len(told.splitlines()) == 1
    assert url.rpartition("@")[2].rpartition(":")[0] in told
    assert password_of(url) not in told
    assert password_of(empty_database) not in told


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:s3c@ret@127.0.0.1/x",
        "postgresql://me:s3c/ret@127.0.0.1/x",
        "postgresql://me:s3c:ret@127.0.0.1/x",
        "postgresql://me:s3c?ret@127.0.0.1/x",
        "postgresql://me:s3cret@127.0.0.1:port/x",
        "postgresql://me:s3c%ret@127.0.0.1/x",
        "postgresql://me:s3cret@127.0.0.1/x?colour=blue",
        "postgres:me:s3cret@127.0.0.1/x",
        "postgresql+psycopg://me:s3cret@127.0.0.1/x",
    ],
)
async def test_an_address_that_is_none_is_bad_input_and_its_password_is_not_repeated(url: str) -> None:
    with pytest.raises(InvalidInputError, match=r"--store.*postgresql://") as raised:
        await open_store(url)
    assert len(str(raised.value).splitlines()) == 1
    assert "s3c" not in str(raised.value)
    assert "ret@" not in str(raised.value)
