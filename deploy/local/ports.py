"""Ports on loopback: a configured one, the one of last time, or a free one."""

import os
import random
import socket
from collections.abc import Collection, Mapping
from typing import Final

from deploy.local.faults import CannotStart

HOST: Final = "127.0.0.1"
# Below the range from which the kernel takes the ports of outgoing connections, so that
# no connection can take a port between our look and the server's bind.
LOWEST, HIGHEST = 20_000, 32_000
TRIES: Final = 200


def free(port: int) -> bool:
    """Say whether `port` can be bound on loopback now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def variable(server: str) -> str:
    """Return the name of the variable that fixes the port of `server`."""
    return f"MSGX_LOCAL_{server.upper()}_PORT"


def choose(
    server: str,
    title: str,
    *,
    given: Mapping[str, int],
    last: int | None,
    taken: Collection[int],
) -> int:
    """Return the port for `server`: given, configured, the last one if free, or any free one.

    Raises:
        CannotStart: the given or configured port is in use or is no port.
    """
    text = str(given[server]) if server in given else os.environ.get(variable(server), "")
    if text.strip():
        if not text.strip().isdecimal() or not 0 < int(text) < 65_536:
            raise CannotStart(f"{variable(server)} is {text!r}, which is not a port number.")
        port = int(text)
        if port in taken or not free(port):
            raise CannotStart(
                f"Port {port} for {title} ({variable(server)}) is already in use on {HOST}: "
                "stop what uses it, choose another, or leave the variable empty for a free one."
            )
        return port
    if last is not None and last not in taken and free(last):
        return last
    for _ in range(TRIES):
        port = random.randint(LOWEST, HIGHEST)  # noqa: S311 - not a secret
        if port not in taken and free(port):
            return port
    raise CannotStart(f"No free port between {LOWEST} and {HIGHEST} on {HOST} for {title}.")
