"""HTTP connections that a client cannot hold for ever."""

import asyncio
from typing import Any

import h11
from overrides import overrides
from uvicorn.protocols.http.h11_impl import H11Protocol


class Connection(H11Protocol):
    """
    Uvicorn's HTTP/1.1. Where a client has not sent a whole request header, or not read
    its answer, after `seconds`, the connection is closed. The application limits the
    time of everything else.
    """

    def __init__(self, *arguments: Any, seconds: float, **keys: Any) -> None:
        super().__init__(*arguments, **keys)
        self._seconds = seconds
        self._waits_since = self.loop.time()
        self._check: asyncio.TimerHandle | None = None

    @overrides
    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._check = self.loop.call_later(self._seconds, self._close_if_idle)

    @overrides
    def connection_lost(self, exc: Exception | None) -> None:
        if self._check is not None:
            self._check.cancel()
        super().connection_lost(exc)

    @overrides
    def on_response_complete(self) -> None:
        self._waits_since = self.loop.time()
        super().on_response_complete()

    @overrides
    def send_400_response(self, msg: str) -> None:
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:  # the request has its answer, only the rest of its body is invalid
            self.transport.close()

    def _close_if_idle(self) -> None:
        is_answered = self.cycle is None or self.cycle.response_complete
        waited = self.loop.time() - self._waits_since
        if is_answered and waited >= self._seconds:
            self.transport.abort()
        else:
            self._check = self.loop.call_later(self._seconds, self._close_if_idle)
