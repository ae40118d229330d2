"""PROC_STATE and PROC_ATTEMPT, the end of their rows (US-11, INV-25). Owner: intake.

A walk by key, page by page, in place of an index by age: every end and every mark would have to
write that one, while ids grow with time, so what is old lies together at the beginning.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from msgx.store.connect import Connection

MOST_WAITING: Final = 10_000  # events: with more of them, delivery comes first

# What may leave: finished now, its mark confirmed, and since then untouched for its time. A
# mark that is owed or was given up keeps its record for ever; a death stays as long as its text
# (R38).
_OVER: Final = """
    state IN ('SUCCEEDED', 'SKIPPED', 'DEAD') AND backfill_at IS NOT NULL
    AND backfill_next_at IS NULL AND backfill_abandoned_at IS NULL
    AND updated_at < msgx_now() - CASE WHEN state = 'DEAD' THEN %(dead)s::interval
                                       ELSE %(keep)s::interval END
"""
# The highest record stays: it says what came late (R11). What has events to deliver stays; the
# two parts are the predicates of the indexes msg_event_claim and msg_event_dead. A row that a
# replay or a mark holds is skipped, and one that was put back is no candidate any more (R44).
_PAGE: Final = f"""
    WITH page AS (
        SELECT msg_id, enqueued_at FROM proc_state
         WHERE msg_id > %(after)s AND msg_id < (SELECT max(msg_id) FROM proc_state)
         ORDER BY msg_id LIMIT %(limit)s),
    waiting AS MATERIALIZED (
        SELECT msg_id FROM (SELECT msg_id FROM msg_event WHERE state = 'PENDING'
                             UNION ALL
                            SELECT msg_id FROM msg_event WHERE state = 'DEAD') AS event
         LIMIT %(most)s + 1),
    chosen AS (
        SELECT msg_id FROM proc_state
         WHERE msg_id = ANY (ARRAY(SELECT msg_id FROM page)) AND {_OVER}
           AND msg_id NOT IN (SELECT msg_id FROM waiting WHERE msg_id IS NOT NULL)
           AND (SELECT count(*) FROM waiting) <= %(most)s
         ORDER BY msg_id
           FOR UPDATE SKIP LOCKED),
    gone AS (
        DELETE FROM proc_state
         WHERE msg_id = ANY (ARRAY(SELECT msg_id FROM chosen)) AND {_OVER}
     RETURNING msg_id),
    tries AS (
        DELETE FROM proc_attempt WHERE msg_id = ANY (ARRAY(SELECT msg_id FROM gone)))
    SELECT max(msg_id), (SELECT count(*) FROM gone),
           COALESCE(bool_or(enqueued_at < msgx_now() - %(keep)s::interval), false)
      FROM page
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a page of the walk came to."""

    last: int | None  # the highest id of it; None: it was empty
    gone: int
    old: bool  # it had a record that is old enough, whatever else keeps it


def delete(
    conn: Connection, *, after: int, keep: timedelta, keep_dead: timedelta, limit: int
) -> Page:
    """Delete the records that are over among the next `limit` after `after`, with their tries;
    dead ones after the longer of the two times."""
    row = conn.execute(
        _PAGE,
        {
            "after": after,
            "keep": keep,
            "dead": max(keep, keep_dead),
            "limit": limit,
            "most": MOST_WAITING,
        },
    ).fetchone()
    assert row is not None  # noqa: S101 - an aggregate
    last, gone, old = row
    return Page(last=last, gone=gone, old=old)
