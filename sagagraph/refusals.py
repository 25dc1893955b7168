"""Refusals: which errors of the usual clients prove that nothing happened. Give one as `fails_on=` to an action, node or tool.

They know the clients by what their errors carry, and import none. What they do not know stays in doubt. They are right for a
function that has one effect, whose request or transaction is the last thing that it does, by a client that does not repeat it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sagagraph.errors import Refused, words_of

_REJECTED: Final = frozenset({400, 401, 402, 403, 404, 405, 410, 411, 412, 413, 414, 415, 417, 421, 422, 426, 428, 431, 501, 505})
"""The server read the request and did not carry it out (RFC 9110 section 15.5; RFC 6585 for 428 and 431)."""
_LATER: Final = frozenset({425, 429})
"""It is not carried out now (RFC 8470 section 5.2; RFC 6585 section 4)."""
_SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
"""A question's failure says nothing about an effect (RFC 9110 section 9.2.1)."""
_NEVER_CONNECTED: Final = frozenset(
    {
        "ConnectError",
        "ConnectTimeout",
        "PoolTimeout",
        "ClientConnectorError",
        "NewConnectionError",
        "ConnectTimeoutError",
        "ConnectionRefusedError",
        "gaierror",
    }
)
"""Names of errors of httpx, requests (urllib3), aiohttp and sockets: no request was sent."""


def http_refused(exc: Exception) -> Refused | None:
    """Return what an HTTP client's error refuses: no connection was made, or a status says that nothing was carried out.

    A timeout, a lost connection, 406, 408, 409 (a key under way is answered so), every other 5xx (a proxy may have sent the
    request on) and all answers to a question prove nothing.
    """
    if any(each.__name__ in _NEVER_CONNECTED for found in _http_errors(exc) for each in type(found).__mro__):
        return Refused("no connection could be made", code="not_connected", transient=True)
    answer = getattr(exc, "response", None)
    answer = exc if answer is None else answer
    status = getattr(answer, "status_code", None) or getattr(answer, "status", None) or getattr(answer, "code", None)
    if _method_of(exc) in _SAFE_METHODS or status not in _REJECTED | _LATER:
        return None
    said = f"the service answered with status {status}"  # the error's own words have the whole address, and what is secret in it
    return Refused(said, code=f"http_{status}", transient=status in _LATER, retry_after_s=_retry_after_s(answer))


def _http_errors(exc: Exception) -> Iterator[object]:
    """Yield the error itself, and what urllib and requests keep in it: never what was handled before it was raised."""
    inner = exc.args[0] if exc.args else None
    yield from (exc, getattr(exc, "reason", None), getattr(inner, "reason", None))


def _method_of(exc: Exception) -> str:
    """Return the method where the client tells; `request` of httpx raises an error where it is not set."""
    try:
        asked: Any = getattr(exc, "request", None) or getattr(exc, "request_info", None)
    except RuntimeError:
        return ""
    return str(getattr(asked, "method", "")).upper()


def _retry_after_s(answer: object) -> float | None:
    """Return the header's seconds (RFC 9110 section 10.2.3); a date is not read, as the clocks may differ."""
    headers: Any = getattr(answer, "headers", None) or {}
    said = str(headers.get("Retry-After", ""))
    return float(said) if said.isascii() and said.isdigit() else None


_ROLLED_BACK: Final = ("22", "23", "3D", "3F", "40", "42", "44", "54", "55", "57014", "P0")
"""PostgreSQL aborts a transaction at each of these errors (documentation, appendix A "PostgreSQL Error Codes")."""
_UNKNOWN_COMPLETION: Final = "40003"
_SQL_LATER: Final = ("40", "55", "57014")


def sql_rolled_back(exc: Exception) -> Refused | None:
    """Return what a database's error refuses: the only transaction of the function was rolled back.

    For psycopg, asyncpg, SQLAlchemy and sqlite3. A lost connection proves nothing: it may have been lost in the commit. A locked
    SQLite file proves nothing either: the transaction stays open.
    """
    found = getattr(exc, "orig", None) or exc
    code = str(getattr(found, "sqlstate", None) or getattr(found, "pgcode", None) or "")
    if code.startswith(_ROLLED_BACK) and code != _UNKNOWN_COMPLETION:
        return Refused(words_of(exc), code=f"sql_{code}", transient=code.startswith(_SQL_LATER))
    name = str(getattr(found, "sqlite_errorname", ""))
    return Refused(words_of(exc), code=name.lower()) if name.startswith("SQLITE_CONSTRAINT") else None


_GRPC_REJECTED: Final = frozenset(
    {
        "INVALID_ARGUMENT",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "PERMISSION_DENIED",
        "UNAUTHENTICATED",
        "FAILED_PRECONDITION",
        "OUT_OF_RANGE",
        "UNIMPLEMENTED",
    }
)
_GRPC_LATER: Final = "RESOURCE_EXHAUSTED"


def grpc_refused(exc: Exception) -> Refused | None:
    """Return what a gRPC error refuses, by its status code (gRPC documentation, "Status Codes and Their Use in gRPC").

    UNAVAILABLE, ABORTED, DEADLINE_EXCEEDED, CANCELLED, UNKNOWN, INTERNAL and DATA_LOSS prove nothing.
    """
    code: Any = getattr(exc, "code", None)
    name = str(getattr(code() if callable(code) else code, "name", ""))
    if name not in _GRPC_REJECTED | {_GRPC_LATER}:
        return None
    return Refused(f"the service answered with {name}", code=f"grpc_{name.lower()}", transient=name == _GRPC_LATER)
