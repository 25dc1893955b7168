"""Servers that speak the true protocols, on loopback, as processes of their own that can be killed and started again."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


class Server:
    """A process that listens on `port`. What it has stored is in files, and there after a restart."""

    def __init__(self, command: Sequence[str], port: int, log: Path) -> None:
        self._command, self.port, self._log = command, port, log
        self.start()

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen([sys.executable, *self._command], stdout=log, stderr=log)
        until = time.monotonic() + 60
        while time.monotonic() < until:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.05)
        raise RuntimeError(f"{self._command} does not listen: {self._log.read_text()[-2000:]}")

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()

    def make_calendar(self, user: str, name: str) -> None:
        """Of a CalDAV server; one that is there stays as it is."""
        url = f"http://127.0.0.1:{self.port}/{user}/{name}/"
        if httpx2.request("PROPFIND", url, auth=(user, ""), headers={"Depth": "0"}).is_error:
            httpx2.request("MKCALENDAR", url, auth=(user, "")).raise_for_status()

    async def restart(self) -> None:
        await asyncio.to_thread(self.stop)
        await asyncio.to_thread(self.start)


@contextmanager
def server(folder: Path, name: str, *command: str) -> Iterator[Server]:
    """`PORT` in the command stands for the port."""
    port = free_port()
    started = Server([each.replace("PORT", str(port)) for each in command], port, folder / f"{name}.log")
    try:
        yield started
    finally:
        started.stop()


@contextmanager
def radicale(folder: Path) -> Iterator[Server]:
    """A CalDAV server; everybody may log in, with any password."""
    options = (
        "--storage-filesystem-folder",
        str(folder / "calendars"),
        "--auth-type",
        "none",
        "--server-hosts",
        "127.0.0.1:PORT",
    )
    with server(folder, "radicale", "-m", "radicale", *options) as started:
        yield started


@contextmanager
def smtp(folder: Path) -> Iterator[Server]:
    """A mail server that puts what arrives into the Maildir `folder/mail`."""
    options = ("-n", "-l", "127.0.0.1:PORT", "-c", "aiosmtpd.handlers.Mailbox", str(folder / "mail"))
    with server(folder, "smtp", "-m", "aiosmtpd", *options) as started:
        yield started


class StripeServer:
    """Stripe's protocol, and its clock as far as keys are concerned."""

    def __init__(self, started: Server) -> None:
        self.process = started
        self.url = f"http://127.0.0.1:{started.port}"

    async def forget(self, part: str) -> None:
        """Forget the keys that have this in them, as Stripe does after a day."""
        async with httpx2.AsyncClient() as client:
            await client.post(f"{self.url}/_test/forget", content=part)


@contextmanager
def stripe(folder: Path) -> Iterator[StripeServer]:
    with server(folder, "stripe", "-m", "tests.services.stripe_server", "PORT", str(folder / "books.json")) as started:
        yield StripeServer(started)


@contextmanager
def rooms(folder: Path) -> Iterator[Server]:
    with server(folder, "rooms", "-m", "tests.services.rooms_server", "PORT", str(folder / "rooms.db")) as started:
        yield started


@contextmanager
def sandbox(folder: Path) -> Iterator[Server]:
    options = ("--port", "PORT", "--db", str(folder / "sandbox.db"))
    with server(folder, "sandbox", "-m", "sagagraph", "sandbox", *options) as started:
        yield started


@contextmanager
def buckets(folder: Path) -> Iterator[Server]:
    """S3. Its objects are in memory: it cannot be restarted."""
    with server(folder, "s3", "-m", "tests.services.s3_server", "PORT") as started:
        yield started


def make_bucket(started: Server, name: str) -> None:
    import boto3

    keys = {"aws_access_key_id": "alex", "aws_secret_access_key": "none", "region_name": "us-east-1"}
    client = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{started.port}", **keys)
    client.create_bucket(Bucket=name)
    client.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
