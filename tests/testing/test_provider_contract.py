"""The contract of a provider, kept by the reservation service: with all of its guarantees, and without each of them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

import sagagraph
from sagagraph.domains.travel.provider.provider import HttpReservationProvider
from sagagraph.domains.travel.provider.receipts import ProviderGuarantees
from sagagraph.sandbox.server import EmbeddedSandbox
from sagagraph.sandbox.settings import SandboxSettings
from sagagraph.testing.providers import Bench, Journey, Stay
from sagagraph.testing.providers.check import Check, Promise, carry_out
from sagagraph.testing.providers.contract import CHECKS, Connect, ProviderContract
from sagagraph.testing.providers.trial import ContractBrokenError
from tests.support.today import TODAY
from tests.testing.lossy import LossyWire

pytest_plugins = ["pytester"]

FLIGHT = Journey("San Francisco", "Berlin", date(2025, 6, 4), travellers=2)
TRAIN = Journey("Berlin", "Cologne", date(2025, 6, 8))
HOTEL = Stay("Cologne", date(2025, 6, 8), date(2025, 6, 10), rooms=2)
QUIETLY = ("-p", "no:cacheprovider", "-p", "no:asyncio")
NOBODY = "http://127.0.0.1:9"


def connect_to(url: str) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncIterator[Bench]:
        wire = LossyWire()
        async with HttpReservationProvider(url, transport=wire) as provider, HttpReservationProvider(NOBODY) as nobody:
            yield Bench(
                provider,
                flight=FLIGHT,
                train=TRAIN,
                hotel=HOTEL,
                ledger=provider.ledger,
                lose_next_answer=wire.lose_next,
                unreachable=nobody,
            )

    return connect


@contextmanager
def sandbox(folder: Path, *withheld: str) -> Iterator[str]:
    with EmbeddedSandbox(SandboxSettings(folder / "sandbox.db", today=TODAY, withheld=frozenset(withheld))) as service:
        yield service.url


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with sandbox(tmp_path_factory.mktemp("sandbox")) as url:
        yield url


class TestTheSandbox(ProviderContract):
    @pytest.fixture
    def connect(self, everything: str) -> Connect:
        return connect_to(everything)


# -- guarantees that are not given, and such that are only declared ------------------------------------------------------------

PROMISES: dict[str, Promise] = {
    "dedup": "dedup",
    "void": "void",
    "deadline": "deadline",
    "refusals": "refusals_final",
}
"""By what the sandbox calls them."""
ALL = ProviderGuarantees(dedup=timedelta(days=1), void=True, deadline=True, refusals_final=True)


async def results(bench: Bench, checks: Iterable[Check] = CHECKS) -> tuple[set[str], set[str]]:
    """The names of the checks that were not asked, and of those that do not hold; of trains and hotels see above."""
    bench = replace(bench, train=None, hotel=None) if bench.flight else bench
    not_asked, broken = set(), set()
    for n, check in enumerate(checks):
        try:
            if await carry_out(check, bench, f"trial-{n}") is not None:
                not_asked.add(check.name)
        except ContractBrokenError:
            broken.add(check.name)
    return not_asked, broken


@pytest.mark.parametrize("withheld", [*PROMISES, ",".join(PROMISES)])
async def test_nothing_is_asked_that_is_not_declared(withheld: str, tmp_path: Path) -> None:
    with sandbox(tmp_path, *withheld.split(",")) as url:
        async with connect_to(url)() as bench:
            not_asked, broken = await results(bench)
    missing = {PROMISES[each] for each in withheld.split(",")}
    assert not_asked == {check.name for check in CHECKS if check.promise in missing}
    assert broken == set()


@pytest.mark.parametrize(
    ("withheld", "caught_by"),
    [
        (
            "dedup",
            {
                "a_key_books_once",
                "a_key_books_once_at_the_same_time",
                "a_key_is_for_one_booking",
                "a_key_cancels_once",
                "a_key_captures_once",
                "a_key_is_for_one_payment",
                "a_key_refunds_once",
                "a_lost_answer_is_given_again",
            },
        ),
        (
            "void",
            {
                "a_void_of_nothing_leaves_a_tombstone",
                "a_void_undoes_what_landed",
                "a_void_repeated_changes_nothing",
                "a_void_holds_for_payments",
            },
        ),
        (
            "deadline",
            {
                "a_booking_that_comes_late_is_refused",
                "a_cancellation_that_comes_late_is_refused",
                "a_payment_that_comes_late_is_refused",
                "a_refund_that_comes_late_is_refused",
            },
        ),
        ("refusals", {"a_refusal_stays_one"}),
    ],
)
async def test_a_guarantee_that_is_only_declared_is_caught(withheld: str, caught_by: set[str], tmp_path: Path) -> None:
    async def guarantees() -> ProviderGuarantees:
        return ALL

    with sandbox(tmp_path, withheld) as url:
        async with connect_to(url)() as bench:
            boaster: Any = bench.provider
            boaster.guarantees = guarantees
            concerned = [check for check in CHECKS if check.promise == PROMISES[withheld]]
            assert await results(bench, concerned) == (set(), caught_by)


async def test_what_the_bench_does_not_have_is_not_asked(everything: str) -> None:
    async with HttpReservationProvider(everything) as provider:
        not_asked, broken = await results(Bench(provider, train=TRAIN))
    assert not_asked == {check.name for check in CHECKS if check.aid is not None}
    assert broken == set()


async def test_a_bench_without_anything_to_book_is_told_so(everything: str) -> None:
    async with HttpReservationProvider(everything) as provider:
        with pytest.raises(ContractBrokenError, match="names nothing to book"):
            await carry_out(CHECKS[0], Bench(provider), "trial")


# -- the suite as pytest runs it -----------------------------------------------------------------------------------------------


def test_a_failure_names_the_check_and_says_what_is_wrong(pytester: pytest.Pytester, everything: str) -> None:
    pytester.makepyfile(
        f"""
        from datetime import date
        from contextlib import asynccontextmanager
        import pytest
        from sagagraph.domains.travel.provider.provider import HttpReservationProvider
        from sagagraph.testing.providers import Bench, Journey
        from sagagraph.testing.providers.contract import ProviderContract

        class Forgetful(HttpReservationProvider):
            async def offer(self, offer_id):
                return "an offer"

        class TestMine(ProviderContract):
            @pytest.fixture
            def connect(self):
                @asynccontextmanager
                async def connect():
                    async with Forgetful({everything!r}) as provider:
                        yield Bench(provider, train=Journey("Berlin", "Cologne", date(2025, 6, 8)))
                return connect

        class TestNothing(ProviderContract): ...
        """
    )
    told = pytester.runpytest_inprocess("-k", "gone or clock or books_name", *QUIETLY, "-rs")
    told.assert_outcomes(failed=1, passed=1, skipped=1, errors=3)
    told.stdout.fnmatch_lines(
        [
            "*TestNothing needs a fixture `connect` that returns a function which opens a Bench*",
            "*an_offer_that_is_gone_is_none: `offer(*)` gives 'an offer', not None*",
            "*the bench has no ledger*",
        ]
    )


def test_the_example_of_the_document_keeps_the_contract(pytester: pytest.Pytester) -> None:
    """As its reader would run it. That its program books a weekend is seen where all examples run, in test_readme.py."""
    text = (Path(__file__).parents[2] / "docs" / "providers.md").read_text(encoding="utf-8")
    pytester.makepyfile(test_rhine=text.split("```python\n")[1].split("```\n")[0])
    skipped = sum(check.aid is not None or check.promise == "refusals_final" for check in CHECKS)
    pytester.runpytest_inprocess(*QUIETLY).assert_outcomes(passed=len(CHECKS) - skipped, skipped=skipped)


def test_pytest_is_imported_by_the_contract_alone() -> None:
    package = Path(sagagraph.__file__).parent
    importing = [
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if re.search(r"^\s*(import|from) pytest\b", path.read_text(encoding="utf-8"), re.MULTILINE)
        and path.parent.name != "skeleton"  # files of somebody else's project, which nothing here imports
    ]
    assert importing == [str(Path("testing", "providers", "contract.py"))]
