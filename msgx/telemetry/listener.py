"""`GET /metrics` on an address of its own: HTTP for monitoring, never for clients."""

import os
import socket
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from prometheus_client import CONTENT_TYPE_LATEST

_AT_ONCE: Final = 8
_TIMEOUT_SECONDS: Final = 5.0


class Listener:
    """Answers scrapes in threads of its own."""

    def __init__(self, bind: str, text: Callable[[], bytes]) -> None:
        """Take the address.

        Raises:
            SystemExit: it cannot be taken.
        """
        host, _, port = bind.rpartition(":")
        server = _Server6 if ":" in host else _Server
        try:
            self._server = server((host.strip("[]"), int(port)), text)
        except (OSError, ValueError, OverflowError) as error:
            reason = os.strerror(error.errno or 0) if isinstance(error, OSError) else str(error)
            raise SystemExit(
                f"the address {bind} cannot be taken: {reason} (MSGX_TELEMETRY__METRICS_BIND)"
            ) from error
        self.port = int(self._server.server_address[1])
        threading.Thread(
            target=self._server.serve_forever, name="metrics-http", daemon=True
        ).start()

    def close(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], text: Callable[[], bytes]) -> None:
        super().__init__(address, _Scrape)
        self.text = text
        self._places = threading.BoundedSemaphore(_AT_ONCE)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Take the request, or end it at once while too many are in work."""
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._places.release()  # no thread could be had
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer it and give its place back."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is nobody's fault."""


class _Server6(_Server):
    address_family = socket.AF_INET6


class _Scrape(BaseHTTPRequestHandler):
    timeout = _TIMEOUT_SECONDS

    def do_GET(self) -> None:
        """Answer `/metrics`, and nothing else."""
        if self.path.partition("?")[0] != "/metrics":
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        assert isinstance(self.server, _Server)  # noqa: S101
        body = self.server.text()
        self.send_response(HTTPStatus.OK)
        self.send_header("content-type", CONTENT_TYPE_LATEST)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def version_string(self) -> str:
        """Name no versions."""
        return "msgx"

    def log_message(self, *_: Any) -> None:
        """Scrapes are not logged."""
