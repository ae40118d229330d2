"""What stands before the routes: a limit on requests in work, and the last catch."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.api.errors import Busy, answer

log = logging.getLogger(__name__)

ALWAYS_OPEN: Final = frozenset({"/healthz"})
"""Answered even when everything else is refused: a busy process is up."""


class Door:
    """ASGI middleware: at most `limit` requests in work, every fault an envelope, no trace to
    the client."""

    def __init__(self, app: ASGIApp, *, limit: int) -> None:
        self._app = app
        self._limit = limit
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._inside >= self._limit and scope["path"] not in ALWAYS_OPEN:
            refusal = answer(Busy("too many requests are in work; ask again"))
            await refusal(scope, receive, send)
            return
        self._inside += 1
        try:
            await self._serve(scope, receive, send)
        finally:
            self._inside -= 1

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def noted(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except ClientDisconnect:
            log.info("the client left before its request was whole")
        except TimeoutError:
            # The server closes the connection of an answer that is not complete.
            log.warning("the client did not take its answer in time")
        except Exception as error:
            log.exception("request fault")
            if not started:
                await answer(error)(scope, receive, send)


class Gate:
    """Places for one kind of work; who finds none within `seconds` is sent away."""

    def __init__(self, places: int, *, seconds: float) -> None:
        self._places = asyncio.Semaphore(places)
        self._seconds = seconds

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Hold a place.

        Raises:
            Busy: none became free in time.
        """
        try:
            async with asyncio.timeout(self._seconds):
                await self._places.acquire()
        except TimeoutError:
            raise Busy("too many requests of this kind are in work; ask again") from None
        try:
            yield
        finally:
            self._places.release()
