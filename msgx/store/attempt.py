"""The three statements on every message's path: begin, write, end. Owner: processor.

Each table's part stands in its own module; here the parts are put together, because what
counts on this path is the number of statements.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from psycopg import Cursor

from msgx.domain.flight import Changes, EntryKind, Flight
from msgx.domain.replay import Order
from msgx.store import (
    dead_letter,
    flight,
    flight_journal,
    flight_sql,
    identity_ledger,
    listen,
    outbox,
    proc_state,
    service_term,
)
from msgx.store.connect import Connection
from msgx.store.outbox import Event
from msgx.store.proc_state import Head, Outcome, StaleState
from msgx.store.service_term import Service

_BEGIN: Final = f"""
    WITH head AS ({proc_state.HEAD}),
         bound AS ({identity_ledger.BIND})
    SELECT fence.term, msgx_now(),
           (SELECT json_object_agg(flid, kind) FROM flight_journal WHERE msg_id = %(msg_id)s),
           ({dead_letter.ORDER_OF}),
           holder.msg_id, holder.body_digest, holder.long_before, head.*
      FROM (SELECT term FROM service_term WHERE service = %(service)s FOR SHARE) AS fence
      LEFT JOIN head ON true
      LEFT JOIN (SELECT * FROM bound UNION ALL {identity_ledger.BOUND_BEFORE})
                AS holder (msg_id, body_digest, long_before) ON true
"""
_WRITE: Final = f"""
    WITH put AS ({flight_sql.PUT}),
         entry AS ({flight_journal.APPEND})
    {outbox.ADD}
"""
# Its loss only repeats projection and end (INV-23), so its commit waits for no disk.
_END: Final = f"""
    WITH fence AS ({service_term.RELAXED}),
         done AS ({proc_state.FINISH}),
         released AS ({outbox.RELEASE}),
         woken AS (SELECT pg_notify('{listen.RELEASED}', '')
                    WHERE EXISTS (SELECT FROM released))
    SELECT term, now, (SELECT msg_id FROM done), (SELECT count(*) FROM woken),
           CASE WHEN %(unlocks)s THEN ({service_term.UNLOCK_PIPELINE_AT_END}) ELSE true END
      FROM fence
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """What stood when the attempt began."""

    now: datetime
    head: Head | None
    entries: dict[str, EntryKind]  # the message's journal, by FLID (R12)
    order: Order | None  # how it was put back, if it was (R35)
    holder: tuple[int, bytes] | None  # message and body digest that have the identity (INV-9)
    long_before: bool = False  # it was bound long before the message was registered


def begin(
    conn: Connection, msg_id: int, *, identity: str | None, body_digest: bytes | None
) -> Cursor[Any]:
    """Send the first statement: fence, clock, head, journal, order of a replay, and the
    identity, which is bound if it is free and the message is the head. `begun` waits for it."""
    return conn.execute(
        _BEGIN,
        {
            "msg_id": msg_id,
            "service": Service.PROCESSOR,
            "key": identity,
            "digest": body_digest,
        },
    )


def begun(cursor: Cursor[Any], term: int) -> Beginning:
    """Return what `begin` read.

    Raises:
        Deposed: another processor leads.
    """
    row = cursor.fetchone()
    now = service_term.judge(None if row is None else row[:2], Service.PROCESSOR, term)
    assert row is not None  # noqa: S101 - judged
    entries, order, holder, digest, long_before, *head = row[2:]
    return Beginning(
        now=now,
        head=None if head[0] is None else proc_state.head_from(head),
        entries={flid: EntryKind(kind) for flid, kind in (entries or {}).items()},
        order=None if order is None else Order(**order),
        holder=None if holder is None else (holder, digest),
        long_before=bool(long_before),
    )


def write(
    conn: Connection,
    writes: Sequence[tuple[Flight, EntryKind, Changes]],
    events: Sequence[Event],
    *,
    msg_id: int,
    now: datetime,
    traceparent: str | None,
) -> None:
    """Write flights, journal and events, and the details that changed; the caller commits
    (INV-17b)."""
    conn.execute(
        _WRITE,
        {
            "msg_id": msg_id,
            "now": now,
            "traceparent": traceparent,
            "flights": flight.as_rows((one for one, _, _ in writes), msg_id),
            "entries": flight_journal.as_rows(writes),
            "events": outbox.as_rows(events),
        },
    )
    flight.replace_details(conn, [(one, changes) for one, _, changes in writes])


def end(
    conn: Connection, msg_id: int, outcome: Outcome, *, term: int, unlocks: bool = False
) -> None:
    """Finish the message: terminal state, owed mark and released events (INV-8, US-03 AC4).

    With `unlocks` PIPELINE_LOCK goes with the transaction, which may be this statement alone.

    Raises:
        Deposed: another processor leads; nothing was written.
        StaleState: the row is no longer in a state that accepts the trigger; nothing was
        written.
        LockLost: PIPELINE_LOCK was not held.
    """
    given = {
        "msg_id": msg_id,
        "service": Service.PROCESSOR,
        "term": term,
        "unlocks": unlocks,
        **proc_state.ending(outcome),
    }
    row = conn.execute(_END, given).fetchone()
    service_term.judge(None if row is None else row[:2], Service.PROCESSOR, term)
    if row is None or row[2] is None:
        raise StaleState("the message does not accept its end any more")
    service_term.released(row[4])
    if outcome.error_class is not None:
        proc_state.tried(conn, msg_id, outcome.error_class, outcome.reason or "")
