"""Redis: the projection that the flight display reads."""

import contextlib
import socket
from dataclasses import dataclass

from deploy.local.children import Command, Family
from deploy.local.ports import HOST
from deploy.local.servers.server import Place, missing, program, said_version


@dataclass(frozen=True, slots=True)
class Redis:
    """One server that writes an append-only file."""

    name: str = "redis"
    title: str = "Redis"
    port_count: int = 1

    def version(self) -> str:
        """Return the major version."""
        return said_version([_program(), "--version"], r"v=(\d+)\.")

    def initialise(self, place: Place, family: Family) -> None:
        """It needs an empty folder only."""
        place.unfinished.mkdir()

    def command(self, place: Place) -> Command:
        """Never evict: a missing flight would be a wrong answer."""
        arguments = [
            _program(), "--port", str(place.port), "--bind", HOST, "--protected-mode", "yes",
            "--dir", str(place.data), "--appendonly", "yes", "--appendfsync", "everysec",
            "--save", "", "--maxmemory-policy", "noeviction", "--databases", "1024",
        ]  # fmt: skip
        return Command(arguments, place.folder)

    def ready(self, place: Place) -> bool:
        """Say whether it answers PING, which it refuses while it loads its file."""
        with (
            contextlib.suppress(OSError),
            socket.create_connection((HOST, place.port), timeout=2) as connection,
        ):
            connection.sendall(b"PING\r\n")
            return connection.recv(64).startswith(b"+PONG")
        return False

    def url(self, place: Place) -> str:
        """Return the URL of database 0."""
        return f"redis://{HOST}:{place.port}/0"


def _program() -> str:
    found = program("redis-server")
    if found is None:
        raise missing("Redis", "MSGX_TEST_REDIS_URL")
    return found
