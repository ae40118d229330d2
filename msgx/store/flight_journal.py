"""FLIGHT_JOURNAL: append-only, one entry per message and flight, but for a MAFL that a cut day
plan tells once more; the event source (R12). Owner: processor."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from msgx.domain.flight import Changes, EntryKind, Flight
from msgx.domain.journal import Entry
from msgx.store.connect import Connection

# Of several entries of a flight the first says what was done to it; it comes last.
_ENTRIES: Final = """
    SELECT flid, kind FROM flight_journal WHERE msg_id = %s ORDER BY journal_id DESC
"""
APPEND: Final = """
    INSERT INTO flight_journal (flid, state_version, life, msg_id, kind, changes, at)
    SELECT flid, state_version, life, %(msg_id)s, kind, changes, %(now)s
      FROM jsonb_to_recordset(%(entries)s::jsonb)
           AS entry (place integer, flid text, state_version bigint, life integer, kind text,
                     changes jsonb)
     ORDER BY place
"""
_OF: Final = """
    SELECT flid, kind, state_version, life, msg_id, at, changes FROM flight_journal
     WHERE flid = ANY(%s) ORDER BY flid, state_version
"""
# MAFL is derived: nobody tells it, so nobody's telling of it is newer.
_NEWER: Final = """
    SELECT entry.flid, tag, max(entry.msg_id)
      FROM flight_journal AS entry CROSS JOIN LATERAL jsonb_object_keys(entry.changes) AS tag
     WHERE entry.flid = ANY(%s) AND entry.msg_id > %s AND tag <> 'MAFL'
     GROUP BY entry.flid, tag
"""
_DONE: Final = """
    SELECT flid, state_version, kind, at, ARRAY(SELECT jsonb_object_keys(changes) ORDER BY 1),
           count(*) OVER ()
      FROM flight_journal WHERE msg_id = %s ORDER BY journal_id LIMIT %s
"""
_ORPHANS: Final = """
    SELECT DISTINCT flid FROM flight_journal AS entry
     WHERE NOT EXISTS (SELECT FROM flight_schd WHERE flid = entry.flid)
       AND NOT EXISTS (SELECT FROM flight_version_floor WHERE flid = entry.flid)
     ORDER BY flid
"""


@dataclass(frozen=True, slots=True)
class Done:
    """What a message did to one flight."""

    flid: str
    state_version: int
    kind: str
    at: datetime
    tags: list[str]


def entries(conn: Connection, msg_id: int) -> dict[str, EntryKind]:
    """Return what the message has already done, by FLID (R12)."""
    rows: list[Any] = conn.execute(_ENTRIES, (msg_id,)).fetchall()
    return {flid: EntryKind(kind) for flid, kind in rows}


def as_rows(writes: Iterable[tuple[Flight, EntryKind, Changes]]) -> str:
    """Return the parameter `entries` of `APPEND`: one entry for each written flight."""
    entries = [
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
    return json.dumps(entries, ensure_ascii=False)


def histories(conn: Connection, flids: Sequence[str]) -> dict[str, list[Entry]]:
    """Return every entry of each of `flids` that has one, in order of version."""
    found: dict[str, list[Entry]] = {}
    rows: list[Any] = conn.execute(_OF, (list(flids),)).fetchall()
    for flid, kind, version, life, msg_id, at, changes in rows:
        entry = Entry(
            kind=EntryKind(kind),
            state_version=version,
            life=life,
            msg_id=msg_id,
            at=at,
            changes=changes,
        )
        found.setdefault(flid, []).append(entry)
    return found


def newer(conn: Connection, msg_id: int, flids: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return, of each of `flids`, the tags that messages above `msg_id` have set, each with the
    newest of them (R35)."""
    found: dict[str, dict[str, int]] = {}
    rows: list[Any] = conn.execute(_NEWER, (list(flids), msg_id)).fetchall()
    for flid, tag, source in rows:
        found.setdefault(flid, {})[tag] = source
    return found


def done(conn: Connection, msg_id: int, *, limit: int) -> tuple[list[Done], int]:
    """Return what a message did, flight by flight, and to how many flights in all."""
    rows: list[Any] = conn.execute(_DONE, (msg_id, limit)).fetchall()
    return [Done(*row[:5]) for row in rows], rows[0][5] if rows else 0


def orphans(conn: Connection) -> list[str]:
    """Return the FLIDs that have entries, but neither a flight nor a floor of an earlier
    life."""
    return [str(flid) for (flid,) in conn.execute(_ORPHANS).fetchall()]
