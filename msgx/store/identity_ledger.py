"""IDENTITY_LEDGER: which message bound an identity first (INV-9, R02). Owner: processor."""

from typing import Final

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
