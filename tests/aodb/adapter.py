"""Writes a day into a mailbox as the adapter does: two connections, late commits, holes."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import Any, Final, TypeAlias
from urllib.parse import unquote, urlsplit

import pymysql
from pymysql.cursors import Cursor

from msgx import clock
from tests.aodb.model import Day, Planned, Played

INSERT: Final = (
    "INSERT INTO CMINMSGS (CMINMSGS_CLOB_MSG, CMINMSGS_DATE_RECEIVED, CMINMSGS_STATUS,"
    " CMINMSGS_SUBSYSTEM_NAME) VALUES (%s, %s, %s, %s)"
)
SELECT_PAGE: Final = (
    "SELECT CMINMSGS_ID, CMINMSGS_CLOB_MSG FROM CMINMSGS"
    " WHERE CMINMSGS_ID > %s ORDER BY CMINMSGS_ID LIMIT 500"
)
SELECT_NOW: Final = "SELECT NOW()"
SELECT_STEP: Final = "SELECT @@auto_increment_increment"

_BATCH_ROWS: Final = 200
_BATCH_BYTES: Final = 1_000_000
_HOLE_EVERY: Final = 100
_HELD_OPEN: Final = 0.3
_LATE_ENOUGH: Final = 5
_REST: Final = 0.05

Connection: TypeAlias = "pymysql.Connection[Cursor]"


def play(
    day: Day,
    mailbox_url: str,
    *,
    speed: float | None = None,
    on_landed: Callable[[int], None] | None = None,
) -> Played:
    """Lands every message of `day` and returns where; `on_landed` hears the count so far.

    `speed` is the number of simulated seconds per second; None writes as fast as possible.

    Raises:
        ValueError: the URL is not a mailbox, or the speed is not positive.
    """
    if speed is not None and speed <= 0:
        raise ValueError("the speed factor must be positive")
    began = clock.ticks()
    with closing(connect(mailbox_url)) as prompt, closing(connect(mailbox_url)) as late:
        adapter = _Adapter(prompt, late)
        first = day.messages[0].due.total_seconds() if day.messages else 0.0
        for batch in batches(day.messages, paced=speed is not None):
            if speed is not None:
                _wait(began + (batch[0].due.total_seconds() - first) / speed)
            adapter.land(batch)
            if on_landed is not None:
                on_landed(len(adapter.ids))
        adapter.settle()
    return Played(adapter.ids, clock.ticks() - began)


def landed(day: Day, mailbox_url: str) -> Played:
    """Finds where a day has landed before, by the texts, in order of the ids.

    Raises:
        ValueError: the mailbox does not hold the whole day.
    """
    waiting: dict[str, list[int]] = {}
    for message in reversed(day.messages):
        waiting.setdefault(message.xml, []).append(message.index)
    ids: dict[int, int] = {}
    with closing(connect(mailbox_url)) as connection, connection.cursor() as cursor:
        last = 0
        while cursor.execute(SELECT_PAGE, (last,)):
            for last, text in cursor.fetchall():
                if indexes := waiting.get(text):
                    ids[indexes.pop()] = last
    if len(ids) < len(day.messages):
        raise ValueError(
            f"the mailbox holds {len(ids)} of {len(day.messages)} messages of this day"
        )
    return Played(ids, 0.0)


def batches(messages: tuple[Planned, ...], *, paced: bool) -> Iterator[list[Planned]]:
    """Cuts the landing order into transactions; a late row and the next one stand alone."""
    late = [message for message in messages if message.late]
    cuts = {place for m in late for place in (m.index + 1, m.commits_after)}
    batch: list[Planned] = []
    size = 0
    for message in messages:
        length = len(message.xml)
        full = len(batch) >= _BATCH_ROWS or size + length > _BATCH_BYTES
        apart = paced and batch and message.due != batch[0].due
        if batch and (full or apart or message.late):
            yield batch
            batch, size = [], 0
        batch.append(message)
        size += length
        if message.late or message.index in cuts:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def connect(mailbox_url: str) -> Connection:
    """Opens a connection as the adapter's: own transactions, utf8mb4, the airport's time zone.

    Raises:
        ValueError: not of the form mysql://user:password@host:port/schema.
    """
    parts = urlsplit(mailbox_url)
    schema = parts.path.strip("/")
    if parts.scheme != "mysql" or not parts.hostname or not schema:
        raise ValueError("a mailbox URL has the form mysql://user:password@host:port/schema")
    return pymysql.connect(
        host=parts.hostname,
        port=parts.port or 3306,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        database=schema,
        charset="utf8mb4",
        autocommit=False,
        connect_timeout=3,
        read_timeout=30,
        write_timeout=30,
        cursorclass=_OneStatement,
        init_command="SET time_zone = '+08:00'",
    )


class _OneStatement(Cursor):
    """Sends all rows of a transaction in one statement, so that their ids are consecutive."""

    max_stmt_length = 64 * 1024 * 1024


class _Adapter:
    """The two connections of the adapter and the one row that may be waiting on the second."""

    def __init__(self, prompt: Connection, late: Connection) -> None:
        self.ids: dict[int, int] = {}
        self._prompt = prompt
        self._late = late
        self._waiting: Planned | None = None
        self._since = 0.0
        self._next_hole = _HOLE_EVERY
        with prompt.cursor() as cursor:
            cursor.execute(SELECT_STEP)
            (self._step,) = cursor.fetchone() or (1,)

    def land(self, batch: list[Planned]) -> None:
        """Inserts one transaction; a late row stays open on the second connection."""
        first = batch[0]
        self._leave_hole(first.index)
        if first.late:
            self.settle()
            self.ids |= self._insert(self._late, batch)
            self._waiting, self._since = first, clock.ticks()
            return
        self.ids |= self._insert(self._prompt, batch)
        self._prompt.commit()
        self._release(batch[-1].index)

    def settle(self) -> None:
        """Commits the row that waits, whatever it waits for."""
        if self._waiting is not None:
            self._late.commit()
            self._waiting = None

    def _release(self, index: int) -> None:
        """Commits the waiting row once its time has come.

        A row that is to be late by several is kept until a reader must have looked between.
        """
        row = self._waiting
        if row is None or index < row.commits_after:
            return
        brief = row.commits_after - row.index < _LATE_ENOUGH
        if brief or clock.ticks() - self._since >= _HELD_OPEN:
            self.settle()

    def _leave_hole(self, index: int) -> None:
        """Now and then uses up an id and rolls back, as failing adapters do (B14)."""
        if index >= self._next_hole:
            self._next_hole += _HOLE_EVERY
            with self._prompt.cursor() as cursor:
                cursor.execute(INSERT, ("<MSG/>", None, "VALID", ""))
            self._prompt.rollback()

    def _insert(self, connection: Connection, batch: list[Planned]) -> Mapping[int, int]:
        with connection.cursor() as cursor:
            cursor.execute(SELECT_NOW)
            (now,) = cursor.fetchone() or (None,)
            rows: list[tuple[Any, ...]] = [
                (message.xml, now, "VALID", "AODB" if message.index % 5 == 0 else "")
                for message in batch
            ]
            cursor.executemany(INSERT, rows)
            begin = cursor.lastrowid
        return {message.index: begin + n * self._step for n, message in enumerate(batch)}


def _wait(until: float) -> None:
    while (left := until - clock.ticks()) > 0:
        clock.rest(min(left, _REST))
