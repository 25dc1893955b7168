from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services import servers


@pytest.fixture(scope="session")
def calendars(tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.Server]:
    with servers.radicale(tmp_path_factory.mktemp("radicale")) as started:
        yield started


@pytest.fixture(scope="session")
def mail_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("smtp")


@pytest.fixture(scope="session")
def mails(mail_folder: Path) -> Iterator[servers.Server]:
    with servers.smtp(mail_folder) as started:
        yield started


@pytest.fixture(scope="session")
def stripe(tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.StripeServer]:
    with servers.stripe(tmp_path_factory.mktemp("stripe")) as started:
        yield started


@pytest.fixture(scope="session")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.Server]:
    with servers.rooms(tmp_path_factory.mktemp("rooms")) as started:
        yield started


@pytest.fixture(scope="session")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.Server]:
    with servers.sandbox(tmp_path_factory.mktemp("sandbox")) as started:
        yield started


@pytest.fixture(scope="session")
def buckets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.Server]:
    with servers.buckets(tmp_path_factory.mktemp("s3")) as started:
        yield started
