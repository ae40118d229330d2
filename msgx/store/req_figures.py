"""REQ_TRACK in numbers, for the metrics of requests. Owner: dispatcher.

By the indexes req_track_open and req_track_pending: closed requests are not looked at.
"""

from typing import Final

from msgx.store.connect import Connection

_MOST: Final = 10_000

_OPEN: Final = f"""
    SELECT state, count(*), max(extract(epoch FROM msgx_now() - state_since))::float8
      FROM ((SELECT state, state_since FROM req_track
              WHERE state IN ('SENDING', 'SENT', 'UNKNOWN'))
             UNION ALL
            (SELECT state, state_since FROM req_track WHERE state = 'PENDING'
              ORDER BY req_id LIMIT {_MOST})) open
     GROUP BY state
"""


def read(conn: Connection) -> dict[str, tuple[int, float]]:
    """Return how many requests are open, by state, and for how long the longest has been in
    it."""
    return {state: (count, age) for state, count, age in conn.execute(_OPEN).fetchall()}
