"""One connection to the shared mailbox: bounded in every way, told its settings, replaced after
a fault.

MySQL 8 and MariaDB (10.6 or newer) understand everything that is sent here.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any, Final, TypeAlias

import pymysql
from pymysql.connections import Connection as PyMySQLConnection
from pymysql.cursors import Cursor

from msgx import clock
from msgx.config.urls import address
from msgx.domain.failure import Away, Unfit
from msgx.settings import Mailbox as MailboxSettings

Connection: TypeAlias = "PyMySQLConnection[Cursor]"

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
# Shadow mode: the server itself refuses every write of this session (R50).
_READ_ONLY: Final = "SET SESSION TRANSACTION READ ONLY"
_SCHEMA: Final = "SELECT DATABASE()"
# MariaDB has no server_uuid; asked so, it leaves it out.
_SERVER: Final = "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('hostname', 'server_uuid')"
_TOLD: Final = "SELECT @@session.time_zone, @@session.autocommit, @@session.sql_mode"


class Unclear(Away):
    """The answer to COMMIT was lost: perhaps it took place, perhaps not, perhaps it will."""


class ReadOnly(RuntimeError):
    """A write in shadow mode: a defect of ours, stopped before it reached the server."""


class Session:
    """One connection of one loop: opened when needed, dropped after a fault. Not
    thread-safe."""

    def __init__(self, settings: MailboxSettings) -> None:
        self._address = address(settings.url.get_secret_value())
        self._settings = settings
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
    def transaction(
        self, doing: str, *, until: float | None = None
    ) -> Iterator[tuple[Cursor, Callable[[], None]]]:
        """Give a cursor between BEGIN and COMMIT: writes never run in autocommit (R43).

        One deadline for the whole, and not later than `until` if that is given in ticks: the
        second of the pair raises Away once it has passed.

        Raises:
            ReadOnly: this is a shadow; nothing was asked of the server.
            Away: the mailbox failed, or the whole took longer than the time-out; nothing was
            written.
            Unclear: the answer to COMMIT was lost.
        """
        if self._settings.read_only:
            raise ReadOnly(f"msgx.mailbox.read-only forbids {doing}")
        deadline = clock.ticks() + self._timeout
        if until is not None:
            deadline = min(deadline, until)

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
                if self._settings.read_only:
                    cursor.execute(_READ_ONLY)
                if self._settings.expects:
                    _recognise(cursor, self._settings)
        except (pymysql.MySQLError, OSError, RuntimeError) as error:
            _end(conn)
            raise Away(f"the mailbox does not accept our connection{_code(error)}") from None
        except Unfit:
            _end(conn)
            raise
        return conn


def look(settings: MailboxSettings) -> None:
    """Return if the server is the one that is meant; nobody is asked where any will do.

    Raises:
        Unfit: it is another one (R50).
        Away: it does not answer.
    """
    if settings.expects:
        with closing(Session(settings)) as session, session.use("looking at the mailbox"):
            pass


def _end(conn: "Connection | None") -> None:
    """Close `conn` as far as it still can be."""
    if conn is not None:
        with suppress(pymysql.MySQLError, OSError):
            conn.close()


def _verify(told: Any) -> None:
    zone, autocommit, mode = told or (None, None, "")
    if zone != "+00:00" or not autocommit or "STRICT_ALL_TABLES" not in str(mode):
        raise RuntimeError("the server does not keep our session settings")


def _recognise(cursor: Cursor, settings: MailboxSettings) -> None:
    """Return if this is the mailbox that is meant (R50).

    Raises:
        Unfit: it is another one.
    """
    cursor.execute(_SCHEMA)
    (schema,) = cursor.fetchone() or (None,)
    if settings.expected_schema not in ("", schema):
        raise Unfit("the schema of MSGX_MAILBOX__URL is not MSGX_MAILBOX__EXPECTED_SCHEMA")
    cursor.execute(_SERVER)
    told = {str(value).lower() for _, value in cursor.fetchall()}
    expected = {one.lower() for one in settings.expected_server}
    if expected and not expected & told:
        raise Unfit("the server of MSGX_MAILBOX__URL is none of MSGX_MAILBOX__EXPECTED_SERVER")


def _code(error: Exception) -> str:
    code = error.args[0] if error.args else None
    return f" ({code})" if isinstance(code, int) and code > 0 else ""
