"""PROC_STATE, the owed mark: claim, settle, postpone, abandon (INV-7, INV-8). Owner: intake."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from psycopg.rows import kwargs_row

from msgx.domain.marking import Abandonment, Owed
from msgx.store.connect import Connection

# Design 6.1. R counts from the latest of three times (R44): a message may wait for hours at the
# head, and a replayed one begins anew.
_ANY_OWED: Final = """
    SELECT EXISTS (
        SELECT FROM proc_state
         WHERE state IN ('SUCCEEDED', 'SKIPPED', 'DEAD')
           AND backfill_at IS NULL
           AND backfill_abandoned_at IS NULL
           AND (backfill_next_at IS NULL
                OR backfill_next_at <= msgx_now()
                OR greatest(enqueued_at, finished_at, reopened_at) < msgx_now() - %s)
    )
"""
# Locked from here to the confirmation, across the write to the mailbox: a replay skips the row
# (R43). The order is a fair rotation: what fails for ever goes to the end (B21).
_CLAIM: Final = """
    SELECT msg_id, finished_at, backfill_attempts AS attempts,
           greatest(enqueued_at, finished_at, reopened_at) AS owed_since
      FROM proc_state
     WHERE state IN ('SUCCEEDED', 'SKIPPED', 'DEAD')
       AND backfill_at IS NULL
       AND backfill_abandoned_at IS NULL
       AND (backfill_next_at IS NULL
            OR backfill_next_at <= msgx_now()
            OR greatest(enqueued_at, finished_at, reopened_at) < msgx_now() - %s)
     ORDER BY backfill_attempts, msg_id
     LIMIT %s
       FOR UPDATE SKIP LOCKED
"""
_SETTLE: Final = """
    UPDATE proc_state
       SET backfill_at = msgx_now(), backfill_next_at = NULL, updated_at = msgx_now()
     WHERE msg_id = ANY(%s)
       AND state IN ('SUCCEEDED', 'SKIPPED', 'DEAD')
       AND backfill_at IS NULL AND backfill_abandoned_at IS NULL
"""
_POSTPONE: Final = """
    UPDATE proc_state
       SET backfill_attempts = backfill_attempts + 1, backfill_next_at = postponed.until,
           updated_at = msgx_now()
      FROM unnest(%s::bigint[], %s::timestamptz[]) AS postponed (msg_id, until)
     WHERE proc_state.msg_id = postponed.msg_id
       AND state IN ('SUCCEEDED', 'SKIPPED', 'DEAD')
       AND backfill_at IS NULL AND backfill_abandoned_at IS NULL
"""
_ABANDON: Final = """
    UPDATE proc_state
       SET backfill_attempts = backfill_attempts + 1, backfill_next_at = NULL,
           backfill_abandoned_at = msgx_now(), backfill_abandoned_reason = abandoned.reason,
           updated_at = msgx_now()
      FROM unnest(%s::bigint[], %s::text[]) AS abandoned (msg_id, reason)
     WHERE proc_state.msg_id = abandoned.msg_id
       AND state IN ('SUCCEEDED', 'SKIPPED', 'DEAD')
       AND backfill_at IS NULL AND backfill_abandoned_at IS NULL
"""


class StaleDebt(RuntimeError):
    """A row that we hold locked did not take the change: a defect, never bad data."""


def any_owed(conn: Connection, overdue: timedelta) -> bool:
    """Tell whether a mark is due; takes no lock."""
    row = conn.execute(_ANY_OWED, (overdue,)).fetchone()
    return row is not None and bool(row[0])


def claim(conn: Connection, overdue: timedelta, limit: int) -> list[Owed]:
    """Lock and return the marks that are due, those with the fewest failures first."""
    with conn.cursor(row_factory=kwargs_row(_owed)) as cursor:
        return cursor.execute(_CLAIM, (overdue, limit)).fetchall()


def settle(conn: Connection, ids: Sequence[int]) -> None:
    """Record that the marks of `ids` stand in the mailbox.

    Raises:
        StaleDebt: a row owes no mark.
    """
    if ids:
        _judge(conn.execute(_SETTLE, (list(ids),)).rowcount, ids)


def postpone(conn: Connection, until: Sequence[tuple[int, datetime]]) -> None:
    """Record a failed attempt of each id and when the next one is due.

    Raises:
        StaleDebt: a row owes no mark.
    """
    if until:
        ids, times = [msg_id for msg_id, _ in until], [at for _, at in until]
        _judge(conn.execute(_POSTPONE, (ids, times)).rowcount, ids)


def abandon(conn: Connection, reasons: Sequence[tuple[int, Abandonment]]) -> None:
    """Stop trying by itself; the mark stays unconfirmed and an operator may reopen it.

    Raises:
        StaleDebt: a row owes no mark.
    """
    if reasons:
        ids = [msg_id for msg_id, _ in reasons]
        texts = [reason.value for _, reason in reasons]
        _judge(conn.execute(_ABANDON, (ids, texts)).rowcount, ids)


def _judge(changed: int, ids: Sequence[int]) -> None:
    if changed != len(ids):
        raise StaleDebt(f"{len(ids) - changed} of {len(ids)} locked rows owe no mark")


def _owed(**columns: Any) -> Owed:
    return Owed(**columns)
