"""SERVICE_CONTROL: parts of a service that an operator lets rest. Each service writes its own
rows."""

from typing import Final

from msgx.domain.failure import clean
from msgx.store.admin_audit import Act
from msgx.store.connect import Connection
from msgx.store.service_term import Service

_PAUSED: Final = "SELECT FROM service_control WHERE service = %s AND part = %s"
_PAUSE: Final = """
    INSERT INTO service_control (service, part, paused_at, operator, reason)
    VALUES (%s, %s, msgx_now(), %s, %s)
        ON CONFLICT (service, part) DO NOTHING
"""
_RESUME: Final = "DELETE FROM service_control WHERE service = %s AND part = %s"


def paused(conn: Connection, service: Service, part: str) -> bool:
    """Tell whether the part rests."""
    return conn.execute(_PAUSED, (service, part)).rowcount == 1


def pause(conn: Connection, service: Service, part: str, act: Act) -> bool:
    """Let the part rest from now on, and return whether it worked until now."""
    given = (service, part, clean(act.operator), clean(act.reason))
    return conn.execute(_PAUSE, given).rowcount == 1


def resume(conn: Connection, service: Service, part: str) -> bool:
    """Let the part work again, and return whether it rested until now."""
    return conn.execute(_RESUME, (service, part)).rowcount == 1
