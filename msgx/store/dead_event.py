"""MSG_EVENT, for operators: events that are dead, flights that are held, and what is decided
about them. Owner: dispatcher.

Every function runs on the caller's connection and never commits. Payloads are never read.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from psycopg.rows import kwargs_row

from msgx.domain.delivery import DELIVERY, DeliveryTrigger, Target
from msgx.store.connect import Connection

# DEAD is the predicate of index msg_event_dead, and the one state that REVIVE and DISCARD
# leave. A generation of `schd` that was replaced has another event_id, so it is not found.
_CHOSEN: Final = """
      FROM msg_event
     WHERE state = 'DEAD'
       AND (%(topic)s::text IS NULL OR target = %(topic)s)
       AND (%(flid)s::text IS NULL OR partition_key = %(flid)s)
       AND (%(error_class)s::text IS NULL OR error_class = %(error_class)s)
       AND (%(event_id)s::bigint IS NULL OR event_id = %(event_id)s)
"""
_LIST: Final = f"""
    SELECT target, partition_key AS flid, event_id, state_version, msg_id, error_class,
           last_error, attempts, coalesce(failed_at, created_at) AS since,
           coalesce(octet_length(payload), 0) AS size, payload IS NULL AS tombstone
    {_CHOSEN}
       AND event_id > %(after)s
     ORDER BY event_id
     LIMIT %(limit)s
"""
_HELD: Final = """
    SELECT target, flid, event_id, state_version, cause, since, attempts, next_attempt_at,
           error_class, last_error, behind, count(*) OVER () AS total
      FROM held_unit
     WHERE (%(topic)s::text IS NULL OR target = %(topic)s)
       AND (%(flid)s::text IS NULL OR flid = %(flid)s)
     ORDER BY since, event_id
     LIMIT %(limit)s
"""
_LOCKED: Final = f"""
    WITH chosen AS (SELECT event_id {_CHOSEN} ORDER BY event_id LIMIT %(limit)s FOR UPDATE)
"""
_REQUEUE: Final = f"""
    {_LOCKED}
    UPDATE msg_event m
       SET state = %(to)s, attempts = 0, next_attempt_at = NULL, failed_at = NULL
      FROM chosen WHERE m.event_id = chosen.event_id
"""
_DISCARD: Final = f"""
    {_LOCKED}
    UPDATE msg_event m SET state = %(to)s, discarded_at = msgx_now()
      FROM chosen WHERE m.event_id = chosen.event_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which dead events; a None does not restrict."""

    topic: Target | None = None
    flid: str | None = None
    error_class: str | None = None
    event_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dead:
    """An event that will not be tried again by itself."""

    target: Target
    flid: str
    event_id: int
    state_version: int
    msg_id: int | None
    error_class: str | None
    last_error: str | None
    attempts: int
    since: datetime
    size: int
    tombstone: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A unit of which nothing leaves, and the event that stands in front."""

    target: Target
    flid: str
    event_id: int
    state_version: int
    cause: str  # DEAD, WAITING, UNRELEASED
    since: datetime
    attempts: int
    next_attempt_at: datetime | None
    error_class: str | None
    last_error: str | None
    behind: int
    total: int  # of all that are held


def dead(conn: Connection, choice: Choice, *, after: int, limit: int) -> list[Dead]:
    """Return dead events behind id `after`, oldest first."""
    with conn.cursor(row_factory=kwargs_row(_dead)) as cur:
        return cur.execute(_LIST, _given(choice, limit) | {"after": after}).fetchall()


def held(conn: Connection, *, topic: Target | None, flid: str | None, limit: int) -> list[Held]:
    """Return held units, the longest held first."""
    given = {"topic": topic, "flid": flid, "limit": limit}
    with conn.cursor(row_factory=kwargs_row(_held)) as cur:
        return cur.execute(_HELD, given).fetchall()


def requeue(conn: Connection, choice: Choice, *, limit: int) -> int:
    """Let dead events be tried again from their first attempt; return how many."""
    given = _given(choice, limit) | {"to": DELIVERY.target(DeliveryTrigger.REVIVE)}
    return conn.execute(_REQUEUE, given).rowcount


def discard(conn: Connection, choice: Choice, *, limit: int) -> int:
    """Give dead events up for good; return how many."""
    given = _given(choice, limit) | {"to": DELIVERY.target(DeliveryTrigger.DISCARD)}
    return conn.execute(_DISCARD, given).rowcount


def _given(choice: Choice, limit: int) -> dict[str, object]:
    return {
        "topic": choice.topic,
        "flid": choice.flid,
        "error_class": choice.error_class,
        "event_id": choice.event_id,
        "limit": limit,
    }


def _dead(*, target: str, **columns: Any) -> Dead:
    return Dead(target=Target(target), **columns)


def _held(*, target: str, **columns: Any) -> Held:
    return Held(target=Target(target), **columns)
