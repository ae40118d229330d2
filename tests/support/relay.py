"""A TCP relay before a server: cut it off, or lose the answer to one request. Knows no
protocol."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit, urlunsplit

from tests.support.waiting import PATIENCE_SECONDS

HOST = "127.0.0.1"
CHUNK = 65536


class Relay:
    """Relays connections to one address until it is closed."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._listener = socket.create_server((HOST, 0))
        self._guard = threading.Lock()
        self._open: set[socket.socket] = set()
        self._away = False
        self._to_lose: bytes | None = None
        self.port = int(self._listener.getsockname()[1])
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def lose_answer(self, to: bytes) -> None:
        """Forward the next request that holds these words, and end the connection at its
        answer."""
        with self._guard:
            self._to_lose = to

    def cut(self) -> None:
        """End every connection, and each new one at once: the server is gone."""
        with self._guard:
            self._away = True
            for one in self._open:
                _end(one)

    def restore(self) -> None:
        """Let connections through again."""
        with self._guard:
            self._away = False

    def close(self) -> None:
        """End everything; no descriptor is given back while a thread may use it."""
        _end(self._listener)
        self._accepting.join()
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        """Join one client with the server until either side ends it."""
        with client, suppress(OSError), self._to_server() as server:
            with self._guard:
                if self._away:
                    return
                self._open |= {client, server}
            losing = threading.Event()
            answers = threading.Thread(
                target=self._pump, args=(server, client, False, losing), daemon=True
            )
            answers.start()
            self._pump(client, server, True, losing)
            answers.join()
            with self._guard:
                self._open -= {client, server}

    def _to_server(self) -> socket.socket:
        server = socket.create_connection(self._target, timeout=PATIENCE_SECONDS)
        server.settimeout(None)
        return server

    def _pump(
        self, source: socket.socket, sink: socket.socket, request: bool, losing: threading.Event
    ) -> None:
        with suppress(OSError):
            while chunk := source.recv(CHUNK):
                if request and self._loses(chunk):
                    losing.set()
                elif not request and losing.is_set():
                    break
                sink.sendall(chunk)
        for one in (source, sink):
            _end(one)

    def _loses(self, request: bytes) -> bool:
        with self._guard:
            if self._to_lose is None or self._to_lose not in request:
                return False
            self._to_lose = None
            return True


@contextmanager
def relayed(url: str) -> Iterator[tuple[Relay, str]]:
    """Yield a relay before the server of `url`, and the URL that goes through it."""
    parts = urlsplit(url)
    account = parts.netloc.rpartition("@")[0]
    relay = Relay(parts.hostname or HOST, parts.port or 0)
    try:
        yield relay, urlunsplit(parts._replace(netloc=f"{account}@{HOST}:{relay.port}"))
    finally:
        relay.close()


def _end(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
