"""PROC_STATE and UNMAPPED_FIELD in numbers, for the metrics of processing. Owner: processor.

The predicates are those of the indexes proc_state_head and proc_state_dead; a bounded number of
rows is looked at.
"""

from dataclasses import dataclass
from typing import Final

from msgx.store.connect import Connection

_MOST_OPEN: Final = 100_000
_MOST_KEPT: Final = 10_000

# Since when the head is the head: since the message before it ended, since it came, or since it
# was handed over or put back, which leaves it PENDING.
_HEAD: Final = f"""
    SELECT (SELECT count(*) FROM (SELECT FROM proc_state WHERE state IN ('PENDING', 'FAILED')
                                   LIMIT {_MOST_OPEN}) open),
           extract(epoch FROM msgx_now() - head.enqueued_at)::float8,
           extract(epoch FROM msgx_now() - greatest(head.enqueued_at, before.finished_at,
                   CASE WHEN head.state = 'PENDING' THEN head.updated_at END))::float8,
           head.route, head.attempts, head.infra_attempts
      FROM (SELECT) one
      LEFT JOIN (SELECT * FROM proc_state WHERE state IN ('PENDING', 'FAILED')
                  ORDER BY msg_id LIMIT 1) head ON true
      LEFT JOIN LATERAL (SELECT finished_at FROM proc_state WHERE msg_id < head.msg_id
                          ORDER BY msg_id DESC LIMIT 1) before ON true
"""
_DEAD: Final = f"""
    SELECT error_class, count(*)
      FROM (SELECT error_class FROM proc_state WHERE state = 'DEAD' LIMIT {_MOST_KEPT}) dead
     GROUP BY error_class
"""
_UNMAPPED: Final = f"""
    SELECT count(*) FROM (SELECT FROM unmapped_field LIMIT {_MOST_KEPT}) known
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """The head of the queue."""

    oldest_seconds: float  # since it was registered
    wait_seconds: float  # since it is the head, or was handed over
    route: str
    attempts: int
    infra_attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The queue now."""

    backlog: int
    head: Waiting | None
    dead: dict[str, int]  # by error class
    unmapped: int


def read(conn: Connection) -> Figures:
    """Return the figures."""
    row = conn.execute(_HEAD).fetchone()
    known = conn.execute(_UNMAPPED).fetchone()
    assert row is not None  # noqa: S101
    assert known is not None  # noqa: S101
    backlog, oldest, waits, route, attempts, infra_attempts = row
    head = None
    if oldest is not None:
        head = Waiting(
            oldest_seconds=oldest,
            wait_seconds=waits,
            route=route or "",
            attempts=attempts,
            infra_attempts=infra_attempts,
        )
    dead = conn.execute(_DEAD).fetchall()
    return Figures(
        backlog=backlog,
        head=head,
        dead={error_class or "": count for error_class, count in dead},
        unmapped=known[0],
    )
