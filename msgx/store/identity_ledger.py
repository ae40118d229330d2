"""IDENTITY_LEDGER: which message bound an identity first (INV-9, R02). Owner: processor."""

from typing import Final

from msgx.store.connect import Connection

# Binds only for the message that is the head, so that a late lower id is judged before a higher
# one. `head` is the statement's own first look at PROC_STATE; no key: not readable, not bound.
BIND: Final = """
    INSERT INTO identity_ledger (identity_key, body_digest, msg_id, bound_at)
    SELECT %(key)s, %(digest)s, msg_id, msgx_now() FROM head
     WHERE msg_id = %(msg_id)s AND %(key)s::text IS NOT NULL
        ON CONFLICT DO NOTHING
 RETURNING msg_id, body_digest
"""
BOUND_BEFORE: Final = """
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


def bind_apart(conn: Connection, msg_id: int, key: str, digest: bytes) -> None:
    """Bind the open message `msg_id` under `key`; a second time is no change."""
    conn.execute(_BIND_APART, {"msg_id": msg_id, "key": key, "digest": digest})


def holder(conn: Connection, key: str) -> tuple[int, bytes] | None:
    """Return message and body digest that have the identity, if any has."""
    row = conn.execute(BOUND_BEFORE, {"key": key}).fetchone()
    return None if row is None else (int(row[0]), bytes(row[1]))


def renew(conn: Connection, msg_id: int, key: str, digest: bytes) -> None:
    """Replace the digest of the message's own binding: its content was corrected (R02)."""
    conn.execute(_RENEW, {"msg_id": msg_id, "key": key, "digest": digest})
