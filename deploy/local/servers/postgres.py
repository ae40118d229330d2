"""PostgreSQL: our own state. It refuses to run as root, so root starts it as another user."""

import contextlib
import os
import pwd
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import psycopg

from deploy.local import folder as folders
from deploy.local.children import Command, Family
from deploy.local.faults import CannotStart
from deploy.local.ports import HOST
from deploy.local.servers.server import Place, missing, program, said_version

OLDEST = 14
LOW_USERS = ("postgres", "nobody")


@dataclass(frozen=True, slots=True)
class PostgreSQL:
    """One cluster, superuser `msgx`, trusted on loopback."""

    name: str = "postgres"
    title: str = "PostgreSQL"
    port_count: int = 1

    def version(self) -> str:
        """Return the major version."""
        major = said_version([_program("postgres"), "-V"], r"(\d+)")
        if int(major) < OLDEST:
            raise CannotStart(f"PostgreSQL {major} is too old: {OLDEST} or newer is needed.")
        return major

    def initialise(self, place: Place, family: Family) -> None:
        """Run initdb, as the low user when we are root."""
        user = _user()
        if user:
            folders.passable(place.folder, user)
            shutil.chown(place.folder, user)
        arguments = [
            _program("initdb"), "-D", str(place.unfinished), "-U", "msgx", "--auth=trust",
            "-E", "UTF8", "--locale=C.UTF-8",
        ]  # fmt: skip
        command = Command(arguments, place.folder, user=user)
        family.run("initdb", command, place.log, timeout=120)

    def command(self, place: Place) -> Command:
        """SIGINT ends its sessions; SIGTERM would wait for the clients to leave."""
        user = _user()
        if user:
            folders.passable(place.folder, user)
        arguments = [
            _program("postgres"), "-D", str(place.data), "-p", str(place.port),
            "-c", f"listen_addresses={HOST}", "-c", "unix_socket_directories=",
            "-c", "max_connections=200", "-c", "shared_buffers=64MB",
        ]  # fmt: skip
        return Command(arguments, place.folder, stop="SIGINT", user=user)

    def ready(self, place: Place) -> bool:
        """Say whether it takes a session."""
        with (
            contextlib.suppress(psycopg.OperationalError),
            psycopg.connect(self.url(place), connect_timeout=2),
        ):
            return True
        return False

    def url(self, place: Place) -> str:
        """Return the superuser's URL."""
        return f"postgresql://msgx@{HOST}:{place.port}/postgres"


def _user() -> str:
    """Return the user to run as; empty when we are not root."""
    if os.geteuid() != 0:
        return ""
    for user in LOW_USERS:
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(user).pw_name
    raise CannotStart("PostgreSQL must not run as root, and there is no user to run it as.")


def _program(name: str) -> str:
    installed = Path("/usr/lib/postgresql").glob("*/bin")
    newest = sorted(installed, key=lambda path: _number(path.parent.name), reverse=True)
    found = program(name, *newest)
    if found is None:
        raise missing("PostgreSQL", "MSGX_TEST_POSTGRES_URL")
    return found


def _number(text: str) -> int:
    return int(re.sub(r"\D.*", "", text) or 0)
