"""The HTTP server: uvicorn in a thread of its own, so that signals and health stay with
`msgx.runtime`."""

import asyncio
import logging
import os
import socket
import threading
from datetime import timedelta
from http import HTTPStatus
from typing import Final

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from msgx.domain.failure import Away, ErrorClass, Fault
from msgx.settings import Http
from services.api.envelope import failure_text

log = logging.getLogger(__name__)

_HEADERS: Final = [("cache-control", "no-store"), ("x-content-type-options", "nosniff")]
_MAX_HEAD: Final = 16 * 1024
_CHECK: Final = timedelta(seconds=1)
_SOON: Final = timedelta(seconds=0.05)
_BACKLOG: Final = 128


class Patience(H11Protocol):
    """HTTP/1.1 that waits no longer than the keep-alive time-out for a slow client: neither for
    the head of a request, nor for the rest of a refused one, nor for an answer to be taken."""

    _cut: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Expect a request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        super().data_received(data)
        if self._in_work():
            self._done()  # its route limits it now
        else:
            self._wait()

    def pause_writing(self) -> None:
        """The client takes nothing for now."""
        super().pause_writing()
        self._wait()

    def resume_writing(self) -> None:
        """The client takes again."""
        super().resume_writing()
        self._done()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._done()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP in the envelope too."""
        body = failure_text(HTTPStatus.BAD_REQUEST, "the request is not valid HTTP")
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        for event in (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _in_work(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle  # none before the first request
        return cycle is not None and not cycle.response_complete

    def _wait(self) -> None:
        if self._cut is None:
            self._cut = self.loop.call_later(self.timeout_keep_alive, self.transport.abort)

    def _done(self) -> None:
        if self._cut is not None:
            self._cut.cancel()
            self._cut = None


class HttpServer:
    """One uvicorn server."""

    def __init__(self, app: ASGIApp, http: Http, grace: timedelta) -> None:
        self._bind = http.bind
        self.port = 0  # the real one once started
        self._grace = grace.total_seconds()
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                http=Patience,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                headers=_HEADERS,
                h11_max_incomplete_event_size=_MAX_HEAD,
                timeout_keep_alive=max(1, round(http.timeout.total_seconds())),
                timeout_graceful_shutdown=max(1, int(self._grace)),
            )
        )
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Take the address and serve in a thread.

        Raises:
            SystemExit: the address cannot be taken.
        """
        host, _, port = self._bind.rpartition(":")
        try:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            listener = socket.create_server(
                (host.strip("[]"), int(port)), family=family, backlog=_BACKLOG
            )
        except (OSError, ValueError) as error:
            reason = os.strerror(error.errno or 0) if isinstance(error, OSError) else str(error)
            raise SystemExit(
                f"the HTTP address {self._bind} cannot be taken: {reason} (MSGX_HTTP__BIND)"
            ) from error
        self.port = int(listener.getsockname()[1])
        log.info("listens", extra={"http": self.port})
        logging.getLogger("uvicorn").setLevel(logging.WARNING)
        self._thread = threading.Thread(
            target=self._server.run, args=([listener],), name="http", daemon=True
        )
        self._thread.start()

    @property
    def serving(self) -> bool:
        """Tell whether requests are answered."""
        alive = self._thread is not None and self._thread.is_alive()
        return alive and self._server.started and not self._server.should_exit

    def check(self) -> timedelta:
        """Watch the server; a loop's step.

        Raises:
            Away: it is not ready yet.
            Fault: it ended by itself.
        """
        if self._thread is None or not self._thread.is_alive():
            raise Fault(ErrorClass.PROCESSING, "the HTTP server has ended")
        if not self.serving:
            raise Away("the HTTP server is about to start", rest=_SOON)
        return _CHECK

    def stop(self) -> None:
        """Take no more requests, end those in work, and return within the grace (B104)."""
        if self._thread is not None:
            self._server.should_exit = True
            self._thread.join(self._grace + 1)
