"""A way to the reservation service on which an answer can get lost."""

from __future__ import annotations

import httpx2


class LossyWire(httpx2.AsyncBaseTransport):
    """Carries calls to the service, and on demand loses the answer to the next one that has an effect."""

    def __init__(self) -> None:
        self._wire = httpx2.AsyncHTTPTransport(verify=False)  # to read certificates takes longer than most tests
        self._loses_next = False

    async def lose_next(self) -> None:
        self._loses_next = True

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._wire.handle_async_request(request)
        if request.method == "POST" and self._loses_next:
            self._loses_next = False
            await response.aread()
            raise httpx2.ReadError("cut")
        return response

    async def aclose(self) -> None:
        await self._wire.aclose()
