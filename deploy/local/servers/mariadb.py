"""MariaDB: stands for the shared MySQL mailbox."""

import contextlib
import os
from dataclasses import dataclass

import pymysql

from deploy.local.children import Command, Family
from deploy.local.ports import HOST
from deploy.local.servers.server import Place, missing, program, said_version

USER = SCHEMA = "msgx"
PASSWORD = "msgx"  # noqa: S105 - the account exists on loopback, in a scratch folder
ACCOUNT = f"'{USER}'@'{HOST}'"
# Run at every start, one statement a line: an account that may do everything, and a schema.
FIRST_STATEMENTS = f"""\
CREATE DATABASE IF NOT EXISTS {SCHEMA} CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
CREATE USER IF NOT EXISTS {ACCOUNT} IDENTIFIED BY '{PASSWORD}';
GRANT ALL ON *.* TO {ACCOUNT} WITH GRANT OPTION;
"""


@dataclass(frozen=True, slots=True)
class MariaDB:
    """One server with an administrator `msgx`."""

    name: str = "mysql"
    title: str = "MariaDB"
    port_count: int = 1

    def version(self) -> str:
        """Return major and minor version."""
        _program("mariadb-install-db")
        return said_version(
            [_program("mariadbd"), "--no-defaults", "--version"], r"(\d+\.\d+)\.\d"
        )

    def initialise(self, place: Place, family: Family) -> None:
        """Make the system tables."""
        arguments = [
            _program("mariadb-install-db"), "--no-defaults", f"--datadir={place.unfinished}",
            "--auth-root-authentication-method=normal", "--skip-test-db", *_as_root(),
        ]  # fmt: skip
        command = Command(arguments, place.folder)
        family.run("mariadb-install-db", command, place.log, timeout=120)

    def command(self, place: Place) -> Command:
        """Small buffers, messages of 64 MB, utf8mb4 as the mailbox has it."""
        first = place.folder / "first.sql"
        first.write_text(FIRST_STATEMENTS)
        arguments = [
            _program("mariadbd"), "--no-defaults", f"--datadir={place.data}",
            f"--port={place.port}", f"--bind-address={HOST}",
            f"--socket={place.folder / 'mysql.sock'}",
            f"--pid-file={place.folder / 'mysql.pid'}",
            f"--init-file={first}", *_as_root(),
            "--character-set-server=utf8mb4", "--collation-server=utf8mb4_unicode_ci",
            "--innodb-buffer-pool-size=64M", "--max-allowed-packet=64M",
            "--max-connections=400",
            "--skip-name-resolve", "--skip-log-bin",
        ]  # fmt: skip
        return Command(arguments, place.folder)

    def ready(self, place: Place) -> bool:
        """Say whether our account can use our schema."""
        with contextlib.suppress(pymysql.MySQLError):
            pymysql.connect(
                host=HOST, port=place.port, user=USER, password=PASSWORD, database=SCHEMA,
                connect_timeout=2, read_timeout=2,
            ).close()  # fmt: skip
            return True
        return False

    def url(self, place: Place) -> str:
        """Return the administrator's URL."""
        return f"mysql://{USER}:{PASSWORD}@{HOST}:{place.port}/{SCHEMA}"


def _as_root() -> list[str]:
    return ["--user=root"] if os.geteuid() == 0 else []


def _program(name: str) -> str:
    found = program(name)
    if found is None:
        raise missing("MariaDB", "MSGX_TEST_MYSQL_URL")
    return found
