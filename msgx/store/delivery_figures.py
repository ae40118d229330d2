"""MSG_EVENT in numbers, for the metrics of delivery. Owner: dispatcher.

Each statement reads a bounded number of rows, by the partial indexes; none of what was sent.
"""

from dataclasses import dataclass
from typing import Final

from msgx.domain.delivery import Target
from msgx.store.connect import Connection

_MOST_PENDING: Final = 100_000
_MOST_STOPPING: Final = 10_000
"""Most dead, and most waiting events of a topic that are looked at."""

# The first pending event of a topic that is released has waited longest.
_PENDING: Final = f"""
    SELECT (SELECT count(*) FROM (SELECT FROM msg_event
             WHERE target = %(target)s AND state = 'PENDING' LIMIT {_MOST_PENDING}) few),
           extract(epoch FROM msgx_now() - (SELECT released_at FROM msg_event
             WHERE target = %(target)s AND state = 'PENDING' AND released_at IS NOT NULL
             ORDER BY target, event_id LIMIT 1))::float8
"""
# View held_unit without the length of each queue, and of a bounded number of events: under a
# hold one counts flights, not what waits behind them.
_HELD: Final = f"""
    SELECT cause, count(*),
           coalesce(max(extract(epoch FROM msgx_now() - since)), 0)::float8
      FROM (SELECT DISTINCT ON (partition_key)
                   partition_key, event_id, coalesce(failed_at, created_at) AS since,
                   CASE WHEN state = 'DEAD' THEN 'DEAD'
                        WHEN released_at IS NULL THEN 'UNRELEASED' ELSE 'WAITING' END AS cause
              FROM ((SELECT * FROM msg_event WHERE target = %(target)s AND state = 'DEAD'
                      ORDER BY target, partition_key, event_id LIMIT {_MOST_STOPPING})
                     UNION ALL
                    (SELECT * FROM msg_event WHERE target = %(target)s AND state = 'PENDING'
                        AND (released_at IS NULL OR next_attempt_at IS NOT NULL)
                      ORDER BY target, partition_key, event_id LIMIT {_MOST_STOPPING})) stopping
             ORDER BY partition_key, event_id) first
     WHERE cause <> 'UNRELEASED' OR EXISTS (
           SELECT FROM msg_event b
            WHERE b.target = %(target)s AND b.partition_key = first.partition_key
              AND b.event_id > first.event_id AND b.state = 'PENDING')
     GROUP BY cause
"""
_DEAD: Final = f"""
    SELECT coalesce(error_class, ''), count(*)
      FROM (SELECT error_class FROM msg_event WHERE target = %(target)s AND state = 'DEAD'
             LIMIT {_MOST_STOPPING}) few
     GROUP BY error_class
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """One topic now."""

    pending: int
    oldest_unsent_seconds: float
    held: dict[str, tuple[int, float]]  # by cause: flights, the longest in seconds
    dead: dict[str, int]  # by error class


def read(conn: Connection, topic: Target) -> Figures:
    """Return the figures of one topic."""
    given = {"target": topic}
    row = conn.execute(_PENDING, given).fetchone()
    assert row is not None  # noqa: S101
    pending, oldest = row
    return Figures(
        pending=pending,
        oldest_unsent_seconds=oldest or 0.0,
        held={cause: (count, age) for cause, count, age in conn.execute(_HELD, given)},
        dead=dict(conn.execute(_DEAD, given).fetchall()),
    )
