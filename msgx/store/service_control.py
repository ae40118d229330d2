"""SERVICE_CONTROL: parts of a service that an operator lets rest. Each service writes its own
rows."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from psycopg.rows import args_row

from msgx.domain.failure import clean
from msgx.store.admin_audit import Act
from msgx.store.connect import Connection
from msgx.store.service_term import Service

_PAUSES: Final = """
    SELECT part, paused_at, operator, reason FROM service_control WHERE service = %s
"""
_PAUSE: Final = """
    INSERT INTO service_control (service, part, paused_at, operator, reason)
    VALUES (%s, %s, msgx_now(), %s, %s)
        ON CONFLICT (service, part) DO NOTHING
"""
_RESUME: Final = "DELETE FROM service_control WHERE service = %s AND part = %s"


@dataclass(frozen=True, slots=True)
class Pause:
    """That a part rests: since when, who wanted it, and why."""

    part: str
    since: datetime
    operator: str
    reason: str


def pauses(conn: Connection, service: Service) -> dict[str, Pause]:
    """Return what rests, by part."""
    cursor = conn.cursor(row_factory=args_row(Pause))
    return {one.part: one for one in cursor.execute(_PAUSES, (service,))}


def pause(conn: Connection, service: Service, part: str, act: Act) -> bool:
    """Let the part rest from now on, and return whether it worked until now."""
    given = (service, part, clean(act.operator), clean(act.reason))
    return conn.execute(_PAUSE, given).rowcount == 1


def resume(conn: Connection, service: Service, part: str) -> bool:
    """Let the part work again, and return whether it rested until now."""
    return conn.execute(_RESUME, (service, part)).rowcount == 1
