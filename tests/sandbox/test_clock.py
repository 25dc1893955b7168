from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from tests.sandbox.caller import Caller, RealTime, code
from tests.sandbox.conftest import Open

pytestmark = pytest.mark.quick

OPENING = datetime(2025, 3, 1, 9, tzinfo=UTC)


async def test_the_clock_starts_at_nine_on_the_day_that_it_is_told_and_runs_on(open_sandbox: Open, real_time: RealTime) -> None:
    async with open_sandbox(today=date(2026, 1, 2)) as sandbox:
        assert await sandbox.now() == datetime(2026, 1, 2, 9, tzinfo=UTC)
        real_time.pass_by(90.5)
        assert await sandbox.now() == datetime(2026, 1, 2, 9, 1, 30, 500_000, tzinfo=UTC)


async def test_the_clock_shows_the_real_time_by_default(open_sandbox: Open, real_time: RealTime) -> None:
    async with open_sandbox(today=None) as sandbox:
        assert await sandbox.now() == real_time()
        real_time.pass_by(90.5)
        assert await sandbox.now() == real_time()


async def test_what_is_on_offer_begins_with_the_real_day(open_sandbox: Open, real_time: RealTime) -> None:
    async with open_sandbox(today=None) as sandbox:
        assert await sandbox.flights("Boston", "Rome", str(real_time().date() + timedelta(days=1)))
        yesterday = await sandbox.get("/offers/flights", origin="Boston", destination="Rome", date="2029-12-31")
        assert code(yesterday) == (422, "date_past")


async def test_the_clock_of_an_existing_file_is_set_to_another_day_only_where_that_is_wanted(
    open_sandbox: Open, real_time: RealTime
) -> None:
    for asked, shown in ((date(2025, 3, 1), OPENING), (date(2027, 1, 1), datetime(2027, 1, 1, 9, tzinfo=UTC)), (None, None)):
        async with open_sandbox(today=asked, moves_clock=True) as sandbox:
            assert await sandbox.now() == (shown or datetime(2027, 1, 1, 9, 1, tzinfo=UTC))
        real_time.pass_by(60)
    async with open_sandbox(today=date(2027, 1, 1), moves_clock=True) as sandbox:
        assert await sandbox.now() == datetime(2027, 1, 1, 9, 2, tzinfo=UTC)


async def test_the_clock_can_be_moved_on(sandbox: Caller) -> None:
    moved = await sandbox.post("/clock/advance", {"seconds": 3600.25})
    assert datetime.fromisoformat(moved.json()["now"]) == OPENING + timedelta(seconds=3600.25) == await sandbox.now()


@pytest.mark.parametrize("seconds", [-1, "soon", None, True, 10**12])
async def test_the_clock_cannot_be_moved_back_or_by_nonsense(sandbox: Caller, seconds: object) -> None:
    assert code(await sandbox.post("/clock/advance", {"seconds": seconds})) == (422, "invalid")
    assert await sandbox.now() == OPENING


async def test_the_clock_ends_before_dates_do(open_sandbox: Open) -> None:
    async with open_sandbox(today=date(2099, 12, 31)) as sandbox:
        assert code(await sandbox.post("/clock/advance", {"seconds": 86400})) == (422, "invalid")


async def test_a_restart_goes_on_with_the_stored_clock_whatever_day_it_is_told(open_sandbox: Open, real_time: RealTime) -> None:
    async with open_sandbox() as sandbox:
        await sandbox.advance(86400)
    real_time.pass_by(10)
    async with open_sandbox(today=date(2027, 1, 1)) as sandbox:
        assert await sandbox.now() == OPENING + timedelta(seconds=86410)
