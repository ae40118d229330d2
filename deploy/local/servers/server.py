"""What the stack asks of each server, and how a server's programs are found."""

import contextlib
import re
import shutil
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from deploy.local.children import Command, Family
from deploy.local.faults import CannotStart
from deploy.local.ports import HOST


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where one server lives."""

    folder: Path
    log: Path
    ports: tuple[int, ...]

    @property
    def port(self) -> int:
        """The port that clients use."""
        return self.ports[0]

    @property
    def data(self) -> Path:
        """The data folder, present once the server was initialised completely."""
        return self.folder / "data"

    @property
    def unfinished(self) -> Path:
        """The data folder while it is being initialised."""
        return self.folder / "data.unfinished"


class Server(Protocol):
    """One kind of server."""

    @property
    def name(self) -> str:
        """The key under which the stack knows it."""

    @property
    def title(self) -> str:
        """Its name for people."""

    @property
    def port_count(self) -> int:
        """How many ports it listens on."""

    def version(self) -> str:
        """Return the version that a data folder belongs to. Raises CannotStart if missing."""

    def initialise(self, place: Place, family: Family) -> None:
        """Make `place.unfinished` a complete data folder. Raises CannotStart."""

    def command(self, place: Place) -> Command:
        """Return how to start it on `place.data`."""

    def ready(self, place: Place) -> bool:
        """Say whether it answers its clients."""

    def url(self, place: Place) -> str:
        """Return what a client connects to."""


def program(name: str, *folders: Path | str) -> str | None:
    """Return the path of a program, looked for in `folders` first and then on PATH."""
    for folder in folders:
        found = shutil.which(name, path=str(folder))
        if found:
            return found
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin:/usr/local/sbin")


def said_version(command: list[str], pattern: str) -> str:
    """Return the version that `command` prints, by the first group of `pattern`.

    Raises:
        CannotStart: it cannot be run or says something else.
    """
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotStart(f"{command[0]} cannot be run: {error}.") from None
    found = re.search(pattern, said.stdout + said.stderr)
    if not found:
        raise CannotStart(f"{command[0]} does not say its version.")
    return found[1]


def listens(port: int) -> bool:
    """Say whether something accepts connections on `port`."""
    with contextlib.suppress(OSError), socket.create_connection((HOST, port), timeout=1):
        return True
    return False


def missing(title: str, variable: str) -> CannotStart:
    """Return the sentence for a server that is not installed."""
    return CannotStart(
        f"{title} is not installed: `make setup` installs it; "
        f"or name a running one by {variable}."
    )
