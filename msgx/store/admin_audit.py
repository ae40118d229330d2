"""ADMIN_AUDIT: what operators did, written in the transaction that did it (R35, R55). Each
service adds its own rows."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from msgx.domain.failure import clean
from msgx.store.connect import Connection
from msgx.store.service_term import Service

_RECORD: Final = """
    INSERT INTO admin_audit (at, service, operator, reason, action, target, affected)
    VALUES (msgx_now(), %s, %s, %s, %s, %s::jsonb, %s)
"""
_DELETE: Final = """
    DELETE FROM admin_audit
     WHERE audit_id = ANY (ARRAY(
        SELECT audit_id FROM admin_audit
         WHERE at < msgx_now() - %(keep)s::interval ORDER BY at LIMIT %(limit)s))
"""


@dataclass(frozen=True, slots=True)
class Act:
    """Who acts, and why."""

    operator: str
    reason: str


def record(
    conn: Connection,
    service: Service,
    act: Act,
    action: str,
    *,
    asked: Mapping[str, object],
    affected: int,
) -> None:
    """Keep that `act` did `action` on what was `asked`, and how many rows that changed."""
    conn.execute(
        _RECORD,
        (
            service,
            clean(act.operator),
            clean(act.reason),
            action,
            json.dumps(asked, ensure_ascii=True),
            affected,
        ),
    )


def delete(conn: Connection, *, keep: timedelta, limit: int) -> int:
    """Delete at most `limit` acts older than `keep`, of every service; return how many."""
    return conn.execute(_DELETE, {"keep": keep, "limit": limit}).rowcount
