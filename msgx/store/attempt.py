"""The first read of an attempt, over the tables that the processor owns or is fenced by: term,
clock, head, and what the message has already done. One statement: it is on every message's
path.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from psycopg import Cursor

from msgx.domain.flight import EntryKind
from msgx.store import service_term
from msgx.store.connect import Connection
from msgx.store.proc_state import COLUMNS, Head, head_from
from msgx.store.service_term import Service

_BEGIN: Final = f"""
    SELECT fence.term, msgx_now(),
           (SELECT json_object_agg(flid, kind) FROM flight_journal WHERE msg_id = %(msg_id)s),
           head.*
      FROM (SELECT term FROM service_term WHERE service = %(service)s FOR SHARE) AS fence
      LEFT JOIN LATERAL (
           SELECT {COLUMNS} FROM proc_state
            WHERE state IN ('PENDING', 'FAILED')
            ORDER BY msg_id LIMIT 1) AS head ON true
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """What stood when the attempt began."""

    now: datetime
    head: Head | None
    entries: dict[str, EntryKind]  # the message's journal, by FLID (R12)


def begin(conn: Connection, msg_id: int) -> Cursor[Any]:
    """Send the read; `begun` waits for it."""
    return conn.execute(_BEGIN, {"msg_id": msg_id, "service": Service.PROCESSOR})


def begun(cursor: Cursor[Any], term: int) -> Beginning:
    """Return what `begin` read.

    Raises:
        Deposed: another processor leads.
    """
    row = cursor.fetchone()
    now = service_term.judge(None if row is None else row[:2], Service.PROCESSOR, term)
    assert row is not None  # noqa: S101 - judged
    entries, head = row[2], row[3:]
    return Beginning(
        now=now,
        head=None if head[0] is None else head_from(head),
        entries={flid: EntryKind(kind) for flid, kind in (entries or {}).items()},
    )
