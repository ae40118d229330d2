"""PROC_STATE, registration: one row for each mailbox row, once (INV-2b, INV-9). Owner:
intake."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from msgx.store import listen
from msgx.store.connect import Connection

_KNOWN: Final = """
    SELECT msg_id, backfill_at IS NOT NULL FROM proc_state WHERE msg_id = ANY(%s)
"""
# A row below the highest registered one came late (R11).
_REGISTER: Final = """
    INSERT INTO proc_state (msg_id, received_at, traceparent, late_after, enqueued_at,
                            updated_at)
    SELECT page.msg_id, page.received_at, page.traceparent,
           CASE WHEN page.msg_id < registered.highest THEN registered.highest END,
           msgx_now(), msgx_now()
      FROM unnest(%s::bigint[], %s::timestamptz[], %s::text[])
               AS page (msg_id, received_at, traceparent)
     CROSS JOIN (SELECT max(msg_id) AS highest FROM proc_state) AS registered
     ORDER BY page.msg_id
        ON CONFLICT (msg_id) DO NOTHING
 RETURNING msg_id, late_after
"""
_NOTIFY: Final = f"NOTIFY {listen.REGISTERED}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A mailbox row to register."""

    msg_id: int
    received_at: datetime | None  # the mailbox's own, for display only
    traceparent: str


@dataclass(frozen=True, slots=True)
class Registered:
    """A row that was registered now; `late_after` if a higher one was there before (R11)."""

    msg_id: int
    late_after: int | None


def known(conn: Connection, ids: Sequence[int]) -> dict[int, bool]:
    """Return those of `ids` that have a record, each with whether its mark is confirmed."""
    rows = conn.execute(_KNOWN, (list(ids),)).fetchall()
    return {int(str(msg_id)): bool(confirmed) for msg_id, confirmed in rows}


def register(conn: Connection, arrivals: Sequence[Arrival]) -> list[Registered]:
    """Register `arrivals` as PENDING and wake the processor at COMMIT; a known id is left
    alone."""
    rows = conn.execute(
        _REGISTER,
        (
            [arrival.msg_id for arrival in arrivals],
            [arrival.received_at for arrival in arrivals],
            [arrival.traceparent for arrival in arrivals],
        ),
    ).fetchall()
    if rows:
        conn.execute(_NOTIFY)
    return [
        Registered(int(str(msg_id)), None if late is None else int(str(late)))
        for msg_id, late in rows
    ]
