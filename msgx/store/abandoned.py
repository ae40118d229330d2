"""PROC_STATE, the marks that operators look after: given up, to be reopened (R44, R55), or
confirmed and gone (R52). Owner: intake.

Every function runs on the caller's connection and never commits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from psycopg.rows import class_row, kwargs_row

from msgx.domain.marking import Abandonment, MarkState
from msgx.store.connect import Connection

# The predicate of index proc_state_abandoned, with what CHECK constraints say already: only a
# finished message gives its mark up (R44), and a confirmed one is never owed again (INV-7).
_CHOSEN: Final = """
      FROM proc_state
     WHERE backfill_abandoned_at IS NOT NULL
       AND backfill_at IS NULL
       AND state IN ('SUCCEEDED', 'SKIPPED', 'DEAD')
       AND (%(reason)s::text IS NULL OR backfill_abandoned_reason = %(reason)s)
       AND (%(first)s::bigint IS NULL OR msg_id >= %(first)s)
       AND (%(last)s::bigint IS NULL OR msg_id <= %(last)s)
       AND (%(ids)s::bigint[] IS NULL OR msg_id = ANY(%(ids)s))
"""
_LIST: Final = f"""
    SELECT msg_id, backfill_abandoned_reason AS reason, state, type, styp,
           backfill_attempts AS attempts, finished_at, backfill_abandoned_at AS abandoned_at,
           reopened_at
    {_CHOSEN}
       AND msg_id > %(after)s
     ORDER BY msg_id
     LIMIT %(limit)s
"""
_COUNT: Final = f"""
    SELECT backfill_abandoned_reason AS reason, count(*) AS count,
           min(backfill_abandoned_at) AS oldest_at, max(backfill_abandoned_at) AS latest_at
    {_CHOSEN}
     GROUP BY backfill_abandoned_reason
     ORDER BY 2 DESC, 1
"""
_TOTAL: Final = f"SELECT count(*) {_CHOSEN}"
# A row that a replay holds is left to it: afterwards it owes no mark (R43).
_REOPEN: Final = f"""
    WITH chosen AS (
        SELECT msg_id {_CHOSEN} ORDER BY msg_id LIMIT %(limit)s FOR UPDATE SKIP LOCKED
    )
    UPDATE proc_state p
       SET backfill_abandoned_at = NULL, backfill_abandoned_reason = NULL,
           backfill_attempts = 0, backfill_next_at = msgx_now(), reopened_at = msgx_now(),
           updated_at = msgx_now()
      FROM chosen WHERE p.msg_id = chosen.msg_id
 RETURNING p.msg_id
"""
_STANDINGS: Final = """
    SELECT msg_id,
           CASE WHEN backfill_at IS NOT NULL THEN 'CONFIRMED'
                WHEN backfill_abandoned_at IS NOT NULL THEN 'ABANDONED'
                WHEN finished_at IS NULL THEN 'OPEN'
                ELSE 'OWED' END
      FROM proc_state
     WHERE msg_id = ANY(%s)
"""
_CONFIRMED: Final = """
    SELECT msg_id, state, type, styp, finished_at, backfill_at AS confirmed_at
      FROM proc_state
     WHERE msg_id = ANY(%s) AND backfill_at IS NOT NULL
     ORDER BY msg_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which marks that were given up; a None does not restrict."""

    reason: Abandonment | None = None
    first: int | None = None
    last: int | None = None
    ids: Sequence[int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Abandoned:
    """A mark that is not tried by itself any more."""

    msg_id: int
    reason: Abandonment | None  # None: put there by hand, without one
    state: str
    type: str | None
    styp: str | None
    attempts: int
    finished_at: datetime
    abandoned_at: datetime
    reopened_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """A mark that we saw in the mailbox."""

    msg_id: int
    state: str
    type: str | None
    styp: str | None
    finished_at: datetime | None
    confirmed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How many marks were given up for one reason, and when."""

    reason: Abandonment | None
    count: int
    oldest_at: datetime
    latest_at: datetime


def page(conn: Connection, choice: Choice, *, after: int, limit: int) -> list[Abandoned]:
    """Return marks that were given up, of ids above `after`, in order."""
    with conn.cursor(row_factory=kwargs_row(_abandoned)) as cur:
        return cur.execute(_LIST, _given(choice) | {"after": after, "limit": limit}).fetchall()


def counts(conn: Connection, choice: Choice) -> list[Count]:
    """Return how many were given up for each reason, the most frequent first."""
    with conn.cursor(row_factory=kwargs_row(_count)) as cur:
        return cur.execute(_COUNT, _given(choice)).fetchall()


def total(conn: Connection, choice: Choice) -> int:
    """Return how many were given up."""
    row = conn.execute(_TOTAL, _given(choice)).fetchone()
    return 0 if row is None else int(row[0])


def reopen(conn: Connection, choice: Choice, *, limit: int) -> list[int]:
    """Owe marks again, those of the lowest ids first; return the ids."""
    rows = conn.execute(_REOPEN, _given(choice) | {"limit": limit}).fetchall()
    return sorted(int(msg_id) for (msg_id,) in rows)


def standings(conn: Connection, ids: Sequence[int]) -> dict[int, MarkState]:
    """Return how things stand with the mark of each id; one without a record is absent."""
    rows = conn.execute(_STANDINGS, (list(ids),)).fetchall()
    return {int(msg_id): MarkState(state) for msg_id, state in rows}


def confirmed(conn: Connection, ids: Sequence[int]) -> list[Confirmed]:
    """Return those of `ids` whose mark was confirmed, in order."""
    with conn.cursor(row_factory=class_row(Confirmed)) as cur:
        return cur.execute(_CONFIRMED, (list(ids),)).fetchall()


def _given(choice: Choice) -> dict[str, object]:
    return {
        "reason": choice.reason,
        "first": choice.first,
        "last": choice.last,
        "ids": None if choice.ids is None else list(choice.ids),
    }


def _abandoned(*, reason: str | None, **columns: Any) -> Abandoned:
    return Abandoned(reason=_reason(reason), **columns)


def _count(*, reason: str | None, **columns: Any) -> Count:
    return Count(reason=_reason(reason), **columns)


def _reason(stored: str | None) -> Abandonment | None:
    return None if stored is None else Abandonment(stored)
