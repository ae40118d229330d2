"""REF_MASTER: one row a record of reference data, by category and key (INV-26). Owner: refdata.

Every function runs on the caller's connection and never commits. A row names the message that
said it last, and when that was applied: a record that a package only repeats is written too.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from msgx.store.connect import Connection

Payload = Mapping[str, Any]

# Rows travel as one JSON parameter (ADR 0033).
_PUT: Final = """
    INSERT INTO ref_master (rtype, rkey, payload, source_msg_id, batch, refreshed_at)
    SELECT %(rtype)s, rkey, payload, %(msg_id)s, %(batch)s, msgx_now()
      FROM jsonb_to_recordset(%(records)s::jsonb) AS given (rkey text, payload jsonb)
        ON CONFLICT (rtype, rkey) DO UPDATE
       SET payload = EXCLUDED.payload, source_msg_id = EXCLUDED.source_msg_id,
           batch = EXCLUDED.batch, refreshed_at = EXCLUDED.refreshed_at
"""
_KEEP_ONLY: Final = """
    DELETE FROM ref_master
     WHERE rtype = %(rtype)s
       AND NOT EXISTS (SELECT FROM unnest(%(keys)s::text[]) AS kept WHERE kept = rkey)
"""
_NEWER: Final = """
    SELECT rkey, source_msg_id FROM ref_master
     WHERE rtype = %(rtype)s AND source_msg_id > %(msg_id)s
"""
_REMOVE: Final = """
    DELETE FROM ref_master
     WHERE rtype = %(rtype)s AND rkey = ANY (%(keys)s)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where records come from."""

    msg_id: int
    batch: str  # the identity of the message


def put(conn: Connection, rtype: str, records: Mapping[str, Payload], source: Source) -> None:
    """Write whole records by key, new and known ones (R62)."""
    rows = [{"rkey": key, "payload": payload} for key, payload in records.items()]
    conn.execute(
        _PUT,
        {
            "rtype": rtype,
            "records": json.dumps(rows, ensure_ascii=False),
            "msg_id": source.msg_id,
            "batch": source.batch,
        },
    )


def replace(
    conn: Connection,
    rtype: str,
    records: Mapping[str, Payload],
    source: Source,
    *,
    spared: Collection[str] = (),
) -> None:
    """Make `records` the whole category; the others go, but for the keys that are `spared`."""
    conn.execute(_KEEP_ONLY, {"rtype": rtype, "keys": [*records, *spared]})
    put(conn, rtype, records, source)


def remove(conn: Connection, rtype: str, keys: Sequence[str]) -> None:
    """Remove records by key; one that is not there is no fault (R23)."""
    conn.execute(_REMOVE, {"rtype": rtype, "keys": list(keys)})


def newer(conn: Connection, rtype: str, msg_id: int) -> dict[str, int]:
    """Return the records that messages after `msg_id` have said: key to message."""
    rows: list[Any] = conn.execute(_NEWER, {"rtype": rtype, "msg_id": msg_id}).fetchall()
    return dict(rows)
