"""CMINMSGS: scan for unmarked rows, read bodies, land a row, write marks. Owner of the table:
upstream; of the mark: intake.

An empty mark is NULL or a zero date: "not processed" (INV-2b). A zero date in the time of
receipt is "unknown".
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

import pymysql
from pymysql.cursors import Cursor

from msgx.domain.failure import Away, ErrorClass, Fault
from msgx.domain.marking import Marking
from msgx.mailbox.connect import Session
from msgx.settings import Mailbox as MailboxSettings

# A valid DATETIME is never before the literal: what is, is a zero date, in any sql_mode (B54).
_SCAN: Final = """
    SELECT CMINMSGS_ID, CMINMSGS_DATE_RECEIVED, CMINMSGS_DATE_PROCESSED IS NOT NULL
      FROM CMINMSGS
     WHERE CMINMSGS_ID > %s AND CMINMSGS_ID <= %s
       AND (CMINMSGS_DATE_PROCESSED IS NULL OR CMINMSGS_DATE_PROCESSED < '1000-01-01 00:00:00')
     ORDER BY CMINMSGS_ID
     LIMIT %s
"""
_REACH: Final = """
    SELECT MAX(CMINMSGS_ID)
      FROM (SELECT CMINMSGS_ID FROM CMINMSGS WHERE CMINMSGS_ID > %s
             ORDER BY CMINMSGS_ID LIMIT %s) AS page
"""
_HIGHEST: Final = "SELECT MAX(CMINMSGS_ID) FROM CMINMSGS"
_RAW: Final = """
    SELECT CMINMSGS_ID, LENGTH(CMINMSGS_CLOB_MSG),
           IF(LENGTH(CMINMSGS_CLOB_MSG) <= %s, CMINMSGS_CLOB_MSG, NULL)
      FROM CMINMSGS
     WHERE CMINMSGS_ID IN %s
"""
_LAND: Final = """
    INSERT INTO CMINMSGS (CMINMSGS_CLOB_MSG, CMINMSGS_DATE_RECEIVED, CMINMSGS_STATUS)
    VALUES (%s, %s, 'VALID')
"""
_MARKS: Final = """
    SELECT CMINMSGS_ID,
           CMINMSGS_DATE_PROCESSED IS NULL OR CMINMSGS_DATE_PROCESSED < '1000-01-01 00:00:00'
      FROM CMINMSGS
     WHERE CMINMSGS_ID IN %s
"""
# Only rows that exist are asked for, so no gap is locked against the adapter's inserts.
_LOCK_MARKS: Final = """
    SELECT CMINMSGS_ID,
           CMINMSGS_DATE_PROCESSED IS NULL OR CMINMSGS_DATE_PROCESSED < '1000-01-01 00:00:00'
      FROM CMINMSGS
     WHERE CMINMSGS_ID IN %s
       FOR UPDATE SKIP LOCKED
"""
_MARK: Final = """
    UPDATE CMINMSGS
       SET CMINMSGS_DATE_PROCESSED = %s
     WHERE CMINMSGS_ID IN %s
       AND (CMINMSGS_DATE_PROCESSED IS NULL OR CMINMSGS_DATE_PROCESSED < '1000-01-01 00:00:00')
"""
_MAX_ID: Final = 2**63 - 1
_MAX_BYTES: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """An unmarked row, without its body."""

    msg_id: int
    received_at: datetime | None  # None: empty, a zero date, or no date at all (B54)
    zero_mark: bool = False  # the mark is a zero date: taken as empty, and reported (B54)


@dataclass(frozen=True, slots=True)
class Oversized:
    """A body that was not loaded: it is larger than the limit."""

    bytes: int


class Mailbox:
    """The inbound table over one connection, which is replaced after a fault. Not thread-safe.

    Every function raises Away if the mailbox does not answer, refuses, or is too slow.
    """

    def __init__(self, settings: MailboxSettings) -> None:
        self._session = Session(settings)
        self._zone = settings.zone

    def close(self) -> None:
        """Close the connection; the next use opens another."""
        self._session.close()

    def scan(self, after: int, limit: int, *, until: int = _MAX_ID) -> list[Row]:
        """Return the first `limit` unmarked rows with `after` < id ≤ `until`, ascending."""
        with self._session.use("scanning") as cursor:
            cursor.execute(_SCAN, (after, until, limit))
            rows = cursor.fetchall()
        return [
            Row(
                msg_id=int(msg_id),
                received_at=_instant(received, self._zone),
                zero_mark=bool(zero),
            )
            for msg_id, received, zero in rows
        ]

    def reach(self, after: int, rows: int) -> int | None:
        """Return the id that lies `rows` rows beyond `after`, or the last one; None: no row is.

        A scan up to it looks at a bounded number of rows, however few of them are unmarked and
        however large the holes are (B14).
        """
        with self._session.use("looking ahead") as cursor:
            cursor.execute(_REACH, (after, rows))
            found = cursor.fetchone()
        return None if found is None or found[0] is None else int(found[0])

    def highest(self) -> int:
        """Return the highest id, 0 in an empty mailbox."""
        with self._session.use("reading the highest id") as cursor:
            cursor.execute(_HIGHEST)
            found = cursor.fetchone()
        return 0 if found is None or found[0] is None else int(found[0])

    def unmarked(self, ids: Sequence[int]) -> list[int]:
        """Return those of `ids` that exist and have an empty mark, ascending."""
        if not ids:
            return []
        with self._session.use("looking at marks") as cursor:
            cursor.execute(_MARKS, (list(ids),))
            found = _emptiness(cursor)
        return sorted(msg_id for msg_id, is_empty in found.items() if is_empty)

    def raw(
        self, ids: Sequence[int], *, max_bytes: int = _MAX_BYTES
    ) -> dict[int, str | Oversized]:
        """Return the bodies of `ids`; a missing row or body is absent, a larger body is not
        loaded."""
        if not ids:
            return {}
        with self._session.use("reading bodies") as cursor:
            cursor.execute(_RAW, (max_bytes, list(ids)))
            rows = cursor.fetchall()
        return {
            int(msg_id): Oversized(int(size)) if body is None else body
            for msg_id, size, body in rows
            if size is not None
        }

    def land(self, text: str, *, at: datetime) -> int:
        """Insert an unmarked row that was received `at`, and return its id (INV-1: landed).

        Raises:
            Fault: PROTOCOL, the column cannot hold this text; nothing was stored (B56).
            Away: nothing was stored, unless the answer to COMMIT was lost.
        """
        try:
            text.encode()
        except UnicodeEncodeError:
            raise Fault(ErrorClass.PROTOCOL, "the text is not valid Unicode") from None
        try:
            with self._session.transaction("landing a message") as (cursor, _):
                cursor.execute(_LAND, (text, self._local(at)))
                return int(cursor.lastrowid)
        except Away as away:
            if isinstance(away.__cause__, pymysql.DataError):
                raise Fault(
                    ErrorClass.PROTOCOL,
                    "the mailbox's column cannot hold this text",
                ) from None
            raise

    def mark(self, rows: Iterable[tuple[int, datetime]]) -> dict[int, Marking]:
        """Write each mark that is empty, all in one transaction with one deadline (R43, INV-7).

        Raises:
            Away: no mark was written, unless the answer to COMMIT was lost; then the next try
            finds them ALREADY there.
        """
        values = {msg_id: self._local(at) for msg_id, at in rows}
        if not values:
            return {}
        with self._session.transaction("writing marks") as (cursor, in_time):
            cursor.execute(_MARKS, (list(values),))
            found = _emptiness(cursor)
            locked: dict[int, bool] = {}
            if empty := [msg_id for msg_id, is_empty in found.items() if is_empty]:
                in_time()
                cursor.execute(_LOCK_MARKS, (empty,))
                locked = _emptiness(cursor)
            for value, ids in _by_value(values, locked).items():
                in_time()
                if cursor.execute(_MARK, (value, ids)) != len(ids):
                    raise Away("the mailbox changed rows that we hold locked")
        return {msg_id: _outcome(found.get(msg_id), locked.get(msg_id)) for msg_id in values}

    def _local(self, at: datetime) -> datetime:
        """Return `at` as the mailbox writes it: in its zone, to the second."""
        return at.astimezone(self._zone).replace(tzinfo=None, microsecond=0)


def _emptiness(cursor: Cursor) -> dict[int, bool]:
    """Return for each row that was found whether its mark is empty."""
    return {int(msg_id): bool(is_empty) for msg_id, is_empty in cursor.fetchall()}


def _by_value(
    values: Mapping[int, datetime], locked: Mapping[int, bool]
) -> Mapping[datetime, list[int]]:
    """Return the rows to write, gathered by the value: one statement each."""
    groups: defaultdict[datetime, list[int]] = defaultdict(list)
    for msg_id, is_empty in locked.items():
        if is_empty:
            groups[values[msg_id]].append(msg_id)
    return groups


def _outcome(found: bool | None, locked: bool | None) -> Marking:
    """Return what became of a row: was its mark empty when found, and under our lock?"""
    match found, locked:
        case None, _:
            return Marking.MISSING
        case False, _:
            return Marking.ALREADY
        case True, None:
            return Marking.BUSY
        case True, False:
            return Marking.ALREADY
        case True, True:
            return Marking.MARKED
    raise AssertionError((found, locked))


def _instant(told: Any, zone: ZoneInfo) -> datetime | None:
    """Return a DATETIME of the mailbox in UTC; a zero or impossible date arrives as text."""
    if not isinstance(told, datetime):
        return None
    try:
        return told.replace(tzinfo=zone).astimezone(UTC)
    except OverflowError:
        return None
