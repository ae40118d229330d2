"""DEAD_LETTER: the text of DEAD messages, which must stay repairable, the operator's text
beside it, and the order of the last replay (R35, R38). Owner: processor; refdata keeps texts
too."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from psycopg.rows import kwargs_row

from msgx.domain.message import KeptText
from msgx.domain.replay import Order
from msgx.store.connect import Connection

# The text that was sent stays, whatever the message dies of later.
_KEEP: Final = """
    INSERT INTO dead_letter (msg_id, raw, raw_altered, dead_at)
    VALUES (%s, %s, %s, msgx_now())
        ON CONFLICT (msg_id) DO UPDATE
       SET raw = COALESCE(dead_letter.raw, EXCLUDED.raw), dead_at = EXCLUDED.dead_at,
           raw_altered = CASE WHEN dead_letter.raw IS NULL THEN EXCLUDED.raw_altered
                              ELSE dead_letter.raw_altered END
"""
_KEPT: Final = """
    SELECT msg_id, corrected, raw, raw_altered FROM dead_letter
     WHERE msg_id = ANY(%s) AND num_nonnulls(corrected, raw) > 0
"""
# One probe of a small index, within the statement that begins every attempt.
ORDER_OF: Final = """
    SELECT json_build_object('force', force, 'allow_stale', allow_stale,
                             'approve_removals', approve_removals)
      FROM dead_letter
     WHERE msg_id = %(msg_id)s AND replayed_at IS NOT NULL
"""
_ORDER: Final = """
    INSERT INTO dead_letter (msg_id, dead_at, replays, replayed_at, force, allow_stale,
                             approve_removals)
    SELECT msg_id, msgx_now(), 1, msgx_now(), %(force)s, %(allow_stale)s, %(approve_removals)s
      FROM unnest(%(ids)s::bigint[]) AS chosen (msg_id)
        ON CONFLICT (msg_id) DO UPDATE
       SET replays = dead_letter.replays + 1, replayed_at = EXCLUDED.replayed_at,
           force = EXCLUDED.force, allow_stale = EXCLUDED.allow_stale,
           approve_removals = EXCLUDED.approve_removals
"""
_CORRECT: Final = """
    INSERT INTO dead_letter (msg_id, dead_at, corrected, corrected_at, corrected_by)
    VALUES (%(msg_id)s, msgx_now(), %(text)s, msgx_now(), %(operator)s)
        ON CONFLICT (msg_id) DO UPDATE
       SET corrected = EXCLUDED.corrected, corrected_at = EXCLUDED.corrected_at,
           corrected_by = EXCLUDED.corrected_by
"""
_SHOW: Final = """
    SELECT raw, raw_altered, corrected, corrected_at, corrected_by, replays, replayed_at, force,
           allow_stale, approve_removals
      FROM dead_letter WHERE msg_id = %s
"""
# What is open (again) still needs its text.
_DELETE: Final = """
    DELETE FROM dead_letter
     WHERE msg_id = ANY (ARRAY(
        SELECT msg_id
          FROM dead_letter d
         WHERE dead_at < msgx_now() - %(keep)s::interval
           AND NOT EXISTS (SELECT FROM proc_state p
                            WHERE p.msg_id = d.msg_id AND p.state IN ('PENDING', 'FAILED')
                           OFFSET 0)
         ORDER BY dead_at
         LIMIT %(limit)s
           FOR UPDATE OF d SKIP LOCKED))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """Everything that is kept of a message that died, now or before."""

    raw: str | None
    raw_altered: bool
    corrected: str | None
    corrected_at: datetime | None
    corrected_by: str | None
    replays: int
    replayed_at: datetime | None
    order: Order | None


def keep(conn: Connection, msg_id: int, raw: str | None) -> None:
    """Keep the text of a message that died; NUL and lone surrogates, which no column takes, are
    marked."""
    storable = None
    if raw is not None:
        storable = raw.replace("\0", "\N{SYMBOL FOR NULL}").encode("utf-8", "replace").decode()
    conn.execute(_KEEP, (msg_id, storable, storable != raw))


def kept(conn: Connection, ids: Sequence[int]) -> dict[int, KeptText]:
    """Return the texts that are kept of `ids`."""
    rows: list[Any] = conn.execute(_KEPT, (list(ids),)).fetchall()
    return {
        msg_id: KeptText(corrected=corrected, raw=raw, raw_altered=altered)
        for msg_id, corrected, raw, altered in rows
    }


def order(conn: Connection, ids: Sequence[int], given: Order) -> None:
    """Write how `ids` are put back, in the transaction that does so."""
    conn.execute(
        _ORDER,
        {
            "ids": list(ids),
            "force": given.force,
            "allow_stale": given.allow_stale,
            "approve_removals": given.approve_removals,
        },
    )


def order_of(conn: Connection, msg_id: int) -> Order | None:
    """Return how a message was put back; None: it never was."""
    row: Any = conn.execute(ORDER_OF, {"msg_id": msg_id}).fetchone()
    return None if row is None else Order(**row[0])


def correct(conn: Connection, msg_id: int, text: str, *, operator: str) -> None:
    """Store the operator's text beside the one that was sent."""
    conn.execute(_CORRECT, {"msg_id": msg_id, "text": text, "operator": operator})


def show(conn: Connection, msg_id: int) -> Letter | None:
    """Return what is kept of a message, or None."""
    with conn.cursor(row_factory=kwargs_row(_letter)) as cursor:
        return cursor.execute(_SHOW, (msg_id,)).fetchone()


def delete(conn: Connection, *, keep: timedelta, limit: int) -> int:
    """Delete at most `limit` rows of messages that died longer than `keep` ago and are not open
    again; return how many."""
    return conn.execute(_DELETE, {"keep": keep, "limit": limit}).rowcount


def _letter(
    *,
    replayed_at: datetime | None,
    force: bool | None,
    allow_stale: bool | None,
    approve_removals: int | None,
    **columns: Any,
) -> Letter:
    given = None
    if replayed_at is not None:
        given = Order(
            force=bool(force), allow_stale=bool(allow_stale), approve_removals=approve_removals
        )
    return Letter(replayed_at=replayed_at, order=given, **columns)
