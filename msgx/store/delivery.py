"""MSG_EVENT, the delivery columns: which events may leave now, and what became of them. Owner:
dispatcher.

The order unit is (target, FLID) (R29). Every function runs on the caller's connection and never
commits.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from msgx.domain.delivery import DELIVERY, DeliveryTrigger, EventType, Target
from msgx.domain.event import Event
from msgx.domain.failure import ErrorClass, clean
from msgx.store.connect import Connection

_TYPES: Final[Mapping[str, EventType]] = MappingProxyType({one.value: one for one in EventType})

# OFFSET 0 keeps each question a probe of its own index per row: joined, PostgreSQL might read
# every dead row of the table to answer it. Rows in front of the one asked about are few in both
# indexes, whatever the length of the backlog (B23). Behind `after`, an event whose unit still
# has one in front of it stays, whatever holds that: order before all. Only the index of what
# is pending has the order (target, event_id): asked for event_id alone, PostgreSQL might walk
# along the primary key through all that was ever sent.
_CLAIM: Final = """
    SELECT event_id, partition_key, event_type, payload_version, size,
           CASE WHEN size <= %(max_bytes)s THEN payload END AS payload,
           state_version, msg_id, created_at, attempts, traceparent
      FROM (SELECT page.*, sum(size) OVER (ORDER BY target, event_id) - size AS before
              FROM (SELECT e.*, coalesce(octet_length(e.payload), 0) AS size
                      FROM (SELECT * FROM msg_event
                             WHERE (target, event_id) > (%(target)s, %(after)s)
                               AND target <= %(target)s AND state = 'PENDING'
                             ORDER BY target, event_id
                             LIMIT %(part)s) e
                     WHERE e.released_at IS NOT NULL
                       AND (e.next_attempt_at IS NULL OR e.next_attempt_at <= msgx_now())
                       AND NOT EXISTS (
                           SELECT FROM msg_event b
                            WHERE b.target = e.target AND b.partition_key = e.partition_key
                              AND b.event_id < e.event_id AND b.state = 'PENDING'
                              AND (b.released_at IS NULL OR b.next_attempt_at IS NOT NULL)
                              AND (b.released_at IS NULL OR b.next_attempt_at > msgx_now())
                           OFFSET 0)
                       AND NOT (%(hold)s AND EXISTS (
                           SELECT FROM msg_event b
                            WHERE b.target = e.target AND b.partition_key = e.partition_key
                              AND b.event_id < e.event_id AND b.state = 'DEAD'
                           OFFSET 0))
                       AND NOT (%(after)s > 0 AND EXISTS (
                           SELECT FROM msg_event b
                            WHERE b.target = e.target AND b.partition_key = e.partition_key
                              AND b.event_id <= %(after)s AND b.state = 'PENDING'
                           OFFSET 0))
                     ORDER BY e.target, e.event_id
                     LIMIT %(limit)s) page) wave
     WHERE before < %(wave_bytes)s
     ORDER BY target, event_id
"""

# Where a part that begins behind `after` ends, and how many are in it.
_PART: Final = """
    SELECT max(event_id), count(*)
      FROM (SELECT event_id FROM msg_event
             WHERE (target, event_id) > (%(target)s, %(after)s)
               AND target <= %(target)s AND state = 'PENDING'
             ORDER BY target, event_id
             LIMIT %(part)s) part
"""

# A row that somebody holds is left out: it is sent again, under the same ce_id. A `schd` row
# that was replaced meanwhile has another event_id and so does not match (B11).
_SENT: Final = """
    WITH acknowledged AS (
        SELECT m.event_id
          FROM msg_event m
          JOIN unnest(%(ids)s::bigint[], %(versions)s::bigint[])
               AS read (event_id, state_version)
            ON m.event_id = read.event_id AND m.state_version = read.state_version
         WHERE m.target = %(target)s AND m.state = ANY(%(sources)s)
         ORDER BY m.event_id
           FOR UPDATE OF m SKIP LOCKED
    )
    UPDATE msg_event m
       SET state = %(to)s, sent_at = msgx_now(), next_attempt_at = NULL
      FROM acknowledged
     WHERE m.event_id = acknowledged.event_id
"""

_FAILED: Final = """
    UPDATE msg_event
       SET state = %(to)s, attempts = %(attempts)s,
           next_attempt_at = msgx_now() + %(wait)s::interval,
           failed_at = coalesce(failed_at, msgx_now()),
           error_class = %(error_class)s, last_error = %(text)s
     WHERE target = %(target)s AND event_id = %(event_id)s
       AND state_version = %(state_version)s AND state = ANY(%(sources)s)
"""


def claim(
    conn: Connection,
    topic: Target,
    *,
    limit: int,
    max_bytes: int,
    wave_bytes: int,
    hold: bool,
    after: int = 0,
    part: int,
) -> list[Event]:
    """Return the events that may leave now, in order: at most `limit`, and none further once
    their payloads reach `wave_bytes`. Of those pending, the first `part` behind event `after`
    are looked at.

    A unit gives its consecutive eligible events. One that is unreleased, waiting or (`hold`)
    dead holds what is behind it on its unit only (R06, R29). Payloads over `max_bytes` are not
    read.
    """
    given = {
        "target": topic,
        "limit": limit,
        "max_bytes": max_bytes,
        "wave_bytes": wave_bytes,
        "hold": hold,
        "after": after,
        "part": part,
    }
    return [_event(*row) for row in conn.execute(_CLAIM, given).fetchall()]


def last_of_part(conn: Connection, topic: Target, *, after: int, part: int) -> int | None:
    """Return the last event of the part behind `after` if there may be more behind it, else
    None."""
    row = conn.execute(_PART, {"target": topic, "after": after, "part": part}).fetchone()
    assert row is not None  # noqa: S101
    last, count = row
    return int(last) if count == part else None


def mark_sent(conn: Connection, topic: Target, events: Sequence[Event]) -> int:
    """Mark acknowledged events as sent, in one statement, and return how many were.

    The others were replaced, moved or locked meanwhile; what is still pending goes again.
    """
    given = {
        "target": topic,
        "ids": _array(event.event_id for event in events),
        "versions": _array(event.state_version for event in events),
        "sources": DELIVERY.sources(DeliveryTrigger.DELIVER),
        "to": DELIVERY.target(DeliveryTrigger.DELIVER),
    }
    return conn.execute(_SENT, given).rowcount


def postpone(
    conn: Connection,
    topic: Target,
    event: Event,
    *,
    attempts: int,
    wait: timedelta,
    error_class: ErrorClass,
    text: str,
) -> bool:
    """Let the event wait for its next try; return whether it was still the one that was
    read."""
    return _fail(conn, topic, event, DeliveryTrigger.FAIL, attempts, wait, error_class, text)


def bury(
    conn: Connection,
    topic: Target,
    event: Event,
    *,
    attempts: int,
    error_class: ErrorClass,
    text: str,
) -> bool:
    """Make the event DEAD; return whether it was still the one that was read."""
    return _fail(conn, topic, event, DeliveryTrigger.BURY, attempts, None, error_class, text)


def _fail(
    conn: Connection,
    topic: Target,
    event: Event,
    trigger: DeliveryTrigger,
    attempts: int,
    wait: timedelta | None,
    error_class: ErrorClass,
    text: str,
) -> bool:
    given = {
        "target": topic,
        "event_id": event.event_id,
        "state_version": event.state_version,
        "attempts": attempts,
        "wait": wait,
        "error_class": error_class,
        "text": clean(text),
        "sources": DELIVERY.sources(trigger),
        "to": DELIVERY.target(trigger),
    }
    return conn.execute(_FAILED, given).rowcount == 1


def _array(numbers: Iterable[int]) -> str:
    """Return the text of an array of numbers: a list would be looked at one by one."""
    return f"{{{','.join(map(str, numbers))}}}"


def _event(
    event_id: int,
    partition_key: str,
    event_type: str,
    payload_version: int,
    size: int,
    payload: str | None,
    state_version: int,
    msg_id: int | None,
    created_at: datetime,
    attempts: int,
    traceparent: str | None,
) -> Event:
    """Return a row of the claim as an event; by place, since it is done for every event."""
    return Event(
        event_id=event_id,
        partition_key=partition_key,
        event_type=_TYPES[event_type],
        payload_version=payload_version,
        payload=payload,
        size=size,
        state_version=state_version,
        msg_id=msg_id,
        created_at=created_at,
        attempts=attempts,
        traceparent=traceparent,
    )
