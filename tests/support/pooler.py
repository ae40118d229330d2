"""A pooler in front of PostgreSQL, at the wire: it lends its few sessions by the transaction or
for as long as a client stays. It refuses what a start packet sets, as PgBouncer does.

Servers must trust the user of the DSN.
"""

import select
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, Literal

from psycopg.conninfo import conninfo_to_dict, make_conninfo

_START: Final = 196608  # protocol 3.0
_UPGRADES: Final = (80877103, 80877104)  # TLS, GSS: not here
_KNOWN: Final = {"user", "database", "application_name", "client_encoding"}
_TOLD: Final = {
    "server_version": "15.0",
    "client_encoding": "UTF8",
    "standard_conforming_strings": "on",
    "integer_datetimes": "on",
    "TimeZone": "UTC",
}

By = Literal["statement", "transaction", "session"]


class Pooler:
    """Lends `size` sessions; `in_turn` takes the one that has rested longest, else the last.
    The first `deaf` clients are let in and never answered."""

    def __init__(self, dsn: str, by: By, *, size: int, in_turn: bool, deaf: int) -> None:
        given = conninfo_to_dict(dsn)
        self._place = (str(given["host"]), int(given.get("port") or 5432))
        self._names = {"user": str(given["user"]), "database": str(given["dbname"])}
        self._by = by
        self._in_turn = in_turn
        self._deaf = deaf
        self._left = size
        self._idle: deque[socket.socket] = deque()
        self._free = threading.Condition()
        self._sockets: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        # A message is sent as it comes: else each waits for the answer to the one before.
        self._listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # clients', too
        self._sockets.append(self._listener)
        self._ended = False
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    def dsn(self, dsn: str) -> str:
        """Return `dsn`, led through here."""
        port = self._listener.getsockname()[1]
        return make_conninfo(dsn, host="127.0.0.1", port=port, gssencmode="disable")

    def close(self) -> None:
        """End everything; no descriptor is given back while a thread may use it."""
        with self._free:
            self._ended = True
            self._free.notify_all()
        for one in list(self._sockets):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        for thread in list(self._threads):
            thread.join(10)
        for one in self._sockets:
            one.close()

    def _start(self, target: Callable[..., None], *given: socket.socket) -> None:
        thread = threading.Thread(target=target, args=given, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._sockets.append(client)
                self._start(self._serve, client)

    def _serve(self, client: socket.socket) -> None:
        server: socket.socket | None = None
        with suppress(OSError, EOFError):
            if not _greet(client) or self._hears_nothing(client):
                return
            open_syncs = 0
            while True:
                ready, _, _ = select.select([one for one in (client, server) if one], [], [])
                if client in ready:
                    kind, message = _read(client)
                    if kind == b"X":
                        break
                    if self._by == "statement" and message[5:].upper().startswith(b"BEGIN"):
                        client.sendall(_message(b"E", b"SFATAL\0C08P01\0Mno transactions\0\0"))
                        break
                    server = server or self._lend()
                    open_syncs += kind in (b"Q", b"S")
                    server.sendall(message)
                elif server is not None:
                    kind, message = _read(server)
                    open_syncs -= kind == b"Z"
                    rests = kind == b"Z" and message[-1:] == b"I" and open_syncs == 0
                    if rests and self._by != "session":
                        # Before the client knows, who might ask for another one at once.
                        self._take_back(server)
                        server = None
                    client.sendall(message)
        with suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)
        if server is not None:
            with suppress(OSError, EOFError):
                server.sendall(_message(b"Q", b"ROLLBACK;\0"))
                _drain(server)
                server.sendall(_message(b"Q", b"DISCARD ALL;\0"))
                _drain(server)
                self._take_back(server)

    def _hears_nothing(self, client: socket.socket) -> bool:
        with self._free:
            self._deaf -= 1
            if self._deaf < 0:
                return False
        while True:
            _read(client)

    def _lend(self) -> socket.socket:
        with self._free:
            self._free.wait_for(lambda: self._idle or self._left or self._ended)
            if self._ended:
                raise EOFError
            if self._idle:
                return self._idle.popleft() if self._in_turn else self._idle.pop()
            self._left -= 1
        server = socket.create_connection(self._place)
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sockets.append(server)
        words = "".join(f"{key}\0{text}\0" for key, text in self._names.items()) + "\0"
        body = struct.pack("!i", _START) + words.encode()
        server.sendall(struct.pack("!i", len(body) + 4) + body)
        _drain(server)
        return server

    def _take_back(self, server: socket.socket) -> None:
        with self._free:
            self._idle.append(server)
            self._free.notify()


@contextmanager
def pooling(
    dsn: str, by: By, *, size: int = 4, in_turn: bool = False, deaf: int = 0
) -> Iterator[str]:
    """Run a pooler; yield the DSN that leads through it."""
    pooler = Pooler(dsn, by, size=size, in_turn=in_turn, deaf=deaf)
    try:
        yield pooler.dsn(dsn)
    finally:
        pooler.close()


def _greet(client: socket.socket) -> bool:
    """Answer the start packet; tell whether the client may go on."""
    while True:
        (length,) = struct.unpack("!i", _exactly(client, 4))
        body = _exactly(client, length - 4)
        (code,) = struct.unpack("!i", body[:4])
        if code not in _UPGRADES:
            break
        client.sendall(b"N")
    if code != _START:
        return False  # a cancel request
    names = body[4:].split(b"\0")[0:-2:2]
    if unknown := {name.decode() for name in names} - _KNOWN:
        text = f"unsupported startup parameter: {min(unknown)}"
        client.sendall(_message(b"E", f"SFATAL\0C08P01\0M{text}\0\0".encode()))
        return False
    answer = _message(b"R", struct.pack("!i", 0))
    for key, text in _TOLD.items():
        answer += _message(b"S", f"{key}\0{text}\0".encode())
    client.sendall(answer + _message(b"Z", b"I"))
    return True


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!i", len(body) + 4) + body


def _read(source: socket.socket) -> tuple[bytes, bytes]:
    """Return the kind of the next message, and all of it."""
    head = _exactly(source, 5)
    (length,) = struct.unpack("!i", head[1:])
    return head[:1], head + _exactly(source, length - 4)


def _drain(server: socket.socket) -> None:
    while _read(server)[0] != b"Z":
        pass


def _exactly(source: socket.socket, size: int) -> bytes:
    taken = b""
    while len(taken) < size:
        part = source.recv(size - len(taken))
        if not part:
            raise EOFError
        taken += part
    return taken
