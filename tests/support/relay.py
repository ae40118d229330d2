"""A TCP relay before a server: cut it off, or lose the answer to one request. Knows no
protocol."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit, urlunsplit

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
        self._until_loss: int | None = None
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def lose_answer(self, number: int) -> None:
        """Forward the next `number` requests, and end the connection at the last one's
        answer."""
        with self._guard:
            self._until_loss = number

    def cut(self) -> None:
        """End every connection, and each new one at once: the server is gone."""
        with self._guard:
            self._away = True
            ended, self._open = self._open, set()
        for one in ended:
            _end(one)

    def restore(self) -> None:
        """Let connections through again."""
        with self._guard:
            self._away = False

    def close(self) -> None:
        """End everything."""
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                with self._guard:
                    away = self._away
                if away:
                    _end(client)
                else:
                    self._join(client)

    def _join(self, client: socket.socket) -> None:
        server = socket.create_connection(self._target, timeout=5)
        server.settimeout(None)
        losing = threading.Event()
        with self._guard:
            self._open |= {client, server}
        for source, sink, request in ((client, server, True), (server, client, False)):
            threading.Thread(
                target=self._pump, args=(source, sink, request, losing), daemon=True
            ).start()

    def _pump(
        self, source: socket.socket, sink: socket.socket, request: bool, losing: threading.Event
    ) -> None:
        with suppress(OSError):
            while chunk := source.recv(CHUNK):
                if request and self._last():
                    losing.set()
                elif not request and losing.is_set():
                    break
                sink.sendall(chunk)
        for one in (source, sink):
            with self._guard:
                self._open.discard(one)
            _end(one)

    def _last(self) -> bool:
        with self._guard:
            if self._until_loss is None:
                return False
            self._until_loss -= 1
            if self._until_loss:
                return False
            self._until_loss = None
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
    one.close()
