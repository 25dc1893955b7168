"""Wire: one HTTP call to the reservation service, and what its answer means for the caller."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, Final, NoReturn, TypeVar
from urllib.parse import urlsplit

import httpx2
from pydantic import BaseModel, TypeAdapter, ValidationError

from sagagraph.errors import InvalidInputError, ProviderError, Refused

REFUSALS: Final = (HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.NOT_FOUND)

MOST_BYTES: Final = 16_000_000
_WHOLE: Final = 10
"""An answer that comes in parts may take this many times as long as one part."""

Answer = TypeVar("Answer")


class ProviderAnswerLostError(ProviderError):
    """An effect was requested and no reliable answer came back: it may have landed, or may still land."""


class UnknownOfferError(ProviderError):
    """There is no such offer, or it no longer exists."""


class NoSuchPathError(ProviderError):
    """The service does not have this path at all."""


class Wire:
    """Connections to the service at `url`: each event loop gets its own when it first calls."""

    def __init__(self, url: str, timeout_s: float, transport: httpx2.AsyncBaseTransport | None) -> None:
        self.url = _checked_url(url)
        self._shown_url = without_credentials(self.url)
        self._timeout_s = timeout_s
        self._transport = transport
        self._clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, httpx2.AsyncClient] = weakref.WeakKeyDictionary()

    def __reduce__(self) -> tuple[type[Wire], tuple[str, float, httpx2.AsyncBaseTransport | None]]:
        """Drop the connections: a planner in another process makes its own."""
        return type(self), (self.url, self._timeout_s, self._transport)

    async def aclose(self) -> None:
        """Close the connections of the running event loop; those of an ended loop are gone with it."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()

    async def read(self, parse: Callable[[bytes], Answer], path: str, question: Mapping[str, str | int] | None = None) -> Answer:
        """Read.

        Raises:
            UnknownOfferError: the service knows no such offer.
            NoSuchPathError: the service has no such path.
            ProviderError: any other failure.
        """
        try:
            response = await self._answer("GET", path, params=question)
        except httpx2.HTTPError as exc:
            raise ProviderError(self._unreachable(exc)) from exc
        if response.status_code == HTTPStatus.NOT_FOUND:
            is_offer = _error_of(response).code == "unknown_offer"
            raise (UnknownOfferError if is_offer else NoSuchPathError)(self._complaint(response))
        if not response.is_success:
            raise ProviderError(self._complaint(response), retry_after_s=_retry_after(response))
        try:
            return parse(response.content)
        except ValidationError as exc:
            raise ProviderError(self._unreadable(path)) from exc

    async def effect(self, parse: Callable[[bytes], Answer], path: str, body: Mapping[str, Any], *, key: str | None) -> Answer:
        """Request an effect.

        Raises:
            Refused: the service says that this call had no effect.
            ProviderAnswerLostError: that is not known.
        """
        headers = {} if key is None else {"Idempotency-Key": key}
        try:
            response = await self._answer("POST", path, json=body, headers=headers)
        except httpx2.HTTPError as exc:
            raise ProviderAnswerLostError(self._unreachable(exc)) from exc
        if not response.is_success:
            self._refuse(response)
        try:
            return parse(response.content)
        except ValidationError as exc:
            raise ProviderAnswerLostError(self._unreadable(path)) from exc

    async def _answer(self, method: str, path: str, **sent: Any) -> httpx2.Response:
        """Return the whole answer, within limits: a service that sends without end takes up neither all memory nor all time.

        `Any`: what httpx2 takes.
        """
        content = bytearray()
        try:
            async with asyncio.timeout(_WHOLE * self._timeout_s), self._client().stream(method, path, **sent) as response:
                async for part in response.aiter_bytes():
                    content += part
                    if len(content) > MOST_BYTES:
                        raise httpx2.ReadError(f"its answer has more than {MOST_BYTES} bytes")
        except TimeoutError as exc:
            raise httpx2.ReadTimeout("its answer does not end") from exc
        headers = {name: value for name, value in response.headers.items() if name != "content-encoding"}
        return httpx2.Response(response.status_code, headers=headers, content=bytes(content))

    def _refuse(self, response: httpx2.Response) -> NoReturn:
        """Raise a refusal only if the service itself refuses: a proxy's 404 says nothing about the effect."""
        error = _error_of(response)
        if response.status_code == HTTPStatus.TOO_MANY_REQUESTS:
            wait = _retry_after(response)
            raise Refused(error.message or "too many calls", code="rate_limited", transient=True, retry_after_s=wait)
        if response.status_code in REFUSALS and error.code:
            raise Refused(error.message or error.code, code=error.code)
        raise ProviderAnswerLostError(self._complaint(response), retry_after_s=_retry_after(response))

    def _client(self) -> httpx2.AsyncClient:
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            url = httpx2.URL(self.url)
            is_local = url.host == "localhost"
            with suppress(ValueError):
                is_local = ipaddress.ip_address(url.host).is_loopback
            client = self._clients[loop] = httpx2.AsyncClient(
                base_url=self.url,
                timeout=self._timeout_s,
                transport=self._transport,
                verify=not (is_local and url.scheme == "http"),  # certificates take a while to read
                trust_env=not is_local,  # the environment's proxy does not lead back to this machine
            )
        return client

    def _unreachable(self, exc: httpx2.HTTPError) -> str:
        if isinstance(exc, httpx2.TimeoutException):
            return f"the reservation service at {self._shown_url} did not answer within {self._timeout_s:g} s"
        return f"the reservation service at {self._shown_url} cannot be reached: {exc or type(exc).__name__}"

    def _complaint(self, response: httpx2.Response) -> str:
        error = _error_of(response)
        said = error.message or error.code
        return f"the reservation service at {self._shown_url} answered {response.status_code}{said and f': {said}'}"

    def _unreadable(self, path: str) -> str:
        return f"the answer of the reservation service at {self._shown_url} to {path} cannot be read"


class _Error(BaseModel):
    code: str = ""
    message: str = ""


_ERRORS: Final = TypeAdapter(dict[str, Any])


def _error_of(response: httpx2.Response) -> _Error:
    """Return the service's error; empty if the answer has another format."""
    try:
        return _Error.model_validate(_ERRORS.validate_json(response.content).get("error", {}))
    except ValidationError:
        return _Error()


def _retry_after(response: httpx2.Response) -> float | None:
    """Return for how many seconds the service asks the caller to wait (RFC 9110, 10.2.3), by its own clock if it shows one."""
    asked = response.headers.get("Retry-After", "").strip()
    if asked.isascii() and asked.isdecimal():
        return float(asked[:9])
    until, now = _http_date(asked), _http_date(response.headers.get("Date", "")) or datetime.now(UTC)
    return None if until is None else max(0.0, (until - now).total_seconds())


def _http_date(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and not re.search(r"\s", url)
        httpx2.URL(url)
    except (ValueError, httpx2.InvalidURL):
        is_usable = False
    if not is_usable:
        raise InvalidInputError(f"{without_credentials(url)!r} is not an http or https URL", field="provider")
    return url.rstrip("/")


def without_credentials(url: str) -> str:
    """Remove credentials for messages: a user name or password must not reach a log or a journal."""
    return re.sub(r"//[^/@]*@", "//", url)
