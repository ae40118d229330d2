"""MSG_EVENT, the side that adds: only the processor, under PIPELINE_LOCK, so EVENT_ID order is
commit order (B04)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from msgx.domain.delivery import EventType, Target
from msgx.store.connect import Connection

# A change is a new row. The latest state is one row a flight: a new generation takes a new
# EVENT_ID, goes only forward, and revives a dead one (R29). Rows come in the order of the
# array, so a flight's EVENT_IDs follow its versions. One JSON parameter costs less than five
# arrays.
ADD: Final = """
    INSERT INTO msg_event AS old (target, partition_key, event_type, payload, state_version,
                                  msg_id, created_at, traceparent)
    SELECT target, partition_key, event_type, payload, state_version, %(msg_id)s,
           %(now)s, %(traceparent)s
      FROM jsonb_to_recordset(%(events)s::jsonb)
           AS new (place integer, target text, partition_key text, event_type text,
                   payload text, state_version bigint)
     ORDER BY place
        ON CONFLICT (partition_key) WHERE target = 'KAFKA:schd' DO UPDATE
       SET event_id = EXCLUDED.event_id, event_type = EXCLUDED.event_type, payload_version = 1,
           payload = EXCLUDED.payload, state_version = EXCLUDED.state_version,
           msg_id = EXCLUDED.msg_id, created_at = EXCLUDED.created_at,
           traceparent = EXCLUDED.traceparent, state = 'PENDING', released_at = NULL,
           attempts = 0, next_attempt_at = NULL, sent_at = NULL, failed_at = NULL,
           discarded_at = NULL, error_class = NULL, last_error = NULL
     WHERE EXCLUDED.state_version >= old.state_version
"""
# In the statement that finishes the message, whose row `done` names (US-03 AC4).
RELEASE: Final = """
    UPDATE msg_event SET released_at = msgx_now()
     WHERE msg_id = (SELECT msg_id FROM done) AND released_at IS NULL
 RETURNING event_id
"""
_OF: Final = """
    SELECT partition_key, target, event_type, state_version,
           CASE target WHEN 'KAFKA:schd' THEN payload END
      FROM msg_event WHERE partition_key = ANY(%s)
     ORDER BY event_id
"""
_STRANDED: Final = """
    SELECT partition_key, state_version FROM msg_event AS event JOIN proc_state USING (msg_id)
     WHERE released_at IS NULL AND proc_state.state NOT IN ('PENDING', 'FAILED')
     ORDER BY event_id
"""
_HORIZON: Final = "SELECT msgx_now() - %s::interval"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What one flight's change sends to both topics; a None is a tombstone (R28, R61)."""

    flid: str
    state_version: int
    change: str | None
    state: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """An event as it is kept, of either topic."""

    target: Target
    type: EventType
    state_version: int
    state: str | None  # the latest state's JSON; not of a change, nor of a tombstone


def as_rows(events: Sequence[Event]) -> str:
    """Return the parameter `events` of `ADD`, which adds them unreleased (R06)."""
    told = (
        *((Target.MSG, event, event.change) for event in events),
        *((Target.SCHD, event, event.state) for event in events),
    )
    added = [
        {
            "place": place,
            "target": target,
            "partition_key": event.flid,
            "event_type": _type(event),
            "payload": payload,
            "state_version": event.state_version,
        }
        for place, (target, event, payload) in enumerate(told)
    ]
    return json.dumps(added, ensure_ascii=False)


def _type(event: Event) -> EventType:
    return EventType.TOMBSTONE if event.state is None else EventType.UPSERT


def kept(conn: Connection, flids: Sequence[str]) -> dict[str, list[Kept]]:
    """Return the events of each of `flids` that has one, in their order."""
    found: dict[str, list[Kept]] = {}
    rows: list[Any] = conn.execute(_OF, (list(flids),)).fetchall()
    for flid, target, event_type, version, state in rows:
        event = Kept(
            target=Target(target),
            type=EventType(event_type),
            state_version=version,
            state=state,
        )
        found.setdefault(flid, []).append(event)
    return found


def horizon(conn: Connection, keep: timedelta) -> datetime:
    """Return since when no event has left the table, if delivered ones are kept for `keep`."""
    row: Any = conn.execute(_HORIZON, (keep,)).fetchone()
    since: datetime = row[0]
    return since


def stranded(conn: Connection) -> list[tuple[str, int]]:
    """Return FLID and version of events that nobody will release: their message is finished."""
    rows: list[Any] = conn.execute(_STRANDED).fetchall()
    return rows
