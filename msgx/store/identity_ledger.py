"""IDENTITY_LEDGER: which message bound an identity first (INV-9, R02). Owner: processor."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from msgx.store.connect import Connection

# Binds only for the message that is the head, so that a late lower id is judged before a higher
# one. `head` is the statement's own first look at PROC_STATE; no key: not readable, not bound.
BIND: Final = """
    INSERT INTO identity_ledger (identity_key, body_digest, msg_id, bound_at)
    SELECT %(key)s, %(digest)s, msg_id, msgx_now() FROM head
     WHERE msg_id = %(msg_id)s AND %(key)s::text IS NOT NULL
        ON CONFLICT DO NOTHING
 RETURNING msg_id, body_digest, false
"""
# The last column: long before the message was registered. Of its own binding it says that an
# earlier record of the message has left and its mailbox row came back unmarked: records are
# kept for longer than a day, and no clock errs by one.
BOUND_BEFORE: Final = """
    SELECT msg_id, body_digest,
           bound_at < (SELECT enqueued_at FROM proc_state WHERE msg_id = %(msg_id)s)
                      - interval '1 day'
      FROM identity_ledger WHERE identity_key = %(key)s
"""
_HOLDER: Final = """
    SELECT msg_id, body_digest FROM identity_ledger WHERE identity_key = %(key)s
"""
# A conflict that an operator forces keeps a key of its own, and the end of the message leaves
# it alone; the older binding stays (R35).
_BIND_APART: Final = """
    WITH bound AS (
        INSERT INTO identity_ledger (identity_key, body_digest, msg_id, bound_at)
        VALUES (%(key)s, %(digest)s, %(msg_id)s, msgx_now())
            ON CONFLICT DO NOTHING)
    UPDATE proc_state SET identity_key = %(key)s
     WHERE msg_id = %(msg_id)s AND state IN ('PENDING', 'FAILED') AND identity_key IS NULL
"""
_RENEW: Final = """
    UPDATE identity_ledger SET body_digest = %(digest)s
     WHERE identity_key = %(key)s AND msg_id = %(msg_id)s
"""
# A walk by the message that bound it, as for PROC_STATE: no index by age. A message may have
# two bindings, so a page ends between messages. None leaves before its record.
_DELETE: Final = """
    WITH page AS (
        SELECT identity_key, msg_id, bound_at FROM identity_ledger
         WHERE msg_id > %(after)s
         ORDER BY msg_id FETCH FIRST %(limit)s ROWS WITH TIES),
    chosen AS (
        SELECT identity_key FROM identity_ledger i
         WHERE identity_key = ANY (ARRAY(SELECT identity_key FROM page))
           AND bound_at < msgx_now() - %(keep)s::interval
           AND NOT EXISTS (SELECT FROM proc_state p WHERE p.msg_id = i.msg_id OFFSET 0)
           AND NOT EXISTS (SELECT FROM proc_state p WHERE p.identity_key = i.identity_key
                           OFFSET 0)
           FOR UPDATE OF i SKIP LOCKED),
    gone AS (
        DELETE FROM identity_ledger
         WHERE identity_key = ANY (ARRAY(SELECT identity_key FROM chosen))
     RETURNING 1)
    SELECT max(msg_id), (SELECT count(*) FROM gone),
           COALESCE(bool_or(bound_at < msgx_now() - %(keep)s::interval), false)
      FROM page
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a page of the walk came to."""

    last: int | None  # the highest message of it; None: it was empty
    gone: int
    old: bool  # it had a binding that is old enough


def bind_apart(conn: Connection, msg_id: int, key: str, digest: bytes) -> None:
    """Bind the open message `msg_id` under `key`; a second time is no change."""
    conn.execute(_BIND_APART, {"msg_id": msg_id, "key": key, "digest": digest})


def holder(conn: Connection, key: str) -> tuple[int, bytes] | None:
    """Return message and body digest that have the identity, if any has."""
    row = conn.execute(_HOLDER, {"key": key}).fetchone()
    return None if row is None else (int(row[0]), bytes(row[1]))


def renew(conn: Connection, msg_id: int, key: str, digest: bytes) -> None:
    """Replace the digest of the message's own binding: its content was corrected (R02)."""
    conn.execute(_RENEW, {"msg_id": msg_id, "key": key, "digest": digest})


def delete(conn: Connection, *, after: int, keep: timedelta, limit: int) -> Page:
    """Delete the bindings older than `keep` that no record has, among the next `limit` of
    messages after `after`."""
    row = conn.execute(_DELETE, {"after": after, "keep": keep, "limit": limit}).fetchone()
    assert row is not None  # noqa: S101 - an aggregate
    last, gone, old = row
    return Page(last=last, gone=gone, old=old)
