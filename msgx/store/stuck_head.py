"""PROC_STATE, the head and what waits behind it, for operators (R55). Owner: processor.

Every function runs on the caller's connection and never commits.
"""

from datetime import datetime
from typing import Any, Final

from msgx.store.connect import Connection

COUNTED: Final = 100_000
"""How far open messages are counted."""

_OPEN: Final = f"""
    SELECT count(*) FROM (SELECT FROM proc_state WHERE state IN ('PENDING', 'FAILED')
                           LIMIT {COUNTED}) AS waiting
"""
# Since it was put back last, if it was.
_FAILING_SINCE: Final = """
    SELECT min(at) FROM proc_attempt AS tried
     WHERE msg_id = %(msg_id)s
       AND at >= COALESCE((SELECT replayed_at FROM dead_letter WHERE msg_id = %(msg_id)s),
                          '-infinity')
"""
_HASTEN: Final = """
    UPDATE proc_state SET next_attempt_at = NULL, updated_at = msgx_now()
     WHERE msg_id = %s AND state = 'FAILED' AND next_attempt_at > msgx_now()
"""
_WITHIN: Final = """
    SELECT msg_id FROM proc_state
     WHERE state IN ('PENDING', 'FAILED') AND msg_id BETWEEN %s AND %s
     ORDER BY msg_id
     LIMIT %s
"""
_TRIES: Final = """
    SELECT attempt, at, error_class, error, trace_id FROM proc_attempt
     WHERE msg_id = %s ORDER BY attempt DESC LIMIT %s
"""


def waiting(conn: Connection) -> int:
    """Return how many messages are open, the head included; counted up to `COUNTED`."""
    row: Any = conn.execute(_OPEN).fetchone()
    return int(row[0])


def failing_since(conn: Connection, msg_id: int) -> datetime | None:
    """Return when the failures of an open message began."""
    row: Any = conn.execute(_FAILING_SINCE, {"msg_id": msg_id}).fetchone()
    since: datetime | None = row[0]
    return since


def hasten(conn: Connection, msg_id: int) -> bool:
    """Make a failed message due now; tell whether it had to wait."""
    return conn.execute(_HASTEN, (msg_id,)).rowcount == 1


def within(conn: Connection, first: int, last: int, *, limit: int) -> list[int]:
    """Return open messages of a range, lowest first; the caller holds PIPELINE_LOCK."""
    rows: list[Any] = conn.execute(_WITHIN, (first, last, limit)).fetchall()
    return [msg_id for (msg_id,) in rows]


def tries(
    conn: Connection, msg_id: int, *, limit: int
) -> list[tuple[int, datetime, str, str, str | None]]:
    """Return the last failed tries, oldest first: number, time, class, text, trace."""
    rows: list[Any] = conn.execute(_TRIES, (msg_id, limit)).fetchall()
    return rows[::-1]
