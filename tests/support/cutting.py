"""A relay before PostgreSQL that knows where a transaction ends: it cuts the connection at a
COMMIT, or at a statement that writes and is a transaction of its own, before the server saw it,
or after it was done and before we are told."""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from psycopg.conninfo import conninfo_to_dict, make_conninfo

_BEGIN: Final = b"BEGIN"
_COMMIT: Final = b"COMMIT"
_ENDS: Final = (_COMMIT, b"ROLLBACK")
_WRITES: Final = b"UPDATE "


class Cutter:
    """Relays connections; `arm` says at which commit, counted from now on, to cut."""

    def __init__(self, dsn: str) -> None:
        given = conninfo_to_dict(dsn)
        self._target = (str(given["host"]), int(given.get("port") or 5432))
        self._listener = socket.create_server(("127.0.0.1", 0))
        # A message is sent as it comes: else each waits for the answer to the one before.
        self._listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # clients', too
        self._guard = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._left = 0
        self._is_done = False
        self.cuts = 0
        port = self._listener.getsockname()[1]
        self.dsn = make_conninfo(
            dsn, host="127.0.0.1", port=port, sslmode="disable", gssencmode="disable"
        )
        self._start(self._accept)

    def arm(self, number: int, *, is_done: bool) -> None:
        """Cut at the commit of this number; `is_done`: once the server has done it."""
        with self._guard:
            self._left, self._is_done = number, is_done

    def close(self) -> None:
        """End everything; no descriptor is given back while a thread may use it."""
        for one in (self._listener, *self._sockets):
            _end(one)
        for thread in self._threads:
            thread.join(10)
        for one in (self._listener, *self._sockets):
            one.close()

    def _start(self, target: object, *given: object) -> None:
        thread = threading.Thread(target=target, args=given, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._target)
                server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._sockets += [client, server]
                hit = threading.Event()
                self._start(self._requests, client, server, hit)
                self._start(self._answers, client, server, hit)

    def _requests(
        self, client: socket.socket, server: socket.socket, hit: threading.Event
    ) -> None:
        texts: dict[bytes, bytes] = {}
        is_open = False
        with suppress(OSError, EOFError):
            (length,) = struct.unpack("!i", head := _exactly(client, 4))
            server.sendall(head + _exactly(client, length - 4))
            while True:
                kind, body, message = _read(client)
                if kind == b"P":
                    name, text, _ = body.split(b"\0", 2)
                    texts[name] = text
                bound = kind == b"B" and texts.get(body.split(b"\0", 2)[1])
                asked = bound or (kind == b"Q" and body.rstrip(b"\0"))
                said = asked.strip().upper() if asked else b""
                commits = said == _COMMIT or (not is_open and _WRITES in said)
                is_open = said == _BEGIN or (is_open and said not in _ENDS)
                if commits and self._is_the_one():
                    if not self._is_done:
                        break
                    hit.set()
                server.sendall(message)
        _end(client)
        _end(server)

    def _answers(
        self, client: socket.socket, server: socket.socket, hit: threading.Event
    ) -> None:
        with suppress(OSError, EOFError):
            while True:
                kind, body, message = _read(server)
                if hit.is_set() and (
                    body.startswith(_COMMIT) if kind == b"C" else kind == b"Z"
                ):
                    break  # told by its tag, or where there is none, ready for the next one
                client.sendall(message)
        _end(client)
        _end(server)

    def _is_the_one(self) -> bool:
        with self._guard:
            self._left -= 1
            self.cuts += self._left == 0
            return self._left == 0


@contextmanager
def cutting(dsn: str) -> Iterator[Cutter]:
    """Run a cutter before the server of `dsn`."""
    cutter = Cutter(dsn)
    try:
        yield cutter
    finally:
        cutter.close()


def _read(source: socket.socket) -> tuple[bytes, bytes, bytes]:
    """Return the kind, the body and all of the next message."""
    head = _exactly(source, 5)
    (length,) = struct.unpack("!i", head[1:])
    body = _exactly(source, length - 4)
    return head[:1], body, head + body


def _exactly(source: socket.socket, size: int) -> bytes:
    taken = bytearray()
    while len(taken) < size:
        part = source.recv(size - len(taken))
        if not part:
            raise EOFError
        taken += part
    return bytes(taken)


def _end(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
