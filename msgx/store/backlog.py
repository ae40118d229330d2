"""What waits in the tables, counted for `Status`: a bounded look at an index each, whatever the
tables hold."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from psycopg.rows import kwargs_row

from msgx.domain.delivery import Target
from msgx.store.connect import Connection

MOST: Final = 100_000
"""Counting ends here."""

# The predicates are those of the indexes proc_state_owed and proc_state_abandoned.
_INTAKE: Final = f"""
    SELECT 'owed_marks' AS name, count(*) AS count,
           min(greatest(enqueued_at, finished_at, reopened_at)) AS oldest
      FROM (SELECT enqueued_at, finished_at, reopened_at FROM proc_state
             WHERE backfill_at IS NULL AND backfill_abandoned_at IS NULL
               AND state IN ('SUCCEEDED', 'SKIPPED', 'DEAD')
             LIMIT {MOST}) owed
     UNION ALL
    SELECT 'abandoned_marks', count(*), min(backfill_abandoned_at)
      FROM (SELECT backfill_abandoned_at FROM proc_state
             WHERE backfill_abandoned_at IS NOT NULL
             LIMIT {MOST}) abandoned
"""
# The oldest open message is the head: nobody passes it (INV-3).
_PROCESSOR: Final = f"""
    SELECT 'open_messages' AS name, count(*) AS count,
           (SELECT enqueued_at FROM proc_state WHERE state IN ('PENDING', 'FAILED')
             ORDER BY msg_id LIMIT 1) AS oldest
      FROM (SELECT FROM proc_state WHERE state IN ('PENDING', 'FAILED') LIMIT {MOST}) open
"""
_REFDATA: Final = """
    SELECT 'handed_over' AS name, count(*) AS count, min(enqueued_at) AS oldest
      FROM (SELECT route, enqueued_at FROM proc_state WHERE state IN ('PENDING', 'FAILED')
             ORDER BY msg_id LIMIT 1) head
     WHERE route = 'REFDATA'
"""
_DISPATCHER: Final = f"""
    SELECT topic.part || '_pending' AS name,
           (SELECT count(*) FROM (SELECT FROM msg_event
                                   WHERE target = topic.target AND state = 'PENDING'
                                   LIMIT {MOST}) pending) AS count,
           (SELECT created_at FROM msg_event
             WHERE target = topic.target AND state = 'PENDING'
             ORDER BY event_id LIMIT 1) AS oldest
      FROM unnest(%(targets)s::text[], %(parts)s::text[]) topic (target, part)
     UNION ALL
    SELECT topic.part || '_dead', count(dead.target), min(dead.since)
      FROM unnest(%(targets)s::text[], %(parts)s::text[]) topic (target, part)
      LEFT JOIN (SELECT target, coalesce(failed_at, created_at) AS since FROM msg_event
                  WHERE state = 'DEAD' LIMIT {MOST}) dead USING (target)
     GROUP BY topic.part
     UNION ALL
    SELECT topic.part || '_held', count(held.target), min(held.since)
      FROM unnest(%(targets)s::text[], %(parts)s::text[]) topic (target, part)
      LEFT JOIN (SELECT target, since FROM held_unit LIMIT {MOST}) held USING (target)
     GROUP BY topic.part
     ORDER BY 1
"""


@dataclass(frozen=True, slots=True)
class Item:
    """How many wait, and since when the oldest one does."""

    name: str
    count: int
    oldest: datetime | None


def of_intake(conn: Connection) -> list[Item]:
    """Return the marks that are owed, and those given up. What is not registered yet is
    nobody's to count."""
    return conn.cursor(row_factory=kwargs_row(Item)).execute(_INTAKE).fetchall()


def of_processor(conn: Connection) -> list[Item]:
    """Return the open messages; the oldest one is the head."""
    return conn.cursor(row_factory=kwargs_row(Item)).execute(_PROCESSOR).fetchall()


def of_refdata(conn: Connection) -> list[Item]:
    """Return the head, if it was handed over."""
    return conn.cursor(row_factory=kwargs_row(Item)).execute(_REFDATA).fetchall()


def of_dispatcher(conn: Connection) -> list[Item]:
    """Return what each topic has: pending events, dead ones, and flights that are held."""
    topics = {"targets": list(map(str, Target)), "parts": [target.part for target in Target]}
    return conn.cursor(row_factory=kwargs_row(Item)).execute(_DISPATCHER, topics).fetchall()


def of_nothing(_: Connection) -> list[Item]:
    """Return nothing: of a service that owns no table."""
    return []
