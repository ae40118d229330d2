"""PROC_STATE, the owed mark in numbers, for the metrics. Owner: intake.

The predicates are those of the indexes proc_state_owed and proc_state_abandoned; a bounded
number of rows is looked at.
"""

from dataclasses import dataclass
from typing import Final

from msgx.store.connect import Connection

_MOST_OWED: Final = 100_000
_MOST_ABANDONED: Final = 10_000

_OWED: Final = f"""
    SELECT count(*), count(*) FILTER (WHERE backfill_attempts >= %(stubborn)s),
           coalesce(extract(epoch FROM msgx_now()
                    - min(greatest(enqueued_at, finished_at, reopened_at))), 0)::float8
      FROM (SELECT backfill_attempts, enqueued_at, finished_at, reopened_at FROM proc_state
             WHERE backfill_at IS NULL AND backfill_abandoned_at IS NULL
               AND state IN ('SUCCEEDED', 'SKIPPED', 'DEAD')
             ORDER BY backfill_attempts DESC, msg_id DESC
             LIMIT {_MOST_OWED}) owed
"""
_ABANDONED: Final = f"""
    SELECT backfill_abandoned_reason, count(*)
      FROM (SELECT backfill_abandoned_reason FROM proc_state
             WHERE backfill_abandoned_at IS NOT NULL LIMIT {_MOST_ABANDONED}) abandoned
     GROUP BY backfill_abandoned_reason
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The marks now."""

    owed: int
    failing: int
    oldest_seconds: float
    abandoned: dict[str, int]  # by reason


def read(conn: Connection, *, stubborn: int) -> Figures:
    """Return the figures; a mark is failing from the `stubborn`-th failure on."""
    row = conn.execute(_OWED, {"stubborn": stubborn}).fetchone()
    assert row is not None  # noqa: S101
    owed, failing, oldest = row
    abandoned = conn.execute(_ABANDONED).fetchall()
    return Figures(
        owed=owed,
        failing=failing,
        oldest_seconds=oldest,
        abandoned={reason or "": count for reason, count in abandoned},
    )
