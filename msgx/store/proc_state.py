"""PROC_STATE as who executes the head moves it: head, finish, fail; and its PROC_ATTEMPT rows.

Every function runs on the caller's connection and never commits. What intake writes stands in
`registration` and `backfill`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from msgx.domain.failure import ErrorClass, clean, fingerprint
from msgx.domain.message import KeptText, Meta
from msgx.domain.processing import PROCESSING, ProcState, Route, Trigger
from msgx.store import listen
from msgx.store.connect import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The unfinished message with the smallest id: the only one that may run (INV-3)."""

    msg_id: int
    state: ProcState
    attempts: int
    infra_attempts: int
    wait: timedelta  # until it is due; zero or less: now
    received_at: datetime | None
    traceparent: str | None
    route: Route | None = None  # who executes it, if not the processor (R16)


class StaleState(RuntimeError):
    """Another writer moved the row first; drop the work and read it again."""


COLUMNS: Final = """
    msg_id, state, attempts, infra_attempts,
    COALESCE(next_attempt_at - msgx_now(), interval '0'), received_at, traceparent,
    route
"""
HEAD: Final = f"""
    SELECT {COLUMNS} FROM proc_state
     WHERE state IN ('PENDING', 'FAILED')   -- the predicate of index proc_state_head
     ORDER BY msg_id
     LIMIT 1
"""
# With the texts that are kept: only a replayed message has one.
_NEXT: Final = """
    WITH coming AS MATERIALIZED (
        SELECT msg_id FROM proc_state
         WHERE state IN ('PENDING', 'FAILED') AND msg_id > %s
         ORDER BY msg_id
         LIMIT %s)
    SELECT msg_id, corrected, raw, raw_altered
      FROM coming LEFT JOIN dead_letter USING (msg_id)
     ORDER BY msg_id
"""
# The terminal state and the owed backfill are one statement (INV-8). A row that has its mark
# from an earlier life owes none (R44). The first error class is kept (R05).
ENDED: Final = """
    state = %(to)s, last_error = %(reason)s, error_class = %(error_class)s,
    first_error_class = COALESCE(first_error_class, %(error_class)s),
    error_fingerprint = %(fingerprint)s, attempts = attempts + %(tried)s,
    next_attempt_at = NULL, finished_at = msgx_now(), updated_at = msgx_now(),
    backfill_next_at = CASE WHEN backfill_at IS NULL THEN msgx_now() END
"""
# What a replayed message said of itself stays if it cannot be read any more.
_IDENTIFIED: Final = """
    identity_key = COALESCE(identity_key, %(identity_key)s),
    sndr = COALESCE(%(sndr)s, sndr), type = COALESCE(%(type)s, type),
    styp = COALESCE(%(styp)s, styp), seqn = COALESCE(%(seqn)s, seqn),
    dttm = COALESCE(%(dttm)s, dttm)
"""
FINISH: Final = f"""
    UPDATE proc_state
       SET {ENDED}, {_IDENTIFIED}, flid = COALESCE(%(flid)s, flid)
     WHERE msg_id = %(msg_id)s
       AND state = ANY(%(sources)s)
       AND EXISTS (SELECT FROM fence WHERE term = %(term)s)
 RETURNING msg_id
"""
# Wakes refdata at COMMIT. The row stays the head; nobody passes it (INV-3, R16).
_ROUTE: Final = f"""
    WITH routed AS (
        UPDATE proc_state
           SET {_IDENTIFIED}, route = %(route)s, updated_at = msgx_now()
         WHERE msg_id = %(msg_id)s AND state IN ('PENDING', 'FAILED') AND route IS NULL
     RETURNING msg_id)
    SELECT pg_notify('{listen.ROUTED}', '') FROM routed
"""
_FAIL: Final = """
    UPDATE proc_state
       SET state = %(to)s, last_error = %(error)s, error_class = %(error_class)s,
           first_error_class = COALESCE(first_error_class, %(error_class)s),
           error_fingerprint = %(fingerprint)s,
           attempts = attempts + %(tried)s, infra_attempts = infra_attempts + %(infra)s,
           next_attempt_at = msgx_now() + %(wait)s, updated_at = msgx_now()
     WHERE msg_id = %(msg_id)s
       AND state = ANY(%(sources)s)
 RETURNING msg_id
"""
# A long outage is told by its first tries and by infra_attempts, not by a row every two
# seconds. The number goes on over a replay, which lets the counters begin anew.
_ATTEMPT: Final = """
    INSERT INTO proc_attempt (msg_id, attempt, at, error_class, error, trace_id)
    SELECT %(msg_id)s,
           1 + COALESCE((SELECT max(attempt) FROM proc_attempt WHERE msg_id = %(msg_id)s), 0),
           msgx_now(), %(error_class)s, %(error)s, split_part(traceparent, '-', 2)
      FROM proc_state
     WHERE msg_id = %(msg_id)s AND (infra_attempts <= 100 OR error_class <> 'INFRA')
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a message ends."""

    trigger: Trigger
    reason: str | None = None
    error_class: ErrorClass | None = None
    meta: Meta | None = None  # None: not readable
    identity_key: str | None = None  # None: not bound to this message
    flid: str | None = None


def head(conn: Connection) -> Head | None:
    """Return the only runnable message, or None."""
    row = conn.execute(HEAD).fetchone()
    return None if row is None else head_from(row)


def head_from(row: Sequence[Any]) -> Head:
    """Return the head from a row of `COLUMNS`."""
    msg_id, state, attempts, infra_attempts, wait, received_at, traceparent, route = row
    return Head(
        msg_id=msg_id,
        state=ProcState(state),
        attempts=attempts,
        infra_attempts=infra_attempts,
        wait=wait,
        received_at=received_at,
        traceparent=traceparent,
        route=None if route is None else Route(route),
    )


def upcoming(conn: Connection, after: int, limit: int) -> list[tuple[int, KeptText | None]]:
    """Return the next open ids above `after` and the texts that are kept of them, for fetching
    ahead; nothing is decided by them."""
    rows: Sequence[Any] = conn.execute(_NEXT, (after, limit)).fetchall()
    return [
        (
            msg_id,
            None
            if corrected is raw is None
            else KeptText(corrected=corrected, raw=raw, raw_altered=altered),
        )
        for msg_id, corrected, raw, altered in rows
    ]


def ending(outcome: Outcome) -> dict[str, object]:
    """Return the parameters of `FINISH` that the outcome gives."""
    return {
        "to": PROCESSING.target(outcome.trigger),
        "sources": PROCESSING.sources(outcome.trigger),
        "reason": None if outcome.reason is None else clean(outcome.reason),
        "error_class": outcome.error_class,
        "fingerprint": _fingerprint(outcome.error_class, outcome.reason or ""),
        "tried": int(outcome.error_class is not None),
        "identity_key": outcome.identity_key,
        **_head_of(outcome.meta),
        "flid": outcome.flid,
    }


def _head_of(meta: Meta | None) -> dict[str, object]:
    return {
        "sndr": None if meta is None else clean(meta.sndr),
        "type": None if meta is None else clean(meta.type),
        "styp": None if meta is None else clean(meta.styp),
        "seqn": None if meta is None else clean(meta.seqn),
        "dttm": None if meta is None else meta.dttm,
    }


def route(conn: Connection, msg_id: int, meta: Meta, to: Route) -> None:
    """Hand the head over, in the transaction that bound its identity (R16).

    Raises:
        StaleState: the row is no longer open, or is handed over already.
    """
    given = {"msg_id": msg_id, "route": to, "identity_key": meta.identity, **_head_of(meta)}
    if conn.execute(_ROUTE, given).fetchone() is None:
        raise StaleState(f"message {msg_id} cannot be handed over any more")


def fail(
    conn: Connection, msg_id: int, error_class: ErrorClass, error: str, *, wait: timedelta
) -> None:
    """Keep the row at the head, due again after `wait`; INFRA consumes no attempt (R04).

    Raises:
        StaleState: the row is no longer open.
    """
    infra = error_class is ErrorClass.INFRA
    cursor = conn.execute(
        _FAIL,
        {
            "msg_id": msg_id,
            "to": PROCESSING.target(Trigger.FAIL),
            "sources": PROCESSING.sources(Trigger.FAIL),
            "error": clean(error),
            "error_class": error_class,
            "fingerprint": fingerprint(error_class, error),
            "tried": int(not infra),
            "infra": int(infra),
            "wait": wait,
        },
    )
    if cursor.fetchone() is None:
        raise StaleState(f"message {msg_id} does not accept {Trigger.FAIL} any more")
    tried(conn, msg_id, error_class, error)


def tried(conn: Connection, msg_id: int, error_class: ErrorClass, error: str) -> None:
    """Keep one failed try, which the row's counters already count (R05)."""
    conn.execute(
        _ATTEMPT, {"msg_id": msg_id, "error_class": error_class, "error": clean(error)}
    )


def _fingerprint(error_class: ErrorClass | None, text: str) -> str | None:
    return None if error_class is None else fingerprint(error_class, text)
