"""IDENTITY_LEDGER: which message bound an identity first (INV-9, R02). Owner: processor."""

from typing import Final

# Binds only for the lowest open message, so that a late lower id is judged before a higher one.
# Returns who holds the identity now: this message or an earlier one.
BIND: Final = """
    WITH bound AS (
        INSERT INTO identity_ledger (identity_key, body_digest, msg_id, bound_at)
        SELECT %(key)s, %(digest)s, %(msg_id)s, msgx_now()
         WHERE %(msg_id)s = (SELECT min(msg_id) FROM proc_state
                              WHERE state IN ('PENDING', 'FAILED'))
            ON CONFLICT DO NOTHING
     RETURNING msg_id, body_digest
    )
    SELECT msg_id, body_digest FROM bound
     UNION ALL
    SELECT msg_id, body_digest FROM identity_ledger WHERE identity_key = %(key)s
"""
