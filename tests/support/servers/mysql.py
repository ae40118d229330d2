"""Mailboxes for tests: a schema of its own with the two shared tables."""

import secrets
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

import pymysql
from pymysql.connections import Connection

from tests.support.waiting import PATIENCE_SECONDS, until

SCHEMA = Path(__file__).parents[1] / "mailbox.sql"
_OTHER_SESSIONS = (
    "SELECT ID FROM information_schema.PROCESSLIST WHERE DB = %s AND ID <> CONNECTION_ID()"
)


def connect(url: str) -> "Connection[pymysql.cursors.Cursor]":
    """Return an autocommitting connection to `url`."""
    parts = urlsplit(url)
    return pymysql.connect(
        host=parts.hostname or "127.0.0.1",
        port=parts.port or 3306,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        database=parts.path.strip("/") or None,
        charset="utf8mb4",
        autocommit=True,
        connect_timeout=PATIENCE_SECONDS,
        read_timeout=PATIENCE_SECONDS,
        write_timeout=PATIENCE_SECONDS,
    )


def end_sessions(url: str) -> None:
    """End every session that stands in the schema of `url`, and wait until each is gone."""
    schema = urlsplit(url).path.strip("/")
    with closing(connect(url)) as connection, connection.cursor() as cursor:

        def none_is_left() -> bool:
            cursor.execute(_OTHER_SESSIONS, (schema,))
            others = cursor.fetchall()
            for other in others:
                with suppress(pymysql.MySQLError):  # it has ended by itself
                    cursor.execute("KILL %s", other)
            return not others

        until(none_is_left, "the other sessions end")


def make_tables(url: str) -> None:
    """Make CMINMSGS and COUTMSGS in the schema of `url`."""
    with closing(connect(url)) as connection, connection.cursor() as cursor:
        lines = SCHEMA.read_text().splitlines()
        text = "\n".join(line for line in lines if not line.startswith("--"))
        for statement in filter(str.strip, text.split(";")):
            cursor.execute(statement)


@contextmanager
def mailbox(server: str) -> Iterator[str]:
    """Make a schema with both tables, yield its URL, and drop it at the end."""
    name = f"msgx_test_{secrets.token_hex(6)}"
    url = urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
    with closing(connect(server)) as admin, admin.cursor() as cursor:
        cursor.execute(
            f"CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci"
        )
    try:
        make_tables(url)
        yield url
    finally:
        with closing(connect(server)) as admin, admin.cursor() as cursor:
            cursor.execute(f"DROP DATABASE IF EXISTS {name}")
