"""PROC_STATE for operators: find messages, count failures, put dead ones back (R35, R43, R44).
Owner: processor.

Every function runs on the caller's connection and never commits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from psycopg.rows import kwargs_row

from msgx.domain.failure import ErrorClass
from msgx.domain.processing import PROCESSING, ProcState, Trigger
from msgx.store import listen
from msgx.store.connect import Connection

_CHOSEN: Final = """
      FROM proc_state p
     WHERE (%(state)s::text IS NULL OR p.state = %(state)s)
       AND (%(error_class)s::text IS NULL OR p.error_class = %(error_class)s)
       AND (%(fingerprint)s::text IS NULL OR p.error_fingerprint = %(fingerprint)s)
       AND (%(type)s::text IS NULL OR p.type = %(type)s)
       AND (%(styp)s::text IS NULL OR p.styp = %(styp)s)
       AND (%(flid)s::text IS NULL OR p.flid = %(flid)s)
       AND COALESCE(p.finished_at, p.updated_at)
           >= COALESCE(%(since)s::timestamptz, '-infinity')
       AND COALESCE(p.finished_at, p.updated_at)
           < COALESCE(%(until)s::timestamptz, 'infinity')
       AND (%(first)s::bigint IS NULL OR p.msg_id >= %(first)s)
       AND (%(last)s::bigint IS NULL OR p.msg_id <= %(last)s)
"""
_COLUMNS: Final = """
    p.msg_id, p.state, p.sndr, p.type, p.styp, p.seqn, p.flid, p.error_class,
    p.first_error_class, p.error_fingerprint AS fingerprint, p.last_error AS text, p.attempts,
    p.infra_attempts, p.enqueued_at AS registered_at, p.finished_at, p.next_attempt_at, p.route,
    p.identity_key, (SELECT corrected IS NOT NULL FROM dead_letter d WHERE d.msg_id = p.msg_id)
        AS corrected,
    (SELECT replays FROM dead_letter d WHERE d.msg_id = p.msg_id) AS replays
"""
_LIST: Final = f"""
    SELECT {_COLUMNS} {_CHOSEN} AND p.msg_id > %(after)s ORDER BY p.msg_id LIMIT %(limit)s
"""
_TOTAL: Final = f"SELECT count(*) {_CHOSEN}"
_SOME: Final = f"SELECT {_COLUMNS} FROM proc_state p WHERE p.msg_id = ANY(%s) ORDER BY p.msg_id"
_GROUPS: Final = f"""
    SELECT p.error_class, p.error_fingerprint AS fingerprint, count(*) AS count,
           min(p.msg_id) AS lowest, max(p.msg_id) AS highest,
           min(COALESCE(p.finished_at, p.updated_at)) AS first_at,
           max(COALESCE(p.finished_at, p.updated_at)) AS last_at, min(p.last_error) AS example,
           count(*) OVER () AS total_groups, sum(count(*)) OVER () AS total_messages
    {_CHOSEN} AND p.error_class IS NOT NULL
     GROUP BY p.error_class, p.error_fingerprint
     ORDER BY count(*) DESC, min(p.msg_id)
     LIMIT %(limit)s
"""
# Made under PIPELINE_LOCK: whoever ended a message at or before this transaction's `now` has
# committed, so that the same predicate finds the same rows later.
_FREEZE: Final = f"""
    SELECT count(*) FILTER (WHERE p.error_class = ANY(%(classes)s)),
           count(*) FILTER (WHERE p.error_class <> ALL(%(classes)s)),
           max(p.msg_id), msgx_now()
    {_CHOSEN} AND p.state = 'DEAD' AND p.finished_at <= msgx_now()
"""
_FROZEN: Final = """
       AND p.state = 'DEAD' AND p.error_class = ANY(%(classes)s)
       AND p.finished_at <= %(frozen_at)s AND p.msg_id <= %(up_to)s
"""
_PAGE: Final = f"""
    SELECT p.msg_id {_CHOSEN} {_FROZEN} AND p.msg_id > %(after)s
     ORDER BY p.msg_id LIMIT %(limit)s
"""
# A row that backfill holds is skipped: its mark is on its way (R43). Its own mark stays, the
# debt goes (R44). Identity and first class stay, and every try in PROC_ATTEMPT; the rest of
# the failure begins anew.
_PUT_BACK: Final = """
    WITH chosen AS (
        SELECT msg_id FROM proc_state
         WHERE msg_id = ANY(%(ids)s) AND state = 'DEAD'
           AND (%(frozen_at)s::timestamptz IS NULL OR finished_at <= %(frozen_at)s)
         ORDER BY msg_id
           FOR UPDATE SKIP LOCKED)
    UPDATE proc_state p
       SET state = %(to)s, route = NULL, attempts = 0, infra_attempts = 0,
           next_attempt_at = NULL, error_class = NULL, error_fingerprint = NULL,
           last_error = NULL, finished_at = NULL, backfill_next_at = NULL,
           backfill_abandoned_at = NULL, backfill_abandoned_reason = NULL,
           updated_at = msgx_now()
      FROM chosen WHERE p.msg_id = chosen.msg_id
 RETURNING p.msg_id
"""
_STATES: Final = "SELECT msg_id, state FROM proc_state WHERE msg_id = ANY(%s)"
_NOTIFY: Final = f"NOTIFY {listen.REGISTERED}"
_LOCK: Final = f"SELECT {_COLUMNS} FROM proc_state p WHERE p.msg_id = %s FOR UPDATE OF p"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which messages; a None does not restrict."""

    state: ProcState | None = None
    error_class: str | None = None
    fingerprint: str | None = None
    type: str | None = None
    styp: str | None = None
    flid: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    first: int | None = None
    last: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The record of a message, without its text."""

    msg_id: int
    state: ProcState
    sndr: str | None
    type: str | None
    styp: str | None
    seqn: str | None
    flid: str | None
    error_class: ErrorClass | None
    first_error_class: str | None
    fingerprint: str | None
    text: str | None
    attempts: int
    infra_attempts: int
    registered_at: datetime
    finished_at: datetime | None
    next_attempt_at: datetime | None
    route: str | None
    identity_key: str | None
    corrected: bool
    replays: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Failures of one cause."""

    error_class: str
    fingerprint: str | None
    count: int
    lowest: int
    highest: int
    first_at: datetime
    last_at: datetime
    example: str | None
    total_groups: int
    total_messages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Dead messages as a preview found them: what dies later, or again, is not in it."""

    choice: Choice
    classes: Sequence[ErrorClass]
    up_to: int
    frozen_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """What a preview found."""

    count: int
    left: int  # of other classes
    up_to: int
    frozen_at: datetime


def page(conn: Connection, choice: Choice, *, after: int, limit: int) -> list[Found]:
    """Return messages above id `after`, lowest first."""
    with conn.cursor(row_factory=kwargs_row(_found)) as cur:
        return cur.execute(_LIST, _given(choice) | {"after": after, "limit": limit}).fetchall()


def total(conn: Connection, choice: Choice) -> int:
    """Return how many messages there are."""
    row: Any = conn.execute(_TOTAL, _given(choice)).fetchone()
    return int(row[0])


def some(conn: Connection, ids: Sequence[int]) -> list[Found]:
    """Return those of `ids` that there are, lowest first."""
    with conn.cursor(row_factory=kwargs_row(_found)) as cur:
        return cur.execute(_SOME, (list(ids),)).fetchall()


def groups(conn: Connection, choice: Choice, *, limit: int) -> list[Group]:
    """Return failures by class and fingerprint, the largest group first."""
    with conn.cursor(row_factory=kwargs_row(_group)) as cur:
        return cur.execute(_GROUPS, _given(choice) | {"limit": limit}).fetchall()


def freeze(conn: Connection, choice: Choice, classes: Sequence[ErrorClass]) -> Frozen:
    """Return what a replay by filter would put back; the caller holds PIPELINE_LOCK."""
    row: Any = conn.execute(_FREEZE, _given(choice) | {"classes": list(classes)}).fetchone()
    count, left, highest, now = row
    return Frozen(count=count, left=left, up_to=highest or 0, frozen_at=now)


def within(conn: Connection, frozen: Range, *, after: int, limit: int) -> list[int]:
    """Return the ids of a range above `after` that are still as they were found."""
    given = {
        **_given(frozen.choice),
        "classes": list(frozen.classes),
        "up_to": frozen.up_to,
        "frozen_at": frozen.frozen_at,
        "after": after,
        "limit": limit,
    }
    rows: list[Any] = conn.execute(_PAGE, given).fetchall()
    return [msg_id for (msg_id,) in rows]


def put_back(conn: Connection, ids: Sequence[int], *, died_by: datetime | None) -> list[int]:
    """Put dead messages back to PENDING, and return which; what is locked, or not dead (of that
    death) any more, is left alone. The processor wakes at COMMIT."""
    given = {"ids": list(ids), "frozen_at": died_by, "to": PROCESSING.target(Trigger.REPLAY)}
    rows: list[Any] = conn.execute(_PUT_BACK, given).fetchall()
    if rows:
        conn.execute(_NOTIFY)
    return sorted(msg_id for (msg_id,) in rows)


def states(conn: Connection, ids: Sequence[int]) -> dict[int, ProcState]:
    """Return the state of each of `ids` that there is."""
    rows: list[Any] = conn.execute(_STATES, (list(ids),)).fetchall()
    return {msg_id: ProcState(state) for msg_id, state in rows}


def lock(conn: Connection, msg_id: int) -> Found | None:
    """Lock and return a message."""
    with conn.cursor(row_factory=kwargs_row(_found)) as cur:
        return cur.execute(_LOCK, (msg_id,)).fetchone()


def _given(choice: Choice) -> dict[str, object]:
    return {
        "state": choice.state,
        "error_class": choice.error_class,
        "fingerprint": choice.fingerprint,
        "type": choice.type,
        "styp": choice.styp,
        "flid": choice.flid,
        "since": choice.since,
        "until": choice.until,
        "first": choice.first,
        "last": choice.last,
    }


def _found(
    *,
    state: str,
    error_class: str | None,
    corrected: bool | None,
    replays: int | None,
    **columns: Any,
) -> Found:
    return Found(
        state=ProcState(state),
        error_class=None if error_class is None else ErrorClass(error_class),
        corrected=bool(corrected),
        replays=replays or 0,
        **columns,
    )


def _group(*, total_messages: Any, **columns: Any) -> Group:
    return Group(total_messages=int(total_messages), **columns)
