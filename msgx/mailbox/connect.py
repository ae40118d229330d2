"""One connection to the shared mailbox: bounded in every way, told its settings, replaced after
a fault.

MySQL 8 and MariaDB (10.6 or newer) understand everything that is sent here.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from urllib.parse import unquote, urlsplit

import pymysql
from pymysql.connections import Connection as PyMySQLConnection
from pymysql.cursors import Cursor

from msgx import clock
from msgx.domain.failure import Away
from msgx.settings import Mailbox as MailboxSettings

Connection: TypeAlias = "PyMySQLConnection[Cursor]"

_FORM: Final = "MSGX_MAILBOX__URL must look like mysql://user:password@host:port/schema"
_PORT: Final = 3306
_PING_AFTER_SECONDS: Final = 5.0
# Strict: a text that does not fit the column is refused, never cut (B56). Zero dates may be
# compared.
_SQL_MODE: Final = "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION"

# A lock is given up before the socket is, so that nothing lands after we stopped waiting (R43).
_BOUND_LOCKS: Final = (
    "SET SESSION innodb_lock_wait_timeout = %s, SESSION lock_wait_timeout = %s"
)
# The columns are DATETIME in the mailbox's own zone: the server converts nothing (B52).
_NO_CONVERSION: Final = "SET SESSION time_zone = '+00:00'"
_TOLD: Final = "SELECT @@session.time_zone, @@session.autocommit, @@session.sql_mode"


class Unclear(Away):
    """The answer to COMMIT was lost: perhaps it took place, perhaps not, perhaps it will."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where the mailbox is, and as whom we come."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    schema: str


def address(url: str) -> Address:
    """Read `url`; user, password and schema may be percent-encoded.

    Raises:
        ValueError: it has not the form; the text never shows the URL.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or _PORT
    except ValueError:
        raise ValueError(_FORM) from None
    schema = unquote(parts.path.removeprefix("/"))
    if parts.scheme != "mysql" or not host or not parts.username or not schema:
        raise ValueError(_FORM)
    if parts.query or parts.fragment or "/" in parts.path.removeprefix("/"):
        raise ValueError(_FORM)
    return Address(
        host=host,
        port=port,
        user=unquote(parts.username),
        password=unquote(parts.password or ""),
        schema=schema,
    )


class Session:
    """One connection of one loop: opened when needed, dropped after a fault. Not
    thread-safe."""

    def __init__(self, settings: MailboxSettings) -> None:
        self._address = address(settings.url.get_secret_value())
        self._timeout = settings.timeout.total_seconds()
        self._conn: Connection | None = None
        self._last_use = 0.0

    @contextmanager
    def use(self, doing: str) -> Iterator[Cursor]:
        """Give a cursor in autocommit: each read sees what is committed now (B53).

        Raises:
            Away: the mailbox does not answer or refuses; the next use opens a new connection.
        """
        conn = self._open()
        try:
            with conn.cursor() as cursor:
                yield cursor
        except (pymysql.MySQLError, OSError) as error:
            self.close()
            raise Away(f"the mailbox failed {doing}{_code(error)}") from error
        except BaseException:
            self.close()  # whatever it was in the middle of is undone by the server
            raise
        self._last_use = clock.ticks()

    @contextmanager
    def transaction(self, doing: str) -> Iterator[tuple[Cursor, Callable[[], None]]]:
        """Give a cursor between BEGIN and COMMIT: writes never run in autocommit (R43).

        One deadline for the whole: the second of the pair raises Away once it has passed.

        Raises:
            Away: the mailbox failed, or the whole took longer than the time-out; nothing was
            written.
            Unclear: the answer to COMMIT was lost.
        """
        deadline = clock.ticks() + self._timeout

        def in_time() -> None:
            if clock.ticks() > deadline:
                raise Away(f"the mailbox was too slow {doing}")

        with self.use(doing) as cursor:
            cursor.connection.begin()
            yield cursor, in_time
            in_time()
            try:
                cursor.connection.commit()
            except (pymysql.MySQLError, OSError) as error:
                lost = f"the mailbox lost the answer to COMMIT {doing}{_code(error)}"
                raise Unclear(lost) from error

    def close(self) -> None:
        """Close the connection, and with it whatever it has not committed."""
        conn, self._conn = self._conn, None
        _end(conn)

    def _open(self) -> Connection:
        if self._conn is not None and clock.ticks() - self._last_use > _PING_AFTER_SECONDS:
            try:
                self._conn.ping(reconnect=False)
            except (pymysql.MySQLError, OSError):
                self.close()
        if self._conn is None:
            self._conn = self._connect()
        return self._conn

    def _connect(self) -> Connection:
        conn: Connection | None = None
        lock_wait = max(1, int(self._timeout / 2))
        try:
            conn = pymysql.connect(
                host=self._address.host,
                port=self._address.port,
                user=self._address.user,
                password=self._address.password.encode(),  # a text would go as Latin-1
                database=self._address.schema,
                charset="utf8mb4",
                sql_mode=_SQL_MODE,
                autocommit=True,
                connect_timeout=self._timeout,
                read_timeout=max(self._timeout, lock_wait + 1),
                write_timeout=self._timeout,
                program_name="msgx",
            )
            with conn.cursor() as cursor:
                cursor.execute(_BOUND_LOCKS, (lock_wait, lock_wait))
                cursor.execute(_NO_CONVERSION)
                cursor.execute(_TOLD)
                _verify(cursor.fetchone())
        except (pymysql.MySQLError, OSError, RuntimeError) as error:
            _end(conn)
            raise Away(f"the mailbox does not accept our connection{_code(error)}") from None
        return conn


def _end(conn: "Connection | None") -> None:
    """Close `conn` as far as it still can be."""
    if conn is not None:
        with suppress(pymysql.MySQLError, OSError):
            conn.close()


def _verify(told: Any) -> None:
    zone, autocommit, mode = told or (None, None, "")
    if zone != "+00:00" or not autocommit or "STRICT_ALL_TABLES" not in str(mode):
        raise RuntimeError("the server does not keep our session settings")


def _code(error: Exception) -> str:
    code = error.args[0] if error.args else None
    return f" ({code})" if isinstance(code, int) and code > 0 else ""
