"""MSG_EVENT, the end of its rows: what was delivered or given up leaves after its time. Owner:
dispatcher."""

from datetime import timedelta
from typing import Final

from msgx.store.connect import Connection

# The latest state of a flight stays with the flight; its tombstone does not. An event stays
# while its message is open (again), and a dead one until somebody has decided about it. The
# conditions are those of the index msg_event_over.
_DELETE: Final = """
    DELETE FROM msg_event
     WHERE event_id = ANY (ARRAY(
        SELECT event_id
          FROM msg_event e
         WHERE e.state IN ('SENT', 'DISCARDED')
           AND coalesce(e.sent_at, e.discarded_at) < msgx_now() - %(keep)s::interval
           AND (e.target <> 'KAFKA:schd' OR e.event_type = 'TOMBSTONE')
           AND NOT EXISTS (SELECT FROM proc_state p
                            WHERE p.msg_id = e.msg_id AND p.state IN ('PENDING', 'FAILED')
                           OFFSET 0)
         ORDER BY coalesce(e.sent_at, e.discarded_at)
         LIMIT %(limit)s
           FOR UPDATE OF e SKIP LOCKED))
"""


def delete(conn: Connection, *, keep: timedelta, limit: int) -> int:
    """Delete at most `limit` events that were delivered or given up longer than `keep` ago;
    return how many."""
    return conn.execute(_DELETE, {"keep": keep, "limit": limit}).rowcount
