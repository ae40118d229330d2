"""COUTMSGS: add a request, find it again. Owner of the table: upstream; we only add (C-2, C-4).

Names of table and columns are parameters, validated as identifiers when they are read.
"""

from datetime import datetime, timedelta
from typing import Final

import pymysql

from msgx.domain.failure import Away, ErrorClass, Fault
from msgx.mailbox.connect import Session
from msgx.settings import Mailbox as MailboxSettings
from msgx.settings import Request

# A client that stands still in the middle is dropped, and its row with it: after this nothing
# of it can land any more (R34, R43).
_IDLE_SECONDS: Final = 6  # longer than a connection is used without a question
_DROP_IDLE: Final = "SET SESSION wait_timeout = %s"
_INSERT: Final = """
    INSERT INTO {table} ({text_column}, {inserted_column}, {routing_column})
    VALUES (%s, %s, %s)
"""
_HIGHEST: Final = "SELECT MAX({id_column}) FROM {table}"
_FIND: Final = """
    SELECT {id_column} FROM {table}
     WHERE {id_column} > %s AND INSTR({text_column}, %s) > 0
     ORDER BY {id_column}
     LIMIT 1
"""


class Outbound:
    """The outbound table over one connection, which is replaced after a fault. Not thread-safe.

    Every function raises Away if the mailbox does not answer, refuses, or is too slow.
    """

    def __init__(self, settings: MailboxSettings, request: Request) -> None:
        self._session = Session(settings)
        self._zone = settings.zone
        self._timeout = settings.timeout
        self._idle_seconds = _IDLE_SECONDS + int(settings.timeout.total_seconds())
        self._routing = request.routing
        names = {
            "table": request.table,
            "id_column": request.id_column,
            "text_column": request.text_column,
            "inserted_column": request.inserted_column,
            "routing_column": request.routing_column,
        }
        self._insert = _INSERT.format(**names)
        self._highest = _HIGHEST.format(**names)
        self._find = _FIND.format(**names)

    @property
    def patience(self) -> timedelta:
        """How long after its claim a request may still be written: to connect, and to write."""
        return 2 * self._timeout

    @property
    def settles(self) -> timedelta:
        """How long after its claim the row may still land: the server needs a while to drop a
        client that stands still at the last moment."""
        return self.patience + timedelta(seconds=self._idle_seconds)

    def close(self) -> None:
        """Close the connection; the next use opens another."""
        self._session.close()

    def highest(self) -> int:
        """Return the highest id, 0 in an empty table: what is written next is above."""
        with self._session.use("looking at outbound messages") as cursor:
            cursor.execute(self._highest)
            found = cursor.fetchone()
        return 0 if found is None or found[0] is None else int(found[0])

    def insert(self, text: str, *, at: datetime, until: float) -> int:
        """Insert a message and return its id; nothing is committed after `until`, in ticks.

        Raises:
            Fault: PROTOCOL, the table refuses this row; nothing was stored.
            Unclear: the answer to COMMIT was lost; perhaps it was stored.
            Away: nothing was stored.
        """
        local = at.astimezone(self._zone).replace(tzinfo=None, microsecond=0)
        try:
            with self._session.transaction("writing a request", until=until) as (cursor, _):
                cursor.execute(_DROP_IDLE, (self._idle_seconds,))
                cursor.execute(self._insert, (text, local, self._routing))
                return int(cursor.lastrowid)
        except Away as away:
            if isinstance(away.__cause__, pymysql.DataError):
                refused = "the mailbox's table cannot hold this request"
                raise Fault(ErrorClass.PROTOCOL, refused) from None
            raise

    def find(self, part: str, *, floor: int) -> int | None:
        """Return the id of the first row above `floor` whose text holds `part`."""
        with self._session.use("looking for a request") as cursor:
            cursor.execute(self._find, (floor, part))
            found = cursor.fetchone()
        return None if found is None else int(found[0])
