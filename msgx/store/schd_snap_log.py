"""SCHD_SNAP_LOG: one row for each treatment of a day plan; decides nothing. Owner:
processor."""

from dataclasses import astuple, dataclass
from datetime import date, datetime, timedelta
from typing import Final

from msgx.store.connect import Connection

_ADD: Final = """
    INSERT INTO schd_snap_log (msg_id, kind, recv_at, scope_begin, scope_end, declared, parsed,
                               created, restored, changed, unchanged, deleted, duration_seconds,
                               at)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, msgx_now())
"""
# Of a package that was refused before its days were known, its arrival alone counts.
_DELETE: Final = """
    DELETE FROM schd_snap_log
     WHERE snap_id = ANY (ARRAY(
        SELECT snap_id FROM schd_snap_log
         WHERE (scope_end < (msgx_now() - %(keep)s::interval)::date OR scope_end IS NULL)
           AND greatest(recv_at, at) < msgx_now() - %(keep)s::interval
         ORDER BY scope_end, recv_at
         LIMIT %(limit)s
           FOR UPDATE SKIP LOCKED))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapLog:
    """The figures of one treatment, in the order of the columns."""

    msg_id: int
    kind: str
    recv_at: datetime | None
    scope_begin: date | None
    scope_end: date | None
    declared: int
    parsed: int
    created: int
    restored: int
    changed: int
    unchanged: int
    deleted: int
    duration_seconds: float


def add(conn: Connection, log: SnapLog) -> None:
    """Append the row."""
    conn.execute(_ADD, astuple(log))


def delete(conn: Connection, *, keep: timedelta, limit: int) -> int:
    """Delete at most `limit` rows whose days, and whose treatment, are longer ago than `keep`;
    return how many."""
    return conn.execute(_DELETE, {"keep": keep, "limit": limit}).rowcount
