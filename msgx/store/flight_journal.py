"""FLIGHT_JOURNAL: append-only, one entry per message and flight; the event source (R12). Owner:
processor."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from msgx.domain.flight import Changes, EntryKind, Flight
from msgx.store.connect import Connection

_ENTRIES: Final = "SELECT flid, kind FROM flight_journal WHERE msg_id = %s"
_APPEND: Final = """
    INSERT INTO flight_journal (flid, state_version, life, msg_id, kind, changes, at)
    SELECT flid, state_version, life, %s, kind, changes, %s
      FROM jsonb_to_recordset(%s::jsonb) AS entry (place integer, flid text, state_version
      bigint,
                                                   life integer, kind text, changes jsonb)
     ORDER BY place
"""
_HISTORY: Final = """
    SELECT kind, state_version, changes FROM flight_journal
     WHERE flid = %s ORDER BY state_version
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry of a flight, as `fold` reads it."""

    kind: EntryKind
    state_version: int
    changes: dict[str, list[Any]]  # name to [before, after]


def entries(conn: Connection, msg_id: int) -> dict[str, EntryKind]:
    """Return what the message has already done, by FLID (R12)."""
    rows: list[Any] = conn.execute(_ENTRIES, (msg_id,)).fetchall()
    return {flid: EntryKind(kind) for flid, kind in rows}


def append(
    conn: Connection,
    writes: Sequence[tuple[Flight, EntryKind, Changes]],
    *,
    msg_id: int,
    at: datetime,
) -> None:
    """Append one entry for each written flight; a second one of a message and flight is
    refused."""
    rows = [
        {
            "place": place,
            "flid": flight.flid,
            "state_version": flight.state_version,
            "life": flight.life,
            "kind": kind,
            "changes": changes,
        }
        for place, (flight, kind, changes) in enumerate(writes)
    ]
    conn.execute(_APPEND, (msg_id, at, json.dumps(rows, ensure_ascii=False)))


def history(conn: Connection, flid: str) -> list[Entry]:
    """Return every entry of `flid` in order of version."""
    rows: list[Any] = conn.execute(_HISTORY, (flid,)).fetchall()
    return [
        Entry(kind=EntryKind(kind), state_version=version, changes=changes)
        for kind, version, changes in rows
    ]
